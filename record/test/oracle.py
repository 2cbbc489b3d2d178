"""What `profsim show` and `profsim diff` must show of a recording, from docs/recording.md,
docs/profiles.md and docs/pages.md. Other scripts import it.
"""
import collections
import functools
import math
import operator
import os
import re

from recording import (ALLOC, FREE, PLUMBING, RELEASE, RESIZE, SEMAPHORE, WAIT,
                       read_profile)

SIZE = operator.attrgetter('size')
MEASURES = ('peak', 'exit', 'allocs')
TITLES = ('in use at the peak', 'never freed', 'allocated in all')
SPANS, BINS, SITES, RATE, NARROW, CALLS, LOCKS = 32, 300, 11, 524288, 2000, 24, 50


def same(what, found, wanted):
    if found == wanted:
        return
    if isinstance(found, dict):
        found, wanted = ({k: v for k, v in one.items() if other.get(k) != v}
                         for one, other in ((found, wanted), (wanted, found)))
    raise AssertionError(f'{what}: {found!r:.500}, not {wanted!r:.500}')


@functools.cache
def escaped(name):
    table = {'\n': '\\n', '\t': '\\t', '\r': '\\r'}
    return ''.join(table.get(c, c if c.isprintable() else ''.join(
        f'\\x{b:02x}' for b in c.encode(errors='surrogateescape'))) for c in name)


def short(name):
    """A name in a table: at most 64 bytes."""
    data = name.encode(errors='surrogateescape')
    if len(data) > 64:
        return escaped(data[:61].decode(errors='ignore')) + '...'
    return escaped(name)


class Walk:
    """The heap after each event: `in_use` is what is allocated and not freed."""

    def __init__(self, rec):
        self.rec, self.in_use, self.bytes = rec, {}, 0

    def __iter__(self):
        for index, event in enumerate(self.rec.events):
            gone = None
            if event.kind in (FREE, RESIZE):
                gone = self.in_use.pop(event.what)
                self.bytes -= gone.size
            if event.kind in (ALLOC, RESIZE):
                self.in_use[event.what] = event
                self.bytes += event.size
            yield index, event, gone


class Heap:
    """peak, exit and allocs are lists of the allocations and resizes that count."""

    def __init__(self, rec):
        self.rec, self.allocs, self.freed = rec, [], []
        self.peak_index, most, walk = None, -1, Walk(rec)
        for index, event, gone in walk:
            if gone is not None:
                self.freed.append((event.thread, gone.size))
            if event.kind in (ALLOC, RESIZE):
                self.allocs.append(event)
                if walk.bytes > most:
                    most, self.peak_index = walk.bytes, index
        self.exit, self.peak, self.before_peak = list(walk.in_use.values()), [], []
        walk = Walk(rec)
        for index, event, _ in walk:
            if event.kind in (ALLOC, RESIZE):
                self.before_peak.append(event)
            if index == self.peak_index:
                self.peak = list(walk.in_use.values())
                break
        self.peak_ticks = 0
        if self.peak_index is None:
            self.before_peak = []
        else:
            self.peak_ticks = rec.events[self.peak_index].ticks
        self.duration = rec.events[-1].ticks if rec.events else 0

    def of(self, measure):
        return getattr(self, measure)


def count(items):
    return [sum(e.size for e in items), len(items)]


def grouped(items, key):
    """[bytes, objects] of each group"""
    sums = collections.defaultdict(lambda: [0, 0])
    for item in items:
        sums[key(item)][0] += item.size
        sums[key(item)][1] += 1
    return sums


def plural(number, word):
    return f'{number} {word}' + ('' if number == 1 else 's')


# ---- the summary ----

def rounded(size):
    units = ['KiB', 'MiB', 'GiB', 'TiB']
    if size < 1024:
        return ''
    value = size / 1024
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f' ({value:.1f} {units[0]})'


def counted(what, items):
    size, objects = count(items)
    return f'{what:13} {size} bytes{rounded(size)} in {plural(objects, "object")}'


def head(path, heap):
    rec, freed = heap.rec, len(heap.allocs) - len(heap.exit)
    words = [escaped(a) for a in rec.arguments]
    yield f'{escaped(path)}: ' + ' '.join(words[:8]) + ' ...' * (len(words) > 8)
    yield (f'process {rec.process}, {plural(len(rec.threads), "thread")}, '
           f'{heap.duration / rec.rate:.3f} s, '
           f'{plural(len(rec.events), "recorded event")}')
    yield ''
    yield counted('peak', heap.peak) + f', at {heap.peak_ticks / rec.rate:.3f} s'
    yield counted('at exit', heap.exit) + ' never freed'
    yield counted('allocated', heap.allocs) + f'; {freed} of them freed'
    usable = [e.usable for e in heap.peak]
    if heap.allocs and None not in [e.usable for e in heap.allocs]:
        more = 100 * (sum(usable) / count(heap.peak)[0] - 1)
        yield (f'{"usable":13} {sum(usable)} bytes{rounded(sum(usable))} at the peak, by '
               f'malloc_usable_size(): {more:.1f} % more than was asked for')
    if rec.totals()[2] > 0:
        yield f'{"waits":13} {rec.totals()[2]}, for locks'
    for lost in rec.dropped[:8]:
        if lost > 0:
            yield f'{"not recorded":13} {lost}'
    if not any(rec.dropped[:8]):
        yield f'{"not recorded":13} nothing'


def site_text(rec, stack):
    calls = rec.stack_calls[stack]
    shown = [short(c.name) + (
        f' ({escaped(os.path.basename(c.file))}:{c.line})' if c.line else '')
             for c in calls if c.symbol not in PLUMBING][:4]
    return ' < '.join(shown) or (short(calls[0].name) if calls else '(no stack)')


def sites(heap, measure, top):
    items = heap.of(measure)
    sums = sorted(grouped(items, lambda e: e.stack).items(),
                  key=lambda site: (-site[1][0], -site[1][1], site[0]))
    if not sums:
        return
    yield ''
    yield (f'{TITLES[MEASURES.index(measure)]}, by site '
           f'({min(top, len(sums))} of {len(sums)})')
    yield f'{"bytes":>14} {"objects":>10}'
    total = count(items)[0]
    for stack, (size, objects) in sums[:top]:
        share = 100 * size / total if total else 0
        yield (f'{size:14} {objects:10} {share:5.1f} %  ' + site_text(heap.rec, stack))


def over_time(heap):
    yield from ('', 'over time', f'{"until s":>10} {"most bytes":>14} {"at its end":>14} '
                f'{"allocated":>14} {"objects":>10}')
    length = heap.duration // SPANS + 1
    spans = [[0, 0, 0, 0] for _ in range(heap.duration // length + 1)]
    walk, last, before = Walk(heap.rec), 0, 0
    for _, event, _ in walk:
        while last < event.ticks // length:
            last += 1
            spans[last][:2] = before, before
        span, before = spans[last], walk.bytes
        span[:2] = max(span[0], walk.bytes), walk.bytes
        if event.kind in (ALLOC, RESIZE):
            span[2] += event.size
            span[3] += 1
    most = count(heap.peak)[0]
    for i, (top, end, size, objects) in enumerate(spans):
        until = min((i + 1) * length, heap.duration) / heap.rec.rate
        yield (f'{until:10.3f} {top:14} {end:14} {size:14} {objects:10}  ' +
               '#' * int(20 * (top / most) if most else 0))


def threads(heap, top):
    rec = heap.rec
    yield from ('', 'by thread' + ', the first ones' * (len(rec.threads) > top),
                f'{"thread":>10} {"at the peak":>14} {"never freed":>14} {"allocated":>14} '
                f'{"objects":>10} {"freed by it":>14}')
    sums = [grouped(heap.of(m), lambda e: e.thread) for m in MEASURES]
    for i, (thread, name) in list(enumerate(rec.threads))[:top]:
        freed = sum(size for by, size in heap.freed if by == i)
        yield (f'{thread:10} {sums[0][i][0]:14} {sums[1][i][0]:14} {sums[2][i][0]:14} '
               f'{sums[2][i][1]:10} {freed:14}  {escaped(name)}')


def sizes(heap):
    yield from ('', 'by size', f'{"bytes an object":>21} {"at the peak":>14} '
                f'{"never freed":>14} {"allocated":>14} {"objects":>10}')
    sums = [grouped(heap.of(m), lambda e: e.size.bit_length()) for m in MEASURES]
    for bits in sorted(sums[2]):
        least, last = (1 << bits) // 2, (1 << bits) - 1
        yield (f'{least:10}-{last:10} {sums[0][bits][0]:14} {sums[1][bits][0]:14} '
               f'{sums[2][bits][0]:14} {sums[2][bits][1]:10}')


def summary(path, heap, top=10, only=MEASURES):
    """All lines of `profsim show`. Of a loss only the number: see check_summary()."""
    yield from head(path, heap)
    for measure in only:
        yield from sites(heap, measure, top)
    yield from over_time(heap)
    yield from threads(heap, top)
    yield from sizes(heap)


def check_summary(out, path, heap, **options):
    found = re.sub(r'(?m)^(not recorded +\d+) \w.*$', r'\1', out).split('\n')[:-1]
    for line, wanted in zip(found, summary(path, heap, **options)):
        same('line', line, wanted)
    same('lines', len(found), len(list(summary(path, heap, **options))))


# ---- stacks as paths of names ----

@functools.cache
def path_of(rec, stack):
    """Root first, without malloc and its relatives at the leaf."""
    calls = rec.stack_calls[stack]
    leaf = 0
    while leaf + 1 < len(calls) and calls[leaf].symbol in PLUMBING:
        leaf += 1
    return tuple(c.name for c in reversed(calls[leaf:])) or ('(no stack)',)


@functools.cache
def paths(heap, measure):
    return dict(grouped(heap.of(measure), lambda e: path_of(heap.rec, e.stack)))


def folded(heap, measure):
    return sorted(';'.join(escaped(n).replace(';', ':') for n in path) + f' {size}'
                  for path, (size, _) in paths(heap, measure).items() if size)


@functools.cache
def tree(heap):
    """Totals of each node: bytes and objects of the three measures."""
    nodes = collections.defaultdict(lambda: [0] * 6)
    for m, measure in enumerate(MEASURES):
        for path, sums in paths(heap, measure).items():
            for end in range(len(path) + 1):
                nodes[path[:end]][2 * m] += sums[0]
                nodes[path[:end]][2 * m + 1] += sums[1]
    return nodes


def check_graphs(folder, heap):
    with open(folder + '/peak.folded', encoding='utf-8') as file:
        same('folded', sorted(file.read().split('\n')[:-1]), folded(heap, 'peak'))


# ---- profiles ----

def releases(rec):
    """(stack, ticks) that each release is charged: see "Waits" in docs/recording.md."""
    charged, waiting = [], collections.defaultdict(list)
    for event in rec.events:
        if event.kind == RELEASE:
            waiting[event.what].append(event)
        elif event.kind in (WAIT, SEMAPHORE):
            start, mine = event.ticks - event.size, waiting[event.what]
            spanned = [r for r in mine if r.ticks >= start]
            waiting[event.what] = [r for r in mine if r.ticks < start]
            charged += [(r.stack, r.ticks - since) for r, since in
                        zip(spanned, [start] + [r.ticks for r in spanned])]
    return charged


def sums_of(rows):
    sums = collections.defaultdict(lambda: [0, 0])
    for key, one, other in rows:
        sums[key][0] += one
        sums[key][1] += other
    return sums


def profile(path):
    """Types, and the sums of values by names, leaf first."""
    types, samples = read_profile(path)
    sums = collections.defaultdict(lambda: [0] * len(types))
    for values, names in samples:
        for i, value in enumerate(values):
            sums[tuple(names)][i] += value
    return types, {names: v for names, v in sums.items() if any(v)}


def names_of(rec, stack):
    return tuple(c.name for c in rec.stack_calls[stack]) or ('(no stack)',)


def check_profiles(folder, heap):
    rec = heap.rec
    def by(names, items):
        return grouped(items, lambda e: names(rec, e.stack))
    table = symbols(folder + '/heap.symbolized')
    for name, allocs, inuse in (
            ('heap', heap.allocs, heap.peak), ('allocs', heap.allocs, heap.peak),
            ('peak', heap.before_peak, heap.peak), ('exit', heap.allocs, heap.exit)):
        # A sample of profile.proto says how large its objects are; of size 0 there is
        # none. The text is by stack.
        wanted = [{key: sums[::-1] + inuse_of[key][::-1] for key, sums in allocs_of.items()}
                  for allocs_of, inuse_of in (
                      (by(path_of, filter(SIZE, allocs)), by(path_of, filter(SIZE, inuse))),
                      (by(names_of, allocs), by(names_of, inuse)))]
        types, found = profile(f'{folder}/{name}.pb.gz')
        same(name, types, [('alloc_objects', 'count'), ('alloc_space', 'bytes'),
                           ('inuse_objects', 'count'), ('inuse_space', 'bytes')])
        same(name, {names[::-1]: v for names, v in found.items()}, wanted[0])
        same(name + '.txt', heap_text(f'{folder}/{name}.txt', table),
             {tuple(map(escaped, names)): sums for names, sums in wanted[1].items()})
    same('symbolized', heap_text(folder + '/heap.symbolized', table),
         heap_text(folder + '/heap.txt', table))
    waits = [(names_of(rec, e.stack), 1, max(e.size, 1)) for e in rec.events
             if e.kind in (WAIT, SEMAPHORE)]
    held = [(names_of(rec, stack), 1, ticks) for stack, ticks in releases(rec)]
    for name, rows in (('block', waits), ('mutex', held)):
        types, found = profile(f'{folder}/{name}.pb.gz')
        same(name, types, [('contentions', 'count'), ('delay', 'nanoseconds')])
        same(name, found, {key: [n, ticks * 10 ** 9 // rec.rate]
                           for key, (n, ticks) in sums_of(rows).items()})
        with open(f'{folder}/{name}.txt', encoding='utf-8') as file:
            rows_found = re.findall(r'(?m)^(\d+) (\d+) @', file.read())
        same(name + '.txt', sorted(sum(column) for column in zip(
            *[(int(n), int(t)) for t, n in rows_found])),
             sorted(sum(column) for column in zip(*[row[1:] for row in rows])))


def symbols(path):
    """Names by address, for readers of the text."""
    with open(path, encoding='utf-8') as file:
        lines = file.read().split('---\n')[0].split('\n')[2:-1]
    same('addresses', len({line.split(' ')[0] for line in lines}), len(lines))
    return {int(line[:18], 16): line[19:] for line in lines} | {1: '(no stack)'}


def heap_text(path, table):
    with open(path, encoding='utf-8') as file:
        text = file.read().split('---\n')[-1].split('\n')[:-1]
    rows, sums = [re.match(r'(?:heap profile: )?(\d+): (\d+) \[(\d+): (\d+)\] @ ?(.*)',
                           line).groups() for line in text], {}
    for inuse, inuse_bytes, allocs, allocs_bytes, pcs in rows[1:]:
        names = tuple(table[int(pc, 16)] for pc in pcs.split())
        old = sums.setdefault(names, [0] * 4)
        new = [int(v) for v in (allocs, allocs_bytes, inuse, inuse_bytes)]
        sums[names] = [a + b for a, b in zip(old, new)]
    total = [sum(column) for column in zip(*sums.values())] or [0] * 4
    total[1] += total[1] == total[3] # else readers take the second for missing
    same('head', [rows[0][4]] + [int(rows[0][i]) for i in (2, 3, 0, 1)],
         ['heapprofile'] + total)
    return sums


# ---- the difference of two ----

def check_diff(out, old, new, measure):
    """All sites; those that grew come first."""
    before, after = paths(old, measure), paths(new, measure)
    def row(was, now, what):
        return (f'{now[0] - was[0]:+15} {now[1] - was[1]:+10} {was[0]:15} {now[0]:15}  '
                + what)
    wanted = [row(count(old.of(measure)), count(new.of(measure)), 'in all')]
    for path in before.keys() | after.keys():
        was, now = before.get(path, [0, 0]), after.get(path, [0, 0])
        if was != now:
            wanted.append(row(was, now, ' < '.join(short(n) for n in path[:-5:-1])))
    lines = out.split('\n')
    same('title', lines[:3], [TITLES[MEASURES.index(measure)] + (
        ' of each run' if measure == 'peak' else ''), '',
                              f'{"bytes":>15} {"objects":>10} {"before":>15} '
                              f'{"after":>15}'])
    if len(wanted) == 1:
        wanted.append('no site changed')
    same('rows', sorted(lines[3:-1]), sorted(wanted))
    growth = [int(line.split()[0]) for line in lines[4:-1] if line[0] == ' ']
    same('order', growth, sorted(growth, reverse=True))


# ---- the page ----

def variance(size):
    chance = -math.expm1(-size / RATE)
    return size * size * (1 - chance) / chance if size > 0 else 0


def in_json(name):
    """JSON can say where lines end."""
    return '\n'.join(map(escaped, name.split('\n')))


class Page:
    """The numbers of `--data` (docs/pages.md)."""

    def __init__(self, data, heap):
        self.data, self.heap, self.rec = data, heap, heap.rec
        self.site = [self.site_of(i) for i in range(len(self.rec.stacks))]
        self.most = collections.Counter() # the most bytes of a site at one time
        now = collections.Counter()
        for _, event, gone in Walk(self.rec):
            if gone is not None:
                now[self.site[gone.stack]] -= gone.size
            if event.kind in (ALLOC, RESIZE):
                site = self.site[event.stack]
                now[site] += event.size
                self.most[site] = max(self.most[site], now[site])
        self.check_head()
        self.check_bins(self.check_sites())
        self.check_tree()
        self.check_locks()
        self.check_threads()

    def site_of(self, stack):
        return in_json(path_of(self.rec, stack)[-1])

    def shown(self, stack):
        calls = self.rec.stack_calls[stack]
        return [[in_json(c.name), os.path.basename(c.file or c.module)] + [c.line] * (c.line > 0)
                for i, c in enumerate(calls)
                if c.symbol not in PLUMBING or i + 1 == len(calls)][:CALLS]

    def counts(self, where, chosen=lambda item: True):
        for measure in MEASURES:
            same(measure, where[measure],
                 count([e for e in self.heap.of(measure) if chosen(e)]))

    def check_head(self):
        data, rec = self.data, self.rec
        same('head', [data['arguments'], data['ticks_per_second'], data['peak_ticks'],
                      data['events'], data['lost'], data['duration_ticks']],
             [list(map(in_json, rec.arguments)), rec.rate, self.heap.peak_ticks, len(rec.events),
              sum(rec.dropped[:8]), self.heap.duration])
        self.counts(data)

    def check_sites(self):
        names = []
        for site in self.data['sites']:
            name = site['stack'][0][0] if site['stack'] else '(no stack)'
            names.append(name)
            stacks = {e.stack for e in self.heap.allocs if self.site[e.stack] == name}
            same('stacks', site['stacks'], len(stacks))
            self.counts(site, lambda e, stacks=stacks: e.stack in stacks)
            peak = grouped(self.heap.peak, lambda e: e.stack)
            all_of = grouped(self.heap.allocs, lambda e: e.stack)
            weight = {s: peak[s][0] or all_of[s][0] // 1024 for s in stacks}
            if site['stack'] not in [self.shown(s) for s in stacks
                                     if weight[s] == max(weight.values())]:
                raise AssertionError(f'stack of {name}: {site["stack"]}')
        same('sites', [self.most[name] for name in names],
             sorted((m for m in self.most.values() if m > 0), reverse=True)[:SITES])
        return names

    def check_bins(self, names):
        place = {name: i for i, name in enumerate(names)}
        now, sigma = [0] * (len(names) + 1), 0 # in units of 1/1024
        bins, allocs, most = [None] * BINS, [0] * BINS, 0
        bins[0], last, walk = (list(now), 0), 0, Walk(self.rec)

        def move_to(ticks):
            nonlocal last, most
            while last < int(ticks / (self.heap.duration + 1) * BINS):
                last += 1
                bins[last], most = (list(now), sigma), sum(now)
        for _, event, gone in walk:
            move_to(event.ticks)
            for item, sign in ((gone, -1), (event, 1)):
                if item is not None and item.kind in (ALLOC, RESIZE):
                    now[place.get(self.site[item.stack], -1)] += sign * item.size
                    sigma += sign * int(variance(item.size) * 1024)
            allocs[last] += event.kind in (ALLOC, RESIZE)
            if walk.bytes > most:
                bins[last], most = (list(now), sigma), walk.bytes
        move_to(self.heap.duration)
        for i, (found, wanted) in enumerate(zip(self.data['bins'], bins, strict=True)):
            sizes_of, square = wanted or ([0] * len(now), 0)
            same(f'bin {i}', found[:-2] + found[-1:], sizes_of + [allocs[i]])
            sigma_of = math.sqrt(square / 1024)
            if abs(found[-2] - sigma_of) > 1 + sigma_of / 1e6:
                raise AssertionError(f'bin {i}: {found[-2]}, not {sigma_of}')

    def check_tree(self):
        wanted, rows = tree(self.heap), self.data['tree']
        root = wanted[()]
        wanted = {tuple(map(in_json, path)): node for path, node in wanted.items()
                  if path == () or any(
            node[m] > 0 and node[m] >= root[m] // NARROW for m in (0, 2, 4))}
        where, found = [()], {(): rows[0][2:]}
        for name, parent, *node in rows[1:]:
            where.append(where[parent] + (self.data['names'][name],))
            same('twice', where[-1] in found, False)
            found[where[-1]] = node
        same('tree', found, wanted)

    def check_locks(self):
        data, locks = self.data, collections.defaultdict(list)
        for event in self.rec.events:
            if event.kind in (WAIT, SEMAPHORE):
                locks[event.what].append(event)
        same('locks', data['locks_count'], len(locks))
        order = sorted(locks, key=lambda n: (-sum(w.size for w in locks[n]),
                                             -len(locks[n]), n))[:LOCKS]
        for lock, key in zip(data['locks'], order, strict=True):
            longest = max(w.size for w in locks[key])
            same('lock', [lock['lock'], lock['waits'], lock['ticks'], lock['longest']],
                 [key, len(locks[key]), sum(w.size for w in locks[key]), longest])
            if lock['stack'] not in [self.shown(w.stack) for w in locks[key]
                                     if w.size == longest]:
                raise AssertionError(f'stack of lock {key}')

    def check_threads(self):
        same('threads', self.data['threads_count'], len(self.rec.threads))
        for i, thread in enumerate(self.data['threads']):
            number, name = self.rec.threads[i]
            same('thread', [thread['thread'], thread['name']], [number, in_json(name)])
            self.counts(thread, lambda e, i=i: e.thread == i)
            freed = [size for by, size in self.heap.freed if by == i]
            same('freed', thread['freed'], [sum(freed), len(freed)])
