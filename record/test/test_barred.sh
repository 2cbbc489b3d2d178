#!/bin/bash
# test_barred.sh -- programs that preloaded libraries do not reach, or that forbid
# system calls: each ends as it does alone, and whatever the recording or the
# profile lacks is reported.
# usage: record/test/test_barred.sh PROFSIM PROGRAM STATIC_PROGRAM
# build: args='out/gcc/profsim out/gcc/record/test/barred_program out/gcc/record/test/static_program'
set -u
profsim=$(realpath "$1")
program=$(realpath "$2")
static=$(realpath "$3")
sources=$PWD/fixtures/alone
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
. common/test/count.sh
shown="alone out err shown"
cd "$dir" || exit 1
export LC_ALL=C TMPDIR=$dir/spools
mkdir -m 1777 spools

skip() { # WHY
    echo "skipped: $1"
}

# as_alone NAME VERB COMMAND...: the output and exit code must be those of the
# command alone
as_alone() {
    name=$1
    verb=$2
    shift 2
    rm -rf f x.rec*
    "$@" >alone 2>&1
    want=$?
    case $verb in
    record) timeout 60 "$profsim" record -o x.rec -- "$@" >out 2>err ;;
    *) timeout 60 "$profsim" $verb -o f -- "$@" >out 2>err ;;
    esac
    got=$?
    [ $got -eq $want ] && cmp -s alone out
    count "$name: ends with code $want and its output, not $got" $?
}
# NAME COMMAND...: a recording without events is none, and so is such a profile;
# with --strict that is a failure, with code 125
unreached() { # NAME COMMAND...
    name=$1
    shift
    as_alone "$name" record "$program" execute "$@"
    grep -q "^profsim record: not recorded: process [0-9]*, $1\$" err &&
        grep -q '1 executed program ran without the recorder' err
    count "$name: it is named" $?
    "$profsim" show x.rec >shown 2>&1
    count "$name: the one that executed it is recorded" $?
    for verb in record profile; do
        rm -rf f x.rec
        case $verb in
        record) "$profsim" record --strict -o x.rec -- "$@" >out 2>err ;;
        profile) "$profsim" profile --strict --heap 1 -o f -- "$@" >out 2>err ;;
        esac
        [ $? -eq 125 ] && "$@" >alone
        cmp -s alone out && [ ! -e x.rec ] && [ -z "$(ls f 2>/dev/null)" ] &&
            [ "$(wc -l <err)" -ge 1 ] && grep -q 'static' err
        count "$name, $verb: it runs, there is nothing, and why" $?
    done
}

# ---- programs of one page; the first line says how each ends

for source in "$sources"/*.c; do
    page=$(basename "$source" .c)
    gcc -w -g -O1 -fno-builtin -pthread -D_GNU_SOURCE -o "$page" "$source" || exit 1
    case $(head -n 1 "$source") in
    "/* exit "*) ends=$(sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p' "$source") ;;
    *) ends=$((128 + $(sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p' "$source"))) ;;
    esac
    for verb in record "profile --heap 1"; do
        as_alone "$page, $verb" "$verb" "$dir/$page"
        [ $want -eq "$ends" ]
        count "$page: alone it ends with $ends, not $want" $?
    done
    rm "$page"
done 2>shell # which reports the signals that end them

unreached static "$static" allocate

if [ "$(id -u)" -eq 0 ]; then
    cp "$program" ./of_nobody
    chown 65534:65534 of_nobody
    chmod 4755 of_nobody
    if ./of_nobody allocate | grep -q 'by right of 65534'; then
        unreached set-uid "$dir/of_nobody" allocate
    else
        skip "set-uid: $dir is mounted nosuid"
    fi
    cp "$program" ./for_all
    chmod 755 for_all
    other=(setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/for_all" allocate)
    as_alone "another user" record "${other[@]}"
    grep -q "^profsim record: not recorded: process [0-9]*, $dir/for_all\$" err
    count "another user: it is named" $?
    timeout 60 "$profsim" profile --strict --heap 1 -o f -- "${other[@]}" >out 2>err
    [ $? -eq 125 ] && cmp -s alone out && [ -z "$(ls f)" ] &&
        grep -q "no profile was written: .* another user's" err
    count "another user: it runs, there is no profile, and why" $?
    [ -z "$(find f spools -user 65534)" ]
    count "another user: leaves no file" $?
else
    skip "set-uid: needs root"
    skip "another user: needs root"
fi

# ---- a program that forbids itself system calls

"$program" confine >alone
if [ $? -eq 77 ]; then
    skip "confined: no seccomp here"
else
    as_alone confined record "$program" confine
    grep -qx 'child 5' out
    count "confined, recorded: the child lives" $?
    "$profsim" show --top 99 x.rec >shown 2>&1
    grep -q '^ *7700 *100 .*allocate_after .*< run_confined' shown &&
        grep -q '^ *7700 *100 .*allocate_before .*< run_confined' shown
    count "confined, recorded: all allocations of it" $?
    grep -q '^not recorded  *1 child, forked by a process that confined' shown
    count "confined, recorded: what is missing is reported" $?

    for agent in "" " --no-agent"; do
        as_alone "confined$agent" "profile --heap 1$agent" "$program" confine
        grep -qx 'child 5' out
        count "confined$agent: the child lives" $?
        [ "$(ls f | sed 's/^[0-9]*//' | tr '\n' ' ')" = \
            ".allocs.pb.gz .heap.pb.gz .lost.txt " ]
        count "confined$agent: files of the parent" $?
        grep -q 'not in its profiles: .*confined itself' err &&
            grep -q 'confined itself' f/*.lost.txt
        count "confined$agent: what is missing is reported" $?
    done
    as_alone "confined" "profile --heap 1" "$program" confine
    grep -q '^ *7700 .*allocate_after' err && grep -q '^ *7700 .*allocate_before' err
    count "confined: with an agent, all of the parent" $?
fi

as_alone unconfined record "$program" unconfined
"$profsim" show --top 99 x.rec >shown 2>&1
grep -q '^ *7700 *100 .*allocate_after' shown &&
    ! grep -q 'children, forked by a process' shown
count "not confined, recorded: the child, too" $?
for agent in "" " --no-agent"; do
    as_alone "unconfined$agent" "profile --heap 1$agent" "$program" unconfined
    [ "$(ls f/*.heap.pb.gz | wc -l)" -eq 2 ] && ! grep -q 'not in its profiles' err
    count "not confined$agent: it and the child that is not" $?
done

# ---- a program that changes its rights has only one thread then

as_alone "rights" "profile --heap 1" "$program" rights \
    keepcaps securebits capset setns
[ "$(grep -c ', 1 threads' alone)" -eq 4 ]
count "rights: each was tried" $?
for call in capset unshare; do
    as_alone "confined, $call" "profile --heap 1" "$program" rights no-new-privs $call
    ls f/*.heap.pb.gz >/dev/null && grep -q 'confined itself' err
    count "confined, $call: its agent wrote the last files" $?
done
as_alone "asked once" "profile --heap 1" "$program" asked
as_alone "cancelled" "profile --heap 1" "$program" cancelled
grep -qx 'went on: 1' alone
count "cancelled: alone it goes on" $?

# ---- a user namespace, which takes a process with one thread

if unshare --user true 2>alone; then
    as_alone "user namespace" "profile --heap 1" unshare --user \
        --map-root-user "$program" allocate
else
    skip "user namespace: $(cat alone)"
fi

# ---- a program that has the CPU timer to itself

as_alone "its own timer" "profile --heap 1 --cpu 100" "$program" take-timer
grep -q 'not in its profiles: ticks .*SIGPROF or ITIMER_PROF' err
count "its own timer: ticks are missing, and that is reported" $?
as_alone "no timer" "profile --heap 1 --cpu 100" "$program" allocate
! grep -q 'not in its profiles' err && ! ls f | grep -q lost
count "no timer of its own: nothing is reported" $?

[ -z "$(ls spools)" ]
count "no spool is left" $?
finish barred
