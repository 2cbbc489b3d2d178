#!/bin/sh
# The score of a room's mutants; survivors that are explained as equivalent, or have
# the original's object code, count as no mistake.
#
# usage: score.sh ROOM TO BAR     TO: has results.part, and arguments of generate;
#                                 equivalent-ROOM.txt: the explained ones
# out: TO/results.tsv, survivors.txt; exit 1 if the score is below BAR
set -eu

room=$1
to=$2
bar=$3
sort -n "$to/results.part" >"$to/results.tsv"
sed -n 's/^ \{4\}//p' "props/mutants/lines/equivalent-$room.txt" |
    awk -F'\t' '
    FILENAME == "-" { known[$0] = 1; next }
    $7 !~ /survives|unmet/ || $6 in known { next }
    {
        everywhere = $6
        sub(/[^\/]*: /, "*: ", everywhere)
        sub(/ #[0-9]+$/, "", everywhere)
    }
    !(everywhere in known) { print $1 }' - "$to/results.tsv" >"$to/open.txt"
props/mutants/lines/same.sh "$to" <"$to/open.txt" >"$to/same.txt"
awk -F'\t' -v room="$room" -v bar="$bar" -v survivors="$to/survivors.txt" '
    BEGIN { printf "" >survivors }
    FILENAME ~ /open\.txt$/ { open[$1] = 1; next }
    FILENAME ~ /same\.txt$/ { same[$1] = 1; next }
    { total++ }
    $7 !~ /survives|unmet/ { caught++; next }
    $1 in same { equal++; unchanged++; next }
    !($1 in open) { equal++; next }
    { print $6 >survivors }
    END {
        printf "%s: %d of %d mutants caught, %d are no mistake (%d of them change " \
            "no object code): %.1f %%\n", room, caught, total, equal, unchanged,
            100 * (caught + equal) / total
        exit 100 * (caught + equal) < bar * total
    }' "$to/open.txt" "$to/same.txt" "$to/results.tsv"
