"""Reads recordings as docs/recording.md describes them, and takes them with
`profsim record` for the tests of this folder."""
import collections
import functools
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback
import zlib

ALLOC, FREE, WAIT, RELEASE, RESIZE, SEMAPHORE_WAIT = 1, 2, 3, 4, 5, 6
MUTEX, READ, WRITE, COND, SEMAPHORE = range(5)
CAUSES = ('limit', 'disk', 'inside', 'early', 'unknown', 'missed', 'waiters',
          'children')

Frame = collections.namedtuple('Frame', 'pc module function offset file line')
Module = collections.namedtuple('Module', 'start length offset path build_id')
Event = collections.namedtuple(
    'Event', 'kind thread ticks object size zeroed alignment usable stack lock '
    'lock_kind waited failed')
Event.__new__.__defaults__ = (None,) * 13


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert byte != 0 or shift == 7, 'a varint is too long'
                return value

    def raw(self):
        count = self.varint()
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def text(self):
        return self.raw().decode()


def blocks_of(path):
    """The payloads of each kind of block, in one."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:12] == b'PROFREC\n' + struct.pack('<I', 2)
    found, at, crc, last = collections.defaultdict(bytes), 12, 0, 'A'
    while at < len(data):
        length, want = struct.unpack_from('<II', data, at + 1)
        payload = data[at + 9:at + 9 + length]
        crc = zlib.crc32(data[at:at + 5] + payload, crc)
        kind = chr(data[at])
        assert crc == want and 'ASMFKTEZ'.index(kind) >= 'ASMFKTEZ'.index(last)
        found[kind] += payload
        at, last = at + 9 + length, kind
    assert last == 'Z', 'the file is cut'
    return {kind: Bytes(payload) for kind, payload in found.items()}


class Recording:
    def __init__(self, path):
        blocks = blocks_of(path)
        about = blocks['A']
        (self.rate, self.start, self.process, self.parent, self.forked,
         self.depth_limit) = (about.varint() for _ in range(6))
        self.arguments = [about.text() for _ in range(about.varint())]
        self.tables(blocks)
        self.events_block = blocks.get('E', Bytes(b''))
        totals = blocks['Z']
        self.totals = [totals.varint() for _ in range(6)]
        self.allocs, self.live = self.totals[0], self.totals[5]
        self.dropped = dict(zip(CAUSES, (
            totals.varint() for _ in range(totals.varint()))))

    def tables(self, blocks):
        none = Bytes(b'')
        strings = ['']
        data = blocks.get('S', none)
        while data:
            strings.append(data.text())
        self.modules = [Module(0, 0, 0, '', b'')]
        data = blocks.get('M', none)
        while data:
            self.modules.append(Module(data.varint(), data.varint(),
                                       data.varint(), strings[data.varint()],
                                       data.raw()))
        self.frames, pc = [], 0
        data = blocks.get('F', none)
        while data:
            step = data.varint()
            pc = (pc + (step >> 1 ^ -(step & 1))) % (1 << 64)
            self.frames.append(Frame(
                pc, self.modules[data.varint()].path, strings[data.varint()],
                data.varint(), strings[data.varint()], data.varint()))
        self.stacks = [[]]
        data = blocks.get('K', none)
        while data:
            keep, new = data.varint(), data.varint()
            before = self.stacks[-1]
            self.stacks.append([data.varint() for _ in range(new)] +
                               before[len(before) - keep:])
        del self.stacks[0]
        self.threads = []
        data = blocks.get('T', none)
        while data:
            self.threads.append((data.varint(), data.text()))

    @functools.cached_property
    def events(self):
        events, thread, ticks, objects = [], 0, self.start, 0
        data = self.events_block
        while data:
            tag = data.byte()
            kind = tag & 15
            thread = data.varint() if tag & 16 else thread
            ticks += data.varint()
            event = Event(kind, thread, ticks)
            if kind in (FREE, RESIZE):
                event = event._replace(object=objects - data.varint())
            if kind in (ALLOC, RESIZE):
                size = data.varint()
                is_new = kind == ALLOC
                event = event._replace(
                    size=size, zeroed=is_new and tag & 32 != 0,
                    alignment=1 << data.varint() if is_new and tag & 64 else 0,
                    usable=size + data.varint() if tag & 128 else None,
                    stack=data.varint())
                if is_new:
                    event = event._replace(object=objects)
                    objects += 1
            elif kind in (WAIT, RELEASE, SEMAPHORE_WAIT):
                event = event._replace(
                    lock=data.varint(), failed=tag & 128 != 0,
                    lock_kind=SEMAPHORE if kind == SEMAPHORE_WAIT else
                    tag >> 5 & 3,
                    waited=None if kind == RELEASE else data.varint(),
                    stack=data.varint())
            events.append(event)
        of = collections.Counter(event.kind for event in events)
        same(self.totals, [of[ALLOC], of[FREE], of[WAIT] + of[SEMAPHORE_WAIT],
                           of[RELEASE], of[RESIZE], of[ALLOC] - of[FREE]])
        return events

    def functions(self, event):
        """The functions of an event's stack, without inlined callers."""
        return [self.frames[frame].function
                for frame in self.stacks[event.stack]]

    def leaf(self, event):
        return next(iter(self.functions(event)), '')

    def allocations(self, function):
        return [event for event in self.events
                if event.kind == ALLOC and self.leaf(event) == function]

    def tally(self, function):
        """Allocations by a function, how many of them were freed or resized,
        and their bytes. A resize counts as an allocation, too."""
        ours, allocs, frees, size = set(), 0, 0, 0
        for event in self.events:
            if event.kind in (FREE, RESIZE) and event.object in ours:
                frees += 1
                ours.remove(event.object)
            if (event.kind in (ALLOC, RESIZE) and
                    self.leaf(event) == function):
                ours.add(event.object)
                allocs, size = allocs + 1, size + event.size
        return allocs, frees, size

    def waits(self, function):
        return [event for event in self.events
                if event.kind in (WAIT, SEMAPHORE_WAIT) and
                self.leaf(event) == function]


class Folder:
    """Where a test's files are, and the commands that it runs there."""

    def __init__(self, profsim, programs):
        self.profsim = os.path.realpath(profsim)
        self.programs = os.path.realpath(programs)
        self.path = tempfile.mkdtemp()
        self.spools = os.path.join(self.path, 'spools')
        os.mkdir(self.spools)
        os.environ['TMPDIR'] = self.spools
        os.chdir(self.path)
        self.err = self.out = ''

    def program(self, name):
        return os.path.join(self.programs, name)

    def run(self, *words):
        """Its exit code, or minus the signal that ended it."""
        with open('out', 'w+') as out, open('err', 'w+') as err:
            status = subprocess.run(words, stdout=out, stderr=err,
                                    timeout=200).returncode
        self.read()
        return status

    def read(self):
        self.out = open('out', errors='replace').read()
        self.err = open('err', errors='replace').read()

    def record(self, *words, options=(), expect=0):
        """Record a command into x.rec, which a recording() opens."""
        for name in os.listdir('.'):
            if name.startswith('x.rec'):
                os.unlink(name)
        options = ('--images=1000000', '--limit=16777216') + tuple(options)
        status = self.run(self.profsim, 'record', '-o', 'x.rec', *options,
                          '--', *words)
        same(status, expect)

    def recording(self, suffix=''):
        return Recording('x.rec' + suffix)

    def expect_no_spools(self):
        same(os.listdir(self.spools), [])


def same(got, want):
    assert got == want, f'{got!r}, not {want!r}'


tests = []


def test(function):
    tests.append(function)
    return function


def run_tests(folder, name):
    """Run all, or those that TEST_FILTER names; print the usual last line."""
    wanted = os.environ.get('TEST_FILTER', '')
    failed = 0
    for function in tests:
        if wanted not in ('', function.__name__):
            continue
        try:
            function(folder)
        except Exception: # each test is tried
            failed += 1
            print('FAILED:', function.__name__)
            traceback.print_exc(file=sys.stdout)
            print(folder.out[-1000:], folder.err[-2000:], sep='\n')
    os.chdir('/')
    shutil.rmtree(folder.path)
    print(f'{name}: {len(tests) - failed} passed, {failed} failed')
    return failed != 0
