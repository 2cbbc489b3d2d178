#!/bin/sh
# test_headers.sh -- each installed header compiles alone, as strict C11 and as
# C++17, without a warning of gcc or clang.
# usage: install/test_headers.sh
# build: args='' needs=out/gcc/install/test_install.ok when=long
set -u
cd "${0%/*}/.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# What clang's -Weverything says beyond mistakes: that structures have padding,
# and that C++17 is not C++98.
gcc_warns="-Wall -Wextra -Wpedantic -Wconversion -Werror"
clang_warns="-Weverything -Wno-padded -Wno-c++98-compat-pedantic -Werror"

# compiles SOURCE COMPILER WORD...
compiles() {
    source=$1
    shift
    if "$@" -fsyntax-only -I"$dir/usr/local/include" "$source" \
        >"$dir/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $(cat "$source"): $*"
        cat "$dir/said"
    fi
}

# In any language and with any warnings: SOURCE is a file without its ending
compiles_everywhere() {
    compiles "$1.c" gcc -std=c11 $gcc_warns
    compiles "$1.c" clang -std=c11 $clang_warns
    compiles "$1.cc" g++ -std=c++17 $gcc_warns
    compiles "$1.cc" clang++ -std=c++17 $clang_warns
}

env -u PREFIX -u LIBDIR DESTDIR="$dir" install/install.sh install >/dev/null ||
    exit 1
headers=$(cd "$dir/usr/local/include" && echo prof/*.h)
for header in $headers; do
    echo "#include <$header>" | tee "$dir/one.c" >"$dir/one.cc"
    compiles_everywhere "$dir/one"
done
# All in one, and what a program calls its own macros stays its own.
{
    echo '#define X(a) a'
    for header in $headers; do
        echo "#include <$header>"
    done
    echo 'enum x { X(ONE) = PROF_DUMP_FIRST_BYTES };'
} | tee "$dir/all.c" >"$dir/all.cc"
compiles_everywhere "$dir/all"

# Each compiler still sees what a header should not have.
good=$passed
echo 'static inline long to_long(double x) { return x; }' |
    tee "$dir/bad.c" >"$dir/bad.cc"
compiles_everywhere "$dir/bad" >"$dir/bad"
if [ "$passed" -eq "$good" ]; then
    passed=$((good + 4))
    failed=$((failed - 4))
else
    cat "$dir/bad"
    echo "FAILED: a conversion that loses bits gets no warning"
fi

echo "headers: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
