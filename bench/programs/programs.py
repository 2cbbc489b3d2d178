#!/usr/bin/python3
"""Compares heap profilers on real programs: what they cost, and how far their
results are from what happened.

usage: programs.py [--rounds N] [--programs A,B] [--tools A,B] [--slow]
                   [--instructions] [--csv FILE] OUT

OUT is the folder of the build (out/gcc). Each round runs each program once
under each tool, one after the other, and each round begins with a different
tool. A cost is the median over the rounds; a ratio is the median of the ratios
to the same round's run without the tool. CPU is the user + system time of the
process alone (for redis, of the server); what a tool does in other processes,
or afterwards, is left out.

jemalloc and gperftools bring their own malloc, so their ratio is to a run with
that malloc and its profiler off. props/test/cli/heap/count_heap.c counts what
really happened, in a separate run. Tools that take many times as long run only
with --slow, and once.

--instructions instead counts the process's instructions under callgrind, once,
without those of the kernel. The counts do not depend on other load of the
machine, except for redis, whose work depends on when its clients ask.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import profiles

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
JEMALLOC = LIBRARIES + "/libjemalloc.so.2"
TCMALLOC = LIBRARIES + "/libtcmalloc.so.4"
HEAPTRACK = "/usr/lib/heaptrack"
TIMEOUT_S = 300

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


class Program:
    """A program to run, with the files that it needs in the folder."""

    def __init__(self, name, command, env=None):
        self.name = name
        self.command = command
        self.env = env or {}


def programs(out, folder):
    with open(folder + "/work.sql", "w") as file:
        file.write(SQL)
    with open(folder + "/work.py", "w") as file:
        file.write(PYTHON)
    with open(folder + "/work.pl", "w") as file:
        file.write(PERL)
    with open(folder + "/work.c", "w") as file:
        file.write(C)
    return [
        Program("sqlite3", ["/usr/bin/sqlite3", ":memory:", ".read work.sql"]),
        Program("redis-server", ["/usr/bin/redis-server"]),
        Program("python3", ["/usr/bin/python3", "-S", "-E", "work.py"]),
        Program("perl", ["/usr/bin/perl", "work.pl"],
                {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
        Program("clang", ["/usr/bin/clang", "-O2", "-c", "work.c", "-o", "work.o"]),
        Program("malloc-loop", [out + "/bench/programs/loops", "malloc"]),
        Program("short-threads", [out + "/bench/programs/loops", "threads"]),
    ]


# ------------------------------------------------------------------------ tools

class Tool:
    """Runs a program under a profiler, and reads the profiler's results."""
    base = "libc"  # the malloc that the program gets: its own
    slow = False  # run once

    def env(self, folder):
        return {}

    def wrap(self, folder):
        return []

    def said(self, folder):
        """peak, live and total bytes, as far as the profiler reports them"""
        return {}


class Plain(Tool):
    def __init__(self, malloc):
        self.name = "none" if malloc == "libc" else malloc + ", not profiling"
        self.base = malloc

    def env(self, folder):
        return {"libc": {}, "jemalloc": {"LD_PRELOAD": JEMALLOC},
                "tcmalloc": {"LD_PRELOAD": TCMALLOC}}[self.base]


class Record(Tool):
    name = "profsim record"

    def __init__(self, out):
        self.out = out

    def env(self, folder):
        os.mkdir(folder + "/spool", 0o700)
        at = os.stat(folder + "/spool")
        return {"LD_PRELOAD": self.out + "/libprofsim-record.so",
                "PROFSIM_SPOOL": folder + "/spool",
                "PROFSIM_SPOOL_DEVICE": str(at.st_dev),
                "PROFSIM_SPOOL_INODE": str(at.st_ino),
                "PROFSIM_SPOOL_BYTES": str(2 << 30)}

    def said(self, folder):
        profsim = self.out + "/profsim"
        recording = folder + "/x.rec"
        subprocess.run([profsim, "recover", "-o", recording, folder + "/spool"],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        text = subprocess.run([profsim, "show", "--top", "1", recording],
                              check=True, stdout=subprocess.PIPE).stdout.decode()
        lost = re.search(r"^not recorded +(.*)", text, re.M).group(1)
        if lost != "nothing":
            print("profsim record lost: " + lost, file=sys.stderr)
        return {"peak": int(re.search(r"^peak +(\d+)", text, re.M).group(1)),
                "live": int(re.search(r"^at exit +(\d+)", text, re.M).group(1)),
                "total": int(re.search(r"^allocated +(\d+)", text, re.M).group(1))}


class Profile(Tool):
    def __init__(self, out, has_agent):
        self.out = out
        self.has_agent = has_agent
        self.name = "profsim profile" + ("" if has_agent else " --no-agent")

    def env(self, folder):
        return {"LD_PRELOAD": self.out + "/libprof-malloc.so",
                "PROFSIM_PROFILE_FOLDER": folder,
                "PROFSIM_PROFILE_NO_AGENT": "0" if self.has_agent else "1"}

    def said(self, folder):
        sums = profiles.pprof_sums(profiles.newest(folder + "/*heap*.pb*"))
        return {"live": sums["inuse_space"], "total": sums["alloc_space"]}


class Heaptrack(Tool):
    name = "heaptrack"

    def env(self, folder):
        return {"LD_PRELOAD": HEAPTRACK + "/libheaptrack_preload.so",
                "DUMP_HEAPTRACK_OUTPUT": folder + "/heaptrack.raw"}

    def said(self, folder):
        with open(folder + "/heaptrack.raw") as raw, \
                open(folder + "/heaptrack.dat", "w") as data:
            subprocess.run([HEAPTRACK + "/libexec/heaptrack_interpret"],
                           stdin=raw, stdout=data, stderr=subprocess.DEVNULL,
                           check=True)
        # The format's lines: + and - of an allocation, "a" of a new kind.
        sizes, live, total, peak = [], 0, 0, 0
        with open(folder + "/heaptrack.dat") as data:
            for line in data:
                if line[0] == "a":
                    sizes.append(int(line.split()[1], 16))
                elif line[0] == "+":
                    size = sizes[int(line[2:], 16)]
                    live += size
                    total += size
                    peak = max(peak, live)
                elif line[0] == "-":
                    live -= sizes[int(line[2:], 16)]
        return {"peak": peak, "live": live, "total": total}


class JemallocProf(Tool):
    name = "jemalloc prof"
    base = "jemalloc"

    def env(self, folder):
        return {"LD_PRELOAD": JEMALLOC,
                "MALLOC_CONF": "prof:true,prof_accum:true,prof_final:true,"
                               "lg_prof_sample:19,prof_prefix:" + folder + "/je"}

    def said(self, folder):
        return profiles.jemalloc_sums(profiles.newest(folder + "/je.*.heap"))


class TcmallocSampler(Tool):
    name = "gperftools sampler"  # reports only live bytes
    base = "tcmalloc"

    def __init__(self, out):
        self.out = out

    def env(self, folder):
        return {"LD_PRELOAD": "%s %s/bench/programs/libsample-at-exit.so" %
                              (TCMALLOC, self.out),
                "TCMALLOC_SAMPLE_PARAMETER": str(profiles.RATE),
                "SAMPLE_AT_EXIT": folder + "/sample."}

    def said(self, folder):
        return profiles.gperftools_sums(profiles.newest(folder + "/sample.*"))


class TcmallocHeap(Tool):
    name = "gperftools HEAPPROFILE"
    slow = True
    base = "tcmalloc"

    def env(self, folder):
        return {"LD_PRELOAD": TCMALLOC, "HEAPPROFILE": folder + "/tc"}

    def said(self, folder):
        with open(profiles.newest(folder + "/tc.*.heap")) as file:
            numbers = list(map(int, profiles.HEAP_LINE.search(file.readline()).groups()))
        return {"live": numbers[1], "total": numbers[3]}


class Massif(Tool):
    name = "valgrind massif"
    slow = True

    def wrap(self, folder):
        return ["valgrind", "-q", "--tool=massif", "--trace-children=no",
                "--massif-out-file=" + folder + "/massif"]

    def said(self, folder):
        with open(folder + "/massif") as file:
            sizes = list(map(int, re.findall(r"^mem_heap_B=(\d+)", file.read(), re.M)))
        return {"peak": max(sizes), "live": sizes[-1]}


class Dhat(Tool):
    name = "valgrind dhat"
    slow = True

    def wrap(self, folder):
        return ["valgrind", "-q", "--tool=dhat", "--trace-children=no",
                "--dhat-out-file=" + folder + "/dhat"]

    def said(self, folder):
        with open(folder + "/dhat") as file:
            points = json.load(file)["pps"]
        return {"total": sum(p["tb"] for p in points),
                "peak": sum(p.get("gb", 0) for p in points),
                "live": sum(p.get("eb", 0) for p in points)}


class Count(Tool):
    name = "count"

    def __init__(self, out):
        self.out = out

    def env(self, folder):
        return {"LD_PRELOAD": self.out + "/props/count_heap.so",
                "COUNT_HEAP": folder + "/counts"}

    def wrap(self, folder):
        os.mkdir(folder + "/counts")
        return []

    def said(self, folder):
        best = {"total": -1}
        for name in os.listdir(folder + "/counts"):
            with open(folder + "/counts/" + name, "rb") as file:
                c = struct.unpack("8Q", file.read(64))
            if c[1] > best["total"]:
                best = {"total": c[1], "live": c[4], "peak": c[6], "allocs": c[0]}
        return best


# ---------------------------------------------------------------------- running

class Runner:
    def __init__(self, out, work, counts):
        self.out = out
        self.work = work
        self.counts = counts  # instructions, instead of time

    def command(self, tool, program, folder):
        env = dict(program.env)
        wrapped = tool.wrap(folder)
        env.update(tool.env(folder))
        if self.counts:
            wrapped = ["valgrind", "--tool=callgrind", "--trace-children=no",
                       "--callgrind-out-file=/dev/null"]
        return ([self.out + "/bench/programs/cost", folder + "/cost"] +
                ["%s=%s" % item for item in env.items()] + wrapped)

    def run(self, tool, program, keep_said):
        folder = tempfile.mkdtemp(dir=self.work)
        try:
            command = self.command(tool, program, folder)
            if program.name == "redis-server":
                self.redis(command, program, folder)
            else:
                self.simple(command + program.command, folder)
            with open(folder + "/cost") as file:
                cpu_us, wall_us, kib, status = map(int, file.read().split())
            if status != 0:
                raise RuntimeError("%s under %s: status %d: %s" % (
                    program.name, tool.name, status, read_end(folder + "/err")))
            if self.counts:
                collected = re.search(r"Collected : (\d+)", read_end(folder + "/err"))
                return {"instructions": int(collected.group(1))}
            said = tool.said(folder) if keep_said else {}
            return {"cpu": cpu_us / 1e3, "wall": wall_us / 1e3, "rss": kib / 1024,
                    "said": said}
        finally:
            shutil.rmtree(folder)

    def start(self, command, folder):
        with open(folder + "/out", "w") as out, open(folder + "/err", "w") as err:
            return subprocess.Popen(command, cwd=self.work, stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=err)

    def simple(self, command, folder):
        process = self.start(command, folder)
        try:
            process.wait(TIMEOUT_S * 10 if self.counts else TIMEOUT_S)
        finally:
            if process.poll() is None:
                process.kill()

    def redis(self, command, program, folder):
        """A server on a Unix socket, which gets the same requests each time."""
        socket = folder + "/s"
        server = self.start(
            command + program.command +
            ["--port", "0", "--unixsocket", socket, "--save", "",
             "--appendonly", "no", "--dir", folder, "--hz", "10"], folder)
        cli = ["/usr/bin/redis-cli", "-s", socket]
        try:
            for _ in range(600):
                if os.path.exists(socket) and subprocess.run(
                        cli + ["ping"], stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(0.05)
            subprocess.run(
                ["/usr/bin/redis-benchmark", "-s", socket, "-q", "-c", "8",
                 "-P", "16", "-r", "20000", "-n", "60000", "-d", "100",
                 "-t", "set,get,incr,lpush,rpop,sadd,hset,zadd"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_S, check=True)
            subprocess.run(cli + ["shutdown", "nosave"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=60)
            server.wait(TIMEOUT_S)
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)


def read_end(path):
    try:
        with open(path) as file:
            return file.read()[-300:].strip()
    except OSError:
        return ""


def error(said, truth):
    """in percent of the true value"""
    if said is None:
        return ""
    if truth == 0:
        return "0" if said == 0 else "inf"
    return "%.3g" % (100 * (said - truth) / truth)


def table(program, tools, runs, truth):
    rows = []
    for tool in tools:
        mine = [r for r in runs[tool.name] if r is not None]
        if not mine:
            continue
        bases = runs.get(Plain(tool.base).name) or []
        pairs = [100 * (r["cpu"] / b["cpu"] - 1)
                 for r, b in zip(runs[tool.name], bases) if r and b]
        said = mine[0]["said"]
        rows.append({
            "program": program.name, "tool": tool.name, "rounds": len(mine),
            "cpu_ms": "%.1f" % statistics.median(r["cpu"] for r in mine),
            "cpu_added_percent": "%.1f" % statistics.median(pairs) if pairs else "",
            "wall_ms": "%.1f" % statistics.median(r["wall"] for r in mine),
            "rss_mib": "%.1f" % statistics.median(r["rss"] for r in mine),
            "peak_error_percent": error(said.get("peak"), truth["peak"]),
            "live_error_percent": error(said.get("live"), truth["live"]),
            "total_error_percent": error(said.get("total"), truth["total"]),
        })
    return rows


def count(runner, program, tools):
    """Rows of instructions, each with those of its malloc without a profiler."""
    rows = []
    bases = {}
    for tool in tools:
        if tool.wrap(runner.work):
            continue  # this tool is valgrind itself
        count = runner.run(tool, program, False)["instructions"]
        if isinstance(tool, Plain):
            bases[tool.base] = count
        base = bases.get(tool.base)
        rows.append({
            "program": program.name, "tool": tool.name,
            "million_instructions": "%.2f" % (count / 1e6),
            "added_percent": "%.2f" % (100 * (count / base - 1)) if base else "",
        })
        print("%-14s %-23s %12s million %7s %%" % tuple(rows[-1].values()), flush=True)
    return rows


def show(rows):
    for row in rows:
        print("%-14s %-23s %9s ms %7s %% %9s ms %7s MiB  peak %8s live %8s total %8s" % (
            row["program"], row["tool"], row["cpu_ms"], row["cpu_added_percent"],
            row["wall_ms"], row["rss_mib"], row["peak_error_percent"] or "-",
            row["live_error_percent"] or "-", row["total_error_percent"] or "-"),
            flush=True)


def write(path, rows):
    """Written anew after each program, so an aborted run keeps its rows."""
    if not path:
        return
    with open(path, "w") as file:
        file.write(",".join(rows[0]) + "\n")
        for row in rows:
            file.write(",".join(str(v) for v in row.values()) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--programs", default="")
    parser.add_argument("--tools", default="")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--csv")
    options = parser.parse_args()
    out = os.path.abspath(options.out)
    work = tempfile.mkdtemp(prefix="bench-programs-")
    os.environ["PATH"] = "/usr/bin:/bin"
    os.environ["LC_ALL"] = "C"
    os.environ["PYTHONHASHSEED"] = "0"
    all_rows = []
    tools = [Plain("libc"), Record(out), Profile(out, True),
             Profile(out, False), Heaptrack(),
             Plain("jemalloc"), JemallocProf(), Plain("tcmalloc"),
             TcmallocSampler(out), TcmallocHeap(), Massif(), Dhat()]
    if options.tools:
        tools = [t for t in tools if any(w in t.name for w in options.tools.split(","))]
    if not options.slow:
        tools = [t for t in tools if not t.slow]
    try:
        runner = Runner(out, work, options.instructions)
        for program in programs(out, work):
            if options.programs and program.name not in options.programs.split(","):
                continue
            if options.instructions:
                all_rows += count(runner, program, tools)
                write(options.csv, all_rows)
                continue
            truth = runner.run(Count(out), program, True)["said"]
            print("%s: %d allocations of %d bytes, peak %d, at exit %d" % (
                program.name, truth["allocs"], truth["total"], truth["peak"],
                truth["live"]), flush=True)
            runs = {tool.name: [] for tool in tools}
            for i in range(options.rounds):
                turned = tools[i % len(tools):] + tools[:i % len(tools)]
                for tool in turned:
                    if tool.slow and i > 0:
                        continue
                    runs[tool.name].append(runner.run(tool, program, i == 0))
            rows = table(program, tools, runs, truth)
            show(rows)
            all_rows += rows
            write(options.csv, all_rows)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
