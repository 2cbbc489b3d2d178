#!/bin/bash
# test_profile.sh -- `profsim profile`, `top` and `dump` on a program that
# counts what it does (record/test/sampled_program.c).
#
# At rate 1 every number must be the program's own. At a real rate they are
# estimates: the bounds below are 6.1 standard deviations wide, which a correct
# profiler exceeds once in 1e9 runs; comments at the bounds say which errors they
# would miss. install/read_profile.py reads the profiles; it knows only the
# format.
# usage: record/test/test_profile.sh PROFSIM LIBRARY PROGRAM ALONE
# build: args='out/gcc/profsim out/gcc/libprof-malloc.so out/gcc/record/test/sampled_program out/gcc/record/test/alone_program'
set -u
profsim=$(realpath "$1")
export PROFSIM_PROFILER
PROFSIM_PROFILER=$(realpath "$2")
program=$(realpath "$3")
alone=$(realpath "$4")
reader=$PWD/install/read_profile.py
otlp_reader=$PWD/record/test/read_otlp.py
otlp_schema=$PWD/fixtures/otlp
dir=$(mktemp -d)
children=
trap 'for child in $children; do kill "$child" 2>/dev/null; done; rm -rf "$dir"' EXIT
chmod 755 "$dir"
. common/test/count.sh
shown="out err want got"
cd "$dir" || exit 1
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
export PATH=/usr/bin:/bin:/usr/sbin:/sbin # so that any user finds python3

profile() { # [OPTION...] -- COMMAND: into a new folder f; its exit code
    rm -rf f
    timeout 120 "$profsim" profile -o f "$@" >out 2>err
}

kind() { # KIND [PID]: the one file of that kind
    ls f/${2:-*}."$1".pb.gz
}

# sites FILE: prints a line for each function that allocates, in the form in
# which the program prints it
sites() {
    python3 -I -S "$reader" "$1" | awk '
        $5 ~ /^site_/ { for (i = 1; i < 5; i++) sum[$5, i] += $i; names[$5] }
        END { for (name in names) printf "%s %.0f %.0f %.0f %.0f\n", name,
            sum[name, 1], sum[name, 2], sum[name, 3], sum[name, 4] }' | sort
}

# ------------------------------------------------------------- at rate 1: exact

for mode in "heap" "heap free" "threads"; do
    profile --heap 1 -- "$program" $mode
    count "$mode: it runs" $?
    grep ^site_ out | sort >want
    sites "$(kind heap)" >got
    [ -s want ] && diff want got >diff
    count "$mode: objects and bytes of each site, allocated and in use" $?
    sites "$(kind allocs)" | cmp -s - want
    count "$mode: the same in the profile of allocations" $?
done

# Of the 64 frames that are kept the first is site_malloc's.
for frames in 40 100; do
    profile --heap 1 --mutex 0 -- "$program" deep $frames
    python3 -I -S "$reader" "$(kind heap)" | grep 'site_malloc' >got
    [ "$(wc -l <got)" = 1 ] &&
        [ "$(grep -o 'go_deep' got | wc -l)" = $((frames < 63 ? frames + 1 : 63)) ]
    count "a stack of $frames frames and more, of which 64 are kept" $?
done

profile --heap 1 -- "$program" heap
grep -q '^inuse_space: [0-9]* bytes, exact$' err
count "a total that is exact is called so" $?

# A rate that the program sets holds from its next allocation on.
profile --heap 1 -- "$program" rates
grep ^site_malloc out >want
sites "$(kind heap)" >got
[ -s want ] && diff want got >diff
count "rates: what was allocated while all was sampled, and nothing else" $?

# FILE.otlp: decodes an OpenTelemetry profile, by a schema of our own; it must
# have the same numbers
decode() { # FILE.otlp
    protoc -I"$otlp_schema" --decode=ProfilesData profiles.proto <"$1" >decoded &&
        python3 "$otlp_reader" <decoded
}
profile --heap 1 --otlp -- "$program" heap
count "otlp: it runs" $?
grep ^site_ out | sort >want
decode f/*.heap.otlp >got 2>err && [ -s want ] && diff want got >diff
count "otlp: objects and bytes of each site" $?
decode f/*.allocs.otlp 2>err | cmp -s - want
count "otlp: the same in the profile of allocations" $?

# A process that executes a program begins anew.
profile --heap 1 -- "$program" exec
grep ^site_ out | sort >want
sites "$(kind heap)" >got
[ -s want ] && diff want got >diff
count "exec: the truth of the program that was executed" $?

for mode in fork forked-by-thread; do
    profile --heap 1 -- "$program" $mode
    for process in $(awk '/^process/ { print $2 }' out); do
        awk -v process="$process" '/^process/ { on = $2 == process; next }
            on' out | sort >want
        sites "$(kind heap "$process")" >got
        [ -s want ] && diff want got >diff
        count "$mode: each process has its own truth" $?
    done
    [ "$(awk '/^process/' out | sort -u | wc -l)" = 2 ]
    count "$mode: there were two" $?
done

# What the tables have no room for is missing, and counted: a sample of each of
# the paths is in the profile or in that count. 49,152 blocks are followed.
profile --heap 1 --mutex 0 -- "$program" losses
count "losses: it runs" $?
grep -q '^inuse_space: .*, of what was not dropped$' err && ! grep -q ', exact$' err
count "losses: no total is called exact" $?
sites "$(kind heap)" | cat - f/*.lost.txt out | awk '
    /^site_/ { objects[$1] = $2; used[$1] = $4 }
    /more frames|more stacks/ { dropped += $5 }
    /beyond those it can follow/ { untracked = $5 }
    /behind the profiler/ { unseen = $5 }
    /^blocks/ { live = $2; paths = $4; least = $6 }
    END { exit !(objects["site_middle"] == live &&
        used["site_middle"] == 49152 && untracked >= live - 49152 &&
        dropped > 0 && objects["site_small"] + dropped == paths &&
        used["site_large"] == 0 && unseen >= least && unseen <= least + 1) }'
count "losses: each is counted, and the rest is exact" $?

# ------------------------------------------------------------- at a rate: unbiased
#
# N blocks of S bytes, each sampled with p = 1 - exp(-S/R), counted N_sampled/p:
# its relative deviation is sqrt((1 - p) / (N p)). Of 8 runs together. A rule
# that scales by S/R (2 % too few at S = R/25) would be found at the large size:
# there it is off by 22 %, 90 deviations.
blocks=16000
size=1024
rate=32768
runs=8
: >all
for i in $(seq $runs); do
    profile --heap $rate --mutex 0 -- "$program" many $blocks $size
    sites "$(kind heap)" >>all
done
# The error that is shown: two standard deviations of what each line of the file
# adds. B bytes have no sample with a chance of exp(-B/R), one in 20 at R ln 20:
# as a rule nothing is in use at the end, but for a buffer that was sampled.
errors() { # COLUMN TYPE: as it is to be shown
    python3 -I -S "$reader" "$(kind heap)" |
        awk -v rate=$rate -v column="$1" -v type="$2" '
    $column + 0 > 0 {
        n = $column; bytes = $(column + 1); q = exp(-bytes / n / rate)
        sum += bytes; variance += bytes * bytes / n * q / (1 - q)
    }
    END {
        printf "%s: %.0f bytes", type, sum
        if (sum > 0) printf " +/- %.0f ", 2 * sqrt(variance)
        else printf ", no sample; at most %.0f bytes (95 %%)", log(20) * rate
    }'
}
errors 1 alloc_space >want
grep -qF "$(cat want)" err
count "the error of a total, beside it" $?
errors 3 inuse_space >want
grep -qF "$(cat want)" err
count "the error of what is in use, or what may be if nothing was sampled" $?
awk -v n=$((blocks * runs)) -v rate=$rate -v size=$size '
    { objects[$1] += $2; bytes[$1] += $3; left += $4 + $5 }
    END {
        sizes["site_small"] = size / 16; sizes["site_middle"] = size
        sizes["site_large"] = size * 16
        for (name in sizes) {
            p = 1 - exp(-sizes[name] / rate)
            # each estimate of a bucket is rounded to whole objects and bytes
            most = 6.1 * sqrt((1 - p) / (n * p)) + 64 / n
            off = objects[name] / n - 1
            off_bytes = bytes[name] / (n * sizes[name]) - 1
            printf "%s objects %+.4f bytes %+.4f of at most %.4f\n", name, off,
                off_bytes, most
            if (off > most || off < -most || off_bytes > most ||
                off_bytes < -most)
                bad = 1
        }
        if (left != 0) {
            print "in use:", left, "of 0"
            bad = 1
        }
        exit bad
    }' all >got
count "estimates: within 6.1 deviations of the truth at each size" $?

# Each child draws its own random numbers, and writes files if its only block is
# sampled. If children continued with their parent's numbers, either all or none
# would write.
children_count=100
profile --heap $rate --mutex 0 -- "$program" children $children_count $rate
ls f/*.heap.pb.gz | wc -l |
    awk -v n=$children_count '{
        p = 1 - exp(-1)
        most = 6.1 * sqrt(n * p * (1 - p)) + 1 # the parent may have one, too
        print $1, "of", n, "children, not", n * p, "+-", most
        exit ($1 - n * p > most || n * p - $1 > most) }' >got
count "forks: each child draws which of its blocks is sampled" $?

# ------------------------------------------------------------------------- mutex

for waiters in 1 2 8; do
    profile --heap 0 -- "$program" mutex $waiters
    count "mutex, $waiters waiters: it runs" $?
    python3 -I -S "$reader" "$(kind mutex)" >got
    read -r _ least _ most <out
    awk -v least="$least" -v most="$most" '
        $3 == "pthread_mutex_unlock" { name = $4 }
        $3 != "pthread_mutex_unlock" { name = $3 }
        name == "hold_the_lock" { times += $1; ns += $2 }
        END { exit !(times == 1 && least > 0 && ns >= least && ns <= most) }' got
    count "mutex, $waiters waiters: the holder is charged $least to $most ns" $?
done

# Before there is a second thread the first one locks without us; then its wait
# must be seen. A wait that was noticed late would be shorter than half.
for second in pthread c11 timer fork; do
    profile --heap 0 -- "$alone" $second
    count "alone, then a $second: it runs" $?
    python3 -I -S "$reader" "$(kind mutex)" >got
    awk 'NR == FNR { waited = $2; next }
        / hold_the_lock/ { times += $1; ns += $2 }
        END { exit !(times == 1 && ns > waited / 2 && ns <= waited) }' out got
    count "alone, then a $second: its holder is charged" $?
done

profile --heap 0 --block 1 -- "$program" mutex 1
read -r _ least _ most <out
python3 -I -S "$reader" "$(kind block)" >got
awk -v least="$least" '
    / wait_for_it/ { times += $1; ns += $2 }
    / hold_the_lock/ { wrong = 1 }
    END { exit !(times == 1 && ns >= least && !wrong) }' got
count "block: the waiter waited at least so long" $?

# --------------------------------------------------------------------------- CPU
#
# Three quarters of the time in one function. Ticks by a timer spread less than
# independent ones, whose share is within 6.1 deviations once in 1e9 runs; a
# share of one half would be found (100 ticks and more: deviation 0.043 at most).
profile --heap 0 --mutex 0 --cpu 100 -- "$program" cpu
count "cpu: it runs" $?
python3 -I -S "$reader" "$(kind cpu)" >got
awk 'NR == FNR { share = $2 / ($2 + $4); next }
    / burn_much/ { much += $1 }
    / burn_little/ { little += $1 }
    { if (FNR > 1) all += $1 }
    END {
        n = much + little
        most = 6.1 * sqrt(share * (1 - share) / n)
        off = much / n - share
        printf "share %.3f, off by %+.3f of at most %.3f, %d ticks\n", share,
            off, most, n
        exit !(n >= 100 && n >= all * 0.9 && off <= most && off >= -most)
    }' out got >want
count "cpu: ticks go to the function that burns" $?

# More often than the kernel looks at timers. CPU time is compared with CPU time.
profile --heap 0 --mutex 0 --cpu 1000 -- "$program" cpu
python3 -I -S "$reader" "$(kind cpu)" |
    awk 'NR == FNR { ms = ($2 + $4) / 1e6; next } /burn_/ { n += $1 }
        END { exit !(n > 0.9 * ms && n < 1.1 * ms) }' out -
count "cpu: 1000 ticks are a second" $?

# ------------------------------------------------------------- what is not taken

profile --heap 1 --mutex 0 -- "$program" heap
[ "$(ls f | sed 's/^[0-9]*//' | tr '\n' ' ')" = ".allocs.pb.gz .heap.pb.gz " ]
count "--mutex 0: the heap's files alone" $?

# ------------------------------------------------------------- while it runs

# start [OPTION...] -- COMMAND: its process as $process, its input on
# descriptor 9
start() {
    rm -rf f input said
    mkfifo input
    timeout 300 "$profsim" profile -o f "$@" <input >said 2>said.err &
    runner=$!
    children=$runner
    exec 9>input
    await "the program begins" grep -q '^process' said
    process=$(awk '/^process/ { print $2 }' said)
}
await() { # NAME COMMAND...: retry it for at most 20 s
    name=$1
    shift
    for _ in $(seq 200); do
        "$@" && return
        sleep 0.1
    done
    count "$name: waited for 20 s" 1
}
stop() { # the program ends by itself
    echo >&9
    exec 9>&-
    wait "$runner"
    status=$?
    children=
    return $status
}
asked() { # KIND...: ask, and expect 8 blocks of 1000..1007 bytes
    "$profsim" dump -o now "$process" >out 2>err || return
    sites now.heap.pb.gz >got
    echo "site_malloc 8 8028 8 8028" | cmp -s - got
}

start --heap 1 -- "$program" wait
await "the agent listens" "$profsim" top "$process" >out 2>err
asked
count "dump: what is in use now" $?
[ "$(cat out)" = "now.heap.pb.gz
now.allocs.pb.gz" ]
count "dump: says which files" $?
"$profsim" dump --otlp -o both "$process" >out 2>err &&
    [ "$(tr '\n' ' ' <out)" = "both.heap.pb.gz both.heap.otlp \
both.allocs.pb.gz both.allocs.otlp " ] && decode both.heap.otlp >got 2>err &&
    echo "site_malloc 8 8028 8 8028" | cmp -s - got
count "dump --otlp: beside the others" $?
"$profsim" top "$process" >out 2>err && grep -q 'site_malloc .*< run_until_told' out
count "top: names the stack" $?
"$profsim" top --value nonsense "$process" >out 2>err
[ $? -eq 1 ] && [ "$(wc -l <err)" = 1 ]
count "top: no such value" $?
"$profsim" top --status "$process" >out 2>err &&
    grep -q '^heap_rate_bytes 1$' out && grep -q '^untracked 0$' out
count "top --status: the rate, and no losses" $?
kill -USR2 "$process"
await "SIGUSR2 writes files" test -s f/"$process".heap.pb
[ "$(ls f)" = "$process.heap.pb" ]
count "no file twice, and none without a sample" $?
stop
count "SIGUSR2: the program goes on" $?
[ -s f/"$process".heap.pb.gz ] && [ ! -e f/"$process".heap.pb ]
count "its files are named at the end" $?

start --heap 1 --every 1 -- "$program" wait
await "--every writes files" test -s f/"$process".heap.pb
stop
count "--every: files while it runs" $?

start --heap 1 --no-agent -- "$program" wait
"$profsim" top "$process" >out 2>err
[ $? -eq 1 ] && [ "$(ls /proc/"$process"/task | wc -l)" = 1 ]
count "--no-agent: no thread, nobody answers" $?
stop
[ -s f/"$process".heap.pb.gz ]
count "--no-agent: files at exit" $?

profile --heap 1 -- "$program" signal
grep -q '^signals 1$' out
count "SIGUSR2: a handler of the program's own is kept" $?

# 8 threads allocate and free all the time.
start --heap 1 -- "$program" busy
await "the agent listens" "$profsim" top "$process" >out 2>err
: >got
for i in 1 2 3 4 5 6 7 8; do
    "$profsim" dump -o now$i "$process" >out 2>err || echo "no dump $i" >>got
    python3 -I -S "$reader" now$i.heap.pb.gz | awk -v i=$i '
        NR > 1 && ($3 < 0 || $4 < 0 || $1 < $3 || $2 < $4) { print i, $0 }' >>got
    sites now$i.heap.pb.gz | awk -v i=$i '{ print i, $0 }' >>grown
done
[ ! -s got ]
count "busy: in use is never negative, nor more than was allocated" $?
awk '$2 == "site_of_a_thread" { if ($3 < last) bad = 1; last = $3; seen++
        if ($5 > 8 * 17) bad = 1 }
    END { exit !(seen == 8 && !bad) }' grown
count "busy: allocations only grow; no more in use than the threads can hold" $?
stop
count "busy: it ends well" $?
grep ^site_ said | sort >want
sites f/"$process".heap.pb.gz >got
diff want got >diff
count "busy: exact at the end, after all these dumps" $?

# Each request is waited for a second, and the program's exit at most ten.
start --heap 1 -- "$program" wait
await "the agent listens" "$profsim" top "$process" >out 2>err
python3 -c '
import socket, sys, time
clients = [socket.socket(socket.AF_UNIX) for _ in range(30)]
for client in clients:
    client.connect("\0profsim-profile-" + sys.argv[1])
print("connected", flush=True)
time.sleep(60)' "$process" >silent &
silent=$!
children="$children $silent"
await "clients are silent" grep -q connected silent
stop
[ -s f/"$process".heap.pb.gz ]
count "silent clients: files at exit all the same" $?
kill $silent

# ------------------------------------------------------------------- other users

# Another process has taken the agent's name: a reply from it is not trusted.
python3 -c '
import os, socket, sys
of = int(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0profsim-profile-%d" % of)
listener.listen(1)
print("listening", flush=True)
listener.settimeout(20)
client = listener.accept()[0]
try:
    client.sendall(b"OK\nprocess 1\n")
except BrokenPipeError:
    pass
client.close()
' $$ >taken &
thief=$!
children=$thief
await "the thief listens" grep -q listening taken
"$profsim" top --status $$ >out 2>err
[ $? -eq 1 ] && grep -q 'another process has taken its name' err && [ ! -s out ]
count "a socket name taken by another process is recognised" $?
wait $thief
children=

if [ "$(id -u)" -eq 0 ]; then
    start --heap 1 -- "$program" wait
    await "the agent listens" "$profsim" top "$process" >out 2>err
    cp "$profsim" ./command
    chmod 755 command
    for verb in "top" "top --status" "dump -o /dev/null"; do
        setpriv --reuid 65534 --regid 65534 --clear-groups \
            ./command $verb "$process" >out 2>err
        [ $? -eq 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ]
        count "another user is refused: $verb" $?
    done
    setpriv --reuid 65534 --regid 65534 --clear-groups python3 -c '
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
client.connect("\0profsim-profile-" + sys.argv[1])
try:
    client.sendall(b"status\n")
    said = client.recv(100)
except (BrokenPipeError, ConnectionResetError):
    said = b""
sys.exit(len(said))' "$process" >out 2>err
    count "another user is refused by the agent itself" $?
    asked
    count "and the process still answers its own" $?
    stop
else
    echo "FAILED: needs root: another user must be refused"
    failed=$((failed + 1))
fi

finish profile
