#!/usr/bin/python3
"""Makes the page of a benchmark run, or prints its rows as JSON.

The page says which goals were missed, plots the cost against the number of
buckets and frames, and shows for each row how much longer a peer
takes than the library.

usage: page.py [--json] BENCH.CSV >OUT
"""
import csv
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "common", "page"))
import measurements  # noqa: E402

TABLES = ["profsim", "go1.19", "absl", "boost"]
US_AND_GO = ["profsim", "go1.19"]
SIZES = [100, 1000, 10000, 100000, 1000000, 10000000]
FRAMES = [4, 16, 32, 128]
# Title, row with a * for the x axis, its values, entrants, the depth at which
# caches fill (0: no such lines).
PLOTS = [
    ("lookup, 16 frames, Zipf, by buckets", "table|hit|16|*|zipf|1", SIZES,
     TABLES, 16),
    ("alloc, 16 frames, Zipf, by buckets", "heap|alloc|16|*|zipf|1", SIZES,
     US_AND_GO, 16),
    ("free, 16 frames, Zipf, by buckets", "heap|free|16|*|zipf|1", SIZES,
     US_AND_GO, 16),
    ("lookup, 10k buckets, Zipf, by frames", "table|hit|*|10000|zipf|1", FRAMES,
     TABLES, 0),
    ("alloc, 10k buckets, Zipf, by frames", "heap|alloc|*|10000|zipf|1", FRAMES,
     US_AND_GO, 0),
    ("flush, ns a bucket, by buckets", "ring|flush|16|*||1", SIZES,
     US_AND_GO, 16),
    ("snapshot, ns a bucket, by buckets", "ring|snapshot|16|*||1", SIZES,
     US_AND_GO, 16),
    ("stack number in a trace, 16 frames", "table|stack-id|16|*|zipf|1", SIZES,
     TABLES, 16)]
# Rows that were run on one thread and on two.
PAIRS = [("table|hit|4|10000|zipf", TABLES), ("table|hit|16|100|zipf", TABLES),
         ("table|hit|16|10000|zipf", TABLES),
         ("table|hit|128|10000|zipf", TABLES),
         ("table|hit|16|1000000|uniform", TABLES),
         ("heap|alloc|16|10000|zipf", US_AND_GO),
         ("heap|free|16|10000|zipf", US_AND_GO)]
KEY = ["noun", "operation", "depth", "n", "order", "threads"]


class Run:
    """The rows of a CSV file, and the lines that say how they were made."""

    def __init__(self, path):
        with open(path, newline="") as file:
            lines = file.read().splitlines()
        self.about = [line[2:] for line in lines if line.startswith("#")]
        self.rows = list(csv.DictReader(
            line for line in lines if not line.startswith("#")))
        self.medians = {}
        for row in self.rows:
            row["ok"] = row["state"] == "ok"
            if row["ok"]:
                key = "|".join(row[name] for name in KEY)
                self.medians[key, row["entrant"]] = float(row["median"])

    def cache_bytes(self):
        """Bytes that a cache holds, or that the TLB covers, by name."""
        for line in self.about:
            if line.startswith("caches "):
                words = line[7:].replace(",", "").split()
                return {name: int(count) * (4096 if name == "TLB" else 1024)
                        for name, count in zip(words[::3], words[1::3])}
        return {}


def label(row):
    words = [row["operation"]]
    if int(row["depth"]) + int(row["n"]) > 0:
        words.append("d=%s n=%s" % (row["depth"], row["n"]))
    if row["order"]:
        words.append(row["order"])
    if int(row["threads"]) > 1:
        words.append("T=" + row["threads"])
    return " ".join(words)


def table(title, text, columns, rows, **more):
    return dict(title=title, text=text, columns=columns, rows=rows, **more)


def plot(run, title, key, xs, entrants, depth):
    """A line for each entrant; nothing if there are fewer than two points."""
    lines = []
    for name in entrants:
        points = [(x, run.medians.get((key.replace("*", str(x)), name)))
                  for x in xs]
        points = [(x, y) for x, y in points if y]
        if points:
            lines.append({"name": name, "points": points})
    seen = sorted({x for line in lines for x, _ in line["points"]})
    if len(seen) < 2:
        return None
    # Bytes that a lookup may touch: slot, entry, frames, a line of counters.
    full = {name: count // (12 + 16 + 8 * depth + 64)
            for name, count in run.cache_bytes().items() if depth}
    what, _, x = title.rpartition(", by ")
    return {"title": title, "part": True, "plot": {
        "x": x if what else "buckets",
        "y": "ns",
        "marks": [[buckets, name] for name, buckets in full.items()
                  if seen[0] < buckets < seen[-1]],
        "series": lines}}


# ---- The page ----

def goals(run):
    """Cards, and the section of the goals that were missed."""
    ours, missed = {}, []
    met = noisy = 0
    for row in run.rows:
        name = "%s: %s" % (row["noun"], label(row))
        is_ours = name not in ours  # the first entrant of a row is ours
        ours.setdefault(name, row)
        noisy += not row["ok"]
        met += row["goal"] == "met"
        if row["goal"] == "missed":
            missed.append((name, row, is_ours))
    cards = [(met, "goals met"), (len(missed), "missed"),
             ("%d of %d" % (noisy, len(run.rows)), "too noisy to report")]
    return cards, table(
        "Goals missed", "Goals are ratios that were measured on another machine; "
        "docs/speed.md says why this one misses some.",
        ["row", "against", "reached", "goal", "ours"],
        [[name, "" if is_ours else row["entrant"],
          row["median"] + " " + row["unit"] if is_ours
          else "%.2f" % float(row["ratio"]), row["goal_value"],
          "%.3g %s" % (float(ours[name]["median"]), ours[name]["unit"])
          if ours[name]["ok"] else "noisy"]
         for name, row, is_ours in missed])


def threads(run):
    rows = []
    for key, entrants in PAIRS:
        for name in entrants:
            one = run.medians.get((key + "|1", name))
            two = run.medians.get((key + "|2", name))
            if one and two:
                rows.append([key.replace("|", " "), name, "%.1f" % (1e3 / one),
                             "%.1f" % (1e3 / two), "%.2f" % (one / two)])
    if rows:
        yield table("A second thread", "Million operations a second.",
                    ["row", "entrant", "one", "two", "gain"], rows)


def by_noun(run):
    yield dict(title="Row by row", text="Bars: the peer's time over ours in the "
               "same round, median, on an axis of powers of two from a quarter to "
               "64. Right of the line we are faster. Dashed: the goal. Rows whose "
               "rounds disagree are not shown.")
    for noun in dict.fromkeys(row["noun"] for row in run.rows):
        rows = [row for row in run.rows if row["noun"] == noun]
        first = {label(row): row for row in reversed(rows)}
        peers = [row for row in rows if row["ok"] and
                 row is not first[label(row)]]
        if peers:
            yield dict(title=noun, part=True, bars=[
                ["%s: %s" % (label(row), row["entrant"]), float(row["ratio"]),
                 float(row["goal_value"] or 0)] for row in peers])
        yield table("numbers of " + noun, "",
                    ["row", "entrant", "median", "ratio", "goal"],
                    [[label(row), row["entrant"], "%.2f %s" % (
                        float(row["median"]), row["unit"]) if row["ok"] else
                      "noisy", "%.2f" % float(row["ratio"]) if row["ok"] else "",
                      [row["goal"] + " " + row["goal_value"],
                       "good" if row["goal"] == "met" else "bad"]
                      if row["goal"] else ""]
                     for row in rows], folded=True)


def sections(run):
    yield goals(run)[1]
    yield dict(title="Where it bends", text="The dotted lines show how many "
               "buckets fill the second-level cache, the memory that the TLB "
               "covers with pages of 4 KB, and the third-level cache. A lookup "
               "waits for two cache lines, the slot's and then the entry's; "
               "between two dotted lines it costs what those cost there.")
    for row in PLOTS:
        drawn = plot(run, *row)
        if drawn:
            yield drawn
    yield from threads(run)
    yield from by_noun(run)


def page(run):
    return measurements.page("Speed, side by side", run.about,
                             list(sections(run)), goals(run)[0])


def as_json(run):
    """The rows, with numbers as numbers; one that was too noisy is null."""
    about = dict(line.replace("made by:", "command").split(" ", 1)
                 for line in run.about)
    rows = []
    for row in run.rows:
        values = {name: row[name] for name in KEY + ["entrant", "unit", "state"]}
        for name in ("depth", "n", "threads", "rounds"):
            values[name] = int(row[name] or 0)
        for name in ("median", "spread", "ratio", "goal_value"):
            values[name] = float(row[name]) if row[name] else None
        values["goal"] = row["goal"] or None
        rows.append(values)
    return json.dumps(dict(about, rows=rows), indent=1)


if __name__ == "__main__":
    wanted = Run(sys.argv[-1])
    if "--json" in sys.argv[1:-1]:
        print(as_json(wanted))
    else:
        sys.stdout.write(page(wanted))
