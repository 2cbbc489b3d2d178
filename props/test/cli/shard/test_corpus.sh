#!/bin/sh
# test_corpus.sh -- machines exchange inputs and failures through a folder to
# which anyone may write.
# usage: props/test/cli/shard/test_corpus.sh PROFSIM
set -u
profsim=$(realpath "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
shown="log err"
. props/test/lib/count.sh
cd "$dir" || exit 1
: >log
corpus() { timeout 60 "$profsim" corpus "$@"; }
says() { # NAME TEXT COMMAND...
    name=$1
    text=$2
    shift 2
    "$@" >out 2>err && [ "$(cat out)" = "$text" ]
    count "$name" $?
}

mkdir a b
echo one >a/x
echo two >a/y
echo two >a/again
says "what is local is sent, each content once" "2 sent, 0 taken, 0 ignored" \
    corpus s a
[ "$(ls s | grep -cx '[0-9a-f]\{32\}')" -eq 2 ] && [ "$(ls -A s | wc -l)" -eq 2 ]
count "... under names of 32 digits, and nothing else" $?
one=$(grep -lx one s/*)
echo three >b/z
says "another machine takes it, and sends its own" \
    "1 sent, 2 taken, 0 ignored" corpus s b
[ "$(cat b/* | sort | tr '\n' ' ')" = "one three two " ]
count "... whole" $?
says "the first one takes what is new" "0 sent, 1 taken, 0 ignored" corpus s a
[ "$(ls a | wc -l)" -eq 4 ] && [ "$(ls b | wc -l)" -eq 3 ]
count "... and not what it has under another name" $?
says "again nothing moves" "0 sent, 0 taken, 0 ignored" corpus s b

# ---- files that anybody may have put there ----

wrong=0123456789abcdef0123456789abcde
echo forged >s/${wrong}0
echo named >s/name
ln -s /etc/passwd s/${wrong}1
mkfifo s/${wrong}2
mkdir s/${wrong}3
head -c 1048577 /dev/zero >s/${wrong}4
ln -s /dev/zero s/${wrong}5
mkdir c
says "of other files none is taken, and none waited for" \
    "0 sent, 3 taken, 7 ignored" corpus s c
[ "$(ls c | wc -l)" -eq 3 ]
count "... there are only the three" $?
echo damaged >"$one"
says "what was damaged is sent again" "1 sent, 0 taken, 7 ignored" corpus s b
[ -f "$one" ] && grep -qx one "$one"
count "... and whole again" $?
echo untouched >target
rm "$one"
ln -s ../target "$one"
says "a link in the place of a file" "1 sent, 0 taken, 7 ignored" corpus s b
[ ! -L "$one" ] && grep -qx one "$one" && grep -qx untouched target
count "... is replaced, and what it leads to is as it was" $?
ln -s /etc/passwd b/link
mkfifo b/pipe
says "a link and a pipe of one's own are not sent" \
    "0 sent, 0 taken, 7 ignored" corpus s b

mkdir d
head -c 1048577 /dev/zero >d/large
says "nor is what is too large" "0 sent, 0 taken, 0 ignored" corpus e d
mkdir -p h g/"${one#s/}"/full
echo one >h/x
corpus g h >>log 2>err
[ $? -eq 1 ] && [ "$(ls -A g)" = "${one#s/}" ]
count "what cannot be written is told, and no part of it is left" $?

corpus none/s a >>log 2>err
[ $? -eq 1 ] && grep -q '^profsim: none/s: No such file' err && [ ! -e none ]
count "a folder is made, but none above it" $?
corpus --help | grep -q 'not there is made'
count "... as help says" $?

# A process that is killed at any moment has written only whole files.
mkdir many
for i in $(seq 200); do seq "$i" 400 >many/$i; done
for i in 1 2 3 4 5; do
    timeout -s KILL 0.0$i "$profsim" corpus t many >>log 2>&1
done
for file in t/*; do
    [ ! -f "$file" ] || [ "$(tail -n 1 "$file")" = 400 ] || echo "$file" >>log
done
! grep -q ^t/ log
count "killed, it leaves no half file" $?
says "... and the next one sends the rest" "0 ignored" \
    sh -c "'$profsim' corpus t many | grep -o '0 ignored'"
[ "$(ls t | wc -l)" -eq 200 ]
count "... all of them" $?

# ---- Failures of campaigns ----

check() {
    timeout 60 "$profsim" check --rules go1.6-late --seeds "$1" --save "$2" \
        --corpus f >out 2>err
}
check 1..300 here
[ $? -eq 2 ] && [ "$(ls f/*.sim | wc -l)" -eq 1 ] && cmp here/*.sim f/*.sim >>log
count "a failure is sent" $?
check 1000000..1000001 there
[ $? -eq 2 ] && grep -q 'is still broken' out && cmp there/*.sim f/*.sim >>log
count "... and judged anew elsewhere" $?
printf 'profsim scenario 2\nnot one\n' >forged
mkdir q && mv forged q/x
rm f/* && "$profsim" corpus f q >>log 2>&1
for file in f/*; do mv "$file" "$file.sim"; done
check 5..6 elsewhere
[ $? -eq 1 ] && grep -q '^profsim: elsewhere/[0-9a-f]*.sim:2: ' err
count "a scenario that cannot be read is refused, not believed" $?
finish corpus
