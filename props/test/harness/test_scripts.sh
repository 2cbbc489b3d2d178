#!/bin/sh
# test_scripts.sh -- tests the scripts: each runs against programs that fail, and
# must report that and exit as it promises. A test fails if a script swallows an
# exit code, counts a survivor as caught, or does not compare.
# usage: props/test/harness/test_scripts.sh [FOLDER]   where they are; props
set -u
scripts=$(cd "${1:-props}" && pwd) || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/fixtures" "$dir/fixtures/recordings" "$dir/fixtures/mutants" \
    "$dir/fixtures/scenarios" "$dir/fixtures/trace" \
    "$dir/fixtures/trace/vectors" "$dir/props"
touch "$dir/fixtures/recordings/a.rec" "$dir/fixtures/recordings/waits.rec" \
    "$dir/fixtures/scenarios/a.sim" "$dir/fixtures/trace/vectors/a.trace"
cd "$dir" || exit 1
passed=0
failed=0

# exits STATUS TEXT NAME COMMAND...: it must exit so, and print a line with TEXT
exits() {
    want=$1
    text=$2
    name=$3
    shift 3
    timeout 60 "$@" >"$dir/said" 2>&1
    got=$?
    if [ $got -eq "$want" ] && grep -q -- "$text" "$dir/said"; then
        passed=$((passed + 1))
        echo "ok: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name: exit $got, not $want, or no line '$text'"
        cat "$dir/said"
    fi
}

# program PATH TEXT: make a program whose only line is TEXT
program() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

# ----------------------------------------------------------------------- soak

# good: make all programs that the soak runs; each succeeds
good() {
    for build in b b/clang b/asan; do
        program $build/profsim 'echo "log hash 1"'
    done
    for target in worlds kernels scenario recording trace; do
        program b/fuzz/fuzz_$target true
    done
}

good
exits 0 ' 0 failed' "a soak without failures" \
    env SOAK_BUILDS=b sh "$scripts/campaign/soak.sh" 0

# bad PATH LINE WHAT: with this one program changed, the soak must fail
bad() {
    good
    program "$1" "$2"
    exits 1 "FAILED: $3" "a soak notices: $3" \
        env SOAK_BUILDS=b sh "$scripts/campaign/soak.sh" 0
}

heavy='python3 -c "import sys; a = bytearray(40 << 20)"'
bad b/profsim 'case $* in *go1.10*) exit 2 ;; esac' 'worlds, rules go1.10'
bad b/profsim 'case $* in *explore*pct*) exit 2 ;; esac' \
    'kernels, strategy pct'
bad b/profsim 'case $* in *"jobs 2"*) echo "log hash 2" ;; esac' \
    'seeds, two processes'
bad b/clang/profsim 'echo "log hash 3"' 'seeds, clang'
bad b/asan/profsim 'case $* in *waits.rec) exit 23 ;; esac; echo "log hash 1"' \
    'a recording, sanitized'
bad b/profsim "case \$* in *19999*) $heavy ;; esac" 'memory'
bad b/fuzz/fuzz_trace 'exit 77' 'fuzz target trace'
bad b/profsim true 'seeds, once'
exits 2 "'1m' is not a whole number" "a soak without a time" \
    sh "$scripts/campaign/soak.sh" 1m
exits 2 "'x' is not a whole number" "a soak without a seed" \
    sh "$scripts/campaign/soak.sh" 0 x

# ----------------------------------------------------------------------- fuzz

fuzz_programs() {
    for target in worlds kernels scenario recording trace; do
        program out/fuzz/fuzz_$target \
            'echo "stat::number_of_executed_units: 7"'
    done
}

fuzz_programs
exits 0 'fuzz: 5 passed, 0 failed' "fuzzing that finds nothing" \
    sh "$scripts/fuzz/fuzz.sh" 1
exits 2 "'1h' is no whole" "no time to fuzz" sh "$scripts/fuzz/fuzz.sh" 1h
exits 2 'no target' "a target that is not there" \
    sh "$scripts/fuzz/fuzz.sh" 1 nothing
program out/fuzz/fuzz_worlds 'case ${PROFSIM_TELL-} in
1) echo "replay: me" ;;
*) echo x >out/fuzz/findings/worlds-crash-1 ;;
esac
exit 77'
exits 1 'replay: me' "a finding is told" sh "$scripts/fuzz/fuzz.sh" 1
exits 1 'fuzz: 4 passed, 1 failed' "a finding is counted" \
    sh "$scripts/fuzz/fuzz.sh" 1
program out/fuzz/fuzz_worlds 'echo "stat::number_of_executed_units: 7"; exit 1'
exits 1 'FAILED: worlds (exit 1)' "an engine that fails is no pass" \
    sh "$scripts/fuzz/fuzz.sh" 1
program out/fuzz/fuzz_worlds 'echo "stat::number_of_executed_units: 0"'
exits 1 'FAILED: worlds (exit 0), after 0 runs' "no runs are no pass" \
    sh "$scripts/fuzz/fuzz.sh" 1

exits 2 "no folder 'c'" "a shared folder that is not there" \
    sh "$scripts/fuzz/fuzz.sh" 1 --corpus c worlds
mkdir c
program out/profsim 'case $2 in
c/worlds-failures) mkdir -p "$3" && echo x >"$3/theirs" ;;
esac'
program out/fuzz/fuzz_worlds 'echo "stat::number_of_executed_units: 7"'
exits 0 'fuzz: 1 passed' "a failure of others that passes here" \
    sh "$scripts/fuzz/fuzz.sh" 1 --corpus c worlds
program out/fuzz/fuzz_worlds 'case $* in
*theirs*) exit 77 ;;
esac
echo "stat::number_of_executed_units: 7"'
exits 1 'FAILED: worlds (exit 1)' "... and one that fails here, too" \
    sh "$scripts/fuzz/fuzz.sh" 1 --corpus c worlds
program out/fuzz/fuzz_worlds 'echo "stat::number_of_executed_units: 7"'
# With AFL++: the inputs received must be read, and the inputs found sent.
program out/profsim 'case $2 in
c/worlds) echo x >"$3/theirs" && cat "$3"/id* >>sent ;;
esac'
program out/afl-fuzz '[ -e out/fuzz/seeds/worlds/theirs ] || exit 1
mkdir -p out/afl/worlds/default/queue
echo found >out/afl/worlds/default/queue/id:000001
echo "execs_done : 7" >out/afl/worlds/default/fuzzer_stats'
exits 0 'fuzz: 1 passed' "AFL++ reads the inputs of others" \
    env PATH="$dir/out:$PATH" sh "$scripts/fuzz/fuzz.sh" 1 --engine afl \
    --corpus c worlds
exits 0 found "... and sends what it finds" cat sent

# -------------------------------------------------------------------- mutants

printf 'X(H1, A, "a")\nX(H2, A, "b")\n' >props/property.def

# row DEMAND FACT...: print the row of a mutant
row() {
    {
        printf 'name m\ntitle t\nissue \nwhere f\nrules exact\n'
        printf 'caught-by %s\nsurvives %s\n' "$1" "${survives:-}"
        shift
        printf '%s\n' "$@"
    } >m.row
}

# judged STATUS TEXT NAME
judged() {
    exits "$1" "$2" "mutants: $3" python3 "$scripts/mutants/report.py" \
        m.csv m.md m.row
}

row H1 'first 3 H1 2' 'alone H1 3'
judged 0 '1 of 1 mutants caught' "caught"
row H1 ''
judged 1 'survives: wanted H1' "a survivor fails"
judged 1 '0 of 1 mutants caught' "a survivor lowers the score"
row H1 'first 3 H2 2' 'alone H2 3'
judged 1 'survives: wanted H1' "who was not asked does not count"
row 'H1 H2' 'alone H1 3'
judged 1 'survives: wanted H1 H2' "each one named must catch it"
row test_x ''
judged 1 'survives: wanted test_x' "a test that passes does not count"
row test_x 'test test_x a_name'
judged 0 '1 of 1 mutants caught' "a test that fails does"
row kernel:k 'kernel other 3 check'
judged 1 'survives: wanted kernel:k' "another kernel does not count"
row cover:M ''
judged 1 'survives: wanted cover:M' "a coverage goal that is met does not count"
row crash 'first 3 H1 2'
judged 1 'survives: wanted crash' "a breach is no crash"
row H1 'unfinished 124'
judged 1 'is not judged: did not finish' "what does not finish is not caught"
judged 1 '0 of 0 mutants caught' "what does not finish survives neither"
survives=because
judged 1 'is not judged: did not finish' "an excuse needs a judge, too"
survives=
row nobody 'unfinished 124'
judged 1 'is not judged: did not finish' "what is right needs a judge, too"
row nobody 'first 3 H1 2'
judged 1 'was to hold' "what is right must hold"
survives=because
row H1 'alone H1 3'
judged 1 'is caught now' "an excuse that is none any more"
row H1 ''
judged 0 '0 of 1 mutants caught' "an excuse does not count as caught"
survives=
# timed TEXT NAME SECONDS COMMAND: what mutants.py must say of such a judge
timed() {
    exits 0 "$1" "mutants: $2" python3 -c '
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import mutants
try:
    print("status", mutants.timed(float(sys.argv[2]), sys.argv[3], "log",
                                  shell=True))
except mutants.Broken as why:
    print("no verdict:", why)
' "$scripts/mutants" "$3" "$4"
}

timed 'status 3' "the exit code of a judge" 60 'exit 3'
timed 'no verdict: .*127' "a judge that is not there" 60 './none'
timed 'no verdict: .*126' "a judge that cannot be run" 60 './m.row'
timed 'status None' "a judge that takes too long" 0.3 \
    'sleep 60 & echo $! >pid; wait'
exits 0 '' "mutants: what a judge has started ends with it" \
    sh -c 'echo; ! grep -q sleep "/proc/$(cat pid)/cmdline" 2>/dev/null'
printf 'title: t\nissue: a#1\ncaught-by: H1\n' >fixtures/mutants/m.patch
exits 1 'only 1 real bugs' "mutants: too few real bugs" \
    python3 "$scripts/mutants/mutants.py" all
sed 's/a#1/a#1 a#2/' fixtures/mutants/m.patch >fixtures/mutants/n.patch
exits 1 'only 2 real bugs' "mutants: patches are found" \
    python3 "$scripts/mutants/mutants.py" all

# -------------------------------------------------------- mutants of each line

mkdir reports
printf '"prof/a.c:1",acquire,relaxed,k,race,3\n' >reports/memory-order.csv

# lines VERDICT...: write a table in which the mutants of prof/a.c ended so
lines() {
    : >mutants.tsv
    : >results.tsv
    : >same.txt
    for verdict in "$@"; do
        number=$(($(wc -l <results.tsv) + 1))
        printf '%s\t1\tprof/a.c\tf\t1\tkind\tx%s\ty\t1\n' $number $number \
            >>mutants.tsv
        printf '%s\tprof/a.c\tf\t1\tkind\t%s\t%s\tjudge\t\t0\t1\n' $number \
            "prof/a.c f: x$number -> y" "$verdict" >>results.tsv
    done
}

# scored STATUS TEXT NAME [REASON]: judge the table, with 60 % required
scored() {
    printf '%s\n' "${4:-# no reasons}" >equivalent.txt
    exits "$1" "$2" "lines: $3" awk -v csv=l.csv -v md=l.md -v bar=60 \
        -v sample= -f "$scripts/mutants/lines/report.awk" reports/memory-order.csv \
        equivalent.txt same.txt mutants.tsv results.tsv
}

lines failed crashed hangs survives unmet
scored 0 '3 of 5 mutants caught, 0 are no mistake: 60.0 %' "at the bar"
lines failed survives unmet
scored 1 'below 60 %' "below the bar"
scored 0 '1 of 3 mutants caught, 2 are no mistake: 100.0 %' "explained" \
    'a reason
    prof/a.c f: x2 -> y
    prof/a.c f: x3 -> y'
scored 1 'explained, but caught' "an excuse that is none" 'a reason
    prof/a.c f: x1 -> y'
scored 1 'there is no such mutant' "an excuse for nothing" 'a reason
    prof/a.c f: x9 -> y'
lines failed hangs survives
scored 0 '1 of 3 mutants caught, 2 are no mistake: 100.0 %' "a late judge" \
    'a reason
    prof/a.c f: x2 -> y
    prof/a.c f: x3 -> y'
lines failed survives unmet
echo 2 >same.txt
scored 1 '1 of 3 mutants caught, 1 are no mistake: 50.0 %' "the same object"
lines
scored 1 '0 of 0 mutants caught' "nothing was tried"

# ------------------------------------------------------------------- coverage

mkdir prof
printf 'if (a)\n    b();\n' >prof/a.c

# reached STATUS TEXT NAME LINE-2 TRUE FALSE [REASON]: how often line 2 and both
# ways of its branch ran, and what the report must say
reached() {
    printf 'SF:%s/prof/a.c\nDA:1,9\nDA:2,%s\nend_of_record\n' "$dir" "$4" \
        >lines.lcov
    printf '%s/prof/a.c\t1\t5\t%s\t%s\n' "$dir" "$5" "$6" >branches.tsv
    printf '%b\n' "${7:-# no reasons}" >reasons
    exits "$1" "$2" "coverage: $3" awk -v here="$dir/" -v csv=c.csv \
        -f "$scripts/coverage/report.awk" reasons lines.lcov branches.tsv
}

reached 0 '2 of 2 lines (100.0 %), 2 of 2 branches' "all is reached" 1 1 1
reached 1 'prof/a.c:2: line: b();' "a line is not" 0 1 1
reached 1 'prof/a.c:1: false: if (a)' "a side is not" 1 1 0
reached 1 '0 without a reason' "reasons do not lift the figure" 1 1 0 \
    'prof/a.c\tfalse\tif (a)\twhy'
reached 1 'has a reason and is reached' "a reason for nothing" 1 1 1 \
    'prof/a.c\tfalse\tif (a)\twhy'
exits 1 '0 of 0 lines' "coverage: nothing was measured" awk -v here=/ \
    -v csv=c.csv -f "$scripts/coverage/report.awk" reasons /dev/null /dev/null

echo "scripts: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
