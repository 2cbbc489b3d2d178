#!/bin/bash
# Give profiles of every kind, and those of a recorded program, to the readers
# people use, and compare what they find with what must be found.
#
#   go tool pprof -raw    every kind, profile.proto, compressed and text: the
#                         sum of each column
#   go tool pprof -top    each sample type: the total it shows
#   Go's text/tabwriter   lays out our texts again: not a byte may move
#   google-pprof --text   contentions; the recorded heap, with function names
#   protoc --decode       every kind: the sum of each column
#
# usage: props/peers/pprof.sh PROFSIM PPROF_KINDS
# Totals are exact, but for the text of a sampled heap: there the reader scales.
# build: args='out/gcc/profsim out/gcc/props/peers/pprof_kinds' when=check-peers
set -eu -o pipefail

profsim=$1
kinds=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home" TZ=UTC LC_ALL=C GO111MODULE=off GOFLAGS= GOPROXY=off
export PPROF_TMPDIR="$folder/home" GOCACHE="$folder/home/cache"
mkdir "$folder/home" "$folder/kinds"
checks=0

fail() {
    echo "pprof.sh: $*" >&2
    exit 1
}

same() { # what, got, wanted
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# Print the sums of the columns of `pprof -raw`.
raw_sums() {
    timeout 60 go tool pprof -raw "$1" 2>"$folder/errors" >"$folder/raw" ||
        fail "$1: $(cat "$folder/errors")"
    awk '/^Locations/ { exit } /^ *-?[0-9]+( +-?[0-9]+)*:/ {
            sub(/:.*/, ""); n = NF
            for (i = 1; i <= NF; i++) sum[i] += $i }
        END { for (i = 1; i <= n; i++) printf "%s%.0f", (i > 1 ? " " : ""), sum[i] }' \
        "$folder/raw"
}

# Print the same from `protoc --decode`, whose values may be packed or not.
protoc_sums() {
    timeout 60 protoc --decode=profile -I fixtures/pprof profile.proto \
        <"$1" >"$folder/decoded" || fail "$1: protoc does not read it"
    awk '/^sample_type/ { types++ } /^sample {/ { n = 0; inside = 1 }
        /^}/ { inside = 0 } inside && $1 == "value:" { sum[++n] += $2 }
        END { for (i = 1; i <= types; i++)
                printf "%s%.0f", (i > 1 ? " " : ""), sum[i] }' "$folder/decoded"
}

"$kinds" "$folder/kinds" >"$folder/totals"

for kind in heap allocs block mutex goroutine threadcreate custom cpu; do
    want=$(awk -v kind=$kind '$1 == kind { printf "%s%s", (n++ ? " " : ""), $4 }' \
        "$folder/totals")
    same "$kind.pb" "$(raw_sums "$folder/kinds/$kind.pb")" "$want"
    same "$kind.pb.gz" "$(raw_sums "$folder/kinds/$kind.pb.gz")" "$want"
    same "$kind.pb by protoc" "$(protoc_sums "$folder/kinds/$kind.pb")" "$want"
    gzip -dc "$folder/kinds/$kind.pb.gz" | cmp - "$folder/kinds/$kind.pb" ||
        fail "$kind.pb.gz is not $kind.pb"
    [ $kind = cpu ] ||
        same "$kind.txt" "$(raw_sums "$folder/kinds/$kind.txt")" "$want"
done

# -top must show the total of each sample type.
while read -r kind index type total; do
    unit=count
    case $type in *_space) unit=B ;; delay | cpu) unit=ns ;; esac
    got=$(timeout 60 go tool pprof -top -nodecount=1 -sample_index="$index" \
        -unit=$unit "$folder/kinds/$kind.pb.gz" 2>/dev/null |
        sed -n 's/.* of \([0-9]*\)[a-zA-Z]* total.*/\1/p')
    same "-top of $kind $type" "$got" "$total"
done <"$folder/totals"

# The default sample type of allocs must be right.
got=$(timeout 60 go tool pprof -top "$folder/kinds/allocs.pb.gz" 2>/dev/null |
    sed -n 's/^Type: //p')
same "default type of allocs" "$got" alloc_space

# Go's own tabwriter lays out the columns, from single tabs.
timeout 120 go run props/peers/pprof_tabs.go "$folder"/kinds/*.txt ||
    fail "text/tabwriter lays out otherwise"
checks=$((checks + 7))

# google-pprof must show the contentions and their time.
got=$(timeout 60 google-pprof --text --contentions /bin/true \
    "$folder/kinds/block.txt" 2>/dev/null | sed -n 's/^Total: \([0-9]*\) .*/\1/p')
same "google-pprof contentions" "$got" \
    "$(awk '$1 == "block" && $2 == 0 { print $4 }' "$folder/totals")"

shown() { # how a line of the summary begins: its bytes and objects
    sed -n "s/^$1 *\([0-9]*\) bytes.* in \([0-9]*\) objects*.*/\1 \2/p" \
        "$folder/summary"
}

# A recorded program must have the same numbers as our own summary, and function
# names.
for recording in fixtures/recordings/*.rec; do
    out=$folder/$(basename "$recording" .rec)
    "$profsim" show "$recording" --out "$out" >"$folder/summary"
    for moment in peak exit; do
        set -- $(shown "$([ $moment = peak ] || echo 'at ')$moment")
        for file in $moment.pb.gz $moment.txt; do
            same "$recording $file" \
                "$(raw_sums "$out/$file" | cut -d' ' -f3,4)" "$2 $1"
        done
    done
    set -- $(shown peak)
    bytes=$1
    objects=$2
    name=$(awk '/by site/ { s = 1 } s && $4 == "%" { print $5; exit }' \
        "$folder/summary")
    name=${name%%<*} # pprof leaves out template arguments
    for file in heap.pb.gz heap.txt; do
        got=$(raw_sums "$out/$file" | cut -d' ' -f3,4)
        same "$recording $file" "$got" "$objects $bytes"
    done
    for file in allocs.pb.gz block.pb.gz mutex.pb.gz; do
        raw_sums "$out/$file" >/dev/null
        checks=$((checks + 1))
    done
    timeout 60 go tool pprof -top -nodecount=5000 "$out/heap.pb.gz" \
        2>/dev/null >"$folder/top"
    grep -qF "$name" "$folder/top" || fail "$recording: -top lacks $name"
    timeout 60 google-pprof --text --inuse_objects --nodecount=5000 \
        --nodefraction=0 "$out/heap.symbolized" 2>/dev/null >"$folder/top"
    same "$recording by google-pprof" \
        "$(sed -n 's/^Total: \([0-9]*\) objects/\1/p' "$folder/top")" "$objects"
    grep -qF "$name" "$folder/top" ||
        fail "$recording: google-pprof lacks $name"
    # The same for the plain text, which has objects of size 0.
    for file in heap peak exit allocs; do
        timeout 60 google-pprof --text --inuse_objects /bin/true \
            "$out/$file.txt" >"$folder/top" 2>"$folder/errors" ||
            fail "$recording: google-pprof on $file.txt: \
$(cat "$folder/errors")"
        same "$recording $file.txt by google-pprof" \
            "$(sed -n 's/^Total: \([0-9]*\) objects/\1/p' "$folder/top")" \
            "$(raw_sums "$out/$file.txt" | cut -d' ' -f3)"
    done
    checks=$((checks + 2))
done
echo "pprof.sh: $checks checks, foreign readers agree"
