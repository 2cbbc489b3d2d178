#!/usr/bin/env python3
"""One command in shards, run by the workers of a Dask scheduler.

The shards are submitted as tasks. If a worker dies, the scheduler submits its task
again, which continues from its result in RESULTS, a folder that all workers see. At
the end `profsim merge` adds the results up; its exit code is also this program's.

usage: install/cluster/campaign_dask.py SCHEDULER SHARDS RESULTS COMMAND [WORD...]
    install/cluster/campaign_dask.py tcp://host:8786 64 /nfs/r explore cpu-full --exhaustive
"""
import subprocess
import sys

from distributed import Client, as_completed

RETRIES = 5  # how often a shard may lose its worker before it counts as failed


def run(shard, shards, results, command):
    """Run one shard. returns: profsim's exit code"""
    words = ["profsim", command[0], "--jobs", "1", "--shard", f"{shard}/{shards}",
             "--result", f"{results}/", *command[1:]]
    return subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode


def main():
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 1
    scheduler, shards, results = sys.argv[1:4]
    with Client(scheduler) as client:
        tasks = [client.submit(run, i, int(shards), results, sys.argv[4:],
                               pure=False, retries=RETRIES)
                 for i in range(1, int(shards) + 1)]
        for done, task in enumerate(as_completed(tasks), 1):
            if task.status != "finished":
                print(f"a shard was given up: {task.exception()}", file=sys.stderr)
            print(f"\r{done} of {shards} shards", end="", file=sys.stderr)
    print(file=sys.stderr)
    return subprocess.run(["profsim", "merge", results], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
