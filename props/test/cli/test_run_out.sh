#!/bin/sh
# `profsim run --out`: every file is there, whole, with the numbers of the
# summary. If one cannot be written, the command prints one line, exits with 1,
# and leaves nothing half-written.
#
# usage: props/test/cli/test_run_out.sh PROFSIM
set -eu

profsim=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
want='allocs.pb.gz allocs.txt block.pb.gz block.txt heap.pb.gz
heap.symbolized heap.txt mutex.pb.gz mutex.txt '

tasks='goroutine-stacks.txt goroutine.pb.gz goroutine.txt
threadcreate.pb.gz threadcreate.txt'

fail() {
    echo "test_run_out: $*" >&2
    exit 1
}

files_of() {
    (cd "$1" && printf '%s ' *)
}

refused() { # what, command...
    what=$1
    shift
    code=0
    "$@" >"$folder/words" 2>"$folder/errors" || code=$?
    [ "$code" = 1 ] || fail "$what: exit code $code"
    [ "$(wc -l <"$folder/errors")" = 1 ] || fail "$what: not one line"
}

# One scenario writes into the folder itself, several into a folder each.
scenario=fixtures/scenarios/birth-during-mark.sim
"$profsim" run --out "$folder/one" "$scenario" >"$folder/words"
[ "$(files_of "$folder/one")" = "$(echo $want) " ] ||
    fail "files: $(files_of "$folder/one")"
"$profsim" run fixtures/scenarios/*.sim --out "$folder/each" >"$folder/words"
for scenario in fixtures/scenarios/*.sim; do
    each=$folder/each/$(basename "$scenario")
    instruments=$(sed -n 's/^instruments//p' "$scenario")
    case $instruments in *heap* | '') wanted=$want ;; *) wanted= ;; esac
    ! grep -q '^scheduled' "$scenario" || wanted="$wanted $tasks"
    case $instruments in *cpu*) wanted="$wanted profile.pb.gz profile.txt" ;; esac
    case $instruments in *trace*) wanted="$wanted trace.out" ;; esac
    [ "$(files_of "$each" | sed 's/trace-2.out //')" = \
        "$(printf '%s\n' $wanted | LC_ALL=C sort | tr '\n' ' ')" ] ||
        fail "files of $scenario: $(files_of "$each")"
    for file in "$each"/*.pb.gz; do
        [ -e "$file" ] || continue
        gzip -t "$file" || fail "$file is broken"
    done
done
cmp "$folder/one/heap.pb.gz" "$folder/each/birth-during-mark.sim/heap.pb.gz" ||
    fail "the same run gives other bytes"

# One run writes everything, with its debug lines of allocations.
each=$folder/each/one-world.sim
[ "$(cd "$each" && echo *)" = "allocs.pb.gz allocs.txt block.pb.gz block.txt \
goroutine-stacks.txt goroutine.pb.gz goroutine.txt heap.pb.gz heap.symbolized \
heap.txt mutex.pb.gz mutex.txt profile.pb.gz profile.txt threadcreate.pb.gz \
threadcreate.txt trace.out" ] || fail "one world: $(files_of "$each")"
grep -q '^goroutine 4 \[select (no cases), 2 minutes\]:$' \
    "$each/goroutine-stacks.txt" || fail "the task that waits for ever"
grep -q '^5000000 1 @' "$each/block.txt" || fail "the wait of 5 ms"
"$profsim" run fixtures/scenarios/one-world.sim --debug alloc >"$folder/words"
[ "$(grep -c '^trace[a-z]*(' "$folder/words")" = 5 ] ||
    fail "not three allocations, one free, one collection"
grep -q '^runtime.t3(...)$' "$folder/words" || fail "the task of the runtime"

# In worlds without a scheduler no return address is taken for a task's first
# function; in others only the address one behind the function's entry is.
{
    echo 'profsim scenario 2'
    echo 'stack s1 = 0x400011>0x400012'
    echo 'alloc o1 s1 16'
} >"$folder/address.sim"
"$profsim" run --debug alloc "$folder/address.sim" >"$folder/words"
if grep -q 'main.t' "$folder/words"; then
    fail "a function that is not there"
fi
{
    echo 'profsim scenario 2'
    echo 'scheduled'
    echo 'stack s1 = 0x400012>0x40001f'
    echo 'p0: proc-start'
    echo 'p0: create -'
    echo 'p0: run t1'
    echo 't1: alloc o1 s1 16'
} >"$folder/address.sim"
"$profsim" run --debug alloc "$folder/address.sim" >"$folder/words"
if grep -q 'main.t' "$folder/words"; then
    fail "a function of addresses that are in no task"
fi
refused "no such lines" "$profsim" run --debug gc "$scenario"

# Run again over the old files: they stay the same, and no temporary file is
# left.
"$profsim" run --out "$folder/one" fixtures/scenarios/birth-during-mark.sim \
    >"$folder/words"
[ "$(files_of "$folder/one")" = "$(echo $want) " ] || fail "files are left over"

# At a mutex fraction of 1/10 the records are not scaled; a reader multiplies by
# the period.
{
    echo 'profsim scenario 2'
    echo 'rules go1.10'
    echo 'stack s1 = 0x401000'
    echo 'mutex-fraction 10'
    for _ in $(seq 200); do echo 'mutex s1 50'; done
    echo 'expect ok'
} >"$folder/fraction.sim"
"$profsim" run --out "$folder/fraction" "$folder/fraction.sim" >"$folder/words"
grep -qx 'sampling period=10' "$folder/fraction/mutex.txt" ||
    fail "the text of a mutex profile does not say its fraction"
if grep -q period "$folder/fraction/block.txt"; then
    fail "a block profile names a period"
fi

# Six sessions of a trace, and a CPU profile that was never begun.
{
    printf '%s\n' 'profsim scenario 2' 'scheduled' \
        'instruments heap trace cpu' 'stack s1 = 0x401000' \
        'p0: proc-start' 'p0: create -' 'p0: run t1'
    for _ in 1 2 3 4 5 6; do
        printf 'p0: %s\n' 'start-trace s1' 'stop-trace s1' 'read-trace 0' \
            'read-trace 0' 'read-trace 0'
    done
} >"$folder/six.sim"
"$profsim" run --out "$folder/six" "$folder/six.sim" >"$folder/words"
[ "$(cd "$folder/six" && echo trace* profile*)" = "trace-2.out trace-3.out \
trace-4.out trace-5.out trace-6.out trace.out profile*" ] ||
    fail "six sessions: $(files_of "$folder/six")"

# What cannot be written.
mkdir -p "$folder/tasks/goroutine.txt"
refused "a folder for a list of tasks" "$profsim" run --out "$folder/tasks" \
    fixtures/scenarios/one-world.sim
grep -q '/goroutine.txt: Is a directory$' "$folder/errors" ||
    fail "why a list of tasks is not written: $(cat "$folder/errors")"
: >"$folder/file"
refused "a file for a folder" "$profsim" run --out "$folder/file" "$scenario"
refused "no parent" "$profsim" run --out "$folder/no/such" "$scenario"
refused "no name" "$profsim" run "$scenario" --out ''
{
    echo "profsim scenario 2"
    echo nonsense
} >"$folder/nonsense.sim"
refused "no scenario" "$profsim" run --out "$folder/new" "$folder/nonsense.sim"
if "$profsim" run --out "$folder/new" "$folder/nonsense.sim" \
    "$folder/nonsense.sim" >"$folder/words" 2>&1; then
    fail "no scenario, twice: exit code 0"
fi
[ ! -e "$folder/new" ] || fail "a folder is made for files that have no run"
mkdir "$folder/taken" "$folder/taken/heap.txt" "$folder/taken/heap.txt/x"
refused "a folder for a file" "$profsim" run --out "$folder/taken" "$scenario"
[ -z "$(find "$folder" -name '*.part')" ] || fail "a temporary file is left"
echo "test_run_out: all as it must be"
