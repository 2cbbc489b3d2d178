#!/usr/bin/python3
"""Live profilers against programs whose allocations are known.

usage: audit.py FOLDER [--runs N] [--tools A,B] [--workloads A,B] [--out FOLDER]

Without --out, what is not the whole audit is written into FOLDER.

FOLDER holds the truth programs as they were built. For each tool, workload and
site, the mean over N runs of what the tool says, divided by the truth.

A cell is called biased if its mean is further from 1 than a right tool's is with a
chance of 1e-9. With N - 1 >= 23 degrees of freedom, Student's t is beyond 10 with a
chance below 1e-9; and no run-to-run variance is believed that is below an ideal
sampler's, which takes each object by itself with chance p = 1 - exp(-S/R): beyond
6.2 of its standard deviations is a chance below 1e-9, too. So the bound is the
larger of the two. Where it is 1 or more, samples are too few to tell anything. A tool
that counts everything has no bound: it must be exact.

Dispersion is the variance from run to run, over the ideal sampler's.
"""
import argparse
import csv
import html
import math
import os
import statistics
import sys
import time

import tools

RATE = 65536
RUNS_LEAST = 24
STUDENT_T = 10.0  # of 23 degrees of freedom and more, two-sided 1e-9
NORMAL_Z = 6.2    # two-sided 1e-9
STEPS = 5         # of a block that grows by realloc


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


class Cell:
    """What a tool says of one quantity of one site, over all runs."""

    def __init__(self, tool, workload, site, label, quantity, truth, ideal,
                 missed):
        self.tool, self.workload, self.site = tool, workload, site
        self.label, self.quantity = label, quantity
        self.truth = truth
        self.ideal = ideal    # relative variance of a run, and how many objects
        self.missed = missed  # are not sampled, of an ideal sampler
        self.ratios = []

    def judge(self):
        self.mean = statistics.fmean(self.ratios)
        spread = (statistics.variance(self.ratios) if len(self.ratios) > 1
                  else 0.0)
        if self.tool.exact:
            self.bound, self.dispersion = 0.0, math.nan
            self.verdict = "exact" if spread == 0 and self.mean == 1 else "off"
            return
        runs = len(self.ratios)
        self.bound = max(STUDENT_T * math.sqrt(spread / runs),
                         NORMAL_Z * math.sqrt(self.ideal / runs))
        # Where nearly every object is sampled, there is nothing to compare.
        self.dispersion = spread / self.ideal if self.missed >= 1 else math.nan
        if abs(self.mean - 1) > self.bound:
            self.verdict = "biased"
        else:  # who says nothing at all is not unbiased
            self.verdict = "unbiased" if self.bound < 1 else "too few"


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


def measure(tool, workload, runs, progress):
    mode, parts = WORKLOADS[workload]
    if tool.keeps_all:
        parts = [(size, count, 1) for size, count, _ in parts]
    parts = [part for part in parts if part[0] >= tool.least]
    cells = list(cells_of(tool, workload, mode, parts))
    cpu = []
    for seed in range(1, (1 if tool.exact else runs) + 1):
        progress("%s, %s, run %d" % (tool.name, workload, seed))
        sums, seconds = tool.measure(mode, seed, parts)
        cpu.append(seconds)
        for cell in cells:
            cell.ratios.append(sums[cell.site][cell.quantity] / cell.truth)
    for cell in cells:
        cell.judge()
        cell.cpu_s = statistics.median(cpu)
    return cells


def write_csv(path, cells, versions):
    with open(path + ".part", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["tool", "language", "version", "workload", "site bytes",
                       "quantity", "runs", "truth", "said / truth", "bound",
                       "dispersion", "verdict", "cpu s"])
        for cell in cells:
            rows.writerow([
                cell.tool.name, cell.tool.language, versions[cell.tool.name],
                cell.workload, cell.label, cell.quantity, len(cell.ratios),
                cell.truth, "%.4f" % cell.mean, "%.4f" % cell.bound,
                "" if math.isnan(cell.dispersion) else "%.2f" % cell.dispersion,
                cell.verdict, "%.2f" % cell.cpu_s])
    os.rename(path + ".part", path)


STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .6em; text-align: right; border-bottom: 1px solid #8884 }
th:first-child, td:first-child { text-align: left }
.few { opacity: .5 }
.biased, .off { font-weight: bold; outline: 2px solid #c40 }
caption { text-align: left; font-weight: bold }
"""


def write_html(path, cells, versions):
    out = ["<!doctype html><html lang=en><meta charset=utf-8>",
           "<title>Live profilers against the truth</title>",
           "<style>%s</style>" % STYLE,
           "<h1>Live profilers against the truth</h1>",
           "<p>What each tool says, divided by the truth: the mean of its runs. "
           "After ± stands how far the mean of an unbiased tool may be off with "
           "a chance of 1e-9; a framed bold cell is further off, a faint one has too "
           "few samples to tell. d is the "
           "dispersion: the variance from run to run over an ideal sampler's. "
           "Rate: one byte in %d.</p><ul>" % RATE]
    out += ["<li>%s: %s" % (html.escape(name), html.escape(version))
            for name, version in versions.items()]
    out.append("</ul>")
    for workload, (mode, _) in WORKLOADS.items():
        mine = [cell for cell in cells if cell.workload == workload]
        columns = list(dict.fromkeys((cell.label, cell.quantity)
                                     for cell in mine))
        if not mine:
            continue
        for quantity in dict.fromkeys(column[1] for column in columns):
            labels = sorted({label for label, name in columns
                             if name == quantity},
                            key=lambda label: int(label.split("+")[0]))
            out.append("<table><caption>%s (%s): %s, by the size of objects"
                       "</caption><tr><th>tool" % (workload, mode, quantity))
            out += ["<th>%s" % label for label in labels]
            for name in dict.fromkeys(cell.tool.name for cell in mine):
                row = {cell.label: cell for cell in mine
                       if cell.tool.name == name and cell.quantity == quantity}
                if not row:
                    continue
                out.append("<tr><td>%s" % html.escape(name))
                for label in labels:
                    cell = row.get(label)
                    if cell is None:
                        out.append("<td>-")
                        continue
                    text = "%.3f" % cell.mean
                    if not cell.tool.exact:
                        text += " ±%.3f" % cell.bound
                    if not math.isnan(cell.dispersion):
                        text += ", d %.1f" % cell.dispersion
                    out.append("<td class='%s'>%s" % (cell.verdict, text))
            out.append("</table>")
    with open(path + ".part", "w") as file:
        file.write("\n".join(out) + "\n")
    os.rename(path + ".part", path)


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
    names = words.workloads.split(",") if words.workloads else list(WORKLOADS)
    for name in names:
        if name not in WORKLOADS:
            parser.error("no workload '%s': %s" % (name, ", ".join(WORKLOADS)))
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
             if WORKLOADS[name][0] in tool.modes]
    start = time.monotonic()
    os.makedirs(words.out, exist_ok=True)
    cells = []
    for done, (tool, name) in enumerate(pairs):
        def progress(text):
            if sys.stderr.isatty():
                spent = time.monotonic() - start
                left = spent / done * (len(pairs) - done) if done else 0
                print("\r\033[K%d of %d, %d s left: %s" % (
                    done + 1, len(pairs), left, text), end="", file=sys.stderr)
        cells += measure(tool, name, words.runs, progress)
        write_csv(os.path.join(words.out, "audit.csv"), cells, versions)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    write_html(os.path.join(words.out, "audit.html"), cells, versions)
    for cell in cells:
        if cell.verdict in ("biased", "off"):
            print("%s, %s, %s bytes: %s %.4f of the truth, ±%.4f is chance" % (
                cell.tool.name, cell.workload, cell.label, cell.quantity,
                cell.mean, cell.bound))
    print("%d tools, %d cells: %s" % (len(chosen), len(cells), ", ".join(
        "%d %s" % (sum(c.verdict == word for c in cells), word)
        for word in ("unbiased", "biased", "too few", "exact", "off"))))


if __name__ == "__main__":
    main()
