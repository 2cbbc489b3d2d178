#!/bin/sh
# `profsim conform`: a producer that conforms passes every check, and each fault
# of fault.def is noticed by the check that the same row names.
# usage: test_conform.sh PROFSIM PRODUCER OUR_LIBRARY
set -u
. props/test/lib/count.sh

profsim=$1
producer=$(realpath "$2")
ours=$(realpath "$3")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
shown=out

# No settings but the test's own.
unset LD_PRELOAD CONFORM_FAULT

run() { # STATUS WORD...
    wanted=$1
    shift
    "$@" >"$dir/out" 2>&1
    got=$?
    [ "$got" -eq "$wanted" ] && return 0
    echo "exit code $got, not $wanted" >>"$dir/out"
    return 1
}

has() { # LINE-BEGINNING
    grep -q "^$1" "$dir/out"
}

# ------------------------------------------------------------ libraries that
# conform

for library in "$producer" "$ours"; do
    run 0 "$profsim" conform "$library" && has '1\.\.31' &&
        [ "$(grep -c '^ok' "$dir/out")" -eq 31 ] && ! has '.* # SKIP'
    count "$library conforms" $?
done

# In the first version of the contract weights were numbers of intervals.
CONFORM_FAULT=crossings run 0 "$profsim" conform "$producer" &&
    [ "$(grep -c '^ok' "$dir/out")" -eq 31 ] &&
    [ "$(grep -c ' # SKIP' "$dir/out")" -eq 1 ] &&
    has 'ok 4 - C3 rounding # SKIP not-applicable: weights count intervals'
count "weights that count intervals" $?
CONFORM_FAULT=crossings LD_PRELOAD=$producer run 0 "$profsim" conform \
    --only weights -- python3 -c 'for j in range(20000): x = b"x" * 100000' &&
    has '# .* weights count intervals of 524288 bytes'
count "the same of a command" $?
CONFORM_FAULT=weight_varies LD_PRELOAD=$producer run 2 "$profsim" conform \
    --only weights -- python3 -c 'for j in range(20000): x = b"x" * 100000'
count "a command whose weights vary" $?

# ------------------------------------------------------------ libraries that do
# not

for row in $(sed -n 's/^X(\(.*\), \(.*\))$/\1:\2/p' subjects/conform/fault.def); do
    fault=${row%:*}
    check=$(echo "${row#*:}" | tr _ -)
    wanted=2
    time=120
    # This fault never ends, so that the time limit is tested.
    [ "$fault" = lock_held ] && wanted=4 && time=4
    CONFORM_FAULT=$fault run $wanted "$profsim" conform --time $time \
        --only "$check" "$producer" && has 'not ok 1' &&
        has "  replay: profsim conform --only $check "
    count "$fault is noticed by $check" $?
done

# The reference in the contract's publication breaks points that the contract
# leaves open: it does not count what realloc adds, and loses samples of blocks
# with a large alignment.
CONFORM_FAULT=reference run 2 "$profsim" conform "$producer" &&
    [ "$(sed -n 's/^not ok [0-9]* - //p' "$dir/out" | tr '\n' ' ')" = \
        "C11 realloc-of-sampled C11 realloc-of-unsampled C13 entry-points C13 alignment " ]
count "the reference fails where the contract says it must" $?

# ------------------------------------------------------------ a command's own

LD_PRELOAD=$producer run 0 "$profsim" conform --only frees -- python3 -c \
    'x = [b"x" * i for i in range(30000)]; del x' &&
    has 'ok 1 - C7 frees'
count "the events of a command" $?
CONFORM_FAULT=free_forgotten LD_PRELOAD=$producer \
    run 2 "$profsim" conform --only frees --json "$dir/r.json" -- python3 -c \
    'for j in range(20000): x = b"x" * 100000' &&
    has 'not ok 1 - C7 frees'
count "frees that a command forgets" $?
again="profsim conform --only frees -- python3 -c 'for j in range(20000): x = b\"x\" * 100000'"
grep -qxF "  replay: $again" "$dir/out" && [ "$again" = "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["results"][0]["replay"])' "$dir/r.json")" ]
count "... are shown again by the whole command" $?
LD_PRELOAD=$producer run 6 "$profsim" conform --only weights -- true
count "a command without events is not tried" $?
run 1 "$profsim" conform -- true && has 'profsim: true: no module'
count "a command without probes" $?
run 127 "$profsim" conform -- "$dir/none" || run 1 "$profsim" conform -- "$dir/none"
count "a command that is not there" $?

# A command that writes its events itself, as stream.h describes. It reads a
# line for each: KIND (0 alloc, 1 free) PROCESS ADDRESS BYTES WEIGHT.
cat >"$dir/writer.py" <<'END'
import os, struct, sys
events = [[int(word) for word in line.split()] for line in sys.stdin]
with open(os.environ["PROFSIM_CONFORM_STREAM"], "r+b") as file:
    file.seek(8)
    file.write(struct.pack("=3Q", len(events), 1, 0))
    for event in events:
        file.write(struct.pack("=5Q", *event))
END
# judged NAME CODE TEXT JUDGEMENT EVENT...: the verdict on these events must be
# CODE, with these texts
judged() {
    name=$1 code=$2 text=$3 only=$4
    shift 4
    printf '%s\n' "$@" >"$dir/events"
    run "$code" "$profsim" conform --only "$only" -- sh -c \
        'exec python3 "$0" <"$1"' "$dir/writer.py" "$dir/events" && grep -qF -- "$text" "$dir/out"
    count "events: $name" $?
}
judged "a child frees what it inherited, whatever its number" 0 \
    '0 of 2 events are frees of their alloc, 1 of inherited' frees \
    "0 500 16 8 8" "1 400 16 0 0"
judged "... and a second time" 2 'process 400: 0x10 has two frees' frees \
    "0 500 16 8 8" "1 400 16 0 0" "1 400 16 0 0"
judged "the first process frees what it never had" 2 '0x20 has a free' frees \
    "0 500 16 8 8" "0 400 32 8 8" "1 500 32 0 0"
judged "a block twice" 2 'process 400: 0x10 has two allocs' frees \
    "0 500 16 8 8" "0 400 16 8 8" "0 400 16 8 8"
judged "an address of two processes, and used again" 0 \
    '3 of 6 events are frees of their alloc, 0 of inherited' frees \
    "0 500 16 8 8" "0 400 16 8 8" "1 500 16 0 0" "0 500 16 8 8" \
    "1 400 16 0 0" "1 500 16 0 0"
judged "no free" 6 'none of 1 events is a free' frees "0 500 16 8 8"
judged "a block of no size that weighs something" 2 \
    'a block of no size weighs 3' size-zero "0 500 16 8 8" "0 500 32 0 3"
judged "blocks of no size" 0 '2 blocks of no size' size-zero \
    "0 500 16 0 0" "1 500 16 0 9" "0 500 32 0 0" "0 500 48 8 8"

# ------------------------------------------------------------ reports, bad words

run 0 "$profsim" conform --only weights --json "$dir/r.json" \
    --junit "$dir/r.xml" "$producer" &&
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$dir/r.json" &&
    grep -q '<testcase .*weights' "$dir/r.xml"
count "JSON and JUnit" $?
run 0 "$profsim" conform --list && [ "$(wc -l <"$dir/out")" -eq 31 ]
count "the list" $?
for words in "" "--only nonsense $producer" "--time 0 $producer" "$dir/none" \
    "/etc/passwd" "$producer $producer" "--nonsense"; do
    # shellcheck disable=SC2086
    run 1 "$profsim" conform $words && [ "$(wc -l <"$dir/out")" -eq 1 ]
    count "one error for: conform $words" $?
done

run 1 "$profsim" conform "$producer" other more && grep -qF "not 'other'" "$dir/out"
count "the second library is named" $?

for word in size_zero size-zer; do
    run 1 "$profsim" conform --only $word "$producer" &&
        grep -qF "did you mean 'size-zero'?" "$dir/out"
    count "a check that was mistyped: $word" $?
done

finish conform
