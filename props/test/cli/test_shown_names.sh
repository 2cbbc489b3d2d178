#!/bin/sh
# The names that `profsim show` shows for functions of a recorded program: inlined
# functions separately, with the lines of their calls; C++ names demangled; with
# tables of address ranges (gcc) and without (clang), in DWARF 4 and 5.
#
# usage: props/test/cli/test_shown_names.sh PROFSIM
set -eu
profsim=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
passed=0
failed=0

# shows NAME LINE: the first site of the summary must be LINE
shows() {
    "$profsim" record -o x.rec -- ./program 2>words
    "$profsim" show --top 1 x.rec >shown
    if grep -A 2 '^in use at the peak' shown | grep -qF "$2"; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        echo "FAILED: $1: no '$2' in"
        cat shown
    fi
}

cat >program.c <<'END'
#include <stdlib.h>
void *kept;
static inline __attribute__((always_inline)) void leaf(size_t n) {
    kept = malloc(n);
}
static inline __attribute__((always_inline)) void middle(size_t n) {
    leaf(n + 1);
}
__attribute__((noinline)) int outer(size_t n) {
    middle(n);
    return kept == NULL;
}
int main(int argc, char **argv) {
    (void)argv;
    return outer((size_t)argc * 1000000) + (kept == NULL);
}
END
cat >program.cc <<'END'
#include <stdlib.h>
void *kept;
namespace shop {
struct cart {
    __attribute__((always_inline)) static void leaf(size_t n) { kept = malloc(n); }
    __attribute__((noinline)) static int outer(size_t n, const char *) {
        leaf(n);
        return kept == nullptr;
    }
};
}
int main(int argc, char **argv) {
    return shop::cart::outer((size_t)argc * 1000000, *argv) + (kept == nullptr);
}
END
calls="leaf (program.c:4) < middle (program.c:7) < outer (program.c:10) < main (program.c:15)"
for version in 4 5; do
    for compiler in gcc clang; do
        $compiler -O2 -g -gdwarf-$version -o program program.c
        shows "$compiler, DWARF $version" "$calls"
    done
    clang++ -nostdlib++ -O2 -g -gdwarf-$version -o program program.cc
    shows "C++, DWARF $version" "shop::cart::leaf(unsigned long) (program.cc:5) < shop::cart::outer(unsigned long, char const*) (program.cc:7) < main (program.cc:13)"
done
gcc -O2 -o program program.c
shows "no debug information: the symbol" " outer < main < "
gcc -O2 -s -o program program.c
shows "no symbols: the module, and where in it" " program+0x"

# Information that is missing is reported, with what to do about it.
"$profsim" record --limit 64k -o x.rec -- python3 -c pass 2>words
"$profsim" show x.rec >shown
full='[1-9][0-9]* events after the log was full: .* larger --limit'
if grep -q "^not recorded  *$full" shown &&
    grep -q "^profsim record: x.rec: not recorded $full" words; then
    passed=$((passed + 1))
    echo "ok: a log that was full"
else
    failed=$((failed + 1))
    echo "FAILED: a log that was full"
    cat shown
fi
# A name of an inlined function that is longer than a recording keeps is stored once, cut. Random letters
# take more than half their number in the file, which is compressed.
awk 'BEGIN {
    srand(1)
    for (i = 0; i < 70000; i++)
        name = name substr("abcdefghijklmnopqrstuvwxyz", 1 + rand() * 26, 1)
    print "#include <stdlib.h>\nvoid *volatile kept;"
    print "static inline __attribute__((always_inline)) void " name "(void) {"
    print "    kept = malloc(1000);\n}\nint main(void) {"
    for (i = 0; i < 8; i++)
        print "    " name "();"
    print "    return kept == NULL;\n}"
}' >long.c
gcc -g -O1 long.c -o long
"$profsim" record -o x.rec -- ./long 2>words
"$profsim" show --top 1 x.rec >shown
bytes=$(wc -c <x.rec)
if [ "$bytes" -gt 32768 ] && [ "$bytes" -lt 98304 ] &&
    grep -q '^ *512-  *1023  *8000  *8000  *8000  *8$' shown; then
    passed=$((passed + 1))
    echo "ok: a long name is stored once"
else
    failed=$((failed + 1))
    echo "FAILED: a long name is stored once: $bytes bytes"
    cut -c 1-200 shown
fi
echo "shown names: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
