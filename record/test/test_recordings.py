#!/usr/bin/env python3
# build: args='out/gcc/profsim 20 fixtures/recordings/waits.rec fixtures/recordings/perl-words.rec'
"""Every number that `profsim show` and `profsim diff` show of a recording is computed
again here: of random recordings, and of those in fixtures/recordings.

usage: test_recordings.py PROFSIM COUNT RECORDING...
"""
import json
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import oracle
from recording import (ALLOC, FREE, RELEASE, RESIZE, SEMAPHORE, WAIT, Event, Frame,
                       Recording, blocks_of, read, seal)

PLAIN = [f'f{i}' for i in range(12)] + [
    '_ZN3one3twoEii', '_RNvC6_123foo3bar', '_Znot_mangled', 'a;b "<&>\'\\', 'é' * 40,
    'line\nend', 'x' * 65, '']
SIZES = (0, 1, 24, 4000, 300000, 1 << 34)


class Program(Recording):
    """Functions, stacks and events at random."""

    def __init__(self, seed):
        super().__init__()
        rng = self.rng = random.Random(seed)
        self.rate, self.start, self.process = 1000, 5, 42
        self.version = rng.choice((1, 2, 2))
        self.forked = 3 * (self.version - 1)
        self.arguments = rng.choice((['prog', 'a "b"', '\x1b[1m'], ['x'] * 9))
        self.modules = [(0x1000, 0x4000, 0, '/bin/prog', b'\0\1'),
                        (0x5000, 0x5000, 64, '/lib/libc.so.6', b'')]
        pc = 0x1000
        for _ in range(60):
            pc += rng.choice((16, 16, 64))
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                self.frames.append(Frame(pc, rng.choice((1, 1, 2)), rng.choice(PLAIN), 0,
                                         'src/a.c', rng.choice((0, len(self.frames)))))
        for i, name in enumerate(('malloc', 'calloc', '_Znwm')):
            self.frames.append(Frame(0x9000 + 16 * i, 2, name, 5, '', 0))
        first = [i for i, f in enumerate(self.frames) if f.pc != self.frames[i - 1].pc]
        for _ in range(40):
            leaf = [rng.choice(first[-3:])] if rng.random() < 0.5 else []
            self.stacks.append(leaf + rng.choices(first[:-3], k=rng.choice((1, 2, 3, 30))))
        self.stacks.append([])
        self.threads = [(1 << 33 | 7, 'first'), (8, ''), (9, 'na\nme')]
        self.threads += [(i, 't') for i in range(10, rng.choice((10, 20)))]
        self.dropped = rng.choice(([0] * 8, [0, rng.randrange(1 << 34), *range(6)]))
        if self.version == 1:
            self.threads = [(number, '') for number, _ in self.threads]
            del self.dropped[7]
        self.make_events(rng.choice((0, 1, 20, 600)))
        self.name_calls()

    def make_events(self, events):
        rng, live, objects, locks = self.rng, [], 0, []
        locks_most = rng.choice((0, 3, 60))
        duration = rng.choice((0, 299, 300, 5000, 1 << 40))
        usable, grows = self.version > 1 and rng.random() < 0.3, True
        for ticks in sorted(rng.randint(0, duration) for _ in range(events)):
            grows = grows != (rng.random() < 0.02)
            at = (ticks, rng.randrange(len(self.threads)))
            stack, kind = rng.randrange(len(self.stacks)), rng.random()
            size = rng.randrange(rng.choice(SIZES) + 1) + usable
            if locks_most > 0 and kind < 0.2:
                lock = min(rng.randrange(locks_most), len(locks))
                locks = locks if lock < len(locks) else locks + [lock]
                waited = rng.choice((0, ticks // 9, ticks, rng.randint(0, ticks)))
                kind = rng.choice((WAIT, RELEASE, SEMAPHORE)[:self.version + 1])
                flags = rng.choice((0, 1) if kind == RELEASE else
                                   (0, 1, 2, 3, 4) if kind == WAIT else (0, 4))
                self.events.append(Event(kind, *at, lock,
                                         0 if kind == RELEASE else waited, stack,
                                         flags=flags))
            elif live and kind < (0.4 if grows else 0.8) and kind > 0.3:
                self.events.append(Event(FREE, *at, live.pop(rng.randrange(len(live)))))
            else:
                resized = live and kind < 0.3 and self.version > 1
                flags = 0 if resized or self.version == 1 else rng.choice((0, 1, 2))
                self.events.append(Event(
                    RESIZE if resized else ALLOC, *at,
                    rng.choice(live) if resized else objects, size, stack,
                    size + rng.randrange(99) if usable else None,
                    flags | 4 * usable, 32 * (flags & 2)))
                if not resized:
                    live.append(objects)
                    objects += 1


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8').stdout


def check(profsim, folder, path, rec, measure):
    heap = oracle.Heap(rec)
    data, out = folder + '/data', folder + '/out'
    oracle.check_summary(run(profsim, 'show', path, '--out', out, '--data', data),
                         path, heap)
    oracle.check_profiles(out, heap)
    oracle.check_graphs(out, heap)
    with open(data, encoding='utf-8') as file:
        oracle.Page(json.load(file), heap)
    oracle.check_summary(run(profsim, 'show', path, '--top', '7', '--by', measure),
                         path, heap, top=7, only=[measure])
    oracle.same('folded', sorted(run(profsim, 'show', path, '--folded', '--by',
                                     measure).split('\n')[:-1]),
                oracle.folded(heap, measure))
    return heap


def check_diff(profsim, old, new, measure):
    oracle.check_diff(run(profsim, 'diff', '--by', measure, '--top', '100000', old[0],
                          new[0]), old[1], new[1], measure)


def main(profsim, many, *paths):
    before = None
    with tempfile.TemporaryDirectory() as folder:
        cases = [(f'{folder}/{seed}.rec', Program(seed)) for seed in range(int(many))]
        for path, rec in cases:
            with open(path, 'wb') as file:
                begins = lambda rec=rec: rec.rng.random() < 0.01
                file.write(seal(blocks_of(rec, begins), rec.version))
            oracle.same('events', read(path).events, rec.events)
        for i, (path, rec) in enumerate(cases + [(path, read(path)) for path in paths]):
            measure = oracle.MEASURES[i % 3]
            try:
                heap = check(profsim, folder, path, rec, measure)
                for other in (before or (path, heap), (path, heap)):
                    check_diff(profsim, other, (path, heap), measure)
            except AssertionError as why:
                sys.exit(f'FAILED: {path}: {why}')
            before = path, heap
    print(f'recordings: {int(many) + len(paths)} passed, 0 failed')


main(*sys.argv[1:])
