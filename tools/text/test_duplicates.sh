#!/bin/sh
# test_duplicates.sh -- duplicates.py finds eleven equal lines, and not ten.
# usage: tools/text/test_duplicates.sh
# build: args=''
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. common/test/count.sh
shown=out

# lines PREFIX COUNT: different lines
lines() {
    seq "$2" | sed "s/^/$1 line /"
}

# finds NAME STATUS: what the check says of the files in the folder
finds() {
    tools/text/duplicates.py "$dir"/*.c >"$dir/out" 2>&1
    [ $? -eq "$2" ]
    count "$1" $?
}

lines same 10 | tee "$dir/a.c" >"$dir/b.c"
finds "ten lines" 0
{ lines a 5; lines same 11; lines b 5; } >"$dir/a.c"
{ lines c 3; lines same 11 | sed 's/ /   /; 4a\\'; lines d 9; } >"$dir/b.c"
finds "eleven, with spaces and empty lines" 1
grep -q 'b.c:4: 11 lines stand in .*a.c:6, too' "$dir/out"
count "it says where" $?
{ lines same 11; lines b 20; lines same 11; } >"$dir/a.c"
rm "$dir/b.c"
finds "twice in one file" 1
seq 20 | tee "$dir/a.c" >"$dir/b.c"
finds "constants" 0
seq 20 | sed 's/.*/#include "&.h"/' | tee "$dir/a.c" >"$dir/b.c"
finds "includes" 0
rm "$dir"/*.c
tools/text/duplicates.py >"$dir/out" 2>&1
[ $? -eq 1 ]
count "no files at all" $?
finish duplicates
