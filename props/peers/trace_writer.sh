#!/bin/sh
# Show the traces of random worlds to Go 1.19, the last that knows the format:
# it must say of each file what our reader says, with the same number of events,
# and nothing but ok or time-order, and ok of those in the order of the clock.
#
# usage: props/peers/trace_writer.sh PROFSIM TRACE_WRITE [WORLDS [TOOL_FILES]]
#
# All files go through Go's parser, built here from the installed sources, that
# is spared looking up names. TOOL_FILES of them go through `go tool trace` as
# well, with -d and with -pprof=sched.
# build: args='out/gcc/profsim out/gcc/props/peers/trace_write' when=check-peers
set -eu

profsim=$1
write=$2
worlds=${3:-10000}
tool_files=${4:-40}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/files" "$folder/parser" "$folder/parser/trace"
"$write" "$folder/files" 1 "$worlds"

source=$(go env GOROOT)/src/internal/trace
cp "$source/parser.go" "$source/order.go" "$folder/parser/trace"
chmod -R u+w "$folder/parser"
cat >"$folder/parser/trace/nameless.go" <<'END'
package trace

import "io"

// Nameless parses, and leaves functions without names.
func Nameless(r io.Reader) (ParseResult, error) {
	_, result, err := parse(r, "")
	return result, err
}
END
cat >"$folder/parser/main.go" <<'END'
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"parser/trace"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		data, err := os.ReadFile(lines.Text())
		var result trace.ParseResult
		if err == nil {
			result, err = trace.Nameless(bytes.NewReader(data))
		}
		switch {
		case err == nil:
			fmt.Printf("%s: ok %d events\n", lines.Text(), len(result.Events))
		case err == trace.ErrTimeOrder:
			fmt.Printf("%s: time-order\n", lines.Text())
		default:
			fmt.Printf("%s: error: %v\n", lines.Text(), err)
		}
	}
}
END
printf 'module parser\ngo 1.19\n' >"$folder/parser/go.mod"
(cd "$folder/parser" && GOFLAGS=-mod=mod GOPROXY=off go build -o ../parse .)

find "$folder/files" -name '*.trace' | LC_ALL=C sort >"$folder/list"
xargs "$profsim" trace check <"$folder/list" >"$folder/said" || true
sed 's/: time-order: .*/: time-order/' "$folder/said" >"$folder/ours"
"$folder/parse" <"$folder/list" >"$folder/theirs"
if ! cmp -s "$folder/ours" "$folder/theirs"; then
    diff "$folder/ours" "$folder/theirs" | head -n 20
    exit 1
fi
if grep -v -e ': ok ' -e ': time-order$' "$folder/ours" | head -n 5 | grep .; then
    echo "a trace of ours is called wrong by both"
    exit 1
fi

# If events are ordered by the clock, their times cannot contradict the order.
if grep -v ': ok ' "$folder/ours" | grep -e '-clock.trace: ' |
    head -n 5 | grep .; then
    echo "a trace in the order of the clock is not ok"
    exit 1
fi

# The tool itself reads some of the files, spread over all of them.
step=$(($(grep -c ': ok ' "$folder/ours") / tool_files))
shown=0
for path in $(grep ': ok ' "$folder/ours" | cut -d: -f1 |
    awk -v step="$((step > 0 ? step : 1))" 'NR % step == 0'); do
    [ "$shown" -lt "$tool_files" ] || break
    events=$(timeout 20 go tool trace -d /bin/true "$path" 2>>"$folder/log" |
        wc -l)
    if ! grep -qx "$path: ok $events events" "$folder/ours"; then
        echo "$path: the tool prints $events events"
        exit 1
    fi
    timeout 20 go tool trace -pprof=sched /bin/true "$path" >"$folder/pprof" \
        2>>"$folder/log"
    [ -s "$folder/pprof" ]
    shown=$((shown + 1))
done
echo "$(wc -l <"$folder/list") traces of $worlds worlds," \
    "$(grep -c ': ok ' "$folder/ours") ok," \
    "$(grep -c ': time-order' "$folder/ours") time-order in both;" \
    "$(grep -c -e '-clock.trace: ' "$folder/ours") in the order of the clock;" \
    "$shown of them through the tool"
