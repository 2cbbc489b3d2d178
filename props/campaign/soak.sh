#!/bin/sh
# soak.sh -- rounds of every kind of run, each with fresh seeds, until SECONDS
# of processor time are spent; at least one round. A round is
#
#   worlds      heaps and traced worlds, under every rule set
#   twice       the same seeds again: other processes, another compiler, and
#               the address sanitizer. The log hashes must be the same
#   memory      many runs take no more memory than few
#   kernels     random, pct, urw, stall
#   fuzz        each target from its corpus, with leak detection
#   recordings  each of the fixtures, twice, and under the sanitizer
#   Go          the profiles of Go 1.19's own runtime, if Go is installed
#
# The seeds start at FIRST-SEED, so a soak can be repeated. Failures are kept in
# out/soak/, or in SOAK_DIR. The last line says how much processor time it took.
# usage: props/campaign/soak.sh SECONDS [FIRST-SEED]
#        (after `tools/ninja out/profsim out/clang/profsim out/asan/profsim fuzz`)
set -u
seconds=${1:-}
seed=${2:-1000000000}
for number in "$seconds" "$seed"; do
    case $number in
    '' | *[!0-9]*)
        echo "soak: '$number' is not a whole number" >&2
        echo "usage: props/campaign/soak.sh SECONDS [FIRST-SEED]" >&2
        exit 2
        ;;
    esac
done
builds=${SOAK_BUILDS:-out} # a test puts others there
dir=${SOAK_DIR:-out/soak}
rounds_max=10000
rm -rf $dir
mkdir -p $dir || exit 1
passed=0
failed=0

# ------------------------------------------------------------------- one part

verdict() { # STATUS NAME WHAT
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2 ($3)"
        cat $dir/log
    fi
}

# part NAME COMMAND...: it ends well, within ten minutes and some memory
part() {
    name=$1
    shift
    (ulimit -v 8000000 && exec timeout 600 "$@") >$dir/log 2>&1
    verdict $? "$name" "seeds from $seed: $*"
}

# As part(), without a bound on addresses, of which a sanitizer takes many.
sanitized() {
    name=$1
    shift
    timeout 600 "$@" >$dir/log 2>&1
    verdict $? "$name" "seeds from $seed: $*"
}

# same NAME COMMAND...: what it prints is in $dir/want; else it is put there
same() {
    name=$1
    shift
    timeout 600 "$@" >$dir/out 2>$dir/log
    status=$?
    [ -s $dir/out ] || status=1 # nothing is like nothing
    [ -e $dir/want ] || mv $dir/out $dir/want
    if [ $status -eq 0 ] && [ -e $dir/out ]; then
        diff $dir/want $dir/out >>$dir/log
        status=$?
    fi
    verdict $status "$name" "seeds from $seed: $*"
}

# The most memory, in KiB, that a command or one of its processes had.
memory_of() {
    python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)' "$@"
}

# -------------------------------------------------------------------- rounds

worlds() {
    for rules in exact go1.5 go1.10 go1.17; do
        part "worlds, rules $rules" $builds/profsim check --rules $rules \
            --jobs 1 --seeds "$seed..$((seed + 19999))" \
            --save $dir/failures
    done
}

twice() {
    rm -f $dir/want
    few="$seed..$((seed + 1999))"
    same "seeds, once" $builds/profsim check --jobs 1 --seeds "$few" \
        --save $dir/failures
    same "seeds, two processes" $builds/profsim check --jobs 2 \
        --seeds "$few" --save $dir/failures
    same "seeds, clang" $builds/clang/profsim check --jobs 1 --seeds "$few" \
        --save $dir/failures
    same "seeds, sanitized" $builds/asan/profsim check --jobs 1 \
        --seeds "$few" --save $dir/failures
}

memory() {
    few=$(memory_of $builds/profsim check --jobs 1 \
        --seeds "$seed..$((seed + 999))" --save $dir/failures 2>$dir/log) &&
        many=$(memory_of $builds/profsim check --jobs 1 \
            --seeds "$seed..$((seed + 19999))" --save $dir/failures \
            2>$dir/log) &&
        echo "$few KiB for 1000 runs, $many KiB for 20000" >$dir/log &&
        [ "$many" -le $((few + 2048)) ]
    verdict $? memory "seeds from $seed"
}

kernels() {
    for strategy in random pct urw stall; do
        part "kernels, strategy $strategy" $builds/profsim explore \
            --strategy $strategy --runs 1000 --seed "$seed"
    done
}

fuzz() {
    for target in worlds kernels scenario recording trace; do
        mkdir -p out/fuzz/corpus/$target
        sanitized "fuzz target $target" $builds/fuzz/fuzz_$target \
            -runs=30000 -max_total_time=60 -timeout=60 -rss_limit_mb=1024 \
            -seed=$((seed % 1000000 + 1)) \
            -artifact_prefix=$dir/$target- out/fuzz/corpus/$target
    done
}

recordings() {
    for recording in fixtures/recordings/*.rec; do
        rm -f $dir/want
        for build in $builds $builds $builds/clang; do
            same "$recording" $build/profsim check "$recording"
        done
    done
    sanitized "a recording, sanitized" $builds/asan/profsim check \
        fixtures/recordings/waits.rec
}

go_runtime() {
    [ -x out/gcc/props/peers/go_schedules ] || return
    case $(go env GOVERSION 2>/dev/null) in
    go1.19 | go1.19.*) ;;
    *) return ;;
    esac
    part "schedules of the Go runtime" props/peers/go_runtime.sh \
        out/gcc/props/peers/go_schedules 5000 "$((seed % 1000000000))"
}

# Processor time of this shell's children so far, in whole seconds. (Not in a
# subshell: its children would be others.)
look_at_the_clock() {
    times >$dir/times
    spent=$(awk 'NR == 2 {
        for (i = 1; i <= 2; i++) {
            split($i, part, "m")
            sum += 60 * part[1] + part[2]
        }
        printf "%d\n", sum
    }' $dir/times)
}

round=0
spent=0
while [ $round -eq 0 ] || [ "$spent" -lt "$seconds" ]; do
    [ $round -lt $rounds_max ] || break
    round=$((round + 1))
    for kind in worlds twice memory kernels fuzz recordings go_runtime; do
        [ ! -t 2 ] || printf '\r\033[Kround %s: %s' $round $kind >&2
        $kind
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    look_at_the_clock
    echo "round $round, seeds from $seed: $passed passed, $failed failed," \
        "$spent processor seconds"
    seed=$((seed + 20000))
done
echo "soak: $passed passed, $failed failed, $spent processor seconds"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
