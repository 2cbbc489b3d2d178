#!/usr/bin/env python3
"""`profsim trace dump`, `stat` and `convert` of a trace, computed again from its bytes
by docs/trace-format.md, whose table names the types.

usage: oracle_trace.py TRACE...; profsim stands in PATH
"""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys

DOCS = os.path.dirname(os.path.abspath(__file__)).rpartition("/command/")[0] + "/docs/trace-format.md"
SHARED = {"sched": "GoSched GoPreempt GoCreate GoUnblock GoSysExit", "run": "GoStart", "dead": "GoEnd GoStop",
          "syscall": "GoSysBlock GoInSyscall", "block": "GoSleep GoBlock GoBlockSend GoBlockRecv GoBlockSelect "
          "GoBlockSync GoBlockCond GoBlockNet GoWaiting"}
AFTER = {name: state for state, names in SHARED.items() for name in names.split()}
LEAVES = [n for n in AFTER if AFTER[n] in ("dead", "block") and n != "GoWaiting"] + ["GoSched", "GoPreempt", "GoSysBlock"]
NOBODY = ("GCStart", "GCDone", "GCScanStart", "GCScanDone")
PHASES = {"gc": ("GCStart", "GCDone"), "gc-scan": ("GCScanStart", "GCScanDone"),
          "gc-sweep": ("GCSweepStart", "GCSweepDone")}
ARGS = {"Gomaxprocs": "procs", "ProcStart": "thread", "GoCreate": "new", "GoUnblock": "target",
        "HeapAlloc": "bytes", "NextGC": "bytes"}
STACKED = ["Gomaxprocs", "GCStart", "GCSweepStart", "GoCreate", "GoUnblock", "GoSysCall"] + \
    [n for n in LEAVES if n not in ("GoEnd", "GoSysBlock")]


def type_names():
    with open(DOCS, encoding="utf-8") as file:
        rows = re.findall(r"^\| ([0-9, -]+) \| ([A-Za-z, ]+) \|", file.read(), re.M)
    names = [name for _, row in rows for name in row.split(", ")]
    return {i + 1: name if i < 22 or i > 26 else "GoBlock" + name for i, name in enumerate(names)}


def signed(number):
    return (number & (1 << 64) - 1) - (1 << 64 if number >> 63 & 1 else 0)


class Event:
    def __init__(self, name, offset, seq, ticks, proc, g, args):
        self.name, self.offset, self.seq, self.ticks, self.p, self.g, self.args = name, offset, seq, ticks, proc, g, args
        self.place, self.pc = proc, 0


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.names, self.events, self.stacks = type_names(), [], {}
        self.batches = self.records = self.rate = 0
        self.timers, self.procs = set(), set()
        self.read()
        self.events.sort(key=lambda e: e.seq)
        self.drop_futile()
        self.place()

    def number(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            value |= (byte & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    def read(self):
        at, seq, ticks, proc = 16, 0, 0, 0
        running = collections.defaultdict(int)
        while at < len(self.data):
            offset, kind, name = at, self.data[at] >> 6, self.names[self.data[at] & 63]
            numbers, at = [], at + 1
            if kind == 3:
                length, at = self.number(at)
                end = at + length
                while at < end:
                    value, at = self.number(at)
                    numbers.append(value)
            while kind < 3 and len(numbers) < kind + 2:
                value, at = self.number(at)
                numbers.append(value)
            if name == "Batch":
                proc, seq, ticks = map(signed, numbers)
                self.batches += 1
                self.procs.add(proc)
            elif name == "Frequency":
                self.rate = numbers[0]
            elif name == "Stack":
                self.records += 1
                self.stacks[numbers[0]] = numbers[2:]
            elif name == "TimerGoroutine":
                self.timers.add(numbers[0])
            else:
                seq, ticks = signed(seq + numbers[0]), signed(ticks + numbers[1])
                if name == "GoStart":
                    running[proc] = numbers[2]
                event = Event(name, offset, seq, ticks, proc, running[proc], numbers[2:])
                if name in ("GoSysExit", "GoWaiting", "GoInSyscall"):
                    event.g = numbers[2]
                if name == "GoSysExit" and numbers[4] != 0:
                    event.seq, event.ticks = signed(numbers[3]), signed(numbers[4])
                if name in NOBODY:
                    event.g = 0
                if name in LEAVES:
                    running[proc] = 0
                self.events.append(event)

    def drop_futile(self):
        wakes, futile, gone = collections.defaultdict(list), set(), set()
        for event in self.events:
            if event.name == "GoUnblock":
                wakes[event.args[0]] = [event]
            elif event.name in ("GoStart", "GoPreempt", "FutileWakeup"):
                wakes[event.g].append(event)
                if event.name == "FutileWakeup":
                    futile.add(event.g)
            elif event.name.startswith("GoBlock") and event.name != "GoBlockNet":
                if event.g in futile:
                    gone.update(wakes[event.g] + [event])
                wakes.pop(event.g, None)
                futile.discard(event.g)
        self.futile = len(gone)
        self.events = [e for e in self.events if e not in gone]

    def place(self):
        created, blocked = {}, {}
        for event in self.events:
            if event.name == "GoCreate":
                event.pc = created[event.args[0]] = event.args[1]
            if event.name == "GoStart":
                event.pc = created.pop(event.g, 0)
            if event.name == "GCStart":
                event.place = "gc"
            if event.name == "GoSysExit":
                event.place = "syscalls"
            if event.name == "GoUnblock":
                if event.g in self.timers:
                    event.place = "timers"
                elif blocked.get(event.args[0]) == "GoBlockNet":
                    event.place = "network"
            blocked[event.g] = event.name

    # ---- What the command must print ----

    def ns(self, ticks):
        return ticks * 10**9 // self.rate

    def dump(self):
        for e in self.events:
            words = [str(e.seq), str(e.ticks), f"offset={e.offset:#x}", f"p={e.place}", f"g={e.g}", e.name]
            if e.name in ARGS:
                words.append(f"{ARGS[e.name]}={e.args[0]}")
            words += [f"pc={e.pc:#x}"] * (e.pc != 0)
            if e.name in STACKED and e.args[-1] != 0:
                words.append(f"stack={e.args[-1]}")
            yield " ".join(words)
        yield from sorted(" ".join([f"stack {i}:"] + [f"{pc:#x}" for pc in s]) for i, s in self.stacks.items())

    def stat(self):
        last = self.events[-1].ticks
        yield f"bytes {len(self.data)}"
        yield f"events {len(self.events)}"
        yield f"futile-removed {self.futile}"
        hundredths = len(self.data) * 100 // (len(self.events) + self.futile)
        yield f"bytes-per-event {hundredths // 100}.{hundredths % 100:02}"
        yield f"batches {self.batches}"
        yield f"processors {len(self.procs)}"
        yield f"stacks {self.records}"
        yield f"ticks-per-second {self.rate}"
        yield f"span-ns {self.ns(last - self.events[0].ticks)}"
        for phase, (begin, done) in PHASES.items():
            begins = [e.ticks for e in self.events if e.name == begin]
            ends = [e.ticks for e in self.events if e.name == done]
            ends += [last] * (len(begins) - len(ends))
            yield f"{phase}-ns {self.ns(sum(ends) - sum(begins))} in {len(begins)}"
        counts = collections.Counter(e.name for e in self.events)
        yield from (f"{name} {counts[name]}" for name in self.names.values() if counts[name])
        lives = collections.defaultdict(lambda: {"state": "dead", "since": 0, "events": 0, "run": 0, "block": 0,
                                                 "sched": 0, "syscall": 0, "dead": 0})
        for e in self.events:
            of = e.args[0] if e.name in ("GoCreate", "GoUnblock") else e.g
            lives[e.g]["events"] += 1
            if e.name in AFTER:
                life = lives[of]
                life[life["state"]] += e.ticks - life["since"]
                life["state"], life["since"] = AFTER[e.name], e.ticks
        for g in sorted(g for g in lives if g != 0):
            life = lives[g]
            life[life["state"]] += last - life["since"]
            spans = [life[s] for s in ("run", "block", "sched", "syscall")]
            yield " ".join(str(n) for n in [g, life["events"]] + [self.ns(s) for s in spans + [sum(spans)]])

    def kinds(self):
        """Items of a viewer: slices begin and end; counters; instants."""
        begins = ["GoStart", "ProcStart"] + [begin for begin, _ in PHASES.values()]
        counters = ["HeapAlloc", "NextGC", "Gomaxprocs"]
        ends = LEAVES + ["ProcStop"] + [done for _, done in PHASES.values()]
        kind = {**dict.fromkeys(begins, "B"), **dict.fromkeys(counters, "C"), **dict.fromkeys(ends, "E")}
        return [kind.get(e.name, "i") for e in self.events]


def same(what, found, wanted):
    for number, (a, b) in enumerate(zip(found, wanted)):
        if a != b:
            sys.exit(f"{what}, line {number + 1}:\n{a}\n, not\n{b}")
    if len(found) != len(wanted):
        sys.exit(f"{what}: {len(found)} lines, not {len(wanted)}")


def profsim(*words):
    return subprocess.run(["profsim", "trace", *words], check=True, capture_output=True, text=True).stdout.splitlines()


def check_chrome(trace, path):
    """Each event is one item; slices of a track follow each other and are closed."""
    with open(path, encoding="utf-8") as file:
        items = json.load(file)["traceEvents"]
    tracks = {i["tid"] for i in items if i["ph"] == "M"}
    found, opened, first = [], {}, trace.events[0].ticks
    for item in (i for i in items if i["ph"] != "M"):
        if item["ph"] != "C" and item["tid"] not in tracks:
            sys.exit(f"a track is not declared: {item}")
        if item["ph"] in "BE" and opened.get(item["tid"], "E") == item["ph"]:
            sys.exit(f"a slice is in another, or ends twice: {item}")
        if item["ph"] in "BE":
            opened[item["tid"]] = item["ph"]
        if "event" in item.get("args", {}):
            args = item["args"]
            found.append([item["ph"], args["event"], args["g"], args["seq"], args["offset"], round(item["ts"] * 1000)])
        elif item["ph"] == "C":
            found.append(["C", item["name"], item["args"]["value"], round(item["ts"] * 1000)])
    if "B" in opened.values():
        sys.exit("a slice is not closed")
    same(path, found, [["C", e.name, e.args[0], trace.ns(e.ticks - first)] if k == "C" else
                       [k, e.name, e.g, e.seq, e.offset, trace.ns(e.ticks - first)]
                       for k, e in zip(trace.kinds(), trace.events)])


def check_perfetto(trace, path):
    if shutil.which("protoc") is None:
        return
    subset = os.path.dirname(os.path.dirname(DOCS)) + "/fixtures/trace/perfetto-subset.proto"
    with open(path, "rb") as file:
        text = subprocess.run(["protoc", "-I", os.path.dirname(subset), "--decode=subset.Trace", subset], stdin=file,
                              check=True, capture_output=True, text=True).stdout
    if re.search(r"^ *[0-9]+[: ]", text, re.M):
        sys.exit("a field is not in the schema")
    wanted = collections.Counter(trace.kinds())
    wanted["E"] = wanted["B"]  # every slice is closed
    for kind, word in (("B", "SLICE_BEGIN"), ("E", "SLICE_END"), ("C", "COUNTER"), ("i", "INSTANT")):
        if text.count(f"type: TYPE_{word}\n") != wanted[kind]:
            sys.exit(f"{path}: {word}: not {wanted[kind]}")


def main(paths):
    for path in paths:
        trace = Trace(path)
        found = profsim("dump", path)
        events = len(trace.events)
        same(path + ": dump", found[:events] + sorted(found[events:]), list(trace.dump()))
        found = [" ".join(line.split()) for line in profsim("stat", path)[1:]]
        same(path + ": stat", [l for l in found if l and not re.match("event count|g events|duplicate-seqs", l)],
             list(trace.stat()))
        for form, check in (("chrome", check_chrome), ("perfetto", check_perfetto)):
            profsim("convert", "--to", form, path, "-o", "view")
            check(trace, "view")


main(sys.argv[1:])
