#!/bin/sh
# Random programs with threads, locks, condition variables and so on: exploring
# them graph by graph and by schedules finds the same graphs. If a program fails,
# both ways must find that.
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
graphs_of() { # WORD...: a line a program
    PROFSIM_EXPLORE="--exhaustive $*" timeout 600 "$work/random" 1 "$programs" |
        awk '$4 == "runs" { print $1, /  holds/ ? $5 " graphs" : "fails" }'
}
graphs_of >"$work/by_graphs"
graphs_of --schedules >"$work/by_schedules"
[ "$(grep -c ' graphs$' "$work/by_graphs")" -ge $((programs / 2)) ]
count "all random programs are explored" $?
diff "$work/by_graphs" "$work/by_schedules"
count "random programs have the same graphs either way" $?

finish explore-random
