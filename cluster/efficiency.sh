#!/bin/sh
# efficiency.sh -- how much faster a campaign is on two processors under a
# scheduler than in one process, measured from the moment it is submitted until
# its shards are merged. Both must print the same. Run it where nothing else
# runs: it needs two processors, and what .ci/deps calls cluster.
#   shards     processor time of 1, 2, 4 and 8 shards, one after the other
#   parallel   cluster/campaign.parallel on two processors of this machine
#   slurm      cluster/campaign.sbatch and merge.sbatch on two nodes of one each
# usage: cluster/efficiency.sh PROFSIM SECONDS [shards|parallel|slurm...]
#   (SECONDS: how long one process takes, about; 120 for docs/scale.md)
set -eu
here=$(realpath "$(dirname "$0")")
profsim=$(realpath "$1")
seconds=$2
shift 2
[ $# -gt 0 ] || set -- shards parallel slurm
dir=$(mktemp -d)
slurm_pids=
. "$here/slurm.sh"
trap 'slurm_stop; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$dir/bin"
cp "$profsim" "$dir/bin/profsim" # a build in between changes nothing
export PATH="$dir/bin:$PATH"
shards=${SHARDS:-4}
failed=0

now_ms() { date +%s%3N; }

# Processor time of this shell's children so far, in ms.
spent_ms() {
    times >"$dir/times" # not in a subshell, whose children are others
    spent=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) {
        split($i, part, "m"); sum += 60 * part[1] + part[2] }
        printf "%d\n", 1000 * sum }' "$dir/times")
}

# Choose as many seeds as take one process that long, estimated from a few of
# them.
choose_seeds() {
    profsim check --seeds 1..500 --jobs 1 >/dev/null # what is read from disk is
    begun=$(now_ms)
    profsim check --seeds 1..10000 --jobs 1 >/dev/null
    SEEDS=1..$((10000 * seconds * 1000 / ($(now_ms) - begun)))
    export SEEDS
}

run_one() {
    spent_ms
    before=$spent
    begun=$(now_ms)
    profsim check --seeds "$SEEDS" --jobs 1 >"$dir/one" 2>/dev/null
    one_ms=$(($(now_ms) - begun))
    spent_ms
    one_spent=$((spent - before))
    echo "seeds $SEEDS in one process: $one_ms ms, $one_spent ms of processor time"
}

# tell NAME MS: the factor; the merged verdict is in $dir/merged
tell() {
    if ! cmp "$dir/one" "$dir/merged"; then
        echo "$1: the merged verdict is not that of one process"
        failed=1
        return
    fi
    awk -v name="$1" -v one="$one_ms" -v ms="$2" -v shards="$shards" 'BEGIN {
        printf "%s, %d shards, two processors: %d ms, %.2f times as fast\n",
            name, shards, ms, one / ms }'
}

run_shards() {
    for n in 1 2 4 8; do
        rm -rf "$dir/results"
        spent_ms
        before=$spent
        for i in $(seq $n); do
            profsim check --seeds "$SEEDS" --jobs 1 --shard "$i/$n" \
                --result "$dir/results/" >/dev/null 2>&1
        done
        profsim merge "$dir/results" >"$dir/merged"
        spent_ms
        cmp "$dir/one" "$dir/merged" || failed=1
        awk -v n=$n -v one="$one_spent" -v ms=$((spent - before)) \
            -v bytes="$(cat "$dir"/results/*.result | wc -c)" 'BEGIN {
            printf "%d shards: %d ms of processor time, %.3f of one process; " \
                "%d bytes a result\n", n, ms, ms / one, bytes / n }'
    done
}

run_parallel() {
    begun=$(now_ms)
    HOSTS=2/: SHARDS=$shards RESULTS="$dir/parallel" \
        "$here/campaign.parallel" >"$dir/merged" 2>/dev/null
    tell parallel $(($(now_ms) - begun))
}

run_slurm() {
    export RESULTS="$dir/slurm"
    mkdir "$RESULTS" "$dir/jobs"
    slurm_start "$dir/controller" >"$dir/log" 2>&1
    cd "$dir/jobs"
    begun=$(now_ms)
    array=$(sbatch --parsable --array="1-$shards" "$here/campaign.sbatch")
    sbatch --parsable --dependency="afterany:$array" -o merged \
        "$here/merge.sbatch" >/dev/null
    limit=$((seconds * 50 + 600)) # fifths of a second
    while [ -n "$(squeue -h)" ] && [ $limit -gt 0 ]; do
        sleep 0.2
        limit=$((limit - 1))
    done
    took=$(($(now_ms) - begun))
    cd - >/dev/null
    cp "$dir/jobs/merged" "$dir/merged"
    slurm_stop
    slurm_pids=
    tell slurm $took
}

choose_seeds
run_one
for engine in "$@"; do
    run_"$engine"
done
exit $failed
