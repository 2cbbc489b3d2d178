#!/bin/sh
# test_determinism.sh -- D1 across processes: the same seeds give the same results,
# whatever the compiler, optimisation, locale, time zone, clock, address layout,
# environment and number of jobs.
#
# The log hash of a campaign sums up every event and answer of every run.
# usage: props/test/test_determinism.sh PROFSIM OTHER-PROFSIM...
# build: args='out/gcc/profsim out/clang/profsim out/O0/profsim' when=long
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
first=$1
recording=fixtures/recordings/python-index.rec
passed=0
failed=0

# same NAME WORD...: runs WORD...; its output must be that of the first run
same() {
    name=$1
    shift
    rm -rf "$dir/saved"
    if timeout 60 "$@" >"$dir/out" 2>/dev/null </dev/null &&
        cmp -s "$dir/out" "$dir/want"; then
        passed=$((passed + 1))
        echo "ok: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name: $(grep 'log hash' "$dir/out")"
        echo "   instead of: $(grep 'log hash' "$dir/want")"
    fi
}

# want WORD...: runs WORD...; later runs must print the same
want() {
    rm -rf "$dir/saved"
    if ! "$first" "$@" >"$dir/want" 2>/dev/null </dev/null; then
        failed=$((failed + 1))
        echo "FAILED: $first $*"
        cat "$dir/want"
        return 1
    fi
}

# around NAME WORD...: runs WORD... under every condition
around() {
    what=$1
    shift
    want "$@" || return
    for profsim in $others; do
        same "$what: $profsim" "$profsim" "$@"
    done
    for locale in $locales; do
        same "$what: locale $locale" env LOCPATH="$dir" LC_ALL="$locale" \
            "$first" "$@"
    done
    same "$what: time zone" env TZ=Asia/Kathmandu "$first" "$@"
    same "$what: no environment" env -i "$first" "$@"
    same "$what: fixed addresses" setarch -R "$first" "$@"
    same "$what: another day" faketime '2038-01-19 03:14:07' "$first" "$@"
    same "$what: other limits" sh -c 'ulimit -s 1024; exec "$@"' - \
        "$first" "$@"
}

shift
others="$first $*"
locales=$(locale -a 2>/dev/null | grep -v '^POSIX$')
if localedef -i tr_TR -f UTF-8 "$dir/tr_TR.UTF-8" 2>/dev/null; then
    locales="$locales tr_TR.UTF-8"
else
    echo "note: there is no tr_TR here; tried: $locales"
fi

around campaign check --seeds 1..1000 --jobs 1 --save "$dir/saved"
for jobs in 2 3 7; do
    same "campaign: $jobs jobs" "$first" check --seeds 1..1000 --jobs $jobs \
        --save "$dir/saved"
done
around campaign-go1.17 check --rules go1.17 --seeds 1..1000 --jobs 1 \
    --save "$dir/saved"
want show "$recording"
for profsim in $others; do
    same "recording: $profsim" "$profsim" show "$recording"
done
same "recording: no environment" env -i setarch -R "$first" show "$recording"
want check "$recording"
for profsim in $others; do
    same "recording, judged: $profsim" "$profsim" check "$recording"
done

echo "determinism: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
