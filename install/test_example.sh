#!/bin/sh
# test_example.sh -- builds the programs of docs/example/ from the installed
# files alone, as embedders do. Their profiles must show what the programs say
# is live.
# usage: install/test_example.sh
# build: args='' needs=out/gcc/install/test_install.ok,all when=long
set -u
cd "${0%/*}/.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset PREFIX LIBDIR DESTDIR PKG_CONFIG_SYSROOT_DIR
env DESTDIR="$dir/root" PREFIX=/opt/prof install/install.sh install || exit 1
tree=$dir/root/opt/prof
PKG_CONFIG_PATH=$tree/lib/pkgconfig
export PKG_CONFIG_PATH
# Nothing of this tree but the example is within reach.
mkdir "$dir/example" && cp docs/example/*.[ch] "$dir/example" || exit 1
warn='-O2 -g -Wall -Wextra -Wpedantic -Werror'
passed=0
failed=0

# holds NAME COMMAND...: counts one test; it passes if the command exits 0
holds() {
    name=$1
    shift
    if "$@" >"$dir/said" 2>&1; then
        passed=$((passed + 1))
        echo "ok: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        cat "$dir/said"
    fi
}

shared=$(pkg-config --libs prof)
# Debian has libisal as a shared library only.
static=$(pkg-config --static --libs prof | sed 's/-lprof/-l:libprof.a/')

# compile COMPILER LIBS SOURCE...: makes $dir/program
compile() {
    compiler=$1 libs=$2
    shift 2
    # shellcheck disable=SC2046,SC2086
    (cd "$dir/example" && $compiler -pthread \
        $(pkg-config --cflags prof) "$@" -x none $libs -o "$dir/program")
}

run() {
    LD_LIBRARY_PATH=$tree/lib timeout 120 "$dir/program" "$@"
}

# Print what the program says is live, one line per site: objects, bytes, stack.
living() {
    awk '$1 == "live" {
        stack = ""
        for (i = 3; i <= NF; i++)
            stack = stack " " $i
        objects[stack]++
        bytes[stack] += $2
    }
    END { for (s in objects) print objects[s] " " bytes[s] s }' "$1" |
        LC_ALL=C sort
}

# Print the same from a heap profile: its last two values. A site with several
# sizes has several samples.
in_use() {
    awk '$1 != "types" && $3 != 0 {
        stack = ""
        for (i = 5; i <= NF; i++)
            stack = stack " " $i
        objects[stack] += $3
        bytes[stack] += $4
    }
    END { for (s in objects) print objects[s] " " bytes[s] s }' "$1" |
        LC_ALL=C sort
}

# ------------------------------------------------------------ the toy machine

# Births of each place and size: 8 generations of 2 threads of 40 rounds.
allocated() {
    awk '$1 != "types" {
        stack = ""
        for (i = 5; i <= NF; i++)
            stack = stack " " $i
        print $1 " " $2 stack
    }' "$1" | LC_ALL=C sort >"$dir/allocated"
    LC_ALL=C sort >"$dir/wanted" <<'END'
640 40960 scratch run
640 20480 scratch run
640 102400 publish run
320 10240 publish run
320 5120 publish run
END
    diff "$dir/wanted" "$dir/allocated"
}

living_is_in_use() {
    living "$dir/printed" >"$dir/living"
    in_use "$dir/heap.txt" >"$dir/in_use"
    [ -s "$dir/living" ] && diff "$dir/living" "$dir/in_use"
}

# The profile must have every release that a thread waited for, and no other,
# with its time.
contention_is_told() {
    contended=$(awk '$1 == "contended" { print $2 }' "$dir/printed")
    awk -v contended="$contended" '
        $1 == "types" { next }
        { sum += $1; if ($2 <= 0) bad = 1; at[$3]++ }
        END { exit !(sum == contended && !bad && at["main"] == 1) }' \
        "$dir/mutex.txt" || { cat "$dir/mutex.txt"; false; }
}

types_are() { # FILE WORDS
    [ "$(head -n 1 "$1")" = "types $2" ] || { head -n 1 "$1"; false; }
}

try_vm() { # HOW
    run "$dir/heap.pb.gz" "$dir/mutex.pb.gz" >"$dir/printed" &&
        python3 install/read_profile.py "$dir/heap.pb.gz" >"$dir/heap.txt" &&
        python3 install/read_profile.py "$dir/mutex.pb.gz" >"$dir/mutex.txt"
    holds "vm $1: it ends, and both profiles can be read" [ $? -eq 0 ]
    holds "vm $1: what is in use is what lives" living_is_in_use
    holds "vm $1: every allocation is in it" allocated "$dir/heap.txt"
    holds "vm $1: its values" types_are "$dir/heap.txt" "alloc_objects/count \
alloc_space/bytes inuse_objects/count inuse_space/bytes"
    holds "vm $1: waits are charged to who released" contention_is_told
}

for language in c c++; do
    for linked in shared static; do
        [ $linked = shared ] && libs=$shared || libs=$static
        [ $language = c ] && compiler="cc -std=gnu11 $warn" ||
            compiler="c++ -std=c++17 $warn"
        rm -f "$dir/program" "$dir"/*.pb.gz "$dir"/*.txt
        holds "vm in $language, $linked: it is built from what is installed" \
            compile "$compiler" "$libs" -x $language vm.c write.c
        try_vm "in $language, $linked"
    done
done

# spoilt SOURCE LINE COMMAND...: without this line the command fails
spoilt() {
    source=$1 line=$2
    shift 2
    awk -v line="$line" 'index($0, line) { found++; next } { print }
        END { exit found != 1 }' "docs/example/$source" \
        >"$dir/example/spoilt.c" || return 1
    "$@" && return 1
    return 0
}

spoilt_vm() {
    compile 'cc -std=gnu11' "$shared" spoilt.c write.c || exit 1
    run "$dir/heap.pb.gz" "$dir/mutex.pb.gz" >"$dir/printed" &&
        python3 install/read_profile.py "$dir/heap.pb.gz" >"$dir/heap.txt" &&
        living_is_in_use
}
holds "vm: a free that nobody counts is noticed" \
    spoilt vm.c 'prof_heap_free(' spoilt_vm

# ------------------------------------------------------- the flight recorder

# Check the last three generations before the turns that were too slow: each
# must be complete.
generations_open() {
    rm -f "$dir"/*.trace
    run "$dir" >"$dir/printed" || return 1
    [ "$(grep -c ': 0 events lost' "$dir/printed")" -eq 3 ] || return 1
    "$tree/bin/profsim" trace check "$dir"/*.trace >"$dir/checked" || return 1
    awk -F : '$2 != " ok" && $2 !~ /^ ok [0-9]+ events$/ { bad = 1 }
        END { exit bad || NR != 3 }' "$dir/checked"
}
for language in c c++; do
    [ $language = c ] && compiler="cc -std=gnu11 $warn" ||
        compiler="c++ -std=c++17 $warn"
    rm -f "$dir/program"
    holds "flight in $language: it is built from what is installed" \
        compile "$compiler" "$shared" -x $language flight.c
    holds "flight in $language: the last generations open" generations_open
done
spoilt_flight() {
    compile 'cc -std=gnu11' "$shared" spoilt.c || exit 1
    generations_open
}
holds "flight: an event that is missing is noticed" \
    spoilt flight.c 'emit(PROF_EV_GO_START, 2);' spoilt_flight

# -------------------------------------------------- the profiler that is linked

name=prof-malloc
profiler="-L$tree/lib -l$name"

profiled() { # its own numbers are in the profile that it wrote
    run "$dir" >"$dir/printed" || return 1
    gzip -c "$dir"/[0-9]*.heap.pb >"$dir/heap.pb.gz" &&
        python3 install/read_profile.py "$dir/heap.pb.gz" >"$dir/heap.txt" ||
        return 1
    rm "$dir"/[0-9]*.pb
    awk '$1 != "types" && $2 == 12345 * $1 { print $1, $3 }' "$dir/heap.txt" \
        >"$dir/in_use"
    awk '{ print $2, $4 }' "$dir/printed" | diff - "$dir/in_use"
}
for language in c c++; do
    [ $language = c ] && compiler="cc -std=gnu11 $warn" ||
        compiler="c++ -std=c++17 $warn"
    holds "malloc in $language: it is built from what is installed" \
        compile "$compiler" "$profiler" -x $language malloc.c
    holds "malloc in $language: its profile is what it did" profiled
done
spoilt_malloc() {
    compile 'cc -std=gnu11' "$profiler" spoilt.c || exit 1
    profiled
}
holds "malloc: without the rate the blocks are not all seen" \
    spoilt malloc.c 'prof_malloc_rate_set(1);' spoilt_malloc

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
