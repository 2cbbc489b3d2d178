#!/bin/sh
# test_report.sh -- --json and --junit of every command with a verdict: both files
# have the right format and agree (check_report.py); they say what the command
# printed, and call nothing passed that was not tried; the same run writes the
# same bytes; and their replay command shows the failure again.
# usage: props/test/cli/test_report.sh PROFSIM
set -u
profsim=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. props/test/lib/count.sh
shown="out err"

# reports NAME CODE COMMAND WORD...: checks the exit code and both files
reports() {
    name=$1 code=$2 command=$3
    shift 3
    rm -f "$dir/j" "$dir/x"
    timeout 120 "$profsim" "$command" --json "$dir/j" --junit="$dir/x" "$@" \
        >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq "$code" ] &&
        python3 cli/report/check_report.py docs/ci/report.schema.json \
            "$dir/j" "$dir/x" "$code" >>"$dir/out" 2>&1
    count "$name: exit $code, and a report" $?
}

# says NAME EXPRESSION: checks an expression about the report `r`; `v(name)` is
# the verdict of a result
says() {
    python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
results = r["results"]
def one(name):
    return [x for x in results if x["name"] == name][0]
def v(name):
    return one(name)["verdict"]
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "%s\n%s" % (sys.argv[2], r))' \
        "$dir/j" "$2" >"$dir/out" 2>&1
    count "  $1" $?
}

# replays CODE: the report's first replay command must exit with CODE
replays() {
    python3 -c '
import json, sys
print([x["replay"] for x in json.load(open(sys.argv[1]))["results"]
       if "replay" in x][0])' "$dir/j" >"$dir/command"
    mkdir -p "$dir/bin" && ln -sf "$profsim" "$dir/bin/profsim"
    PATH=$dir/bin:$PATH timeout 120 bash "$dir/command" >"$dir/out" 2>"$dir/err"
    [ $? -eq "$1" ]
    count "  its replay command ends with $1" $?
}

late=fixtures/scenarios/late-rotation-go1.6.sim

# ------------------------------------------------------------ check
reports "check" 0 check --seeds 1..300 --save "$dir/none"
says "what holds was tried" 'v("H1") == "holds" and all(
    x["counts"].get("tried", 0) + x["counts"].get("cells", 0) > 0
    for x in results if x["verdict"] == "holds")'
says "the seeds and the runs" 'one("H1")["seeds"] == {"first": 1, "last": 300}
    and one("H1")["counts"]["runs"] == 300 and one("S1")["counts"]["cells"] > 0'
cp "$dir/j" "$dir/j1" && cp "$dir/x" "$dir/x1"
reports "check again" 0 check --seeds 1..300 --save "$dir/none"
cmp "$dir/j" "$dir/j1" && cmp "$dir/x" "$dir/x1"
count "  the same bytes" $?
reports "check by three processes" 0 check --seeds 1..300 --save "$dir/none" \
    --jobs 3
[ "$(grep -v '"arguments"' "$dir/j")" = "$(grep -v '"arguments"' "$dir/j1")" ] &&
    cmp "$dir/x" "$dir/x1"
count "  the same results" $?
reports "check, far too short" 0 check --seeds 1..1 --save "$dir/none"
says "not tried is not passed" 'v("T11") == "not-tried"
    and r["counts"]["not-tried"] > 0'
reports "check of what cannot be tried" 6 check T11 --seeds 1..1 \
    --save "$dir/none"
says "that is no success" 'v("T11") == "incomplete"'
reports "a known bug" 2 check H2 --rules go1.6-late --seeds 1..5000 \
    --save "$dir/saved"
says "the property, the seed, the file" 'v("H2") == "broken"
    and one("H2")["seed"] == 67 and one("H2")["saved"].endswith("-67.sim")
    and one("H2")["subject"] == "rules go1.6-late"
    and "0 allocations and 1 frees" in one("H2")["text"]'
grep -q '<failure type="broken" message="event\|<failure type="broken"' "$dir/x"
count "  it is a failure" $?
replays 2
reports "it is replayed first" 2 check H2 --rules go1.6-late --seeds 1..10 \
    --save "$dir/saved"
says "and nothing else was tried" 'v("H2") == "stopped"
    and results[0]["subject"] == "saved failures"
    and results[0]["property"] == "H2"'
replays 2
reports "a failure of other rules" 0 check --seeds 1..10 --save "$dir/saved"
says "is left alone" 'results[0]["verdict"] == "not-applicable"'
reports "a known bug, whatever is asked" 2 check --rules go1.6-late \
    --seeds 1..100 --save "$dir/all"
says "ends the search" 'r["counts"]["stopped"] > 10
    and r["counts"]["broken"] == 1 and v("T1") == "stopped"
    and v("S1") == "holds"'
reports "a sampler that is off" 2 bias --verify --rules go1.10
says "by enumeration" 'r["counts"]["broken"] > 0
    and r["counts"]["not-applicable"] > 20'
replays 2
reports "sampling, asked of what does not sample" 6 bias --verify H1
reports "a recording" 0 check fixtures/recordings/waits.rec
says "is not traced" 'v("T1") == "not-applicable" and v("H1") == "holds"
    and one("H1")["subject"] == "fixtures/recordings/waits.rec"'
reports "a trace's property on a recording" 6 check T1 \
    fixtures/recordings/waits.rec
reports "a recording under wrong rules" 2 check --rules go1.6-late \
    fixtures/recordings/python-index.rec
replays 2

# ------------------------------------------------------------ files
reports "a scenario" 2 replay "$late" fixtures/scenarios/wrap.sim
says "each file has its result" 'v("'"$late"'") == "broken"
    and one("'"$late"'")["property"] == "H2"
    and v("fixtures/scenarios/wrap.sim") == "holds"'
replays 2
reports "a traced scenario" 0 replay fixtures/scenarios/every-event.sim
echo 'profsim scenario 2' >"$dir/none.sim"
reports "a scenario without events" 6 replay "$dir/none.sim"
says "shows nothing" 'v("'"$dir"'/none.sim") == "incomplete"
    and "nothing was tried" in results[0]["text"]'
printf 'profsim scenario 2\nscheduled\ninstruments trace\n' >"$dir/none.sim"
reports "a traced scenario without events" 6 check "$dir/none.sim"
sed 's/^gc-sweep/gc-swep/' "$late" >"$dir/typo.sim"
reports "a file that is wrong" 1 replay "$dir/typo.sim" "$late"
says "says where" 'results[0]["verdict"] == "wrong-input"
    and "unknown event" in results[0]["text"]
    and results[1]["verdict"] == "broken"'
reports "a file that is not there" 1 run "$dir/missing"
reports "... behind one that is broken" 1 replay "$late" "$dir/missing"
says "has not what the other one broke" 'results[0]["property"] == "H2"
    and results[1]["verdict"] == "wrong-input" and "property" not in results[1]
    and "about" not in results[1]'
reports "an outcome that is expected" 0 run "$late"
says "holds, and says what it breaks" 'v("'"$late"'") == "holds"
    and one("'"$late"'")["property"] == "H2"'
sed 's/^expect property H2 broken/expect ok/' "$late" >"$dir/ok.sim"
reports "an outcome that is not" 2 run "$dir/ok.sim"
replays 2
sed 's/expect ok/expect property T3 broken/' \
    fixtures/scenarios/every-event.sim >"$dir/t3.sim"
reports "a traced scenario that does not break what it should" 2 run "$dir/t3.sim"
reports "a heap is shown" 0 run fixtures/recordings/waits.rec
says "and nothing judged" 'r["counts"]["not-tried"] == 1 and len(results) == 1'
reports "a heap is shown and judged" 0 run --verdicts \
    fixtures/recordings/waits.rec
says "by every property" 'r["counts"]["holds"] > 10'

# File names with characters that would end a line, a string or an element.
odd=$(printf '%s/a\n\033[31m\377"<&>\\ '"'"'.sim' "$dir")
cp "$late" "$odd"
reports "a file with an odd name" 2 replay "$odd"
says "its name is text" 'results[0]["name"].endswith(
    "a\\n\\x1b[31m\\xff\"<&>\\ '"'"'.sim")'
replays 2
cp "$late" "$dir/two words; exit 9.sim"
reports "a file whose name a shell takes apart" 2 \
    replay "$dir/two words; exit 9.sim"
replays 2

# ------------------------------------------------------------ kernels
reports "every ordering" 0 explore seqlock-2w2r
says "holds, with its counts" 'v("seqlock-2w2r") == "holds"
    and one("seqlock-2w2r")["counts"]["graphs"] == 1521'
reports "a bound" 0 explore seqlock-2w1r --bound 1
says "bounded is no plain success" 'v("seqlock-2w1r") == "bounded"
    and one("seqlock-2w1r")["text"] == "holds to 1 preemptions"'
grep -q 'name="seqlock-2w1r (bounded: holds to 1 preemptions)"' "$dir/x"
count "  it stands in the name of the test" $?
reports "random runs" 0 explore seqlock-2w1r --strategy pct --runs 50
says "neither are they" 'v("seqlock-2w1r") == "sampled"'
reports "a search that was cut short" 6 explore seqlock-2w1r --runs 10
says "is incomplete" 'v("seqlock-2w1r") == "incomplete"'
reports "one run" 0 explore seqlock-2w1r --replay 0
says "is a sample" 'v("seqlock-2w1r") == "sampled"'
reports "no such kernel" 1 explore sequoia

# ------------------------------------------------------------ mutants
reports "mutants of lines" 0 mutants
says "are all caught" 'r["counts"]["caught"] == len(results) > 10
    and one("prof/core/heap.c")["counts"]["survive"] == 0'
{
    sed '$d' reports/mutation.csv |
        sed '0,/,failed,/s//,survives,/'
} >"$dir/table"
end_table() { # FILE: the last line, as mutate.sh writes it
    echo "end,$(($(wc -l <"$1") - 1)),$(cksum <"$1" | cut -d' ' -f1)" >>"$1"
}
end_table "$dir/table"
reports "a mutant that survives" 2 mutants "$dir/table"
says "is counted" 'r["counts"]["survives"] == 1'
head -n1 reports/mutation.csv >"$dir/table" && end_table "$dir/table"
reports "a table without mutants" 1 mutants "$dir/table"
{
    head -n1 reports/mutation.csv
    echo '"prof/a.c f: a -> b",arithmetic,equivalent,,'
} >"$dir/table"
end_table "$dir/table"
reports "a file without mistakes" 0 mutants "$dir/table"
says "catches none" 'v("prof/a.c") == "not-applicable"'
reports "weaker orders" 0 mutants --memory-order table-same-2p1r
says "and who notices" 'r["counts"]["caught"] == 4
    and results[0]["text"].startswith("table-same-2p1r, ")'

# ------------------------------------------------------------ the files
# refuses NAME TEXT WORD...: exit 1, and one line that holds TEXT
refuses() {
    name=$1 text=$2
    shift 2
    timeout 60 "$profsim" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
        grep -qF -- "$text" "$dir/err"
    count "$name" $?
}
refuses "a folder that is not there" "No such file" \
    replay "$late" --json "$dir/no/j"
refuses "an empty name" "--json needs" replay "$late" --json ""
refuses "one file for both" "cannot both be" \
    replay "$late" --json "$dir/j" --junit "$dir/j"
refuses "two files of a kind" "--junit is given twice" \
    replay "$late" --junit "$dir/j" --junit "$dir/x"
cp "$late" "$dir/input.sim"
refuses "the input" "input.sim" replay "$dir/input.sim" --json "$dir/input.sim"
cmp "$late" "$dir/input.sim"
count "  it is as it was" $?

finish report
