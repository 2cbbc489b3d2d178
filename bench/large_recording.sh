#!/bin/sh
# Measure the seconds and the peak memory of `profsim show` on large recordings:
# ten million events with 100,000 stacks (the goal: 10 s, 500 MB), with half the
# stacks, and with half of both, to show that the time is linear.
# usage: bench/large_recording.sh LARGE_RECORDING PROFSIM
set -eu
large=$1
profsim=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '%10s %8s %10s %9s %9s\n' events stacks 'file MB' seconds 'most MB'
for size in "5000000 50000" "10000000 50000" "10000000 100000"; do
    "$large" "$folder/x.rec" $size
    python3 - "$profsim" "$folder/x.rec" $size <<'END'
import os, resource, subprocess, sys
profsim, path, events, stacks = sys.argv[1:]
subprocess.run([profsim, "show", path], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%10s %8s %10.1f %9.2f %9.1f" % (
    events, stacks, os.path.getsize(path) / 1e6,
    used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
END
done
