#!/bin/sh
# The same sources give the same bytes in any folder: what is built here is compared
# with a build in another folder. The programs are also checked to be hardened.
# usage: props/test/test_reproducible.sh TARGET...    (ninja's, files in out/)
# build: args='out/profsim out/profsim-conform out/libprofsim-observe.so out/libprofsim-record.so out/libprof-malloc.so out/gcc/libprof.so out/gcc/libprof.a' needs=all when=long
set -u
. common/test/count.sh
shown=
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
there="$dir/another folder, with a longer name"
export CCACHE_DISABLE=1 # it returns objects built in other folders

mkdir "$there"
tar -c --exclude=./out --exclude=./.git --exclude=./reports . | tar -x -C "$there"
(cd "$there" && TZ=Asia/Kathmandu LC_ALL=C tools/ninja "$@") >"$dir/log" 2>&1 ||
    tail -n 20 "$dir/log"
for built in "$@"; do
    cmp "$built" "$there/$built"
    count "$built has other bytes when it is built elsewhere" $?
    ! grep -qF "$PWD" "$built" && ! grep -qF "$dir" "$there/$built"
    count "$built names the folder where it was built" $?
    case $built in
    *.a) continue ;;
    esac
    readelf -dlW "$built" >"$dir/headers"
    nm -D "$built" >"$dir/symbols"
    objdump -d --no-show-raw-insn "$built" >"$dir/code"
    grep -q GNU_RELRO "$dir/headers" && grep -q BIND_NOW "$dir/headers"
    count "$built is not relocated read-only at once" $?
    grep -q 'GNU_STACK.* RW ' "$dir/headers"
    count "$built has a stack that can be run" $?
    grep -q 'Elf file type is DYN' "$dir/headers"
    count "$built is not position independent" $?
    case $built in
    *libprof.so*) continue ;; # small functions that read no untrusted bytes
    esac
    grep -q __stack_chk_fail "$dir/symbols"
    count "$built has no stack protector" $?
    # More than 50 functions must have the mark, or half of those in a smaller
    # file.
    functions=$(grep '^[0-9a-f]* <' "$dir/code" | grep -vc '@plt')
    [ "$functions" -lt 100 ] || functions=100
    [ "$(grep -c endbr64 "$dir/code")" -gt $((functions / 2)) ]
    count "$built does not mark where calls may arrive (CET)" $?
    case $built in
    *.so) continue ;; # built without builtins, so without the checked ones, too
    esac
    grep -q '__[a-z]*printf_chk' "$dir/symbols"
    count "$built does not check the sizes of buffers (FORTIFY)" $?
done
finish reproducible
