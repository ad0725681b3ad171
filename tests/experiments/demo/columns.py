"""Packs integers as the demo's page reads them: base64 of zigzag LEB128 varints of the differences."""
import base64


def pack(values):
    out = bytearray()
    previous = 0
    for value in values:
        step = value - previous
        previous = value
        left = step * 2 if step >= 0 else -step * 2 - 1
        while left >= 128:
            out.append(left & 127 | 128)
            left >>= 7
        out.append(left)
    return base64.b64encode(bytes(out)).decode("ascii")


def unpack(text):
    values, value, left, shift = [], 0, 0, 0
    for byte in base64.b64decode(text):
        left |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            value += left >> 1 if left % 2 == 0 else -((left + 1) >> 1)
            values.append(value)
            left = shift = 0
    return values


def table(rows, names):
    """Rows (dictionaries) as a table of columns, sorted by their begin."""
    rows = sorted(rows, key=lambda row: (row["begin"], row["end"] if "end" in row else row["arrived"]))
    return {"count": len(rows), **{name: pack([row[name] for row in rows]) for name in names}}
