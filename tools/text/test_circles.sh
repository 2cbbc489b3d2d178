#!/bin/sh
# test_circles.sh -- circles.py finds files that need each other.
# usage: tools/text/test_circles.sh
# build: args=''
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. common/test/count.sh
shown=out

# defines FILE NAME TEXT: a function, and what it does
defines() {
    printf 'void\n%s(void)\n{\n    %s\n}\n' "$2" "$3" >>"$dir/$1.c"
}

# finds NAME STATUS: what the check says of the files
finds() {
    tools/text/circles.py "$dir"/*.c >"$dir/out" 2>&1
    [ $? -eq "$2" ]
    count "$1" $?
    rm "$dir"/*.c
}

defines a one 'two();'
defines b two 'three = 1;'
printf 'int three;\n' >"$dir/c.c"
finds "a line of files" 0
defines a one 'two();'
defines b two 'three();'
defines c three 'one();'
finds "three functions" 1
grep -q 'a.c, b.c, c.c need each other' "$dir/out"
count "they are named" $?
defines a one 'two = 1;'
printf 'static int two_before;\nint two[4] = {1};\n' >"$dir/b.c"
defines b more 'one();'
finds "a variable" 1
defines a one '/* two(); */ x.two = y->two; puts("two");'
defines b two 'one();'
finds "no use of a function" 0
defines a one 'told();'
defines b told 'one();'
defines c told 'one();'
finds "an interface" 0
printf 'static void\ntwo(void)\n{\n}\n' >"$dir/a.c"
defines a one 'two();'
defines b two 'one();'
finds "a function of its own" 0
finish circles
