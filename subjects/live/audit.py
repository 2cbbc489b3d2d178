#!/usr/bin/python3
"""Live profilers against programs whose allocations are known.

usage: audit.py FOLDER [--tools A,B] [--workloads A,B] [--rate N] [--out FOLDER]
                [--against CSV]

FOLDER holds the truth programs as they were built. For each tool, workload and
site, the mean over all runs of what the tool says, divided by the truth; judge.py says
how many runs are made and what follows from them. The table is written into the folder
of --out, by default FOLDER. With --against, the verdicts are compared with those of an
earlier table: the exit code is 1 if any differs.
"""
import argparse
import collections
import concurrent.futures
import math
import os
import re
import statistics
import sys
import threading
import time

import table
import tools
from judge import CORRELATION_RUNS, MARGINS, Cell, Correlation, plan

RATE = table.RATE
STEPS = 5         # of a block that grows by realloc
PLAIN_RUNS = 5    # without the tool
AT_ONCE = 2       # runs: their files are in folders of their own


def equal_bytes(sizes, total, keep):
    return [(size, max(total // size, 4), keep) for size in sizes]


EQUAL = equal_bytes([16, 128, 1024, 8192, 65536, 524288], 8 << 20, 4)

# name: mode, parts
WORKLOADS = {
    "equal-bytes": ("plain", EQUAL),
    "small": ("plain", equal_bytes([16, 32, 48, 64, 96], 4 << 20, 4)),
    "large": ("plain", equal_bytes([65536, 131072, 262144, 1 << 20], 64 << 20,
                                   16)),
    "kept": ("plain", equal_bytes([64, 512, 4096, 65536], 8 << 20, 1)),
    "dropped": ("plain", equal_bytes([64, 512, 4096, 65536], 8 << 20, 1 << 20)),
    "uneven": ("plain", [(16, 4096, 2), (4096, 4096, 2), (65536, 1024, 2)]),
    "one-site": ("one-site", [(16, 4096, 2), (65536, 4096, 8)]),
    "short-threads": ("threads", [(512, 8192, 4), (8192, 4096, 4)]),
    "live-threads": ("alive", [(512, 2048, 4), (8192, 1024, 4)]),
    "realloc": ("realloc", equal_bytes([1024, 16384, 131072], 8 << 20, 4)),
    "aligned": ("aligned", equal_bytes([512, 8192, 65536], 16 << 20, 4)),
    "calloc": ("calloc", equal_bytes([16, 1024, 65536], 8 << 20, 4)),
    "two-sizes": ("plain", [(65536, 512, 4), (80, 200000, 4)]),
    # The first 32 MiB of the program; all others begin after as many.
    "cold": ("cold", [(8192, 4096, 1)]),
    # Sizes that malloc may round up.
    "between": ("between", [(24, 1 << 20, 4), (40, 1 << 19, 4)]),
    # Three and four times the rate, with a margin of 1 %.
    "near-rate": ("near-rate", [(196608, 1280, 1 << 20), (262144, 512, 1 << 20)]),
    # Experiments of reports/findings, not in the table: run if asked for.
    "all-alive": ("alive", [(512, 8192, 4), (8192, 4096, 4)]),
    "live-threads-warm": ("alive-warm", [(512, 2048, 4), (8192, 1024, 4)]),
}
EXPERIMENTS = ("all-alive", "live-threads-warm")
MARGINS_OF = {"near-rate": (0.01,)}

# An ideal sampler takes 12 objects of each part, give or take 3.
PAIRED = [(8192, 100, 1)] * 8

WorkloadCost = collections.namedtuple(
    "WorkloadCost", "cpu_s plain_cpu_s rss_kib plain_rss_kib")


class Audit:
    def __init__(self):
        self.cells, self.correlations = [], []
        self.costs = {}  # by name of tool and workload

    def rows(self):
        return self.cells + self.correlations


def objects_of(tool, mode, part, quantity):
    """Sizes that are counted at a site, and how many of each."""
    size, count, keep = part
    counted = lambda asked: tool.counted(mode, asked)
    if quantity.startswith("live"):
        return [(counted(size), (count + keep - 1) // keep)]
    if mode == "realloc":
        return [(counted(size >> step), count) for step in range(STEPS)]
    return [(counted(size), count)]


def cells_of(tool, workload, mode, parts):
    sites = [[part] for part in parts]
    labels = [str(part[0]) for part in parts]
    if mode == "one-site":
        sites, labels = [parts], ["+".join(labels)]
    for site, (members, label) in enumerate(zip(sites, labels)):
        for quantity in tool.says:
            known = [each for part in members
                     for each in objects_of(tool, mode, part, quantity)]
            of_bytes = quantity.endswith("bytes")
            truth = sum(n * (size if of_bytes else 1) for size, n in known)
            variance = sum(n * (size if of_bytes else 1) ** 2 *
                           (tools.weight(size, tool.rate) - 1) for size, n in known)
            missed = sum(n * (1 - 1 / tools.weight(size, tool.rate))
                         for size, n in known)
            yield Cell(tool, workload, site, label, quantity, truth,
                       variance / truth ** 2, missed)


def measure(tool, workload, progress):
    """Returns the cells, and what the tool cost; no cells if none can be judged."""
    mode, parts = WORKLOADS[workload]
    if tool.keeps_all:
        parts = [(size, count, 1) for size, count, _ in parts]
    parts = [part for part in parts if part[0] >= tool.least]
    cells = list(cells_of(tool, workload, mode, parts))
    runs = plan(cells, tool.most_runs, MARGINS_OF.get(workload, MARGINS))
    costs = []
    if all(math.isnan(cell.margin) for cell in cells):
        return [], None
    for seed in range(1, runs + 1):
        progress("%s, %s, run %d of %d" % (tool.name, workload, seed, runs))
        sums, cost = tool.measure(mode, seed, parts)
        costs.append(cost)
        for cell in cells:
            cell.ratios.append(sums[cell.site][cell.quantity] / cell.truth)
    for cell in cells:
        cell.judge()
    plain = [tool.plain(mode, seed, parts) for seed in range(1, PLAIN_RUNS + 1)]
    middle = lambda list_, name: statistics.median(
        getattr(cost, name) for cost in list_)
    return cells, WorkloadCost(
        middle(costs, "cpu_s"), middle(plain, "cpu_s"),
        middle(costs, "rss_kib"), middle(plain, "rss_kib"))


def correlate(tool, mode, progress):
    """Returns the correlation between neighbours, or of parent and child."""
    row = Correlation(tool, mode, tool.says[0])
    for seed in range(1, CORRELATION_RUNS[mode] + 1):
        progress("%s, %s, run %d" % (tool.name, mode, seed))
        if mode == "fork":
            parent, child = tool.fork(seed, PAIRED)
        else:
            sums = tool.measure(mode, seed, PAIRED)[0]
            parent, child = sums[0::2], sums[1::2]
        row.pairs += [(a[row.quantity], b[row.quantity])
                      for a, b in zip(parent, child)]
    row.judge()
    return row


class Progress:
    """Shows on a terminal how many of all measurements are done."""

    def __init__(self, all_of_them):
        self.all, self.done = all_of_them, 0
        self.start = time.monotonic()
        self.lock = threading.Lock()

    def show(self, text):
        if not sys.stderr.isatty():
            return
        spent = time.monotonic() - self.start
        left = spent / self.done * (self.all - self.done) if self.done else 0
        with self.lock:
            print("\r\033[K%d of %d done, %d s left: %s" % (
                self.done, self.all, left, text), end="", file=sys.stderr)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def measure_all(pairs, folder, rate, keep):
    """in: pairs, each a tool's class and the name of a workload; keep, called with the
    results so far
    returns: an Audit, in the order of the pairs"""
    progress = Progress(len(pairs))
    scratch = threading.local()
    workers = []

    def start_worker():
        workers.append(None)
        scratch.folder = os.path.join(folder, "run-%d" % len(workers))
        os.makedirs(scratch.folder, exist_ok=True)

    def measure_one(pair):
        make, name = pair
        tool = make(folder, rate, scratch.folder)
        if name in CORRELATION_RUNS:
            result = correlate(tool, name, progress.show)
        else:
            result = measure(tool, name, progress.show)
        progress.done += 1
        return result

    audit = Audit()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE,
                                               initializer=start_worker) as pool:
        for (make, name), result in zip(pairs, pool.map(measure_one, pairs)):
            if name in CORRELATION_RUNS:
                audit.correlations.append(result)
            else:
                audit.cells += result[0]
                if result[1] is not None:
                    audit.costs[make.name, name] = result[1]
            keep(audit)
    progress.end()
    return audit


def write(words, audit, versions):
    table.write_csv(os.path.join(words.out, "audit.csv"), audit, versions)


def all_names():
    return list(WORKLOADS) + list(CORRELATION_RUNS)


def words_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--tools")
    parser.add_argument("--workloads")
    parser.add_argument("--rate", type=int, default=RATE,
                        help="a sample every so many bytes, a power of two (65536)")
    parser.add_argument("--out", help="of the table; for a part of it, FOLDER")
    parser.add_argument("--against", help="the verdicts must be those of this table")
    words = parser.parse_args(arguments)
    words.folder = os.path.realpath(words.folder)
    words.names = words.workloads.split(",") if words.workloads else [
        name for name in all_names() if name not in EXPERIMENTS]
    for name in words.names:
        if name not in all_names():
            parser.error("no workload '%s': %s" % (name, ", ".join(all_names())))
    known = [make.name for make in tools.TOOLS]
    # "JEP 331, S/p" is one name.
    words.tools = re.split(",(?! )", words.tools) if words.tools else known
    for name in words.tools:
        if name not in known:
            parser.error("no tool '%s': %s" % (name, "; ".join(known)))
    if words.rate < 1 or words.rate & (words.rate - 1) != 0:
        parser.error("--rate: a power of two")
    words.out = words.out or words.folder
    try:
        words.earlier = words.against and table.read_verdicts(words.against)
    except (OSError, KeyError) as error:
        parser.error("--against: %s: no table of an audit: %s" % (
            words.against, error))
    return words


def print_result(audit, tools_count):
    for cell in audit.cells:
        if cell.verdict in ("biased", "off"):
            print("%s, %s, %s bytes: %s %.4f of the truth, ±%.4f is chance" % (
                cell.tool.name, cell.workload, cell.label, cell.quantity,
                cell.mean, cell.bound))
    for row in audit.correlations:
        if row.verdict == "correlated":
            print("%s, %s: %s correlate, %.4f; ±%.4f is chance" % (
                row.tool.name, row.workload, row.quantity, row.value, row.bound))
    counts = collections.Counter(row.verdict for row in audit.rows())
    print("%d tools, %d cells: %s" % (tools_count, len(audit.rows()), ", ".join(
        "%d %s" % (count, word) for word, count in sorted(counts.items()))))


def agrees(now, earlier):
    """in: verdicts of two tables; returns: False if they differ in a cell that both
    have"""
    both = [cell for cell in now if cell in earlier]
    others = [cell for cell in both if now[cell] != earlier[cell]]
    for cell in others:
        print("%s: %s, was %s" % (", ".join(each for each in cell if each),
                                  now[cell], earlier[cell]))
    print("%d of %d cells have the verdict of the earlier table" % (
        len(both) - len(others), len(both)))
    return not others


def main():
    words = words_of()
    chosen, versions = [], {}
    for make in tools.TOOLS:
        if make.name not in words.tools:
            continue
        version = make(words.folder, words.rate).version()
        if version is None:
            print("audit: %s is not installed" % make.name, file=sys.stderr)
            continue
        chosen.append(make)
        versions[make.name] = version
    if not chosen:
        sys.exit("audit: no tool to audit")
    pairs = [(make, name) for make in chosen for name in words.names
             if (name in WORKLOADS and WORKLOADS[name][0] in make.modes or
                 name in make.modes and not make.exact) and
             name in (make.workloads or all_names())]
    os.makedirs(words.out, exist_ok=True)
    audit = measure_all(pairs, words.folder, words.rate,
                        lambda audit: write(words, audit, versions))
    print_result(audit, len(chosen))
    if words.against and not agrees(
            table.read_verdicts(os.path.join(words.out, "audit.csv")),
            words.earlier):
        sys.exit(1)


if __name__ == "__main__":
    main()
