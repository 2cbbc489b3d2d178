#!/usr/bin/python3
"""Real bugs of profilers, rebuilt: does the harness find each, and in how many runs?

usage: exam.py [--build FOLDER] [--seeds N] [--out FOLDER] [--right-runs N]
               [--right-worlds N] [BUG...]

catalogue.csv has a line for each bug. Nothing tells the harness which property is
broken: each profiler runs all plans, each rule set all workloads, and so on. The
column `finding` says what was found when the line was written, and must be found
again. The right form of each profiler must pass all plans in every ordering.

--out writes catalogue.csv and catalogue.md, with the median of runs to detection.
--right-runs N adds N random orderings of each right form and plan, --right-worlds N
adds N random worlds of a right subject.
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
WORLD = ["small_world", "plan_program", "plans", "choose"]
FLAGS = ["-std=c11", "-O2", "-g", "-fno-builtin", "-fsanitize=thread", "-Wno-tsan", "-I."]
LIMIT_S = 550
RUNS_MOST = 100000
NOT_ALL = 6  # exit code: nothing failed, and not all was tried


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
    head = re.match(r"\S+ +(\d+) runs? .* s  (.*)\n", output)
    if head is None or code not in (0, 2, 3, 4, NOT_ALL):
        sys.exit("exam.py: %s %s\n%s" % (program, plan, output))
    told = re.search(r"broken: assertion failed: (\w\d+) broken: (.*) \(exit\)", output)
    if told is not None:
        return code, output, int(head[1]), (told[1], told[2])
    text = re.search(r"^  broken: (.*) \([a-z ]*\)$", output, re.M)
    return code, output, int(head[1]), (head[2], text[1] if text else "")


def runs_to_detection(program, plans, failing, seed):
    """returns: runs until a plan fails, if random orderings of all plans run in turn"""
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
    return "choices: %s, preemptions: %s" % (size[1], counts[1])


class Explorer:
    def __init__(self, build, folder, more_runs):
        self.folder = folder
        self.more_runs = more_runs
        self.library = os.path.join(build, "libprofsim-explore.a")
        for name in WORLD:
            must(["gcc", *FLAGS, "-c", "%s/%s.c" % (HERE, name), "-o",
                  self.path(name + ".o")])

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, *more):
        program = self.path(name + "".join(more))
        must(["gcc", *FLAGS, *more, "-c",
              "%s/bugs/%s.c" % (HERE, name), "-o", program + ".o"])
        must(["gcc", *(self.path(part + ".o") for part in WORLD), program + ".o",
              self.library, "-ldw", "-o", program])
        return program

    def right_form(self, name):
        """returns: runs; complains about a plan that fails"""
        program = self.make(name, "-DFIXED")
        count = 0
        plans = [(plan, "") for plan in must([program]).split()]
        if self.more_runs > 0:
            plans += [(plan, "--strategy random --runs %d" % self.more_runs)
                      for plan, _ in plans]
        for plan, options in plans:
            code, output, runs, _ = explore(program, plan, options)
            count += runs
            if code not in (0, NOT_ALL if options else 0):
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
            if code in (0, NOT_ALL):
                continue
            failing.append(plan)
            if first is None:
                first = (plan, output, found)
            if seeds == 0:
                break
        if first is None:
            return None
        plan, output, (property_, text) = first
        command = "profsim explore %s/{%s}.c --entry plan_%s -- -I." % (
            HERE, ",".join(["bugs/" + name] + WORLD[:-1]), plan)
        return Finding(property_, text, command,
                       [runs_to_detection(program, plans, failing, seed + 1)
                        for seed in range(seeds)], shrunk_of(output))


# ---- Rule sets, enumerated


class Rules:
    """The right form is the sampler that forgets nothing: `exact`."""

    def __init__(self, build):
        self.profsim = os.path.join(build, "profsim")

    def right_form(self, _):
        code, output = run([self.profsim, "audit", "--judge", "--rules", "exact"])
        count = re.match(r"exact: holds; (\d+) figures", output)
        if code != 0 or count is None:
            sys.exit("exam.py: a false alarm: %s" % output)
        return int(count[1])

    def find(self, name, seeds):
        words = ["audit", "--judge", "--rules", name]
        code, output = run([self.profsim, *words])
        said = re.match(r"\S+: (\w\d) broken: (.*); R = \d+\n", output)
        figure = re.search(r"at figure (\d+)\n", output)
        if code != 2 or said is None:
            return None
        sizes = re.search(r"\(([0-9,]+) in turn\)", said[2])
        return Finding(said[1], said[2], "profsim " + " ".join(words),
                       [int(figure[1])] * max(seeds, 1),
                       "sizes: %d" % (1 if sizes is None else sizes[1].count(",") + 1))


class Waits:
    """Sampled waits, enumerated."""

    def __init__(self, build):
        self.profsim = os.path.join(build, "profsim")

    def check(self, name):
        return run([self.profsim, "bias", "--verify", "--rules", name])

    def right_form(self, _):
        code, output = self.check("exact")
        if code != 0:
            sys.exit("exam.py: a false alarm: %s" % output)
        return 1

    def find(self, name, seeds):
        code, output = self.check(name)
        said = re.search(r"^(\w\d) does not hold: .*\n *(.*)$", output, re.M)
        if code != 2 or said is None:
            return None
        return Finding(said[1], said[2],
                       "profsim bias --verify --rules %s" % name,
                       [1] * max(seeds, 1), "one wait")


# ---- Worlds


class Worlds:
    """Rule sets of the library, in random worlds. The right one is `exact`."""
    RUNS = 2000
    RIGHT = "exact"

    def __init__(self, build, folder, right_runs):
        self.profsim = os.path.join(build, "profsim")
        self.folder = folder
        self.right_runs = max(right_runs, self.RUNS)

    def words(self, name, right=False):
        return ["--rules", name]

    def shown(self, name):
        return "profsim check --rules %s" % name

    def check(self, words, first, runs):
        return run([self.profsim, "check", *words, "--save",
                    tempfile.mkdtemp(dir=self.folder), "--seeds",
                    "%d..%d" % (first, first + runs - 1)])

    def right_form(self, _):
        code, output = self.check(self.words(self.RIGHT, True), 1, self.right_runs)
        if code != 0:
            sys.exit("exam.py: a false alarm: %s" % output)
        return self.right_runs

    def find(self, name, seeds):
        runs = []
        found = None
        words = self.words(name)
        for seed in range(max(seeds, 1)):
            first = 1 + seed * self.RUNS
            code, output = self.check(words, first, self.RUNS)
            failed = re.search(r"^seed (\d+) fails$", output, re.M)
            if code != 2 or failed is None:
                return None
            runs.append(int(failed[1]) - first + 1)
            found = found or output
        said = re.search(r"^(\w\d) broken: (.*)$", found, re.M)
        size = re.search(r"shrunk from \d+ events to (\d+) \(.*?, (\d+) of them", found)
        return Finding(said[1], said[2], self.shown(name), runs,
                       "choices: %s, events: %s" % (size[2], size[1]))


class Subjects(Worlds):
    """Profilers behind subjects/subject.h, in random worlds."""
    RIGHT = "two_layers"

    def words(self, name, right=False):
        library = os.path.join(self.folder, "%s%d.so" % (name, right))
        must(["gcc", "-std=c11", "-O2", "-shared", "-fPIC", "-I", os.path.dirname(HERE),
              *(["-DFIXED"] if right else []), "%s/worlds/%s.c" % (HERE, name), "-o",
              library])
        return ["--subject", library]

    def shown(self, name):
        return "profsim check --subject %s/worlds/%s.c" % (HERE, name)


# ---- A producer of otel_memory probes


class Producer:
    def __init__(self, build):
        self.profsim = os.path.join(build, "profsim")
        self.producer = os.path.join(build, "libotel-producer.so")

    def right_form(self, _):
        code, output = run([self.profsim, "conform", self.producer], CONFORM_FAULT="")
        if code != 0:
            sys.exit("exam.py: a false alarm: %s" % output)
        return len(re.findall("^ok", output, re.M))

    def find(self, name, seeds):
        code, output = run([self.profsim, "conform", self.producer], CONFORM_FAULT=name)
        said = re.search(r"^not ok (\d+) - (C\d+) .*\n *---\n *contract: (.*)$", output,
                         re.M)
        if code != 2 or said is None:
            return None
        return Finding(said[2], said[3],
                       "CONFORM_FAULT=%s profsim conform %s" % (name, self.producer),
                       [int(said[1])] * max(seeds, 1), "one call")


# ---- Real processes


class Processes:
    """Each process that ends leaves a profile of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.program = os.path.join(folder, "forking")
        must(["gcc", "%s/process/forking.c" % HERE, "-o", self.program])

    def leave(self, name, *more):
        """returns: processes without a file of their own, processes"""
        library = os.path.join(self.folder, name + "".join(more) + ".so")
        profiles = library + ".profiles"
        must(["gcc", "-shared", "-fPIC", *more, "%s/process/%s.c" % (HERE, name), "-o",
              library])
        os.mkdir(profiles)
        code, output = run([self.program], LD_PRELOAD=library,
                           PROFILE=os.path.join(profiles, "profile"))
        if code != 0:
            sys.exit("exam.py: %s ended with %d" % (self.program, code))
        owners = []
        for entry in os.listdir(profiles):
            with open(os.path.join(profiles, entry), encoding="utf-8") as file:
                owners.append(file.read().split()[-1])
        return set(output.split()) - set(owners), output.split()

    def right_form(self, name):
        lost, processes = self.leave(name, "-DFIXED")
        if lost or len(processes) != 2:
            sys.exit("exam.py: a false alarm: %s" % name)
        return 1

    def find(self, name, seeds):
        lost, processes = self.leave(name)
        if not lost:
            return None
        return Finding("F1", "%d of %d processes left no profile of their own"
                       % (len(lost), len(processes)),
                       "gcc -shared -fPIC {0}/{1}.c -o {1}.so; gcc {0}/forking.c "
                       "-o forking; PROFILE=profile LD_PRELOAD=./{1}.so ./forking; "
                       "ls profile*".format(HERE + "/process", name),
                       [1] * max(seeds, 1), "one fork")


# ---- The exam


def right_forms(lines):
    """returns: the right forms to run: one for each rebuilt profiler, and one for all
    the others"""
    own = ("explore", "process")
    return {(line["by"], line["subject"] if line["by"] in own else "")
            for line in lines}


def report(folder, results, right_runs):
    with open(os.path.join(folder, "catalogue.csv"), "w", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["bug", "report", "what", "by", "subject", "property", "said",
                        "median runs", "most runs", "shrunk to", "command"])
        for line, finding in results:
            table.writerow([line["bug"], line["report"], line["what"], line["by"],
                            line["subject"], finding.property, finding.text,
                            int(statistics.median(finding.runs)), max(finding.runs),
                            finding.shrunk, finding.command])
    with open(os.path.join(folder, "catalogue.md"), "w", encoding="utf-8") as file:
        with open(os.path.join(HERE, "report.md"), encoding="utf-8") as head:
            file.write(head.read().format(bugs=len({line["bug"] for line, _ in results}),
                                          seeds=len(results[0][1].runs),
                                          right="{:,}".format(right_runs)))
        for line, finding in results:
            file.write("| %s | %s | %s | %s `%s` | %s: %s | %d | %s |\n"
                       % (line["bug"], line["report"], line["what"], line["by"],
                          line["subject"], finding.property, finding.text,
                          statistics.median(finding.runs), finding.shrunk))


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--build", default="out/gcc")
    words.add_argument("--seeds", type=int, default=1)
    words.add_argument("--out")
    words.add_argument("--right-runs", type=int, default=0)
    words.add_argument("--right-worlds", type=int, default=0)
    words.add_argument("bugs", nargs="*", type=int)
    words = words.parse_args()
    if words.seeds < 1 or (words.out and words.bugs):
        sys.exit("exam.py: --seeds is at least 1; --out is for all bugs")
    with open(os.path.join(HERE, "catalogue.csv"), encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file)
                 if not words.bugs or int(line["bug"]) in words.bugs]
    with tempfile.TemporaryDirectory() as folder:
        hands = {"explore": Explorer(words.build, folder,
                                     words.right_runs),
                 "audit": Rules(words.build), "bias": Waits(words.build),
                 "check": Worlds(words.build, folder, 0),
                 "subject": Subjects(words.build, folder, words.right_worlds),
                 "conform": Producer(words.build), "process": Processes(folder)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            findings = pool.map(lambda line: hands[line["by"]].find(line["subject"],
                                                                    words.seeds), lines)
            right = pool.map(lambda form: hands[form[0]].right_form(form[1]),
                             sorted(right_forms(lines)))
            results = list(zip(lines, findings))
            right_runs = sum(right)
    failed = 0
    for line, finding in results:
        got = "nothing" if finding is None else finding.property
        good = finding is not None and got == line["finding"] and None not in finding.runs
        failed += not good
        print("%s K%s %s %s: %s" % ("ok" if good else "not ok", line["bug"], line["by"],
                                 line["subject"],
                                 got if good else "%s, not %s" % (got, line["finding"])))
    if words.out and failed == 0:
        report(words.out, results, right_runs)
    print("right forms: %d runs, no alarm" % right_runs)
    print("catalogue: %d passed, %d failed" % (len(results) - failed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
