#!/bin/sh
# `profsim explore` on unmodified programs: those of fixtures/explore/user/, with
# the verdict that the first line of each names, and those that are refused.
# usage: test_explore.sh PROFSIM [all]
#   all: also those that take longer
set -u
profsim=$(realpath "$1")
all=${2:-}
. props/test/lib/count.sh
shown=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/temporary"
export profsim work TMPDIR="$work/temporary"

check() { # WHAT CONDITION...
    what=$1
    shift
    "$@"
    count "$what" $?
}

says() { # FILE TEXT
    grep -qF -- "$2" "$1" || {
        cat "$1"
        false
    }
}

# Two programs at a time, as most of the time is spent compiling. The first
# lines of a program say
#
#   expect: VERDICT.    what is expected; `graphs N`: their number
#   BROKEN: VERDICT.    the same with -DBROKEN
#   refused: NAME.      what it must not use
#   with: WORDS         the options with which it is explored
one='file=$1
word() { sed -n "1,4s,^.*$1: \([^.*]*\)\..*,\1,p" "$file"; }
name=$(sed -n "1s,^.*refused: \(.*\)\..*,\1,p" "$file")
with=$(sed -n "1,4s,^.*with: \([^*]*\).*,\1,p" "$file")
out=$work/$(echo "$file" | tr / _).out
explore() { # WANT WORD...
    want=$1
    shift
    "$profsim" explore "$file" --runs 2000000 "$@" >"$out" 2>&1
    got=$(head -n 1 "$out")
    graphs=$(echo "$got" | sed "s,.* runs* *\([0-9]*\) graph.*,\1,")
    case "$got, graphs $graphs" in
    *" s  $want, graphs $graphs" | *" s  $want") echo ok ;;
    *) echo "$file: $*: expected $want, got: $got" ;;
    esac
}
if [ -n "$name" ]; then
    "$profsim" explore "$file" >"$out" 2>&1
    grep -q "calls $name, which\|/$name: what" "$out" && echo ok ||
        echo "$file: expected that $name is refused, got: $(head -n 1 "$out")"
    exit
fi
explore "$(word expect)" $with
broken=$(word BROKEN)
[ -z "$broken" ] || explore "$broken" $with -- -DBROKEN'
cd fixtures/explore/user || exit 1
if [ -n "$all" ]; then
    ls ./*.c* ./*/*.c ./*/*.cc
else
    ls ./*.c* runtime/*.c refused/*.c # the others: .ci/run
fi | xargs -n 1 -P 2 sh -c "$one" sh >"$work/verdicts"
cd ../../.. || exit 1
check "no programs" [ "$(grep -c '^ok$' "$work/verdicts")" -ge 80 ]
while read -r line; do
    check "$line" [ "$line" = ok ]
done <"$work/verdicts"

# The same where no instruction writes the register that leads to thread-local
# variables. (The verdicts above are by that instruction if there is one.)
for file in thread_local.c thread_local_race.c cxx_static_thrown.cc; do
    PROFSIM_EXPLORE_NO_FSGSBASE=1 "$profsim" explore \
        "fixtures/explore/user/$file" >"$work/out"
    check "$file by system calls" says "$work/out" \
        "  $(sed -n '1s,^.*expect: \([^.]*\)\..*,\1,p' "fixtures/explore/user/$file")"
done

check "an exception that nobody catches is named" says \
    "$work/._cxx_exception.cc.out" "broken: the program ends itself: an exception \
that nobody catches, or a thread that is neither joined nor detached (exit)"

# Reports are compared byte by byte: NAME.txt is what a person wrote for the
# failure of NAME.c. The path of NAME.c is as seen from where it was compiled.
for want in fixtures/explore/user/*.txt; do
    "$profsim" explore "$PWD/${want%.txt}.c" |
        sed -n -f props/test/lib/report_head.sed >"$work/report"
    check "the report of ${want%.txt}.c" diff "$want" "$work/report"
done

# Shards together find all graphs, each once; if threads sleep, one shard does
# all.
graphs_of() { # FILE WORD...
    "$profsim" explore "fixtures/explore/user/$@" |
        sed -n 's,.* runs* *\([0-9]*\) graph.*,\1,p'
}
for file in condvar.c ticket.c; do
    sum=0
    for shard in 1/3 2/3 3/3; do
        sum=$((sum + $(graphs_of $file --shard $shard)))
    done
    check "shards of $file" [ $sum = "$(graphs_of $file)" ]
done
check "a thread that sleeps is one shard's" [ \
    "$(graphs_of condvar.c --shard 2/3)" = 0 ]

# A search continues in new processes, 20 runs each, and finds the same graphs.
runs=0
while runs=$((runs + 20)) && [ $runs -lt 400 ]; do
    "$profsim" explore fixtures/explore/user/ticket.c --runs $runs \
        --checkpoint "$work/ticket" >"$work/out"
    grep -q 'not finished' "$work/out" || break
done
check "it is more than one process" [ $runs -gt 20 ]
check "a program goes on from its file" says "$work/out" \
    " $(graphs_of ticket.c) graphs"

# The command that a failure prints shows the same failure, also with compiler
# flags.
cat >"$work/flag.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p) { x = x + STEP; return p; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    return x != 2 * STEP;
}
void part(void) { x = 0; }
END
"$profsim" explore "$work/flag.c" -- -DSTEP=1 >"$work/out"
check "a broken program exits with 2" [ $? = 2 ]
sed -n 's/^  replay: profsim //p' "$work/out" >"$work/replay"
(eval "\"$profsim\" $(cat "$work/replay")") >"$work/again"
check "its replay exits with 2" [ $? = 2 ]
check "a replay shows the same" says "$work/again" \
    "$(grep '  broken:' "$work/out")"
"$profsim" explore "$work/flag.c" --entry part -- -DSTEP=1 >"$work/out"
check "--entry explores another function" [ $? = 0 ]

cp "$work/flag.c" "$work/it's a flag.c"
"$profsim" explore "$work/it's a flag.c" -- -DSTEP=1 >"$work/out"
sed -n 's/^  replay: profsim //p' "$work/out" >"$work/replay"
(eval "\"$profsim\" $(cat "$work/replay")") >"$work/again"
check "a replay's words are quoted for a shell" [ $? = 2 ]

# The report says how far the verdict goes.
"$profsim" explore fixtures/explore/user/timed_again.c \
    --json "$work/bound.json" >/dev/null
check "a bound on waits is reported, and no other" \
    says "$work/bound.json" '"holds, waits to a bound"'

# The report has the words that were typed, and is the same each time, wherever
# the program was built.
reports() { # CODE WORD...
    code=$1
    shift
    for i in 1 2; do
        mkdir "$work/temporary/$i"
        TMPDIR=$work/temporary/$i "$profsim" explore --json "$work/j" \
            --junit="$work/x" "$@" >"$work/out"
        check "$*: exit $code" [ $? = "$code" ]
        rmdir "$work/temporary/$i"
        mv "$work/j" "$work/j$i" && mv "$work/x" "$work/x$i"
    done
    python3 cli/report/check_report.py docs/ci/report.schema.json \
        "$work/j1" "$work/x1" "$code" >"$work/out" 2>&1 ||
        cat "$work/out"
    check "$*: its report has the right format" [ ! -s "$work/out" ]
    check "$*: the same bytes" cmp "$work/j1" "$work/j2"
    check "$*: the same bytes for JUnit" cmp "$work/x1" "$work/x2"
    check "$*: the class of its result" says "$work/x1" \
        'classname="profsim.explore.'
    python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
words = ["--json", sys.argv[2], "--junit=" + sys.argv[3]] + sys.argv[4:]
sys.exit(report["command"] != "explore" or report["arguments"] != words)' \
        "$work/j1" "$work/j" "$work/x" "$@"
    check "$*: the words that were typed" [ $? = 0 ]
}
reports 0 "$work/flag.c" --entry part --runs 9 -- -DSTEP=1 "-DTWO=a b"
reports 2 --exhaustive "$work/it's a flag.c" -- -DSTEP=1
reports 0 "$work/flag.c" --replay 0 -- -DSTEP=1

# A page of an earlier failure does not stay; any other file does.
pages() { # WORD...
    "$profsim" explore "$work/flag.c" --html "$work/page" --data "$work/data" \
        "$@" >"$work/out" 2>&1
}
for how in '' '--replay 0'; do
    pages -- -DSTEP=1
    check "a failure has a page and its data" [ -s "$work/page" -a -s "$work/data" ]
    pages ${how:---entry part} -- -DSTEP=1
    check "they are removed $how" [ $? = 0 -a ! -e "$work/page" -a \
        ! -e "$work/data" ]
    check "that is reported $how" says "$work/out" \
        "$work/page: removed, as it shows an earlier failure"
done
pages -- -DSTEP=1
mv "$work/page" "$work/kept" && ln -s kept "$work/page"
cp "$work/flag.c" "$work/data"
pages --entry part -- -DSTEP=1
check "another file stays" cmp "$work/flag.c" "$work/data"
check "a link stays" [ -s "$work/page" ]
check "and is not reported" [ "$(grep -c removed "$work/out")" = 0 ]

# A program without atomic accesses has no order that could be weaker.
reports 6 fixtures/explore/user/race.c --mutants
reports 0 fixtures/explore/user/message.c --mutants

# A failure shows what it depends on, and where each thread is.
cat >"$work/noise.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared, private_to_main, unrelated;
static void *other(void *p) { unrelated = 1; return p; }
static void *add(void *p) { shared = shared + 1; return p; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&u, 0, other, 0);
    pthread_create(&t, 0, add, 0);
    for (int i = 0; i < 5; i++)
        private_to_main++;
    add(0);
    pthread_join(t, 0);
    int bad = shared != 2;
    unrelated = 2;
    pthread_detach(u);
    return bad;
}
END
"$profsim" explore "$work/noise.c" >"$work/out"
check "events of a place of one thread are left out" [ \
    "$(grep -c '^ *[0-9]* .*private_to_main' "$work/out")" = 0 ]
check "what matters is shown" says "$work/out" "shared is 0 (sc)"
check "what is left out is counted" says "$work/out" \
    "more events, which the failure does not depend on)"
"$profsim" explore fixtures/explore/user/bank_broken.c >"$work/out"
check "what a thread did that is joined matters" [ \
    "$(grep -c '^ *[0-9]* .*lock lock .*bank_broken.c:' "$work/out")" = 8 ]
"$profsim" explore fixtures/explore/user/deadlock.c >"$work/out"
check "a deadlock shows its locks" says "$work/out" "lock one"
check "and where each thread is" says "$work/out" \
    "thread 2 (second) is at fixtures/explore/user/deadlock.c:22"

# A thread stays blocked only in a wait loop: the shrinker invents no other way.
"$profsim" explore fixtures/explore/user/locks/spin_then_park.c -- -DBROKEN \
    >"$work/out"
check "a thread that is in no loop waits for another" says "$work/out" \
    "    choice 2, thread 0 waits for thread 1, before event 2: necessary"

# A malformed list of choices, or one of another program, must not pass.
for list in '' 0,,1 0,1, 1x -1 0,99 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1; do
    "$profsim" explore fixtures/explore/user/bank.c --replay "$list" \
        >"$work/out" 2>&1
    check "the list '$list' is bad input" [ $? = 1 ]
done

for list in 3 g9 g8 g0,0,9; do
    "$profsim" explore fixtures/explore/user/deadlock.c --replay "$list" \
        >"$work/out" 2>&1
    check "the list '$list' is refused" [ $? = 1 ]
    check "the list '$list': where it does not match" says "$work/out" \
        "deadlock.c makes: choice"
done
check "the choice and the answer" says "$work/out" ": choice 2 cannot be 9;"

# What is wrong is reported, and nothing is left behind.
mkdir "$work/tmp"
TMPDIR=$work/tmp "$profsim" explore "$work/missing.c" >"$work/out" 2>&1
check "a missing file is bad input" [ $? = 1 ]
check "a missing file is named" says "$work/out" "missing.c: No such file"
TMPDIR=$work/tmp "$profsim" explore "$work/flag.c" >"$work/out" 2>&1
check "what does not compile is bad input" [ $? = 1 ]
check "gcc does not speak of an option of clang" [ \
    "$(grep -c unknown-warning-option "$work/out")" = 0 ]
cp "$work/flag.c" "$work/kept.c"
ln -s kept.c "$work/link.json"
for option in "--html $work/kept.c" "--data=$work/./kept.c" \
    "--json $work/link.json" "--checkpoint $work/kept.c"; do
    "$profsim" explore "$work/kept.c" $option -- -DSTEP=1 >"$work/out" 2>&1
    check "$option is an input" [ $? = 1 ]
    check "$option: that is reported" says "$work/out" \
        ": it is an input; write another file"
done
cmp "$work/kept.c" "$work/flag.c"
check "the input is as it was" [ $? = 0 ]
CC=/nowhere/cc TMPDIR=$work/tmp "$profsim" explore "$work/flag.c" \
    >"$work/out" 2>&1
check "a missing compiler is named" says "$work/out" \
    "/nowhere/cc: no such compiler (CC)"
cat >"$work/foreign.c" <<'END'
#include <regex.h>
int main(void)
{
    regex_t r;
    return regcomp(&r, "a", 0);
}
END
TMPDIR=$work/tmp "$profsim" explore "$work/foreign.c" >"$work/out" 2>&1
check "a foreign function is bad input" [ $? = 1 ]
check "a foreign function is named" says "$work/out" "the program calls regcomp"
# Of many foreign functions twenty are named, in order, each once.
for many in 19 20 21 43; do
    for file in one two; do
        {
            seq -f 'void other_%02g(void);' "$many" -1 1
            echo "void $file(void); void $file(void) {"
            seq -f 'other_%02g();' "$many" -1 1
            echo "}"
        } >"$work/$file.c"
    done
    "$profsim" explore "$work/one.c" "$work/two.c" >"$work/out" 2>&1
    shown_most=$((many < 20 ? many : 20))
    {
        seq -f 'profsim: the program calls other_%02g, which is not instrumented: what it touches would not be seen' $shown_most
        [ "$many" -le 20 ] || echo "profsim: ... and $((many - 20)) more"
    } >"$work/wanted"
    check "$many foreign functions" cmp "$work/out" "$work/wanted"
done
cat >"$work/assembly.c" <<'END'
/* asm("in a comment") */
static const char *text = "asm(\"in a string\")";
int main(void)
{
    int x = 0;
    __asm__ volatile("" : : : "memory");
    __asm__ __volatile__ ("pause");
    asm volatile("lock; incl %0" : "+m"(x));
    return x - 1 + (text == 0);
}
END
"$profsim" explore "$work/assembly.c" >"$work/out" 2>&1
check "inline assembly is bad input" [ $? = 1 ]
check "its place is named" says "$work/out" "assembly.c:8: inline assembly"
check "the harmless is let through" [ "$(wc -l <"$work/out")" = 1 ]
check "nothing is left behind" [ -z "$(ls "$work/tmp")" ]

# A program that uses the explorer as a library keeps its main(). What the
# callback changes is restored after each run.
cat >"$work/simulate.c" <<'END'
#include <assert.h>
#include <pthread.h>
int __tsan_simulate(void (*callback)(void *), void *arg);
static int global = 5;
static void *add(void *p)
{
    int n = __atomic_load_n((int *)p, __ATOMIC_SEQ_CST);
    __atomic_store_n((int *)p, n + 1, __ATOMIC_SEQ_CST);
    return 0;
}
static void count(void *p)
{
    pthread_t t;
    assert(global == 5);
    global++;
    pthread_create(&t, 0, add, p);
    JOIN
    add(p);
    pthread_join(t, 0);
    assert(*(int *)p == 2);
}
int main(void)
{
    int n = 0;
    int result = __tsan_simulate(count, &n);
    return n == 0 && global == 5 ? result : 99;
}
END
simulate() { # JOIN: built by hand, and run
    gcc -g -O1 -fsanitize=thread "-DJOIN=$1" -c "$work/simulate.c" \
        -o "$work/simulate.o" &&
        gcc -o "$work/simulate" "$work/simulate.o" \
            -L"$(dirname "$profsim")" -lprofsim-explore -l:libdw.so.1 &&
        timeout 60 "$work/simulate" >"$work/out"
}
simulate ''
check "__tsan_simulate returns that it failed" [ $? = 2 ]
sed -n 's/^  replay: //p' "$work/out" >"$work/replay"
check "the command that replays it has no needless blank" says "$work/replay" \
    "PROFSIM_EXPLORE='--replay "
timeout 60 sh "$work/replay" >"$work/again"
check "the replay of a simulation shows the same" says "$work/again" \
    "$(grep '  broken:' "$work/out")"
simulate 'while (!__atomic_load_n((int *)p, __ATOMIC_SEQ_CST));'
check "__tsan_simulate returns 0 if it holds" [ $? = 0 ]

# What cannot be written is reported, whatever the verdict would have been.
unwritten() { # WHOSE COMMAND...
    whose=$1
    shift
    "$@" >/dev/full 2>"$work/out"
    check "$whose: its report cannot be written" [ $? = 1 ]
    check "$whose: that is reported" says "$work/out" \
        "profsim: cannot write the output: No space left on device"
    "$@" >&- 2>"$work/out"
    check "$whose: it has no output" [ $? = 1 ]
}
unwritten "a program that holds" "$profsim" explore "$work/flag.c" --entry part \
    -- -DSTEP=1
unwritten "a program that fails" "$profsim" explore "$work/flag.c" -- -DSTEP=1
unwritten "a simulation that holds" "$work/simulate"
simulate ''
unwritten "a simulation that fails" "$work/simulate"

# If the command is ended so is its search, and nothing stays behind.
cat >"$work/long.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int numbers[8];
static void *add(void *unused)
{
    for (int i = 0; i < 8; i++)
        atomic_fetch_add(&numbers[i], 1);
    return unused;
}
int main(void)
{
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}
END
mkdir "$work/folder"
TMPDIR=$work/folder "$profsim" explore "$work/long.c" >"$work/out" 2>&1 &
explorer=$!
i=0
while [ $i -lt 300 ] && ! [ -x "$(ls -d "$work"/folder/*/program 2>/dev/null)" ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -TERM $explorer
wait $explorer
check "a search that is ended is a failure" [ $? != 0 ]
check "and leaves no folder" [ -z "$(ls "$work/folder")" ]

# A run that meets an unknown wait loop is started again, so it must repeat.
"$profsim" explore heap-busy --strategy random --runs 50 --seed 1000000000 >"$work/out"
check "random runs learn a wait loop" says "$work/out" "no failure"

# With another compiler the verdict is the same.
CC=clang "$profsim" explore fixtures/explore/user/mcs_broken.c >"$work/out" \
    2>"$work/err"
check "clang's code" says "$work/out" "data race"
check "clang complains of nothing" [ ! -s "$work/err" ]

# Each command that profsim runs begins with profsim's own signal settings.
cat >"$work/cc" <<'END'
#!/bin/sh
grep '^SigIgn' /proc/$$/status >>"$work/signals"
exec gcc "$@"
END
chmod +x "$work/cc"
CC=$work/cc "$profsim" explore fixtures/explore/user/mcs_broken.c >"$work/out"
check "a compiler by its path" says "$work/out" "data race"
check "is run more than once" [ "$(wc -l <"$work/signals")" -gt 1 ]
check "with the same signals" [ "$(sort -u "$work/signals" | wc -l)" -eq 1 ]

# If the debugger is not installed, that is reported before anything is
# compiled.
mkdir "$work/none"
PATH=$work/none "$profsim" explore fixtures/explore/user/mcs_broken.c --gdb 0 \
    --replay 0 >"$work/out" 2>&1
check "no debugger" says "$work/out" "gdb is not installed"

check "no temporary file is left" [ -z "$(ls -A "$work/temporary")" ]
finish explore
