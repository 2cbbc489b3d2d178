#!/bin/sh
# Try mutants of cli/, except of the code that decides nothing (cli-left-out.txt).
# Judges are the tests that link a part of cli/, without and with sanitizers, and
# the scripts that run the command.
#
# usage: cli.sh [EVERY [PREFIX]]     one mutant in EVERY (240), the same each time,
#                                    of those whose name begins with PREFIX (cli/)
# out: out/mutate-cli/results.tsv, survivors.txt; exit 1 if the score is below
# 95 %
set -eu

every=${1:-240}
prefix=${2:-cli/}
from=out/gcc
sanitized=out/asan
to=out/mutate-cli
tests='test_exit test_words test_report_files test_heap_command test_mutants_table
test_profile_top test_shard test_convert test_recording test_recording_forged
test_symbol_cache test_trace_cli test_otlp test_lost_files test_names test_graphs
test_demangle test_audit_recording test_hostile test_explore_command test_images
test_dump test_trace_views test_merge test_conform_stream test_output'
scripts="out/corpus out/orderings out/shards out/rows out/command out/ci
out/subject-explored out/subject.some out/explore-programs out/report out/audit
out/pages $from/props/test_run_out $from/props/test_heap_views
$from/props/test_shown_names $from/props/test_bias $from/props/test_traced_command
$from/props/test_barred $from/props/test_live_programs $from/props/test_profile
$from/props/test_conform"
left_out=props/mutants/lines/cli-left-out.txt
sources=$(ls cli/*.c cli/*/*.c | grep -v -x -F "$(sed -n 's/^ \{4\}//p' $left_out)")

. props/mutants/lines/judges.sh
ninja out/mutate/generate out/mutate/run out/mutate/switch.o $from/worlds \
    $from/profsim-conform $from/libprofsim-observe.so $(inputs_of $scripts) \
    $(printf "$from/props/%s " $tests) $(printf "$sanitized/props/%s " $tests)
rm -rf $to
mkdir -p $to/props $to/commands $to/sanitized
# What the command looks for beside itself.
cp $from/lib*.so out/lib*.a $from/profsim-conform $to/
cp $from/worlds $to/worlds # reaches no mutants
# Headers of other folders are copied, too, but not used.
for header in $(find cli embed model prof props sim subjects -name '*.h'); do
    mkdir -p "$to/$(dirname "$header")"
    [ "${header#cli/}" = "$header" ] || cp "$header" "$to/$header"
done
gap=
# Generate the mutants of each source, with the build's include paths.
ninja -t commands -s $(printf '%s ' $sources |
    sed "s,\.c ,.o ,g; s,\(^\| \)cli/,\1$from/cli/,g") >$to/commands/build
while read -r command; do
    echo "$gap -std=c11 -D_GNU_SOURCE"
    echo "$command" | grep -o -e ' -I *[^ ]*' -e ' -iquote *[^ ]*' | awk '!seen[$0]++'
    echo "-- $(echo "$command" | sed 's,.* -c \([^ ]*\) .*,\1,')"
    gap=--
done <$to/commands/build | tr -s ' ' '\n' >$to/arguments
out/mutate/generate "$every" $to $(cat $to/arguments)
# Keep only mutants of cli/, except for the functions that are left out.
mv $to/mutants.tsv $to/all.tsv
sed -n 's/^ \{4\}//p' $left_out | awk -F'\t' -v every="$every" '
    FILENAME == "-" { out[$0] = 1; next }
    $3 !~ /^cli\// { next }
    $3 " " $4 in out { left++; next }
    { tried++; print }
    END { printf "%d mutants decide, one in %d is tried; of the same files %d " \
        "are left out\n", tried, every, left >"/dev/stderr" }
' - $to/all.tsv >$to/mutants.tsv

# variant FROM TO: compile the mutants as the build compiles the files of FROM, and
# make the archives of TO of them.
variant() {
    for source in $sources; do
        mkdir -p "$2/$(dirname "$source")"
        printf '%s\n' "s, $1/${source%.c}\.o\( \|\$\), $2/${source%.c}.o\1,"
    done >$to/commands/objects
    ninja -t commands -s $(printf '%s\n' $sources | sed "s,\.c\$,.o,; s,^,$1/,") |
        sed -e "s, -MMD -MF [^ ]*,," -e "s, -o $1/, -o $2/," \
            -e "s, -c cli/, -w -include props/mutants/lines/switch.h -c $to/cli/," |
        tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c
    for archive in "$1"/libcli*.a; do
        ninja -t commands -s "$archive" | sed -f $to/commands/objects |
            sed "s, $archive, $2/${archive##*/},g" | sh
    done
}

# link FROM TO PROGRAM OUT [CHANGE]: link as the build does, but with mutants
link() {
    sh -c "$(ninja -t commands -s "$3" | sed -e "${5:-}" \
        -e "s, -o [^ ]*, -o $4," -e "s, $1/libcli, $2/libcli,g" |
        sed -f $to/commands/objects) out/mutate/switch.o -lcmocka"
}

variant $sanitized $to/sanitized
for test in $tests; do
    link $sanitized $to/sanitized $sanitized/props/$test $to/sanitized/$test
    judge_sanitized $test
done >$to/programs.sanitized
variant $from $to
for test in $tests; do
    link $from $to $from/props/$test $to/props/$test
    judge_test $test
done >$to/programs
# The command of gcc is compiled as one; that of clang is linked of archives.
link $from $to out/clang/profsim $to/profsim-mutated \
    's,^clang,gcc,; s, out/clang/, out/gcc/,g'
for script in $scripts; do
    judge_script $script.ok "s, out/\(gcc/\)*profsim\( \|\$\), $to/profsim-mutated\2,g"
done >>$to/programs
cat $to/programs.sanitized >>$to/programs
out/mutate/run --every "$every" --only "$prefix" --slow 60000 "$PWD/$to" \
    $to/results.part
props/mutants/lines/score.sh cli $to 95
