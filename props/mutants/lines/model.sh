#!/bin/sh
# Try mutants of every line of model/, the oracles: what judges them are worlds of
# the right library, and the tests that name them.
#
# usage: model.sh [EVERY]     one in so many (25), the same each time
# out: out/mutate-model/results.tsv, survivors.txt; exit 1 if the score is below
# 95 %
set -eu

every=${1:-25}
bar=95
from=out/gcc
to=out/mutate-model
rules='go1.5 go1.10 go1.17'
tests='test_model_bucket test_model_fault test_model_heap test_model_pprof
test_model_random test_contention test_cpu test_cross test_cross_heap
test_cross_without test_faults test_fuzz_worlds test_labels test_pprof
test_pprof_contention test_pprof_counts test_pprof_parts test_pprof_tasks
test_pprof_text test_pprof_worlds test_registry test_sampling test_trace_judge
test_trace_reader test_trace_rules test_traced_worlds test_tracer'
headers="-iquote model -iquote model/heap -iquote model/trace -iquote model/pprof
-iquote sim/truth"
sources=$(ls model/*/*.c)

ninja out/mutate/generate out/mutate/run out/mutate/switch.o $from/worlds \
    $(printf "$from/props/%s " $tests)
rm -rf $to
mkdir -p $to/props
for room in heap trace pprof; do
    mkdir -p $to/model/$room
    cp model/$room/*.h $to/model/$room/
done
cp model/*.h $to/model/
out/mutate/generate "$every" $to -std=c11 -D_GNU_SOURCE $headers -- $sources
for source in $sources; do
    echo gcc -std=c11 -D_GNU_SOURCE -ffp-contract=off -w -O1 -g \
        -fsanitize=undefined -fno-sanitize-recover=all \
        -include props/mutants/lines/switch.h $headers \
        -c $to/$source -o $to/${source%.c}.o
done | tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c

# As the build makes each archive, of these objects.
for archive in $(ninja -t targets rule ar | grep "^$from/libmodel"); do
    ninja -t commands -s "$archive" |
        sed -e "s, $from/model/, $to/model/,g" -e "s,$archive,$to/${archive##*/},g" |
        sh
done

# The commands that link are those of the build, but for what has mutants.
relink() { # PROGRAM
    command=$(ninja -t commands -s "$1" | sed \
        -e "s, -o $from/, -o $to/,g" -e "s, $from/libmodel, $to/libmodel,g")
    case $command in
    *switch.o*) ;;
    *) command="$command out/mutate/switch.o" ;;
    esac
    sh -c "$command -lubsan"
}

relink $from/worlds
for test in $tests; do
    relink $from/props/$test
    ninja -t commands -s "$from/props/$test.ok" |
        sed -n "s,.*$from/props/$test *\(.*\) > $from/props/$test.*,\1,p" |
        while read -r arguments; do
            echo "$to/props/$test" $arguments
        done
done >$to/programs
for name in $rules; do
    echo "$to/worlds heaps 400 $name"
done >>$to/programs
out/mutate/run --every "$every" --only model/ --slow 2400 $to $to/results.part
sort -n $to/results.part >$to/results.tsv
: >$to/survivors.txt
sed -n 's/^ \{4\}//p' props/mutants/lines/equivalent-model.txt |
    awk -F'\t' -v bar=$bar -v survivors=$to/survivors.txt '
    FNR == NR { known[$0] = 1; next }
    { total++ }
    $7 !~ /survives|unmet/ { caught++; next }
    $6 in known { equal++; next }
    { print $6 >survivors }
    END {
        printf "model: %d of %d mutants caught, %d are no mistake: %.1f %%\n", \
            caught, total, equal, 100 * (caught + equal) / total
        exit 100 * (caught + equal) < bar * total
    }' - $to/results.tsv
