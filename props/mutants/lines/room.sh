#!/bin/sh
# Try mutants of every line of a room other than the library: `model`, the oracles,
# judged by worlds of the correct library and by the tests that link them; or
# `explore`, the explorer and its search, judged by their tests, by kernels, by
# whole programs and by the scripts that run `profsim explore`.
#
# usage: room.sh model|explore [EVERY]     one mutant in EVERY (25), the same each
#                                          time
# out: out/mutate-ROOM/results.tsv, survivors.txt; exit 1 if the score is below
# 95 %
set -eu

room=$1
every=${2:-25}
from=out/gcc
to=out/mutate-$room
case $room in
model)
    rules='go1.5 go1.10 go1.17'
    kernels=
    programs=
    scripts=
    costs=props/mutants/lines/costs.txt
    # Not those that measure time, kill processes or link the whole command.
    tests='test_bounds test_builder test_builder_ends test_contention test_cpu
    test_cross test_cross_heap test_cross_without test_faults test_flight
    test_fuzz_worlds test_harness test_labels test_model_bucket test_model_draws
    test_model_fault test_model_heap test_model_memory test_model_oracle
    test_model_pprof test_model_random test_names test_otlp test_pprof
    test_pprof_contention test_pprof_counts test_pprof_limits test_pprof_parts
    test_pprof_sink test_pprof_tasks test_pprof_text test_pprof_worlds
    test_profile_top test_registry test_sampler test_sampling
    test_sampling_power test_scratch test_trace_cli test_trace_fuzz
    test_trace_judge test_trace_reader test_trace_rules test_trace_views
    test_traced_scenarios test_traced_worlds test_tracer test_tracer_buffers
    test_tracer_clock'
    headers="-iquote model -iquote model/heap -iquote model/trace
    -iquote model/pprof -iquote sim/truth"
    sources=$(ls model/*/*.c)
    archive=libmodel
    ;;
explore)
    rules=
    kernels='port-lock recorder-lock visited-two-keys advance-in-flush fork-first
    wait-signal contention-drawn-rates trace-handover clock-returns'
    programs=$(grep -L -e 'expect: limit' fixtures/explore/user/*.c \
        fixtures/explore/user/*/*.c)
    scripts='out/explore-programs out/subject-explored out/orderings out/explore-gdb'
    costs=props/mutants/lines/costs-explore.txt
    tests='test_explore_gcc test_explore_cases_gcc test_explore_sched_gcc
    test_explore_checkpoint test_explore_reset test_explore_time
    test_explore_faults test_explore_limits test_explore_model test_explore_parts
    test_explore_report test_explore_search test_explore_worker
    test_explore_shards test_explore_sleep test_explore_command test_linear_gcc'
    headers="-iquote sim -iquote sim/choice -iquote sim/input -iquote sim/explore
    -iquote sim/explore/search -iquote sim/explore/report -iquote sim/explore/program"
    sources=$(ls sim/explore/*.c sim/explore/search/*.c sim/explore/report/*.c \
        sim/explore/program/*.c | grep -v -e /port.c -e /real.c)
    archive=libexplore
    ;;
esac

. props/mutants/lines/judges.sh
. props/mutants/lines/programs.sh
sanitized=$(sanitized_of $tests)
ninja out/mutate/generate out/mutate/run out/mutate/switch.o $from/worlds \
    $from/props/explore_all $from/explored/runtime.o \
    $(printf "$from/props/%s " $tests) $(printf 'out/asan/props/%s ' \
    $sanitized) ${scripts:+$(inputs_of $scripts)}
rm -rf $to
mkdir -p $to/props $to/commands $(dirname $sources | sort -u | sed "s,^,$to/,")
for header in $(ls $(dirname $sources | sort -u | sed 's,$,/*.h,') model/*.h |
    sort -u); do
    mkdir -p "$to/$(dirname "$header")"
    cp "$header" "$to/$header"
done
# A header is that with the mutants, wherever it is included from.
mutated=$(echo "$headers" | sed "s,-iquote ,-iquote $to/,g")
echo "-std=c11 -D_GNU_SOURCE $headers -- $sources" | tr -s ' ' '\n' >$to/arguments
out/mutate/generate "$every" $to $(cat $to/arguments)
# SOURCE: print the name of its object in the folder of a build.
object() { # SOURCE
    case $1 in
    sim/explore/program/*) echo "program/$(basename "${1%.c}").o" ;;
    sim/explore/*) echo "explore/$(basename "${1%.c}").o" ;;
    *) echo "${1%.c}.o" ;;
    esac
}
for folder in $to $to/sanitized; do
    mkdir -p $(for source in $sources; do dirname "$folder/$(object $source)"; done |
        sort -u)
done
for source in $sources; do
    special=
    case $source in
    */program/*) special='-fno-builtin -fexceptions' ;; # as the build does
    esac
    echo gcc -std=c11 -D_GNU_SOURCE -fno-omit-frame-pointer -ffp-contract=off \
        -w -O1 -g -fsanitize=undefined -fsanitize-undefined-trap-on-error $special \
        -include props/mutants/lines/switch.h $mutated $headers \
        -c $to/$source -o "$to/$(object $source)"
done | tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c

# The same with sanitizers, as the build has them.
for source in $(printf '%s\n' $sources | grep -v sim/explore/program/); do
    ninja -t commands -s out/asan/"$(object $source)" | sed -e 's, -MMD -MF [^ ]*,,' \
        -e "s, -o out/asan/, -o $to/sanitized/," \
        -e "s, -c , -w -include props/mutants/lines/switch.h&$to/," \
        -e "s, -iquote , $(echo $mutated)&,"
done | tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c

# archives FROM TO: make each archive as the build does, of these objects.
archives() { # FROM TO
    for source in $sources; do
        printf 's, %s\\( \|$\), %s\\1,\n' \
            "$1/$(object $source)" "$2/$(object $source)"
    done >$to/commands/objects
    for made in $(ninja -t targets rule ar | grep "^$1/$archive" | cut -d: -f1); do
        ninja -t commands -s "$made" |
            sed -f $to/commands/objects -e "s, $made, $2/${made##*/},g" | sh
    done
}
archives $from $to
archives out/asan $to/sanitized

# Link with the build's own commands, except for the mutated objects.
relink() { # PROGRAM
    command=$(ninja -t commands -s "$1" | sed \
        -e "s, -o $from/, -o $to/,g" -e "s, $from/$archive, $to/$archive,g")
    case $command in
    *switch.o*) ;;
    *) command="$command out/mutate/switch.o" ;;
    esac
    sh -c "$command"
}

relink $from/worlds
[ -z "$kernels" ] || relink $from/props/explore_all
for test in $tests; do
    relink $from/props/$test
    judge_test $test
done >$to/programs
for test in $sanitized; do
    sh -c "$(ninja -t commands -s out/asan/props/$test | sed \
        -e "s, -o [^ ]*, -o $to/sanitized/$test," \
        -e "s, out/asan/$archive, $to/sanitized/$archive,g") out/mutate/switch.o"
    judge_sanitized $test
done >$to/programs.sanitized
if [ -n "$programs" ]; then
    link_runtime
    judge_programs $programs >>$to/programs
    judge_random 300 >>$to/programs
    # The command of gcc is compiled as one; that of clang is linked of archives.
    ninja $(ninja -t query out/clang/profsim | sed -n 's,^    out/clang/\(.*\.[ao]\)$,out/gcc/\1,p')
    sh -c "$(ninja -t commands -s out/clang/profsim | sed -e 's,^clang,gcc,' \
        -e "s, out/clang/, $from/,g" -e "s, -o $from/, -o $to/," \
        -e "s, $from/libexplore.a, $to/libexplore.a,") out/mutate/switch.o"
    for script in $scripts; do
        judge_script $script.ok "s, out/profsim\( \|\$\), $to/profsim\1,g"
    done >>$to/programs
fi
for kernel in $kernels; do
    echo "$to/props/explore_all $kernel --exhaustive"
done >>$to/programs
for name in $rules; do
    echo "$to/worlds heaps 400 $name"
done >>$to/programs
cat $to/programs.sanitized >>$to/programs
# Address space for shared sets of states is only reserved, not used.
only=$(dirname $sources | sort -u | sed 's,$,/,' | tr '\n' ,)
out/mutate/run --every "$every" --only "$only" --slow 4000 --memory 256 \
    --costs $costs $to $to/results.part
props/mutants/lines/score.sh $room $to 95
