#!/usr/bin/python3
"""Live profilers against programs whose allocations are known.

usage: audit.py FOLDER [--runs N] [--tools A,B] [--workloads A,B] [--out FOLDER]

Without --out, what is not the whole audit is written into FOLDER.

FOLDER holds the truth programs as they were built. For each tool, workload and
site, the mean over N runs of what the tool says, divided by the truth; judge.py says
what follows from that. A workload of which a cell is not decided is run four times as
often, and again, up to the tool's most runs.
"""
import argparse
import collections
import os
import statistics
import sys
import time

import table
import tools
from judge import RUNS_LEAST, UNDECIDED, Cell, Correlation

RATE = table.RATE
STEPS = 5         # of a block that grows by realloc
MORE_RUNS = 4     # times as many
PLAIN_RUNS = 5    # without the tool


def equal_bytes(sizes, total, keep):
    return [(size, max(total // size, 4), keep) for size in sizes]


EQUAL = equal_bytes([16, 128, 1024, 8192, 65536, 524288], 8 << 20, 4)

# name: mode, parts
WORKLOADS = {
    "equal-bytes": ("plain", EQUAL),
    "small": ("plain", equal_bytes([16, 24, 32, 48, 64, 96], 4 << 20, 4)),
    "large": ("plain", equal_bytes([65536, 131072, 262144, 1 << 20], 64 << 20,
                                   16)),
    "kept": ("plain", equal_bytes([64, 512, 4096, 65536], 8 << 20, 1)),
    "dropped": ("plain", equal_bytes([64, 512, 4096, 65536], 8 << 20, 1 << 20)),
    "uneven": ("plain", [(16, 4096, 2), (4096, 4096, 2), (65536, 1024, 2)]),
    "one-site": ("one-site", [(16, 4096, 2), (65536, 4096, 8)]),
    "short-threads": ("threads", [(512, 8192, 4), (8192, 4096, 4)]),
    "realloc": ("realloc", equal_bytes([1024, 16384, 131072], 8 << 20, 4)),
    "aligned": ("aligned", equal_bytes([512, 8192, 65536], 16 << 20, 4)),
    "calloc": ("calloc", equal_bytes([16, 1024, 65536], 8 << 20, 4)),
    "two-sizes": ("plain", [(65536, 512, 4), (80, 200000, 4)]),
}

# An ideal sampler takes 12 objects of each part, give or take 3.
PAIRED = [(8192, 100, 1)] * 8
CORRELATIONS = ("siblings", "fork")

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
                           (tools.weight(size, RATE) - 1) for size, n in known)
            missed = sum(n * (1 - 1 / tools.weight(size, RATE))
                         for size, n in known)
            yield Cell(tool, workload, site, label, quantity, truth,
                       variance / truth ** 2, missed)


def until_decided(tool, runs, rows, run_once):
    """Make runs, and more of them while a row is not decided."""
    made = 0
    wanted = 1 if tool.exact else runs
    while made < wanted:
        made += 1
        run_once(made)
        if made < wanted:
            continue
        for row in rows:
            row.judge()
        if (any(row.verdict == UNDECIDED for row in rows) and
                made * MORE_RUNS <= tool.most_runs):
            wanted = made * MORE_RUNS


def measure(tool, workload, runs, progress):
    """Returns the cells, and what the tool cost."""
    mode, parts = WORKLOADS[workload]
    if tool.keeps_all:
        parts = [(size, count, 1) for size, count, _ in parts]
    parts = [part for part in parts if part[0] >= tool.least]
    cells = list(cells_of(tool, workload, mode, parts))
    costs = []

    def run_once(seed):
        progress("%s, %s, run %d" % (tool.name, workload, seed))
        sums, cost = tool.measure(mode, seed, parts)
        costs.append(cost)
        for cell in cells:
            cell.ratios.append(sums[cell.site][cell.quantity] / cell.truth)

    until_decided(tool, runs, cells, run_once)
    plain = [tool.plain(mode, seed, parts) for seed in range(1, PLAIN_RUNS + 1)]
    middle = lambda list_, name: statistics.median(
        getattr(cost, name) for cost in list_)
    return cells, WorkloadCost(
        middle(costs, "cpu_s"), middle(plain, "cpu_s"),
        middle(costs, "rss_kib"), middle(plain, "rss_kib"))


def correlate(tool, mode, runs, progress):
    """Returns the correlation between neighbours, or of parent and child."""
    row = Correlation(tool, mode, tool.says[0])

    def run_once(seed):
        progress("%s, %s, run %d" % (tool.name, mode, seed))
        if mode == "fork":
            parent, child = tool.fork(seed, PAIRED)
        else:
            sums = tool.measure(mode, seed, PAIRED)[0]
            parent, child = sums[0::2], sums[1::2]
        row.pairs += [(a[row.quantity], b[row.quantity])
                      for a, b in zip(parent, child)]

    until_decided(tool, runs, [row], run_once)
    return row


def write(words, audit, versions):
    path = os.path.join(words.out, "audit")
    table.write_csv(path + ".csv", audit, versions)
    table.write_html(path + ".html", path + ".csv")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=RUNS_LEAST)
    parser.add_argument("--tools")
    parser.add_argument("--workloads")
    parser.add_argument("--out", help="reports; for a part, FOLDER")
    words = parser.parse_args()
    if words.runs < RUNS_LEAST:
        parser.error("--runs: at least %d, or the bounds do not hold" % RUNS_LEAST)
    all_names = list(WORKLOADS) + list(CORRELATIONS)
    names = words.workloads.split(",") if words.workloads else all_names
    for name in names:
        if name not in all_names:
            parser.error("no workload '%s': %s" % (name, ", ".join(all_names)))
    known = [make.name for make in tools.TOOLS]
    for name in words.tools.split(",") if words.tools else []:
        if name not in known:
            parser.error("no tool '%s': %s" % (name, "; ".join(known)))
    if words.out is None:
        words.out = words.folder if words.tools or words.workloads else "reports"
    chosen, versions = [], {}
    for make in tools.TOOLS:
        if words.tools and make.name not in words.tools.split(","):
            continue
        tool = make(os.path.realpath(words.folder), RATE)
        version = tool.version()
        if version is None:
            print("audit: %s is not installed" % tool.name, file=sys.stderr)
            continue
        chosen.append(tool)
        versions[tool.name] = version
    if not chosen:
        parser.error("no tool to audit")
    pairs = [(tool, name) for tool in chosen for name in names
             if name in WORKLOADS and WORKLOADS[name][0] in tool.modes
             or name in tool.modes and not tool.exact]
    start = time.monotonic()
    os.makedirs(words.out, exist_ok=True)
    audit = Audit()
    for done, (tool, name) in enumerate(pairs):
        def progress(text):
            if sys.stderr.isatty():
                spent = time.monotonic() - start
                left = spent / done * (len(pairs) - done) if done else 0
                print("\r\033[K%d of %d, %d s left: %s" % (
                    done + 1, len(pairs), left, text), end="", file=sys.stderr)
        if name in CORRELATIONS:
            audit.correlations.append(correlate(tool, name, words.runs, progress))
        else:
            cells, audit.costs[tool.name, name] = measure(
                tool, name, words.runs, progress)
            audit.cells += cells
        write(words, audit, versions)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
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
    print("%d tools, %d cells: %s" % (len(chosen), len(audit.rows()), ", ".join(
        "%d %s" % (count, word) for word, count in sorted(counts.items()))))


if __name__ == "__main__":
    main()
