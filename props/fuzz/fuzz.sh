#!/bin/sh
# fuzz.sh -- run every fuzz target for a share of the time, from the corpus of
# earlier runs and from the fixtures. A finding is run once more to be shrunk,
# printed with the command that replays it, and kept: as a scenario in
# profsim-failures/ or as a file in out/fuzz/findings/.
# FUZZ_WORK is another folder than out/fuzz for corpus, findings and logs, so that
# several can run at a time; SEED is where the engine's random numbers begin.
# With --corpus, inputs are exchanged with fuzzers on other machines through
# DIR/TARGET each ten seconds, and findings through DIR/TARGET-failures; those of others are tried first,
# and one that fails here, too, is this run's finding.
# usage: props/fuzz/fuzz.sh SECONDS [--corpus DIR] [TARGET...]
set -u

all="worlds kernels scenario recording trace"
work=${FUZZ_WORK:-out/fuzz}
findings=$work/findings

usage() {
    echo "fuzz: $*" >&2
    echo "usage: fuzz.sh SECONDS [--corpus DIR] [TARGET...]" >&2
    exit 2
}

# Small files of the right kind, where a target can begin.
seeds_of() { # TARGET DIR
    rm -rf "$2"
    mkdir -p "$2"
    case $1 in
    scenario) cp fixtures/scenarios/*.sim "$2" ;;
    recording) find fixtures/recordings -name '*.rec' -size -64k \
        -exec cp {} "$2" \; ;;
    trace) cp fixtures/trace/vectors/*.trace "$2" ;;
    esac
}

# Leaves findings as $findings/TARGET-*, and the output in $log.
#
# returns: 0, or the exit code of an engine that did not end normally
with_libfuzzer() { # TARGET SECONDS SEEDS
    mkdir -p "$work/corpus/$1"
    timeout -k 10 $(($2 + 60)) "out/fuzz/fuzz_$1" -max_total_time="$2" \
        -print_final_stats=1 -artifact_prefix="$findings/$1-" \
        -rss_limit_mb=2048 -timeout=20 -seed="${SEED:-0}" \
        "$work/corpus/$1" "$3" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    return $status
}

# ---- Fuzzers on other machines ----

exchange() { # TARGET
    [ -n "$corpus" ] || return 0
    mkdir -p "$work/corpus/$1"
    out/profsim corpus "$corpus/$1" "$work/corpus/$1" >"$log.corpus" 2>&1
}

# Exchange every ten seconds until the process ends.
keep_exchanging() { # TARGET PROCESS
    while [ -n "$corpus" ] && kill -0 "$2" 2>/dev/null; do
        exchange "$1"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            kill -0 "$2" 2>/dev/null && sleep 1
        done
    done
}

# A failure from elsewhere that also fails here becomes a finding.
try_failures() { # TARGET
    [ -n "$corpus" ] || return 0
    failures=$work/failures/$1
    mkdir -p "$failures"
    out/profsim corpus "$corpus/$1-failures" "$failures" >"$log.corpus" 2>&1 ||
        return 0
    for file in "$failures"/*; do
        [ -f "$file" ] || continue
        timeout -k 10 60 "out/fuzz/fuzz_$1" -timeout=20 -rss_limit_mb=2048 \
            "$file" >"$log" 2>&1 && continue
        cp "$file" "$findings/$1-${file##*/}"
        return 1
    done
}
send_failure() { # TARGET FILE
    [ -n "$corpus" ] || return 0
    mkdir -p "$work/failures/$1"
    cp "$2" "$work/failures/$1/"
    out/profsim corpus "$corpus/$1-failures" "$work/failures/$1" \
        >"$log.corpus" 2>&1
}

# Show the smallest form of a finding. The parsers' files are shrunk by
# libFuzzer; the other targets shrink choices instead of bytes.
tell() { # TARGET FILE
    program=out/fuzz/fuzz_$1
    case $1 in
    worlds | kernels) ;;
    *)
        timeout -k 10 60 "$program" -minimize_crash=1 -max_total_time=10 \
            -timeout=5 \
            -exact_artifact_path="$2.small" "$2" >/dev/null 2>&1
        [ ! -s "$2.small" ] || mv "$2.small" "$2"
        rm -f "$2.small"
        ;;
    esac
    PROFSIM_TELL=1 timeout -k 10 120 "$program" "$2" >"$2.told" 2>&1
    grep -a -v -E '^(INFO|Running|NOTE|[^ ]*: Running 1 inputs)' \
        "$2.told" | sed '/libFuzzer: deadly signal/,$d' | head -n 80
    rm -f "$2.told"
    case $1 in
    worlds | kernels) ;;
    *) echo "replay: $program $2" ;;
    esac
}

try() { # TARGET SECONDS
    log=$work/$1.log
    seeds_of "$1" "$work/seeds/$1"
    rm -f "$findings/$1"-*
    [ ! -t 2 ] || printf '\r\033[K%s, for %s s' "$1" "$2" >&2
    runs=
    status=1
    if try_failures "$1"; then
        exchange "$1"
        keep_exchanging "$1" $$ &
        exchanging=$!
        with_libfuzzer "$1" "$2" "$work/seeds/$1"
        status=$?
        kill $exchanging 2>/dev/null
        wait $exchanging 2>/dev/null
        exchange "$1"
    fi
    [ ! -t 2 ] || printf '\r\033[K' >&2
    found=$(find $findings -name "$1-*" | sort | head -n 1)
    if [ $status -eq 0 ] && [ -z "$found" ] && [ "${runs:-0}" -gt 0 ]; then
        echo "ok: $1: $runs runs in $2 s"
        return 0
    fi
    echo "FAILED: $1 (exit $status), after ${runs:-?} runs"
    if [ -n "$found" ]; then
        tell "$1" "$found"
        send_failure "$1" "$found"
    else
        tail -n 20 "$log"
    fi
    return 1
}

seconds=${1:-}
case $seconds in
'' | *[!0-9]*) usage "'$seconds' is no whole number of seconds" ;;
esac
shift
corpus=
if [ "${1:-}" = --corpus ]; then
    corpus=${2:-}
    shift 2
fi
[ -z "$corpus" ] || [ -d "$corpus" ] || usage "there is no folder '$corpus'"
[ $# -gt 0 ] || set -- $all
for target in "$@"; do
    case " $all " in
    *" $target "*) ;;
    *) usage "there is no target '$target'; take $all" ;;
    esac
done

mkdir -p $findings
share=$((seconds / $#))
[ $share -gt 0 ] || share=1
passed=0
failed=0
for target in "$@"; do
    if try "$target" $share; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "fuzz: $passed passed, $failed failed"
[ $failed -eq 0 ]
