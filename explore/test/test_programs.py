#!/usr/bin/env python3
# build: as=programs
# build: args='out/gcc/profsim all' when=long
"""One-page programs under `profsim explore`: each has the verdict that it names.

The first lines of a program of explore/examples/ say

    expect: VERDICT.    what is expected; `graphs N`: their number
    BROKEN: VERDICT.    the same with -DBROKEN
    refused: NAME.      what it must not use
    with: WORDS         the options with which it is explored

NAME.txt is the report of a failure of NAME.c that a person wrote. Of each failure
the data (--data) says the same as the report.

usage: test_programs.py PROFSIM [all]
    all: also those that take longer
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

PROFSIM = os.path.realpath(sys.argv[1])
os.chdir("explore/examples")
DATA = tempfile.TemporaryDirectory(prefix="programs-")

# Thread-local variables work by a system call, too, where no instruction writes the
# register that leads to them. (All are explored by that instruction if there is one.)
BY_SYSTEM_CALL = dict(os.environ, PROFSIM_EXPLORE_NO_FSGSBASE="1")
THREAD_LOCAL = ["./thread_local.c", "./thread_local_race.c", "./cxx_static_thrown.cc"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def explore(file, *words, env=None):
    return subprocess.run([PROFSIM, "explore", file, *words], capture_output=True, env=env, timeout=600, check=False,
                          text=True)


def differences(report, data):
    """What the report and the data do not say alike: events, and what is broken."""
    lines = report.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r" {5}0: ", line))
    shown = lines[start:lines.index("", start)]
    broken = data["broken"]
    for said in [": " + broken["text"] + " (", " at " + broken.get("site", ""), " against " + broken.get("against", "")]:
        if said[-1] != " " and said not in report:
            yield f"not {said}"
    for event in data["events"]:
        column = data["columns"][event["column"]]
        line = f"{event['n']:>3}  ".ljust(shown[0].index(column)) + event["text"] + " "
        at = next((i for i, s in enumerate(shown) if s.startswith(line) and event["site"][:60] in s), None)
        old = event.get("stale")
        if at is None:
            yield f"no event {event}"
        elif old and ((" value before the run," if old["from"] is None else f" event {old['from']},") not in shown[at + 1]
                      or not shown[at + 1].endswith(f" behind event {old['newest']}")):
            yield f"not {old}: {shown[at + 1]}"
    events = [line for line in shown if re.match(r" *[0-9]+  ", line)]
    if len(events) != len(data["events"]):
        yield f"{len(events)} events, not {len(data['events'])}"


def judge(file, want, words, env=None):
    """returns: what is wrong"""
    path = os.path.join(DATA.name, re.sub(r"\W", "_", " ".join([file, *words])) + (".call" if env else ""))
    ended = explore(file, "--runs", "2000000", "--data", path, *words, env=env)
    first = ended.stdout.partition("\n")[0]
    graphs = re.search(r"([0-9]+) graph", first)
    got = first.rpartition(" s  ")[2]
    if got != want and f"{got}, graphs {graphs and graphs[1]}" != want:
        return [f"expected {want}, got: {first} {ended.stderr}"]
    if not os.path.exists(path):
        return [] if ended.returncode == 0 else ["no data"]
    wrong = list(differences(ended.stdout, json.loads(read(path))))
    text = os.path.splitext(file)[0] + ".txt"
    if os.path.exists(text):
        # Not how likely it is, nor how many runs it took to shrink.
        report = re.search(r"^  broken:.*?(?=^  How likely)", ended.stdout, re.M | re.S)[0]
        report = re.sub(r" in \d+ runs;", ";", report)
        if report != read(text).replace("explore/examples/", ""):
            wrong.append(f"{text}: the report is\n{report}")
    return wrong


def program(file):
    lines = read(file).splitlines()[:4]

    def word(name, value=r"[^.*]*"):
        found = [re.search(f"{name}: ({value})", line) for line in lines]
        return next((f[1].strip() for f in found if f), None)

    refused = word("refused", r".*(?=\.)")
    if refused:
        said = explore(file).stderr
        named = f"calls {refused}, which" in said or f"/{refused}: what" in said
        return [] if named else [f"expected that {refused} is refused, got: {said}"]
    words = (word("with", r"[^*]*") or "").split()
    wrong = judge(file, word("expect"), words)
    if word("BROKEN"):
        wrong += judge(file, word("BROKEN"), [*words, "--", "-DBROKEN"])
    if file in THREAD_LOCAL:
        wrong += judge(file, word("expect"), words, BY_SYSTEM_CALL)
    return wrong


def main():
    below = ["*/*.c", "*/*.cc"] if sys.argv[2:] == ["all"] else ["runtime/*.c", "refused/*.c"]  # the others: .ci/run
    files = sorted("./" + f for g in ["*.c", "*.cc", *below] for f in glob.glob(g))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(zip(files, pool.map(program, files)))
    failed = [f"FAILED: {file}: {w}" for file, wrong in results for w in wrong]
    print("\n".join(failed + [f"programs: {sum(not w for _, w in results)} passed, {len(failed)} failed"]))
    return 1 if failed or len(results) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
