#!/bin/sh
# The score of a room's mutants; survivors that are explained as equivalent count
# as no mistake.
#
# usage: score.sh ROOM TO BAR     TO: has results.part;
#                                 equivalent-ROOM.txt: the explained ones
# out: TO/results.tsv, survivors.txt; exit 1 if the score is below BAR
set -eu

room=$1
to=$2
bar=$3
sort -n "$to/results.part" >"$to/results.tsv"
: >"$to/survivors.txt"
sed -n 's/^ \{4\}//p' "props/mutants/lines/equivalent-$room.txt" |
    awk -F'\t' -v room="$room" -v bar="$bar" -v survivors="$to/survivors.txt" '
    FILENAME == "-" { known[$0] = 1; next }
    { total++ }
    $7 !~ /survives|unmet/ { caught++; next }
    $6 in known { equal++; next }
    {
        everywhere = $6
        sub(/[^\/]*: /, "*: ", everywhere)
        sub(/ #[0-9]+$/, "", everywhere)
    }
    everywhere in known { equal++; next }
    { print $6 >survivors }
    END {
        printf "%s: %d of %d mutants caught, %d are no mistake: %.1f %%\n", \
            room, caught, total, equal, 100 * (caught + equal) / total
        exit 100 * (caught + equal) < bar * total
    }' - "$to/results.tsv"
