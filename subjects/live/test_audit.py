#!/usr/bin/python3
"""The judgement of audit.py and the readers of tools.py, without the tools.

An ideal sampler must be called unbiased, one that is off by more than the bound
says biased: seeds are fixed, so this passes always or never.
"""
import math
import os
import random
import sys
import tempfile

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
    most_runs = judge.RUNS_LEAST

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


def verdicts(tool, workload="uneven"):
    return audit.measure(tool, workload, judge.RUNS_LEAST, lambda text: None)[0]


ideal = verdicts(Sampler())
check("an ideal sampler is unbiased, or its samples are too few",
      {c.verdict for c in ideal} == {"unbiased", "too few"})
check("its samples suffice at all sizes but the smallest",
      {c.label for c in ideal if c.verdict == "too few"} == {"16"})
check("its dispersion is near 1", all(0.3 < c.dispersion < 2.5 for c in ideal))
silent = verdicts(Sampler(0.0))
check("which is known before any run", {(c.label, c.quantity) for c in ideal
      if c.verdict == "too few"} == {(c.label, c.quantity) for c in silent
                                     if c.verdict == "too few"})
check("who says nothing is never unbiased",
      {c.verdict for c in silent} == {"biased", "too few"})
cell = judge.Cell(Sampler(), "", 0, "", "bytes", 1, 1e-6, 5)
cell.ratios = [0.9, 1.1] * 12  # a standard deviation of 0.1 sqrt(24/23)
cell.judge()
check("the bound is ten standard errors", abs(cell.bound - 0.20851) < 1e-5)
check("the dispersion is by the ideal variance",
      abs(cell.dispersion - 0.0104348e6) < 1)
cell.ratios, cell.ideal = [1.0] * 24, 0.01
cell.judge()
check("and not below 6.2 of an ideal sampler's", abs(cell.bound - 0.12656) < 1e-5)


def verdict_at(off, ideal=1e-6):
    """Of a cell that is off by so many of its standard errors."""
    cell = judge.Cell(Sampler(), "", 0, "", "bytes", 1, ideal, 5)
    cell.ratios = [0.9, 1.1] * 12
    error = math.sqrt(0.01 * 24 / 23 / 24)
    cell.ratios = [ratio + off * error for ratio in cell.ratios]
    cell.judge()
    return cell.verdict


check("three standard errors and ten are the borders", [
    verdict_at(off) for off in (0, -2.9, 3.1, -9.9, 10.1, -10.1)] == [
    "unbiased", "unbiased", "not decided", "not decided", "biased", "biased"])
check("too few samples are not judged", verdict_at(40, 0.7) == "too few")
runs = []


class Slow(Sampler):
    """Off by about five standard errors of 24 runs."""
    most_runs = 400

    def measure(self, mode, seed, parts):
        runs.append(seed)
        return super().measure(mode, seed, parts)


sure = audit.measure(Slow(1.026), "large", judge.RUNS_LEAST, lambda text: None)[0]
check("what is not decided is run four times as often",
      runs == list(range(1, 97)) and "biased" in {c.verdict for c in sure})
for scale in (0.6321, 1.5820):
    check("%.4f of the truth is biased" % scale, any(
        c.verdict == "biased" for c in verdicts(Sampler(scale))))
same = verdicts(Sampler(keeps_numbers=True))
check("the same numbers in each run have no dispersion",
      all(c.dispersion < 1e-9 for c in same))


# ---- Correlation ----


def correlation(tool, mode):
    return audit.correlate(tool, mode, judge.RUNS_LEAST, lambda text: None)


free = correlation(Sampler(), "siblings")
check("threads of an ideal sampler are independent",
      free.verdict == "independent" and len(free.pairs) == 24 * 4)
free = correlation(Sampler(), "fork")
check("so are parent and child",
      free.verdict == "independent" and len(free.pairs) == 24 * 8)
tied = correlation(Sampler(keeps_numbers=True), "fork")
check("a child with the numbers of its parent correlates",
      tied.verdict == "correlated" and tied.value > 0.999999)
check("the bound is ten standard errors of Fisher's transform",
      abs(tied.bound - math.tanh(10 / math.sqrt(189))) < 1e-12)
silent = correlation(Sampler(0.0), "siblings")
check("who says nothing does not correlate", silent.verdict == "constant")

# ---- The table ----

whole = audit.Audit()
whole.cells, whole.costs["sampler", "uneven"] = audit.measure(
    Sampler(), "uneven", judge.RUNS_LEAST, lambda text: None)
whole.correlations = [tied]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "audit")
    table.write_csv(path + ".csv", whole, {"sampler": "1"})
    table.write_html(path + ".html", path + ".csv")
    with open(path + ".csv") as file:
        rows = file.read().splitlines()
    with open(path + ".html") as file:
        page = file.read()
check("a cell has its cost, and that without the tool",
      rows[1].endswith(",2.000,0.500,3072,1024"))
check("a correlation is a row", rows[-1] ==
      "sampler,,1,fork,,correlation of bytes,192,,1.0000,0.6215,,correlated,,,,")
check("the page has both", "+1.50 s, +2.0 MiB" in page and
      '["1.0000 ±0.6215","bad","correlated"]' in page)


class Counter(Sampler):
    """Counts everything, but for what it forgets."""
    exact = True

    def __init__(self, forgets=0):
        super().__init__()
        self.forgets = forgets

    def measure(self, mode, seed, parts):
        return [{"objects": float(count - self.forgets),
                 "bytes": float((count - self.forgets) * size)}
                for size, count, _ in parts], Cost(1.0, 1)


check("who counts everything is exact",
      all(c.verdict == "exact" for c in verdicts(Counter())))
check("who forgets one object is off",
      all(c.verdict == "off" for c in verdicts(Counter(1))))

# ---- The readers, on files as the tools write them ----


class OfOneSite:
    """0x401200 to 0x4012ff is site 0, 0x401300 to 0x4013ff site 1."""

    def site(self, address):
        if not 0x401200 <= address < 0x401400:
            return None
        return int(address >= 0x401300)


def read(make, name, text, output=""):
    """What an adapter makes of a file that its tool would have left."""
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
