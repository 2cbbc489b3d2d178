"""Reads what heap profilers write: profile.proto, and gperftools' text."""
import glob
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../install"))
import read_profile  # noqa: E402

RATE = 524288  # bytes per sample, for every tool that samples


def pprof_sums(path):
    """Sums of a profile's samples, by sample type."""
    types, samples = read_profile.read(path)
    return {name: sum(values[i] for values, _ in samples)
            for i, (name, _) in enumerate(types)}


HEAP_LINE = re.compile(r"(\d+): *(\d+) *\[ *(\d+): *(\d+)\]")


def unsampled(objects, size):
    """Scale as jeprof does: a byte is sampled with probability 1/RATE."""
    if objects == 0:
        return 0
    return size / (1 - math.exp(-size / objects / RATE))


def gperftools_sums(path):
    """Scale as pprof does. The sampler's text has a line for each live
    sample."""
    live = 0
    with open(path) as file:
        for line in file.read().splitlines()[1:]:
            if line.startswith("MAPPED_LIBRARIES"):
                break
            found = HEAP_LINE.search(line)
            if found:
                live += unsampled(int(found.group(1)), int(found.group(2)))
    return {"live": live}


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
    """The file that was written last, according to the number in its name."""
    found = sorted(glob.glob(pattern))
    return found[-1] if found else None
