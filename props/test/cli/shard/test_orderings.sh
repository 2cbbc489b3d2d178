#!/bin/sh
# test_orderings.sh -- a search of every ordering, in shards, finds each graph that
# one process finds, and once only, also if shards were stopped or killed.
# usage: props/test/cli/shard/test_orderings.sh PROFSIM N,N... KERNEL...
set -u
profsim=$(realpath "$1")
counts=$(echo "$2" | tr , ' ')
shift 2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
shown="log err"
. props/test/lib/count.sh
cd "$dir" || exit 1
: >log

# Print a number below $1, the same in each run of the test: after how many
# runs, or when, a shard is stopped.
state=20
random() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    number=$((state / 65536 % $1))
}

explore() { timeout 300 "$profsim" explore "$@"; }
merge() { timeout 60 "$profsim" merge "$@"; }
value() { sed -n "s/^$1 //p" "$2"; }

# lost KERNEL I/N: make a shard that writes a checkpoint after some of its runs,
# continues, and is killed, at any moment
lost() {
    random $((runs / ${2#*/} + 2))
    explore "$1" --shard "$2" --runs $((number + 1)) --result r/ >>log 2>&1
    [ $? -ne 6 ] || stopped=$((stopped + 1))
    random 9
    timeout -s KILL "0.0$((number + 1))" "$profsim" explore "$1" --shard "$2" \
        --result r/ >>log 2>&1
}

# Run again the shards that `merge` names: they knew less than the others.
again() {
    for _ in 1 2 3; do
        merge r >merged 2>>log
        [ $? -eq 6 ] || break
        sed -n 's/^run them: //p' merged >command
        . ./command >>log 2>&1
    done
}
profsim() { timeout 300 "$profsim" "$@"; }

stopped=0
for kernel in "$@"; do
    explore "$kernel" --result "whole.$kernel" >>log 2>&1
    explore "$kernel" --runs 5 --result "stopped.$kernel" >>log 2>&1
    [ $? -eq 6 ] && explore "$kernel" --result "stopped.$kernel" >>log 2>&1
    [ $? -eq 0 ] && [ "$(value hash "stopped.$kernel")" = \
        "$(value hash "whole.$kernel")" ]
    count "$kernel, stopped after five runs: the same graphs" $?
    runs=$(value runs "whole.$kernel")
    for n in $counts; do
        rm -rf r && mkdir r
        for i in $(seq "$n" -1 1); do
            [ $((i % 3)) -ne 1 ] || lost "$kernel" "$i/$n"
            explore "$kernel" --shard "$i/$n" --result r/ >>log 2>&1
        done
        again
        grep -q " $(value graphs "whole.$kernel") graphs, log hash $(value hash "whole.$kernel"), holds$" \
            merged && ! ls r | grep -qv 'result$'
        count "$kernel, $n shards, every third one killed: the same graphs" $?
        explore "$kernel" --shard "$n/$n" --json json >shard 2>&1
        [ "$n" -eq 1 ] || ! grep -q -e ' holds' -e ': "holds"' shard json
        count "$kernel, shard $n of $n does not say that the kernel holds" $?
    done
done
[ $stopped -gt 0 ]
count "some of them left a checkpoint" $?

rm -rf r && mkdir r
for i in 3 1 4 2; do
    explore counter-4 --shard $i/4 --result r/ >>log 2>&1
done
merge r >merged 2>>log
[ $? -eq 0 ] && grep -q ' 2520 graphs, .*, holds$' merged
count "counter-4 has 2,520 graphs" $?
rm r/shard-2-of-4.result
merge r >merged 2>>log
[ $? -eq 6 ] && sed -n 's/^run them: //p' merged >command && . ./command \
    >>log 2>&1 && merge r >merged 2>>log && grep -q ' 2520 graphs' merged
count "... and the shard that is missing is run by the command printed" $?
sed 's/^graphs .*/graphs 1/' r/shard-2-of-4.result >r/copy.result
merge r >merged 2>err
[ $? -eq 1 ] && grep -q 'r/copy.result:.*damaged' err
count "... and a result that was changed is refused" $?
rm r/copy.result
explore flags --shard 1/4 --result r/z.result >>log 2>&1
merge r >merged 2>err
[ $? -eq 1 ] && grep -q 'r/z.result: it has another search' err
count "... and so is one of another kernel" $?

# A result says what was asked: every combination of the options that change the
# search. It is replaced by one of the same search only.
for words in "" " --bound 2" " --unroll 2" " --spurious 1" \
    " --bound 2 --unroll 2" " --bound 0 --spurious 2" \
    " --unroll 3 --spurious 1" " --bound 3 --unroll 2 --spurious 1"; do
    rm -rf o && mkdir o
    # shellcheck disable=SC2086 # words
    explore seqlock-1w1r --shard 1/1 --result o/ $words >>log 2>&1
    [ $? -eq 0 ] && grep -qx "asked explore seqlock-1w1r$words" o/*.result &&
        merge o >merged 2>>log &&
        grep -q "^explore seqlock-1w1r$words: .*, holds" merged
    count "a result of its search:$words" $?
    for others in "--bound 1" "--unroll 4" "--bound 2 --unroll 4"; do
        # shellcheck disable=SC2086 # words
        explore seqlock-1w1r --shard 1/1 --result o/ $others >>log 2>err
        [ $? -eq 1 ] && grep -q 'it is the result of another search' err
        count "... not replaced by that of $others" $?
    done
done
finish orderings
