#!/bin/sh
# Compare our reader of traces with Go's (go tool trace, 1.19, the last that
# still knows the format): for every fixture and for COUNT corrupted files the
# same verdict; if ok the same events in the same order on the same processors
# and goroutines; if a rule is broken the same event to break it.
#
# usage: props/peers/trace_reader.sh PROFSIM TRACE_CORRUPT [COUNT [SEED]]
#
# Two differences are meant, and counted apart:
#   version    Go reads other versions of the format, too; we read 1.5 only
#   duplicate  events of one sequence number: Go's sort leaves their order open
#              and changes from run to run, ours is that of the file. When
#              Go's answer differs, its own parser is asked again, built here
#              from the installed sources with one line changed so that its
#              sort breaks ties by offset: if that agrees, ties were the cause.
# build: args='out/gcc/profsim out/gcc/props/peers/trace_corrupt 300' when=check-peers
set -eu

profsim=$1
corrupt=$2
count=${3:-200}
seed=${4:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tool=$(go env GOTOOLDIR)/trace
"$corrupt" "$folder" "$count" "$seed" fixtures/trace/recorded/stress_1_5_good
"$profsim" trace check fixtures/trace/vectors/*.trace \
    fixtures/trace/recorded/*_good "$folder"/*.trace >"$folder/ours" || true

# Build Go's parser with ties broken by offset.
mkdir "$folder/stable" "$folder/stable/trace"
cp "$(go env GOROOT)/src/internal/trace/parser.go" \
    "$(go env GOROOT)/src/internal/trace/order.go" "$folder/stable/trace"
chmod -R u+w "$folder/stable"
tie='l[i].seq < l[j].seq || l[i].seq == l[j].seq \&\& l[i].Off < l[j].Off'
sed -i "s/return l\[i\].seq < l\[j\].seq/return $tie/" \
    "$folder/stable/trace/order.go"
grep -q 'l\[i\].Off < l\[j\].Off' "$folder/stable/trace/order.go"
cat >"$folder/stable/main.go" <<'END'
package main

import (
	"fmt"
	"os"
	"stable/trace"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err == nil {
		var result trace.ParseResult
		result, err = trace.Parse(file, "/bin/true")
		trace.Print(result.Events)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed to parse trace:", err)
		os.Exit(1)
	}
}
END
printf 'module stable\ngo 1.19\n' >"$folder/stable/go.mod"
(cd "$folder/stable" && GOFLAGS=-mod=mod GOPROXY=off go build -o ../stable_go .)

# Print the verdict of a command: "ok N", "time-order", "error", or "error at
# BYTE" if Go names the event that breaks a rule.
says() {
    if timeout 20 "$@" >"$folder/out" 2>"$folder/err"; then
        echo "ok $(wc -l <"$folder/out")"
    elif grep -q 'time stamps out of order' "$folder/err"; then
        echo time-order
    elif grep -q 'failed to parse trace.*(offset ' "$folder/err"; then
        sed -n 's/.*(offset \([0-9]*\),.*/error at \1/p' "$folder/err"
    elif grep -q 'failed to parse trace' "$folder/err"; then
        echo error
    else
        echo "no verdict: $(tail -n 1 "$folder/err")"
    fi
}

# Are our events of a file those in $folder/out, by offset, place, goroutine and
# type? Go calls scans STW and NextGC HeapGoal, and numbers processors of its
# own making.
same_events() {
    awk '{
        for (i = 3; i <= 5; i++) { split($i, pair, "="); field[i] = pair[2] }
        p = field[3] == 1000001 ? "timers" : field[3] == 1000002 ? "network" : \
            field[3] == 1000003 ? "syscalls" : field[3] == 1000004 ? "gc" : \
            field[3]
        sub(/STW/, "Scan", $2)
        sub(/HeapGoal/, "NextGC", $2)
        printf "offset=0x%x p=%s g=%s %s\n", field[5], p, field[4], $2
    }' "$folder/out" >"$folder/their_events"
    "$profsim" trace dump "$1" | awk '
        /^stack/ { exit } { print $3, $4, $5, $6 }' >"$folder/our_events"
    cmp -s "$folder/our_events" "$folder/their_events"
}

# Does the line that we printed ($1) agree with Go's ($2)?
agree() {
    case $2 in
    ok*) [ "${1##*: }" = "$2 events" ] && same_events "${1%%: *}" ;;
    time-order) [ "${1#*: time-order: }" != "$1" ] ;;
    error) [ "${1#*: error: }" != "$1" ] ;;
    'error at '*)
        at=${1#*: error: offset }
        [ "$at" != "$1" ] && [ "$((${at%%:*}))" = "${2#error at }" ]
        ;;
    *) false ;;
    esac
}

same=0 version=0 duplicate=0 different=0 oks=0 orders=0
while IFS= read -r line; do
    path=${line%%: *}
    theirs=$(says "$tool" -d /bin/true "$path")
    case $theirs in
    ok*) oks=$((oks + 1)) ;;
    time*) orders=$((orders + 1)) ;;
    esac
    if agree "$line" "$theirs"; then
        same=$((same + 1))
        continue
    fi
    case $line in
    *'unsupported trace version'*)
        version=$((version + 1))
        continue
        ;;
    esac
    theirs=$(says "$folder/stable_go" "$path")
    if agree "$line" "$theirs"; then
        duplicate=$((duplicate + 1))
        continue
    fi
    different=$((different + 1))
    echo "$line"
    echo "    go: $theirs $(grep 'failed to parse' "$folder/err" || true)"
    [ -z "${TRACE_READER_KEEP:-}" ] || cp "$path" "$TRACE_READER_KEEP"
done <"$folder/ours"

echo "same $same (ok $oks, time-order $orders), other version $version," \
    "duplicate numbers $duplicate, different $different"
[ "$different" = 0 ]
