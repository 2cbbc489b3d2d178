#!/bin/sh
# slurm.sh -- a cluster of two nodes on this machine, for a test: a controller and
# two slurmd on loopback, in one folder, with nothing of the machine's own Slurm.
# Sourced; `slurm_start DIR`, `slurm_kill_node N`, `slurm_start_node N`, `slurm_stop`.
slurm_start() {
    slurm_dir=$1
    slurm_pids=
    host=$(uname -n | cut -d. -f1)
    base=$((20000 + $$ % 20000))
    mkdir -p "$slurm_dir/state" "$slurm_dir/spool1" "$slurm_dir/spool2"
    cat >"$slurm_dir/slurm.conf" <<CONF
ClusterName=profsim
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool%n
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmdPidFile=$slurm_dir/slurmd-%n.pid
SlurmctldLogFile=$slurm_dir/slurmctld.log
SlurmdLogFile=$slurm_dir/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=2
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=5
MinJobAge=600
KillWait=5
RebootProgram=/bin/true
NodeName=1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=1 State=UNKNOWN
NodeName=2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF="$slurm_dir/slurm.conf"
    slurmctld -D -i >"$slurm_dir/slurmctld.out" 2>&1 &
    slurm_pids=$!
    slurm_start_node 1
    slurm_start_node 2
    for _ in $(seq 100); do
        [ "$(sinfo -h -o %D -t idle 2>/dev/null)" != 2 ] || return 0
        sleep 0.3
    done
    tail -n 5 "$slurm_dir"/*.log "$slurm_dir"/*.out
    return 1
}

slurm_start_node() {
    slurmd -D -N "$1" >"$slurm_dir/slurmd-$1.out" 2>&1 &
    eval "slurm_node_$1=$!"
}

# Kill the daemon of a node.
slurm_kill_node() {
    eval "daemon=\$slurm_node_$1"
    kill -9 "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
}

slurm_stop() {
    for pid in $slurm_pids ${slurm_node_1:-} ${slurm_node_2:-}; do
        kill "$pid" 2>/dev/null
    done
    for pid in $slurm_pids ${slurm_node_1:-} ${slurm_node_2:-}; do
        wait "$pid" 2>/dev/null
    done
}
