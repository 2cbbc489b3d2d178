#!/bin/sh
# Try mutants of every line of embed/, the recorder and the malloc profiler. Judges
# are unit tests, and tests that record or profile other programs.
#
# usage: embed.sh [EVERY [alone]]     one mutant in EVERY (15), the same each time;
#                                     alone: no program is recorded
# out: out/mutate-embed/results.tsv, survivors.txt; exit 1 if the score is below
# 95 %
set -eu

every=${1:-15}
from=out/gcc
to=out/mutate-embed
tests='test_log test_log_worlds test_fork_log test_hooks test_exec_hooks
test_lock_hooks test_spool test_modules test_start test_thread_names
test_stack_memory test_cfi test_cfi_table test_frames test_unwind
test_unwind_ends test_profile_table test_profile_threads test_profile_agent
test_profile_descriptors test_profile_worlds test_profile_start
test_profile_rights test_profile_dump test_profile_losses test_profile_cpu
test_sampled_hooks'
recorded='test_recorder test_recorder_calls'
scripts='test_profile test_barred'
if [ "${2:-}" = alone ]; then
    recorded=
    scripts=
fi
tests="$tests $recorded"
libraries='libprofsim-record.so libprof-malloc.so'
headers='-iquote embed/profile -iquote embed -Iprof/include'
sources=$(ls embed/*.c embed/profile/*.c | grep -v -e /probes.c)
hidden='-fPIC -fvisibility=hidden -ftls-model=initial-exec'

mutated="s,$from/\(lib[a-z-]*\.so\),$to/\1,g"
. props/mutants/lines/judges.sh
ninja out/mutate/generate out/mutate/run out/mutate/switch.o $from/worlds \
    $from/profsim $(printf "$from/%s " $libraries) \
    $(printf "$from/props/%s.ok " $tests $scripts)
rm -rf $to
mkdir -p $to/props $to/commands $to/embed/profile
cp embed/*.h $to/embed/
cp embed/profile/*.h $to/embed/profile/
cp $from/worlds $to/worlds # reaches no mutants
echo "-std=c11 -D_GNU_SOURCE -DEMBED_SAMPLES $headers -- $sources" |
    tr -s ' ' '\n' >$to/arguments
out/mutate/generate "$every" $to $(cat $to/arguments)
gcc -std=c11 -D_GNU_SOURCE -O2 -w $hidden -iquote props/mutants \
    -iquote props -c props/mutants/lines/switch.c -o $to/switch.o

# Make each object and archive of these sources as the build does.
here() {
    sed -e "s, -o $from/, -o $to/,g" -e "s, $from/embed/, $to/embed/,g" \
        -e "s, $from/libembed_unwind, $to/libembed_unwind,g" \
        -e "s, -MMD -MF [^ ]*,,"
}
for object in $(ninja -t targets rule cc | grep "^$from/embed/"); do
    ninja -t commands -s "$object" | here |
        sed -e "s, -c embed/, -w -include props/mutants/lines/switch.h -c $to/embed/,"
done >$to/compile
sed -i "s,$to/embed/profile/probes.c,embed/profile/probes.c," $to/compile
tr '\n' '\0' <$to/compile | xargs -0 -P 2 -n 1 sh -c
ninja -t commands -s $from/libembed_unwind.a | here |
    sed "s,$from/libembed_unwind,$to/libembed_unwind,g" | sh
for library in $libraries; do
    sh -c "$(ninja -t commands -s $from/$library | here) $to/switch.o"
done
for test in $tests; do
    sh -c "$(ninja -t commands -s $from/props/$test | here) out/mutate/switch.o"
    judge_test $test | sed "$mutated"
done >$to/programs
for script in $scripts; do
    judge_script $from/props/$script.ok "$mutated"
    sed -i "s,^exec ,export PROFSIM_RECORDER=$PWD/$to/libprofsim-record.so \\
    PROFSIM_PROFILER=$PWD/$to/libprof-malloc.so\n&," $to/commands/${script#test_}
done >>$to/programs
out/mutate/run --every "$every" --only embed/ --slow 60000 "$PWD/$to" $to/results.part
props/mutants/lines/score.sh embed $to 95
