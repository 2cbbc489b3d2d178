#!/bin/sh
# `profsim run --out`: every file is there, whole, with the numbers of the
# summary; what cannot be written is one line and an exit code of 1, and leaves
# nothing half-done behind.
#
# usage: props/test/cli/test_run_out.sh PROFSIM
set -eu

profsim=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
want='allocs.pb.gz allocs.txt block.pb.gz block.txt heap.pb.gz
heap.symbolized heap.txt mutex.pb.gz mutex.txt '

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

# One scenario: into the folder itself. Several: into one each.
scenario=fixtures/scenarios/birth-during-mark.sim
"$profsim" run --out "$folder/one" "$scenario" >"$folder/words"
[ "$(files_of "$folder/one")" = "$(echo $want) " ] ||
    fail "files: $(files_of "$folder/one")"
"$profsim" run fixtures/scenarios/*.sim --out "$folder/each" >"$folder/words"
for scenario in fixtures/scenarios/*.sim; do
    each=$folder/each/$(basename "$scenario")
    wanted=$(echo $want)
    ! grep -q '^instruments trace' "$scenario" || wanted=trace.out
    [ "$(files_of "$each" | sed 's/trace-2.out //')" = "$wanted " ] ||
        fail "files of $scenario: $(files_of "$each")"
    [ "$wanted" != trace.out ] || continue
    for file in "$each"/*.pb.gz; do
        gzip -t "$file" || fail "$file is broken"
    done
done
cmp "$folder/one/heap.pb.gz" "$folder/each/birth-during-mark.sim/heap.pb.gz" ||
    fail "the same run gives other bytes"

# Again over the old files: the same, and nothing temporary is left.
"$profsim" run --out "$folder/one" fixtures/scenarios/birth-during-mark.sim \
    >"$folder/words"
[ "$(files_of "$folder/one")" = "$(echo $want) " ] || fail "files are left over"

# Unscaled records of a mutex fraction of 1/10: what a reader multiplies by.
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

# What cannot be written.
: >"$folder/file"
refused "a file for a folder" "$profsim" run --out "$folder/file" "$scenario"
refused "no parent" "$profsim" run --out "$folder/no/such" "$scenario"
refused "no name" "$profsim" run "$scenario" --out ''
mkdir "$folder/taken" "$folder/taken/heap.txt" "$folder/taken/heap.txt/x"
refused "a folder for a file" "$profsim" run --out "$folder/taken" "$scenario"
[ -z "$(find "$folder" -name '*.part')" ] || fail "a temporary file is left"
echo "test_run_out: all as it must be"
