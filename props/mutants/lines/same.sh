#!/bin/sh
# Find the mutants that the compiler turns into the original's object code.
#
# usage: same.sh FOLDER <NUMBERS      FOLDER: has `arguments`, with which its mutants
#                                     were generated, a word on each line
#        same.sh one FOLDER NUMBER PATH
# out: their numbers
set -eu

# SOURCE PATH OUT: compile SOURCE, a copy of PATH, with the arguments of its group.
object() {
    gcc $(awk -v path="$2" '
        $0 == "--" { files = !files; if (!files) flags = ""; next }
        files && $0 == path { print flags; exit }
        !files { flags = flags " " $0 }' "$scratch/arguments") \
        -O2 -w -iquote "${2%/*}" -x c -c -o "$3" - <"$1" 2>/dev/null &&
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
cp "$1/arguments" "$scratch/"
out/mutate/generate --alone "$scratch" $(cat "$scratch/arguments") >"$scratch/list"
cut -d' ' -f2 "$scratch/list" | sort -u | grep '\.c$' | while read -r path; do
    mkdir -p "$scratch/${path%/*}"
    {
        echo "#line 1 \"$path\""
        cat "$path"
    } >"$scratch/$path"
    object "$scratch/$path" "$path" "$scratch/$path.o" ||
        echo "same.sh: $path does not compile" >&2
done
xargs -r -P 2 -L 1 "$0" one "$scratch" <"$scratch/list"
