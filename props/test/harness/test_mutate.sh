#!/bin/sh
# test_mutate.sh -- tests mutate_run with a judge that is written here: the
# number of a mutant says how the judge treats it. Some mutants are caught, some
# survive, and for some the judge cannot run, which gives no verdict. usage:
# props/test/harness/test_mutate.sh RUN
set -u
. props/test/lib/count.sh
run=$(cd "$(dirname "$1")" && pwd)/${1##*/}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
shown="out said results"

# check NAME COMMAND...: the command must succeed
check() {
    name=$1
    shift
    "$@" >out 2>&1
    count "$name" $?
}

# mutant NUMBER
mutant() {
    printf '%s\t%s\tprof/a.c\tf\t1\tkind\tx%s\ty\t1\n' "$1" "$1" "$1"
}

# judges COSTS [OPTION...]: try the mutants; keep the output and the exit code
judges() {
    printf '%s\n' "$1" >costs
    shift
    : >results
    timeout 60 "$run" --costs costs "$@" folder results >said 2>&1
    got=$?
}

# verdict NUMBER WORD: the verdict on that mutant must be WORD
verdict() {
    awk -F'\t' -v number="$1" -v word="$2" '$1 == number { found = $7 == word }
        END { exit !found }' results
}

exits() { # STATUS
    [ $got -eq "$1" ]
}

mkdir folder
printf '#!/bin/sh\n' >folder/worlds
cat >folder/profsim <<'END'
#!/bin/sh
case "$* $PROF_MUTANT" in
*--list*) echo kernel ;;
*0) printf '\1' | dd of="$PROF_MUTANTS_MET" bs=1 seek=6 conv=notrunc ;;
*) while :; do :; done ;;
esac
END
cat >folder/judge <<'END'
#!/bin/sh
meet() {
    printf '\1' | dd of="$PROF_MUTANTS_MET" bs=1 seek="$1" conv=notrunc
}
case $PROF_MUTANT in
0)
    for number in 1 2 3 4; do
        meet $number
    done
    [ ! -e fail ] || exit 1
    [ ! -e vanish ] || rm folder/judge
    ;;
1) exit 1 ;;
2) kill -SEGV $$ ;;
3) ;;
*) while :; do :; done ;;
esac
END
chmod +x folder/*
echo "$dir/folder/judge" >folder/programs
for number in 1 2 3 4 5 6; do
    mutant $number
done >folder/mutants.tsv

judges '# nothing is slow'
check "a judge that ends with 1 has caught it" verdict 1 failed
check "a judge that crashes has caught it" verdict 2 crashed
check "a judge that passes has not" verdict 3 survives
check "a judge that goes on for ever has caught it" verdict 4 hangs
check "what nobody comes by is not caught" verdict 5 unmet
check "a kernel that goes on has not, it may only have more to try" \
    verdict 6 survives
check "all were tried" exits 0

judges '300 judge'
check "who is slow by the list is not asked" verdict 1 unmet
judges '300 judge' --slow 300
check "who is not slower than that is" verdict 1 failed
judges '300 nobody'
check "a list that is out of date" grep -q "no judge 'nobody'" said

touch fail
judges '#'
check "who fails without a mutant judges none" verdict 1 unmet
check "and is named" grep -q 'judge fails without a mutant' said
rm fail
touch vanish
judges '#'
check "a judge that does not start catches nothing" exits 1
check "and it is reported" grep -q 'judge does not start' said
check "no mutant counts as caught by it" test ! -s results

finish mutate
