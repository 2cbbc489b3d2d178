#!/usr/bin/env python3
"""Measures what it costs a browser to open a page: the CPU time of all of
Chromium's processes, minus that for an empty page. A busy machine changes it
little.

usage: pages.py PAGE...
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5


def cpu_seconds(path, folder):
    """Open a page once, with a new browser profile."""
    with tempfile.TemporaryDirectory(dir=folder) as profile:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--user-data-dir=" + profile, "--dump-dom",
             "file://" + os.path.realpath(path)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
            check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        blank = os.path.join(folder, "blank.html")
        with open(blank, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><title>x</title>")
        spent = {path: [] for path in [blank] + sys.argv[1:]}
        for _ in range(ROUNDS):
            for path, seconds in spent.items():
                seconds.append(cpu_seconds(path, folder))
    nothing = statistics.median(spent.pop(blank))
    print("%-40s %9s %9s" % ("page", "KB", "CPU s"))
    for path, seconds in spent.items():
        print("%-40s %9.0f %9.2f" % (path, os.path.getsize(path) / 1000,
                                     statistics.median(seconds) - nothing))


main()
