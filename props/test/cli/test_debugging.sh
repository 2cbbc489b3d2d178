#!/bin/sh
# `profsim replay --break N` stops in gdb, and docs/profsim-gdb.py shows the state
# of the library; the expected numbers follow from docs/semantics.md.
# usage: test_debugging.sh PROFSIM
set -u
profsim=$1
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The output must say TEXT.
check() { # WHAT TEXT
    if ! grep -qF -- "$2" "$work/out"; then
        failed=$((failed + 1))
        echo "not ok: $1: no '$2' in:"
        tail -n 40 "$work/out"
        return
    fi
    passed=$((passed + 1))
}

debug() { # EVENT FILE; gdb's commands come from standard input
    timeout 120 gdb -q -nx -x docs/profsim-gdb.py --args "$profsim" replay \
        --break "$1" "$2" >"$work/out" 2>&1
}

# Two allocations of cycle 2 wait in slot (2 + 2) % 3. `base` was published by
# the flush of cycle 2, from slot 2.
debug 11 fixtures/scenarios/visible-phases.sim <<'END'
set confirm off
set pagination off
set debuginfod enabled off
run
profsim-ring
profsim-world
print *$prof
print $prof->table.entries[2]
break prof_heap_next_cycle
continue
continue
quit
END
check "it stops" "Program received signal SIGTRAP"
check "the cycle" "cycle 2, flushed"
check "what is published" "slot 2 (flushed   )  recorded 1/0  published 1/0"
check "what waits" "slot 1 (made now  )  recorded 1/0  published 0/0"
check "the world" "after 10 events"
check "a collector that rests" "collector: idle, 2 mark terminations"
check "an instance in a line" "= cycle 2 flushed, 3 buckets, 1 processors"
check "an entry in words" "= heap, 3 frames, 16 bytes"
check "breakpoints of the core are hit" "at prof/core/heap.c:"

"$profsim" replay --in-process fixtures/scenarios/visible-phases.sim \
    >"$work/out" 2>&1
check "in this process, the same verdict" "every property holds"
"$profsim" replay --break 3 fixtures/scenarios/visible-phases.sim \
    >"$work/out" 2>&1
echo "ended by $?" >>"$work/out"
check "without a debugger the trap ends it" "ended by 133"

echo "debugging: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
