#!/bin/sh
# `profsim check --subject`: the example's mistake is found, shrunk, replayed and
# explained; a correct subject passes; each fault of faults.txt is found by the
# property in its line, and the saved failure fails again.
# usage: test_subject.sh PROFSIM FOLDER some|all
set -u
. props/test/lib/count.sh

profsim=$(realpath "$1")
from=$(realpath "$2")
which=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
shown=out
mkdir temporary
export TMPDIR="$dir/temporary"

run() { # STATUS WORD...
    wanted=$1
    shift
    "$@" >out 2>&1
    got=$?
    [ "$got" -eq "$wanted" ] && return 0
    echo "exit code $got, not $wanted" >>out
    return 1
}

has() { # LINE-BEGINNING
    grep -q "^$1" out
}

# ---- The example ----

saved_in=subject-failures/example

run 2 "$profsim" check --subject "$from/example.c" --seeds 1..500 &&
    has 'not applicable, for what the subject lacks: O3, A1, F1, G1, W1, W2, W3, W4$' &&
    has 'A7 broken: a realloc replaces' && has 'realloc-fails o1 s1 1$' &&
    grep -qF 'site 0x401000.. (1 frame): shows' out &&
    has "replay: profsim replay --subject $from/example.c $saved_in/A7"
count "the example's mistake is found" $?

saved=$(echo $saved_in/A7-example-*.sim)
[ "$(grep -c '^alloc\|^realloc' "$saved")" -eq 2 ]
count "it comes down to two events" $?
run 2 "$profsim" replay --subject "$from/example.c" "$saved" &&
    has "$saved: A7 broken"
count "it is replayed" $?
run 2 "$profsim" explain --subject "$from/example.c" "$saved" &&
    grep -q ': subject example, ' out &&
    has '   1 \* alloc o1 s1 16' && has '   2 \* realloc-fails o1 s1 1' &&
    ! grep -q published out # only our library publishes
count "it is explained: both events are needed" $?
{ sed 's/^realloc/snapshot\nfree o2\n&/; s/^alloc/alloc o2 s1 16\n&/' "$saved"; } \
    >longer.sim
run 0 "$profsim" shrink --subject "$from/example.c" longer.sim &&
    [ "$(grep -c '^alloc\|^realloc\|^free\|^snapshot' out)" -eq 2 ] &&
    has "# found by: profsim shrink --subject $from/example.c longer.sim"
count "a longer file is shrunk to them" $?
run 1 "$profsim" replay "$saved" && has 'profsim: .*--subject FILE'
count "without the subject it cannot be replayed, and says so" $?
run 2 "$profsim" check --subject "$from/example.c" --seeds 1..2 &&
    has "$saved: A7 is still broken"
count "what was saved comes first" $?
run 0 "$profsim" check --subject "$from/whole.c" A2 --seeds 1..2 &&
    ! grep -q example out
count "what another subject has failed is left alone" $?
rm -r subject-failures

sed 's/ release(state, thread, from, false);.*/ if (to->address == 0) return;&/' \
    "$from/example.c" >mended.c
run 0 "$profsim" check --subject mended.c --seeds 1..2000 &&
    has 'every property holds' && has 'U1: at most 0\.' && has 'U2: at most 0\.'
count "without the mistake every property holds" $?
run 6 "$profsim" check --subject mended.c A1 --seeds 1..20 &&
    has 'not applicable, for what the subject lacks: A1$'
count "what is not applicable does not hold" $?
exact='A1 A2 A3 A5 A6 A7 V1 E1 F1 G1 O2 W1 W2 W4'
seeds=1000
[ "$which" = all ] && exact= && seeds=3000
# shellcheck disable=SC2086 # words
run 0 "$profsim" check --subject "$from/whole.c" $exact --seeds 1..$seeds &&
    has 'every property holds'
count "a subject that lacks little holds" $?

sed 's/^    visit(context, &record);/        struct subject_record freed = record;\
        freed.allocated = (struct subject_count){0};\
        freed.live.objects = -freed.freed.objects;\
        freed.live.bytes = -freed.freed.bytes;\
        freed.live.samples = -freed.freed.samples;\
        record.freed = (struct subject_count){0};\
        record.live = record.allocated;\
        visit(context, \&record);\
        visit(context, \&freed);/' "$from/whole.c" >twice.c
# shellcheck disable=SC2086 # words
run 0 "$profsim" check --subject twice.c $exact --seeds 1..500 &&
    has 'every property holds' && grep -q '&freed' twice.c
count "a site may come twice" $?

sed 's/show(&w->shown\[/show(\&w->sites[/
    s/SUBJECT_AT_ONCE |/SUBJECT_AT_ONCE | SUBJECT_RECORD_BY_RECORD |/' \
    "$from/whole.c" >each.c
run 0 "$profsim" check --subject each.c O3 --seeds 1..1000 &&
    has 'every property holds' && grep -q BY_RECORD each.c
count "a subject may promise each record by itself" $?
printf 'profsim scenario 2\ninstruments subject\nstack s1 = 0x1000\n%s\n' \
    'read-next' >closed.sim
run 1 "$profsim" replay --subject "$from/whole.c" closed.sim &&
    has 'profsim: closed.sim:4: .*is not being read in parts'
count "a reading goes on only when it has begun" $?

# shellcheck disable=SC2086 # words
run 0 "$profsim" check --subject own $exact --seeds 1..$seeds &&
    has 'every property holds'
count "the library is a subject like others" $?
{
    printf 'profsim scenario 2\ninstruments subject\n'
    printf 'stack s1 = 0x401000\nstack s2 = 0x402000\n'
    seq 1 4097 | sed 's/4097/o& s2 16/; t; s/.*/o& s1 16/' | sed 's/^/alloc /'
    echo 'free o1'
} >many.sim
run 0 "$profsim" replay --subject own many.sim
count "it knows more than 4096 blocks apart" $?

# ---- run: what it shows at the end, and its profile ----

printf '%s\n' 'profsim scenario 2' 'instruments subject' \
    'stack s1 = main.main>main.parse' 'stack s2 = 0x401000>0x402000' \
    'alloc o1 s1 16' 'alloc o2 s2 32' 'alloc o3 s2 48' 'free o1' 'free o2' \
    'contended t1 s2 s1 17' >shown.sim
read_profile() { /usr/bin/python3 -B "$from/../../install/read_profile.py" "$@"; }
run 0 "$profsim" run --subject "$from/whole.c" --out profiles shown.sim &&
    has 's1, live 0 (0 bytes), allocated 1 (16 bytes), freed 1 (16 bytes)$' &&
    has 's2, live 1 (48 bytes), allocated 2 (80 bytes), freed 1 (32 bytes)$' &&
    has 's2, block 1 (17 ticks)$' && has 's1, mutex 1 (17 ticks)$' &&
    has 'shown.sim: ok$'
count "run shows what a subject shows at the end" $?
cat >wanted <<'END'
types alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes
1 16 0 0 main.parse main.main
2 80 1 48 0x402000 0x401000
types contentions/count delay/ticks
1 17 0x402000 0x401000
types contentions/count delay/ticks
1 17 main.parse main.main
END
for name in heap block mutex; do
    read_profile "profiles/$name.pb.gz"
done >out 2>&1
cmp -s out wanted && [ "$(find profiles -type f | wc -l)" -eq 3 ]
count "its profile says the same, leaf first" $?
{ echo 'read-begin' && echo 'read-next' && echo 'alloc o4 s1 8'; } >>shown.sim
run 0 "$profsim" run --subject "$from/whole.c" shown.sim &&
    has 's1, live 1 (8 bytes), allocated 2 (24 bytes), freed 1 (16 bytes)$'
count "a reading that is open is read to its end first" $?
sed '/^contended/d; /^read/d' shown.sim >heap.sim
run 0 "$profsim" run --subject mended.c --out addresses heap.sim &&
    has 's2 at 0x[0-9a-f]*, live 1 (48 bytes)$' &&
    read_profile addresses/heap.pb.gz >out 2>&1 &&
    has 'types inuse_objects/count inuse_space/bytes$' &&
    has '1 48 0x402000 0x401000$' && has '1 8 main.parse main.main$' &&
    [ "$(find addresses -type f)" = addresses/heap.pb.gz ]
count "of a subject that shows live objects, each is a sample" $?
sed 's/main.parse/main.other/; $arealloc-fails o3 s1 1' heap.sim >broken.sim
run 2 "$profsim" run --subject "$from/example.c" --json run.json broken.sim &&
    has 'broken.sim: A7 broken: ' && has 's1 at 0x[0-9a-f]*, live 1 (8 bytes)$' &&
    grep -q "profsim run --subject $from/example.c broken.sim" run.json
count "what is broken is reported, and what was shown" $?
run 1 "$profsim" run shown.sim && has 'profsim: .*--subject FILE$' &&
    run 1 "$profsim" run --subject own --subject own shown.sim &&
    has "profsim: .*'own' is one more" &&
    run 1 "$profsim" run --subject own "$from/../scenarios/collision.sim" &&
    has 'profsim: .*collision.sim: --subject needs a scenario' &&
    run 1 "$profsim" run --subject own --debug alloc heap.sim &&
    has 'profsim: heap.sim: --debug is about the library' &&
    run 1 "$profsim" run --subject own "$from/../recordings/git-log.rec" &&
    has 'profsim: .*git-log.rec: --subject is for scenarios'
count "what does not go together is refused" $?
run 1 "$profsim" run --subject "$from/whole.c" --out heap.sim shown.sim &&
    has 'profsim: heap.sim: '
count "a folder that cannot be made is told" $?

# ---- What is no subject ----

echo 'int x;' >none.c
run 1 "$profsim" check --subject none.c &&
    has 'profsim: none.c: it has no function profsim_subject()'
count "a source without a table" $?
{
    cat mended.c
    echo 'void elsewhere(void); __attribute__((constructor)) static void'
    echo 'call(void) { elsewhere(); }'
} >part.c
run 1 "$profsim" check --subject part.c &&
    has 'profsim: part.c: undefined symbol: elsewhere; a source is compiled alone'
count "a source that is not all" $?
echo '#include "subject.h"' >table.cpp
run 1 "$profsim" check --subject table.cpp &&
    has 'profsim: ./table.cpp: it must be a shared object, or a C source'
count "a source in another language" $?
cp mended.c ./-x.c
run 0 env CC='env gcc' TMPDIR="$dir" "$profsim" check --subject=-x.c A2 \
    --seeds 1..2 && [ -z "$(find . -name 'profsim-subject-*')" ] &&
    run 1 env TMPDIR="$dir/absent" "$profsim" check --subject mended.c &&
    has "profsim: $dir/absent/profsim-subject-"
count "CC of two words, a folder of TMPDIR, a name with a dash" $?
echo 'int' >bad.c
run 1 "$profsim" check --subject bad.c && has 'profsim: bad.c: .* cannot compile'
count "a source that is none" $?
run 1 "$profsim" check --subject absent.so && has 'profsim: ./absent.so: '
count "a file that is not there" $?
run 1 "$profsim" check --subject mended.c H1 &&
    has 'profsim: H1 is a property of the library'
count "a property that is not of subjects" $?
run 1 "$profsim" check A6 && has 'profsim: A6 is a property of subjects'
count "a property that is of subjects only" $?
run 1 "$profsim" check --subject mended.c --rules exact &&
    has 'profsim: --rules is about the library'
count "rules are the library's" $?
for command in check replay shrink; do
    run 1 "$profsim" $command --subject mended.c --subject own x.sim &&
        has "profsim: --subject names one profiler; 'own' is one more"
    count "$command takes one subject" $?
done
sed 's/"example"/"a-name-of-more-than-forty-characters-is-long"/' mended.c >long.c
run 1 "$profsim" check --subject long.c && has 'profsim: .*: its name must have 40'
count "a long name" $?

gcc -shared -fPIC -I "$from/../../subjects" -o mended.so mended.c -lm &&
    run 0 "$profsim" check --subject mended.so A2 A6 --seeds 1..200
count "a shared object" $?
cat >>table.cpp <<'END'
static void *begin(const subject_config *config) { return config->memory; }
static void alloc(void *, uint32_t, const subject_site *, const subject_block *) {}
static void snapshot(void *, subject_visit *, void *) {}
const subject *profsim_subject(void)
{
    static subject table;
    table.version = SUBJECT_VERSION;
    table.name = "cpp";
    table.memory_bytes = 1;
    table.begin = begin;
    table.alloc = alloc;
    table.snapshot = snapshot;
    return &table;
}
END
g++ -Wall -Werror -shared -fPIC -I "$from/../../subjects" -o cpp.so table.cpp &&
    run 0 "$profsim" check --subject ./cpp.so --seeds 1..20 &&
    has 'every property that was tried holds; not tried: '
count "a shared object in C++" $?

long=$(printf '%0200d/%0200d' 0 0)
mkdir -p "$long"
cp "$from/example.c" "$long/example.c"
run 2 "$profsim" check --subject "$long/example.c" A7 --seeds 1..500 &&
    has "replay: profsim replay --subject $long/example.c $saved_in/A7"
count "a replay line is whole, however long the path" $?
rm -r subject-failures

sed 's/[a-z>-]*config.random([^)]*)/(drawn += UINT64_MAX \/ 7)/
    s/^enum {/static uint64_t drawn;\n&/' "$from/whole.c" >faulty.c
run 5 "$profsim" check --subject faulty.c --seeds 1..128 &&
    has '  event 1: the run was made twice, and did not do the same'
count "two runs of a seed that differ are told as such" $?

sed 's/    if (block->address == 0 /    static int calls;\
    if (calls++ == 100000)\
        __builtin_trap();\
&/' mended.c >late.c
run 3 "$profsim" check --subject late.c U1 --seeds 1..20 &&
    has 'U1 does not hold' && has '  the subject was ended by signal'
count "a subject that crashes in U1" $?

# ---- Faults ----

fault() { # PROPERTY BASE TITLE SCRIPT
    rm -rf saved
    sed "$4" "$from/$2.c" >faulty.c
    cmp -s faulty.c "$from/$2.c" && return 1
    case $1 in
    D1) wanted=5 first='D1 broken' ;;
    U? | W3) wanted=2 first="$1 does not hold" ;;
    crash) wanted=3 first='the run was ended by signal' ;;
    hang) wanted=4 first='the run was ended by signal' ;;
    *) wanted=2 first="$1 broken" ;;
    esac
    run "$wanted" "$profsim" check --subject faulty.c --seeds 1..3000 \
        --save saved && has "$first" || return 1
    case $1 in
    D1 | U? | W3) return 0 ;;
    esac
    run "$wanted" "$profsim" replay --subject faulty.c saved/*.sim
}

grep -v '^#' "$from/faults.txt" >faults
[ "$which" = all ] || grep '^E1\|^O3.*own moment\|^W2' "$from/faults.txt" >faults
while IFS='|' read -r property base title script; do
    fault "$property" "$base" "$title" "$script"
    count "$property: $title" $?
done <faults

[ -z "$(ls -A temporary)" ]
count "no temporary file is left" $?
finish subject
