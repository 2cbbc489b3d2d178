#!/bin/sh
# Give the same records to the writers of Go 1.19 and to ours, and compare the
# files: equal to the byte, or different as a row of docs/profiles.md says, "What
# differs from Go's writers", and in nothing else. Each row must be met.
#
# Go's writers are Go's own source. An overlay of package runtime/pprof only
# changes whom it asks: for records, clocks and mappings (go_writers/feed.go.in).
#
# usage: props/peers/go_writers.sh GO_WRITERS [TABLE]
# build: args=out/gcc/props/peers/go_writers when=check-peers
set -eu

ours=$1
table=${2:-docs/profiles.md}
here=$(dirname "$0")/go_writers
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder" GOCACHE="$folder/cache" GO111MODULE=off GOFLAGS= \
    GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 LC_ALL=C TZ=UTC

version=$(go env GOVERSION)
case $version in
go1.19 | go1.19.*) ;;
*)
    echo "go_writers: $version is here, but only 1.19 is known inside" >&2
    exit 1
    ;;
esac
pprof=$(cd "$(go env GOROOT)/src/runtime/pprof" && pwd)

# FILE FROM TO: redirect a call of Go's writers. FROM must be there: a writer
# that still asked the runtime would compare nothing.
change() { # FILE FROM TO
    grep -qF "$2" "$folder/$1" || {
        echo "go_writers: $1 does not call $2" >&2
        exit 1
    }
    sed "s/$(printf '%s' "$2" | sed 's/[.*]/\\&/g')/$3/g" \
        "$folder/$1" >"$folder/changed"
    mv "$folder/changed" "$folder/$1"
}

cp "$pprof/pprof.go" "$pprof/proto.go" "$folder"
cp "$here/feed.go.in" "$folder/feed.go"
change pprof.go 'runtime.MemProfile(' 'fedMemProfile('
change pprof.go 'runtime.MemProfileRate' 'fed.Rate'
change pprof.go 'runtime.ReadMemStats(' 'fedMemStats('
change pprof.go 'runtime.BlockProfile,' 'fedWaits,'
change pprof.go 'runtime.MutexProfile,' 'fedWaits,'
change pprof.go 'runtime.SetMutexProfileFraction(-1)' 'fed.Fraction'
change pprof.go 'float64(runtime_cyclesPerSecond())' 'float64(fed.PerSecond)'
change pprof.go '", runtime_cyclesPerSecond())' '", fed.PerSecond)'
change proto.go 'time.Now()' 'fedNow()'
change proto.go '	b.readMapping()' '	b.fedMapping()'
cat >"$folder/overlay.json" <<END
{"Replace": {"$pprof/pprof.go": "$folder/pprof.go",
    "$pprof/proto.go": "$folder/proto.go",
    "$pprof/feed.go": "$folder/feed.go"}}
END
(
    cd "$here"
    timeout 300 go build -overlay "$folder/overlay.json" \
        -o "$folder/go_writers" main.go cases.go compare.go
)
mkdir "$folder/files"
timeout 100 "$folder/go_writers" make "$folder/files"
timeout 100 "$ours" "$folder/files"
timeout 100 "$folder/go_writers" compare "$folder/files" "$table"
