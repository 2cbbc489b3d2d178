#!/usr/bin/env python3
"""`profsim top` and `profsim dump` on what a process answers: here this process, which
sends profiles drawn at random, and answers that are none.

usage: test_answers.py PROFSIM
"""
import collections
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from oracle import same
from recording import read_profile, text, varint, varints

VALUES = ('alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space')


def field(number, value):
    if isinstance(value, int):
        return varints(number << 3, value % 2 ** 64)
    return varint(number << 3 | 2) + text(value)


class Profile:
    """Named locations, of which some hold inlined calls; packed values or not. Fields come
    in any order, and ids have gaps."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.rate, strings = rng.choice((0, 1, 512, 524288)), ['']
        def string(word):
            if word not in strings:
                strings.append(word)
            return strings.index(word)
        parts = [field(1, field(1, string(name)) + field(2, string(unit))) for name, unit
                 in zip(VALUES, ('count', 'bytes') * 2)] + [field(12, self.rate)]
        names = [f'f{i}' for i in range(5)] + ['two\nlines', 'a;b']
        parts += [field(5, field(1, 7 * i + 3) + field(2, string(name)) +
                        field(4, string('/src/a.c'))) for i, name in enumerate(names)]
        places = []
        for i in range(9):
            calls = [(rng.randrange(len(names)), rng.choice((0, i + 1)))
                     for _ in range(rng.choice((1, 1, 2)))]
            places.append(calls)
            parts.append(field(4, field(1, i + 1) + field(3, 0x1000 * i) + b''.join(
                field(4, field(1, 7 * n + 3) + field(2, line)) for n, line in calls)))
        self.samples = []
        for _ in range(rng.choice((1, 9, 40))):
            stack = [rng.randrange(9) for _ in range(rng.randrange(1, 7))]
            objects, size = rng.randrange(1, 99), rng.choice((1, 1000, 10 ** 7))
            in_use = rng.choice((0, objects, objects // 2))
            values = [objects, objects * size, in_use, in_use * size]
            self.samples.append((stack, values))
            ids = [place + 1 for place in stack]
            parts.append(self.sample(rng, ids, values))
        rng.shuffle(parts)
        types = [part for part in parts if part[0] >> 3 == 1]
        types.sort(key=lambda part: part[3]) # the values are in the order of their types
        rest = [part for part in parts if part[0] >> 3 != 1]
        self.bytes = b''.join(types + rest + [field(6, word) for word in strings])
        self.names, self.places = names, places

    @staticmethod
    def sample(rng, ids, values):
        def repeated(number, items):
            return field(number, varints(*items)) if rng.random() < 0.5 else b''.join(
                field(number, item) for item in items)
        return field(2, repeated(1, ids) + repeated(2, values))

    def frame(self, place):
        """A location is shown as the innermost of its calls."""
        number, line = self.places[place][0]
        name = self.names[number].replace('\n', '\\n')
        return name + (f' (a.c:{line})' if line else '')

    def top(self, value):
        at = VALUES.index(value)
        sums = collections.Counter()
        for stack, values in self.samples:
            sums[tuple(stack)] += values[at]
        total = sum(sums.values())
        return total, sorted(
            f'{number:14} {100 * number / total:5.1f} %  ' +
            ' < '.join(self.frame(place) for place in stack[:4])
            for stack, number in sums.items() if number > 0)

    def error(self, value):
        """Two standard deviations (docs/profiling.md, "How accurate")."""
        at, square = VALUES.index(value) & 2, 0
        for _, values in self.samples:
            n, size = values[at], values[at + 1]
            if n > 0:
                q = math.exp(-size / n / self.rate)
                square += n * q / -math.expm1(-size / n / self.rate) * (
                    (size / n) ** 2 if 'space' in value else 1)
        return 2 * math.sqrt(square)


class Agent(threading.Thread):
    """Answers each request by `answers`: a text by kind, or one for all."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(f'\0profsim-profile-{os.getpid()}')
        self.socket.listen(9)
        self.answers, self.requests = b'', []

    def run(self):
        while True:
            client = self.socket.accept()[0]
            self.requests.append(client.recv(99))
            try:
                client.sendall(self.answers)
            except BrokenPipeError:
                pass
            client.close()


def run(*words):
    done = subprocess.run([*words, str(os.getpid())], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8', check=False)
    return done.returncode, done.stdout, done.stderr


def check_top(profsim, agent, profile, value):
    agent.answers = b'OK\n' + profile.bytes
    code, out, err = run(profsim, 'top', '--value', value, '-n', '1000')
    total, wanted = profile.top(value)
    same('exit', [code, err], [0, ''])
    first, *lines = out.split('\n')[:-1]
    same('lines', sorted(lines), wanted)
    sizes = [int(line.split()[0]) for line in lines]
    same('order', sizes, sorted(sizes, reverse=True))
    same('one line', run(profsim, 'top', '--value', value, '-n', '1')[1].split('\n')[1:-1],
         lines[:1])
    unit = 'bytes' if 'space' in value else 'count'
    same('total', first.startswith(f'{value}: {total} {unit}'), True)
    if profile.rate <= 1:
        same('error', first.endswith(', exact'), True)
    elif total == 0:
        most = math.log(20) * profile.rate
        same('error', first.split(', ')[1].split(' at a ')[0],
             f'no sample; at most {most:.0f} bytes (95 %)')
    else:
        off = profile.error(value)
        said = re.search(r'\+/- (\d+) \((\d+\.\d) %\)', first).groups()
        same('error', [abs(float(said[0]) - off) <= 0.51 + off / 1e9,
                       abs(float(said[1]) - 100 * off / total) < 0.06], [True, True])


def check_dump(profsim, agent, profile):
    agent.answers, agent.requests = b'OK\n' + profile.bytes, []
    same('dump', run(profsim, 'dump', '-o', 'x')[:2], (0, ''.join(
        f'x.{kind}.pb.gz\n' for kind in ('heap', 'allocs', 'mutex', 'block', 'cpu'))))
    same('requests', agent.requests, [b'heap\n', b'allocs\n', b'mutex\n', b'block\n', b'cpu\n'])
    found = [(values, names) for values, names in read_profile('x.heap.pb.gz')[1]]
    same('samples', found, [(values, [profile.names[n] for place in stack
                                      for n, _ in profile.places[place]])
                            for stack, values in profile.samples])


def check_damaged(profsim, agent):
    """Each is refused in one line, and none makes a file."""
    profile = Profile(3).bytes
    rows = [(b'', 'it answers something else'), (b'OK', 'it answers something else'),
            (b'ERROR ', 'it answers something else'), (b'ERROR no\nmore', ': no'),
            (b'OK\n', 'the profile could not be written'),
            (b'\0' * 9, 'it answers something else')]
    rows += [(b'OK\n' + profile[:length], '') for length in range(1, len(profile), 29)]
    rows += [(b'OK\n' + profile + tail, 'it is not a profile') for tail in (
        b'\x3a', field(4, field(1, 1)), field(2, field(1, 99) + field(2, varints(1, 2, 3, 4))),
        field(2, field(1, 1) + field(2, varints(1, 2, 3))), b'\x0b')]
    taken = 0
    for answer, reason in rows:
        agent.answers = answer
        code, out, err = run(profsim, 'top')
        if code == 0 and reason == '':
            taken += 1 # cut between two fields, a profile is a smaller profile
            continue
        same(repr(answer[-9:]), [code, out, err.count('\n'), reason in err],
             [1, '', 1, True])
    same('taken', taken < len(rows) // 2, True)
    same('dump', [run(profsim, 'dump', '-o', 'none')[0], os.listdir('.')], [1, []])


def main(profsim):
    profsim, failed = os.path.realpath(profsim), 0
    agent = Agent()
    agent.start()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            check_damaged(profsim, agent)
            for seed in range(12):
                check_top(profsim, agent, Profile(seed), VALUES[seed % 4])
            check_dump(profsim, agent, Profile(5))
        except AssertionError as why:
            print(f'FAILED: {why}')
            failed = 1
        os.chdir('/')
    print(f'answers: {14 - failed} passed, {failed} failed')
    sys.exit(failed)


main(*sys.argv[1:])
