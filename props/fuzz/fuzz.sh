#!/bin/sh
# fuzz.sh -- run every fuzz target for a while, from the corpus of earlier runs
# and the fixtures. A finding is shrunk where that is possible, printed, and
# kept in profsim-failures or beside the corpus.
# usage: props/fuzz/fuzz.sh SECONDS [TARGET...]
set -u
seconds=${1:?usage: props/fuzz/fuzz.sh SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- worlds scenario recording trace kernels
passed=0
failed=0
for target in "$@"; do
    corpus=out/fuzz/corpus/$target
    mkdir -p "$corpus"
    case $target in
    scenario) seeds=fixtures/scenarios ;;
    recording) seeds=out/fuzz/recordings && mkdir -p $seeds ;;
    trace) seeds=fixtures/trace/vectors ;;
    *) seeds= ;;
    esac
    log=out/fuzz/$target.log
    # shellcheck disable=SC2086
    out/fuzz/fuzz_"$target" -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="out/fuzz/$target-" -rss_limit_mb=2048 -timeout=20 \
        "$corpus" $seeds >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok: $target: ${runs:-0} runs in $seconds s"
    else
        failed=$((failed + 1))
        echo "FAILED: $target (exit $status)"
        tail -n 40 "$log"
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ $failed -eq 0 ]
