#!/usr/bin/python3
"""Real bugs of profilers, rebuilt: does the harness find each, and in how many runs?

usage: exam.py [--build FOLDER] [--seeds N] [--out FOLDER] [--fixed-runs N] [BUG...]

catalogue.csv has a line for each bug. Nothing tells the harness which property is
broken: each profiler meets all plans, all rule sets all workloads, and so on. The
column `finding` says what was found when the line was written, and must be found
again. The right form of each profiler must pass all plans in every ordering.

--out writes catalogue.csv and catalogue.md, with the median of runs to detection.
"""
import argparse
import concurrent.futures
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.relpath(__file__))
WORLD = ["world", "program", "plans", "choose"]
FLAGS = ["-std=c11", "-O2", "-g", "-fno-builtin", "-fsanitize=thread", "-Wno-tsan"]
LIMIT_S = 120
RUNS_MOST = 100000


def run(command, **variables):
    """returns: exit code, output"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **variables))
    return done.returncode, done.stdout


def must(command):
    code, output = run(command)
    if code != 0:
        sys.exit("exam.py: %s\n%s" % (" ".join(command), output))
    return output


class Finding:
    """What was found, where, and what it takes to find it."""

    def __init__(self, property_, text, command, runs, shrunk):
        self.property = property_
        self.text = text
        self.command = command
        self.runs = runs      # of each seed
        self.shrunk = shrunk  # in words


# ---- Profilers under the explorer


def explore(program, plan, options=""):
    """returns: exit code, output, runs, what was found"""
    code, output = run([program, plan], PROFSIM_EXPLORE=options)
    head = re.match(r"\S+ +(\d+) runs .* s  (.*)\n", output)
    if head is None or code not in (0, 2, 3, 4):
        sys.exit("exam.py: %s %s\n%s" % (program, plan, output))
    told = re.search(r"broken: assertion failed: (\w\d+) broken: (.*) \(exit\)", output)
    if told is not None:
        return code, output, int(head[1]), (told[1], told[2])
    text = re.search(r"^  broken: (.*) \([a-z ]*\)$", output, re.M)
    return code, output, int(head[1]), (head[2], text[1] if text else "")


def runs_to_detection(program, plans, failing, seed):
    """Random orderings, a run of each plan in turn."""
    least = None
    for plan in failing:
        code, _, runs, _ = explore(program, plan, "--strategy random --runs %d --seed %d"
                                   % (RUNS_MOST, seed))
        if code != 0:
            all_ = (runs - 1) * len(plans) + plans.index(plan) + 1
            least = all_ if least is None else min(least, all_)
    return least


def shrunk_of(output):
    counts = re.search(r"preemptions: (\d+), stale reads: (\d+), choices:", output)
    size = re.search(r"shrunk from \d+ choices to (\d+)", output)
    if counts is None or size is None:
        return "any ordering"
    if size[1] == "0":
        return "any ordering"
    return "%s choices, %s preemptions" % (size[1], counts[1])


class Explorer:
    def __init__(self, build, folder):
        self.folder = folder
        self.library = os.path.join(build, "libprofsim-explore.a")
        for name in WORLD:
            must(["gcc", *FLAGS, "-c", "%s/%s.c" % (HERE, name), "-o",
                  self.path(name + ".o")])

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, *more):
        program = self.path(name + "".join(more))
        must(["gcc", *FLAGS, *more, "-c", "%s/%s.c" % (HERE, name), "-o", program + ".o"])
        must(["gcc", *(self.path(part + ".o") for part in WORLD), program + ".o",
              self.library, "-ldw", "-o", program])
        return program

    def right_form(self, name):
        """returns: runs; complains about a plan that fails"""
        program = self.make(name, "-DFIXED")
        count = 0
        for plan in must([program]).split():
            code, output, runs, _ = explore(program, plan)
            count += runs
            if code != 0:
                sys.exit("exam.py: a false alarm, or a second bug: %s %s\n%s"
                         % (name, plan, output))
        return count

    def find(self, name, seeds):
        program = self.make(name)
        plans = must([program]).split()
        failing = []
        first = None
        for plan in plans:
            code, output, _, found = explore(program, plan)
            if code == 0:
                continue
            failing.append(plan)
            if first is None:
                first = (plan, output, found)
            if seeds == 0:
                break
        if first is None:
            return None
        plan, output, (property_, text) = first
        command = "profsim explore %s/{%s}.c --entry plan_%s" % (
            HERE, ",".join([name] + WORLD[:-1]), plan)
        return Finding(property_, text, command,
                       [runs_to_detection(program, plans, failing, seed + 1)
                        for seed in range(seeds)], shrunk_of(output))


# ---- The exam


def examine(line, hands, seeds):
    finding = hands[line["by"]].find(line["subject"], seeds)
    fixed = hands[line["by"]].right_form(line["subject"])
    return line, finding, fixed


def report(folder, results, fixed_runs):
    with open(os.path.join(folder, "catalogue.csv"), "w", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["bug", "report", "what", "by", "subject", "property", "said",
                        "median runs", "most runs", "shrunk to", "command"])
        for line, finding, _ in results:
            table.writerow([line["bug"], line["report"], line["what"], line["by"],
                            line["subject"], finding.property, finding.text,
                            int(statistics.median(finding.runs)), max(finding.runs),
                            finding.shrunk, finding.command])
    with open(os.path.join(folder, "catalogue.md"), "w", encoding="utf-8") as file:
        with open(os.path.join(HERE, "report.md"), encoding="utf-8") as head:
            file.write(head.read().format(bugs=len(results), seeds=len(results[0][1].runs),
                                          fixed=fixed_runs))
        for line, finding, _ in results:
            file.write("| %s | %s | %s | `%s` | %s: %s | %d | %s |\n"
                       % (line["bug"], line["report"], line["what"], line["subject"],
                          finding.property, finding.text,
                          statistics.median(finding.runs), finding.shrunk))


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--build", default="out")
    words.add_argument("--seeds", type=int, default=1)
    words.add_argument("--out")
    words.add_argument("bugs", nargs="*", type=int)
    words = words.parse_args()
    if words.seeds < 1 or (words.out and words.bugs):
        sys.exit("exam.py: --seeds is at least 1; --out is for all bugs")
    with open(os.path.join(HERE, "catalogue.csv"), encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file)
                 if not words.bugs or int(line["bug"]) in words.bugs]
    with tempfile.TemporaryDirectory() as folder:
        hands = {"explore": Explorer(words.build, folder)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda line: examine(line, hands, words.seeds), lines))
    failed = 0
    for line, finding, _ in results:
        got = "nothing" if finding is None else finding.property
        good = finding is not None and got == line["finding"] and None not in finding.runs
        failed += not good
        print("%s K%s %s: %s" % ("ok" if good else "not ok", line["bug"], line["subject"],
                                 got if good else "%s, not %s" % (got, line["finding"])))
    fixed_runs = sum(result[2] for result in results)
    if words.out and failed == 0:
        report(words.out, results, fixed_runs)
    print("right forms: %d runs, no alarm" % fixed_runs)
    print("catalogue: %d passed, %d failed" % (len(results) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
