"""Verdicts on what a tool says of a workload: how many runs, and what follows.

Runs and margin of a cell are fixed before any run. The variance of a run is
known for an ideal sampler, which takes each object independently with chance
p = 1 - exp(-S/R). N runs resolve a margin M if the interval around their mean, T(N)
standard errors to either side, is at most M wide: half the width of the band from
1 - M to 1 + M. A workload is run as often as its cells need for a margin of 10 %, at
most the tool's most_runs times. The margin of a cell is 10 % if the runs resolve that,
else 25 %; in the workload near-rate it is 1 %. If the runs resolve neither, the
samples are too few for a verdict.

The verdict is that of an equivalence test. The interval is as wide as the runs vary,
and at least as wide as an ideal sampler's. A tool is

  unbiased     if the interval lies within the band,
  biased       if it lies outside of it,
  not decided  if a border of the band lies in the interval.

T(N) is the quantile of Student's t that is exceeded with a chance of 1e-10; calling it
1e-9 leaves room for figures that are not quite normal. So the chance is below 1e-9 that
a tool is called biased although it is off by M or less, or unbiased although it is off
by M or more: two audits do not contradict each other. A correct tool that varies like
an ideal sampler is at least T(N) > 6.8 standard errors away from "not decided"; one
that is off by 2 M is as far inside "biased". A tool that varies far more stays
undecided.

Dispersion is the variance from run to run, divided by an ideal sampler's.

A correlation is computed over pairs of figures, which are independent for a right tool:
Fisher's transform of it has a standard error of 1 / sqrt(pairs - 3). The band is -0.5
to 0.5, the interval 6.7 standard errors to either side.
"""
import math
import statistics

# Runs, and Student's t of one degree less that is passed, on either side, with 1e-10.
T = {24: 11.12, 48: 8.28, 96: 7.28, 192: 6.85}
MARGINS = (0.1, 0.25)

NORMAL_Z = 6.7
CORRELATION = 0.5
CORRELATION_RUNS = {"siblings": 192, "fork": 96}  # of four pairs, and of eight

UNDECIDED = "not decided"


def side(low, high, margin):
    """in: low, high, the interval of an error, which is 0 if the tool is right
    returns: 0 if it is within the margin, 1 if outside, None if a border lies in it"""
    if -margin <= low and high <= margin:
        return 0
    if low > margin or high < -margin:
        return 1
    return None


class Cell:
    """What a tool says of one quantity of one site, over all runs."""

    def __init__(self, tool, workload, site, label, quantity, truth, ideal,
                 missed):
        self.tool, self.workload, self.site = tool, workload, site
        self.label, self.quantity = label, quantity
        self.truth = truth
        self.ideal = ideal    # relative variance of a run, and how many objects
        self.missed = missed  # are not sampled, of an ideal sampler
        self.margin = 0.0     # NaN: too few
        self.ratios = []

    def resolves(self, runs, margin):
        return 2 * T[runs] * math.sqrt(self.ideal / runs) <= margin

    def judge(self):
        runs = len(self.ratios)
        self.mean = statistics.fmean(self.ratios)
        spread = statistics.variance(self.ratios) if runs > 1 else 0.0
        if self.tool.exact:
            self.bound, self.dispersion = 0.0, math.nan
            self.verdict = "exact" if spread == 0 and self.mean == 1 else "off"
            return
        self.bound = T[runs] * math.sqrt(max(spread, self.ideal) / runs)
        # Where nearly every object is sampled, there is nothing to compare.
        self.dispersion = spread / self.ideal if self.missed >= 1 else math.nan
        if math.isnan(self.margin):
            self.verdict = "too few"
            return
        off = self.mean - 1
        self.verdict = {0: "unbiased", 1: "biased", None: UNDECIDED}[side(
            off - self.bound, off + self.bound, self.margin)]


def plan(cells, most_runs, margins=MARGINS):
    """Fix the margin of each cell; returns the number of runs."""
    ladder = [runs for runs in T if runs <= most_runs]
    best = {}
    for cell in cells:
        if cell.tool.exact:
            return 1
        fit = [margin for margin in margins if cell.resolves(ladder[-1], margin)]
        cell.margin = fit[0] if fit else math.nan
        best[cell] = [runs for runs in ladder
                      if not fit or cell.resolves(runs, fit[0])][0]
    return max(best.values())


class Correlation:
    """The correlation of pairs of figures: of two threads, or of parent and child."""

    def __init__(self, tool, workload, quantity):
        self.tool, self.workload, self.quantity = tool, workload, quantity
        self.pairs = []

    def judge(self):
        first, second = zip(*self.pairs)
        half = NORMAL_Z / math.sqrt(len(self.pairs) - 3)
        self.bound = math.tanh(half)
        if len(set(first)) == 1 or len(set(second)) == 1:
            self.value, self.verdict = math.nan, "constant"
            return
        self.value = statistics.correlation(first, second)
        near = math.atanh(max(-1 + 1e-12, min(self.value, 1 - 1e-12)))
        self.verdict = {0: "independent", 1: "correlated", None: UNDECIDED}[side(
            near - half, near + half, math.atanh(CORRELATION))]
