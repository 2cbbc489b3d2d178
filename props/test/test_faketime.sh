#!/bin/bash
# The library against the clocks of the machine, by libfaketime: profiles of one
# program are equal to the byte if its clocks stand still, advance by a fixed
# step at each reading, or go backwards; if they run by themselves, only times
# differ. (profsim itself under other clocks: test_determinism.sh.)
# usage: props/test/test_faketime.sh PROFILE_PROGRAM
# build: args='out/gcc/props/test/profile_program out/gcc/profsim'
set -u
. common/test/count.sh
shown=
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
library=$(echo /usr/lib/*/faketime/libfaketime.so.1)

run() { # NAME CLOCK: writes the profiles to the folder NAME
    rm -rf "${folder:?}/$1"
    mkdir "$folder/$1"
    TZ=UTC LD_PRELOAD=$library FAKETIME=$2 timeout 120 "$program" "$folder/$1"
    count "under '$2' the program ends" $?
}
field() { # NUMBER: of the outermost message of profile.proto
    protoc --decode_raw <"$folder/first/cpu.pb" |
        awk -v field="$1:" '$1 == field { print $2 }'
}

program=$1
start=1577836800 # 2020-01-01 00:00:00
for clock in '2020-01-01 00:00:00' '@2020-01-01 00:00:00 i2.0' \
    '@2020-01-01 00:00:00 i-0.5'; do
    run first "$clock"
    run second "$clock"
    diff -r "$folder/first" "$folder/second"
    count "under '$clock' two runs are the same" $?
    # The clock may have been read at most 4000 times before.
    taken=$(($(field 9) / 1000000000))
    [ $taken -ge $((start - 3000)) ] && [ $taken -le $((start + 9000)) ]
    count "under '$clock' the time is the clock's: $taken" $?
done
[ -z "$(field 10)" ]
count "a duration below zero is not written" $?
for clock in '@2020-01-01 00:00:00 x100' '-3y'; do
    run other "$clock"
    for file in heap allocs mutex goroutine threadcreate; do
        cmp "$folder/other/$file.txt" "$folder/first/$file.txt"
        count "under '$clock' $file.txt does not depend on the clock" $?
    done
done
finish faketime
