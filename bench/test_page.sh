#!/bin/sh
# The page and the JSON of a run, made of rows that are written here.
# usage: test_page.sh
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# holds STATUS TEXT: count a check, and say TEXT if it failed
holds() {
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "page: $2"
    fi
}

# row ENTRANT BUCKETS MEDIAN RATIO STATE GOAL GOAL_VALUE
row() {
    printf 'table\thit\t16\t%s\tzipf\t1\t%s\tns\t%s\t0.01\t%s\t7\t%s\t%s\t%s\n' \
        "$2" "$1" "$3" "$4" "$5" "$6" "$7" >>"$work/rows"
}

: >"$work/rows"
row profsim 100 20 1 ok '' 0
row '(lower bound)' 100 19 0.95 ok '' 0
row '<peer>' 100 60 3 ok met 2
row profsim 1000000 200 1 ok '' 0
row '<peer>' 1000000 250 1.25 ok missed 2
row uthash 1000000 '' '' noisy '' ''
{
    echo '# made by: a test'
    echo '# caches L2 2048 KB, L3 266240 KB, TLB 2048 pages'
    echo 'noun,operation,depth,n,order,threads,entrant,unit,median,spread,ratio,rounds,state,goal,goal_value'
    tr '\t' ',' <"$work/rows"
} >"$work/rows.csv"
awk -f bench/page.awk -f bench/plot.awk "$work/rows.csv" >"$work/page"
holds $? "page.awk failed"
awk -F'\t' -v command='say "x"' -v commit=c -v machine=m -v compiler=g \
    -f bench/json.awk "$work/rows" >"$work/json"
holds $? "json.awk failed"

grep -q '1 met, 1 missed; 1 of 6 numbers' "$work/page"
holds $? "met, missed and noisy numbers are counted wrongly"
grep -q 'n=1000000.*<td>1.25</td><td>2</td><td>200 ns</td>' "$work/page"
holds $? "the missed goal is not told with what was reached"
! grep -q '<peer>' "$work/page"
holds $? "a name goes into the page as it is"
[ "$(grep -c "stroke-dasharray='3 3'/><text" "$work/page")" -eq 2 ]
holds $? "caches that fill between 100 and a million are not L2 and the TLB"
# 100 and 1000000 are the ends of the axis, 20 and 200 a decade apart.
grep -q "<path d='M34.0 [0-9.]*L334.0 [0-9.]*' fill='none' stroke='#c22'" \
    "$work/page"
holds $? "our line does not go from the first size to the last"
python3 - "$work/json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["command"] == 'say "x"'
assert [r["median"] for r in run["rows"]] == [20, 19, 60, 200, 250, None]
assert run["rows"][4]["goal"] == "missed"
PYTHON
holds $? "the JSON has other rows than the run"
echo "page: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
