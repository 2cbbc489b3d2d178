"""The table of an audit: audit.csv."""
import csv
import math
import os

from judge import CORRELATION

RATE = 65536 # bytes, at which tools sample


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
