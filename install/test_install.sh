#!/bin/sh
# test_install.sh -- checks what `make install` installs, as its users see it:
# programs are built with pkg-config alone, and run; then the tree is moved,
# updated and removed.
# usage: install/test_install.sh PROFSIM   which program out/profsim is a copy of
# build: args=out/profsim needs=all when=long
set -u
profsim=$1
cd "${0%/*}/.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
version=$(install/version)
major=$(install/version major)
prefix=/opt/prof
root=$dir/root
tree=$root$prefix
. common/test/count.sh
shown=said
unset PREFIX LIBDIR DESTDIR PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR PROFSIM_RECORDER

# holds NAME COMMAND...: the command exits 0
holds() {
    name=$1
    shift
    "$@" >"$dir/said" 2>&1
    count "$name" $?
}

# refuses NAME TEXT COMMAND...: it fails, and says TEXT
refuses() {
    name=$1
    text=$2
    shift 2
    if "$@" >"$dir/said" 2>&1; then
        count "$name" 1
    else
        grep -q -- "$text" "$dir/said"
        count "$name" $?
    fi
}

run_install() { # WORD, with DESTDIR and PREFIX
    env DESTDIR="$root" PREFIX=$prefix install/install.sh "$1"
}

# Run as a user who may change only his own files.
without_rights() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --bounding-set=-all --inh-caps=-all "$@"
    else
        "$@"
    fi
}

files_are_listed() {
    (cd "$root" && find . ! -name . \( -type d -printf '/%P/\n' -o \
        -printf '/%P\n' \)) | LC_ALL=C sort >"$dir/found"
    diff "$tree/lib/profsim/installed" "$dir/found"
}

# ------------------------------------------------------------------- install

umask 077
mkdir "$root"
holds "a user without rights installs below DESTDIR" \
    without_rights env DESTDIR="$root" PREFIX=$prefix install/install.sh install
holds "the list names every file and folder" files_are_listed
modes=$(cd "$tree" && find . \( -type d -o -name 'profsim*' ! -name '*.*' \) ! -perm 755 -o \
    -type f \( ! -name 'profsim*' -o -name '*.*' \) ! -perm 644)
[ -z "$modes" ]
count "modes do not depend on the umask: $modes" $?
umask 022
for file in bin/profsim lib/libprof.a lib/libprof.so.$version \
    lib/pkgconfig/prof.pc include/prof/prof.h include/prof/status.def \
    lib/profsim/profsim-conform lib/profsim/libprofsim-record.so; do
    [ -s "$tree/$file" ]
    count "there is $file" $?
done
[ "$(readlink "$tree/lib/libprof.so")" = libprof.so.$major ] &&
    [ "$(readlink "$tree/lib/libprof.so.$major")" = libprof.so.$version ]
count "the library's short names lead to it" $?

# ------------------------------------------------------------------- embedders

cat >"$dir/example.cc" <<'END'
#include <cstdio>
#include <cstring>
#include <prof/cpu.h>
#include <prof/cpu_file.h>
#include <prof/file.h>
#include <prof/gzip.h>
#include <prof/prof.h>
#include <prof/process.h>
#include <prof/registry.h>
#include <prof/trace.h>

int
main()
{
    alignas(PROF_BLOCK_ALIGN) static char block[1 << 20];
    prof_config config{};
    prof *instance = nullptr;
    const uintptr_t stack[] = {0x4011d2, 0x401080};
    prof_heap_record record{};
    size_t count = 0;

    config.buckets_max = 16;
    config.rules = &prof_rules_exact;
    if (prof_init(&instance, &config, block, sizeof block) != PROF_OK)
        return 1;
    (void)prof_heap_alloc(prof_proc_at(instance, 0), stack, 2, 64);
    if (prof_heap_snapshot(instance, PROF_SELECT_INUSE, &record, 1, &count) !=
        PROF_OK)
        return 1;
    if (std::strcmp(prof_version(), PROF_VERSION) != 0 ||
        prof_gzip_bytes() == 0 || prof_process_time_ns() <= 0)
        return 1;
    std::printf("%lld bytes in use, allocated at %#llx\n",
                static_cast<long long>(prof_heap_inuse_bytes(&record)),
                static_cast<unsigned long long>(record.stack[0]));
    return 0;
}
END

# builds NAME COMPILER SOURCE WORD...: with what pkg-config says; it runs
builds() {
    name=$1 compiler=$2 source=$3
    shift 3
    PKG_CONFIG_PATH=$tree/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    $compiler "$source" -o "$dir/example" -Wall -Wextra -Werror \
        $(pkg-config --cflags prof) "$@" >"$dir/said" 2>&1 &&
        env LD_LIBRARY_PATH="$tree/lib" "$dir/example" >"$dir/printed" 2>&1 &&
        cmp "$dir/printed" docs/example.want >>"$dir/said" 2>&1
    count "$name" $?
}

build_all() { # WHERE
    shared=$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --libs prof)
    # Debian has libisal as a shared library only.
    static=$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --static --libs prof |
        sed 's/-lprof/-l:libprof.a/')
    builds "a C program, shared, $1" cc docs/example.c $shared
    readelf -d "$dir/example" | grep -q "NEEDED.*\[libprof.so.$major\]"
    count "it needs libprof.so.$major" $?
    builds "a C program, static, $1" cc docs/example.c $static
    builds "a C program, all of it static, $1" cc docs/example.c -static $shared
    builds "a C++ program, shared, $1" c++ "$dir/example.cc" $shared
    builds "a C++ program, static, $1" c++ "$dir/example.cc" $static
    ! readelf -d "$dir/example" | grep -q 'libprof\.so'
    count "it needs no libprof.so" $?
}
build_all "as installed"
cat >"$dir/plugin.c" <<'END'
#include <prof/prof.h>
const char *plugin(void);
const char *plugin(void) { return prof_version(); }
END
holds "a shared library holds libprof.a" cc -shared -fPIC -I"$tree/include" \
    -o "$dir/plugin.so" "$dir/plugin.c" "$tree/lib/libprof.a" -Wl,-z,defs \
    -Wl,-z,text

mv "$root$prefix" "$root/opt/elsewhere"
tree=$root/opt/elsewhere
build_all "after a move"

[ "$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --modversion prof)" = \
    "$version" ]
count "prof.pc states the version" $?

# -------------------------------------------------------- the shared library

library=$tree/lib/libprof.so
readelf -d "$library" | grep -q "SONAME.*\[libprof.so.$major\]"
count "its soname is libprof.so.$major" $?
nm -D --defined-only "$library" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' |
    LC_ALL=C sort >"$dir/shown"
[ -s "$dir/shown" ] && ! grep -v '^prof_' "$dir/shown"
count "it shows only prof_*" $?
nm -g --defined-only "$tree/lib/libprof.a" >"$dir/said" &&
    ! grep -v -e ' prof_' -e ':$' -e '^$' "$dir/said"
count "so does the archive" $?
for header in "$tree"/include/prof/*.h; do
    [ "${header##*/}" = malloc.h ] || # of libprof-malloc.so
        echo "#include <prof/${header##*/}>"
done >"$dir/all.c"
gcc -std=c11 -I"$tree/include" -fsyntax-only -aux-info "$dir/declared" "$dir/all.c" &&
    grep -F "$tree/include/prof/" "$dir/declared" | grep -v ' static ' |
    sed -n 's/^[^(]*[ *]\(prof_[a-z0-9_]*\) (.*/\1/p' >"$dir/names"
sed -n 's/^extern const struct prof_rules \(\*const \)*\(prof_rules_[a-z0-9_]*\).*/\2/p' \
    "$tree/include/prof/rules.h" >>"$dir/names"
LC_ALL=C sort -u "$dir/names" | diff - "$dir/shown" >"$dir/said" 2>&1
count "it shows what the headers declare, and nothing else" $?

# The profiler shows its own interface, and what it puts in place of libc's.
sed -n 's/^\(.*[ *]\)\{0,1\}\(prof_malloc_[a-z_]*\)(.*/\2/p' "$tree/include/prof/malloc.h" |
    LC_ALL=C sort -u >"$dir/names"
nm -D --defined-only "$tree/lib/libprof-malloc.so" | awk '{ print $3 }' |
    grep '^prof' | LC_ALL=C sort | diff "$dir/names" - >"$dir/said" 2>&1
count "libprof-malloc.so shows what prof/malloc.h declares" $?

# Explore a user's program with the installed command.
"$tree/bin/profsim" explore explore/examples/bank_broken.c \
    >"$dir/said" 2>&1
[ $? -eq 2 ] && grep -q 'assertion failed: balance >= 0' "$dir/said"
count "the installed command explores a program" $?
"$tree/bin/profsim" check --seeds 1..100 --save "$dir/failures" --subject \
    "$tree/share/doc/profsim/fixtures/subjects/example.c" >"$dir/said" 2>&1
[ $? -eq 2 ] && grep -q '^A7 broken' "$dir/said" &&
    cmp subjects/subject.h "$tree/share/doc/profsim/subjects/subject.h"
count "the installed command judges the example of a subject" $?
PKG_CONFIG_PATH="$tree/lib/pkgconfig" pkg-config --libs profsim-explore \
    >"$dir/said" 2>&1 && grep -q 'lprofsim-explore' "$dir/said"
count "pkg-config knows the explorer's library" $?

# ------------------------------------------------------------------ the pages

pages="$tree/share/man/man1/profsim.1 $tree/share/man/man3/prof.3"
holds "mandoc has nothing to say about the manual pages" \
    mandoc -T lint -W warning $pages
[ "$(grep -l "^.Os \"profsim $version\"\$" $pages | wc -l)" -eq 2 ]
count "they state the version" $?
sed '/^prof_rules_[aeg]/d' "$dir/shown" | while read -r function; do
    grep -q "^\.Fn $function\( ,\)*$" "$tree/share/man/man3/prof.3" ||
        echo "$function"
done >"$dir/said"
[ ! -s "$dir/said" ]
count "prof(3) names every function" $?
"$tree/bin/profsim" help | sed -n 's/^  \([a-z]*\) .*/\1/p' |
    while read -r command; do
        grep -q "^\.Ss profsim $command$" "$tree/share/man/man1/profsim.1" ||
            echo "$command"
    done >"$dir/said"
[ ! -s "$dir/said" ]
count "profsim(1) has every command" $?
sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' "$tree/share/doc/profsim/CHANGELOG.md" |
    head -n1 | grep -qxF "$version"
count "the changelog begins with the version" $?
grep -q 'The Go Authors' fixtures/trace/recorded/LICENSE &&
    cmp LICENSE "$tree/share/doc/profsim/LICENSE" >"$dir/said"
count "the licences are there" $?

# ---------------------------------------------------------------- the command

cmp -s "$profsim" "$tree/bin/profsim"
count "the command is what was built" $?
[ "$("$tree/bin/profsim" version)" = "profsim $version" ]
count "it states the version" $?
ln -s "$tree/bin/profsim" "$dir/linked"
holds "it finds its recorder, also when called by a link" \
    "$dir/linked" record -o "$dir/x.rec" -- sh -c :
holds "and reads what was recorded" "$tree/bin/profsim" show "$dir/x.rec"
rm "$tree/lib/profsim/libprofsim-record.so"
refuses "without the recorder it says so" "the library is not there" \
    "$tree/bin/profsim" record -o "$dir/x.rec" -- sh -c :

# ------------------------------------------------------------ update, uninstall

mv "$root/opt/elsewhere" "$root$prefix"
tree=$root$prefix
touch "$tree/lib/libprof.so.0.1.0" "$tree/include/others.h"
echo "$prefix/lib/libprof.so.0.1.0" >>"$tree/lib/profsim/installed"
mkdir "$tree/share/empty"
holds "it installs over an older version" run_install install
[ ! -e "$tree/lib/libprof.so.0.1.0" ]
count "what the older version had and this one has not is gone" $?
holds "uninstall" run_install uninstall
left=$(cd "$root" && find . -mindepth 1 | LC_ALL=C sort | tr '\n' ' ')
[ "$left" = "./opt ./opt/prof ./opt/prof/include ./opt/prof/include/others.h \
./opt/prof/share ./opt/prof/share/empty " ]
count "it leaves what others made, and nothing else: $left" $?
refuses "there is nothing to uninstall" "nothing of profsim is installed" \
    run_install uninstall
rm -r "$root"
holds "install again" run_install install
holds "and uninstall" run_install uninstall
[ -z "$(ls -A "$root")" ]
count "nothing is left" $?
run_install install >"$dir/said"
echo "/../../x" >>"$tree/lib/profsim/installed"
refuses "a list that is not ours is not followed" "not a list of installed" \
    run_install uninstall
[ -e "$tree/bin/profsim" ]
count "and nothing was removed" $?

# ------------------------------------------------------------------- the paths

root=$dir/lib64
holds "the library's folder may be another" env DESTDIR="$root" PREFIX=/usr/ \
    LIBDIR=/usr/lib64 install/install.sh install
tree=$root/usr
PKG_CONFIG_PATH=$tree/lib64/pkgconfig pkg-config --libs prof >"$dir/said"
holds "also outside the prefix" env DESTDIR="$root" PREFIX=/far \
    LIBDIR=/else/lib install/install.sh install
pc=$(PKG_CONFIG_PATH=$root/else/lib/pkgconfig pkg-config --cflags --libs prof)
[ "${pc% }" = "-I/far/include -L/else/lib -lprof" ]
count "then prof.pc has both paths: $pc" $?
holds "DESTDIR may have a space" env DESTDIR="$dir/a b" \
    install/install.sh install
holds "also to remove it" env DESTDIR="$dir/a b" install/install.sh uninstall
[ -z "$(ls -A "$dir/a b")" ]
count "nothing is left there" $?
refuses "a relative prefix is an error" "not an absolute path" \
    env PREFIX=here install/install.sh install
refuses "so is one with .." "without '..'" \
    env PREFIX=/usr/../x install/install.sh install
mkdir "$dir/bare" "$dir/bare/prof" && cp -r install Makefile "$dir/bare" &&
    cp -r prof/include "$dir/bare/prof"
refuses "nothing is installed before it is built" "run make first" \
    env DESTDIR="$dir/none" "$dir/bare/install/install.sh" install
refuses "make install says the same" "run make first" \
    make -C "$dir/bare" install DESTDIR="$dir/none"
[ ! -e "$dir/none" ]
count "and nothing was made" $?
mkdir "$dir/bin"
cat >"$dir/bin/ninja" <<END
#!/bin/sh
printf '%s\n' "\$*" >>"$dir/asked"
echo "ninja: no work to do."
END
chmod +x "$dir/bin/ninja"
holds "make install" env PATH="$dir/bin:$PATH" make install DESTDIR="$dir/made"
holds "make uninstall" env PATH="$dir/bin:$PATH" make uninstall \
    DESTDIR="$dir/made"
[ "$(cat "$dir/asked")" = "-f out/build.ninja -n" ] && [ -z "$(ls -A "$dir/made")" ]
count "neither builds anything" $?

finish install
