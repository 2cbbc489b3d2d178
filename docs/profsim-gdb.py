"""Commands and printers for gdb, for a replay that has stopped.

    gdb -x docs/profsim-gdb.py --args profsim replay --break 5 x.sim

profsim-ring      what waits in each slot and what is published, by bucket
profsim-world     the collector, the profile's cycle, tasks and processors
print *$prof      after one of these: the instance, in a line
print $prof->table.entries[1]
                  an entry of the bucket table, in words

They only read memory and call no function, so they work on a core dump, too.
"""
import gdb

SLOTS = 3
KINDS = {1: "heap", 2: "block", 3: "mutex"}
HALF = (1 << 32) - 1


def number(value):
    """returns: a number, even one inside an atomic's struct or union"""
    kind = value.type.strip_typedefs()
    while kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        value = value[kind.fields()[0]]
        kind = value.type.strip_typedefs()
    return int(value)


def the_run():
    """returns: the judged run of the innermost frame that has one"""
    frame = gdb.newest_frame()
    while frame is not None:
        try:
            value = frame.read_var("run")
            target = value.type.strip_typedefs()
            if target.code == gdb.TYPE_CODE_PTR and \
                    target.target().unqualified().name == "props_run" and \
                    not value.is_optimized_out and int(value) != 0:
                return value.dereference()
        except (ValueError, gdb.error):
            pass
        frame = frame.older()
    raise gdb.GdbError("no run here: profsim replay --break N stops in one")


def the_world():
    world = the_run()["judge"]["world"].dereference()
    gdb.set_convenience_variable("world", world.address)
    gdb.set_convenience_variable("prof", world["prof"])
    return world


def is_ring(prof):
    return str(prof["rules"]["heap"]).endswith("RING")


def cycle_of(prof):
    """returns: the number of the cycle, and whether it is flushed"""
    word = number(prof["cycle_word"])
    return (word & ((1 << 30) - 1)) >> 1, word & 1


def rows_of(prof):
    return number(prof["table"]["reserved"]) >> 32


def halves(word):
    return word & HALF, word >> 32


def recorded(prof, slot, row):
    """returns: allocations and frees counted in a slot, by all processors"""
    allocs = frees = 0
    for p in range(number(prof["procs_count"])):
        more = halves(number(prof["procs"][p]["columns"]["slots"][slot][row]))
        allocs, frees = allocs + more[0], frees + more[1]
    return allocs, frees


def published(prof, slot, row):
    return halves(number(prof["counters"]["published"][slot][row]))


def role(prof, slot):
    if not is_ring(prof):
        return ("previous", "recent", "moved")[slot]
    cycle, flushed = cycle_of(prof)
    return ("flushed" if flushed else "next flush", "swept now", "made now")[(slot - cycle) % SLOTS]


class Ring(gdb.Command):
    """Show what waits in each slot and what is published, by bucket."""

    def __init__(self):
        super().__init__("profsim-ring", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        prof = the_world()["prof"].dereference()
        cycle, flushed = cycle_of(prof)
        print("cycle %d%s" % (cycle, ", flushed" if flushed else ""))
        for row in range(1, rows_of(prof) + 1):
            entry = prof["table"]["entries"][row]
            if number(entry["kind"]) & 15 != 1:
                continue
            print("bucket %d: %s" % (row, describe(entry)))
            for slot in range(SLOTS):
                made, out = recorded(prof, slot, row), published(prof, slot, row)
                print("  slot %d (%-10s)  recorded %d/%d  published %d/%d" %
                      ((slot, role(prof, slot)) + made + out))


class World(gdb.Command):
    """Show the collector, the cycle, processors and tasks."""

    def __init__(self):
        super().__init__("profsim-world", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        run, world = the_run(), the_world()
        gc = world["gc"]
        print("after %d events, at tick %d" % (number(run["events_count"]), number(world["now_ticks"])))
        print("collector: %s, %d mark terminations, %d objects found dead and not swept" %
              ("marking" if gc["marking"] else "terminated, not flushed" if gc["unflushed"] else "idle",
               number(gc["cycles"]), number(gc["dead"])))
        print("heap: %d bytes" % number(world["heap_bytes"]))
        for p in range(number(world["procs_count"])):
            task = number(world["procs"][p]["task"])
            print("p%d: %s" % (p, "task %d" % task if task else "no task"))
        for t in range(1, number(world["tasks_count"]) + 1):
            print("task %d: %s" % (t, str(world["tasks"][t]["state"]).replace("SIM_TASK_", "").lower()))


def describe(entry):
    kind = number(entry["kind"]) & 15
    return "%s, %d frames, %d bytes" % (KINDS.get(kind, "?"), number(entry["depth"]), number(entry["size_bytes"]))


class Entry:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return describe(self.value)


class Instance:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        cycle, flushed = cycle_of(self.value)
        return "cycle %d%s, %d buckets, %d processors" % (
            cycle, " flushed" if flushed else "", rows_of(self.value), number(self.value["procs_count"]))


def printer(value):
    kind = value.type.strip_typedefs().unqualified()
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return None
    fields = {field.name for field in kind.fields()}
    if kind.name == "entry" and {"size_bytes", "frames_at"} <= fields:
        return Entry(value)
    return Instance(value) if kind.name == "prof" and "cycle_word" in fields else None


gdb.pretty_printers.append(printer)
Ring()
World()
