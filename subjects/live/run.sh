#!/bin/sh
# Audits live profilers: checks that all that is needed is installed, then
# runs audit.py, whose head says more.
# usage: [AGAINST=CSV] [OUT=FOLDER] subjects/live/run.sh FOLDER
set -eu

for command in heaptrack node; do
    command -v "$command" >/dev/null || {
        echo "audit-live: $command is not installed" >&2
        exit 1
    }
done
for library in libjemalloc.so.2 libtcmalloc.so.4; do
    ldconfig -p | grep -q "$library" || {
        echo "audit-live: $library is not installed" >&2
        exit 1
    }
done
valgrind --version >/dev/null
exec /usr/bin/python3 subjects/live/audit.py "$1" ${OUT:+--out "$OUT"} \
    ${AGAINST:+--against "$AGAINST"}
