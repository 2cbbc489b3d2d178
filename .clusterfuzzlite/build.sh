#!/bin/bash -eu
# Build the fuzz targets for a fuzzing cluster: it sets CC, CFLAGS, OUT and
# LIB_FUZZING_ENGINE. `kernels` is left out: the explorer brings its own runtime
# in place of a sanitizer's.
cd "$(dirname "$0")/.."
sim="-iquote sim -iquote sim/choice -iquote sim/input -iquote sim/world
 -iquote sim/instruments -iquote sim/generate -iquote sim/scenario
 -iquote sim/recording -iquote sim/truth"
inc="-Iprof/include -iquote props/fuzz -iquote props -iquote props/judge
 -iquote props/campaign $sim -iquote model
 -iquote model/heap -iquote model/trace"
base="-std=c11 -D_GNU_SOURCE -ffp-contract=off"
sources=$(ls prof/{core,trace,pprof}/*.c prof/port/linux.c model/*/*.c \
    sim/{choice,input,world,instruments,generate,scenario,recording,truth}/*.c)
props="props/judge/run.c props/judge/judge*.c props/cover.c props/property.c props/campaign/failure.c
 props/judge/faults.c props/campaign/failure_file.c props/judge/trace_*.c props/campaign/simplify.c props/campaign/campaign.c
 props/campaign/output.c prof/port/file.c prof/port/path.c"
objects=
mkdir -p "$OUT/objects"
for source in $sources; do
    object=$OUT/objects/$(echo "$source" | tr / _).o
    $CC $CFLAGS $base -Iprof/include -iquote "${source%/*}" -iquote prof/core -iquote model \
        $sim -c "$source" -o "$object"
    objects="$objects $object"
done
ar crs "$OUT/objects/all.a" $objects
for target in worlds scenario recording trace; do
    more=
    [ $target = worlds ] && more=$props
    $CC $CFLAGS $base $inc props/fuzz/fuzz_$target.c $more \
        "$OUT/objects/all.a" -o "$OUT/fuzz_$target" \
        $LIB_FUZZING_ENGINE -lm -lstdc++
done
zip -j -q "$OUT/fuzz_scenario_seed_corpus.zip" fixtures/scenarios/*.sim
zip -j -q "$OUT/fuzz_trace_seed_corpus.zip" fixtures/trace/vectors/*
zip -j -q "$OUT/fuzz_recording_seed_corpus.zip" fixtures/recordings/waits.rec
rm -r "$OUT/objects"
