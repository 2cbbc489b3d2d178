#!/usr/bin/env python3
"""Recordings that no reader may believe: cut anywhere, any byte changed, and with right
checksums around wrong records. Each is refused in one line, with an offset and a reason.

usage: test_damaged.py PROFSIM
"""
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from oracle import same
from recording import (ALLOC, FREE, RELEASE, RESIZE, SEMAPHORE, WAIT, Event, Frame,
                       Recording, blocks_of, read, seal, text, varints)


def small():
    """One of each: frames, stacks, threads and kinds of events."""
    rec = Recording()
    rec.start, rec.forked, rec.depth, rec.arguments = 77, 70, 4, ['prog', '', 'a b']
    rec.modules = [(0x1000, 0x500, 64, '/bin/prog', b'\x09\0\xff')]
    rec.frames = [Frame(0x1010, 1, 'work', 7, '', 0), Frame(0x1010, 1, 'main', 0, 'a.c', 3),
                  Frame(2 ** 64 - 1, 0, '', 0, 'prog.c', 2 ** 32 - 1)]
    rec.stacks = [[0, 2], [2], [], [2, 0, 2, 0]]
    rec.threads = [(12, ''), (900, 'io worker')]
    rec.dropped = list(range(1, 9))
    last = 2 ** 64 - 78 # the end of the clock
    rec.events = [Event(ALLOC, 0, 0, 0, 2 ** 63, 0),
                  Event(ALLOC, 5, 1, 1, 300, 3, 301, 7, 2 ** 63),
                  Event(WAIT, 900, 1, 0, 900, 1, flags=7), Event(RELEASE, 900, 0, 1, 0, 2),
                  Event(SEMAPHORE, 902, 0, 1, 1, 0), Event(FREE, 903, 0, 0),
                  Event(RESIZE, 950, 1, 1, 2 ** 63, 3, 2 ** 64 - 1, 4),
                  Event(FREE, last, 1, 1)]
    return rec.name_calls()


# ---- records that are wrong, in a file whose checksums are right ----

def with_events(*tail):
    """One allocation of 8 bytes, then these bytes; the totals say that all is well."""
    def change(blocks):
        events = b'\x01\x01\x08\x00' + b''.join(tail)
        return [(k, events if k == 'E' else varints(1, 0, 0, 0, 0, 1, 8, *[0] * 8)
                 if k == 'Z' else p) for k, p in blocks]
    return change


def with_block(kind, payload):
    return lambda blocks: [(k, payload if k == kind else p) for k, p in blocks]


def about(rate=1, process=1, forked=b'\0', depth=8, rest=b'\1\1p'):
    return with_block('A', varints(rate, 5, process, 1) + forked + varints(depth) + rest)


LONG = b'\xff' * 9 + b'\2' # a number above 64 bits
ROWS = [
    ('free of an object that is not live', with_events(b'\2\1\1\2\1\1')),
    ('not an event', with_events(b'\2\1\2')), # of an object to come
    ('not an event', with_events(b'\2\1\0')),
    ('resize of an object that is not live', with_events(b'\2\1\1\5\1\1\x08\0')),
    ('not an event', with_events(b'\5\1\2\x08\0')),
    ('event with a stack not in the file', with_events(b'\1\1\x08\4')),
    ('event of a thread not in the file', with_events(b'\x11\2\1\x08\0')),
    ('not an event', with_events(b'\3\1\1\0\0')), # a lock ahead
    ('a wait that began before the start', with_events(b'\3\1\0\x7f\0')),
    ('release of a lock of no such kind', with_events(b'\x44\1\0\0')),
    ('not an event', with_events(b'\0')), # tags
    ('not an event', with_events(b'\7')),
    ('not an event', with_events(b'\x22\1\1')),
    ('the clock passes its end', with_events(b'\1' + varints(2 ** 64 - 77) + b'\x08\0')),
    ('not an event', with_events(b'\1' + varints(2 ** 64 - 1) + b'\x08\0')),
    ('not an event', with_events(b'\1' + LONG + b'\x08\0')),
    ('not an event', with_events(b'\1\x81\0\x08\0')), # not the shortest form
    ('not an event', with_events(b'\x41\1\x08\x40\0')), # an alignment of 2^64
    ('not an event', with_events(b'\1\1\x08')),
    ('totals do not match the events', with_events(b'\2\1\1')),
    ('block out of order', lambda blocks: blocks[:-1] + blocks[5:6] + blocks[-1:]),
    ('block out of order', lambda blocks: blocks[:1] + blocks),
    ('bytes behind the totals', lambda blocks: blocks + blocks[-1:]),
    ('too few causes of drops', with_block(
        'Z', varints(2, 2, 2, 1, 1, 0, 6, *[0] * 6))),
    ('bytes left over in the block', with_block(
        'Z', varints(2, 2, 2, 1, 1, 0, 7, *[0] * 8))),
    ('tick rate: 0 ticks a second', about(rate=0)),
    ('out of range', about(process=2 ** 32)),
    ('depth limit: 0', about(depth=0)),
    ('out of range', about(depth=129)),
    ('text reaches past its block', about(rest=b'\1\2p')),
    ('text holds a NUL byte', about(rest=b'\1\2p\0')),
    ('bytes left over in the block', about(rest=b'\1\1pp')),
    ('out of range', with_block('S', text('x' * 65537))),
    ('module length: out of range', with_block('M', varints(1, 0, 0, 1, 0))),
    ('module length: out of range', with_block('M', varints(2 ** 64 - 1, 2, 0, 1, 0))),
    ('out of range', with_block('M', varints(1, 1, 0, 9, 0))),
    ('out of range', with_block('M', varints(1, 1, 0, 1, 65) + bytes(65))),
    ('build id reaches past its block', with_block('M', varints(1, 1, 0, 1, 9))),
    ('out of range', with_block('F', varints(2, 2, 1, 0, 0, 0))),
    ('out of range', with_block('F', varints(2, 1, 9, 0, 0, 0))),
    ('out of range', with_block('F', varints(2, 1, 1, 0, 9, 0))),
    ('out of range', with_block('F', varints(2, 1, 1, 0, 0, 2 ** 32))),
    ('not a number', with_block('F', varints(2, 1, 1, 0, 0))),
    ('out of range', with_block('K', varints(1, 0))), # keeps of none before
    ('out of range', with_block('K', varints(0, 5, 0, 0, 0, 0, 0))),
    ('out of range', with_block('K', varints(0, 1, 3))),
    ('a stack without frames', lambda blocks: [b for b in blocks if b[0] != 'F']),
]


def forged(rec):
    for i, (reason, change) in enumerate(ROWS):
        yield f'row {i}', seal(change(list(blocks_of(rec)))), reason
    data = seal(blocks_of(rec))
    yield 'version', data[:8] + b'\3' + data[9:], 'version'
    yield 'empty', b'', 'empty'
    # What version 1 does not have.
    old = small()
    old.version, old.events, old.dropped = 1, [], [0] * 7
    for tag in (b'\5\1\1\x08\0', b'\6\1\0\0\0', b'\x21\1\x08\0', b'\x41\1\x08\3\0'):
        blocks = [b for b in blocks_of(old) if b[0] != 'Z']
        blocks += [('E', b'\1\1\x08\0' + tag), ('Z', varints(2, 0, 0, 0, 2, 7, *[0] * 7))]
        yield 'version 1', seal(blocks, 1), 'not an event'


def changed(rec):
    data, rng = seal(blocks_of(rec, lambda: True)), random.Random(20)
    for length in range(len(data)):
        yield f'{length} bytes', data[:length], ''
    for at in range(len(data)):
        yield f'byte {at}', data[:at] + bytes([data[at] ^ rng.randrange(1, 256)]) + \
            data[at + 1:], ''


def main(profsim):
    rec = small()
    cases = list(forged(rec)) + list(changed(rec))
    with tempfile.TemporaryDirectory() as folder:
        paths = [f'{folder}/{i}.rec' for i in range(len(cases) + 1)]
        for path, data in zip(paths, [data for _, data, _ in cases] + [seal(blocks_of(rec))]):
            with open(path, 'wb') as file:
                file.write(data)
        same('written', read(paths[-1]).events, rec.events)
        done = subprocess.run([profsim, 'show', '--folded', *paths], encoding='utf-8',
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        same('exit', done.returncode, 1)
        found = done.stderr.split('\n')[:-1]
        wrong = [f'FAILED: {name}: {line}, not {reason}' for (name, _, reason), line, path
                 in zip(cases, found, paths)
                 if not line.startswith(f'profsim: {path}: ') or reason not in line or
                 not re.search(r' offset \d+: |: not a recording$|: it is empty$', line)]
    if len(found) != len(cases):
        wrong.append(f'FAILED: {len(cases)} damaged files, {len(found)} lines')
    print('\n'.join(wrong[:20] + [f'damaged: {len(cases) - len(wrong)} passed, '
                                  f'{len(wrong)} failed']))
    sys.exit(len(wrong) > 0)


main(*sys.argv[1:])
