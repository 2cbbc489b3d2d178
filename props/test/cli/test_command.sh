#!/bin/sh
# test_command.sh -- the command from outside: output, errors, exit codes.
#
# A mistake of the user is reported in one line on stderr, nothing on stdout,
# and exit 1; a rule set known to be wrong is reported by a short scenario that
# replays. usage: props/test/cli/test_command.sh PROFSIM
set -u
profsim=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. props/test/lib/count.sh
shown="out err"
recording=fixtures/recordings/python-index.rec

# exits NAME CODE PATTERN WORD...: the command must exit with CODE and print a
# line that matches
exits() {
    name=$1 code=$2 pattern=$3
    shift 3
    timeout 60 "$profsim" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq "$code" ] && grep -q "$pattern" "$dir/out"
    count "$name" $?
}

# refuses NAME TEXT WORD...: the command must exit with 1 and print one line
# with TEXT
refuses() {
    name=$1 text=$2
    shift 2
    timeout 60 "$profsim" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq 1 ] && [ ! -s "$dir/out" ] &&
        [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -qF -- "$text" "$dir/err"
    count "$name" $?
}

# ------------------------------------------------------------ words
refuses "an unknown command" "no command 'sneeze'" sneeze
refuses "a command that was mistyped" "did you mean 'check'?" chekc
refuses "a command in capitals" "did you mean 'run'?" RUN
refuses "help about no command" "no command 'sneeze'" help sneeze
refuses "a property in small letters" "did you mean 'H2'?" check h2
exits "the version has a number" 0 "^profsim [0-9]" --version
exits "help about a command is its own" 0 "usage: profsim check" help check
refuses "an unknown option of check" "'--sneeze'" check --sneeze
for row in "check --seed --seeds" "check --seed=1..2 --seeds" \
    "check -seeds --seeds" "run --tops=3 --top" "replay --hepl --help" \
    "explore --exhaustiv --exhaustive" "mutants --memory-oder --memory-order" \
    "bias --rule --rules" "shrink --halp --help" "list --hlep --help" \
    "explain --helpp --help" "trace convert --tu --to"; do
    # shellcheck disable=SC2086
    refuses "a nearest option: ${row% *}" "did you mean '${row##* }'?" ${row% *}
done
# limits COMMAND OPTION BELOW LEAST MOST ABOVE: no other numbers are taken
limits() {
    for value in "$4" "$5"; do
        refuses "$1 takes $2 $value" "'--sneeze'" "$1" "$2" "$value" --sneeze
    done
    for value in "$3" "$6" x; do
        refuses "$1 does not take $2 $value" \
            "$2 takes a whole number from $4 to $5, not '$value'" \
            "$1" "$2=$value" --sneeze
    done
}
limits check --time 0 1 1000000 1000001
limits check --jobs 0 1 64 65
limits check --every -1 0 3600 3601
limits run --top 0 1 4294967295 4294967296
limits replay --break 0 1 1000000 1000001
limits conform --time 0 1 3600 3601
limits bias --rate 0 1 9223372036854775807 9223372036854775808
limits explore --jobs 0 1 256 257
for value in -1..5 18446744073709551615..18446744073709551615 1..18446744073709551615; do
    refuses "check does not take --seeds $value" \
        "--seeds takes a whole number from 0 to 18446744073709551614" check "--seeds=$value"
done
for value in 0..0 18446744073709551614..18446744073709551614; do
    refuses "check takes --seeds $value" "'--sneeze'" check --seeds "$value" --sneeze
done
refuses "the nearest kernel may be the first" "did you mean 'seqlock-1w1r'?" explore seqlock-1w1
limits explore --time 0 1 1000000000 1000000001
limits explore --unroll 0 1 1000 1001
limits explore --spurious -1 0 1000 1001
limits explore --bound -1 0 1000 1001
limits explore --runs 0 1 18446744073709551615 18446744073709551616
limits explore --seed -1 0 18446744073709551615 18446744073709551616
for value in 0.000000001 .5 9.999999999 10; do
    refuses "bias takes --ghz $value" "'--sneeze'" bias --ghz "$value" --sneeze
done
for value in 0 0.0000000001 10.000000001 20 1e1 . 184467440737095516160; do
    refuses "bias does not take --ghz $value" "--ghz takes a number above 0 and up to 10" \
        bias --ghz "$value" --sneeze
done
for value in 1 1073741824 1g; do
    refuses "audit takes --rate $value" "'--sneeze'" audit --rate "$value" --sneeze
done
for value in 0 1073741825 2G 1kk 0x10; do
    refuses "audit does not take --rate $value" "--rate takes bytes from 1 to 1073741824" \
        audit --rate "$value" --sneeze
done

refuses "an unknown letter" "unknown option '-x'" check -x
refuses "an option that takes no value" "takes no value" explore --list=3
exits "pairs of goals that few runs miss" 6 \
    "^pairs of coverage goals in one run: [0-9]* reached of 4560" \
    check --seeds 1..50 --pairs
exits "all pairs of goals" 0 "with TRACE_SESSION to CROSS_STOPPED" list
refuses "a kernel that was mistyped" "did you mean 'seqlock-2w2r'?" \
    explore seqlock-2w2
refuses "rules that were mistyped" "did you mean 'go1.17'?" check --rules go1.71
refuses "a strategy that was mistyped" "did you mean 'pct'?" \
    explore --strategy ptc
refuses "a format that was mistyped" "did you mean 'perfetto'?" \
    trace convert --to perfeto a -o b
refuses "a verb that was mistyped" "did you mean 'dump'?" trace dmup a
for command in run replay explain shrink "trace check"; do
    # shellcheck disable=SC2086
    refuses "$command without a file" "needs a FILE" $command
done
refuses "after -- a word is no option" "property '--help'" check -- --help
refuses "an unknown option of run" "'--sneeze'" run --sneeze x.sim
refuses "an empty range of seeds" "9..3 is empty" check --seeds 9..3
refuses "one seed where a range is due" "a range A..B" check --seeds 9
refuses "no such rules" "'go1.7'" check --rules go1.7
refuses "no such property" "'H77'" check H77
refuses "no jobs at all" "--jobs" check --jobs 0
refuses "an option without its value" "--seeds needs a value" check --seeds
refuses "an empty name of a folder" "--save" check --save ""
refuses "an unknown option of replay" "'--sneeze'" replay --sneeze
refuses "an unknown option of shrink" "'--sneeze'" shrink --sneeze
refuses "two files to shrink" "'b.sim'" shrink a.sim b.sim
exits "weaker orders of a table of more than 64 kernels" 0 ' of 2 weaker orders' \
    explore trace-stop-waiters --mutants
refuses "two kernels" "'b'" explore a b
refuses "an option where a file is wanted" "needs a value: FILE, not '--junit'" \
    check --json --junit
refuses "no such kernel" "'a'" explore a
refuses "no such strategy" "'a'" explore --strategy a
refuses "a table of nothing" "--csv is for" explore seqlock-2w2r --csv
refuses "choices that are no numbers" "'0,x'" explore seqlock-2w2r \
    --replay 0,x
refuses "a folder of logs that is not there" "missing: No such file" \
    convert "$dir/missing"
refuses "two folders of logs" "'b' is one more" convert a b
refuses "no folder of logs" "recover: needs a FOLDER; 'profsim recover --help' says more" recover
refuses "no recording of all" "from 1 to 1000000, not '0'" convert --images 0 a
refuses "two tables of mutants" "'b'" mutants a b
refuses "a table that is not there" "No such file" mutants "$dir/missing"
refuses "a table that is none" "no table" mutants README.md
refuses "a file of no kind that is not there" "No such file" run "$dir/missing"
exits "help is an answer, not an error" 0 "usage: profsim" --help
for command in run record check bias audit explore mutants replay explain shrink \
    trace list; do
    exits "$command --help" 0 "usage: profsim $command" $command --help
    exits "$command -h" 0 "usage: profsim $command" $command -h
done
exits "trace check -h" 0 "usage: profsim trace" trace check -h
exits "trace convert -h" 0 "usage: profsim trace convert" trace convert -h
exits "-h alone" 0 "usage: profsim COMMAND" -h
exits "a check too short says what it did not try" 0 "not tried: .*T11" \
    check --seeds 1..1 --save "$dir/none"
wide=$("$profsim" help | sed -n 's/^  \([a-z]*\) .*/\1/p' |
    while read -r command; do
        "$profsim" "$command" --help | awk 'length($0) > 80'
    done)
[ -z "$wide" ]
count "no line of help is longer than 80 bytes" $?
for words in list bias "bias --format csv" "bias --format svg" \
    "shrink fixtures/scenarios/late-rotation-go1.6.sim" \
    "trace check fixtures/trace/vectors/01-minimal-good.trace"; do
    "$profsim" $words >/dev/full 2>"$dir/err"
    [ $? -eq 1 ] && [ "$(cat "$dir/err")" = \
        "profsim: cannot write the output: No space left on device" ]
    count "$words: an answer that cannot be written is an error, told once" $?
    "$profsim" $words 2>"$dir/err" >&-
    [ $? -eq 1 ] && [ "$(cat "$dir/err")" = \
        "profsim: cannot write the output: Bad file descriptor" ]
    count "$words: the same if the output is closed" $?
done


# ------------------------------------------------------------ exit codes
for frames in "main>serve, 2 frames" "main, 1 frame"; do
    sed "s/main>serve>parse/${frames%,*}/" fixtures/scenarios/late-rotation-go1.6.sim \
        >"$dir/leak.sim"
    exits "a breach tells of a bucket with ${frames#*, }" 2 "${frames#*, }, size 64) shows" \
        replay "$dir/leak.sim"
done
exits "a property that was named and not tried is no success" 6 \
    "not tried: T11" check T11 --seeds 1..1 --save "$dir/none"
exits "a search that was cut short is no success" 6 "not finished" \
    explore seqlock-2w1r --runs 10
# Without its library the command says so, and runs nothing.
mkdir -p "$dir/alone/bin" && cp "$profsim" "$dir/alone/bin/"
(cd "$dir" && timeout 60 "alone/bin/${profsim##*/}" record -o alone/x.rec -- \
    touch alone/ran) >"$dir/out" 2>"$dir/err"
[ $? -eq 125 ] && [ ! -e "$dir/alone/ran" ] && [ ! -e "$dir/alone/x.rec" ] &&
    grep -q 'the library is not there' "$dir/err"
count "record without its library" $?

# The program's exit code is passed on; record's own errors are 125 to 127.
mkdir "$dir/taken.rec"
for row in "0 $dir/x.rec true" "7 $dir/x.rec exit 7" "125 $dir/taken.rec exit 7" \
    "137 $dir/x.rec kill -KILL \$\$" "143 $dir/x.rec kill -TERM \$\$"; do
    code=${row%% *} row=${row#* }
    (timeout 60 "$profsim" record -o "${row%% *}" -- sh -c "${row#* }") \
        >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq "$code" ]
    count "record: sh -c '${row#* }' ends with $code" $?
done
timeout 60 "$profsim" record -o "$dir/x.rec" -- true >"$dir/out" 2>"$dir/err" </dev/null
[ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
count "record says one line of a recording that lacks nothing" $?
for row in "125 --sneeze true" "125 --depth 0 true" "126 /" "127 ./no-such" \
    "127 no-such-command"; do
    # shellcheck disable=SC2086
    timeout 60 "$profsim" record -o "$dir/x.rec" ${row#* } >"$dir/out" \
        2>"$dir/err" </dev/null
    [ $? -eq "${row%% *}" ]
    count "record ${row#* }: ${row%% *}" $?
done

# If the parent ignores how its children end, so does the command that is started; its
# exit code counts all the same. ignored CODE WORD...
echo a >"$dir/one"
ignored() {
    code=$1
    shift
    timeout 60 python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$profsim" "$@" >"$dir/out" 2>"$dir/err" <"$dir/one"
    [ $? -eq "$code" ]
    count "SIGCHLD is ignored: profsim $1 ends with $code" $?
}
asks='import signal, sys
sys.exit(7 if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN else 1)'
ignored 7 record -o "$dir/x.rec" -- python3 -c "$asks"
ignored 7 profile -o "$dir/profiled" -- python3 -c "$asks"
ignored 0 check --subject fixtures/subjects/locked.c --seeds 1..10 --save "$dir/none"
ignored 2 shard --asked='make mutants' --result "$dir/rows" false

# ------------------------------------------------------------ scenarios
sed 's/^gc-sweep/gc-swep/' fixtures/scenarios/late-rotation-go1.6.sim \
    >"$dir/typo.sim"
line=$(grep -n '^gc-swep' "$dir/typo.sim" | cut -d: -f1)
: >"$dir/empty.sim"
for command in run replay shrink; do
    refuses "$command: a typo has a file, a line and a reason" \
        "typo.sim:$line: unknown event 'gc-swep'" $command "$dir/typo.sim"
    refuses "$command: a file that is not there" \
        "missing.sim: No such file" $command "$dir/missing.sim"
    refuses "$command: an empty file" "empty.sim:" $command "$dir/empty.sim"
done
for command in run check replay; do
    exits "$command: a file that is not there keeps none from the next" 1 \
        "^fixtures/scenarios/wrap.sim: " \
        $command "$dir/missing.sim" fixtures/scenarios/wrap.sim
done
sed 's/^expect property H2/expect property H99/' \
    fixtures/scenarios/late-rotation-go1.6.sim >"$dir/unknown.sim"
mkdir "$dir/unknown" && cp "$dir/unknown.sim" "$dir/unknown"
line=$(grep -n '^expect property H99' "$dir/unknown.sim" | cut -d: -f1)
for command in run replay; do
    refuses "$command: no property of that name can be expected" \
        "unknown.sim:$line: there is no property 'H99'" \
        $command "$dir/unknown.sim"
done
sed 's/^expect ok/expect property T99 broken/' \
    fixtures/scenarios/late-return-across-sessions.sim >"$dir/traced.sim"
line=$(grep -n '^expect property T99' "$dir/traced.sim" | cut -d: -f1)
for command in run replay; do
    refuses "$command: nor by a traced one" \
        "traced.sim:$line: there is no property 'T99'" \
        $command "$dir/traced.sim"
done
line=$(grep -n '^expect property H99' "$dir/unknown.sim" | cut -d: -f1)
refuses "check: a saved failure of no property" \
    "unknown.sim:$line: there is no property 'H99'" \
    check --rules go1.6-late --seeds 1..1 --save "$dir/unknown"
for scenario in fixtures/scenarios/*.sim fixtures/corpus/*.sim; do
    [ -e "$scenario" ] || continue
    exits "$scenario does what it expects" 0 ": ok" run "$scenario"
done

# What the documents show as output is what the commands print.
sed -n '/^```console$/,/^```$/{/^```/d;/^\$ /d;p}' README.md >"$dir/readme.out"
binary=$(realpath "$profsim")
(cd "$dir" && timeout 60 "$binary" check H2 --rules go1.6-late \
    >"$dir/out" 2>"$dir/err" </dev/null)
[ $? -eq 2 ] && diff "$dir/readme.out" "$dir/out" >"$dir/err"
count "the README's failure is the one that is found" $?
sed -n '/^profsim scenario 2$/,/^expect property/p' README.md >"$dir/readme.sim"
exits "the README's scenario breaks what it says" 0 ": ok: breaks H2" \
    run "$dir/readme.sim"
sed -n '/^```sim$/,/^```$/{/^```/!p}' docs/semantics.md >"$dir/semantics.sim"
exits "the life of an object in docs/semantics.md" 0 ": ok" \
    run "$dir/semantics.sim"

exits "a known bug is told event by event" 2 \
    "  5 \* gc-sweep a" explain fixtures/scenarios/late-rotation-go1.6.sim
exits "a snapshot is a difference from the heap it must equal" 2 \
    "^ *+ .* shown$" explain fixtures/scenarios/late-rotation-go1.6.sim
exits "the heap is plotted" 2 "^    1 .*  ##*$" \
    explain fixtures/scenarios/late-rotation-go1.6.sim
escape=$(printf '\033')
! grep -q "$escape" "$dir/out"
count "a file gets no colour" $?
exits "but when asked" 2 "$escape\[1;31mH2 broken" explain \
    --color always fixtures/scenarios/late-rotation-go1.6.sim
refuses "a colour is a word" "auto, always or never, not 'red'" explain \
    --color red fixtures/scenarios/wrap.sim
# on_terminal NAME=VALUE...: what explain prints on a terminal
on_terminal() {
    python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' env "$@" \
        "$profsim" explain fixtures/scenarios/wrap.sim </dev/null >"$dir/out"
}
on_terminal TERM=xterm NO_COLOR= && grep -q "$escape\[32mevery" "$dir/out"
count "a terminal gets colour" $?
on_terminal TERM=xterm NO_COLOR=1 && ! grep -q "$escape" "$dir/out"
count "but not with NO_COLOR" $?
on_terminal TERM=dumb NO_COLOR= && ! grep -q "$escape" "$dir/out"
count "nor a dumb one" $?
exits "a good scenario has no needed events" 0 "^every property holds" \
    explain fixtures/scenarios/wrap.sim
cp fixtures/scenarios/late-rotation-go1.6.sim "$dir/plain-scenario"
exits "a scenario by any other name" 0 ": ok: breaks H2" \
    run "$dir/plain-scenario"

exits "what is shrunk keeps the names of its functions" 0 "= main>serve>parse$" \
    shrink fixtures/scenarios/late-rotation-go1.6.sim
grep -q "^# pins: " "$dir/out"
count "and what it is there for" $?

# ------------------------------------------------------------ recordings
cp fixtures/recordings/waits.rec "$dir/plain-recording"
exits "a recording by any other name" 0 "81 recorded events" \
    run "$dir/plain-recording"
exits "a recording is judged when it is asked for" 0 \
    "^verdict: every property that was tried holds" check "$dir/plain-recording"
exits "and beside its heap" 0 "^verdict: every property that was tried holds" \
    run --verdicts "$dir/plain-recording"
exits "and by some properties only" 0 "^H1 *holds" \
    check H1 "$dir/plain-recording"
[ "$(grep -c "holds  " "$dir/out")" = 1 ]
count "the others are not listed" $?
exits "a known bug shows in a real program's recording" 2 "^H1 *BROKEN" \
    check --rules go1.6-late "$recording"
exits "a scenario is judged, too" 0 "the run is as it must be\|holds\|ok" \
    check fixtures/scenarios/birth-during-mark.sim
refuses "a file to check that is not there" "No such file" \
    check "$dir/missing.rec"
echo text >"$dir/plain-text"
refuses "a file of no kind" "neither a scenario nor a recording" \
    run "$dir/plain-text"
bytes=$(wc -c <"$recording")
for length in 0 1 11 12 100 $((bytes / 2)) $((bytes - 1)); do
    head -c "$length" "$recording" >"$dir/cut.rec"
    refuses "a recording cut after $length bytes" "cut.rec: " \
        run "$dir/cut.rec"
done
for offset in 0 9 20 $((bytes / 3)) $((bytes / 2)) $((bytes - 2)); do
    cp "$recording" "$dir/bad.rec"
    old=$(od -An -tu1 -j "$offset" -N 1 "$recording")
    printf "\\$(printf %o $((old ^ 255)))" |
        dd of="$dir/bad.rec" bs=1 seek="$offset" conv=notrunc 2>/dev/null
    refuses "a recording with another byte at $offset" "bad.rec: " \
        run "$dir/bad.rec"
done
refuses "a recording that is not there" "No such file" run "$dir/missing.rec"

# In 20 rounds there is one wait and one release each, and nothing is lost
# (waits.c): no release may be charged more than its waiter waited.
exits "a program that waits for a mutex" 0 "81 recorded events" \
    run --out "$dir/waits" fixtures/recordings/waits.rec
grep -q "20 @.*" "$dir/waits/mutex.txt" &&
    grep -q hold_long "$dir/waits/mutex.txt" &&
    grep -q come_late "$dir/waits/block.txt" &&
    [ "$(sed -n 's/ 20 @.*//p' "$dir/waits/mutex.txt")" -le \
        "$(sed -n 's/ 20 @.*//p' "$dir/waits/block.txt")" ]
count "its releases are charged to the holder, its waits to the waiter" $?
grep -qx "binary=/.*/waits" "$dir/waits/heap.symbolized"
count "the program's own mapping comes first" $?

# ------------------------------------------------------------ a known bug
exits "go1.6-late fails at once, whatever is asked" 2 "broken:" \
    check --rules go1.6-late --seeds 1..100 --save "$dir/saved-all"
# The failure is shown by as few events as possible; another property may need
# more.
for seeds in 1..5000 5001..10000 10001..15000; do
    rm -rf "$dir/saved"
    exits "go1.6-late breaks H2 within seeds $seeds" 2 "^H2 broken" \
        check H2 --rules go1.6-late --seeds $seeds --save "$dir/saved"
    set -- "$dir"/saved/*.sim
    "$profsim" list | sed -n '/^events of/,/^$/s/^  //p' >"$dir/events"
    events=$(awk 'FNR == NR { event[$1] = 1; next } $1 in event' \
        "$dir/events" "$1" | wc -l)
    echo "$events events" >"$dir/out"
    [ "$events" -ge 1 ] && [ "$events" -le 8 ]
    count "its scenario has at most 8 events" $?
    exits "its scenario replays" 2 "broken" replay "$1"
    exits "its scenario is a file that can be kept" 0 ": ok" run "$1"
done
# Anybody may have put anything into the folder of saved failures.
refuses "a folder of saved failures that is a file" \
    "plain-text: saved failures cannot be read: Not a directory" \
    check --seeds 1..1 --save "$dir/plain-text"
hostile() { # NAME TEXT: what lies in the folder is refused, at once
    refuses "saved failures: $1" "$2" \
        check --seeds 1..1 --save "$dir/hostile"
    rm -rf "$dir/hostile/x.sim"
}
mkdir "$dir/hostile"
mkfifo "$dir/hostile/x.sim"
hostile "a pipe that nobody writes to" "x.sim: not a regular file"
mkdir "$dir/hostile/x.sim"
hostile "a folder" "x.sim: not a regular file"
ln -s /dev/zero "$dir/hostile/x.sim"
hostile "a link to a file without an end" "x.sim: a link"
ln -s "$dir/plain-scenario" "$dir/hostile/x.sim"
hostile "a link" "x.sim: a link"
echo "profsim scenario 2" >"$dir/hostile/x.sim"
truncate -s 4T "$dir/hostile/x.sim"
hostile "4 TiB that begin well" "x.sim: the file is larger than "
truncate -s 4T "$dir/hostile/x.sim"
hostile "4 TiB of nothing" "x.sim:1: not a"
: >"$dir/hostile/x.sim"
refuses "saved failures: an empty file" "hostile/x.sim:1: not a scenario" \
    check --seeds 1..1 --save "$dir/hostile"
if [ "$(id -u)" -eq 0 ]; then
    chmod 711 "$dir" && chmod 700 "$dir/hostile" # another user may not read it
    cp "$profsim" "$dir/profsim" && chmod 755 "$dir/profsim"
    another="setpriv --reuid 54321 --clear-groups $dir/profsim"
else
    chmod 300 "$dir/hostile"
    another=$profsim
fi
timeout 60 $another check --seeds 1..1 --save "$dir/hostile" \
    >"$dir/out" 2>"$dir/err" </dev/null
[ $? -eq 1 ] && [ ! -s "$dir/out" ] &&
    grep -q "hostile: saved failures cannot be read: Perm" "$dir/err"
count "a folder of saved failures that may not be read" $?
chmod 700 "$dir/hostile"

long=$(printf '%0240d' 0)
long=$dir/$long/$long/$long/$long
mkdir -p "$long"
exits "a folder with a name of 1000 bytes" 2 "H2 broken" check H2 \
    --rules go1.6-late --seeds 67..67 --save "$long"
[ -s "$long/H2-go1.6-late-67.sim" ]
count "gets the failure under its own name" $?
exits "and traces" 0 ": ok" run --out "$long" \
    fixtures/scenarios/late-return-across-sessions.sim
[ -s "$long/trace.out" ]
count "under theirs" $?

exits "a failure that was saved is replayed first" 2 "is still broken" \
    check --rules go1.6-late --seeds 1..10 --save "$dir/saved"
grep -q "^replay: profsim replay $dir/saved/H2-" "$dir/out" &&
    grep -q "delete it to search on" "$dir/out"
count "what to do about it is reported" $?
exits "a failure of other rules is left alone" 0 "left alone; it is about rules go1.6" \
    check --seeds 1..10 --save "$dir/saved"
exits "so is one of a property that is not asked about" 0 \
    "left alone; it is about property H2" \
    check H8 --rules go1.6-late --seeds 1..10 --save "$dir/saved"

finish command
