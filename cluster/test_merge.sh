#!/bin/sh
# test_merge.sh -- 10,000 results are added up in less than 10 s of processor time
# and 200 MB.
# usage: cluster/test_merge.sh PROFSIM SIMULATE_RESULTS
set -u
profsim=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
shown="log err"
. props/test/lib/count.sh
"$profsim" check --seeds 1..20000 --shard 1/10000 --result "$dir/one" \
    >"$dir/log" 2>&1
mkdir "$dir/results"
"$2" "$dir/one" "$dir/results" >"$dir/log" 2>&1
count "10,000 results" $?
/usr/bin/python3 -c '
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
megabytes = used.ru_maxrss / 1024
print(f"merge of 10,000: {seconds:.2f} s of processor time, {megabytes:.1f} MB")
sys.exit(code not in (0, 6) or seconds >= 10 or megabytes >= 200)
' "$profsim" merge "$dir/results"
count "... merged in less than 10 s and 200 MB" $?
echo "bytes a result: $(($(cat "$dir"/results/*.result | wc -c) / 10000))"
finish merge
