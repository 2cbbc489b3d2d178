#!/bin/sh
# `profsim explore PROGRAM --replay LIST --gdb N`: gdb stops before event N, and
# shows every thread's own stack.
# usage: test_explore_gdb.sh PROFSIM
set -u
profsim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
shown=out
. props/test/lib/count.sh

check() { # WHAT TEXT
    grep -qF -- "$2" "$dir/out"
    count "$1: '$2'" $?
}

debug() { # WORD...; gdb's commands come from standard input
    TMPDIR=$dir timeout 120 "$profsim" explore "$@" >"$dir/out" 2>&1
}

# Two threads hold a lock each: one waits, the other is about to take the lock
# that the first one holds.
debug fixtures/explore/user/deadlock.c --replay 0,0,1 --gdb 3 <<'END'
profsim-thread 1
frame function thread_body
info symbol $rip
continue
END
check "it stops" "It stops before event 3."
check "a thread that waits" "in first (unused=0x0)"
check "the line it waits at" "fixtures/explore/user/deadlock.c:12"
check "the thread that runs" "thread 2, which runs:"
check "its line" "fixtures/explore/user/deadlock.c:21"
check "main, which joins" "fixtures/explore/user/deadlock.c:35"
check "looking around" "thread_body + "
check "it goes on where it was" "every unfinished thread waits (deadlock)"

# The local variables of a thread that is not running are shown.
cat >"$dir/locals.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p)
{
    volatile int mine = *(int *)p + 40;
    x = x + 1;
    return mine == 0 ? p : 0;
}
int main(void)
{
    int two = 2;
    pthread_t t;
    pthread_create(&t, 0, add, &two);
    x = x + 1;
    pthread_join(t, 0);
    return x != 2;
}
END
"$profsim" explore "$dir/locals.c" >"$dir/found"
list=$(sed -n 's/^  replay:.*--replay //p' "$dir/found")
last=$(sed -n 's/^ *\([0-9]*\)  .*locals.c:7$/\1/p' "$dir/found" | tail -n 1)
debug "$dir/locals.c" --replay "$list" --gdb "$last" <<'END'
profsim-thread 1
frame function add
print mine
END
check "a local variable" "= 42"
debug "$dir/locals.c" --replay "$list" --gdb 900 </dev/null
check "beyond the end it stops at the failure" "It stops before event"

debug "$dir/locals.c" --gdb 1 </dev/null
check "without a list" "--gdb needs --replay, too"
debug "$dir/locals.c" --replay 0 --gdb x </dev/null
check "no number" "--gdb"
rm -rf "$dir"/*.c "$dir/out" "$dir/found"
[ -z "$(ls "$dir")" ]
count "nothing is left behind" $?

finish "explore gdb"
