#!/bin/sh
# Random worlds with all instruments, every file that `profsim run --out` writes
# of them: Go 1.19's own reader of profiles, which is that of `go tool pprof`,
# must read each profile and each text, and its reader of traces must say of each
# trace what ours says. What must add up does: text and profile.proto of one kind
# hold the same totals.
#
# usage: props/peers/one_world.sh PROFSIM ONE_WORLD [WORLDS]
# build: args='out/gcc/profsim out/gcc/props/peers/one_world' when=check-peers
set -eu

profsim=$1
worlds_of=$2
worlds=${3:-2000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/worlds" "$folder/reader" "$folder/reader/trace"
"$worlds_of" "$folder/worlds" 1 "$worlds"
find "$folder/worlds" -name '*.sim' | LC_ALL=C sort |
    xargs "$profsim" run --out "$folder/out" >"$folder/said"
if grep -v ': ok$' "$folder/said" | head -n 5 | grep .; then
    echo "one_world: a world does not replay"
    exit 1
fi

root=$(go env GOROOT)/src
cp "$root/internal/trace/parser.go" "$root/internal/trace/order.go" \
    "$folder/reader/trace"
cp -R "$root/cmd/vendor/github.com/google/pprof/profile" "$folder/reader"
chmod -R u+w "$folder/reader"
rm -f "$folder"/reader/profile/*_test.go
cat >"$folder/reader/trace/nameless.go" <<'END'
package trace

import "io"

// Nameless parses, and leaves functions without names.
func Nameless(r io.Reader) (ParseResult, error) {
	_, result, err := parse(r, "")
	return result, err
}
END
cp props/peers/one_world.go "$folder/reader/main.go"
printf 'module reader\ngo 1.19\n' >"$folder/reader/go.mod"
(cd "$folder/reader" && GOFLAGS=-mod=mod GOPROXY=off go build -o ../read .)

find "$folder/out" -name '*.out' | LC_ALL=C sort >"$folder/traces"
xargs "$profsim" trace check <"$folder/traces" >"$folder/checked" || true
sed 's/: time-order: .*/: time-order/' "$folder/checked" >"$folder/ours"
"$folder/read" trace <"$folder/traces" >"$folder/theirs"
if ! cmp -s "$folder/ours" "$folder/theirs"; then
    diff "$folder/ours" "$folder/theirs" | head -n 20
    exit 1
fi
find "$folder/out" -name '*.pb.gz' | LC_ALL=C sort >"$folder/profiles"
"$folder/read" profile <"$folder/profiles" >"$folder/read.log" || {
    tail -n 20 "$folder/read.log"
    exit 1
}
echo "$worlds worlds: $(wc -l <"$folder/traces") traces," \
    "$(grep -c ': ok ' "$folder/ours") of them ok to both readers;" \
    "$(tail -n 1 "$folder/read.log")"
