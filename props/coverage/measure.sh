#!/bin/sh
# How much of prof/ the tests reach: lines, and both sides of each condition.
#
#   measure.sh DIR     run the tests with counters, write coverage.md and
#                      coverage.csv into DIR; exit 1 below the bar
#
# The core is compiled by clang with counters in the source's own terms, kept
# in mapped files, so that a process that dies or that leaves by _exit counts,
# too. The explored build of the core is one more program.
set -eu
cd "$(dirname "$0")/../.."
dir=$1
o=out/cov
here=$(pwd)

die() {
    echo "coverage: $*" >&2
    exit 1
}

rm -rf $o/profiles
# Tests run again. Programs that the build no longer makes must not count.
[ ! -d $o ] || find $o -type f \( -name '*.ok' -o -perm -u+x \) -exec rm -f {} +
LLVM_PROFILE_FILE=$here/$o/profiles/%m%c.profraw
export LLVM_PROFILE_FILE
ninja -k0 -j $(($(nproc) + 2)) $o/check
echo "coverage: random worlds under four rule sets" >&2
for rules in exact go1.17 go1.10 go1.5; do
    $o/profsim check --seeds 1..3000 --rules $rules >/dev/null ||
        die "profsim check --rules $rules failed"
done
echo "coverage: every ordering of the kernels, for some minutes" >&2
# The explored core is one object with hidden names, so it needs a file of its
# own.
LLVM_PROFILE_FILE=$here/$o/profiles/explored-%m.profraw
$o/props/explore_all --list | cut -d' ' -f1 |
    xargs -P "$(nproc)" -I NAME $o/props/explore_all NAME --exhaustive \
        >$o/explored.log || {
    cat $o/explored.log
    die "a kernel failed"
}
unset LLVM_PROFILE_FILE

llvm-profdata-14 merge -o $o/all.profdata $o/profiles/*.profraw
first=
rest=
for program in $(find $o -type f -perm -u+x ! -name '*.o' ! -name '*.so' |
    LC_ALL=C sort); do
    if [ -z "$first" ]; then first=$program; else
        rest="$rest -object $program"
    fi
done
sources=$(find "$here/prof" -name '*.[ch]' ! -path '*/include/*')
# Lines are exported in one format, conditions in another.
llvm-cov-14 export -format=lcov $first $rest -instr-profile $o/all.profdata \
    $sources >$o/lines.lcov
llvm-cov-14 export $first $rest -instr-profile $o/all.profdata $sources |
    jq -r '.data[].files[] | .filename as $f | .branches[] |
        [$f, .[0], .[1], .[4], .[5]] | @tsv' >$o/branches.tsv

mkdir -p "$dir"
awk -v here="$here/" -v csv="$dir/coverage.csv.tmp" \
    -f props/coverage/report.awk props/coverage/reasons \
    $o/lines.lcov $o/branches.tsv >"$dir/coverage.md.tmp" && status=0 || status=$?
mv "$dir/coverage.csv.tmp" "$dir/coverage.csv"
mv "$dir/coverage.md.tmp" "$dir/coverage.md"
sed -n '/^All:/p' "$dir/coverage.md"
[ $status -eq 0 ] || sed -n '/^Not reached, and no reason/,$p' "$dir/coverage.md"

# Of this program alone: which functions share memory but are in no kernel.
llvm-profdata-14 merge -o $o/kernels.profdata $o/profiles/explored-*.profraw
llvm-cov-14 export $o/props/explore_all -instr-profile $o/kernels.profdata \
    $sources >$o/kernels.json
props/coverage/kernels.py $o/kernels.json || status=1
exit $status
