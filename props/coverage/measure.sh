#!/bin/sh
# How many lines of prof/ the tests reach: prints a row for each file, and fails
# below 97 % in all. What the explored kernels reach counts, too.
#
# The core is compiled by clang with counters that are mapped files, so that a
# process that dies or leaves by _exit counts.
# usage: props/coverage/measure.sh
set -eu
cd "$(dirname "$0")/../.."
o=out/cov
here=$(pwd)
bar=97

die() {
    echo "coverage: $*" >&2
    exit 1
}

rm -rf $o/profiles
# Tests run again. Programs that the build no longer makes must not count.
[ ! -d $o ] || find $o -type f \( -name '*.ok' -o -perm -u+x \) -exec rm -f {} +
LLVM_PROFILE_FILE=$here/$o/profiles/%m%c.profraw
export LLVM_PROFILE_FILE
tools/ninja -k0 -j $(($(nproc) + 2)) $o/check $o/profsim
echo "coverage: random worlds under four rule sets" >&2
for rules in exact go1.17 go1.10 go1.5; do
    $o/profsim check --seeds 1..3000 --rules $rules >/dev/null ||
        die "profsim check --rules $rules failed"
done
# The explored core is one object with hidden names, so it needs a file of its
# own. A thousand orderings of a kernel reach its lines; exit code 6 says that
# there are more.
echo "coverage: the kernels" >&2
LLVM_PROFILE_FILE=$here/$o/profiles/explored-%m.profraw
for kernel in $($o/props/test/test_kernels --list | cut -d' ' -f1); do
    $o/props/test/test_kernels "$kernel" --runs 1000 >$o/explored.log ||
        [ $? -eq 6 ] || {
        cat $o/explored.log
        die "kernel $kernel failed"
    }
done
unset LLVM_PROFILE_FILE

llvm-profdata-14 merge -o $o/all.profdata $o/profiles/*.profraw
programs=$(find $o -type f -perm -u+x ! -name '*.o' ! -name '*.so' |
    LC_ALL=C sort | sed '2,$s/^/-object /')
llvm-cov-14 report $programs -instr-profile $o/all.profdata \
    $(find "$here/prof" -name '*.[ch]' ! -path '*/include/*' ! -path '*/test/*') 2>$o/report.err |
    awk -v bar=$bar 'NF > 9 && $8 ~ /^[0-9]+$/ {
            lines = $8; missed = $9
            printf "%-40s %6d lines, %5d not reached\n", $1, lines, missed
            if ($1 == "TOTAL") { all = lines; left = missed }
        }
        END {
            if (all == 0) { print "coverage: nothing was measured"; exit 1 }
            printf "All: %d of %d lines (%.2f %%)\n", all - left, all,
                100 * (all - left) / all
            low = 100 * (all - left) < bar * all
            printf "coverage: %d passed, %d failed\n", !low, low
            exit low
        }'
