"""Verdicts on what a tool says of a workload, over many runs.

A cell is called biased if its mean is further from 1 than a right tool's is with a
chance of 1e-9. With N - 1 >= 23 degrees of freedom, Student's t is beyond 10 with a
chance below 1e-9; and no run-to-run variance is believed that is below an ideal
sampler's, which takes each object by itself with chance p = 1 - exp(-S/R): beyond
6.2 of its standard deviations is a chance below 1e-9, too. So the bound is the
larger of the two. A tool that counts everything has no bound: it must be exact.

A cell is called unbiased below three tenths of the bound, if the bound is below 1.
In between nothing is decided, and more runs are made. So two audits contradict each
other only if two means differ by 7 of their standard errors (1e-6). Too few are the
samples of a cell where even an ideal sampler's bound were 1 or more; they are known
before any run.

Dispersion is the variance from run to run, over the ideal sampler's.

A correlation is that of pairs of figures, which are independent for a right tool:
Fisher's transform of it has a standard error of 1 / sqrt(pairs - 3). Correlated is
beyond ten of them, independent below three.
"""
import math
import statistics

RUNS_LEAST = 24
STUDENT_T = 10.0  # of 23 degrees of freedom and more, two-sided 1e-9
NORMAL_Z = 6.2    # two-sided 1e-9
ACCEPTED = 0.3    # of the bound

UNDECIDED = "not decided"


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
        off = abs(self.mean - 1)
        if NORMAL_Z * math.sqrt(self.ideal / RUNS_LEAST) >= 1:
            self.verdict = "too few"
        elif off > self.bound:
            self.verdict = "biased"
        elif off <= ACCEPTED * self.bound and self.bound < 1:
            self.verdict = "unbiased"
        else:  # who says nothing at all is not unbiased
            self.verdict = UNDECIDED


class Correlation:
    """Of pairs of figures: two threads, or parent and child."""

    def __init__(self, tool, workload, quantity):
        self.tool, self.workload, self.quantity = tool, workload, quantity
        self.pairs = []

    def judge(self):
        first, second = zip(*self.pairs)
        error = 1 / math.sqrt(len(self.pairs) - 3)
        self.bound = math.tanh(STUDENT_T * error)
        if len(set(first)) == 1 or len(set(second)) == 1:
            self.value, self.verdict = math.nan, "constant"
            return
        self.value = statistics.correlation(first, second)
        if abs(self.value) > self.bound:
            self.verdict = "correlated"
        elif abs(self.value) <= math.tanh(ACCEPTED * STUDENT_T * error):
            self.verdict = "independent"
        else:
            self.verdict = UNDECIDED
