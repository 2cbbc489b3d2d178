#!/bin/sh
# Run lttng.c in an LTTng session with a 4 MB ring per processor that overwrites
# its oldest part. Starts a daemon, without the kernel's tracer, if none is
# running.
# usage: lttng.sh [PROGRAM]    then as serve.h
set -u
program=${1:-out/bench/peers/lttng}
command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null || exit 1
home=$(mktemp -d)
export LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=5000
daemon=
trap 'lttng -n destroy profsim-bench >"$home/log" 2>&1
    [ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; }
    rm -rf "$home"' EXIT
trap 'exit 1' INT TERM HUP
if ! lttng -n list >"$home/log" 2>&1; then # none is running
    lttng-sessiond --no-kernel >"$home/log" 2>&1 &
    daemon=$!
fi
tries=0
until lttng -n list >"$home/log" 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || exit 1
    sleep 0.1
done
{
    lttng -n create profsim-bench --snapshot --output="$home/out"
    lttng -n enable-channel -u --subbuf-size=1M --num-subbuf=4 ring
    lttng -n enable-event -u -c ring 'bench:number'
    lttng -n start profsim-bench
} >>"$home/log" 2>&1 || exit 1
"$program"
