#!/bin/sh
# Find the mutants that the compiler turns into the original's object code.
#
# usage: same.sh FOLDER <NUMBERS      FOLDER: has generate
#        same.sh one FOLDER NUMBER PATH
# out: their numbers
set -eu

rooms="-Iprof/include -iquote prof/core -iquote prof/trace -iquote prof/pprof"

object() { # SOURCE PATH OUT
    gcc -std=c11 -D_GNU_SOURCE -O2 -w $rooms \
        -iquote "${2%/*}" -x c -c -o "$3" - <"$1" 2>/dev/null &&
        strip "$3"
}

if [ "$1" = one ]; then
    scratch=$2
    case $4 in
    *.c) ;;
    *) exit 0 ;; # code of a header, which is in several objects
    esac
    object "$scratch/$3.c" "$4" "$scratch/$3.o" &&
        cmp -s "$scratch/$3.o" "$scratch/$4.o" && echo "$3"
    rm -f "$scratch/$3.o" "$scratch/$3.c"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1/generate" --alone "$scratch" -std=c11 -D_GNU_SOURCE $rooms -- \
    prof/[!i]*/*.c >"$scratch/list"
cut -d' ' -f2 "$scratch/list" | sort -u | grep '\.c$' | while read -r path; do
    mkdir -p "$scratch/${path%/*}"
    {
        echo "#line 1 \"$path\""
        cat "$path"
    } >"$scratch/$path"
    object "$scratch/$path" "$path" "$scratch/$path.o"
done
xargs -r -P 2 -L 1 "$0" one "$scratch" <"$scratch/list"
