#!/usr/bin/env python3
"""Numbers that commands print, computed again from what docs/ says of them.

usage: oracles.py WHAT <OUTPUT, for each WHAT below that is a function's name
"""
import csv
import math
import sys


def check(good, *said):
    if not good:
        sys.exit(" ".join(str(word) for word in said))


def close(got, want, *said):
    check(math.isclose(float(got), want, rel_tol=2e-3, abs_tol=1e-5), *said, got, "is not", want)


def bias():
    """bias --format csv, by the first table of docs/sampling.md: a wait of c ticks at
    a rate of R > c is kept if r mod R <= c, where r has 32 bits, or 31 and is not 0."""
    rows = list(csv.DictReader(sys.stdin))
    for row in rows:
        rate, wait = int(row["rate_ticks"]), int(row["wait_ticks"])
        rules = row["rules"]
        register = rules == "go1.5" # a shift register never gives 0
        kept, scale = min(1, wait / rate), max(1, rate / wait)
        if rules != "exact" and wait < rate:
            whole, rest = divmod(1 << (32 - register), rate)
            kept = (whole * (wait + 1) + min(rest, wait + 1) - register) / ((1 << (32 - register)) - register)
        if rules in ("go1.5", "go1.10"):
            scale = 1
        close(row["kept"], kept, row)
        check(float(row["kept"]) > 0, row)
        close(1 + float(row["count_error"]), kept * scale, row)
        close(1 + float(row["time_error"]), kept * scale, row)
    check({row["rules"] for row in rows} == {"go1.5", "go1.10", "go1.17", "exact"}, "rules are missing")
    check(len(rows) > 60, "only", len(rows), "rows")


globals()[sys.argv[1]]()
