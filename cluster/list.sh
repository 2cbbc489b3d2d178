#!/bin/sh
# list.sh -- runs one shard of a list that `make` runs: the mutants written by
# hand, the fuzz targets, or a soak. Each item of the list is a command, and has
# a row in the result (docs/scale.md).
#   mutants: a patch an item
#   fuzz:    a target an item; each shard has all targets, with a seed of its own
#   soak:    one item per shard, with seeds of its own
# usage: SHARD=I/N RESULT=DIR/ [CORPUS=DIR] cluster/list.sh mutants
#                             ... cluster/list.sh fuzz SECONDS [libfuzzer|afl]
#                             ... cluster/list.sh soak SECONDS
set -eu
: "${SHARD:?is not set}" "${RESULT:?is not set: a folder, or a file}"
list=$1
seconds=${2:-}
engine=${3:-libfuzzer}

# N of I/N, of auto/N, or as the scheduler says.
shards() {
    case $SHARD in
    */*) echo "${SHARD#*/}" ;;
    *) echo "${SLURM_ARRAY_TASK_COUNT:-${CI_NODE_TOTAL:-1}}" ;;
    esac
}

# run ASKED COMMAND...: the shard of the list on standard input
run() {
    asked=$1
    shift
    exec out/profsim shard --asked "$asked" --shard "$SHARD" \
        --result "$RESULT" "$@"
}

case $list in
mutants)
    ninja -k 0 $(props/mutants/mutants.py needs) >&2
    props/mutants/mutants.py list | run "make mutants" props/mutants/mutants.py one
    ;;
fuzz)
    for target in worlds kernels scenario recording trace; do
        seq "$(shards)" | sed "s/^/$target /"
    done | run "make fuzz TIME=$seconds ENGINE=$engine" \
        "$0" fuzz-item $((seconds > 5 ? seconds / 5 : 1)) "$engine"
    ;;
fuzz-item) # SECONDS ENGINE "TARGET SEED"
    target=${4% *}
    SEED=${4#* }
    export SEED FUZZ_WORK="out/fuzz/shard-$SEED"
    exec props/fuzz/fuzz.sh "$seconds" --engine "$engine" \
        ${CORPUS:+--corpus "$CORPUS"} "$target"
    ;;
soak)
    seq "$(shards)" | run "make soak TIME=$seconds" "$0" soak-item "$seconds"
    ;;
soak-item) # SECONDS SHARD
    SOAK_DIR=out/soak-$3 exec props/campaign/soak.sh "$seconds" \
        $((1000000000 + ($3 - 1) * 200000007))
    ;;
*)
    echo "list: there is no list '$list'" >&2
    exit 1
    ;;
esac
