#!/usr/bin/env python3
"""Numbers that commands print, computed again from what docs/ says of them.

usage: oracles.py WHAT <OUTPUT, for each WHAT below that is a function's name
"""
import collections
import csv
import math
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "record", "test"))
import recording


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


def audit():
    """audit --recording FILE: live bytes at 32 moments, and how far estimates of them
    vary. Each object of S bytes is sampled with a chance p and then counts S / p, so its
    variance is S^2 (1/p - 1). Time is bytes allocated; a resize is a free and an
    allocation."""
    rec, out = recording.read(sys.argv[2]), sys.stdin.read().splitlines()
    sizes, born, died, last, at = [], [], {}, {}, 0
    for event in rec.events:
        if event.kind in (recording.FREE, recording.RESIZE) and event.what in last:
            died[last.pop(event.what)] = at
        if event.kind in (recording.ALLOC, recording.RESIZE) and event.size > 0:
            at += event.size
            last[event.what] = len(sizes)
            sizes.append(event.size)
            born.append(at)
    moments = [i * at / 32 for i in range(1, 33)]
    live = collections.Counter()
    for i, size in enumerate(sizes):
        live[size] += sum(born[i] <= m < died.get(i, math.inf) for m in moments) / 32
    made, bytes_live = collections.Counter(sizes), sum(s * n for s, n in live.items())
    check(out[0] == f"{sys.argv[2]}: {len(sizes)} allocations of {at} bytes; {bytes_live:.0f} live on average", out[0])

    def line(number, chance):
        name, rate, samples, deviation, ratio = out[number][:45], *out[number][45:].replace("%", "").split()[-4:]
        variance = sum(n * s * s * (1 / chance[s] - 1) for s, n in live.items() if n > 0)
        close(samples, round(sum(n * chance[s] for s, n in made.items())), name, "samples")
        check(abs(float(deviation) - 100 * math.sqrt(variance) / bytes_live) < 0.006, name, deviation)
        return rate, variance, float(ratio)
    rate = at / 1000
    exact = {s: -math.expm1(-s / rate) for s in made}
    shown, variance, ratio = line(2, exact)
    check(shown == f"{rate:.0f}" and ratio == 1, "rate", shown)
    low, high = 0, 1
    for _ in range(200):  # p = min(1, lambda S sqrt(L / a)), as many samples as exact takes
        middle = (low + high) / 2
        best = {s: min(1, middle * s * math.sqrt(live[s] / n)) for s, n in made.items()}
        low, high = (middle, high) if sum(n * best[s] for s, n in made.items()) < \
            sum(n * exact[s] for s, n in made.items()) else (low, middle)
    _, least, ratio = line(3, best)
    check(abs(ratio - least / variance) < 0.0006, "the best chances", ratio)
    strata, fitted = (float(out[i].split()[-1]) for i in (4, 5))
    check(0 < fitted <= strata < 1, "strata", strata, fitted)


globals()[sys.argv[1]]()
