"""The table of an audit: audit.csv, and audit.html, which is made from it.

usage: table.py AUDIT.CSV >AUDIT.HTML
"""
import csv
import math
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "common", "page"))
import measurements  # noqa: E402
from judge import CORRELATION, MARGINS  # noqa: E402

RATE = 65536 # bytes, at which tools sample
ABOUT = ("What each tool says, divided by the truth: the mean of its runs, and after "
         "\u00b1 how far the true mean may be from it (a chance of 1e-9). In a cell with "
         "a cross all of that is further from 1 than the margin, which is 10 % (25 % "
         "where a * stands, 1 % in near-rate); in a pale one nothing is decided, or the "
         "samples are too few to; in all others it is within the margin. d is the "
         "dispersion: the variance from run to run over an ideal sampler's. Rate: one "
         "byte in {:,}, unless --rate said otherwise.".format(RATE))
TONES = {"biased": "bad", "off": "bad", "correlated": "bad", "too": "soft",
         "not": "soft"}


def number(value, form):
    return "" if math.isnan(value) else form % value


def write_csv(path, audit, versions):
    """in: audit, with cells, correlations and costs"""
    with open(path + ".part", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["tool", "language", "version", "workload", "site bytes",
                       "quantity", "runs", "truth", "said / truth", "bound",
                       "margin", "dispersion", "verdict", "cpu s", "plain cpu s",
                       "rss KiB", "plain rss KiB"])
        for cell in audit.cells:
            cost = audit.costs[cell.tool.name, cell.workload]
            rows.writerow([
                cell.tool.name, cell.tool.language, versions[cell.tool.name],
                cell.workload, cell.label, cell.quantity, len(cell.ratios),
                cell.truth, "%.4f" % cell.mean, "%.4f" % cell.bound,
                number(cell.margin, "%g"), number(cell.dispersion, "%.2f"), cell.verdict,
                number(cost.cpu_s, "%.3f"), number(cost.plain_cpu_s, "%.3f"),
                number(cost.rss_kib, "%.0f"),
                number(cost.plain_rss_kib, "%.0f")])
        for row in audit.correlations:
            rows.writerow([
                row.tool.name, row.tool.language, versions[row.tool.name],
                row.workload, "", "correlation of " + row.quantity,
                len(row.pairs), "", number(row.value, "%.4f"),
                "%.4f" % row.bound, "%g" % CORRELATION, "", row.verdict, "", "", "", ""])
    os.rename(path + ".part", path)


def read_verdicts(path):
    """in: path, of a CSV; returns: verdicts by tool, workload, site and quantity"""
    with open(path, newline="") as file:
        return {tuple(row[name] for name in ("tool", "workload", "site bytes",
                                             "quantity")): row["verdict"]
                for row in csv.DictReader(file)}


# ---- The page, of the rows of audit.csv ----

def first_of(rows, *names):
    """Each combination of values once, in the order of the rows."""
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def cell(row, text):
    return [text, TONES.get(row["verdict"].split()[0]), row["verdict"]]


def text_of(row):
    text = row["said / truth"]
    if row["verdict"] not in ("exact", "off"):
        text += " \u00b1" + row["bound"] + "*" * (row["margin"] == "%g" % MARGINS[-1])
    if row["dispersion"]:
        text += ", d %.1f" % float(row["dispersion"])
    return cell(row, text)


def matrix(title, columns, rows, name_of, text):
    """Make a table: a line for each tool, a column for each of `columns`."""
    found = {(row["tool"], name_of(row)): text(row) for row in rows}
    return {"title": title, "part": True, "columns": ["tool"] + columns,
            "rows": [[tool] + [found.get((tool, name), "-") for name in columns]
                     for tool, in first_of(rows, "tool")]}


def of_workload(workload, rows):
    for quantity, in first_of(rows, "quantity"):
        mine = [row for row in rows if row["quantity"] == quantity]
        sizes = sorted({row["site bytes"] for row in mine},
                       key=lambda size: int(size.split("+")[0]))
        yield matrix("%s: %s, by the size of objects" % (workload, quantity),
                     sizes, mine, lambda row: row["site bytes"], text_of)


def text_of_cost(row):
    if not row["plain cpu s"]:
        return "-"
    return "%+.2f s, %+.1f MiB" % (
        float(row["cpu s"]) - float(row["plain cpu s"]),
        (float(row["rss KiB"]) - float(row["plain rss KiB"])) / 1024)


def sections(rows):
    cells = [row for row in rows if row["site bytes"]]
    pairs = [row for row in rows if not row["site bytes"]]
    for workload, in first_of(cells, "workload"):
        yield from of_workload(workload, [row for row in cells
                                          if row["workload"] == workload])
    if pairs:
        yield matrix("correlation: of threads one after the other (siblings), of "
                     "parent and child (fork)",
                     [name for name, in first_of(pairs, "workload")], pairs,
                     lambda row: row["workload"], lambda row: cell(
                         row, row["said / truth"] + " \u00b1" + row["bound"]))
    yield matrix("cost: CPU time and most resident memory of the program under the "
                 "tool, less those without it (medians)",
                 [name for name, in first_of(cells, "workload")], cells,
                 lambda row: row["workload"], text_of_cost)


def page(csv_path):
    with open(csv_path, newline="") as file:
        rows = list(csv.DictReader(file))
    verdicts = [row["verdict"] for row in rows]
    return measurements.page(
        "Live profilers against the truth",
        [ABOUT] + ["%s: %s" % pair for pair in first_of(rows, "tool", "version")],
        list(sections(rows)),
        [(verdicts.count(word), word) for word in dict.fromkeys(verdicts)])


def write_html(path, csv_path):
    with open(path + ".part", "w") as file:
        file.write(page(csv_path))
    os.rename(path + ".part", path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(sys.argv[1]))
