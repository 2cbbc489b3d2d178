"""The table of an audit, as audit.csv and audit.html."""
import csv
import html
import math
import os

STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .6em; text-align: right; border-bottom: 1px solid #8884 }
th:first-child, td:first-child { text-align: left }
.few, .not { opacity: .5 }
.biased, .off, .correlated { font-weight: bold; outline: 2px solid #c40 }
caption { text-align: left; font-weight: bold }
"""

HEAD = """<!doctype html><html lang=en><meta charset=utf-8>
<title>Live profilers against the truth</title>
<style>%s</style>
<h1>Live profilers against the truth</h1>
<p>What each tool says, divided by the truth: the mean of its runs. After ± stands
how far the mean of an unbiased tool may be off with a chance of 1e-9. A framed bold
cell is further off; in a faint one the samples are too few, or nothing is decided.
d is the dispersion: the variance from run to run over an ideal sampler's. Rate: one
byte in %d.</p>"""


def number(value, form):
    return "" if math.isnan(value) else form % value


def write_csv(path, audit, versions):
    """in: audit, with cells, correlations and costs"""
    with open(path + ".part", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["tool", "language", "version", "workload", "site bytes",
                       "quantity", "runs", "truth", "said / truth", "bound",
                       "dispersion", "verdict", "cpu s", "plain cpu s",
                       "rss KiB", "plain rss KiB"])
        for cell in audit.cells:
            cost = audit.costs[cell.tool.name, cell.workload]
            rows.writerow([
                cell.tool.name, cell.tool.language, versions[cell.tool.name],
                cell.workload, cell.label, cell.quantity, len(cell.ratios),
                cell.truth, "%.4f" % cell.mean, "%.4f" % cell.bound,
                number(cell.dispersion, "%.2f"), cell.verdict,
                number(cost.cpu_s, "%.3f"), number(cost.plain_cpu_s, "%.3f"),
                number(cost.rss_kib, "%.0f"),
                number(cost.plain_rss_kib, "%.0f")])
        for row in audit.correlations:
            rows.writerow([
                row.tool.name, row.tool.language, versions[row.tool.name],
                row.workload, "", "correlation of " + row.quantity,
                len(row.pairs), "", number(row.value, "%.4f"),
                "%.4f" % row.bound, "", row.verdict, "", "", "", ""])
    os.rename(path + ".part", path)


def table(caption, heads, rows):
    """in: rows, of a name and (class, text) each"""
    out = ["<table><caption>%s</caption><tr>%s" % (
        caption, "".join("<th>%s" % head for head in heads))]
    for name, columns in rows:
        out.append("<tr><td>%s" % html.escape(name))
        out += ["<td class='%s'>%s" % column for column in columns]
    return out + ["</table>"]


def text_of(cell):
    if cell is None:
        return "", "-"
    text = "%.3f" % cell.mean
    if not cell.tool.exact:
        text += " ±%.3f" % cell.bound
    if not math.isnan(cell.dispersion):
        text += ", d %.1f" % cell.dispersion
    return cell.verdict, text


def of_workload(workload, mode, cells):
    out = []
    for quantity in dict.fromkeys(cell.quantity for cell in cells):
        mine = [cell for cell in cells if cell.quantity == quantity]
        labels = sorted({cell.label for cell in mine},
                        key=lambda label: int(label.split("+")[0]))
        rows = []
        for name in dict.fromkeys(cell.tool.name for cell in mine):
            row = {cell.label: cell for cell in mine if cell.tool.name == name}
            rows.append((name, [text_of(row.get(label)) for label in labels]))
        out += table("%s (%s): %s, by the size of objects" %
                     (workload, mode, quantity), ["tool"] + labels, rows)
    return out


def text_of_cost(cost):
    if cost is None or math.isnan(cost.plain_cpu_s):
        return "-"
    return "%+.2f s, %+.1f MiB" % (cost.cpu_s - cost.plain_cpu_s,
                                   (cost.rss_kib - cost.plain_rss_kib) / 1024)


def of_costs(costs):
    names = list(dict.fromkeys(name for name, _ in costs))
    workloads = list(dict.fromkeys(workload for _, workload in costs))
    rows = []
    for name in names:
        row = [costs.get((name, workload)) for workload in workloads]
        rows.append((name, [("", text_of_cost(cost)) for cost in row]))
    return table("cost: CPU time and most resident memory of the program under the "
                 "tool, less those without it (medians)", ["tool"] + workloads,
                 rows)


def of_correlations(correlations):
    workloads = list(dict.fromkeys(row.workload for row in correlations))
    rows = []
    for name in dict.fromkeys(row.tool.name for row in correlations):
        mine = {row.workload: row for row in correlations
                if row.tool.name == name}
        rows.append((name, [
            (mine[workload].verdict, "%s ±%.3f" % (
                number(mine[workload].value, "%.3f"), mine[workload].bound))
            if workload in mine else ("", "-") for workload in workloads]))
    return table("correlation: of threads one after the other (siblings), of parent "
                 "and child (fork)", ["tool"] + workloads, rows)


def write_html(path, audit, versions, rate, modes):
    """in: modes, of the workloads, in the order of the page"""
    out = [HEAD % (STYLE, rate), "<ul>"]
    out += ["<li>%s: %s" % (html.escape(name), html.escape(version))
            for name, version in versions.items()]
    out.append("</ul>")
    for workload, mode in modes.items():
        out += of_workload(workload, mode, [
            cell for cell in audit.cells if cell.workload == workload])
    if audit.correlations:
        out += of_correlations(audit.correlations)
    out += of_costs(audit.costs)
    with open(path + ".part", "w") as file:
        file.write("\n".join(out) + "\n")
    os.rename(path + ".part", path)
