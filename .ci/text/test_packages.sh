#!/bin/sh
# Can .ci/text/packages.py fail? In a copy of the tree, mistakes are made; each
# must be named with its file, and there must be no other message.
# usage: .ci/text/test_packages.sh
set -u
passed=0
failed=0
made=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -c --exclude=./out --exclude=./.git --exclude=./reports . |
    tar -x -C "$folder"
cd "$folder" || exit 1
: >wanted

# mistake FILE SED-SCRIPT WANT: make one; this must be found
mistake() {
    cp "$1" was
    sed -i "$2" "$1"
    ! cmp -s "$1" was || echo "FAILED: '$2' does not change $1"
    echo "$3" >>wanted
    made=$((made + 1))
}

python3 .ci/text/packages.py >log || { cat log && exit 1; }
mistake .ci/deps 's/ libdeflate-dev / /' \
    'props/test/pprof/pprof.ninja: -ldeflate is of package libdeflate-dev'
mistake .ci/deps 's/ libisal-dev / /' '<isa-l/igzip_lib.h> is of package libisal-dev'
mistake .ci/deps 's/ libc6-dev / /' '<stdio.h> is of package libc6-dev, which no group of `make all`'
mistake .ci/deps 's/ ninja-build / /' 'Makefile: ninja is of package ninja-build'
mistake .ci/deps 's/ fake[t]ime / /' 'is of package fake''time, which no'
mistake .ci/deps 's/ sqlite3 / /' ': sqlite3 is of package sqlite3'
mistake .ci/deps 's/echo valgrind/echo/' 'gate/check: valgrind is of package valgrind'
mistake .ci/deps 's/ libclang-rt-14-dev / /' \
    '-fsanitize is of package libclang-rt-14-dev'
mistake .ci/deps 's/echo afl++/echo afl++ zsh/' 'deps: no target needs zsh of group fuzz'
mistake Makefile 's/deps build test peers/deps build peers/' \
    'cmocka.h> is of package libcmocka-dev, which no group of `make check-peers`'
mistake props/test/pprof/pprof.ninja 's/-lisal/-lisal \-lnobody/' \
    'props/test/pprof/pprof.ninja: .ci/packages does not say which package has -''lnobody'
mistake prof/core/hash.c '1i #include <nobody.h>' \
    'prof/core/hash.c: .ci/packages does not say which package has <nobody.h>'
mistake props/test/cli/test_run_out.sh '$a x=$(nobody "$1" | sort)' \
    'test_run_out.sh: .ci/packages does not say which package has nobody'
mistake bench/run '$a [ -z "$x" ] || timeout -k 1 5 jq . "$x"' \
    'run: jq is of package jq, which no group of `make '
mistake .ci/packages 's/^patch command patch/git command patch/' \
    'packages: command patch is of patch, not of git'

! python3 .ci/text/packages.py >log || echo "FAILED: it finds nothing" >>wanted
while IFS= read -r want; do
    if grep -qF -e "$want" log; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: nothing says: $want"
    fi
done <wanted
[ $failed -eq 0 ] || cat log
echo "test_packages: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -eq $made ]
