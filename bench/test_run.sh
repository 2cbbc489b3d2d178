#!/bin/sh
# Test bench/run on programs that are written here: what it runs, what it prints
# for words that it does not know, and that it fails when a program fails.
# usage: test_run.sh
set -u
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# exits STATUS TEXT NAME WORD=VALUE...: bench/run with this environment
exits() {
    want=$1
    text=$2
    name=$3
    shift 3
    rm -rf "$work/out"
    (cd "$work" && env FILTER= QUICK= "$@" bench/run out/new/bench \
        programs/good programs/bad) >"$work/said" 2>&1
    got=$?
    if [ $got -eq "$want" ] && grep -q -- "$text" "$work/said"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "run: $name: exit $got, not $want, or no line '$text'"
        cat "$work/said"
    fi
}

mkdir "$work/programs"
ln -s "$root/bench" "$work/bench"
ln -s "$root/cli" "$work/cli"
cat >"$work/programs/good" <<'END'
#!/bin/sh
printf 'good\thit\t16\t100\tzipf\t1\tprofsim\tns\t20\t0.01\t1\t7\tok\t\t0\n' \
    >>"$BENCH_ROWS"
END
printf '#!/bin/sh\nexit 3\n' >"$work/programs/bad"
chmod +x "$work/programs/good" "$work/programs/bad"

exits 0 'wrote out/new/bench.csv' "folders are made" FILTER=good
grep -q '^good,hit,' "$work/out/new/bench.csv"
[ $? -eq 0 ] && passed=$((passed + 1)) || failed=$((failed + 1))
exits 1 'bad failed' "a program that fails" FILTER=good,bad
exits 1 'bad failed' "all of them without a filter" FILTER=
exits 1 "called 'nothing'; there are: good bad" "no such program" \
    FILTER=good,nothing
exits 1 "QUICK is 1 or not there, not 'yes'" "a word for QUICK" QUICK=yes

echo "run: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
