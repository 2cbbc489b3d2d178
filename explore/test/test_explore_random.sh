#!/bin/sh
# Random programs of locks: explored graph by graph and by schedules, each has
# the results, and the failures, that an enumeration of all orders without the
# explorer finds. Two operations on an object have as many graphs as orders that
# differ. Random calls of libc have the results that libc itself gives. Each
# mistake of a program is reported by its text and line.
# usage: test_explore_random.sh PROFSIM COUNT
# build: as=random args='out/gcc/profsim 200'
# build: args='out/gcc/profsim 1500' when=long
set -u
library=$(dirname "$(realpath "$1")")
programs=$2
. common/test/count.sh
shown=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # NAME [OBJECT...]: build a program as a user's
    gcc -D_GNU_SOURCE -g -O1 -fno-builtin -fsanitize=thread \
        -c "explore/test/programs/$1.c" -o "$work/$1.o" &&
        gcc -o "$work/$1" "$work/$1.o" ${2+"$work/$2" "$work/$3"} \
            -L"$library" -lprofsim-explore -l:libdw.so.1
}
for model in lock_model lock_set; do
    gcc -g -O1 -c "explore/test/programs/$model.c" -o "$work/$model.o" ||
        count "$model.c is built" 1
done
build lock_program lock_model.o lock_set.o
count "random programs of locks are built" $?
# How many agree, and a line for each that does not. The graphs of each are kept.
for how in '' --schedules; do
    PROFSIM_EXPLORE="--exhaustive $how" timeout 600 "$work/lock_program" \
        1 "$programs" |
        awk -v list="$work/graphs$how" '/ model:/ { model = $0 " " }
            $3 ~ /^runs?$/ { graphs = $4; said = $0; sub(/^.* s  /, "", said) }
            / results:/ && said ~ /^holds/ { print $1, graphs >list }
            / results:/ {
                if (index(model, " " said " ") &&
                    (said !~ /^holds/ || $3 == "same,"))
                    agree++
                else
                    print model "explorer: " said ", " $0
            }
            END { print agree + 0 }' | tee "$work/differ" | grep -v '^[0-9]*$'
    [ "$(cat "$work/differ")" = "$programs" ]
    count "random programs do what POSIX says ($how)" $?
done
[ -s "$work/graphs" ] && diff "$work/graphs" "$work/graphs--schedules"
count "random programs have the same graphs either way" $?

# Each program prints what it wants, then comes the explorer's report.
reported() { # PROGRAM
    PROFSIM_EXPLORE=--exhaustive timeout 600 "$work/$1" | awk '
        function judge() {
            if (want == "")
                return
            all++
            if (said == want && (line == 0 || at == line))
                agree++
            else
                print "line " line ": " want "; reported at " at ": " said
        }
        /^want [0-9]+: / {
            judge()
            line = $2 + 0
            at = 0
            said = "nothing"
            want = $0
            sub(/^want [0-9]+: /, "", want)
        }
        / runs? .* s  holds$/ {
            said = "holds"
            if (want ~ /graphs/)
                said = "holds, graphs " $4 ", runs " $2
        }
        /^  (broken|not finished): / && said == "nothing" {
            said = $0
            gsub(/^  (broken|not finished): | \([a-z ]*\)$/, "", said)
        }
        /^  by thread / && !at { at = $0; sub(/^.*:/, "", at); at += 0 }
        END { judge(); print agree + 0 " of " all }' |
        tee "$work/differ" | grep -v '^[0-9]* of'
}
for table in 'mistakes 196' 'orders 88'; do
    build "${table% *}"
    count "${table% *} are built" $?
    reported "${table% *}"
    [ "$(cat "$work/differ")" = "${table#* } of ${table#* }" ]
    count "${table% *} are reported as they should" $?
done

build libc_calls && gcc -D_GNU_SOURCE -DLIBC -g -O1 -fno-builtin -pthread \
    -o "$work/libc" explore/test/programs/libc_calls.c
count "the calls of libc are built" $?
timeout 300 "$work/libc" "$programs" >"$work/wanted"
PROFSIM_EXPLORE=--exhaustive timeout 600 "$work/libc_calls" "$programs" \
    >"$work/found"
[ "$(wc -l <"$work/wanted")" = $((2 * programs)) ] &&
    diff "$work/wanted" "$work/found"
count "explored calls have the results of libc's" $?

finish explore-random
