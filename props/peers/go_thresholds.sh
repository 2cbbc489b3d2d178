#!/bin/sh
# Draw gaps between heap samples in a Go runtime, and compare each with the rule
# set of its era: go1.17 for Go 1.19, go1.23 for Go 1.22 and 1.23.
#
# usage: props/peers/go_thresholds.sh GO_THRESHOLDS [GO]
#
# GO is the go command, `go` unless given. Another version than the installed one
# need not be: Debian's backports have golang-1.23-go and golang-1.23-src, which
# `dpkg -x` unpacks anywhere; GO is usr/lib/go-1.23/bin/go there.
# build: args=out/gcc/props/peers/go_thresholds when=check-peers
set -eu

program=$1
go=${2:-go}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

case $("$go" env GOVERSION) in
go1.19 | go1.19.*) rules=go1.17 flags=-w ;;
go1.22 | go1.22.*) rules=go1.23 flags=-w ;;
go1.23 | go1.23.*) rules=go1.23 flags='-w -checklinkname=0' ;;
*)
    echo "go_thresholds: of $("$go" env GOVERSION) no rule set is known" >&2
    exit 1
    ;;
esac
(
    cd "$(dirname "$0")/go_thresholds"
    GOCACHE=$folder/cache GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local \
        CGO_ENABLED=0 timeout 300 "$go" build -ldflags="$flags" \
        -o "$folder/go_thresholds" .
)
for rate in 2 8 4096 524288 117440512 1000000000; do
    timeout 60 "$folder/go_thresholds" $rate 200000 >"$folder/gaps"
    "$program" $rules $rate <"$folder/gaps"
done

# Would a difference be noticed? One gap is made a byte longer.
awk 'NR == 100000 { $2++ } { print }' "$folder/gaps" >"$folder/spoilt"
if "$program" $rules 1000000000 <"$folder/spoilt" >"$folder/said"; then
    echo "go_thresholds: a gap that is a byte longer was not noticed"
    exit 1
fi
echo "go_thresholds: $rules is $("$go" env GOVERSION)'s"
