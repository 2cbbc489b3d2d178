#!/usr/bin/env python3
"""Random recordings, written by the description in docs/recording.md, and the
pages that `profsim show --data` makes of them: every number is computed again
here.

usage: random_recordings.py PROFSIM FOLDER COUNT
"""
import json
import math
import random
import struct
import subprocess
import sys
import zlib

ALLOC, FREE, WAIT, RELEASE, RESIZE = 1, 2, 3, 4, 5
BINS, SITES, RATE, NARROW, CALLS, LOCKS = 300, 11, 524288, 2000, 24, 50
PLUMBING = ('malloc', 'calloc', '_Znwm')


# ---- The file ----

def varint(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def text(value):
    return varint(len(value)) + value.encode()


class File:
    """Blocks of records; each begins a new one now and then."""

    def __init__(self, rng):
        self.rng = rng
        self.bytes = b'PROFREC\n' + struct.pack('<I', 2)
        self.crc = 0

    def blocks(self, kind, records):
        payload = b''
        for i, record in enumerate(records):
            payload += record
            if i + 1 == len(records) or self.rng.random() < 0.01:
                head = kind + struct.pack('<I', len(payload))
                self.crc = zlib.crc32(head + payload, self.crc)
                self.bytes += head + struct.pack('<I', self.crc) + payload
                payload = b''


# ---- What is recorded ----

class Program:
    """Functions, stacks and events at random."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.names = list(PLUMBING) + [f'f{i}' for i in range(18)]
        self.frames = [] # (pc, [(name, file, line)]), the innermost first
        for i in range(60):
            inner = [(rng.choice(self.names[3:]), 'src/a.c', rng.choice(
                (0, i + 1))) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
            self.frames.append((0x1000 + 16 * i, inner))
        for i, name in enumerate(PLUMBING):
            self.frames.append((0x9000 + 16 * i, [(name, '', 0)]))
        self.stacks = [self.stack() for _ in range(40)] + [[]]
        self.threads = [(1 << 33 | 7, 'first'), (8, ''), (9, 'third')]
        self.locks = rng.choice((0, 3, 60))
        self.duration = rng.choice((0, 299, 300, 5000, 1 << 40))
        self.events = []
        self.make_events(rng.choice((0, 1, 20, 600)))

    def stack(self):
        rng = self.rng
        leaf = [rng.randrange(60, 63)] if rng.random() < 0.5 else []
        return leaf + [rng.randrange(60) for _ in range(rng.choice(
            (1, 2, 3, 30)))]

    def calls(self, number):
        return [call for frame in self.stacks[number]
                for call in self.frames[frame][1]]

    def told(self, number):
        """The calls without malloc and its relatives at the leaf."""
        calls = self.calls(number)
        while len(calls) > 1 and calls[0][0] in PLUMBING:
            calls = calls[1:]
        return calls

    def make_events(self, count):
        rng = self.rng
        live, objects, seen = [], 0, []
        moments = sorted(rng.randint(0, self.duration) for _ in range(count))
        grows = True
        for moment in moments:
            grows = grows != (rng.random() < 0.02)
            thread = rng.randrange(3)
            stack = rng.randrange(len(self.stacks))
            size = rng.choice((0, 1, 24, rng.randrange(4000), 300000,
                               rng.randrange(1 << 34)))
            kind = rng.random()
            if self.locks > 0 and kind < 0.1:
                lock = rng.randrange(self.locks)
                if lock not in seen:
                    seen.append(lock)
                self.events.append((WAIT, moment, thread, seen.index(lock),
                                    rng.choice((0, moment // 9, moment,
                                                rng.randint(0, moment))),
                                    stack))
            elif live and kind < 0.2:
                self.events.append((RESIZE, moment, thread, rng.choice(live),
                                    size, stack))
            elif live and kind < (0.4 if grows else 0.8):
                self.events.append((FREE, moment, thread, live.pop(
                    rng.randrange(len(live)))))
            else:
                self.events.append((ALLOC, moment, thread, size, stack))
                live.append(objects)
                objects += 1

    # ---- As a file ----

    def event_bytes(self):
        objects, before, last, locks, out = 0, 0, 0, 0, []
        for kind, moment, thread, *rest in self.events:
            new = thread != last or self.rng.random() < 0.1
            record = bytes([kind | (16 if new else 0)])
            record += varint(thread) if new else b''
            record += varint(moment - before)
            before, last = moment, thread
            if kind == ALLOC:
                record += varint(rest[0]) + varint(rest[1])
                objects += 1
            elif kind == FREE:
                record += varint(objects - rest[0])
            elif kind == RESIZE:
                record += varint(objects - rest[0])
                record += varint(rest[1]) + varint(rest[2])
            else:
                record += b''.join(varint(value) for value in rest)
                locks = max(locks, rest[0] + 1)
            out.append(record)
        return out

    def file(self):
        out = File(self.rng)
        strings = ['/bin/prog', 'src/a.c'] + self.names
        number = {name: i + 1 for i, name in enumerate(strings)}
        number[''] = 0
        out.blocks(b'A', [varint(1000) + varint(5) + varint(42) + varint(1) +
                          varint(0) + varint(32) + varint(2) + text('prog') +
                          text('a "b"')])
        out.blocks(b'S', [text(name) for name in strings])
        out.blocks(b'M', [varint(0x1000) + varint(0x9000) + varint(0) +
                          varint(1) + text('')])
        frames, first, before = [], [], 0
        for pc, inner in self.frames:
            first.append(len(frames))
            for name, file, line in inner:
                step = pc - before
                before = pc
                frames.append(varint(2 * step if step >= 0 else -2 * step - 1)
                              + varint(1) + varint(number[name]) + varint(0) +
                              varint(number[file]) + varint(line))
        out.blocks(b'F', frames)
        out.blocks(b'K', [varint(0) + varint(len(stack)) + b''.join(
            varint(first[frame]) for frame in stack) for stack in self.stacks])
        out.blocks(b'T', [varint(n) + text(name) for n, name in self.threads])
        out.blocks(b'E', self.event_bytes())
        kinds = [event[0] for event in self.events]
        counts = [kinds.count(kind) for kind in (ALLOC, FREE, WAIT, RELEASE,
                                                 RESIZE)]
        self.lost = self.rng.randrange(1 << 34)
        out.blocks(b'Z', [b''.join(varint(n) for n in counts + [
            counts[0] - counts[1], 8, 0, self.lost, 0, 0, 0, 0, 0, 3])])
        return out.bytes


# ---- What a page must say ----

def variance(size):
    chance = -math.expm1(-size / RATE)
    return size * size * (1 - chance) / chance if size > 0 else 0


class Heap:
    """A walk over the events; `at` is called after each."""

    def __init__(self, program, at=None):
        self.program = program
        self.objects = {} # number -> (size, stack, thread)
        self.bytes = 0
        self.allocs = [] # (size, stack, thread)
        self.freed = [[0, 0], [0, 0], [0, 0]]
        for index, event in enumerate(program.events):
            self.take(event)
            if at is not None:
                at(index, event, self)

    def take(self, event):
        kind, _, thread, *rest = event
        if kind in (FREE, RESIZE):
            size = self.objects.pop(rest[0])[0]
            self.bytes -= size
            self.freed[thread][0] += size
            self.freed[thread][1] += 1
        if kind in (ALLOC, RESIZE):
            size, stack = rest[-2:]
            number = rest[0] if kind == RESIZE else len(
                [1 for a in self.allocs if a[3] == ALLOC])
            self.objects[number] = (size, stack, thread)
            self.allocs.append((size, stack, thread, kind))
            self.bytes += size

    def in_use(self):
        return list(self.objects.values())


def count(items, chosen=lambda item: True):
    items = [item for item in items if chosen(item)]
    return [sum(item[0] for item in items), len(items)]


class Page:
    def __init__(self, program, data):
        self.program = program
        self.data = data
        self.peak, self.peak_ticks = [], 0
        self.most = {} # the most bytes of a site at one time
        best = -1

        def at(_, event, heap):
            nonlocal best
            if event[0] in (ALLOC, RESIZE) and heap.bytes > best:
                best = heap.bytes
                self.peak, self.peak_ticks = heap.in_use(), event[1]
            if event[0] in (ALLOC, RESIZE):
                site = self.site(event[-1])
                self.most[site] = max(self.most.get(site, 0), sum(
                    o[0] for o in heap.in_use() if self.site(o[1]) == site))
        end = Heap(program, at)
        self.exit, self.allocs, self.freed = end.in_use(), end.allocs, end.freed

    def site(self, stack):
        told = self.program.told(stack)
        return told[0][0] if told else '(no stack)'

    def same(self, what, said, wanted):
        if said != wanted:
            raise AssertionError(f'{what}: {said}, not {wanted}')

    def shown(self, number):
        """A stack as the page shows it."""
        calls = self.program.told(number)
        return [[name, file.split('/')[-1] or 'prog'] + ([line] if line else [])
                for name, file, line in calls
                if name not in PLUMBING or len(calls) == 1][:CALLS]

    def counts(self, chosen, where):
        for key, items in (('peak', self.peak), ('exit', self.exit),
                           ('allocs', self.allocs)):
            self.same(key, where[key], count(items, chosen))

    def check_head(self):
        d, p = self.data, self.program
        self.same('head', [d['arguments'], d['ticks_per_second'],
                           d['peak_ticks'], d['events'], d['lost']],
                  [['prog', 'a "b"'], 1000, self.peak_ticks, len(p.events),
                   p.lost + 3])
        self.same('duration', d['duration_ticks'],
                  p.events[-1][1] if p.events else 0)
        self.counts(lambda item: True, d)

    def check_sites(self):
        names = []
        for site in self.data['sites']:
            name = site['stack'][0][0] if site['stack'] else '(no stack)'
            names.append(name)
            def here(item, name=name):
                return self.site(item[1]) == name
            stacks = {a[1] for a in self.allocs if here(a)}
            self.same('stacks', site['stacks'], len(stacks))
            self.counts(here, site)
            weight = {s: count(self.peak, lambda o, s=s: o[1] == s)[0] or
                      count(self.allocs, lambda o, s=s: o[1] == s)[0] // 1024
                      for s in stacks}
            if site['stack'] not in [self.shown(s) for s in stacks if
                                     weight[s] == max(weight.values())]:
                raise AssertionError(f'stack of {name}: {site["stack"]}')
        self.same('sites', [self.most[name] for name in names],
                  sorted((m for m in self.most.values() if m > 0),
                         reverse=True)[:SITES])
        return names

    def check_bins(self, names):
        duration = self.data['duration_ticks']
        bins = [None] * BINS
        state = [0] * (len(names) + 2)
        last = [0]

        def row(heap):
            row = [count(heap.in_use(), lambda o, n=n: self.site(o[1]) == n)[0]
                   for n in names]
            return row + [heap.bytes - sum(row),
                          math.sqrt(sum(variance(o[0])
                                        for o in heap.in_use()))]

        def go_to(bin_number):
            while last[0] < bin_number:
                last[0] += 1
                bins[last[0]] = state + [0]

        def at(_, event, heap):
            nonlocal state
            go_to(min(BINS - 1, int(event[1] / (duration + 1) * BINS)))
            state = row(heap)
            bin_now = bins[last[0]]
            allocs = bin_now[-1] + (event[0] in (ALLOC, RESIZE))
            if sum(state[:-1]) > sum(bin_now[:-2]):
                bin_now = state + [0]
            bins[last[0]] = bin_now[:-1] + [allocs]
        bins[0] = state + [0]
        Heap(self.program, at)
        go_to(min(BINS - 1, int(duration / (duration + 1) * BINS)))
        bins = [b or [0] * (len(names) + 3) for b in bins]
        for i, (said, wanted) in enumerate(zip(self.data['bins'], bins)):
            self.same(f'bin {i}', said[:-2] + said[-1:],
                      wanted[:-2] + wanted[-1:])
            if abs(said[-2] - wanted[-2]) > 1 + wanted[-2] / 1e6:
                raise AssertionError(f'bin {i}: {said[-2]}, not {wanted[-2]}')
        self.same('bins', len(self.data['bins']), BINS)

    def path(self, stack):
        told = self.program.told(stack)
        return tuple(c[0] for c in reversed(told)) or ('(no stack)',)

    def check_tree(self):
        wanted = {}
        for m, items in enumerate((self.peak, self.exit, self.allocs)):
            for item in items:
                path = self.path(item[1])
                for end in range(len(path) + 1):
                    node = wanted.setdefault(path[:end], [0] * 6)
                    node[2 * m] += item[0]
                    node[2 * m + 1] += 1
        root = wanted.get((), [0] * 6)
        wanted = {path: node for path, node in wanted.items() if any(
            node[m] > 0 and node[m] >= root[m] // NARROW for m in (0, 2, 4))}
        wanted[()] = root
        paths, said = [()], {(): self.data['tree'][0][2:]}
        for name, parent, *node in self.data['tree'][1:]:
            paths.append(paths[parent] + (self.data['names'][name],))
            self.same('twice', paths[-1] in said, False)
            said[paths[-1]] = node
        self.same('tree', said, wanted)

    def check_rest(self):
        d, locks = self.data, {}
        for kind, _, _, *rest in self.program.events:
            if kind == WAIT:
                locks.setdefault(rest[0], []).append(rest[1:])
        self.same('locks', d['locks_count'], len(locks))
        order = sorted(locks, key=lambda n: (-sum(w[0] for w in locks[n]),
                                             -len(locks[n]), n))[:LOCKS]
        for lock, number in zip(d['locks'], order):
            waits = locks[number]
            longest = max(w[0] for w in waits)
            self.same('lock', [lock['lock'], lock['waits'], lock['ticks'],
                               lock['longest']],
                      [number, len(waits), sum(w[0] for w in waits), longest])
            if lock['stack'] not in [self.shown(w[1]) for w in waits
                                     if w[0] == longest]:
                raise AssertionError(f'stack of lock {number}')
        self.same('locks shown', len(d['locks']), len(order))
        self.same('threads', d['threads_count'], 3)
        for i, thread in enumerate(d['threads']):
            self.same('thread', (thread['thread'], thread['name']),
                      self.program.threads[i])
            self.counts(lambda item, i=i: item[2] == i, thread)
            self.same('freed', thread['freed'], self.freed[i])


def main(profsim, folder, many):
    for seed in range(int(many)):
        program = Program(seed)
        path, data = f'{folder}/{seed}.rec', f'{folder}/{seed}.json'
        with open(path, 'wb') as file:
            file.write(program.file())
        subprocess.run([profsim, 'show', path, '--data', data], check=True,
                       stdout=subprocess.DEVNULL)
        with open(data, encoding='utf-8') as file:
            page = Page(program, json.load(file))
        try:
            page.check_head()
            page.check_bins(page.check_sites())
            page.check_tree()
            page.check_rest()
        except AssertionError as why:
            sys.exit(f'recording {seed}: {why}')


main(*sys.argv[1:])
