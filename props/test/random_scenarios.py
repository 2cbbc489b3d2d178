#!/usr/bin/env python3
"""Random scenarios, and what `profsim explain` and its page say about them:
every number is computed again here, by the rule of the ring: an allocation made
after n mark terminations is published with index n + 2, a sweep's free with
index n + 1; a flush or a reading publishes index n, a post-sweep also n + 1.

usage: random_scenarios.py PROFSIM FOLDER COUNT
"""
import json
import random
import re
import subprocess
import sys

SLOTS, LINES, CHARS = 3, 20, 30


class World:
    """Events at random, and the state after each."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.procs = rng.choice((1, 1, 2, 3))
        self.stacks = [f's{i}' for i in range(rng.choice((1, 2, 5)))]
        self.sizes = rng.choice(((16,), (16, 24, 1 << 33), (8, 9)))
        self.lines = ['profsim scenario 2', '# random', '',
                      f'procs {self.procs}']
        self.lines += [f'stack {s} = 0x{0x401000 + 16 * i:x}'
                       for i, s in enumerate(self.stacks)]
        self.lines += ['']
        self.n = self.published = self.ticks = 0
        self.phase, self.post_swept = 'idle', False
        self.buckets = [] # (kind, stack, size), in order of their first event
        self.counts = {} # bucket -> [(index, allocs, frees)]
        self.objects, self.dropped, self.dead, self.marked = {}, [], [], []
        self.in_use = 0
        self.states = []
        self.spoiled = None
        for _ in range(rng.choice((1, 5, 19, 20, 21, 60, 130))):
            self.event()
        if rng.random() < 0.2:
            self.spoil()
        else:
            self.lines.append('')
            self.lines.append('expect ok')

    # ---- Events ----

    def note(self, bucket, index, allocs, frees):
        if bucket not in self.counts:
            self.buckets.append(bucket)
            self.counts[bucket] = []
        self.counts[bucket].append((index, allocs, frees))

    def choose(self):
        rng = self.rng
        can = ['alloc'] * 6 + ['block', 'mutex', 'snapshot', 'snapshot-all']
        if self.objects:
            can += ['drop'] * 3
        if self.phase == 'marking':
            can += ['gc-terminate'] * 4
        elif self.phase == 'terminated':
            can += ['gc-flush'] * 4
        elif self.dead:
            can += ['gc-sweep'] * 6
        else:
            can += ['gc-mark'] * 2
            if self.n > 0 and not self.post_swept:
                can += ['gc-post-sweep']
        return rng.choice(can)

    def event(self):
        rng = self.rng
        word = self.choose()
        task = 0
        step = rng.choice((0, 0, 1, 1000))
        text = word
        stack = rng.choice(self.stacks)
        if word == 'alloc':
            size = rng.choice(self.sizes)
            name = f'o{len(self.states)}'
            self.objects[name] = ('heap', stack, size)
            self.note(('heap', stack, size), self.n + 2, 1, 0)
            self.in_use += size
            text = f'alloc {name} {stack} {size}'
        elif word in ('block', 'mutex'):
            ticks = rng.choice((1, 7, 1 << 33))
            self.note((word, stack, 0), 0, 1, ticks)
            text = f'{word} {stack} {ticks}'
        elif word == 'drop':
            name = rng.choice(sorted(self.objects))
            self.dropped.append((name, self.objects.pop(name)))
            text = f'drop {name}'
        elif word == 'gc-mark':
            self.phase, self.marked = 'marking', self.dropped
            self.dropped = []
        elif word == 'gc-terminate':
            self.phase, self.dead, self.marked = 'terminated', self.marked, []
            self.n += 1
            self.post_swept = False
        elif word == 'gc-flush':
            self.phase = 'idle'
            self.published = max(self.published, self.n)
        elif word == 'gc-sweep':
            name, bucket = self.dead.pop(rng.randrange(len(self.dead)))
            self.note(bucket, self.n + 1, 0, 1)
            self.in_use -= bucket[2]
            text = f'gc-sweep {name}'
        elif word == 'gc-post-sweep':
            self.post_swept = True
            self.published = self.n + 1
        else:
            self.published = max(self.published, self.n)
            self.first_snapshot()
        if word in ('alloc', 'block', 'mutex', 'drop'):
            task = rng.randrange(3)
        self.ticks += step
        line = (f'@+{step} ' if step else '') + (f't{task}: ' if task else '')
        self.lines.append(line + text)
        self.keep(line + text, word, task)

    def first_snapshot(self):
        """One that finds nothing published publishes everything."""
        heap = [b for b in self.buckets if b[0] == 'heap']
        if all(index > self.published for b in heap
               for index, _, _ in self.counts[b]):
            for bucket in heap:
                self.counts[bucket] = [(0, *c[1:]) for c in self.counts[bucket]]

    def sum(self, bucket, wanted):
        rows = [c for c in self.counts[bucket] if wanted(c[0])]
        return [sum(c[1] for c in rows), sum(c[2] for c in rows)]

    def row(self, bucket):
        known = self.sum(bucket, lambda index: index <= self.published)
        waiting = [0] * (2 * SLOTS)
        for index, allocs, frees in self.counts[bucket]:
            if index > self.published:
                waiting[index % SLOTS * 2] += allocs
                waiting[index % SLOTS * 2 + 1] += frees
        return known * 2 + waiting

    def keep(self, text, word, task):
        heap = [b for b in self.buckets if b[0] == 'heap']
        shown = [[self.buckets.index(b)] + self.sum(
            b, lambda index: index <= self.published) for b in heap]
        for row in shown:
            listed = word == 'snapshot-all' or row[1] != row[2]
            row[1:] = (row[1:] if listed else [None, None]) + row[1:]
        self.states.append({
            'line': len(self.lines), 'text': text, 'ticks': self.ticks,
            'column': None if word.startswith('gc-') else task % self.procs,
            'phase': 'sweeping' if self.phase == 'idle' and self.dead
                     else self.phase,
            'cycle': self.n, 'in_use': self.in_use,
            'published': sum((r[1] - r[2]) * b[2] for b in heap for r in
                             [[0] + self.row(b)]),
            'rows': {i: self.row(b) for i, b in enumerate(self.buckets)},
            'snapshot': shown if word.startswith('snapshot') else None,
            'all': word == 'snapshot-all'})

    def spoil(self):
        """An expectation that is not met, behind one of the readings."""
        reads = [i for i, s in enumerate(self.states) if s['snapshot']]
        if not reads:
            return
        self.spoiled = self.rng.choice(reads)
        self.lines.insert(self.states[self.spoiled]['line'],
                          '  expect count 4000000')
        for state in self.states[self.spoiled + 1:]:
            state['line'] += 1


def same(what, said, wanted):
    if said != wanted:
        raise AssertionError(f'{what}: {said}, not {wanted}')


def check_page(world, page):
    last = len(world.states) if world.spoiled is None else world.spoiled + 1
    same('events', [page['events_count'], len(page['events'])],
         [len(world.states), last])
    same('columns', page['columns'], [f'p{p}' for p in range(world.procs)])
    rows, buckets = {}, []
    for i, (event, state) in enumerate(zip(page['events'], world.states)):
        where = f'event {i + 1}, {state["text"]}'
        for key in ('line', 'text', 'ticks', 'phase'):
            same(f'{where}: {key}', event[key], state[key])
        same(f'{where}: column', event.get('column'), state['column'])
        same(f'{where}: cycle', event['cycle'] - page['events'][0]['cycle'],
             state['cycle'] - world.states[0]['cycle'])
        new = event.get('buckets', [])
        buckets += [(b['kind'], b['stack'], b['size']) for b in new]
        for number, *row in event['rows']:
            if rows.get(number) == row:
                raise AssertionError(f'{where}: row {number} has not changed')
            rows[number] = row
        same(f'{where}: rows', rows, state['rows'])
        said = event.get('snapshot')
        same(f'{where}: snapshot', said and said['rows'], state['snapshot'])
        if said:
            same(f'{where}: which', [said['all'], said['status']],
                 [state['all'], 'ok'])
    same('buckets', buckets, world.buckets[:len(buckets)])
    if world.spoiled is None:
        same('broken', page['broken'], None)
    else:
        same('broken', page['broken']['event'], last)


def bar(value, most, mark):
    return mark * int(value / most * CHARS + 0.5) if most else ''


def check_plot(world, said):
    """The table below the events: at most 20 lines, the last is the end."""
    states = world.states
    most = max(max(s['in_use'], s['published']) for s in states)
    found = re.findall(r'^ *(\d+) +(\d+) +(-?\d+)(?:  (#+))?(?:\n +(=+))?$',
                       said, re.M)
    wanted = []
    step = (len(states) + LINES - 1) // LINES
    for i in range(step - 1, len(states) + step - 1, step):
        at = min(i, len(states) - 1)
        s = states[at]
        wanted.append((str(at + 1), str(s['in_use']), str(s['published']),
                       bar(s['in_use'], most, '#'),
                       bar(s['published'], most, '=')))
    same('plot', found, wanted if most > 0 else [])


def main(profsim, folder, many):
    for seed in range(int(many)):
        world = World(seed)
        path, data = f'{folder}/{seed}.sim', f'{folder}/{seed}.json'
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(world.lines) + '\n')
        said = subprocess.run([profsim, 'explain', path, '--data', data],
                              stdout=subprocess.PIPE, check=False, text=True)
        with open(data, encoding='utf-8') as file:
            page = json.load(file)
        try:
            check_page(world, page)
            check_plot(world, said.stdout)
            same('exit code', said.returncode, 0)
            if seed % 4 == 0:
                said = subprocess.run([profsim, 'run', path], check=False,
                                      stdout=subprocess.DEVNULL)
                same('exit code of run', said.returncode,
                     0 if world.spoiled is None else 2)
        except AssertionError as why:
            sys.exit(f'scenario {path}: {why}')


main(*sys.argv[1:])
