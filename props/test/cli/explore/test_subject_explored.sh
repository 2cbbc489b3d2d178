#!/bin/sh
# Subjects under the explorer: a subject with locks passes in each order of its
# threads; a missing lock and a non-atomic update are found.
# usage: test_subject_explored.sh PROFSIM SUBJECTS FIXTURES
set -u
. props/test/lib/count.sh

profsim=$(realpath "$1")
subjects=$(realpath "$2")
from=$(realpath "$3")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
shown=out

explores() { # STATUS SOURCE TEXT NAME
    "$profsim" explore "$subjects/explored.c" "$2" -- -I "$subjects" >out 2>&1
    got=$?
    [ "$got" -eq "$1" ] && grep -q "$3" out &&
        { [ "$1" -eq 0 ] || ! cmp -s "$2" "$from/locked.c"; }
    count "$4: exit code $got, not $1" $?
}

between='    pthread_mutex_unlock(\&l->lock);\
    pthread_mutex_lock(\&l->lock);'

explores 0 "$from/locked.c" ' holds$' "a subject that locks"
awk '/^release/ { in_it = 1 } in_it && /pthread_mutex/ { next }
    /^}/ { in_it = 0 } { print }' "$from/locked.c" >race.c
explores 2 race.c 'data race' "a free without the lock"
sed "s/    objects = site->allocated.0.;/&\\
$between/" "$from/locked.c" >lost.c
explores 2 lost.c '^A[36]: ' "a sum that is read, and written later"
sed "s/        record.freed.objects = .*/$between\\
&/" "$from/locked.c" >torn.c
explores 2 torn.c '^A3: site' "a record that is read in two steps"

finish subject_explored
