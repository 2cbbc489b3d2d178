#!/bin/sh
# Play schedules of profiler calls on our library and on the Go 1.19 runtime
# itself, and compare every answer: which buckets, in which order, with which
# counters; the cycle and its flag; what is published and what waits; rates; and
# whether a random number was taken.
#
# usage: props/peers/go_runtime.sh GO_SCHEDULES [COUNT [FIRST]]
#
# COUNT schedules of each kind (gaps, world, wild: go_schedules.c), by seeds from
# FIRST on, each played in both ways that go_runtime/main.go knows (given, own).
# Not one line may differ. All schedules of a file are played by one Go process,
# which empties the runtime's profiles between them.
# build: args=out/gcc/props/peers/go_schedules when=check-peers
set -eu

schedules=$1
count=${2:-100000}
first=${3:-1}
each=10000 # schedules in each file
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version=$(go env GOVERSION)
case $version in
go1.19 | go1.19.*) ;;
*)
    echo "go_runtime: $version is here, but only 1.19 is known inside" >&2
    exit 1
    ;;
esac

(
    cd "$(dirname "$0")/go_runtime"
    GOCACHE=$folder/cache GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local \
        CGO_ENABLED=0 timeout 300 go build -ldflags=-w -o "$folder/go_runtime" .
)

play() { # stacks, schedules, answers
    timeout 300 "$folder/go_runtime" -stacks "$1" <"$2" >"$3"
}

# kind, stacks: show the first schedule with a different answer, up to the
# difference
show() { # kind, stacks
    seed=$(awk '
        NR == FNR { ours[FNR] = $0; next }
        $1 == "run" { seed = $2 }
        ours[FNR] != $0 { exit }
        END { print seed }' "$folder/ours" "$folder/theirs")
    for file in schedule ours theirs; do
        awk -v seed="$seed" '$1 == "run" { on = $2 == seed } on' \
            "$folder/$file" >"$folder/$file.one"
    done
    echo "$1 schedule $seed, $2 stacks, differs:"
    awk '
        FILENAME ~ /ours.one$/ { ours[FNR] = $0; next }
        FILENAME ~ /theirs.one$/ {
            if (!found && /^[a-z]/ && $1 != "run")
                answers++
            found = found || ours[FNR] != $0
            next
        }
        $1 !~ /^(run|stack|alloc|free|next|flush|sweep)$/ { answers-- }
        { print "    " $0 }
        !answers { exit }' \
        "$folder/ours.one" "$folder/theirs.one" "$folder/schedule.one"
    echo "is answered (ours -, Go's +):"
    diff -u "$folder/ours.one" "$folder/theirs.one" | tail -n +4 | head -n 20
    echo "again: $0 $schedules 1 $seed"
}

for kind in gaps world wild; do
    at=$first
    end=$((first + count))
    while [ "$at" -lt "$end" ]; do
        some=$((end - at < each ? end - at : each))
        timeout 300 "$schedules" $kind "$at" "$some" "$folder/schedule" \
            "$folder/ours" >>"$folder/$kind"
        for stacks in given own; do
            play $stacks "$folder/schedule" "$folder/theirs"
            if ! cmp -s "$folder/ours" "$folder/theirs"; then
                show $kind $stacks
                exit 1
            fi
        done
        at=$((at + some))
    done
done

# Would a difference be noticed? One step of the cycle is removed for Go.
sed '0,/^next$/{/^next$/d}' "$folder/schedule" >"$folder/spoilt"
play given "$folder/spoilt" "$folder/theirs"
if [ "$count" -ge 100 ] && cmp -s "$folder/ours" "$folder/theirs"; then
    echo "go_runtime: a missing step of the cycle was not noticed"
    exit 1
fi

# Add up what the schedules met; if there are many, each situation must have
# been met.
for kind in gaps world wild; do
    tr ' ' '\n' <"$folder/$kind" | awk -F= -v kind=$kind -v count="$count" '
        !($1 in sum) { name[++names] = $1 }
        { sum[$1] += $2 }
        END {
            printf "%s:", kind
            for (i = 1; i <= names; i++) {
                printf " %s=%d", name[i], sum[name[i]]
                missing = missing || sum[name[i]] == 0
            }
            print ""
            exit count >= 1000 && missing
        }' || {
        echo "go_runtime: not everything above was met"
        exit 1
    }
done
echo "go_runtime: $((3 * count)) schedules, each in 2 ways: all the same"
