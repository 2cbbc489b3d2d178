#!/bin/sh
# test_cluster.sh -- runs the job files of this folder, unchanged, with their
# engines on this machine. The result must be that of one process, also if a
# machine is lost in the middle.
# usage: install/cluster/test_cluster.sh PROFSIM ENGINE...
#   (parallel, slurm, dask, kubernetes; needs what .ci/deps calls cluster)
# build: args='out/gcc/profsim parallel slurm dask kubernetes' when=cluster
set -u
here=$(realpath "$(dirname "$0")")
profsim=$(realpath "$1")
shift
dir=$(mktemp -d) || exit 1
shown="log err"
. common/test/count.sh
started= # processes, to be ended whatever happens
clean() {
    for pid in $started; do
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP
: >"$dir/log"
mkdir "$dir/bin"
cp "$profsim" "$dir/bin/profsim" # a build in between changes nothing
export PATH="$dir/bin:$PATH"
seeds=1..24000
python=/usr/bin/python3 # of the Debian packages

# same NAME: $dir/merged must be what one process prints
same() {
    [ -s "$dir/whole" ] || profsim check --seeds $seeds >"$dir/whole" 2>>"$dir/log"
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

run_parallel() {
    RESULTS="$dir/parallel" SHARDS=7 \
        "$here/campaign.parallel" check --seeds $seeds >"$dir/merged" 2>"$dir/err"
    count "parallel: the campaign of 7 shards" $?
    same "parallel: the same verdict and log hash"
}

# ---- Slurm: a controller and two nodes on loopback, in a folder of their own ----

start_node() {
    slurmd -D -N "$1" >"$slurm/slurmd-$1.out" 2>&1 &
    eval "node$1=$!"
    started="$started $!"
}
start_slurm() {
    slurm=$dir/controller
    host=$(uname -n | cut -d. -f1)
    base=$((20000 + $$ % 20000))
    mkdir -p "$slurm/state" "$slurm/spool1" "$slurm/spool2"
    cat >"$slurm/slurm.conf" <<CONF
ClusterName=profsim
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd-%n.log
ProctrackType=proctrack/linuxproc
SchedulerParameters=batch_sched_delay=1,sched_interval=2
ReturnToService=2
SlurmdTimeout=5
KillWait=5
NodeName=[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 1))-$((base + 2))] CPUs=1
PartitionName=all Nodes=ALL Default=YES
CONF
    export SLURM_CONF="$slurm/slurm.conf"
    slurmctld -D -i >"$slurm/slurmctld.out" 2>&1 &
    started="$started $!"
    start_node 1
    start_node 2
    wait_for 30 sh -c '[ "$(sinfo -h -o %D -t idle)" = 2 ]'
}

# Lose a node as by a loss of power: first what would notify the controller.
lose_node() {
    eval "kill -9 \$node$1"
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

run_slurm() {
    export RESULTS="$dir/slurm"
    mkdir "$RESULTS" "$dir/jobs"
    start_slurm >>"$dir/log" 2>&1
    count "slurm: a controller and two nodes are up" $?
    (
        cd "$dir/jobs" &&
            array=$(sbatch --parsable --array=0-6 "$here/campaign.sbatch" \
                check --seeds $seeds --every 0) &&
            sbatch --dependency="afterany:$array" -o merged \
                --wrap "profsim merge $RESULTS"
    ) >"$dir/log" 2>&1
    count "slurm: the array and its merge are queued" $?
    wait_for 60 grep -q '^heaps.runs [1-9]' "$RESULTS/shard-2-of-7.result"
    count "slurm: both nodes are at work" $?
    lose_node 2
    wait_for 60 sh -c "sinfo -h -n 2 -o %T | grep -q down"
    count "slurm: one is lost in the middle" $?
    start_node 2
    wait_for 300 sh -c '[ -z "$(squeue -h)" ]'
    count "slurm: all tasks have ended" $?
    grep -q 'requeue' "$slurm/slurmctld.log"
    count "slurm: the task of that machine was queued again" $?
    cp "$dir/jobs/merged" "$dir/merged"
    same "slurm: the merge that waited for them is the whole campaign"
}

run_dask() {
    port=$((30000 + $$ % 20000))
    $python -m distributed.cli.dask_scheduler --host 127.0.0.1 --port $port \
        --no-dashboard >"$dir/dask" 2>&1 &
    started="$started $!"
    for i in 1 2; do
        $python -m distributed.cli.dask_worker "tcp://127.0.0.1:$port" \
            --nthreads 1 --no-nanny --no-dashboard --death-timeout 60 \
            --local-directory "$dir/worker$i" >>"$dir/dask" 2>&1 &
        eval "worker$i=$!"
        started="$started $!"
    done
    mkdir "$dir/orderings"
    $python "$here/campaign_dask.py" "tcp://127.0.0.1:$port" 16 "$dir/orderings" \
        explore cpu-full --exhaustive >"$dir/merged" 2>"$dir/err" &
    client=$!
    wait_for 60 sh -c "ls '$dir'/orderings/*.result"
    kill -9 $worker2
    count "dask: a worker is lost in the middle" $?
    wait $client
    count "dask: the search in 16 shards ends" $?
    graphs=$(profsim explore cpu-full --exhaustive | awk '{ print $4 }')
    grep -q " $graphs graphs, log hash .*, holds" "$dir/merged"
    count "dask: the same graphs as one process finds" $?
}

# Each pod's command, with the variable that an Indexed Job sets.
run_kubernetes() {
    $python -c '
import shlex, sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))["spec"]
command = spec["template"]["spec"]["containers"][0]["command"]
assert spec["completionMode"] == "Indexed" and f"auto/{spec['"'completions'"']}" in command
print(shlex.join(command))' "$here/campaign.k8s.yaml" >"$dir/command" 2>"$dir/err"
    count "kubernetes: the manifest is an Indexed Job" $?
    sed -i "s|1\.\.100000000|$seeds|; s|/results/|$dir/kubernetes/|" "$dir/command"
    for index in $(seq 0 63); do
        JOB_COMPLETION_INDEX=$index sh "$dir/command" >>"$dir/log" 2>&1 || break
    done
    profsim merge "$dir/kubernetes" >"$dir/merged" 2>"$dir/err"
    same "kubernetes: 64 pods' commands are the whole campaign"
}

for engine in "$@"; do
    begun=$(date +%s)
    run_"$engine"
    echo "$engine: $(($(date +%s) - begun)) s"
done
finish cluster
