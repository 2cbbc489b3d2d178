"""Reads what heap profilers write: profile.proto, and gperftools' text."""
import glob
import gzip
import math
import re

RATE = 524288  # bytes to a sample, of every tool that samples


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: number, value."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        elif key & 7 == 1:
            value = data[at:at + 8]
            at += 8
        else:
            raise ValueError("a wire type that profile.proto has not")
        yield key >> 3, value


def pprof_sums(path):
    """Sums of a profile's samples, by sample type."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    strings, types, sums = [], [], []
    for number, value in fields(data):
        if number == 6:
            strings.append(value.decode())
        elif number == 1:
            types.append(dict(fields(value)).get(1, 0))
        elif number == 2:
            numbers = []
            for inner, packed in fields(value):
                if inner != 2:
                    continue
                if isinstance(packed, int):
                    numbers.append(packed)
                    continue
                at = 0
                while at < len(packed):
                    one, at = varint(packed, at)
                    numbers.append(one)
            sums = [a + b for a, b in zip(sums or [0] * len(numbers), numbers)]
    return dict(zip((strings[t] for t in types), sums or [0] * len(types)))


HEAP_LINE = re.compile(r"(\d+): *(\d+) *\[ *(\d+): *(\d+)\]")


def unsampled(objects, size):
    """jemalloc samples a byte with chance 1/RATE; jeprof scales like this."""
    if objects == 0:
        return 0
    return size / (1 - math.exp(-size / objects / RATE))


def jemalloc_sums(path):
    live = total = 0
    per_stack = False
    with open(path) as file:
        for line in file:
            if line.startswith("MAPPED_LIBRARIES"):
                break
            if line.startswith("@"):
                per_stack = True
            found = HEAP_LINE.search(line)
            if found and per_stack and line.strip().startswith("t*:"):
                numbers = list(map(int, found.groups()))
                live += unsampled(numbers[0], numbers[1])
                total += unsampled(numbers[2], numbers[3])
    return {"live": live, "total": total}


def newest(pattern):
    """The one that was written last, by its number."""
    found = sorted(glob.glob(pattern))
    return found[-1] if found else None
