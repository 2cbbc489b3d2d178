#!/bin/sh
# Copy what `make` built to where people look for it, or remove it again.
#
# usage: [PREFIX=/usr/local] [LIBDIR=PREFIX/lib] [DESTDIR=] \
#            install/install.sh install|uninstall
#
# Builds nothing, so root need not build. PREFIX/lib/profsim/installed lists
# every file and folder that was made; uninstall removes these and no other.
set -eu
umask 022
cd "${0%/*}/.."

die() {
    echo "${0##*/}: $1" >&2
    exit 1
}

prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-${prefix%/}/lib}
prefix=${prefix%/}
libdir=${libdir%/}
root=${DESTDIR:-}
tab=$(printf '\t')
newline='
'
case $prefix$libdir$root in
*"$tab"* | *"$newline"*) die "a path has a tab or a newline in it" ;;
esac
for variable in "PREFIX=$prefix" "LIBDIR=$libdir"; do
    case ${variable#*=}/ in
    */../*) die "$variable: a path without '..' is needed" ;;
    /*) ;;
    *) die "$variable: not an absolute path" ;;
    esac
done
version=$(install/version)
major=$(install/version major)
list=$prefix/lib/profsim/installed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Write the prefix relative to prof.pc, so that the tree may be moved; as an
# absolute path if LIBDIR is not below it.
pkg_config_file() {
    below=${libdir#"$prefix"/}
    pc_prefix=$prefix
    pc_libdir=$libdir
    if [ "$below" != "$libdir" ]; then
        pc_prefix="\${pcfiledir}/$(echo "$below/pkgconfig" |
            sed 's,//*,/,g; s,[^/][^/]*,..,g')"
        pc_libdir="\${prefix}/$below"
    fi
    cat <<END
prefix=$pc_prefix
libdir=$pc_libdir
includedir=\${prefix}/include

Name: prof
Description: Heap, contention and CPU profiles, and execution traces
Version: $version
Libs: -L\${libdir} -lprof
Libs.private: -lisal
Cflags: -I\${includedir}
END
}

explore_pkg_config_file() {
    sed -n '1,/^$/p' "$work/prof.pc"
    cat <<END
Name: profsim-explore
Description: Every ordering of a program built with -fsanitize=thread
Version: $version
Libs: -L\${libdir} -lprofsim-explore -l:libdw.so.1
END
}

# Print one line per file: mode, source, destination. With mode "link" the
# source is what the link points to.
plan() {
    for header in prof/include/prof/*; do
        echo "644$tab$header$tab$prefix/include/prof/${header##*/}"
    done
    echo "644${tab}out/gcc/libprof.a$tab$libdir/libprof.a"
    echo "644${tab}out/gcc/libprof.so$tab$libdir/libprof.so.$version"
    echo "link${tab}libprof.so.$version$tab$libdir/libprof.so.$major"
    echo "link${tab}libprof.so.$major$tab$libdir/libprof.so"
    echo "644$tab$work/prof.pc$tab$libdir/pkgconfig/prof.pc"
    echo "755${tab}out/profsim$tab$prefix/bin/profsim"
    echo "644${tab}out/libprofsim-record.so$tab$prefix/lib/profsim/libprofsim-record.so"
    echo "755${tab}out/profsim-conform$tab$prefix/lib/profsim/profsim-conform"
    echo "644${tab}out/libprofsim-observe.so$tab$prefix/lib/profsim/libprofsim-observe.so"
    echo "644${tab}out/libprof-malloc.so$tab$libdir/libprof-malloc.so"
    echo "644${tab}out/libprofsim-explore.a$tab$libdir/libprofsim-explore.a"
    echo "644$tab$work/profsim-explore.pc$tab$libdir/pkgconfig/profsim-explore.pc"
    echo "644${tab}out/man/profsim.1$tab$prefix/share/man/man1/profsim.1"
    echo "644${tab}out/man/prof.3$tab$prefix/share/man/man3/prof.3"
    for page in LICENSE README.md CHANGELOG.md SECURITY.md \
        subjects/subject.h subjects/explored.c fixtures/subjects/example.c \
        $(find docs -type f | LC_ALL=C sort); do
        echo "644$tab$page$tab$prefix/share/doc/profsim/$page"
    done
}

# Folders on the way to the files of the plan that are not there yet.
missing_folders() {
    while IFS=$tab read -r mode source target; do
        folder=${target%/*}
        while [ -n "$folder" ] && [ ! -d "$root$folder" ]; do
            echo "$folder/"
            folder=${folder%/*}
        done
    done <"$work/plan" | LC_ALL=C sort -u
}

# Read a list; stop at a line that we have not written.
read_list() {
    ! grep -n -v -e '^/' -e '^$' "$1" && ! grep -n '/\.\./' "$1" ||
        die "$1: not a list of installed files"
    cat "$1"
}

remove_files() { # of a list
    while IFS= read -r path; do
        case $path in
        */) ;;
        *) rm -f "$root$path" ;;
        esac
    done <"$1"
}

remove_empty_folders() { # of a list
    grep '/$' "$1" | LC_ALL=C sort -r | while IFS= read -r path; do
        [ ! -d "$root$path" ] ||
            rmdir --ignore-fail-on-non-empty "$root$path"
    done
}

write_list() { # FILE of lines
    LC_ALL=C sort -u "$1" >"$root$list.part"
    mv "$root$list.part" "$root$list"
}

copy_files() {
    while IFS=$tab read -r mode source target; do
        case $mode in
        link) ln -sfn "$source" "$root$target" ;;
        *) install -m "$mode" "$source" "$root$target" ;;
        esac
    done <"$work/plan"
}

put() {
    pkg_config_file >"$work/prof.pc"
    explore_pkg_config_file >"$work/profsim-explore.pc"
    plan >"$work/plan"
    while IFS=$tab read -r mode source target; do
        [ "$mode" = link ] || [ -f "$source" ] ||
            die "there is no $source: run make first"
    done <"$work/plan"
    cut -f3 "$work/plan" >"$work/new"
    { cat "$work/new" && echo "$list" && missing_folders; } >"$work/now"
    : >"$work/old"
    [ ! -f "$root$list" ] || read_list "$root$list" >"$work/old"

    # Write the list first, so that uninstall can undo whatever happens next.
    mkdir -p "$root${list%/*}"
    cat "$work/old" "$work/now" >"$work/both"
    write_list "$work/both"
    sed "s,/[^/]*$,," "$work/new" | LC_ALL=C sort -u |
        while IFS= read -r folder; do
            mkdir -p "$root$folder"
        done
    copy_files

    # Remove files that an older version had and this one does not have.
    grep -v '/$' "$work/old" | grep -vxF -f "$work/now" >"$work/stale" || :
    remove_files "$work/stale"
    { grep '/$' "$work/old" || :; } | cat - "$work/now" >"$work/both"
    remove_empty_folders "$work/both"
    write_list "$work/both"
}

take_away() {
    [ -f "$root$list" ] ||
        die "nothing of profsim is installed in $root$prefix"
    read_list "$root$list" >"$work/old"
    remove_files "$work/old"
    remove_empty_folders "$work/old"
}

# The loader finds a new library in a standard folder through its cache.
refresh_cache() {
    [ -n "$root" ] || [ "$(id -u)" != 0 ] || PATH=$PATH:/sbin ldconfig
}

case ${1:-} in
install)
    put
    refresh_cache
    echo "installed profsim $version in $root$prefix"
    ;;
uninstall)
    take_away
    refresh_cache
    echo "removed profsim from $root$prefix"
    ;;
*) die "usage: install/install.sh install|uninstall" ;;
esac
