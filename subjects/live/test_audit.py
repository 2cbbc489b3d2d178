#!/usr/bin/python3
"""The judgement of audit.py and the readers of tools.py, without the tools.

An ideal sampler must be called unbiased, one that is off by more than the bound
says biased: seeds are fixed, so this passes always or never.
"""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
import audit  # noqa: E402
import tools  # noqa: E402

passed = failed = 0


def check(name, holds):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("failed:", name)


class Sampler(tools.Tool):
    """Takes each object by itself with the byte sampler's chance."""
    says = ("bytes", "objects")

    def __init__(self, scale=1.0, keeps_numbers=False):
        super().__init__("", audit.RATE)
        self.scale, self.keeps_numbers = scale, keeps_numbers

    def measure(self, mode, seed, parts):
        numbers = random.Random(1 if self.keeps_numbers else seed)
        sums = self.sums(parts)
        for at, (size, count, _) in enumerate(parts):
            weight = tools.weight(size, self.rate)
            taken = sum(numbers.random() < 1 / weight for _ in range(count))
            sums[at]["objects"] = taken * weight * self.scale
            sums[at]["bytes"] = taken * weight * size * self.scale
        return sums, 0.0


def verdicts(tool, workload="uneven"):
    return audit.measure(tool, workload, audit.RUNS_LEAST, lambda text: None)


ideal = verdicts(Sampler())
check("an ideal sampler is unbiased, or its samples are too few", all(
    c.verdict == ("unbiased" if c.bound < 1 else "too few") for c in ideal))
check("its samples suffice at all sizes but the smallest",
      {c.label for c in ideal if c.verdict == "too few"} == {"16"})
check("its dispersion is near 1", all(0.3 < c.dispersion < 2.5 for c in ideal))
silent = verdicts(Sampler(0.0))
check("who says nothing is never unbiased",
      {c.verdict for c in silent} == {"biased", "too few"})
cell = audit.Cell(Sampler(), "", 0, "", "bytes", 1, 1e-6, 5)
cell.ratios = [0.9, 1.1] * 12  # a standard deviation of 0.1 sqrt(24/23)
cell.judge()
check("the bound is ten standard errors", abs(cell.bound - 0.20851) < 1e-5)
check("the dispersion is by the ideal variance",
      abs(cell.dispersion - 0.0104348e6) < 1)
cell.ratios, cell.ideal = [1.0] * 24, 0.01
cell.judge()
check("and not below 6.2 of an ideal sampler's", abs(cell.bound - 0.12656) < 1e-5)
for scale in (0.6321, 1.5820):
    check("%.4f of the truth is biased" % scale, any(
        c.verdict == "biased" for c in verdicts(Sampler(scale))))
same = verdicts(Sampler(keeps_numbers=True))
check("the same numbers in each run have no dispersion",
      all(c.dispersion < 1e-9 for c in same))


class Counter(Sampler):
    """Counts everything, but for what it forgets."""
    exact = True

    def __init__(self, forgets=0):
        super().__init__()
        self.forgets = forgets

    def measure(self, mode, seed, parts):
        return [{"objects": float(count - self.forgets),
                 "bytes": float((count - self.forgets) * size)}
                for size, count, _ in parts], 0.0


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
        tools.Tool.__init__(tool, folder, 65536)
        tool.program, tool.symbols = "truth", OfOneSite()

        def run(command, env=None, cwd=None):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            return output, 0.0

        kept, tools.run = tools.run, run
        try:
            return tool.measure("plain", 1, [(65536, 8, 4), (16, 8, 4)])[0]
        finally:
            tools.run = kept


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
      near(sums[1]["bytes"], 16 * tools.weight(16, 65536)))
sums = read(tools.Go, "unused", "", "0 1.5 2.5 3.5 4.5\n1 0 0 0 0\n")
check("Go", sums[0] == {"objects": 1.5, "bytes": 2.5, "live_objects": 3.5,
                        "live_bytes": 4.5})

print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
