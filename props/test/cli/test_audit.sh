#!/bin/sh
# test_audit.sh -- what `profsim audit` prints, plots and refuses.
# usage: test_audit.sh PROFSIM
set -u

profsim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. props/test/lib/count.sh
shown="out err"

prints() { # NAME PATTERN WORD...
    name=$1
    pattern=$2
    shift 2
    "$profsim" audit "$@" >"$dir/out" 2>"$dir/err" </dev/null &&
        grep -q -- "$pattern" "$dir/out"
    count "$name" $?
}

refuses() { # NAME TEXT WORD...
    name=$1
    text=$2
    shift 2
    "$profsim" audit "$@" >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq 1 ] && [ ! -s "$dir/out" ] &&
        [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -qF -- "$text" "$dir/err"
    count "$name" $?
}

# Sizes of 16 bytes and R in turn: estimates of 1.0374 and 1, and of 0.5820 and
# 1, were computed by others.
prints "small after large" '^tcmalloc  *1.0374  *1.0000  *1.0000$' \
    --rules tcmalloc --rate 512k
prints "k and m" '^since-last  *0.5820  *1.0000' --rules since-last \
    --sizes 16,512K --rate 524288
prints "a workload by its name" '^since-last  *0.5859  *1.0016' \
    --rules exact,since-last --workload w4 --rate 4k
prints "all workloads" '^W12, R = 4096' --rules max-rate --workload all \
    --rate 4096
prints "rule sets have a list" '^jemalloc .*@295e4894' --rules list
prints "details" '^libdatadog  *16  *0.99.* 0.0000 ' --rules libdatadog \
    --rate 4k --sizes 16
prints "one that does not take the rate is left out of many" '^exact' \
    --rules jemalloc,exact --rate 5000 --sizes 16
grep -q 'left out: jemalloc' "$dir/err"
count "and that is reported" $?

prints "a rule set that is right" '^exact: holds; [0-9]* figures within 1 %' \
    --judge --rules exact
"$profsim" audit --judge --rules max-rate >"$dir/out"
[ $? -eq 2 ] && grep -q \
    '^max-rate: U1 broken: a size by itself: 128 bytes are shown 0.9845 times' "$dir/out"
count "one that is not, and the size that shows it" $?
refuses "a verdict on one workload" '--judge goes with' --judge --workload W1

"$profsim" audit --rules jemalloc,v8-nodes,jfr --rate 4k --sizes 16,4k --json \
    --svg "$dir/plot.svg" >"$dir/json"
count "JSON and a plot" $?
python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
assert [row["rules"] for row in rows] == ["jemalloc", "v8-nodes", "jfr"]
assert rows[0]["sizes"][0]["zero_size_counts"] == 8
assert rows[1]["sizes"][0]["realloc_moved"] is None
assert abs(rows[1]["sizes"][0]["mean"] - 1.0394) < 5e-5
' "$dir/json"
count "the JSON is read back" $?
"$profsim" audit --rules exact --workload all --rate 4k --json |
    python3 -c 'import json, sys; assert len(json.load(sys.stdin)) == 12'
count "JSON of all workloads" $?
for which in "--workload w1" "--workload W12" "--sizes 3,5"; do
    # shellcheck disable=SC2086 # words
    "$profsim" audit --rules exact,go1.5 $which --rate 4k --json |
        python3 -c 'import json, sys; assert len(json.load(sys.stdin)) == 2'
    count "JSON of two rule sets: $which" $?
done
python3 -c '
import sys, xml.etree.ElementTree as tree
circles = [e for e in tree.parse(sys.argv[1]).iter() if e.tag.endswith("circle")]
assert len(circles) == 2 + 3 * 2
' "$dir/plot.svg"
count "the plot has a dot for each figure" $?

# With equally many samples the live bytes of real programs vary at most half as
# much.
for name in python-index perl-words clang-format nm-symbols; do
    "$profsim" audit --recording fixtures/recordings/$name.rec >"$dir/out" &&
        awk '$1 == "exact" { exact = $3 }
            $1 == "exact-min-variance" { samples = $3; variance = $NF }
            END { exit !(samples > 0.95 * exact && samples < 1.05 * exact &&
                variance > 0 && variance < 0.5) }' "$dir/out"
    count "live bytes of $name vary half as much" $?
done
refuses "a rate that none of several takes" "no rule set takes it" \
    --rules jemalloc,statmemprof --rate 7
"$profsim" audit --rules exact,all,exact --sizes 512K --json >"$dir/twice" 2>"$dir/err"
[ "$(grep -o '"rules": *"exact"' "$dir/twice" | wc -l)" -le 1 ] &&
    [ -s "$dir/twice" ]
count "a rule set that is named twice stands once" $?
refuses "a recording with rules" "--rate only" --rules exact \
    --recording fixtures/recordings/waits.rec
refuses "a recording that is not there" "No such file" \
    --recording "$dir/missing"
refuses "rules that were mistyped" "did you mean 'tcmalloc'?" --rules tcmaloc
refuses "a rate that the only rules do not take" "powers of two" \
    --rules jemalloc --rate 500000
refuses "a size of nothing" "'0'" --sizes 0
refuses "a missing size" "',3'" --sizes 16,,3
refuses "a size beyond the limit" "1073741824" --sizes 2000m
refuses "a rate with a wrong unit" "'12q'" --rate 12q
refuses "no such workload" "W1 to W12" --workload W13
refuses "sizes and a workload" "either" --workload W1 --sizes 3
refuses "a word" "'x'" x
refuses "a plot of all workloads" "one workload" --workload all \
    --svg "$dir/none.svg"
"$profsim" audit --rules exact --sizes 16 --rate 4k \
    --svg "$dir/missing/a.svg" >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'No such file' "$dir/err"
count "a plot that cannot be written is an error" $?

finish audit
