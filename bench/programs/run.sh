#!/bin/sh
# Compare heap profilers on real programs: check that everything needed is
# installed, then run bench/programs/programs.py (its head says what it does).
# usage: [ROUNDS=N] bench/programs/run.sh OUT CSV
set -eu

for command in clang heaptrack perl python3 redis-benchmark redis-cli \
    redis-server sqlite3; do
    PATH=/usr/bin command -v "$command" >/dev/null || {
        echo "bench-programs: $command is not installed" >&2
        exit 1
    }
done
for library in libjemalloc.so.2 libtcmalloc.so.4; do
    ldconfig -p | grep -q "$library" || {
        echo "bench-programs: $library is not installed" >&2
        exit 1
    }
done
valgrind --version >/dev/null
exec /usr/bin/python3 bench/programs/programs.py ${ROUNDS:+--rounds "$ROUNDS"} \
    --csv "$2" "$1"
