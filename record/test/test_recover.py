#!/usr/bin/env python3
# build: args='out/gcc/profsim 60'
"""`profsim recover` on logs written here, by record/preload/spool.h: random ones, of which each
event is known, and damaged ones, of which each is refused with its reason.

usage: test_recover.py PROFSIM COUNT
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from oracle import same
from recording import ALLOC, FREE, RELEASE, RESIZE, SEMAPHORE, WAIT, Event, read

FIRST, START = 8192, 1000
(STACK, THREAD, MODULE, ALLOCATED, FREED, WAITED, RELEASED, RESIZING, RESIZED, CANCELLED,
 NAME, UNLOAD, EXEC) = range(1, 14)
SHORT_ALLOC, SHORT_FREE = 64, 65


class Spool:
    """What a process leaves behind, and what a recording of it must hold."""

    def __init__(self, process=42, command=('run', 'it')):
        self.log, self.process, self.command = b'', process, command
        self.dropped, self.asked = [0] * 12, 0
        self.events, self.wanted = [], [0] * 12

    def add(self, kind, detail, at, *words):
        """A record. returns: its offset"""
        offset = FIRST + len(self.log)
        body = b''.join(w if isinstance(w, bytes) else struct.pack('<Q', w) for w in words)
        body += bytes(-len(body) % 8)
        self.log += struct.pack('<BBHI', kind, detail, 1 + len(body) // 8, at) + body
        return offset

    def stack(self, pcs):
        return self.add(STACK, 0, len(pcs), 7, *pcs)

    def module(self, path, start=0x5000, limit=0x6000, offset=0x200, build_id=b'\1\2'):
        return self.add(MODULE, 0, 0, start, start, limit, offset,
                        len(build_id) | len(path) << 32, build_id + path.encode())

    def bytes(self, version=8, depth=8, command=None, used=0, magic=0x6c6f6f7073666f72):
        words = b''.join(word.encode() + b'\0' for word in self.command)
        words = words if command is None else command
        head = struct.pack('<QIIIIQQQQQQQ12QI', magic, version, depth, self.process, 1,
                           START, 0, 1 << 29, FIRST + len(self.log) + used,
                           len(self.events), self.asked, 1, # EXEC records
                           *self.dropped, len(words)) + words
        return head + bytes(FIRST - len(head)) + self.log


# ---- random ones ----

class Program:
    """Calls of malloc at random, and the recording's events of them."""

    def __init__(self, seed):
        self.rng, self.spool = random.Random(seed), Spool(process=seed + 1)
        self.ticks = self.objects = 0
        self.live, self.resizing, self.locks = {}, [], []
        self.threads, self.stacks, self.names = [], {}, {}
        self.new_thread()
        for _ in range(3):
            self.new_stack()
        self.spool.module('/no/file')
        steps = (self.alloc, self.alloc, self.alloc, self.free, self.free, self.resize,
                 self.end_resize, self.short, self.wait, self.release, self.new_thread,
                 self.new_stack, self.name)
        for _ in range(self.rng.choice((0, 9, 300))):
            self.ticks += self.rng.choice((0, 1, 40, 1 << 23, 1 << 33))
            self.rng.choice(steps)()
        self.spool.dropped = [0, 0, 9, 1 << 40, 0, 0, 3, 1, 5, 7, 0, 4096]
        for i, n in enumerate(self.spool.dropped):
            self.spool.wanted[i] += n

    def new_thread(self):
        self.spool.add(THREAD, 0, len(self.threads), 77 + len(self.threads))
        self.threads.append('')

    def new_stack(self):
        pcs = [0x5000 + 8 * self.rng.randrange(1, 90) for _ in range(self.rng.randrange(9))]
        self.stacks[self.spool.stack(pcs)] = pcs

    def name(self):
        thread = self.rng.randrange(len(self.threads))
        self.threads[thread] = f'name {self.ticks % 1000}'
        self.spool.add(NAME, 0, thread, self.threads[thread].encode().ljust(16, b'\0'))

    def pick(self):
        """A thread, a stack, a size, an address"""
        rng = self.rng
        return (rng.randrange(len(self.threads)), rng.choice(list(self.stacks)),
                rng.choice((0, 24, 1 << 14, 1 << 32, (1 << 40) - 1)),
                16 * rng.randrange(1, 40))

    def event(self, kind, thread, what, size=0, stack=None, **more):
        if stack is not None:
            stack = tuple(self.stacks[stack])
        self.spool.events.append(Event(kind, self.ticks, thread, what, size, stack, **more))

    def clear(self, thread, address):
        """The address is given out again, though no free was seen."""
        if address in self.live:
            self.spool.wanted[5] += 1
            self.event(FREE, thread, self.live.pop(address))

    def alloc(self):
        thread, stack, size, address = self.pick()
        usable = self.rng.choice((None, size + 8))
        aligned = self.rng.choice((0, 0, 1 << self.rng.randrange(64)))
        zeroed = self.rng.randrange(2)
        self.spool.add(ALLOCATED, zeroed | aligned.bit_length() << 1, thread,
                       START + self.ticks, address, size,
                       *([] if usable is None else [usable]), stack)
        self.clear(thread, address)
        self.event(ALLOC, thread, self.objects, size, stack, usable=usable,
                   flags=zeroed | 2 * (aligned > 0) | 4 * (usable is not None),
                   alignment=aligned)
        self.live[address] = self.objects
        self.objects += 1
        self.spool.asked += size

    def free(self):
        thread, _, _, address = self.pick()
        self.spool.add(FREED, 0, thread, START + self.ticks, address)
        self.freed(thread, address)

    def freed(self, thread, address):
        if address in self.live:
            self.event(FREE, thread, self.live.pop(address))
        else:
            self.spool.wanted[4] += 1

    def resize(self):
        thread, _, _, address = self.pick()
        cancelled = self.rng.random() < 0.3
        offset = self.spool.add(CANCELLED if cancelled else RESIZING, 0, thread,
                                START + self.ticks, address)
        if not cancelled and address in self.live:
            self.resizing.append((offset, self.live.pop(address)))
        elif not cancelled:
            self.spool.wanted[4] += 1

    def end_resize(self):
        thread, stack, size, address = self.pick()
        offset, what = (self.resizing.pop() if self.resizing else (0, None))
        self.spool.add(RESIZED, 0, thread, START + self.ticks, address, size, offset, stack)
        self.clear(thread, address)
        if what is None: # of an object that was never seen
            self.event(ALLOC, thread, self.objects, size, stack)
            what, self.objects = self.objects, self.objects + 1
        else:
            self.event(RESIZE, thread, what, size, stack)
        self.live[address] = what

    def short(self):
        """A short record counts its ticks from the last record that has any."""
        thread, stack, _, address = self.pick()
        if not self.spool.events:
            return
        self.spool.add(CANCELLED, 0, thread, START + self.ticks, 1)
        if self.rng.random() < 0.5:
            passed, size = self.rng.choice((0, (1 << 24) - 1)), self.rng.randrange(1 << 14)
            self.ticks += passed
            self.spool.log += struct.pack(
                '<QQ', SHORT_ALLOC | thread << 8 | address // 16 << 20,
                size | passed << 14 | stack // 8 << 38)
            self.clear(thread, address)
            self.event(ALLOC, thread, self.objects, size, stack)
            self.live[address] = self.objects
            self.objects += 1
        else:
            self.spool.log += struct.pack(
                '<Q', SHORT_FREE | thread << 8 | address // 16 << 20)
            self.freed(thread, address)

    def lock(self):
        lock = self.rng.randrange(1, 9)
        if lock not in self.locks:
            self.locks.append(lock)
        return lock, self.locks.index(lock)

    def wait(self):
        thread, stack, _, _ = self.pick()
        waited, kind = self.rng.choice((0, self.ticks // 2, self.ticks)), self.rng.randrange(5)
        failed, (lock, number) = self.rng.randrange(2), self.lock()
        self.spool.add(WAITED, kind | failed << 7, thread, START + self.ticks, lock,
                       START + self.ticks - waited, stack)
        self.event(SEMAPHORE if kind == 4 else WAIT, thread, number, waited, stack,
                   flags=4 * failed | kind % 4)

    def release(self):
        thread, stack, _, _ = self.pick()
        kind, (lock, number) = self.rng.randrange(2), self.lock()
        self.spool.add(RELEASED, kind, thread, START + self.ticks, lock, stack)
        self.event(RELEASE, thread, number, 0, stack, flags=kind)


def check(program, path):
    rec = read(path)
    same('about', [rec.process, rec.start, rec.rate, rec.depth, rec.arguments],
         [program.spool.process, START, 10 ** 9, 8, ['run', 'it']])
    same('threads', rec.threads,
         [(77 + i, name) for i, name in enumerate(program.threads)])
    stacks = [tuple(rec.frames[f].pc for f in stack) for stack in rec.stacks]
    same('stacks twice', len(set(stacks)), len(stacks))
    for found, wanted in zip(rec.events, program.spool.events):
        stack = None if found.stack is None else stacks[found.stack]
        same('event', found._replace(stack=stack), wanted)
    same('events', len(rec.events), len(program.spool.events))
    same('dropped', rec.dropped, program.spool.wanted)
    for call in rec.call:
        same('name', call.name, f'file+{call.address - 0x5000 + 0x200:#x}')


# ---- what is refused, and why ----

def broken(change):
    """A log with one event, changed."""
    spool = Spool(process=1000)
    spool.events.append(None)
    spool.add(THREAD, 0, 0, 77)
    stack = spool.stack([0x5010, 0x5020])
    change(spool, stack)
    return spool.bytes()


ALLOCATION = (START + 5, 0xa000, 10)
BROKEN = {
    'a record of no known kind': lambda s, _: s.add(99, 0, 0, 1),
    'a record reaches past the end': lambda s, k: setattr(
        s, 'log', s.log + struct.pack('<BBHI', ALLOCATED, 0, 5, 0)),
    'a record is too short': lambda s, k: s.add(ALLOCATED, 0, 0, START, 0xa000),
    'a stack of another length': lambda s, k: s.add(STACK, 0, 9, *range(10)),
    'a module of another length': lambda s, k: s.add(MODULE, 0, 0, 1, 1, 9, 0, 65),
    'an empty module': lambda s, k: s.module('/no/file', limit=0x5000),
    'a name of no known thread': lambda s, k: s.add(NAME, 0, 1, 1, 1),
    'an event of no known thread': lambda s, k: s.add(ALLOCATED, 0, 1, *ALLOCATION, k),
    'an event with no known stack': lambda s, k: s.add(ALLOCATED, 0, 0, *ALLOCATION, k + 8),
    'the clock goes back': lambda s, k: (s.add(ALLOCATED, 0, 0, *ALLOCATION, k),
                                         s.add(FREED, 0, 0, START + 4, 0xa000)),
}
# A file that is no log is left out.
OTHERS = [Spool().bytes(version=9), Spool().bytes(depth=0), Spool().bytes(depth=129),
          Spool().bytes(command=b'x'), Spool().bytes(used=8), Spool().bytes(used=1),
          Spool().bytes(magic=1), b'', bytes(FIRST)]


class Logs:
    """A folder of logs, as `profsim record` leaves it."""

    def __init__(self, spools):
        self.names = [f'{10 ** 18 + i}-{i}' for i in range(len(spools))]
        self.base = tempfile.TemporaryDirectory()
        self.folder, self.output = self.base.name + '/logs', self.base.name + '/x.rec'
        os.mkdir(self.folder)
        for name, data in zip(self.names, spools):
            with open(f'{self.folder}/{name}', 'wb') as file:
                file.write(data)

    def recover(self, profsim, *words):
        """returns: the exit code and the lines on stderr"""
        done = subprocess.run([profsim, 'recover', '-o', self.output, *words, self.folder],
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
        return done.returncode, done.stderr.split('\n')[:-1]

    def left(self):
        return sorted(os.listdir(self.folder)) if os.path.exists(self.folder) else None

    def recordings(self):
        names = set(os.listdir(self.base.name)) - {'logs'}
        return {int(name[6:] or 1): read(f'{self.base.name}/{name}') for name in names}


def test_each_event_is_kept(profsim, many):
    programs = [Program(seed) for seed in range(many)]
    logs = Logs([program.spool.bytes() for program in programs] + OTHERS)
    code, lines = logs.recover(profsim, '--images', str(many))
    same('exit', [code, logs.left()], [0, sorted(logs.names[many:])])
    by_process = {}
    for name in set(os.listdir(logs.base.name)) - {'logs'}:
        by_process[read(f'{logs.base.name}/{name}').process] = f'{logs.base.name}/{name}'
    for program in programs:
        if program.spool.events:
            check(program, by_process[program.spool.process])


def test_the_largest_is_the_first(profsim):
    """FILE is of the image that asked for the most bytes; the others are numbered by
    their start, and --images leaves the smallest out."""
    programs = [Program(seed) for seed in range(40)]
    programs = [p for p in programs if p.spool.asked > 0]
    logs = Logs([program.spool.bytes() for program in programs])
    code, lines = logs.recover(profsim, '--images', '4')
    order = sorted(programs, key=lambda p: -p.spool.asked)
    rest = sorted(p.spool.process for p in order[1:4])
    same('recordings', {n: r.process for n, r in logs.recordings().items()},
         {1: order[0].spool.process} | {i + 2: p for i, p in enumerate(rest)})
    same('exit', [code, logs.left()], [0, None])
    same('lines', [line.split('process ')[1].split(':')[0] for line in lines[:-1]
                   if 'not recorded' not in line],
         [str(p.spool.process) for p in order[:4]])
    same('last', lines[-1], f'profsim recover: {len(programs) - 4} smaller process images '
         'were not kept; --images N keeps more')


def test_a_damaged_log_is_kept(profsim):
    """... and does not keep others from being saved."""
    good = next(p.spool for p in map(Program, range(9)) if p.spool.asked > 0)
    logs = Logs([broken(change) for change in BROKEN.values()] + [good.bytes()])
    code, lines = logs.recover(profsim)
    same('exit', [code, logs.left()], [1, logs.names[:-1]])
    same('saved', [r.process for r in logs.recordings().values()], [good.process])
    for reason, line in zip(BROKEN, lines):
        same('reason', line.split(': ')[-1], reason)
        same('where', line.split(' at offset ')[0],
             'profsim recover: saving failed: the log is damaged')
    same('kept', lines[-1], f'profsim recover: the logs of {len(BROKEN)} processes are kept; '
         f'save them with: profsim recover -o FILE {logs.folder}')


def test_each_module_at_a_place_has_its_own_names(profsim):
    """Five modules at one address, one after the other; then the second one again."""
    spool, names = Spool(), ['a', 'b', 'c', 'd', 'e', 'b']
    spool.add(THREAD, 0, 0, 77)
    for i, name in enumerate(names):
        spool.add(ALLOCATED, 0, 0, START + i, 0xa000 + 16 * i, 1, spool.stack([0x5010]))
        spool.module('/no/' + name)
        spool.add(UNLOAD, 0, 0, START + i)
    logs = Logs([spool.bytes()])
    same('exit', logs.recover(profsim)[0], 0)
    rec = logs.recordings()[1]
    same('names', [rec.calls(event.stack)[0].name for event in rec.events],
         [name + '+0x210' for name in names])
    same('modules', len({(start, path) for start, _, _, path, _ in rec.modules}), 5)
    same('moved', {start % (1 << 48) for start, *_ in rec.modules}, {0x5000})


def test_a_program_that_logged_nothing_is_named(profsim):
    """It was executed, and then no log of its process began."""
    spool = Spool(process=9)
    spool.add(THREAD, 0, 0, 77)
    for process, ticks in ((9, 5), (8, 5), (8, 10 ** 18 + 5)):
        spool.add(EXEC, 0, process, ticks, 11, f'/bin/{ticks}'.encode()[:11].ljust(11))
    logs = Logs([spool.bytes(), Spool(process=8).bytes()])
    code, lines = logs.recover(profsim)
    same('named', [line for line in lines if 'not recorded: ' in line],
         ['profsim recover: not recorded: process 8, /bin/100000'])
    same('exit', code, 0)


def test_a_pipe_in_place_of_a_module_or_a_log(profsim):
    logs = Logs([])
    for name in ('pipe', 'logs/' + '1' * 19 + '-1'):
        os.mkfifo(f'{logs.base.name}/{name}')
    spool = Spool()
    spool.add(THREAD, 0, 0, 77)
    spool.add(ALLOCATED, 0, 0, *ALLOCATION, spool.stack([0x5010]))
    spool.module(logs.base.name + '/pipe')
    with open(logs.folder + '/' + '2' * 19 + '-2', 'wb') as file:
        file.write(spool.bytes())
    same('exit', logs.recover(profsim)[0], 0)
    os.unlink(logs.base.name + '/pipe')
    same('name', logs.recordings()[1].call[0].name, 'pipe+0x210')


def main(profsim, many):
    failed = 0
    tests = [test for name, test in globals().items() if name.startswith('test_')]
    for test in tests:
        try:
            test(profsim, *([int(many)] if test == test_each_event_is_kept else []))
        except AssertionError as why:
            print(f'FAILED: {test.__name__}: {why}')
            failed += 1
    print(f'recover: {len(tests) - failed} passed, {failed} failed')
    sys.exit(failed > 0)


main(*sys.argv[1:])
