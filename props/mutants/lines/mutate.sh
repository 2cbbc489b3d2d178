#!/bin/sh
# Try mutants of every line of prof/; see reports/mutation.md.
#
# usage: mutate.sh [full]
#
# Without `full`: one mutant in 25, the same each time; of those that change more
# than an operator, which are reported apart, one in 100, and 40 pairs. Writes
# out/mutate/mutation.md and .csv. With `full`: all mutants; of the others one in
# 2, and 600 pairs. Writes reports/mutation.md and .csv. Exit 1 if the score is
# below the bar, or an explanation in equivalent.txt is wrong.
set -eu

bar=95
from=out/gcc
to=out/mutate
every=25
slow=250
higher=100 # a multiple of `every`: only those are compiled
pairs=40
sample="one in $every"
pages=$to
if [ "${1:-}" = full ]; then
    every=1
    higher=2
    pairs=600
    slow=1500
    sample=
    pages=reports
fi

ninja $from/mutate.ready $(ninja -t targets rule link |
    grep -e "^$from/props/test_" -e "^$from/props/stress_")
if [ ! -e $to/programs ] || [ "$(cat $to/every 2>/dev/null)" != $every ] || find prof props/mutants/lines $from/props $from/*.a \
    -maxdepth 2 -type f -newer $to/programs | grep -q .; then
    echo "mutants: compiling the library with ${sample:-all} of them" >&2
    props/mutants/lines/library.sh $from $to $every
fi

$to/run --every $every --higher $higher --pairs $pairs --slow $slow \
    $to $to/results.part
sort -n $to/results.part >$to/results.tsv
sed -n 's/^ *//p' props/mutants/lines/equivalent.txt |
    awk -F'\t' 'FNR == NR { known[$0] = 1; next }
        $7 ~ /survives|unmet/ && $5 != "pair" && !($6 in known) { print $1 }' \
        - $to/results.tsv >$to/open.txt
echo "mutants: compiling $(wc -l <$to/open.txt) that survive" >&2
props/mutants/lines/same.sh $to <$to/open.txt >$to/same.txt
awk -v csv=$pages/mutation.csv.part -v md=$pages/mutation.md.part \
    -v sample="$sample" -v higher="one in $higher, $pairs pairs" \
    -v bar=$bar -f props/mutants/lines/report.awk \
    reports/memory-order.csv props/mutants/lines/equivalent.txt \
    $to/same.txt $to/mutants.tsv $to/results.tsv || status=$?
sum=$(cksum <$pages/mutation.csv.part)
echo "end,$(($(wc -l <$pages/mutation.csv.part) - 1)),${sum%% *}" \
    >>$pages/mutation.csv.part
mv $pages/mutation.csv.part $pages/mutation.csv
mv $pages/mutation.md.part $pages/mutation.md
exit ${status:-0}
