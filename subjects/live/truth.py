"""As truth.c, for Python: byte strings whose object has SIZE bytes. Prints a line a
site: blocks and bytes that tracemalloc says are in use; AUDIT_RATE=0: without it."""
import os
import random
import sys
import tracemalloc

HEADER = sys.getsizeof(b"")


def site_0(n): return bytes(n)
def site_1(n): return bytes(n)
def site_2(n): return bytes(n)
def site_3(n): return bytes(n)
def site_4(n): return bytes(n)
def site_5(n): return bytes(n)
def site_6(n): return bytes(n)
def site_7(n): return bytes(n)


SITES = [site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7]


def main():
    random.seed(int(sys.argv[2]))
    parts = [[int(n) for n in word.split(":")] for word in sys.argv[4:]]
    turns = [i for i, (_, count, _) in enumerate(parts) for _ in range(count)]
    random.shuffle(turns)
    done = [0] * len(parts)
    kept = [None] * len(turns)
    if os.environ.get("AUDIT_RATE") != "0":
        tracemalloc.start(1)
    for at, i in enumerate(turns):
        block = SITES[i](parts[i][0] - HEADER)
        if done[i] % parts[i][2] == 0:
            kept[at] = block
        done[i] += 1
    block = None
    if not tracemalloc.is_tracing():
        return
    snapshot = tracemalloc.take_snapshot()
    first = site_0.__code__.co_firstlineno
    sums = [(0, 0)] * len(parts)
    for line in snapshot.statistics("lineno"):
        at = line.traceback[0].lineno - first
        if line.traceback[0].filename == __file__ and 0 <= at < len(parts):
            sums[at] = (line.count, line.size)
    for i, (count, size) in enumerate(sums):
        print(i, count, size)


main()
