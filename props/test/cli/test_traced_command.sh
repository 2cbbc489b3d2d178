#!/bin/sh
# What `profsim run`, `replay` and `explain` do with traced scenarios: the traces
# that they write are accepted; an unexpected outcome is reported; an error in a
# file is reported with its line; a file that cannot be written does not exist.
#
# usage: props/test/cli/test_traced_command.sh PROFSIM
set -eu

profsim=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# is STATUS PATTERN COMMAND...: checks the exit status, and that a line of the
# output matches
is() {
    want=$1
    pattern=$2
    shift 2
    status=0
    "$@" >"$folder/out" 2>&1 || status=$?
    if [ "$status" != "$want" ] ||
        { [ -n "$pattern" ] && ! grep -q "$pattern" "$folder/out"; }; then
        echo "$*: exit $status, not $want, or no line '$pattern':"
        cat "$folder/out"
        exit 1
    fi
    passed=$((passed + 1))
}

every=fixtures/scenarios/every-event.sim
late=fixtures/scenarios/late-return-across-sessions.sim

is 0 'every-event.sim: ok' "$profsim" run --out "$folder/one" "$every"
is 0 'trace.out: ok 57 events' "$profsim" trace check "$folder/one/trace.out"
is 0 'every-event.sim: ok' "$profsim" run --out "$folder/two" "$every" "$late"
is 0 'trace-2.out: ok ' "$profsim" trace check \
    "$folder/two/late-return-across-sessions.sim/trace-2.out"
cmp "$folder/one/trace.out" "$folder/two/every-event.sim/trace.out"
is 0 'every property holds' "$profsim" replay "$every" "$late"
is 0 't3 waits for the network' "$profsim" explain "$every"
is 0 '; tracing' "$profsim" explain "$every"
for format in chrome perfetto; do
    is 0 '' "$profsim" trace convert --to $format "$folder/one/trace.out" \
        -o "$folder/view"
    [ -s "$folder/view" ]
done

sed 's/expect ok/expect property T3 broken/' "$every" >"$folder/a.sim"
is 2 'expected T3 to be broken, but nothing is' "$profsim" run "$folder/a.sim"
sed 's/^@+50000 p0: create main/p0: creat main/' "$every" >"$folder/b.sim"
is 1 "b.sim:17: unknown event 'creat'" "$profsim" replay "$folder/b.sim"
sed 's/^p2: run t4/p2: run t2/' "$every" >"$folder/c.sim"
is 1 'c.sim:[0-9]*: run: the task is not runnable' \
    "$profsim" run "$folder/c.sim"

touch "$folder/file"
is 1 'file' "$profsim" run --out "$folder/file" "$every"
mkdir -p "$folder/taken/trace.out"
is 1 'trace.out' "$profsim" run --out "$folder/taken" "$every"
[ -z "$(find "$folder/taken" -name '*.part')" ]

echo "$passed passed, 0 failed"
