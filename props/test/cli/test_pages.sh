#!/bin/sh
# Pages and their data (docs/pages.md): what --html and --data write about runs
# that fail in each way, and about names that would end an HTML script.
# usage: test_pages.sh PROFSIM
set -u
profsim=$1
. props/test/lib/count.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=$work
shown=out

check() { # WHAT COMMAND...
    what=$1
    shift
    "$@" >"$work/out" 2>&1
    count "$what" $?
}

# says FILE EXPRESSION: is a Python expression about the data `d` true?
says() {
    python3 - "$1" "$2" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    d = json.load(file)
if not eval(sys.argv[2]):
    print(sys.argv[2], "is not so of", json.dumps(d)[:1500])
    sys.exit(1)
END
}

# ---- a heap that breaks a rule ----
"$profsim" check H2 --rules go1.6-late --save "$work/saved" --jobs 1 \
    --json "$work/report.json" >"$work/said" 2>&1
saved=$work/saved/H2-go1.6-late-67
check "a page is saved beside the failure" test -s "$saved.html"
check "and named" grep -qxF "page: $saved.html" "$work/said"
check "and in the report" says "$work/report.json" \
    "[r['page'] for r in d['results'] if 'page' in r] == ['$saved.html']"
"$profsim" explain "$saved.sim" --data "$work/h2.json" >"$work/said"
check "what is broken, and where" says "$work/h2.json" \
    "d['broken']['property'] == 'H2' and d['broken']['event'] == 7"
check "the whole file, with what it sets" says "$work/h2.json" \
    "d['scenario'] == open('$saved.sim').read() and 'rules go1.6-late' in d['scenario']"
check "all its events are needed" says "$work/h2.json" \
    "d['needed'] == [1, 2, 3, 4, 5, 6, 7]"
check "shown: no allocation, a free; the oracle: both" says "$work/h2.json" \
    "d['events'][6]['snapshot']['rows'] == [[0, 0, 1, 1, 1]]"
check "the allocation waits in the previous stage" says "$work/h2.json" \
    "[e['rows'] for e in d['events'] if e['rows']][-1][0][5:7] == [1, 0]"

# ---- the ring, whose numbers follow from the rules alone ----
"$profsim" explain fixtures/scenarios/visible-phases.sim \
    --data "$work/ring.json" >"$work/said"
# It was allocated in cycle 2, so it is in slot (2 + 2) % 3, and published by
# the flush of cycle 4.
check "an allocation waits in its slot" says "$work/ring.json" \
    "[2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0] in d['events'][9]['rows']"
check "published with its free by the post-sweep" says "$work/ring.json" \
    "[2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0] in d['events'][20]['rows']"
check "library and oracle agree at each event" says "$work/ring.json" \
    "all(r[1:3] == r[3:5] for e in d['events'] for r in e['rows'])"
check "nothing is broken" says "$work/ring.json" "d['broken'] is None"

# What is published and what waits in a slot is, together, what has happened.
cat >"$work/slots" <<'END'
buckets 64
stack s1 = main>one

alloc o1 s1 16
alloc o2 s1 16
drop o1
gc-mark
gc-terminate
gc-sweep o1
alloc o3 s1 16
free o3
gc-flush
gc-mark
gc-terminate
alloc o4 s1 16
free o4
gc-flush
drop o2
gc-mark
gc-terminate
gc-sweep o2
gc-flush
END
for rules in exact go1.6-late; do
    printf 'profsim scenario 2\nrules %s\n' "$rules" |
        cat - "$work/slots" >"$work/slots.sim"
    "$profsim" explain "$work/slots.sim" --data "$work/slots.json" >"$work/said"
    check "no count is lost between the slots: $rules" says "$work/slots.json" \
        "all([sum(r[k] + r[k + 4] + r[k + 6] + r[k + 8] for r in {r[0]: r for e in d['events'][:i + 1] for r in e['rows']}.values()) for k in (1, 2)] == [sum(e['text'].startswith(w) for e in d['events'][:i + 1]) for w in ('alloc', ('gc-sweep', 'free'))] for i in range(d['events_count']))"
done

# A sweep that comes late, and a flush that does not come: then the snapshots need
# not equal the heap of any mark termination.
for late in late-free missing-flush; do
    "$profsim" explain fixtures/scenarios/$late.sim --data "$work/late.json" \
        >"$work/said"
    check "no heap to compare with: $late" says "$work/late.json" \
        "sorted({('termination' in s, all((c is None) != ('termination' in s) for r in s['rows'] for c in r[3:])) for s in [e['snapshot'] for e in d['events'] if 'snapshot' in e]}) in ([(False, True)], [(False, True), (True, True)])"
done

# ---- locks, tasks ----
"$profsim" replay fixtures/scenarios/lock-queue.sim \
    --data "$work/locks.json" >"$work/said"
check "who waits for a lock" says "$work/locks.json" \
    "d['events'][2]['queues'] == ['t1 waits for mutex 0 since tick 3', 't2 waits for mutex 0 since tick 4']"
check "waits are charged as the oracle says" says "$work/locks.json" \
    "all(r[1:3] == r[3:5] for e in d['events'] for r in e['rows']) and [b['kind'] for e in d['events'] for b in e.get('buckets', [])].count('block') == 1"
"$profsim" replay fixtures/scenarios/every-event.sim \
    --data "$work/tasks.json" >"$work/said"
check "what runs on each processor" says "$work/tasks.json" \
    "d['events'][25]['procs'] == ['t1', 't4', 't2'] and d['events'][25]['tracing']"

# ---- long ones ----
long() { # N: prints a scenario
    awk -v n="$1" 'BEGIN {
        print "profsim scenario 2\nbuckets 4096"
        for (s = 0; s < 1000; s++) printf "stack s%d = 0x%x\n", s, 4194304 + s
        for (i = 0; i < n; i++) {
            for (s = 0; s < 1000; s++)
                printf "alloc o%d_%d s%d 16\n", i, s, s
            print "gc-mark\ngc-terminate\ngc-flush"
        }
        for (i = 0; i < 300; i++) print "snapshot"
        print "expect nothing"
        for (i = 0; i < 5000; i++) print "iterate"
    }'
}
long 5 >"$work/long.sim"
"$profsim" replay "$work/long.sim" --html "$work/long.html" \
    --data "$work/long.json" >"$work/said" 2>&1
check "a page is below 2 MB, whatever is in it" test \
    "$(wc -c <"$work/long.html")" -lt 2000000
check "it ends where the run does, not the file" says "$work/long.json" \
    "d['events'][-1]['n'] == d['broken']['event'] == 5315 and len(d['events']) == 31"

# ---- traces: numbers that follow from the scenario alone ----
"$profsim" replay fixtures/scenarios/late-return-across-sessions.sim \
    --data "$work/trace.json" >"$work/said"
check "each session was read as it must be" says "$work/trace.json" \
    "[[e[:5] + e[7:] for e in s['expected']] for s in d['traces']] == [[f[:5] + f[7:] for f in s['found']] for s in d['traces']] and [s['verdict'] for s in d['traces']] == ['ok', 'ok']"
# The thread came back at tick 2500 of the clock; 64 of these are one tick of
# the file, counted from 1.
check "a return is of the event at which the thread came back" says \
    "$work/trace.json" \
    "[e for e in d['traces'][1]['expected'] if e[0] == 'GoSysExit'][-1] == ['GoSysExit', 1, 2, 2, 2500 // 64 + 1, 2500 // 64 + 1, 19, '']"
check "a stack has its name" says "$work/trace.json" \
    "[e[7] for e in d['traces'][0]['found'] if e[0] == 'GoSysCall'] == ['call']"
check "the records fill the file" says "$work/trace.json" \
    "all(s['records'][0][0] == 16 and s['parts'][-1] == s['bytes'] for s in d['traces'])"

# ---- orderings ----
"$profsim" explore fixtures/explore/user/peterson_broken.c \
    --data "$work/threads.json" >"$work/said"
check "a stale read, and that it is the cause" says "$work/threads.json" \
    "d['kind'] == 'threads' and [e['stale']['from'] for e in d['events'] if 'stale' in e] == [None] and [c['necessary'] for c in d['choices']] == [True]"
check "each with its line" says "$work/threads.json" \
    "d['events'][-1]['site'].endswith('peterson_broken.c:22')"
check "the command that replays it" says "$work/threads.json" \
    "' --replay ' in d['command'] and d['command'] in open('$work/said').read()"

# ---- a recording ----
"$profsim" show fixtures/recordings/python-index.rec --data "$work/run.json" \
    >"$work/said"
peak=$(awk '/^peak/ { print $2; exit }' "$work/said")
check "the highest step is the peak" says "$work/run.json" \
    "max(sum(b[:-2]) for b in d['bins']) == $peak == d['peak'][0]"
check "sites and others are all there is, at no time less than 0" says \
    "$work/run.json" "all(v >= 0 for b in d['bins'] for v in b) and len({len(b) for b in d['bins']}) == 1"
check "every allocation is in one step" says "$work/run.json" \
    "sum(b[-1] for b in d['bins']) == 74755 and d['lost'] == 0"
check "boxes lie within their parents" says "$work/run.json" \
    "all(sum(n[m] for n in d['tree'][1:] if n[1] == i) <= d['tree'][i][m] for i in range(60) for m in (2, 4, 6))"
"$profsim" show fixtures/recordings/waits.rec --data "$work/waits.json" \
    >"$work/said"
check "locks by the time waited for them" says "$work/waits.json" \
    "len(d['locks']) > 0 and d['locks'] == sorted(d['locks'], key=lambda l: -l['ticks']) and all(l['ticks'] >= l['longest'] for l in d['locks'])"

check "each number of random scenarios" python3 \
    props/test/cli/random_scenarios.py "$profsim" "$work" 100

# One of two results cannot be written: an error, and the other is there.
touch "$work/file"
"$profsim" show fixtures/recordings/waits.rec --out "$work/file/none" \
    --html "$work/other.html" >"$work/said" 2>&1
check "a folder that cannot be made beside a page" test $? -eq 1
check "... which is there" test -s "$work/other.html"
for pair in "html data" "data html"; do
    "$profsim" replay fixtures/scenarios/lock-queue.sim \
        --${pair% *} "$work/none/x" --${pair#* } "$work/pair" >"$work/said" 2>&1
    check "a ${pair% *} that cannot be written beside the other" test $? -eq 1
    check "... which is there" test -s "$work/pair"
    rm "$work/pair"
done

# ---- a campaign ----
"$profsim" check H2 --rules go1.6-late --save "$work/again" --jobs 1 \
    --json "$work/c.json" --html "$work/c.html" >"$work/said" 2>&1
sed '1,/id="data">$/d; /^<\/script>$/,$d' "$work/c.html" >"$work/inside"
check "a campaign's page holds its report" test -s "$work/inside"
check "the same one" cmp "$work/inside" "$work/c.json"
"$profsim" check H2 --seeds 1..2 --json "$work/z" --html "$work/z" \
    >"$work/said" 2>&1
check "two reports in one file: said" grep -q -- \
    "--json and --html cannot both be" "$work/said"

# ---- names of others ----
evil='<_script>"'
sed 's|^# pins:|# </script><script>alert(1)</script>|' \
    fixtures/scenarios/visible-phases.sim >"$work/$evil.sim"
"$profsim" replay "$work/$evil.sim" --html "$work/evil.html" \
    --data "$work/evil.json" >"$work/said" 2>&1
check "a name stays a name" says "$work/evil.json" \
    "'</script><script>alert(1)' in d['about'] and d['title'].endswith('/<_script>\\\".sim')"
check "and ends no script" test \
    "$(grep -c '</script><script>alert' "$work/evil.html")" = 0
check "a page loads nothing" test "$(grep -cE \
    '(src|href)="?(https?:|//)|url\(http|@import' "$work/evil.html")" = 0
check "and is small" test "$(wc -c <"$work/evil.html")" -lt 100000

# ---- what cannot be ----
cp fixtures/scenarios/lock-queue.sim "$work/x.sim"
"$profsim" replay "$work/x.sim" --html "$work/x.sim" >"$work/said" 2>&1
check "not over what was read: exit" test $? -ne 0
check "not over what was read" cmp -s fixtures/scenarios/lock-queue.sim \
    "$work/x.sim"
"$profsim" replay "$work/x.sim" --html "$work/none/x.html" >"$work/said" 2>&1
check "no folder: said" grep -q 'No such file' "$work/said"
"$profsim" replay "$work/x.sim" "$work/x.sim" --html "$work/y.html" \
    >"$work/said" 2>&1
check "one file: said" grep -q 'take one file' "$work/said"
check "one file: nothing written" test ! -e "$work/y.html"

finish pages
