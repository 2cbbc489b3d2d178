#!/bin/sh
# test_shards.sh -- a campaign in shards has the result of the campaign in one
# process, bit for bit: `profsim merge` prints what `profsim check` prints, also if
# shards were killed and resumed.
# usage: props/test/cli/shard/test_shards.sh PROFSIM SEEDS N...
set -u
profsim=$(realpath "$1")
seeds=$2
shift 2
dir=$(mktemp -d) || exit 1
running=
trap '[ -z "$running" ] || kill -9 "$running" 2>/dev/null; rm -rf "$dir"' EXIT
shown="log err"
. props/test/lib/count.sh
cd "$dir" || exit 1

# Print a number below $1, the same in each run of the test: a shard, or a
# moment.
state=20
random() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    number=$((state / 65536 % $1))
}

check() { timeout 300 "$profsim" check "$@"; }
merge() { timeout 60 "$profsim" merge "$@"; }

# kill_one FOLDER I/N: run a shard until it has written a result, and a little
# longer; then kill it, at any moment
kill_one() {
    "$profsim" check --seeds "1..$seeds" --shard "$2" --every 0 \
        --result "$1/" --jobs 1 >>log 2>&1 &
    running=$!
    file=$1/shard-${2%/*}-of-${2#*/}.result
    for _ in $(seq 500); do
        ! grep -q '^runs' "$file" 2>/dev/null || break
        kill -0 $running 2>/dev/null || break
        sleep 0.01
    done
    random 10
    sleep "0.0$number"
    kill -9 $running 2>/dev/null
    wait $running 2>/dev/null
    running=
}

: >log
check --seeds "1..$seeds" >whole 2>>log
count "the campaign in one process holds" $?
for n in "$@"; do
    rm -rf r && mkdir r
    for i in $(seq "$n" -1 1); do
        [ $((i % 3)) -ne 0 ] || kill_one r "$i/$n"
        check --seeds "1..$seeds" --shard "$i/$n" --result r/ >>log 2>&1 ||
            break
    done
    merge r >merged 2>>log
    [ $? -eq 0 ] && cmp whole merged >>log
    count "$n shards, every third one killed: the same verdict and log hash" $?
done

# The last number in the list is at least two shards.
cp -R r copy
for file in r/*; do cp "$file" "r/again-${file#r/}"; done
merge r >merged 2>>log
cmp whole merged >>log
count "a result that is there twice counts once" $?

random "$n"
lost=$((number + 1))
rm r/*shard-$lost-of-*
merge r >merged 2>>log
status=$?
[ $status -eq 6 ] && grep -q "^missing, .*: $lost\$" merged
count "what is missing is told, and the exit code says so" $?
sed -n 's/^run them: //p' merged >command
profsim() { timeout 300 "$profsim" "$@"; }
. ./command >>log 2>&1
merge r >merged 2>>log
cmp whole merged >>log
count "the command that is printed runs just that" $?

# One file was written early and one is complete; they are merged in either
# order.
mkdir early
"$profsim" check --seeds "1..$seeds" --shard "1/$n" --every 0 \
    --result early/part --jobs 1 >>log 2>&1 &
running=$!
for _ in $(seq 500); do
    ! grep -q '^runs' early/part 2>/dev/null || break
    sleep 0.01
done
cp early/part r/0.result && cp early/part r/z.result
wait $running
running=
merge r >merged 2>>log
cmp whole merged >>log
count "a state from before counts once with the whole" $?
rm r/0.result r/z.result

check --seeds 1..3 --shard "1/$n" --result r/other.result >>log 2>&1
merge r >merged 2>err
[ $? -eq 1 ] && grep -q 'r/other.result: it is of the campaign' err
count "a result of other seeds is refused by its name" $?
rm r/other.result
echo "profsim result 1" >r/cut.result
merge r >merged 2>err
[ $? -eq 1 ] && grep -q 'r/cut.result:2: the file ends too soon' err
count "a result that is cut is refused by its name and line" $?
rm r/cut.result
check --seeds "1..$seeds" --shard "2/$n" --result "r/shard-1-of-$n.result" \
    >>log 2>err
[ $? -eq 1 ] && grep -q 'it belongs to shard 1' err
count "no shard goes on from the result of another" $?
mkdir empty
merge empty >>log 2>err
[ $? -eq 1 ] && grep -q 'ends in .result' err
count "a folder without results is reported" $?

# A signal that asks the command to end takes effect between two slices.
"$profsim" check --seeds 1..100000000 --shard 1/2 --result stop.result >out 2>>log &
running=$!
for _ in $(seq 500); do
    [ ! -e stop.result ] || break
    sleep 0.01
done
kill -TERM $running
wait $running
status=$?
running=
[ $status -eq 6 ] && grep -q 'stopped by signal 15' out
count "a shard that is asked to end leaves its result" $?

# If the campaign fails, the merged result fails in the same way.
check --rules go1.6-late --seeds 1..300 --save whole.d >whole.out 2>>log
want=$?
mkdir f
for i in 3 1 2; do
    check --rules go1.6-late --seeds 1..300 --shard $i/3 --save f.d --result f/ \
        >>log 2>&1
done
merge f --save merged.d >merged 2>>log
[ $? -eq $want ] && [ "$want" -eq 2 ] && cmp merged.d/*.sim whole.d/*.sim >>log
count "a failure is the one that one process finds, with its scenario" $?
timeout 60 "$profsim" replay merged.d/*.sim >>log 2>&1
[ $? -eq 2 ]
count "... and it replays" $?

# A failure in a result is not believed: it is run again.
forge() { # FILE SED-WORDS...: with a sum that fits
    file=$1
    shift
    sed -i -e '$d' "$@" "$file"
    python3 -c '
import ctypes, sys
text = open(sys.argv[1], "rb").read()
sum64 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
sum64.restype = ctypes.c_uint64
sum64.argtypes = ctypes.c_char_p, ctypes.c_size_t
open(sys.argv[1], "ab").write(b"end %016x\n" % sum64(text, len(text)))' "$file"
}
# disbelieved NAME COMPLAINT: merging must fail with this message
disbelieved() {
    merge forged >merged 2>err
    [ $? -eq 1 ] && grep -q -- "$2" err && ! grep -q 'holds$' merged
    count "$1" $?
}
mkdir forged
check --seeds 1..9 --shard 1/1 --result forged/h.result >>log 2>&1
sed -i '$d' forged/h.result && cp forged/h.result whole.result
echo end >>forged/h.result
forge forged/h.result -e '/^part traces/,$!s/^seeds .*/seeds 1..8 step 1/' \
    -e '/^part traces/,$!s/^runs .*/runs 8/' \
    -e 's/^part traces/failure H2 seed 9 exit 2 scenario 0\n&/'
disbelieved "a forged failure without a scenario" 'seed 9 of heaps does not fail'
cp whole.result forged/h.result && echo end >>forged/h.result
forge forged/h.result -e 's/^holds S2 .*/&/' \
    -e '0,/^part heaps/s/^part heaps/failure S1 seed 0 exit 2 scenario 0\n&/'
disbelieved "a forged failure of what is enumerated" 'S1 does not fail as'
rm forged/*
cp f/*.result forged
sed -n '/^failure/{s/ .* scenario.*//p;}' forged/* | grep -q failure
for file in forged/*; do
    forge "$file" -e 's/^failure [A-Z0-9]* /failure H5 /'
done
disbelieved "a failure under another name" 'does not fail as it says'
timeout 60 "$profsim" explore counter-4 --shard 1/1 --result forged.explored >>log 2>&1
rm forged/* && cp forged.explored forged/e.result
forge forged/e.result -e 's/^exit 0/exit 2\nchoices g0,0/'
disbelieved "a forged failure of an ordering" 'its choices do not fail as it says'
cp forged.explored forged/e.result
forge forged/e.result -e 's/^exit 0/exit 2/'
disbelieved "... and one without choices" 'a failure without choices'
cp forged.explored forged/e.result
forge forged/e.result -e 's/^exit 0/exit 2\nchoices g0,0/' -e 's/counter-4/mine/'
merge forged >merged 2>>log
[ $? -eq 2 ] && grep -q 'it was not run again' merged
count "... and that of a program which is not here is not run again" $?

# Two files of one shard contradict each other, in whichever order they are
# read.
differs() { # NAME SED-WORDS...: what one of them has in its part of heaps
    what=$1
    shift
    for pair in "a b" "b a"; do
        rm -f forged/*
        for file in $pair; do
            cp whole.result "forged/$file.result"
            echo end >>"forged/$file.result"
        done
        forge "forged/${pair% *}.result" "$@"
        forge "forged/${pair#* }.result" -e ''
        merge forged >merged 2>err
        [ $? -ne 0 ] && grep -q 'the same seeds did different things' merged
        count "two results of a shard differ: $what, ${pair% *} of a and b" $?
    done
}
differs "by what they did" -e '0,/^hash/s/^hash .*/hash 0000000000000005/'
differs "by their events" -e '0,/^events/s/^events .*/events 5/'
differs "the smaller failed" -e '/^part traces/,$!s/^seeds .*/seeds 1..4 step 1/' \
    -e '/^part traces/,$!s/^runs .*/runs 4/' \
    -e 's/^part traces/failure H2 seed 5 exit 2 scenario 0\n&/'

# A shard that continues from a result with a failure reports it, whichever part
# failed.
for part in heaps traces; do
    cp whole.result forged.result && echo end >>forged.result
    forge forged.result -e "/^part $part/,/^runs/s/^seeds .*/seeds 1..8 step 1/" \
        -e "/^part $part/,/^runs/s/^runs .*/runs 8/"
    sed -i '$d' forged.result
    if [ $part = heaps ]; then
        sed -i 's/^part traces/failure H2 seed 9 exit 2 scenario 0\n&/' forged.result
    else
        echo "failure T1 seed 9 exit 3 scenario 0" >>forged.result
    fi
    echo end >>forged.result && forge forged.result -e ''
    check --seeds 1..9 --shard 1/1 --result forged.result >out 2>>log
    status=$?
    want=2
    [ $part = heaps ] || want=3
    [ $status -eq $want ] && grep -q "^seed 9 of $part fails" out &&
        ! grep -q 'is done\|holds$' out
    count "a shard that goes on tells the failure of $part" $?
done

# The sums of a shard that fails are those of the seeds before the failure.
sums() { grep '^runs\|^events\|^hash\|^goal\|^seeds' "$@"; }
check H2 --rules go1.6-late --seeds 1..66 --save none.d --result before.result \
    >>log 2>&1
count "the seeds before the failure hold" $?
for jobs in 1 3; do
    rm -f failed.result
    check H2 --rules go1.6-late --seeds 1..300 --save failed.d --jobs $jobs \
        --result failed.result >>log 2>&1
    [ $? -eq 2 ] && sums failed.result >failed.sums &&
        sums before.result | cmp - failed.sums >>log
    count "a failing shard has their sums, with $jobs processes" $?
done

# A shard that goes on adds to what is there, and to the time it took. 2^32 s and
# more are not too long.
check --seeds 1..60 --result once.result >>log 2>&1
for step in 1 2 3; do
    last=$((step * 20))
    [ $step -gt 1 ] || check --seeds 1..20 --result more.result >>log 2>&1
    forge more.result -e "s/^asked .*/$(grep ^asked once.result |
        sed "s/\.\.60/..$last/")/" -e 's/^spent .*/spent 4294967296000 ms/'
    begun=$(date +%s%3N)
    check --seeds "1..$last" --every 0 --result more.result >>log 2>&1
    took=$(($(date +%s%3N) - begun))
    spent=$(sed -n 's/^spent \([0-9]*\) ms/\1/p' more.result)
    [ "$spent" -ge 4294967296000 ] && [ "$spent" -le $((4294967296000 + took + 1)) ]
    count "its time is the sum of both, to seed $last" $?
done
grep -v '^spent\|^end' once.result >once.lines
grep -v '^spent\|^end' more.result | cmp - once.lines >>log
count "a shard that goes on has the same result as one that did not stop" $?
check --seeds 1..60 --time 7 --result timed.result >>log 2>&1
sed -i '/^part/,$d' timed.result
echo end >>timed.result && forge timed.result -e 's/^spent .*/spent 7000 ms/'
check --seeds 1..60 --time 7 --result timed.result >out 2>>log
[ $? -eq 0 ] && grep -q 'rules exact: 0 runs' out
count "a shard whose time is over runs nothing" $?

if [ $# -gt 1 ]; then # they take their time
    check --time 1 >one 2>>log
    check --time 1 >two 2>>log
    grep -q '^seeds from [0-9]* on$' one && ! cmp -s one two
    count "without --seeds, no two campaigns are the same" $?
first=$(sed -n 's/^seeds from \([0-9]*\) on/\1/p' one)
check --seeds "$first.." --time 1 >>log 2>&1
count "... and one can be begun again by its seed" $?
check --time 1 --shard 2/5 --result t/ >out 2>>log && merge t >merged 2>>log
[ $? -eq 6 ] && grep -q ': 1,3-5$' merged
count "of a campaign by time the other shards are missing" $?
fi

# Of two saved failures the first is reported, whatever the second does.
mkdir two.d
cp whole.d/*.sim two.d/a.sim
for other in b 0; do
    sed '/^gc-/d; s/^expect .*/expect ok/' whole.d/*.sim >two.d/$other.sim
    check --rules go1.6-late --seeds 1..2 --save two.d >out 2>err
    [ $? -eq 2 ] && grep -q 'two.d/a.sim: .* is still broken' out &&
        ! grep -q ' fails$' out
    count "a saved failure beside one that passes: $other.sim" $?
    rm two.d/$other.sim
done

for words in "--result r x.sim" "--seeds 1.." \
    "--shard 1/2 --json x" "--result" "--shard 1/2 --expect" \
    "--shard 3/2" "--pairs --shard 1/2"; do
    check $words >>log 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]
    count "refused: $words" $?
done

finish shards
