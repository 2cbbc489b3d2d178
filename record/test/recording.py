"""Reads and writes recordings, from docs/recording.md alone; other scripts import it."""
import collections
import os
import struct
import subprocess
import sys
import zlib

sys.path.append(os.path.join(os.path.dirname(__file__), '../../install'))
from read_profile import number, read as read_profile

ALLOC, FREE, WAIT, RELEASE, RESIZE, SEMAPHORE = range(1, 7)
PLUMBING = ('malloc calloc realloc reallocarray aligned_alloc posix_memalign memalign '
            'valloc pvalloc _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t').split()

# `what` is an object or a lock, `size` bytes or the ticks of a wait; `flags` are bits 5
# to 7 of the tag. `usable` is None if malloc was not asked.
Event = collections.namedtuple(
    'Event', 'kind ticks thread what size stack usable flags alignment',
    defaults=(0, None, None, 0, 0))
Frame = collections.namedtuple('Frame', 'pc module function offset file line')
Call = collections.namedtuple('Call', 'symbol name file line module address')


class Recording:
    """What a file holds. Strings stand in the place of their numbers."""

    def __init__(self):
        self.rate, self.start, self.process, self.parent = 10 ** 9, 0, 1, 0
        self.version = 2
        self.forked, self.depth, self.arguments = 0, 32, ['prog']
        self.modules = []  # (start, length, offset, path, build id)
        self.frames, self.stacks, self.threads = [], [], []
        self.events, self.dropped = [], [0] * 8

    def calls(self, stack):
        """All calls of a stack, leaf first; inlined ones, too."""
        found = []
        for frame in self.stacks[stack]:
            while True:
                found.append(self.call[frame])
                frame += 1
                if frame == len(self.frames) or \
                        self.frames[frame].pc != self.frames[frame - 1].pc:
                    break
        return found

    def name_calls(self):
        """To be called when all is filled in."""
        symbols = sorted({frame.function for frame in self.frames})
        names = dict(zip(symbols, demangled(symbols)))
        self.call = [
            Call(f.function, names[f.function] or
                 os.path.basename(self.module(f)) or '?', f.file, f.line,
                 self.module(f), f.pc) for f in self.frames]
        self.stack_calls = [self.calls(i) for i in range(len(self.stacks))]
        return self

    def module(self, frame):
        return self.modules[frame.module - 1][3] if frame.module > 0 else ''

    def totals(self):
        kinds = [SEMAPHORE - 3 if e.kind == SEMAPHORE else e.kind for e in self.events]
        return [kinds.count(k) for k in (ALLOC, FREE, WAIT, RELEASE, RESIZE)]


def demangled(symbols):
    """A symbol may hold any byte; only those that could be mangled are asked for."""
    plain = [s if s.startswith('_') and s.isprintable() else '' for s in symbols]
    out = subprocess.run(['c++filt', '-i'], input='\n'.join(plain) + '\n', text=True,
                         stdout=subprocess.PIPE, check=True).stdout.split('\n')
    return [o or s for o, s in zip(out, symbols)]


# ---- reading ----

class Records:
    """The records of all blocks of one kind."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value, self.at = number(self.data, self.at)
        return value

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def bytes(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at]

    def text(self):
        return self.bytes().decode(errors='surrogateescape')

    def __bool__(self):
        return self.at < len(self.data)


def read(path):
    with open(path, 'rb') as file:
        data = file.read()
    magic, version = data[:8], struct.unpack('<I', data[8:12])[0]
    at, crc, blocks, order = 12, 0, collections.defaultdict(bytes), ''
    while at < len(data):
        kind = data[at:at + 1].decode()
        length, check = struct.unpack('<II', data[at + 1:at + 9])
        payload = data[at + 9:at + 9 + length]
        crc = zlib.crc32(payload, zlib.crc32(data[at:at + 5], crc))
        assert crc == check, f'checksum at {at}'
        blocks[kind] += payload
        order += kind
        at += 9 + length
    assert magic == b'PROFREC\n' and version in (1, 2) and len(data) == at
    assert order == ''.join(sorted(order, key='ASMFKTEZ'.index))
    assert order[0] == 'A' and order.count('A') == order.count('Z') == 1
    return parse({k: Records(payload) for k, payload in blocks.items()}, version > 1)


def parse(blocks, is_2):
    rec, none = Recording(), Records(b'')
    rec.version, part = 1 + is_2, blocks['A']
    rec.rate, rec.start, rec.process, rec.parent = part.numbers(4)
    rec.forked = part.number() if is_2 else 0
    rec.depth, count = part.numbers(2)
    rec.arguments = [part.text() for _ in range(count)]
    part, strings = blocks.get('S', none), ['']
    while part:
        strings.append(part.text())
    part = blocks.get('M', none)
    while part:
        start, length, offset, path = part.numbers(4)
        rec.modules.append((start, length, offset, strings[path], part.bytes()))
    part, pc = blocks.get('F', none), 0
    while part:
        step, module, function, offset, file, line = part.numbers(6)
        pc = (pc + (step >> 1 ^ -(step & 1))) % 2 ** 64
        rec.frames.append(Frame(pc, module, strings[function], offset, strings[file], line))
    part, stack = blocks.get('K', none), []
    while part:
        keep, new = part.numbers(2)
        stack = part.numbers(new) + stack[len(stack) - keep:]
        rec.stacks.append(stack)
    part = blocks.get('T', none)
    while part:
        rec.threads.append((part.number(), part.text() if is_2 else ''))
    part, last = blocks.get('E', none), Event(0, 0, 0, 0)
    objects = 0
    while part:
        last = read_event(part, last, objects)
        objects += last.kind == ALLOC
        rec.events.append(last)
    part, totals = blocks['Z'], rec.totals()
    assert part.numbers(4 + is_2) == totals[:4 + is_2]
    assert part.number() == totals[0] - totals[1]
    rec.dropped = part.numbers(part.number())
    assert not part
    return rec.name_calls()


def read_event(part, last, objects):
    tag = part.data[part.at]
    part.at += 1
    kind, flags = tag & 15, tag >> 5
    thread = part.number() if tag & 16 else last.thread
    ticks = last.ticks + part.number()
    size, usable, stack, alignment = 0, None, None, 0
    if kind in (FREE, RESIZE):
        what = objects - part.number()
    elif kind == ALLOC:
        what = objects
    else:
        what = part.number()
    if kind in (ALLOC, RESIZE, WAIT, SEMAPHORE):
        size = part.number()
    if kind == ALLOC and flags & 2:
        alignment = 1 << part.number()
    if kind in (ALLOC, RESIZE) and flags & 4:
        usable = size + part.number()
    if kind != FREE:
        stack = part.number()
    return Event(kind, ticks, thread, what, size, stack, usable, flags, alignment)


# ---- writing ----

def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def varints(*values):
    return b''.join(varint(value) for value in values)


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(len(value)) + value


def seal(blocks, version=2):
    """A file of (kind, payload) each, with the checksums."""
    out, crc = b'PROFREC\n' + struct.pack('<I', version), 0
    for kind, payload in blocks:
        head = kind.encode() + struct.pack('<I', len(payload))
        crc = zlib.crc32(head + payload, crc)
        out += head + struct.pack('<I', crc) + payload
    return out


def blocks_of(rec, begins=lambda: False):
    """Each block: its kind and payload. A new one begins wherever begins() says so."""
    strings = sorted({s for f in rec.frames for s in (f.function, f.file)} |
                     {m[3] for m in rec.modules} - {''})
    strings = [s for s in strings if s]
    number_of = {s: i + 1 for i, s in enumerate(strings)} | {'': 0}
    frames, pc = [], 0
    for f in rec.frames:
        step = (f.pc - pc + 2 ** 63) % 2 ** 64 - 2 ** 63
        frames.append(varints(2 * step if step >= 0 else -2 * step - 1, f.module,
                              number_of[f.function], f.offset, number_of[f.file], f.line))
        pc = f.pc
    stacks, before = [], []
    for stack in rec.stacks:
        keep = len(os.path.commonprefix([stack[::-1], before[::-1]]))
        fresh = stack[:len(stack) - keep]
        stacks.append(varints(keep, len(fresh), *fresh))
        before = stack
    totals, is_2 = rec.totals(), rec.version > 1
    for kind, records in (
            ('A', [varints(rec.rate, rec.start, rec.process, rec.parent) +
                   (varint(rec.forked) if is_2 else b'') +
                   varints(rec.depth, len(rec.arguments)) +
                   b''.join(text(a) for a in rec.arguments)]),
            ('S', [text(s) for s in strings]),
            ('M', [varints(*m[:3], number_of[m[3]]) + text(m[4]) for m in rec.modules]),
            ('F', frames), ('K', stacks),
            ('T', [varint(n) + (text(name) if is_2 else b'') for n, name in rec.threads]),
            ('E', event_records(rec, begins)),
            ('Z', [varints(*totals[:4 + is_2], totals[0] - totals[1], len(rec.dropped),
                           *rec.dropped)])):
        payload = b''
        for i, record in enumerate(records):
            payload += record
            if i + 1 == len(records) or begins():
                yield kind, payload
                payload = b''


def event_records(rec, begins):
    objects, before, last, out = 0, 0, 0, []
    for e in rec.events:
        new = e.thread != last or begins()
        record = bytes([e.kind | new << 4 | e.flags << 5])
        record += varint(e.thread) if new else b''
        record += varint(e.ticks - before)
        before, last = e.ticks, e.thread
        if e.kind in (FREE, RESIZE):
            record += varint(objects - e.what)
        elif e.kind != ALLOC:
            record += varint(e.what)
        objects += e.kind == ALLOC
        record += varint(e.size) if e.kind not in (FREE, RELEASE) else b''
        if e.kind == ALLOC and e.flags & 2:
            record += varint(e.alignment.bit_length() - 1)
        if e.usable is not None:
            record += varint(e.usable - e.size)
        out.append(record + (varint(e.stack) if e.kind != FREE else b''))
    return out
