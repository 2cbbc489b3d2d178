#!/bin/sh
# test_same_graphs.sh -- two compilers make the same graphs of the kernels, and no
# kernel takes more than 3.4 runs a graph (docs/exploring.md).
#
# Kernels with a fork or a signal are left out: it strikes between plain accesses, whose
# number depends on the compiler. So are visited-*, where the compiler decides whether a
# waiting loop's first round stands apart.
# build: args='out/gcc/props/test/kernels_all.ok out/clang/props/test/kernels_all.ok' when=long
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
graphs() {
    awk '$3 ~ /^runs?$/ && $1 !~ /^(fork|visited)-|-signal$|^advance-in-flush$/ { print $1, $4 }' "$1"
}
graphs "$1" >"$work/gcc"
graphs "$2" >"$work/clang"
[ -s "$work/gcc" ]
cmp "$work/gcc" "$work/clang"
awk '$3 ~ /^runs?$/ && $6 == 0 && $2 > 3.4 * $4 { print "more than 3.4 runs a graph:", $0; bad = 1 }
    END { exit bad }' "$1" "$2"
echo "same_graphs: 1 passed, 0 failed"
