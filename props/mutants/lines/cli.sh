#!/bin/sh
# Try mutants of what decides in cli/: words, verdicts, exit codes, results of
# shards and their merge, what a recording holds. Not how texts are laid out.
#
# usage: cli.sh [EVERY]     one in so many (40), the same each time
# out: out/mutate-cli/results.tsv, survivors.txt; exit 1 if the score is below
# 95 %
set -eu

every=${1:-40}
from=out/gcc
to=out/mutate-cli
tests='test_exit test_shard test_convert test_recording test_symbol_cache
test_trace_cli test_otlp test_lost_files'
scripts='shards rows'
headers="$(ninja -t commands -s $from/cli/check/check.o $from/cli/record/convert.o \
    $from/cli/explore/explore_merge.o |
    grep -o -e ' -I *[^ ]*' -e ' -iquote *[^ ]*' | sort -u | tr '\n' ' ')"
sources="cli/exit.c cli/options.c cli/command.c cli/check/check.c
cli/check/check_merge.c cli/check/check_options.c cli/check/check_part.c
cli/check/check_search.c cli/check/check_shard.c cli/explore/explore_merge.c
cli/explore/explore_result.c cli/explore/explore_shard.c
cli/explore/explore_words.c cli/record/conversion.c cli/record/convert.c
cli/record/items.c cli/record/map.c cli/record/modules.c cli/record/recfile.c
cli/record/symbol_cache.c cli/record/tables.c cli/report/verdict.c
cli/profile/lost_files.c cli/profile/otlp.c cli/trace/trace_stat.c
$(ls cli/shard/*.c)"

. props/mutants/lines/judges.sh
ninja out/mutate/generate out/mutate/run out/mutate/switch.o $from/worlds \
    $from/libexplore.a out/profsim out/libprofsim-record.so out/libprof-malloc.so \
    $(printf "$from/props/%s " $tests)
rm -rf $to
mkdir -p $to/props $to/commands
cp out/libprofsim-record.so out/libprof-malloc.so $to/
cp $from/worlds $to/worlds # meets none
# Headers of other rooms are written, too, and not used.
for header in $(find cli model prof sim/explore -name '*.h'); do
    mkdir -p "$to/$(dirname "$header")"
    [ "${header#cli/}" = "$header" ] || cp "$header" "$to/$header"
done
out/mutate/generate "$every" $to -std=c11 -D_GNU_SOURCE $headers -- $sources
for source in $sources; do
    ninja -t commands -s $from/${source%.c}.o |
        sed -e "s, -MMD -MF [^ ]*,," -e "s, -o $from/, -o $to/," \
            -e "s, -c cli/, -w -include props/mutants/lines/switch.h -c $to/cli/,"
done | tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c

# As the build makes each archive, but for objects that have mutants.
cp $from/libcli*.a $to/
for archive in $to/*.a; do
    for source in $sources; do
        name=$(basename ${source%.c}).o
        ! ar t $archive | grep -qx "$name" || ar rD $archive $to/${source%.c}.o
    done
done
# The command of gcc is compiled as one; that of clang is linked of archives.
relink() { # TARGET OUT
    command=$(ninja -t commands -s "$1" | sed \
        -e 's,^clang,gcc,' -e 's, out/clang/, out/gcc/,g' \
        -e "s, -o [^ ]*, -o $2," -e "s, $from/libcli, $to/libcli,g" \
        -e "s, $from/\(cli/profile/lost_files\|cli/profile/otlp\)\.o, $to/\1.o,g")
    sh -c "$command out/mutate/switch.o -lcmocka"
}
for test in $tests; do
    relink $from/props/$test $to/props/$test
    judge_test $test
done >$to/programs
relink out/clang/profsim $to/profsim-mutated
for script in $scripts; do
    judge_script out/$script.ok "s,out/profsim,$to/profsim-mutated,g"
done >>$to/programs
out/mutate/run --every "$every" --only cli/ --slow 60000 "$PWD/$to" $to/results.part
props/mutants/lines/score.sh cli $to 95
