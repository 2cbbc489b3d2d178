#!/bin/bash
# D1 against the clocks of the machine: real programs under libfaketime, whose
# clocks stand still, advance by a fixed step at each reading, go backwards, or
# run 100 times as fast.
#
#   profile_program  with reproducible clocks: files equal to the byte; with all
#                    others: it ends, and only the times differ
#   profsim run      reads no clock: the same files with all clocks, in any time
#                    zone and language
#
# usage: props/test/harness/test_faketime.sh PROFILE_PROGRAM PROFSIM
set -eu -o pipefail

program=$1
profsim=$2
library=
for found in /usr/lib/*/faketime/libfaketime.so.1; do
    library=$found
done
[ -r "$library" ] || { echo "test_faketime: no libfaketime" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cases=0

fail() {
    echo "test_faketime: $*" >&2
    exit 1
}

faked() { # clock, command...
    local clock=$1
    shift
    env LD_PRELOAD="$library" FAKETIME="$clock" timeout 120 "$@"
}

field() { # number, file: a number of the outermost message of profile.proto
    protoc --decode_raw <"$2" | awk -v field="$1:" '$1 == field { print $2 }'
}

run_twice() { # clock; files are in first/ and second/
    rm -rf "$folder/first" "$folder/second"
    mkdir "$folder/first" "$folder/second"
    TZ=UTC faked "$1" "$program" "$folder/first" ||
        fail "under '$1' the program ends with $?"
    TZ=UTC faked "$1" "$program" "$folder/second" ||
        fail "under '$1' the program ends with $?"
    cases=$((cases + 1))
}

# The same faked time gives the same bytes, and times in the files are the
# clock's.
start=1577836800 # 2020-01-01 00:00:00
for clock in '2020-01-01 00:00:00' '@2020-01-01 00:00:00 i0.001' \
    '@2020-01-01 00:00:00 i2.0' '@2020-01-01 00:00:00 i-0.5'; do
    run_twice "$clock"
    diff -r "$folder/first" "$folder/second" ||
        fail "under '$clock' two runs differ"
    taken=$(field 9 "$folder/first/cpu.pb")
    [ "${#taken}" = 19 ] || fail "under '$clock' the time is '$taken'"
    # The clock may have been read at most 4000 times before, at 2 s a reading.
    [ $((taken / 1000000000)) -ge $((start - 3000)) ] &&
        [ $((taken / 1000000000)) -le $((start + 9000)) ] ||
        fail "under '$clock' the time is $taken"
    case $clock in
    *i-*) [ -z "$(field 10 "$folder/first/cpu.pb")" ] ||
        fail "a duration below zero was written" ;;
    esac
    mkdir -p "$folder/still"
    cp "$folder"/first/{heap,allocs,mutex,goroutine,threadcreate}.txt \
        "$folder/still"
done

# With clocks that advance by themselves only times may differ.
for clock in '@2020-01-01 00:00:00 x100' '-3y' '+2d x0.01'; do
    run_twice "$clock"
    for file in heap allocs mutex goroutine threadcreate; do
        cmp "$folder/first/$file.txt" "$folder/still/$file.txt" ||
            fail "under '$clock' $file.txt depends on the clock"
    done
done

# profsim reads no clock.
recording=fixtures/recordings/python-index.rec
TZ=UTC LC_ALL=C timeout 120 "$profsim" show "$recording" \
    --out "$folder/plain" >"$folder/plain.text"
TZ=Asia/Tokyo LC_ALL=C.UTF-8 faked '1999-12-31 23:59:59' \
    "$profsim" show "$recording" --out "$folder/faked" >"$folder/faked.text"
diff -r "$folder/plain" "$folder/faked" || fail "profsim's files differ"
cmp "$folder/plain.text" "$folder/faked.text" || fail "profsim's words differ"
echo "test_faketime: $cases clocks, files as they must be"
