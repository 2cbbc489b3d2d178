#!/bin/sh
# test_cluster.sh -- runs the job files of this folder, unchanged, with their
# engines on this machine. The result must be that of one process, even if a
# machine is lost in the middle.
# usage: cluster/test_cluster.sh PROFSIM ENGINE...
#   (parallel, slurm, dask, kubernetes, fuzzlite; needs what .ci/deps calls cluster)
set -u
here=$(realpath "$(dirname "$0")")
profsim=$(realpath "$1")
shift
dir=$(mktemp -d) || exit 1
shown="log err"
. props/test/lib/count.sh
. cluster/slurm.sh
slurm_pids=
started= # processes, to be ended whatever happens
clean() {
    slurm_stop
    for pid in $started; do
        kill "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP
: >"$dir/log"
mkdir "$dir/bin"
cp "$profsim" "$dir/bin/profsim" # a build in between changes nothing
export PATH="$dir/bin:$PATH"
export SEEDS=1..24000
python=/usr/bin/python3 # of the Debian packages

whole() {
    [ -s "$dir/whole" ] || profsim check --seeds $SEEDS >"$dir/whole" 2>>"$dir/log"
}
# same NAME: $dir/merged must be what one process prints
same() {
    whole
    diff "$dir/whole" "$dir/merged" >"$dir/log" 2>&1
    count "$1" $?
}

# wait_for SECONDS COMMAND...: wait until the command succeeds
wait_for() {
    tries=$(($1 * 5))
    shift
    while [ $tries -gt 0 ] && ! "$@" >/dev/null 2>&1; do
        sleep 0.2
        tries=$((tries - 1))
    done
    [ $tries -gt 0 ]
}

# ---- GNU parallel, over ssh ----

run_parallel() {
    port=$((40000 + $$ % 20000))
    mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
    cp "$dir/key.pub" "$dir/authorized"
    /usr/sbin/sshd -D -e -f /dev/null -p $port -h "$dir/host" \
        -o ListenAddress=127.0.0.1 -o "AuthorizedKeysFile=$dir/authorized" \
        -o StrictModes=no -o PidFile=none -o UsePAM=no \
        -o PermitRootLogin=prohibit-password 2>"$dir/sshd.log" &
    sshd=$!
    started="$started $sshd"
    login="ssh -q -p $port -i $dir/key -o StrictHostKeyChecking=no
        -o UserKnownHostsFile=/dev/null -o BatchMode=yes"
    login="$(echo $login) $(id -un)@127.0.0.1"
    wait_for 10 $login true
    count "parallel: sshd is up on loopback" $?
    HOSTS="2/$login" RESULTS="$dir/parallel" SHARDS=7 EVERY=1 \
        "$here/campaign.parallel" >"$dir/merged" 2>"$dir/err"
    count "parallel: the campaign of 7 shards over ssh" $?
    same "parallel: the same verdict and log hash"
    kill $sshd
}

# ---- Slurm ----

# Kill the batch step of a machine as a loss of power would: first the process
# that would notify the controller.
kill_tasks() {
    for entry in /proc/[0-9]*; do
        grep -qzx "SLURMD_NODENAME=$1" "$entry/environ" 2>/dev/null &&
            grep -qzx "SLURM_CONF=$SLURM_CONF" "$entry/environ" || continue
        parent=$(awk '/^PPid:/ { print $2 }' "$entry/status" 2>/dev/null)
        case $(cat "/proc/$parent/comm" 2>/dev/null) in
        slurmstepd) kill -9 "$parent" ;;
        esac
        kill -9 "${entry#/proc/}" 2>/dev/null
    done
}
ended() { [ -z "$(squeue -h)" ]; }

run_slurm() {
    export RESULTS="$dir/slurm" EVERY=0
    mkdir "$RESULTS" "$dir/jobs"
    slurm_start "$dir/controller" >>"$dir/log" 2>&1
    count "slurm: a controller and two nodes are up" $?
    (
        cd "$dir/jobs" &&
            array=$(sbatch --parsable --array=0-6 "$here/campaign.sbatch") &&
            sbatch --parsable --dependency=afterany:$array -o merged \
                "$here/merge.sbatch"
    ) >"$dir/log" 2>&1
    count "slurm: the array and its merge are queued" $?
    wait_for 60 grep -q '^runs' "$RESULTS/shard-2-of-7.result"
    count "slurm: both nodes are at work" $?
    slurm_kill_node 2
    kill_tasks 2
    wait_for 60 sh -c "sinfo -h -n 2 -o %T | grep -q down"
    count "slurm: one is lost in the middle" $?
    slurm_start_node 2
    wait_for 300 ended
    count "slurm: all tasks have ended" $?
    grep -q 'requeue' "$dir/controller/slurmctld.log"
    count "slurm: the task of that machine was queued again" $?
    cp "$dir/jobs/merged" "$dir/merged"
    same "slurm: the merge that waited for them is the whole campaign"
    slurm_stop
}

# ---- Dask ----

run_dask() {
    port=$((30000 + $$ % 20000))
    dask_log=$dir/dask
    $python -m distributed.cli.dask_scheduler --host 127.0.0.1 --port $port \
        --no-dashboard >"$dask_log" 2>&1 &
    started="$started $!"
    for i in 1 2; do
        $python -m distributed.cli.dask_worker "tcp://127.0.0.1:$port" \
            --nthreads 1 --no-nanny --no-dashboard --death-timeout 60 \
            --local-directory "$dir/worker$i" >>"$dask_log" 2>&1 &
        eval "worker$i=$!"
        started="$started $!"
    done
    mkdir "$dir/orderings"
    $python "$here/explore_dask.py" "tcp://127.0.0.1:$port" cpu-full 16 \
        "$dir/orderings" --exhaustive >"$dir/merged" 2>"$dir/err" &
    client=$!
    wait_for 60 sh -c "ls '$dir'/orderings/*.result"
    kill -9 $worker2
    count "dask: a worker is lost in the middle" $?
    wait $client
    count "dask: the search in 16 shards ends" $?
    profsim explore cpu-full --exhaustive --result "$dir/explored" \
        >>"$dir/log" 2>&1
    graphs=$(sed -n 's/^graphs //p' "$dir/explored")
    hash=$(sed -n 's/^hash //p' "$dir/explored")
    grep -q " $graphs graphs, log hash $hash, holds" "$dir/merged"
    count "dask: the same graphs as one process finds" $?
}

# ---- Kubernetes ----

# Each pod's command, with the variable that an Indexed Job sets.
run_kubernetes() {
    $python "$here/check_manifest.py" "$here/campaign.k8s.yaml" \
        >"$dir/command" 2>"$dir/err"
    count "kubernetes: the manifest is an Indexed Job" $?
    sed -i "s|1\.\.100000000|$SEEDS|; s|/results/|$dir/kubernetes/|" \
        "$dir/command"
    for index in $(seq 0 63); do
        JOB_COMPLETION_INDEX=$index sh "$dir/command" >>"$dir/log" 2>&1 || break
    done
    profsim merge "$dir/kubernetes" >"$dir/merged" 2>"$dir/err"
    same "kubernetes: 64 pods' commands are the whole campaign"
}

# ---- ClusterFuzzLite ----

run_fuzzlite() {
    mkdir "$dir/out"
    CC=clang CFLAGS="-O1 -fsanitize=fuzzer-no-link,address" OUT=$dir/out \
        LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
        bash .clusterfuzzlite/build.sh >"$dir/log" 2>&1
    count "fuzzlite: the targets are built in its environment" $?
    for target in worlds scenario recording trace; do
        (cd "$dir" && timeout 60 "$dir/out/fuzz_$target" -runs=200 -seed=1) \
            >"$dir/log" 2>&1
        count "fuzzlite: 200 runs of $target" $?
    done
}

for engine in "$@"; do
    begun=$(date +%s)
    run_"$engine"
    echo "$engine: $(($(date +%s) - begun)) s"
done
finish cluster
