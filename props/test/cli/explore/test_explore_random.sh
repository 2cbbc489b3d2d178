#!/bin/sh
# Random programs with threads, locks, condition variables and so on: exploring
# them graph by graph and by schedules finds the same graphs. If a program
# fails, both ways must find the failure. Random programs of locks, and of
# threads and futexes, have the results, and the failures, that an enumeration of
# all orders without the explorer finds. Random calls of libc have the results
# that libc itself gives, in a run and before the first. Of random programs that
# use a heap, mistakes are reported as a model of the heap says. Each call that
# ends a run is reported by its text and line, and each event by what its call did.
# usage: test_explore_random.sh PROFSIM COUNT
set -u
library=$(dirname "$(realpath "$1")")
programs=$2
. props/test/lib/count.sh
shown=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -g -O1 -fsanitize=thread -c fixtures/explore/random_program.c \
    -o "$work/random.o" &&
    gcc -o "$work/random" "$work/random.o" \
        -L"$library" -lprofsim-explore -l:libdw.so.1
count "the programs are built" $?
graphs_of() { # WORD...: prints a line for each program
    PROFSIM_EXPLORE="--exhaustive $*" timeout 600 "$work/random" 1 "$programs" |
        awk '$4 ~ /^runs?$/ { print $1, /  holds/ ? $5 " graphs" : "fails" }'
}
graphs_of >"$work/by_graphs"
graphs_of --schedules >"$work/by_schedules"
[ "$(grep -c ' graphs$' "$work/by_graphs")" -ge $((programs / 2)) ]
count "all random programs are explored" $?
diff "$work/by_graphs" "$work/by_schedules"
count "random programs have the same graphs either way" $?

build() { # NAME FILE...: build a program as a user's, with $models
    name=$1
    shift
    for file; do
        gcc -D_GNU_SOURCE -g -O1 -fno-builtin -fsanitize=thread \
            -c "fixtures/explore/$file.c" -o "$work/$file.o" || return 1
        set -- "$@" "$work/$file.o"
        shift
    done
    for model in $models; do
        set -- "$@" "$work/$model.o"
    done
    gcc -o "$work/$name" "$@" -L"$library" -lprofsim-explore -l:libdw.so.1
}
# How many agree, and a line for each that does not. The graphs of each program
# are kept: of those whose threads all end, since others may stop anywhere.
compared() { # PROGRAM WORD...
    program=$work/$1
    shift
    PROFSIM_EXPLORE="--exhaustive $*" timeout 600 "$program" 1 "$programs" |
        awk -v list="$program.graphs$*" '/ model:/ { model = $0 " " }
            $3 ~ /^runs?$/ { graphs = $4; said = $0; sub(/^.* s  /, "", said) }
            / results:/ && said ~ /^holds/ && model !~ /ends early/ {
                print $1, graphs >list
            }
            / results:/ {
                one = " " said " "
                if (index(model, one) && (said !~ /^holds/ || $3 == "same,"))
                    agree++
                else
                    print model "explorer: " said ", " $0
            }
            END { print agree + 0 }'
}
for kind in lock thread; do
    models="lock_set order_model ${kind}_model"
    for model in $models; do
        gcc -g -O1 -c "fixtures/explore/$model.c" -o "$work/$model.o" ||
            count "$model.c is built" 1
    done
    build $kind ${kind}_program
    count "the programs of ${kind}s are built" $?
    for how in '' --schedules; do
        compared $kind $how | tee "$work/differ" | grep -v '^[0-9]*$'
        [ "$(cat "$work/differ")" = "$programs" ]
        count "programs of ${kind}s do what POSIX says ($how)" $?
    done
    [ -s "$work/$kind.graphs" ] &&
        diff "$work/$kind.graphs" "$work/$kind.graphs--schedules"
    count "programs of ${kind}s have the same graphs either way" $?
done
models=

gcc -D_GNU_SOURCE -DLIBC -g -O1 -fno-builtin -pthread -o "$work/calls" \
    fixtures/explore/libc_*.c
count "the calls of libc are built" $?
build libc libc_program libc_text libc_print libc_heap libc_locks libc_keys \
    libc_outside libc_process
count "and the same, explored" $?
timeout 300 "$work/calls" "$work/results" "$programs" >"$work/out"
count "libc has results" $?
PROFSIM_EXPLORE=--exhaustive timeout 600 "$work/libc" "$work/results" \
    "$programs" >"$work/out"
! grep -A 1 ' libc: other' "$work/out" &&
    [ "$(grep -c ' libc: same' "$work/out")" = "$programs" ]
count "explored calls have the results of libc's" $?

# For each program PROGRAM says what must be reported, then the explorer's report
# follows, then where: prints how many agree, and a line for each that does not.
reported() { # PROGRAM WORD...
    program=$work/$1
    shift
    PROFSIM_EXPLORE=--exhaustive timeout 600 "$program" "$@" |
        awk '/ model: / { want = $0; sub(/^.* model: /, "", want); said = "nothing"; at = against = stop = 0 }
        / runs? .* s  holds(, waits to a bound)?$/ {
            said = "holds"
            if (want ~ /each run a graph/ && $2 == $4)
                said = want ~ /[0-9]$/ ? "holds, each run a graph of " $4 : want
        }
        /^  broken: / { said = $0; gsub(/^  broken: | \([a-z ]*\)$/, "", said); if (want !~ /^[0-9]/) sub(/^[0-9]+ /, "", said) }
        /^  by thread / && !at { at = $0; sub(/^.* at [^:]*:/, "", at); at += 0 }
        /^  against / { against = $0; if (!sub(/^.*:/, "", against)) against = -9; against += 0 }
        /^  thread 0 \(main\) is at / { stop = $0; sub(/^[^:]*:/, "", stop); stop += 0 }
        / line: / {
            taken = $0
            sub(/^.* taken at:/, "", taken)
            place = want ~ /^holds/ || (want ~ /never freed/ ? index(taken, " " at " ") : $3 < 0 || at == $3 + 0)
            other = $4 != "other:" || $5 < 0 || $5 == against
            other = other && ($6 != "stopped:" || $7 == 0 || $7 == stop)
            if (said == want && place && other)
                agree++
            else
                print "wanted: " want ", " $0 ", explorer: " said ", line " at " and " against " and " stop
        }
        END { print agree + 0 }' | tee "$work/differ" | grep -v '^[0-9]*$'
}
build heap heap_program heap_use
count "the programs that use a heap are built" $?
reported heap 1 "$programs"
[ "$(cat "$work/differ")" = "$programs" ]
count "mistakes with the heap are reported as a model says" $?

build misuse misuse_program misuse_calls misuse_touch misuse_clock \
    misuse_heap misuse_end misuse_local misuse_objects misuse_order \
    misuse_print misuse_blocks misuse_waits misuse_events
count "the calls that end a run are built" $?
export MU_LIBRARY="$work/libmisuse.so"
gcc -g -O1 -fPIC -shared -o "$MU_LIBRARY" fixtures/explore/misuse_library.c
count "and a library that they load" $?
where() { "$work/misuse" stack; }
[ "$(where)" = "$(where)" ] || ! setarch -R true 2>/dev/null
count "the same addresses in each process" $?
reported misuse
[ "$(cat "$work/differ")" = 586 ]
count "calls that end a run are reported at their lines" $?

# The last of them comes after most other calls, each on a line of its own: its
# events, with lines counted from the first one's. What a program writes is shown
# once, for the report of its failure.
PROFSIM_EXPLORE=--exhaustive timeout 60 "$work/misuse" |
    awk '/^every event/ { every = 1 }
        /^shown / { print $1, $2, $3 }
        every && match($0, /misuse_events.c:[0-9]+$/) && /^ *[0-9]+  / {
            at = substr($0, RSTART)
            sub(/^.*:/, "", at)
            if (!first)
                first = at
            gsub(/^ *[0-9]+ +|  +[^ ]*$/, "")
            print at - first, $0
        }' >"$work/events"
diff fixtures/explore/misuse_events.txt "$work/events"
count "each event is shown as what its call did" $?

finish explore-random
