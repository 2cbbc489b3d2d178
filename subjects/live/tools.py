"""The live tools: how each is run, and what its file says of a site.

An adapter returns, for each part of a workload, a dictionary with what the tool
says, by the tool's own conventions of reading: objects and bytes allocated
("objects", "bytes"), objects and bytes in use ("live_objects", "live_bytes").
"""
import bisect
import glob
import gzip
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../install"))
import read_profile  # noqa: E402
from tool import (LIMIT_S, Tool, package_version, run, version_of,  # noqa: E402
                  weight)

ALIGNMENT = 2048  # of truth.c


class Symbols:
    """Which site an address of the truth program is in."""

    def __init__(self, program):
        self.starts, self.sites = [], []
        text = subprocess.run(["nm", "-n", program], capture_output=True,
                              text=True, check=True).stdout
        for line in text.splitlines():
            address, kind, *name = line.split()
            if kind not in "Tt":
                continue
            found = re.fullmatch(r"site_(\d)", name[0])
            self.starts.append(int(address, 16))
            self.sites.append(int(found[1]) if found else None)

    def site(self, address):
        at = bisect.bisect_right(self.starts, address - 1) - 1
        return self.sites[at] if at >= 0 else None


class OfC(Tool):
    """A tool around malloc, and the truth program in C."""
    language = "C"
    modes = ("plain", "cold", "between", "near-rate", "one-site", "threads",
             "alive", "realloc", "aligned", "calloc", "siblings", "fork")

    def __init__(self, folder, rate, scratch=None):
        super().__init__(folder, rate, scratch)
        self.program = folder + "/truth"
        self.symbols = Symbols(self.program)

    def words(self, mode, seed, parts, dump="-"):
        return [self.program, mode, str(seed), dump] + [
            "%d:%d:%d" % part for part in parts]

    def plain(self, mode, seed, parts):
        return self.run(self.words(mode, seed, parts))[1]

    def site_of(self, addresses):
        for address in addresses:
            site = self.symbols.site(int(address, 16))
            if site is not None:
                return site
        return None


class Dumper(OfC):
    """A tool that writes the file that the truth program asks for."""

    def measure(self, mode, seed, parts):
        dump = os.path.join(self.scratch, self.file)
        cost = self.run(self.words(mode, seed, parts, dump),
                        self.settings(self.rate))[1]
        return self.read(dump, parts), cost

    def plain(self, mode, seed, parts):
        """Its allocator, without its profiler."""
        return self.run(self.words(mode, seed, parts), self.settings(0))[1]

    def fork(self, seed, parts):
        dump = os.path.join(self.scratch, self.file)
        return self.measure("fork", seed, parts)[0], self.read(
            dump + ".child", parts)


class Jemalloc(Dumper):
    """Counts size classes, four to each power of two. An aligned block counts as the
    class that holds its alignment."""
    name = "jemalloc"

    def counted(self, mode, size):
        if mode == "aligned":
            size = max(size, ALIGNMENT)
        step = max(16, 1 << max((size - 1).bit_length() - 3, 0))
        return (size + step - 1) // step * step

    says = ("objects", "bytes", "live_objects", "live_bytes")
    library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"

    def version(self):
        return package_version("libjemalloc2")

    file = "jemalloc.heap"

    def settings(self, rate):
        return {"LD_PRELOAD": self.library,
                "MALLOC_CONF": "prof:true,prof_accum:true,lg_prof_sample:%d" %
                               int(math.log2(rate)) if rate else "prof:false"}

    def read(self, dump, parts):
        sums = self.sums(parts)
        with open(dump) as file:
            for stack in file.read().split("@")[1:]:
                site = self.site_of(stack.splitlines()[0].split())
                counts = [int(n) for n in re.search(
                    r"t\*: (\d+): (\d+) \[(\d+): (\d+)\]", stack).groups()]
                if site is None:
                    continue
                # As jeprof reads it: by the site's mean size.
                for names, count, size in ((("live_objects", "live_bytes"),
                                            *counts[:2]),
                                           (("objects", "bytes"), *counts[2:])):
                    if count > 0:
                        scale = weight(size / count, self.rate)
                        sums[site][names[0]] += count * scale
                        sums[site][names[1]] += size * scale
        return sums


class Gperftools(Dumper):
    name = "gperftools sampler"
    modes = OfC.modes + ("alive-warm",)
    says = ("live_objects", "live_bytes")
    keeps_all = True
    library = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"

    def version(self):
        return package_version("libgoogle-perftools4")

    file = "gperftools.heap"

    def settings(self, rate):
        return {"LD_PRELOAD": "%s %s/libaudit-gperftools.so" %
                              (self.library, self.folder),
                "TCMALLOC_SAMPLE_PARAMETER": str(rate)}

    def read(self, dump, parts):
        sums = self.sums(parts)
        with open(dump) as file:
            for line in file.read().splitlines()[1:]:
                found = re.match(r" *(\d+): +(\d+) \[.*\] @ (.*)", line)
                if not found:
                    continue
                site = self.site_of(found[3].split())
                count, size = int(found[1]), int(found[2])
                if site is None or count == 0:
                    continue
                scale = weight(size / count, self.rate)
                sums[site]["live_objects"] += count * scale
                sums[site]["live_bytes"] += size * scale
        return sums


class Heaptrack(OfC):
    name = "heaptrack"
    exact = True
    says = ("objects", "live_bytes")
    library = "/usr/lib/heaptrack"
    costs = {"objects": "allocations", "live_bytes": "leaked"}

    def version(self):
        return package_version("heaptrack")

    def measure(self, mode, seed, parts):
        raw, data = self.scratch + "/heaptrack.raw", self.scratch + "/heaptrack.gz"
        if os.path.exists(raw):
            os.remove(raw)  # or it is written over, and keeps its end
        cost = self.run(self.words(mode, seed, parts), {
            "LD_PRELOAD": self.library + "/libheaptrack_preload.so",
            "DUMP_HEAPTRACK_OUTPUT": raw})[1]
        with open(raw) as file, gzip.open(data, "wb", 1) as packed:
            packed.write(subprocess.run(
                [self.library + "/libexec/heaptrack_interpret"], stdin=file,
                capture_output=True, check=True, timeout=LIMIT_S).stdout)
        sums = self.sums(parts)
        for name, kind in self.costs.items():
            stacks = self.scratch + "/heaptrack.stacks"
            run(["heaptrack_print", "-f", data, "-F", stacks,
                 "--flamegraph-cost-type", kind])
            with open(stacks) as file:
                for line in file:
                    found = re.search(r"\bsite_(\d)\b", line)
                    if found:
                        sums[int(found[1])][name] += int(line.split()[-1])
        return sums, cost


class Dhat(OfC):
    name = "valgrind dhat"
    exact = True
    modes = tuple(mode for mode in OfC.modes if mode != "alive")  # 500 threads
    says = ("objects", "bytes", "live_objects", "live_bytes")

    def version(self):
        return version_of(["valgrind", "--version"])

    def measure(self, mode, seed, parts):
        dump = self.scratch + "/dhat.json"
        cost = self.run(["valgrind", "--tool=dhat", "--dhat-out-file=" + dump] +
                        self.words(mode, seed, parts))[1]
        with open(dump) as file:
            profile = json.load(file)
        sums = self.sums(parts)
        for point in profile["pps"]:
            names = " ".join(profile["ftbl"][at] for at in point["fs"])
            found = re.search(r"\bsite_(\d)\b", names)
            if found:
                for name, key in (("objects", "tbk"), ("bytes", "tb"),
                                  ("live_objects", "ebk"), ("live_bytes", "eb")):
                    sums[int(found[1])][name] += point[key]
        return sums, cost


class Ours(OfC):
    name = "profsim profile"
    most_runs = 96
    says = ("objects", "bytes", "live_objects", "live_bytes")

    def version(self):
        return version_of([self.folder + "/../profsim", "version"])

    def read(self, path, parts):
        sums = self.sums(parts)
        for values, names in read_profile.read(path)[1]:
            for name in names:
                found = re.fullmatch(r"site_(\d)", name)
                if found and int(found[1]) < len(parts):
                    for key, value in zip(self.says, values):
                        sums[int(found[1])][key] += value
                    break
        return sums

    def record(self, mode, seed, parts):
        """Returns the profiles that were written, and the Cost."""
        folder = self.scratch + "/profsim"
        for old in glob.glob(folder + "/*"):
            os.remove(old)
        cost = self.run([self.folder + "/../profsim", "profile", "--heap",
                         str(self.rate), "-o", folder, "--"] +
                        self.words(mode, seed, parts))[1]
        return sorted(glob.glob(folder + "/*.heap.pb.gz")), cost

    def measure(self, mode, seed, parts):
        files, cost = self.record(mode, seed, parts)
        return self.read(files[0], parts), cost

    def fork(self, seed, parts):
        files = self.record("fork", seed, parts)[0]
        if len(files) != 2:
            raise RuntimeError("profiles of parent and child: %s" % files)
        return [self.read(path, parts) for path in files]


class Go(Tool):
    name, language = "Go runtime", "Go"
    says = ("objects", "bytes", "live_objects", "live_bytes")
    modes = ("plain", "cold", "near-rate", "threads", "siblings")

    def version(self):
        return version_of(["go", "version"])

    def go(self, mode, seed, parts, rate):
        return self.run([self.folder + "/truth_go", mode, str(seed)] +
                        ["%d:%d:%d" % part for part in parts],
                        {"AUDIT_RATE": str(rate)})

    def plain(self, mode, seed, parts):
        return self.go(mode, seed, parts, 0)[1]

    def measure(self, mode, seed, parts):
        text, cost = self.go(mode, seed, parts, self.rate)
        sums = self.sums(parts)
        for line in text.splitlines():
            site, *values = line.split()
            sums[int(site)] = dict(zip(self.says, map(float, values)))
        return sums, cost


class OfJava(Tool):
    language = "Java"
    most_runs = 96
    says = ("objects", "bytes")
    modes = ("plain", "cold", "threads", "siblings")

    def version(self):
        return version_of(["java", "-version"])

    def words(self, mode, seed, parts):
        return ["-XX:+UseSerialGC", "-Xmx1g", "-cp", self.folder, "Truth", mode,
                str(seed)] + ["%d:%d:%d" % part for part in parts]

    def plain(self, mode, seed, parts):
        return self.run(["java"] + self.words(mode, seed, parts))[1]


class Jep331(OfJava):
    name = "JEP 331, S/p"
    modes = OfJava.modes + ("alive",)

    def measure(self, mode, seed, parts):
        dump = self.scratch + "/jep331.txt"
        cost = self.run(["java", "-agentpath:%s/libaudit-jvm.so=%d,%s" %
                         (self.folder, self.rate, dump)] +
                        self.words(mode, seed, parts))[1]
        sums = self.sums(parts)
        with open(dump) as file:
            for line in file:
                site, size, count = map(int, line.split())
                sums[site]["objects"] += count * weight(size, self.rate)
                sums[site]["bytes"] += count * size * weight(size, self.rate)
        return sums, cost


class Jfr(OfJava):
    name = "JFR ObjectAllocationSample"
    says = ("bytes",)
    most_runs = 24  # of three seconds each
    workloads = ("equal-bytes", "large", "short-threads")

    def measure(self, mode, seed, parts):
        dump = self.scratch + "/audit.jfr"
        settings = self.scratch + "/audit.jfc"
        with open(settings, "w") as file:
            file.write('<configuration version="2.0">'
                       '<event name="jdk.ObjectAllocationSample">'
                       '<setting name="enabled">true</setting>'
                       '<setting name="throttle">off</setting>'
                       '<setting name="stackTrace">true</setting>'
                       '</event></configuration>')
        cost = self.run(
            ["java", "-XX:StartFlightRecording=filename=%s,settings=%s" %
             (dump, settings)] + self.words(mode, seed, parts))[1]
        text = run(["jfr", "print", "--json", "--stack-depth", "4",
                       "--events", "jdk.ObjectAllocationSample", dump])
        sums = self.sums(parts)
        for event in json.loads(text)["recording"]["events"]:
            values = event["values"]
            for frame in (values["stackTrace"] or {"frames": []})["frames"]:
                found = re.fullmatch(r"site_(\d)", frame["method"]["name"])
                if found:
                    sums[int(found[1])]["bytes"] += values["weight"]
                    break
        return sums, cost


class Memprof(Tool):
    name, language = "OCaml Gc.Memprof", "OCaml"
    most_runs = 96  # each begins further on
    says = ("bytes",)
    modes = ("plain", "fork")
    least = 32  # smaller ones look like the program's own lists and numbers

    def version(self):
        return version_of(["ocamlopt", "-version"])

    def ocaml(self, mode, seed, parts, rate):
        return self.run([self.folder + "/truth_ml", mode, str(seed)] +
                        ["%d:%d:%d" % part for part in parts],
                        {"AUDIT_RATE": str(rate)})

    def plain(self, mode, seed, parts):
        return self.ocaml(mode, seed, parts, 0)[1]

    def read(self, lines, parts):
        sums = self.sums(parts)
        for line in lines:
            site, samples = map(int, line.split())
            sums[site]["bytes"] = samples * float(self.rate)
        return sums

    def measure(self, mode, seed, parts):
        text, cost = self.ocaml(mode, seed, parts, self.rate)
        return self.read(text.splitlines(), parts), cost

    def fork(self, seed, parts):
        lines = self.ocaml("fork", seed, parts, self.rate)[0].splitlines()
        return (self.read(lines[len(parts):], parts),
                self.read(lines[:len(parts)], parts))


class V8(Tool):
    name, language = "V8 sampling", "JavaScript"
    most_runs = 48
    modes = ("plain", "cold")
    says = ("live_bytes",)
    least = 64
    keeps_all = True

    def version(self):
        return version_of(["node", "-p",
                           "'V8 ' + process.versions.v8"])

    def node(self, mode, seed, parts, rate):
        return self.run(["node", "--max-old-space-size=2000",
                         self.folder + "/truth.js", mode, str(seed)] +
                        ["%d:%d:%d" % part for part in parts],
                        {"AUDIT_RATE": str(rate)})

    def plain(self, mode, seed, parts):
        return self.node(mode, seed, parts, 0)[1]

    def measure(self, mode, seed, parts):
        text, cost = self.node(mode, seed, parts, self.rate)
        sums = self.sums(parts)
        for line in text.splitlines():
            site, size = line.split()
            sums[int(site)]["live_bytes"] = float(size)
        return sums, cost


class Tracemalloc(Tool):
    name, language = "tracemalloc", "Python"
    exact = True
    says = ("live_objects", "live_bytes")
    least = 64

    def version(self):
        return version_of(["/usr/bin/python3", "--version"])

    def python(self, mode, seed, parts, rate):
        return self.run(["/usr/bin/python3", self.folder + "/truth.py", mode,
                         str(seed), "-"] + ["%d:%d:%d" % part for part in parts],
                        {"AUDIT_RATE": str(rate)})

    def plain(self, mode, seed, parts):
        return self.python(mode, seed, parts, 0)[1]

    def measure(self, mode, seed, parts):
        text, cost = self.python(mode, seed, parts, self.rate)
        sums = self.sums(parts)
        for line in text.splitlines():
            site, *values = line.split()
            sums[int(site)] = dict(zip(self.says, map(float, values)))
        return sums, cost


TOOLS = [Ours, Jemalloc, Gperftools, Go, V8, Jep331, Jfr, Memprof, Heaptrack,
         Dhat, Tracemalloc]
