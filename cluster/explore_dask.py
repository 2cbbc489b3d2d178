#!/usr/bin/env python3
"""Every ordering of a kernel, searched by the workers of a Dask scheduler.

The shards are submitted as tasks. If a worker dies, the scheduler submits its task
again, which continues from its checkpoint in RESULTS, a folder that all workers see. At
the end `profsim merge` adds the results up; its exit code is also this program's.

usage: cluster/explore_dask.py SCHEDULER KERNEL SHARDS RESULTS [OPTION...]
    (SCHEDULER: tcp://host:8786; options are those of `profsim explore`)
"""
import subprocess
import sys

from distributed import Client, as_completed

RETRIES = 5  # how often a shard may lose its worker before it counts as failed


def search(kernel, shard, shards, results, options):
    """Run one shard. returns: profsim's exit code"""
    command = ["profsim", "explore", kernel, "--shard", f"{shard}/{shards}",
               "--result", f"{results}/", *options]
    return subprocess.run(command, stdout=subprocess.DEVNULL,
                          check=False).returncode


def main():
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 1
    scheduler, kernel, shards, results = sys.argv[1:5]
    with Client(scheduler) as client:
        tasks = [client.submit(search, kernel, i, int(shards), results,
                               sys.argv[5:], pure=False, retries=RETRIES)
                 for i in range(1, int(shards) + 1)]
        for done, task in enumerate(as_completed(tasks), 1):
            if task.status != "finished":
                print(f"a shard was given up: {task.exception()}",
                      file=sys.stderr)
            print(f"\r{done} of {shards} shards", end="", file=sys.stderr)
    print(file=sys.stderr)
    return subprocess.run(["profsim", "merge", results],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
