#!/bin/sh
# finds.sh -- does fuzzing find mistakes? It must find three, each from an empty
# corpus, with a fixed seed, on one core, within 60 seconds:
#
#   go1.6-late        the rules of Go 1.6 to 1.8, golang/go#19311
#   slot-published-again  counters.c publishes a slot as if it were not cleared
#   listed-before-written  table.c lists a row by a store that releases nothing
#
# Each finding must then shrink, and replay. And the kernels' features must be
# more than code. Ends with a line for .ci/count.
# usage: props/fuzz/finds.sh OUT-DIR   (after `tools/ninja fuzz out/profsim`)
set -u
dir=${1:?usage: props/fuzz/finds.sh OUT-DIR}
root=$PWD
o=${O:-out/gcc}
passed=0
failed=0

say() { # ok|FAILED TEXT
    if [ "$1" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    echo "$1: $2"
}

# built_with PATCH TARGET...: print the paths of the targets with this mutant.
built_with() {
    tools/mutants.py tree "$@"
}

# NAME PROGRAM LINE: fuzz from an empty corpus; what is found is shrunk, and
# must match a line
find_it() { # NAME PROGRAM LINE
    mkdir -p "$dir/$1"
    rm -rf "$dir/$1/crash" "$dir/$1/profsim-failures"
    begun=$(date +%s%N)
    timeout -k 5 90 "$2" -seed=1 -max_total_time=60 \
        -exact_artifact_path="$dir/$1/crash" >"$dir/$1/log" 2>&1
    took_ms=$((($(date +%s%N) - begun) / 1000000))
    if [ ! -e "$dir/$1/crash" ]; then
        say FAILED "$1: not found in $took_ms ms"
        return 1
    fi
    runs=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$dir/$1/log" | tail -n 1)
    (cd "$dir/$1" && PROFSIM_TELL=1 timeout -k 5 120 "$2" crash >told 2>&1)
    if grep -q -- "$3" "$dir/$1/told"; then
        say ok "$1: found in $took_ms ms, after $runs runs or a few more"
        sed -n 's/^  shrunk/    shrunk/p; s/^replay:/    &/p' "$dir/$1/told"
        return 0
    fi
    say FAILED "$1: found in $took_ms ms, but does not say: $3"
    sed '/deadly signal/,$d' "$dir/$1/told"
    return 1
}

mkdir -p "$dir" && dir=$(cd "$dir" && pwd) || exit 1

# NAME WORDS PROGRAM: the replay command in `told`, with PROGRAM in the place of
# its first words, must fail there, too, with exit code 2 to 5
replays() { # NAME WORDS PROGRAM: what stands in for the first words
    words=$(sed -n "s,^replay: $2,$3,p" "$dir/$1/told")
    [ -n "$words" ] || words=false
    (cd "$dir/$1" && $words >replayed 2>&1)
    case $? in
    [2-5]) say ok "$1: the replay fails, too" ;;
    *) say FAILED "$1: the replay does not fail" ;;
    esac
}

# The program follows the wrong rules, so its scenario replays without naming
# them.
PROFSIM_RULES=go1.6-late
export PROFSIM_RULES
find_it go1.6-late "$root/out/fuzz/fuzz_worlds" "^expect property .* broken" &&
    replays go1.6-late profsim "$root/out/profsim"
unset PROFSIM_RULES

fuzz=$(built_with slot-published-again out/fuzz/fuzz_worlds) &&
    find_it slot-published-again "$fuzz" "^expect property .* broken"
both=$(built_with listed-before-written out/fuzz/fuzz_kernels \
    $o/props/test/test_kernels) &&
    find_it listed-before-written "$(echo "$both" | head -n 1)" \
        "^replay: profsim explore .* --replay [0-9]" &&
    replays listed-before-written "profsim explore" \
        "$(echo "$both" | tail -n 1)"

# ENVIRONMENT...: print how many features as many runs reach, which shows what
# pairs of loads and stores are worth
features() { # ENVIRONMENT...
    env "$@" timeout -k 5 90 out/fuzz/fuzz_kernels -seed=1 -runs=20000 2>&1 |
        sed -n 's/.*DONE .* ft: \([0-9]*\).*/\1/p'
}

without=$(features PROFSIM_PAIRS=off)
with=$(features PROFSIM_RULES=exact)
if [ "${with:-0}" -gt $((10 * ${without:-1000000})) ]; then
    say ok "pairs of reads and writes: $with features, without them $without"
else
    say FAILED "pairs: ${with:-no} features, without them ${without:-none}"
fi

echo "finds: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -eq 6 ]
