#!/bin/sh
# test_rows.sh -- lists in shards: the rows of all shards are those of one command,
# also if shards were killed and went on; and what a result may not say.
# usage: props/test/cli/shard/test_rows.sh PROFSIM KERNEL N...
#   (KERNEL: its weaker memory orders are the list; all: those of every kernel)
set -u
profsim=$(realpath "$1")
kernel=$2
shift 2
[ "$kernel" != all ] || kernel=
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
shown="log err"
. props/test/lib/count.sh
cd "$dir" || exit 1
: >log
rules=exact,go1.5,go1.10,jemalloc,tcmalloc,seastar,otel

# Print a number below $1, the same in each run of the test: when a shard is
# killed.
state=20
random() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    number=$((state / 65536 % $1))
}
merge() { timeout 60 "$profsim" merge "$@"; }

# shards N COMMAND...: run the shards into r/, from the last to the first, and
# kill every third one
shards() {
    n=$1
    shift
    rm -rf r
    for i in $(seq "$n" -1 1); do
        random 50
        [ $((i % 3)) -ne 0 ] ||
            timeout -s KILL "0.0$((number + 10))" "$profsim" "$@" \
                --shard "$i/$n" --result r/ >>log 2>&1
        timeout 600 "$profsim" "$@" --shard "$i/$n" --result r/ >>log 2>&1
    done
}

# same STATUS NAME COMMAND...: for each N, the merged output without its last
# line must be what the command prints without shards
same() {
    want=$1
    name=$2
    shift 2
    timeout 1200 "$profsim" "$@" --result whole/ >whole.out 2>>log
    [ $? -eq "$want" ]
    count "$name: the whole" $?
    for shards_count in $counts; do
        shards "$shards_count" "$@"
        merge r >merged 2>>log
        [ $? -eq "$want" ] && cmp whole.out merged >>log
        count "$name: $shards_count shards, every third one killed" $?
    done
    rm -rf whole
}

counts="$*"
same 2 audit audit --judge --rules "$rules"
sed -n '$!p' whole.out >rows
"$profsim" audit --judge --rules "$rules" >plain 2>>log
cmp plain rows >>log
count "... and that is what the command prints without shards" $?
same 0 "memory orders" mutants --memory-order $kernel
"$profsim" mutants --memory-order heap-totals 2>>log | sed '$d' >plain
"$profsim" mutants --memory-order heap-totals --result m/ 2>>log | sed '$d' >rows
[ -s rows ] && cmp plain rows >>log
count "... and so are those of a kernel" $?

# ---- A list of commands ----

# list I/N COMMAND...: run the command on the shard's part of the items a to g
list() {
    shard=$1
    shift
    printf '%s\n' a b c d e f g |
        timeout 60 "$profsim" shard --asked "make mutants" --shard "$shard" \
            --result l/ "$@"
}
list 2/2 sh -c 'echo "item $1"; [ "$1" != d ]' x >out 2>>log
[ $? -eq 2 ] && [ "$(sed '$d' out | tr '\n' ' ')" = "item b item d item f " ]
count "a shard runs its items, and fails if one does" $?
merge l >merged 2>>log
[ $? -eq 2 ] && grep -q "do make mutants SHARD=\$i/2 RESULT=l/; done" merged
count "... and the command that runs the others is printed" $?
list 1/2 sh -c 'echo "$1" >>ran; [ "$1" != e ] || kill -TERM $PPID; sleep 0.1' x \
    >>log 2>&1
[ $? -eq 6 ] && [ "$(tr '\n' ' ' <ran)" = "a c e " ]
count "a shard that is asked to end does, with code 6" $?
merge l >merged 2>>log
[ $? -eq 2 ] && grep -q "5 of 7 rows" merged
count "... and keeps the rows that are done" $?
list 1/2 sh -c 'echo "$1" >>ran' x >>log 2>&1
[ $? -eq 0 ] && [ "$(tr '\n' ' ' <ran)" = "a c e e g " ]
count "... and the same command goes on behind them" $?
list 1/2 true >>log 2>&1
[ $? -eq 0 ] && [ "$(wc -l <ran)" -eq 5 ]
count "... and once done it does nothing" $?
rm -r l
list 1/2 sh -c 'kill -HUP $PPID; sleep 0.1' x >>log 2>&1
[ $? -eq 6 ]
count "... and so is one whose terminal is closed" $?
rm -r l
for items in 65536 65537; do
    seq $items | timeout 60 "$profsim" shard --asked "make mutants" \
        --shard 65536/65536 --result l/ echo >out 2>err
    [ $? -eq $((items > 65536)) ] && {
        [ $items -eq 65536 ] && grep -qx 65536 out ||
            grep -q 'a list has at most 65536 items' err
    }
    count "a list of $items items" $?
done
rm -rf l
list 1/1 sh -c 'kill -KILL $$' x >>log 2>&1
[ $? -eq 3 ]
count "a command that a signal ends has crashed" $?
rm -r l
list 1/1 ./nothing >>log 2>err
[ $? -eq 1 ] && grep -q 'nothing: No such file' err
count "a command that is not there is no verdict" $?
rm -r l
list 1/1 sh -c 'seq 5000' x >>log 2>&1
merge l >merged 2>>log
[ $? -eq 0 ] && grep -qx 5000 merged && [ "$(wc -c <merged)" -lt 16000 ]
count "of a long output the end is kept" $?

# If two files differ in a row, the worse row counts, in whichever order they
# are read.
rm -r l
printf 'a\n' >one
for pair in "a b" "b a"; do
    rm -rf l && mkdir l
    "$profsim" shard --asked "make mutants" --shard 1/1 --result l/${pair% *}.result \
        sh -c 'echo good' x <one >>log 2>&1
    "$profsim" shard --asked "make mutants" --shard 1/1 --result l/${pair#* }.result \
        sh -c 'echo bad; exit 2' x <one >>log 2>&1
    merge l >merged 2>>log
    [ $? -eq 5 ] && grep -qx bad merged && ! grep -qx good merged &&
        grep -q '^l/b.result: item 0 is not what another file says' merged
    count "two files differ in a row: ${pair% *} holds" $?
done

# ---- What a result may not say ----

# refused NAME COMPLAINT: merging all files of r/ must fail with this message
refused() {
    merge r >>log 2>err
    [ $? -eq 1 ] && grep -q -- "$2" err && [ "$(wc -l <err)" -eq 1 ]
    count "$1" $?
}
shards 2 audit --judge --rules "$rules"
cp -r r good
sed -i 's/^items .*/items 8/' r/shard-1-of-2.result
refused "a row that was changed" 'shard-1-of-2.result:.*damaged'
cp good/* r/
"$profsim" audit --judge --rules go1.5 --shard 1/2 --result r/x.result >>log 2>&1
refused "a result of another list" 'x.result: it has another command'
rm r/x.result
timeout 60 "$profsim" check --seeds 1..3 --shard 1/2 --result r/x.result >>log 2>&1
refused "a result of seeds among rows" 'x.result.*not the format that is wanted'
rm r/x.result
mkfifo r/x.result
refused "a pipe" 'x.result: not a regular file'
rm r/x.result
ln -s shard-1-of-2.result r/x.result
refused "a link" 'x.result: a link'
rm r/x.result

for words in "audit --shard 1/2" "audit --judge --json --shard 1/2" \
    "mutants --shard 1/2" "mutants --memory-order --csv --result r" \
    "shard --asked x --result r true" "shard --result r true" \
    "shard --asked x true" "shard"; do
    "$profsim" $words </dev/null >>log 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]
    count "refused: $words" $?
done
for asked in "make" "make clean" "make mutants -f x" "make fuzz TIME=1 SHELL=x" \
    "make mutants/x" "audit --judge --json=x" "rm" "mutants --memory-order -x"; do
    echo a | "$profsim" shard --asked "$asked" --result q/ true >>log 2>err
    [ $? -eq 1 ] && grep -q 'takes a command that merge can repeat' err
    count "not asked: $asked" $?
done
finish rows
