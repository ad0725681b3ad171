"""The samples of the training steps: a file that `--data npz:FILE` reads, made of a fixed seed without NumPy."""
import array
import random
import struct
import sys
import zipfile

CLASSES = 10
TEST_SAMPLES = 256


def npy(dtype, shape, data):
    """The bytes of a .npy file, format 1.0 of NumPy: magic, length of the header, header, values in C order."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    padding = -(len(header) + 1 + 10) % 64
    header = (header + " " * padding + "\n").encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def write(path, samples, features):
    """Writes inputs of 0 and 1 and random classes."""
    numbers = random.Random(1)

    def take(count):
        return numbers.getrandbits(8 * count).to_bytes(count, "little")

    bits = bytes(value & 1 for value in range(256))
    with zipfile.ZipFile(path, "w") as archive:
        for split, count in (("train", samples), ("test", TEST_SAMPLES)):
            inputs = take(count * features).translate(bits)
            labels = array.array("q", (value % CLASSES for value in take(count)))
            if sys.byteorder == "big":
                labels.byteswap()
            archive.writestr(f"x_{split}.npy", npy("|u1", (count, features), inputs))
            archive.writestr(f"y_{split}.npy", npy("<i8", (count,), labels.tobytes()))
