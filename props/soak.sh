#!/bin/sh
# soak.sh -- fresh seeds under every rule set, and every kernel by every
# strategy, for so long altogether. The seeds start at the number given, so a
# soak can be made again.
# usage: props/soak.sh SECONDS [FIRST-SEED]
set -u
seconds=${1:?usage: props/soak.sh SECONDS [FIRST-SEED]}
first=${2:-1000000000}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# part NAME COMMAND...
part() {
    name=$1
    shift
    if "$@" >"$dir/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $name: $(grep -m 1 -E 'runs' "$dir/log")"
    else
        failed=$((failed + 1))
        echo "FAILED: $name (exit $?)"
        cat "$dir/log"
    fi
}

share=$((seconds / 8))
[ "$share" -gt 0 ] || share=1
for rules in exact go1.5 go1.10 go1.17; do
    part "worlds, rules $rules" out/profsim check --rules $rules \
        --seeds "$first..$((first + 1000000000))" --time "$share" \
        --save "$dir/failures"
done
for strategy in random pct urw stall; do
    part "kernels, strategy $strategy" timeout $((share * 20 + 60)) \
        out/profsim explore --strategy $strategy --runs $((share * 5000)) \
        --seed "$first"
done
echo "soak: $passed passed, $failed failed"
[ $failed -eq 0 ]
