#!/usr/bin/python3
"""Compares what heap profilers cost real programs.

usage: programs.py [--rounds N] [--programs A,B] [--instructions] [--csv FILE] OUT

OUT is the folder of the build (out/gcc). Each round runs each program once
under each tool, one after the other, and each round begins with a different
tool. A cost is the median of the user + system time of the process alone (for
redis, of the server) over the rounds; what a tool does in other processes, or
afterwards, is left out. A ratio is the median of the ratios to the same round's
run without the tool.

jemalloc and gperftools bring their own malloc, so their ratio is to a run with
that malloc and its profiler off. That results are right is tested elsewhere
(record/test/test_live_programs.sh, `make audit-live`).

--instructions instead counts the process's instructions under callgrind, once,
without those of the kernel. The counts do not depend on other load of the
machine, except for redis, whose work depends on when its clients ask.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
SAMPLE_BYTES = 524288  # for every tool that samples
TIMEOUT_S = 3000

SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
    insert into t select i, 'text ' || i * 7 % 1000 from n;
create index by_b on t(b);
select count(*), b from t group by b order by 1, 2 limit 5;
create index by_a on t(a % 1000, b);
select sum(length(c)) from (select group_concat(b) as c from t group by a % 1000);
update t set b = 'other ' || b where a % 2 = 0;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
    select sum(length(printf('%d %s', i, hex(i)))), max(replace(i, '1', 'one')) from n;
select count(*) from t x join t y on x.a = y.a + 1 where y.b like '%9';
delete from t where a % 3 = 0;
"""
PYTHON = """
import json, re
rows = [{"name": "row %d" % i, "values": list(range(i % 40))} for i in range(6000)]
for _ in range(4):
    text = json.dumps(rows)
    rows = json.loads(text)
words = {}
for word in re.findall(r"[a-z]+ [0-9]+", text):
    words[word] = words.get(word, []) + len(word) * [1]
print(len(words), len(text))
"""
PERL = """
my %h; my @a;
for (1 .. 200000) { $h{$_ % 9973} .= "$_ "; push @a, [$_, "text $_"] if $_ % 4 == 0 }
my @s = sort { $b->[1] cmp $a->[1] } @a;
my $n = 0; for (values %h) { $n += () = /(\\d+7) /g }
print scalar(@s), " $n\\n";
"""
C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#define F(n) static int f##n(const char *a, int b) { char t[64]; \\
    for (int i = 0; i < b; i++) { snprintf(t, sizeof t, "%d %s", i * n, a); \\
    if (strlen(t) > n) switch (t[n % 8]) { case 'a': b -= n; break; \\
    case 'b': b ^= i; break; default: b += t[i % 64] == n; } } return b; }
#define G(n) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
G(1) G(2) G(3) G(4) G(5) G(6)
#define H(n) f##n##1(s, f##n##2(s, 2) + f##n##3(s, f##n##4(s, 1))) + \\
    f##n##5(s, f##n##6(s, 2) + f##n##7(s, 3))
int main(int n, char **v) { const char *s = v[0];
    return H(1) + H(2) + H(3) + H(4) + H(5) + H(6); }
"""



def programs(out, folder):
    """The command of each, and the files that it needs."""
    for name, text in ("sql", SQL), ("py", PYTHON), ("pl", PERL), ("c", C):
        with open("%s/work.%s" % (folder, name), "w") as file:
            file.write(text)
    return {
        "sqlite3": ["/usr/bin/sqlite3", ":memory:", ".read work.sql"],
        "redis-server": ["/usr/bin/redis-server"],
        "python3": ["/usr/bin/python3", "-S", "-E", "work.py"],
        "perl": ["/usr/bin/perl", "work.pl"],
        "clang": ["/usr/bin/clang", "-O2", "-c", "work.c", "-o", "work.o"],
        "malloc-loop": [out + "/bench/programs/loops", "malloc"],
        "short-threads": [out + "/bench/programs/loops", "threads"],
    }


def recorder(out, folder):
    os.mkdir(folder + "/spool", 0o700)
    at = os.stat(folder + "/spool")
    return {"LD_PRELOAD": out + "/libprofsim-record.so",
            "PROFSIM_SPOOL": folder + "/spool",
            "PROFSIM_SPOOL_DEVICE": str(at.st_dev),
            "PROFSIM_SPOOL_INODE": str(at.st_ino),
            "PROFSIM_SPOOL_BYTES": str(2 << 30)}


def profiler(out, folder, no_agent="0"):
    return {"LD_PRELOAD": out + "/libprof-malloc.so",
            "PROFSIM_PROFILE_FOLDER": folder, "PROFSIM_PROFILE_NO_AGENT": no_agent}


# Name, the run that it is compared with, and its environment. A process sets
# LD_PRELOAD for itself alone: what it executes is not profiled.
TOOLS = (
    ("none", None, lambda out, folder: {}),
    ("profsim record", "none", recorder),
    ("profsim profile", "none", profiler),
    ("profsim profile --no-agent", "none",
     lambda out, folder: profiler(out, folder, "1")),
    ("heaptrack", "none", lambda out, folder: {
        "LD_PRELOAD": HEAPTRACK,
        "DUMP_HEAPTRACK_OUTPUT": folder + "/heaptrack.raw"}),
    ("jemalloc", None, lambda out, folder: {"LD_PRELOAD": JEMALLOC}),
    ("jemalloc prof", "jemalloc", lambda out, folder: {
        "LD_PRELOAD": JEMALLOC,
        "MALLOC_CONF": "prof:true,prof_accum:true,prof_final:true,"
                       "lg_prof_sample:19,prof_prefix:" + folder + "/je"}),
    ("tcmalloc", None, lambda out, folder: {"LD_PRELOAD": TCMALLOC}),
    ("gperftools sampler", "tcmalloc", lambda out, folder: {
        "LD_PRELOAD": TCMALLOC,
        "TCMALLOC_SAMPLE_PARAMETER": str(SAMPLE_BYTES)}),
)
BASE_OF = {name: base or name for name, base, _ in TOOLS}


class Runner:
    def __init__(self, out, work, counts):
        self.out, self.work = out, work
        self.counts = counts  # instructions, instead of time

    def run(self, make_env, name, command):
        """CPU time in ms, or millions of instructions."""
        folder = tempfile.mkdtemp(dir=self.work)
        env = ["%s=%s" % item for item in make_env(self.out, folder).items()]
        wrapped = ["/usr/bin/valgrind", "--tool=callgrind", "--trace-children=no",
                   "--callgrind-out-file=/dev/null"] if self.counts else []
        words = ["/usr/bin/env"] + env + wrapped + command
        if name == "redis-server":
            socket = folder + "/s"
            words += ["--port", "0", "--unixsocket", socket, "--save", "",
                      "--appendonly", "no", "--dir", folder, "--hz", "10"]
        try:
            with open(folder + "/out", "w+") as out:
                process = subprocess.Popen(words, cwd=self.work, stdout=out,
                                           stdin=subprocess.DEVNULL, stderr=out)
                if name == "redis-server":
                    ask_redis(socket)
                _, status, used = os.wait4(process.pid, 0)
                out.seek(0)
                said = out.read()
            if status != 0:
                raise RuntimeError("%s: status %d: %s" % (name, status, said[-300:]))
            if self.counts:
                return int(re.search(r"Collected : (\d+)", said).group(1)) / 1e6
            return 1e3 * (used.ru_utime + used.ru_stime)
        finally:
            shutil.rmtree(folder)


def ask_redis(socket):
    """The same requests each time; then the server ends."""
    cli = ["/usr/bin/redis-cli", "-s", socket]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(600):
        if os.path.exists(socket) and subprocess.run(
                cli + ["ping"], **quiet).returncode == 0:
            break
        time.sleep(0.05)
    subprocess.run(
        ["/usr/bin/redis-benchmark", "-s", socket, "-q", "-c", "8", "-P", "16",
         "-r", "20000", "-n", "60000", "-d", "100",
         "-t", "set,get,incr,lpush,rpop,sadd,hset,zadd"],
        timeout=TIMEOUT_S, check=True, **quiet)
    subprocess.run(cli + ["shutdown", "nosave"], timeout=60, **quiet)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--programs", default="")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--csv", default=os.devnull)
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    work = tempfile.mkdtemp(prefix="bench-programs-")
    os.environ.update(PATH="/usr/bin:/bin", LC_ALL="C", PYTHONHASHSEED="0",
                      PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0")
    runner = Runner(out, work, options.instructions)
    unit = "million instructions" if options.instructions else "ms"
    try:
        with open(options.csv, "w") as csv:
            csv.write("program,tool,rounds,%s,added_percent\n" % unit)
            for name, command in programs(out, work).items():
                if options.programs and name not in options.programs.split(","):
                    continue
                runs = {tool: [] for tool, _, _ in TOOLS}
                for i in range(1 if options.instructions else options.rounds):
                    first = i % len(TOOLS)
                    for tool, _, make_env in TOOLS[first:] + TOOLS[:first]:
                        runs[tool].append(runner.run(make_env, name, command))
                for tool, costs in runs.items():
                    added = 100 * (statistics.median(
                        cost / base for cost, base in
                        zip(costs, runs[BASE_OF[tool]])) - 1)
                    cost = statistics.median(costs)
                    print("%-14s %-26s %10.2f %s %+7.2f %%" % (
                        name, tool, cost, unit, added), flush=True)
                    csv.write("%s,%s,%d,%.2f,%.2f\n" % (
                        name, tool, len(costs), cost, added))
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
