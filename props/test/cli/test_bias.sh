#!/bin/sh
# test_bias.sh -- what `profsim bias` prints, and the verdict of --verify.
# usage: test_bias.sh PROFSIM
set -eu

profsim=$1

die() {
    echo "test_bias: $*" >&2
    exit 1
}

# At 3 GHz a rate of one second is 3000000000 ticks; waits have 1000 ticks. By
# hand: 2^32 random numbers are 3000000000 + 1294967296, so each of the 1001
# numbers that keep a wait comes twice, and a wait counts on average as 2 * 1001
# * 3000000000 / (1000 * 2^32) = 1.398 times its ticks.
"$profsim" bias --rules go1.17 --rate 1000000000 --ghz 3 |
    grep -q '^ *1000 .* 1\.398 *1\.398$' || die "no 1.398"
"$profsim" bias --rules exact --rate 1000000000 --ghz 3 |
    awk 'NR > 2 && ($4 != 1 || $5 != 1) { exit 1 }' || die "exact is biased"
"$profsim" bias --ghz 2.596 --rate 2 --rules exact |
    grep -q 'is 5 ticks at 2.596 GHz' || die "2 ns at 2.596 GHz are not 5 ticks"

for words in '--ghz 0' '--ghz 11' '--ghz 1x' '--rate 0' '--format xml' \
    '--rules go9' 'word' 'S1' '--json x' '--junit x' '--verify --rate 5' \
    '--verify --ghz 3' '--verify --format csv' '--verify S99'; do
    status=0
    # shellcheck disable=SC2086
    "$profsim" bias $words >/dev/null 2>&1 || status=$?
    [ $status = 1 ] || die "bias $words: exit $status"
done

"$profsim" bias --verify >/dev/null || die "exact is called biased"
for rules in go1.5 go1.6-late go1.10 go1.17; do
    status=0
    said=$("$profsim" bias --verify --rules $rules) || status=$?
    [ $status = 2 ] || die "$rules: exit $status"
    echo "$said" | grep -q 'at a rate of' || die "$rules: no cell is named"
done
echo "bias: all results are right"
