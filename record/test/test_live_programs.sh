#!/bin/bash
# The heap that `profsim show` shows of real programs, against a preload that
# counts by itself (record/test/count_heap.c): peak, live at exit and totals, to the
# byte and the object. If the recorder reports a loss of events, the test fails, too;
# what a program maps itself and the cut of a stack are no such loss.
#
# A program that is not installed is an error; .ci/deps has them all.
# usage: record/test/test_live_programs.sh PROFSIM COUNT_HEAP.so base|all
#   base: programs of every machine that runs the tests
# build: args='out/gcc/profsim out/gcc/record/test/count_heap.so base'
# build: as=live_programs_all args='out/gcc/profsim out/gcc/record/test/count_heap.so all' when=check-programs
set -u
profsim=$(realpath "$1")
counter=$(realpath "$2")
which=$3
dir=$(mktemp -d)
servers=
trap 'for server in $servers; do kill "$server" 2>/dev/null; done; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C HOME="$dir" PYTHONDONTWRITEBYTECODE=1
export PATH=/usr/bin:/bin:/usr/sbin:/sbin # real programs, not wrappers
passed=0
failed=0

# compare NAME: compare the recording x.rec with the counts of its process
compare() {
    "$profsim" show --top 1 x.rec >shown 2>err || {
        failed=$((failed + 1))
        echo "FAILED: $1: $(cat err)"
        return
    }
    process=$(sed -n 's/^process \([0-9]*\),.*/\1/p' shown)
    # $2...: allocs, their bytes, frees, live objects, their bytes, peak
    # objects, their bytes
    set -- "$1" $(od -An -v -t u8 -w8 -N 64 "counts/$process")
    counted="peak $8 bytes $7; exit $6 bytes $5; allocated $3 bytes $2; freed $4"
    got=$(awk '
        function objects() { for (i = 1; i < NF; i++) if ($i == "in") return $(i + 1) }
        /^peak / { peak = $2 " bytes " objects() }
        /^at exit / { exits = $3 " bytes " objects() }
        /^allocated +[0-9]/ { all = $2 " bytes " objects()
            for (i = 1; i < NF; i++) if ($i == "of") freed = $(i - 1) }
        END { print "peak " peak "; exit " exits "; allocated " all "; freed " freed }
    ' shown)
    lost=$(sed -n 's/^not recorded *//p' shown |
        grep -v -e 'mapped itself' -e 'deeper than --depth')
    if [ "$got" = "$counted" ] && [ "${lost:-nothing}" = nothing ] && [ "$3" -gt 0 ]; then
        passed=$((passed + 1))
        echo "ok: $1: $got"
    else
        failed=$((failed + 1))
        echo "FAILED: $1: $got"
        echo "    counted: $counted; unknown frees ${9}"
        echo "    not recorded: $lost"
    fi
}

# under COMMAND...: record the command as x.rec, and count. The shell that adds
# the counter is an image of its own, and may be the larger one.
under() {
    rm -rf counts x.rec x.rec.*
    mkdir counts
    COUNT_HEAP=$dir/counts timeout 300 "$profsim" record -o x.rec -- \
        sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$counter" "$@" || return
    if grep -q 'LD_PRELOAD=$0' x.rec; then
        mv x.rec.2 x.rec
    fi
}

# program NAME COMMAND...: compare one program, from start to end
program() {
    name=$1
    shift
    command -v "$1" >/dev/null || {
        failed=$((failed + 1))
        echo "FAILED: $name: $1 is not installed (.ci/deps build test live)"
        return
    }
    under "$@" >out 2>err </dev/null
    if [ ! -s x.rec ]; then
        failed=$((failed + 1))
        echo "FAILED: $name: no recording: $(tail -n 3 err)"
        return
    fi
    compare "$name"
}

# ------------------------------------------------------------ what they work on
seq 1 20000 | sed 's/.*/line & of some text, & times/' >text
mkdir tree
for i in 1 2 3 4 5 6 7 8 9; do mkdir -p tree/$i/a/b && cp text tree/$i/a/b; done
cat >work.sql <<'END'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
    insert into t select i, 'text ' || i * 7 % 1000 from n;
create index by_b on t(b);
select count(*), b from t group by b order by 1, 2 limit 5;
delete from t where a % 3 = 0;
END
cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return strcmp(a, b); }
int main(void) {
    char lines[64][64];
    for (int i = 0; i < 64; i++) snprintf(lines[i], 64, "%d", i * 7 % 64);
    qsort(lines, 64, 64, compare);
    return puts(lines[0]) < 0;
}
END
cat >work.cc <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>
static void work(int seed) {
    std::map<std::string, std::vector<int>> map;
    for (int i = 0; i < 3000; i++)
        map[std::to_string(i * seed % 977)].push_back(i);
}
int main() {
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; i++) threads.emplace_back(work, i);
    for (auto &thread : threads) thread.join();
}
END
printf 'all: x\nx: work.c\n\ttrue\n' >Makefile

program ls ls -lR tree
program sort sort -r --parallel=1 text
program "sort, 4 threads" sort -r --parallel=4 -S 200k text
program grep grep -n 'line 1.*9' text
program sed sed 's/\(line\) \([0-9]*\)/\2 \1/' text
program awk awk '{ n[$2 % 100] += NF } END { for (i in n) print i, n[i] }' text
program find find tree -name '*e*' -size +1k
program tar tar -cf tree.tar tree
program diff diff -r tree/1 tree/2
program bash bash -c 'for i in {1..2000}; do a[i % 50]=x$i; done; echo "${a[@]}"'
program perl perl -e 'my %h; $h{$_ % 997} .= $_ for 1 .. 30000; print scalar keys %h'
program python3 python3 -S -c 'd = {str(i): [i] * (i % 9) for i in range(20000)}
print(sum(len(v) for v in d.values()))'
program sqlite3 sqlite3 work.db '.read work.sql'
program "git init" git init -q repository
(cd repository && cp ../text . && git add text &&
    git -c user.name=n -c user.email=e@localhost commit -qm one)
program "git log" git -C repository log -p --stat
program gcc "$(gcc -print-prog-name=cc1)" -quiet -O2 work.c -o work.s
program clang clang -O2 -c work.c -o work.o
program make make -s
program ld ld -r -o both.o work.o

finish() {
    echo "live programs: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
[ "$which" = all ] || finish

# ------------------------------------------------- programs that take packages
g++ -O1 -pthread -o threads work.cc || exit 1
program "clang++" clang++ -O1 -c work.cc -o work2.o
program jq jq -n '[range(5000) | {key: tostring, value: .}] | from_entries | length'
program openssl openssl genrsa -out key 1024
program "C++, 4 threads" ./threads
program gdb gdb -nx -batch -ex 'info functions compare' -ex 'info line main' \
    ./threads
program node node -e 'const m = new Map();
for (let i = 0; i < 1e5; i++) m.set("k" + i, [i]); console.log(m.size)'

# A server that answers requests until it is told to end.
port=$((20000 + $$ % 20000))
under redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no \
    >out 2>err </dev/null &
servers=$!
for i in $(seq 100); do
    redis-cli -h 127.0.0.1 -p $port ping >/dev/null 2>&1 && break
    sleep 0.1
done
timeout 120 redis-benchmark -h 127.0.0.1 -p $port -q -n 2000 \
    -t set,get,lpush,lrange_100,hset,sadd >benched 2>&1 || cat benched
redis-cli -h 127.0.0.1 -p $port shutdown nosave >/dev/null 2>&1
wait $servers
servers=
compare redis-server
finish
