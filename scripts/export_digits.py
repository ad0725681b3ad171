#!/usr/bin/env python3
"""Writes the handwritten digits that scikit-learn ships into models/data/digits.bin.

Needs scikit-learn (`pip install scikit-learn`). The output is committed, so this script is only needed
to check or renew it. The file has 1,797 records of 65 bytes in scikit-learn's order, and no header. A
record is 64 pixels (8 rows of 8, 0 to 16) and the label (0 to 9).

usage: export_digits.py [--check] [FILE]
"""
import argparse
import pathlib
import sys

from sklearn.datasets import load_digits

SAMPLES, PIXELS, BRIGHTEST = 1797, 64, 16


def records() -> bytes:
    digits = load_digits()
    if digits.data.shape != (SAMPLES, PIXELS):
        sys.exit(f"scikit-learn returned digits of shape {digits.data.shape}, not {(SAMPLES, PIXELS)}")
    if digits.data.min() < 0 or digits.data.max() > BRIGHTEST or (digits.data % 1).any():
        sys.exit(f"scikit-learn returned pixels that are not integers from 0 to {BRIGHTEST}")
    out = bytearray()
    for pixels, label in zip(digits.data, digits.target):
        out += bytes(int(pixel) for pixel in pixels)
        out.append(int(label))
    return bytes(out)


def main() -> None:
    default = pathlib.Path(__file__).resolve().parent.parent / "models" / "data" / "digits.bin"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare FILE with scikit-learn's data, write nothing")
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=default)
    options = parser.parse_args()
    if not options.check:
        options.file.write_bytes(records())
    elif options.file.read_bytes() != records():
        sys.exit(f"{options.file} differs from scikit-learn's digits")


if __name__ == "__main__":
    main()
