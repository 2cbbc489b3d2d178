#!/bin/sh
# test_hostile_files.sh -- every kind of input, changed at random (command/test/hostile.c).
# usage: command/test/test_hostile_files.sh HOSTILE COUNT
# build: as=hostile_files args='out/gcc/command/test/hostile 300'
# build: args='out/gcc/command/test/hostile 20000' when=long
# build: as=hostile_sanitized args='out/asan/command/test/hostile 20000' when=long
set -u
hostile=$1
count=$2
passed=0
failed=0
kinds=
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat /proc/self/maps >"$dir/maps"
printf '%s\n' "profsim result 2" "build 0.2.0 0123" "shard 1/1" "word explore" \
    "word a.c" "word --" "word -DX" >"$dir/head"
{
    cat "$dir/head"
    printf '%s\n' "spent 4" "depth 9" "loops 2" "loop.0 40" "loop.1 51" \
        "runs 940" "graphs 939" "hash 17" "bounded 1" "exit 0" \
        "bound 0" "end"
} >"$dir/search"
{
    sed 's/a\.c/--mutants/' "$dir/head"
    printf '%s\n' "done 1" "rows 1" '0.site a.c:3\n' "0.was acquire" \
        "0.is relaxed" "0.kernel a" "0.how race" "0.runs 7" "0.unfinished 0" \
        "end"
} >"$dir/mutants"

# tries KIND FILE...: runs in the background, beside the others
tries() {
    kind=$1
    shift
    kinds="$kinds $kind"
    if "$hostile" "$kind" "$count" "$@" >"$dir/of-$kind" 2>&1; then
        echo passed >"$dir/end-$kind"
    else
        echo "FAILED: $kind; again: $hostile $kind =NUMBER $*" >"$dir/end-$kind"
    fi &
}

tries scenario fixtures/scenarios/*.sim
tries recording fixtures/recordings/waits.rec
tries trace fixtures/trace/vectors/*.trace fixtures/trace/recorded/*_good
tries result "$dir/search" "$dir/mutants"
tries spool
tries mappings "$dir/maps"
wait
for kind in $kinds; do
    cat "$dir/of-$kind"
    if [ "$(cat "$dir/end-$kind")" = passed ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$dir/end-$kind"
    fi
done

# The program must notice the bad commands; too much memory only in a build
# without sanitizers.
"$hostile" bad 20 fixtures/scenarios/wrap.sim >"$dir/bad" && cat "$dir/bad"
for what in "accepts a damaged file" "prints what is no text" "crashes" \
    "takes memory above the ceiling"; do
    case $hostile$what in *asan*memory*) continue ;; esac
    if grep -q "$what" "$dir/bad"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: a command that $what is not noticed"
    fi
done
echo "hostile: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
