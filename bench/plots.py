"""Plots of a benchmark run, as SVG that is the same at each run."""
import io

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

matplotlib.rcParams.update({"svg.hashsalt": "profsim", "font.size": 8,
                            "svg.fonttype": "none"})
COLOURS = {
    "columns of each": "#22aa22", "shared one die": "#cc2222",
    "shared dies of 8": "#2277aa", "multilinear": "#cc2222",
    "one-at-a-time": "#2277aa", "boost": "#22aa22", "absl": "#77bb33",
    "ck_hs": "#aa66cc", "lfht": "#cc88aa", "glib": "#ccaa55",
    "uthash": "#aa7755"}


def colour_of(entrant):
    if entrant.startswith("profsim"):
        return "#cc2222"
    if entrant.startswith("go"):
        return "#2277aa"
    if entrant.startswith("("):
        return "#999999"
    return COLOURS.get(entrant, "#88aabb")


def as_svg(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight",
                   metadata={"Date": None})
    pyplot.close(figure)
    return out.getvalue()[out.getvalue().index("<svg"):]


def plot(title, lines, full):
    """A line for each entrant, and how many buckets fill each cache."""
    figure, axes = pyplot.subplots(figsize=(4.2, 3))
    for name, line in lines.items():
        if line:
            axes.plot(*zip(*line), label=name, color=colour_of(name), gid=name,
                      linewidth=2.5 if name == "profsim" else 1.2,
                      linestyle="--" if name.startswith("(") else "-")
    for name, buckets in full.items():
        axes.axvline(buckets, color="#aaaaaa", linestyle=":", gid="full-" + name)
        axes.annotate(name, (buckets, 0.95), xycoords=("data", "axes fraction"))
    axes.set(title=title, xscale="log", yscale="log")
    axes.grid(color="#eeeeee")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return as_svg(figure)


def bars(rows):
    """The peers' time over ours, with the goals. in: rows by their names"""
    figure, axes = pyplot.subplots(figsize=(8, 0.4 + 0.17 * len(rows)))
    for i, row in enumerate(rows.values()):
        ratio = min(max(float(row["ratio"]), 0.25), 64)
        axes.barh(i, ratio - 1, left=1, color=colour_of(row["entrant"]))
        if float(row["goal_value"] or 0) > 0:
            axes.plot([float(row["goal_value"])] * 2, [i - 0.5, i + 0.5],
                      color="red")
    axes.set_xscale("log", base=2)
    axes.set(xlim=(0.25, 64), ylim=(len(rows) - 0.5, -0.5))
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
    axes.set_xticks(ticks, ["%gx" % tick for tick in ticks])
    axes.set_yticks(range(len(rows)), list(rows))
    axes.axvline(1, color="#888888")
    return as_svg(figure)
