#!/bin/bash
# Build the fuzz targets for a fuzzing cluster: it sets CC, CFLAGS, OUT and
# LIB_FUZZING_ENGINE. `kernels` is left out: the explorer brings its own runtime
# in place of a sanitizer's.
set -eu
cd "$(dirname "$0")/.."
flags="$CFLAGS -std=c11 -D_GNU_SOURCE -ffp-contract=off -Iprof/include -I."

# An archive: what a target does not need is not linked.
mkdir -p "$OUT/objects"
for source in prof/{core,trace,pprof,port}/*.c common/*.c common/recording/*.c \
    model/{heap,trace,pprof}/*.c sim/{truth,world,instruments,generate,scenario}/*.c \
    props/*.c props/{judge,cross,campaign}/*.c; do
    $CC $flags -c "$source" -o "$OUT/objects/$(echo "$source" | tr / _).o"
done
ar crs "$OUT/objects/all.a" "$OUT"/objects/*.o
for target in worlds scenario recording trace; do
    $CC $flags "props/fuzz/fuzz_$target.c" "$OUT/objects/all.a" \
        -o "$OUT/fuzz_$target" $LIB_FUZZING_ENGINE -lm -lstdc++
done
zip -j -q "$OUT/fuzz_scenario_seed_corpus.zip" fixtures/scenarios/*.sim
zip -j -q "$OUT/fuzz_trace_seed_corpus.zip" fixtures/trace/vectors/*
zip -j -q "$OUT/fuzz_recording_seed_corpus.zip" fixtures/recordings/waits.rec
rm -r "$OUT/objects"
