"""Loads the native part of the package, before any other module of it."""
import ctypes
import os
import sys

# What C++ knows of the base class of all messages of Protocol Buffers.
_PROTOBUF = "_ZTIN6google8protobuf11MessageLiteE"


def load() -> None:
    """Imports ``ringside._native``.

    TensorFlow gives the whole process its own version of Protocol Buffers, whose functions would take the place of ours. Where that
    has happened, our libraries look for a function among themselves first."""
    flags = sys.getdlopenflags()
    if hasattr(ctypes.CDLL(None), _PROTOBUF):
        # Only then: a memory allocator that was preloaded would not be ours, too.
        sys.setdlopenflags(flags | os.RTLD_NOW | os.RTLD_DEEPBIND)
    try:
        import ringside._native
    finally:
        sys.setdlopenflags(flags)
