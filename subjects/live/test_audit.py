#!/usr/bin/python3
# build: args=''
"""The judgement of audit.py and the readers of tools.py, without the tools.

An ideal sampler must be called unbiased, and one that is off by more than the bound
must be called biased. Seeds are fixed, so a test passes always or never.
"""
import contextlib
import io
import math
import os
import random
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
import audit  # noqa: E402
import judge  # noqa: E402
import table  # noqa: E402
import tools  # noqa: E402
from tool import Cost, Tool, weight  # noqa: E402

passed = failed = 0


def check(name, holds):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("failed:", name)


class Sampler(Tool):
    """Takes each object by itself with the byte sampler's chance."""
    name = "sampler"
    says = ("bytes", "objects")

    def __init__(self, scale=1.0, keeps_numbers=False):
        super().__init__("", audit.RATE)
        self.scale, self.keeps_numbers = scale, keeps_numbers

    def measure(self, mode, seed, parts):
        same = self.keeps_numbers and mode != "fork"
        numbers = random.Random(1 if same else repr(seed))
        sums = self.sums(parts)
        for at, (size, count, _) in enumerate(parts):
            each = weight(size, self.rate)
            taken = sum(numbers.random() < 1 / each for _ in range(count))
            sums[at]["objects"] = taken * each * self.scale
            sums[at]["bytes"] = taken * each * size * self.scale
        return sums, Cost(2.0, 3072)

    def plain(self, mode, seed, parts):
        return Cost(0.5, 1024)

    def fork(self, seed, parts):
        """keeps_numbers: those of its parent."""
        return [self.measure("fork", (seed, at * (not self.keeps_numbers)),
                             parts)[0] for at in range(2)]


def cells(tool, workload="uneven"):
    return audit.measure(tool, workload, lambda text: None)[0]


# ---- How many runs, and with which margin: before any run ----


def chance_beyond(t, degrees):
    """returns: the two-sided tail probability of Student's t, by Simpson's rule over
    1/t"""
    factor = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    density = lambda u: u and (1 + 1 / (u * u * degrees)) ** (
        -(degrees + 1) / 2) / (u * u)
    steps = 2000
    width = 1 / t / steps
    weights = (1 if at in (0, steps) else 4 if at % 2 else 2
               for at in range(steps + 1))
    return 2 * factor / math.sqrt(degrees * math.pi) * width / 3 * sum(
        each * density(at * width) for at, each in enumerate(weights))


check("each T is passed with a chance of 1e-10", all(
    0.9e-10 < chance_beyond(t, runs - 1) <= 1.001e-10
    for runs, t in judge.T.items()))


def planned(ideals, most_runs=192, margins=judge.MARGINS):
    """Runs and margins of cells with these variances of a run."""
    made = [judge.Cell(Sampler(), "", 0, "", "bytes", 1, ideal, 5)
            for ideal in ideals]
    return judge.plan(made, most_runs, margins), [cell.margin for cell in made]


# 2 * 8.28 * 0.04 / sqrt(48) is 0.0956; with 24 runs 11.12 gives 0.182.
check("as many runs as 10 % take", planned([0.04 ** 2]) == (48, [0.1]))
check("the most demanding part decides",
      planned([0.0001, 0.04 ** 2]) == (48, [0.1, 0.1]))
# 2 * 6.85 * 0.15 / sqrt(192) is 0.148; with 96 runs 7.28 gives 0.223.
check("where the most runs do not resolve 10 %, it is 25 %",
      planned([0.15 ** 2]) == (96, [0.25]))
check("1 % where it is asked for", planned([0.0069 ** 2], 192, (0.01,)) == (
    192, [0.01]))
few = planned([1.0])
check("where they do not resolve that, the samples are too few",
      few[0] == 24 and math.isnan(few[1][0]))
tiny = audit.WORKLOADS["tiny"] = ("plain", [(16, 8, 1)])
silent = []


class Silent(Sampler):
    def measure(self, mode, seed, parts):
        silent.append(seed)
        return super().measure(mode, seed, parts)


check("a workload without a margin is not run",
      audit.measure(Silent(), "tiny", lambda text: None) == ([], None) and
      not silent)

# ---- Verdicts ----

ideal = cells(Sampler())
check("an ideal sampler is unbiased, or its samples are too few",
      {c.verdict for c in ideal} == {"unbiased", "too few"})
check("its samples suffice at all sizes but the smallest",
      {c.label for c in ideal if c.verdict == "too few"} == {"16"})
check("its dispersion is near 1", all(0.6 < c.dispersion < 1.6 for c in ideal))
check("all parts have the runs that were planned",
      {len(c.ratios) for c in ideal} == {96})
silent = cells(Sampler(0.0))
check("who says nothing is biased", {c.verdict for c in silent} ==
      {"biased", "too few"})
for scale in (0.6321, 1.5820):
    check("%.4f of the truth is biased" % scale, {
        c.verdict for c in cells(Sampler(scale))} == {"biased", "too few"})
check("a small bias of many samples is, within 1 %",
      {c.verdict for c in cells(Sampler(0.98), "near-rate")} == {"biased"})
check("and nothing else is", {c.verdict for c in cells(Sampler(), "near-rate")}
      == {"unbiased"})
same = cells(Sampler(keeps_numbers=True))
check("the same numbers in each run have no dispersion",
      all(c.dispersion < 1e-9 for c in same))


def cell_at(off, spread=0.1, ideal=1e-6, margin=0.1):
    """Judge 96 runs whose mean is off by `off`."""
    cell = judge.Cell(Sampler(), "", 0, "", "bytes", 1, ideal, 5)
    cell.margin = margin
    cell.ratios = [1 + off - spread, 1 + off + spread] * 48
    cell.judge()
    return cell


cell = cell_at(0)  # a standard deviation of 0.1 sqrt(96/95)
half = 7.28 * 0.1 / math.sqrt(95)
check("the interval is T standard errors to either side",
      abs(cell.bound - half) < 1e-9)
check("the dispersion is by the ideal variance",
      abs(cell.dispersion - 0.01 * 96 / 95 / 1e-6) < 1e-3)
check("no run-to-run variance is believed below an ideal sampler's",
      abs(cell_at(0, 0.0, 0.01).bound - 7.28 * 0.1 / math.sqrt(96)) < 1e-9)
check("the borders are where the interval meets the margin", [
    cell_at(sign * off).verdict for sign in (-1, 1) for off in (
        0, 0.1 - half - 1e-6, 0.1 - half + 1e-6, 0.1, 0.1 + half - 1e-6,
        0.1 + half + 1e-6)] == ["unbiased", "unbiased", "not decided",
                                "not decided", "not decided", "biased"] * 2)
check("who varies too much is not decided, whatever the mean",
      {cell_at(off, 3).verdict for off in (0, 0.5, 1, -1)} == {"not decided"})
check("too few samples are not judged",
      cell_at(9, margin=math.nan).verdict == "too few")


# ---- Correlation ----


def correlation(tool, mode):
    return audit.correlate(tool, mode, lambda text: None)


free = correlation(Sampler(), "siblings")
check("threads of an ideal sampler are independent",
      free.verdict == "independent" and len(free.pairs) == 192 * 4)
free = correlation(Sampler(), "fork")
check("so are parent and child",
      free.verdict == "independent" and len(free.pairs) == 96 * 8)
tied = correlation(Sampler(keeps_numbers=True), "fork")
check("a child with the numbers of its parent correlates",
      tied.verdict == "correlated" and tied.value > 0.999999)
check("the interval is 6.7 standard errors of Fisher's transform",
      abs(tied.bound - math.tanh(6.7 / math.sqrt(765))) < 1e-12)


def correlated_at(share):
    """Of 1,000 pairs: as many have the same figure, the others none in common."""
    row = judge.Correlation(Sampler(), "fork", "bytes")
    row.pairs = [(at % 2, at % 2 if at < share * 1000 else at // 2 % 2)
                 for at in range(1000)]
    row.judge()
    return row.verdict


check("half correlated is not decided, more and less is", [
    correlated_at(share) for share in (0.2, 0.5, 0.8)] == [
    "independent", "not decided", "correlated"])
silent = correlation(Sampler(0.0), "siblings")
check("who says nothing does not correlate", silent.verdict == "constant")

# ---- The table ----

whole = audit.Audit()
whole.cells, whole.costs["sampler", "uneven"] = audit.measure(
    Sampler(), "uneven", lambda text: None)
whole.correlations = [tied]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "audit")
    table.write_csv(path + ".csv", whole, {"sampler": "1"})
    with open(path + ".csv") as file:
        rows = file.read().splitlines()
    now = table.read_verdicts(path + ".csv")
check("a cell has its cost, and that without the tool",
      rows[1].endswith(",2.000,0.500,3072,1024"))
check("a correlation is a row", rows[-1] ==
      "sampler,,1,fork,,correlation of bytes,768,,1.0000,0.2376,0.5,,correlated,,,,")
check("verdicts are read back", now["sampler", "fork", "", "correlation of bytes"]
      == "correlated" and len(now) == 7)
said = io.StringIO()
with contextlib.redirect_stdout(said):
    check("a table agrees with itself", audit.agrees(now, now))
    check("and with a part of itself", audit.agrees(now, dict([*now.items()][:3])))
    check("but not with another verdict", not audit.agrees(now, {
        cell: "biased" for cell in now}))
check("which is told", "sampler, uneven, 65536, bytes: unbiased, was biased\n" in
      said.getvalue() and "7 of 7 cells" in said.getvalue() and
      "3 of 3 cells" in said.getvalue())

# ---- Which are run ----

words = audit.words_of(["x", "--tools", "JEP 331, S/p,jemalloc"])
check("a name with a comma", words.tools == ["JEP 331, S/p", "jemalloc"])
check("written beside the tools", words.out == words.folder)
words = audit.words_of(["x"])
check("all tools", len(words.tools) == len(tools.TOOLS))
check("experiments are not in the table", "kept" in words.names and
      not set(words.names) & set(audit.EXPERIMENTS))
words = audit.words_of(["x", "--workloads", "all-alive"])
check("but run if asked for", words.names == ["all-alive"])


# ---- Two runs at once ----


class Noting(Sampler):
    """A tool that notes the folder of each run, and whose runs overlap."""
    modes = ("plain",)
    folders = []
    both = threading.Barrier(2, timeout=60)

    def __init__(self, folder, rate, scratch):
        super().__init__()
        self.scratch = scratch

    def measure(self, mode, seed, parts):
        if seed == 1:
            self.both.wait()
        self.folders.append(self.scratch)
        return super().measure(mode, seed, parts)


with tempfile.TemporaryDirectory() as folder:
    names = ["large", "uneven"]
    steps = []
    together = audit.measure_all([(Noting, name) for name in names], folder,
                                 audit.RATE, lambda now: steps.append(len(now.costs)))
    check("two runs at once have folders of their own",
          len(set(Noting.folders)) == 2 and all(map(os.path.isdir, Noting.folders)))
check("the table is kept after each", steps == [1, 2])
check("and the table has their order", list(dict.fromkeys(
    cell.workload for cell in together.cells)) == names and
    [name for _, name in together.costs] == names)


class Counter(Sampler):
    """A tool that counts everything except what it forgets."""
    exact = True

    def __init__(self, forgets=0):
        super().__init__()
        self.forgets = forgets

    def measure(self, mode, seed, parts):
        return [{"objects": float(count - self.forgets),
                 "bytes": float((count - self.forgets) * size)}
                for size, count, _ in parts], Cost(1.0, 1)


check("who counts everything is exact",
      all(c.verdict == "exact" for c in cells(Counter())))
check("who forgets one object is off",
      all(c.verdict == "off" for c in cells(Counter(1))))

# ---- The readers, on files as the tools write them ----


class OfOneSite:
    """0x401200 to 0x4012ff is site 0, 0x401300 to 0x4013ff site 1."""

    def site(self, address):
        if not 0x401200 <= address < 0x401400:
            return None
        return int(address >= 0x401300)


def read(make, name, text, output=""):
    """returns: what an adapter reads from a file as its tool would write it"""
    with tempfile.TemporaryDirectory() as folder:
        tool = make.__new__(make)
        Tool.__init__(tool, folder, 65536)
        tool.program, tool.symbols = "truth", OfOneSite()

        def run(command, env=None):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            return output, Cost(0.0, 0)

        tool.run = run
        return tool.measure("plain", 1, [(65536, 8, 4), (16, 8, 4)])[0]


near = lambda value, wanted: abs(value - wanted) < 1e-6 * wanted
scale = 1 / 0.6321205588285577  # 1 - 1/e: an object of one interval
sums = read(tools.Jemalloc, "jemalloc.heap", """heap_v2/65536
  t*: 2: 131072 [5: 327680]
  t0: 2: 131072 [5: 327680]
@ 0x7f1314aa2630 0x401298 0x7f131484524a
  t*: 2: 131072 [5: 327680]
  t0: 2: 131072 [5: 327680]

MAPPED_LIBRARIES:
00400000-00401000 r--p 00000000 fe:00 1 /truth
""")
check("jemalloc: allocated", near(sums[0]["bytes"], 327680 * scale))
check("jemalloc: in use", near(sums[0]["live_objects"], 2 * scale))
check("jemalloc: nothing elsewhere", sums[1]["bytes"] == 0)
sums = read(tools.Gperftools, "gperftools.heap",
            """heap profile:      3:   196608 [     3:   196608] @ heap_v2/65536
     1:    65536 [     1:    65536] @ 0x7f983aa39a70 0x401298 0x4012bb
     2:   131072 [     2:   131072] @ 0x7f983aa39a70 0x401398 0x4012bb
""")
check("gperftools: two sites", near(sums[0]["live_bytes"], 65536 * scale) and
      near(sums[1]["live_bytes"], 131072 * scale))
sums = read(tools.Dhat, "dhat.json", """{"pps": [{"tb": 100, "tbk": 5, "eb": 20,
    "ebk": 1, "fs": [1, 2]}], "ftbl": ["[root]", "0x1: malloc (x.c:1)",
    "0x2: site_1 (truth.c:80)"]}""")
check("dhat", sums[1] == {"objects": 5, "bytes": 100, "live_objects": 1,
                          "live_bytes": 20} and sums[0]["bytes"] == 0)
sums = read(tools.Jep331, "jep331.txt", "0 65536 3\n1 16 1\n")
check("JEP 331", near(sums[0]["objects"], 3 * scale) and
      near(sums[1]["bytes"], 16 * weight(16, 65536)))
sums = read(tools.Go, "unused", "", "0 1.5 2.5 3.5 4.5\n1 0 0 0 0\n")
lines = "0 1\n1 2\n0 3\n1 4\n"
memprof = tools.Memprof("", 8)
memprof.run = lambda command, env=None: (lines, Cost(0.0, 0))
check("OCaml: the child's lines come first", memprof.fork(1, [(16, 1, 1)] * 2) == (
    [{"bytes": 24.0}, {"bytes": 32.0}], [{"bytes": 8.0}, {"bytes": 16.0}]))
check("Go", sums[0] == {"objects": 1.5, "bytes": 2.5, "live_objects": 3.5,
                        "live_bytes": 4.5})

print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
