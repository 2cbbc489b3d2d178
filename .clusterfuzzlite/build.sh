#!/bin/bash
# Build the fuzz targets for a fuzzing cluster: it sets CC, CFLAGS, OUT and
# LIB_FUZZING_ENGINE. `kernels` is left out: the explorer brings its own runtime
# in place of a sanitizer's.
set -eu
cd "$(dirname "$0")/.."
base="-std=c11 -D_GNU_SOURCE -ffp-contract=off -Iprof/include"
library=$(echo prof/{core,trace,pprof,port})
harness=$(echo model/{heap,trace,pprof} \
    sim/{choice,input,world,instruments,generate,scenario,recording,truth} \
    props/{judge,cross,campaign} props)
inc="-iquote sim -iquote model -iquote subjects -iquote props/fuzz"
for folder in $harness; do
    inc="$inc -iquote $folder"
done

# compile FOLDER INCLUDES
compile() {
    for source in "$1"/*.c; do
        $CC $CFLAGS $base -iquote "$1" $2 -c "$source" \
            -o "$OUT/objects/$(echo "$source" | tr / _).o"
    done
}
# An archive: what a target does not need is not linked.
mkdir -p "$OUT/objects"
for folder in $library; do
    compile "$folder" "-iquote prof/core"
done
for folder in $harness; do
    compile "$folder" "$inc"
done
ar crs "$OUT/objects/all.a" "$OUT"/objects/*.o
for target in worlds scenario recording trace; do
    $CC $CFLAGS $base $inc "props/fuzz/fuzz_$target.c" "$OUT/objects/all.a" \
        -o "$OUT/fuzz_$target" $LIB_FUZZING_ENGINE -lm -lstdc++
done
zip -j -q "$OUT/fuzz_scenario_seed_corpus.zip" fixtures/scenarios/*.sim
zip -j -q "$OUT/fuzz_trace_seed_corpus.zip" fixtures/trace/vectors/*
zip -j -q "$OUT/fuzz_recording_seed_corpus.zip" fixtures/recordings/waits.rec
rm -r "$OUT/objects"
