#!/usr/bin/env python3
"""Names and lines in recordings, against addr2line and nm: with DWARF of each version,
with symbols only, with debug information beside the program, and with nothing.

usage: test_names.py PROFSIM
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from oracle import same
from recording import read

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'named.cc')
BUILDS = [('g++', '-g', '-O1'), ('g++', '-g', '-O2', '-no-pie'),
          ('g++', '-gdwarf-4', '-O2'), ('clang++', '-gdwarf-4', '-O1'),
          ('clang++', '-gdwarf-4', '-O2', '-ffunction-sections')]


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, encoding='utf-8').stdout


class Case:
    """A program, its recording, and the same program with all that debuggers need."""

    def __init__(self, profsim, build, command='./named', strip=()):
        run(*build, '-o', 'full', SOURCE)
        shutil.copy('full', 'named')
        for words in strip:
            run(*words)
        run(profsim, 'record', '-o', 'x.rec', '--', *command.split(' '))
        recordings = [read(path) for path in sorted(glob.glob('x.rec*'))]
        self.rec, = [rec for rec in recordings if rec.arguments == ['./named']]
        load = re.search(r'LOAD +(\w+) (\w+) \w+ \w+ \w+ R E', run('readelf', '-lW', 'full'))
        self.shift = int(load[2], 16) - int(load[1], 16)

    def frames(self):
        """(address, names and lines from the innermost, offset in the function) of each
        call in the program."""
        found = {}
        for frame in self.rec.frames:
            start, _, offset, path, _ = self.rec.modules[frame.module - 1]
            if frame.module > 0 and path.endswith('/named'):
                at = found.setdefault(frame.pc, (frame.pc - start + offset + self.shift, []))
                at[1].append((frame.function, os.path.basename(frame.file), frame.line,
                              frame.offset))
        found = list(found.values())
        if len(found) < 7:
            raise AssertionError(f'{len(found)} calls in the program')
        return found

    def lines(self):
        """What addr2line says of the call before each return address."""
        frames = self.frames()
        out = run('addr2line', '-afie', 'full', *(hex(at - 1) for at, _ in frames))
        for (_, got), text in zip(frames, re.split(r'(?m)^0x.*\n', out)[1:], strict=True):
            names = text.split('\n')[:-1]
            places = [re.match(r'(?:.*/)?([^/:]*):(\d+|\?)', line).groups()
                      for line in names[1::2]]
            found = [(name, file, int(line)) for name, (file, line)
                     in zip(names[::2], places) if line not in '?0']
            # In C++, addr2line takes the outermost's name for the innermost, and leaves
            # out that of a static function's arguments: that one is in symbols().
            if found:
                name = got[0][0] if 'innermost' in got[0][0] else 'innermost'
                found[0] = (name,) + found[0][1:]
                found[-1] = (got[-1][0],) + found[-1][1:]
            yield got, found

    def symbols(self):
        """The function around each return address: its name, and the offset in it."""
        table = [line.split() for line in run('nm', '-S', 'full').split('\n')]
        table = [(int(row[0], 16), int(row[1], 16), row[3]) for row in table if len(row) == 4]
        for at, got in self.frames():
            found = [(name, at - start, start) for start, size, name in table
                     if start < at <= start + size]
            if found:
                yield got, found[0]


def test_lines_are_those_of_addr2line(profsim):
    for build in BUILDS:
        case, inlined = Case(profsim, build), 0
        for got, wanted in case.lines():
            if wanted: # not in the C library's start files
                same(build, [row[:3] for row in got], wanted)
                inlined = max(inlined, len(wanted))
        same('inlined', inlined, 3)
        for got, (name, offset, _) in case.symbols():
            same(build, (got[-1][0], got[-1][3]), (name, offset))


def test_calls_inlined_by_clang_in_dwarf_5(profsim):
    """addr2line knows only some of them."""
    found = {tuple(re.search('innermost|between|exported|internal|thing|main', row[0])[0]
                   for row in got)
             for _, got in Case(profsim, ('clang++', '-g', '-O1')).frames()
             if 'start' not in got[0][0]}
    same('calls', found, {('innermost', 'between', 'exported'), ('exported',), ('main',),
                          ('innermost', 'internal'), ('innermost', 'thing'),
                          ('innermost', 'main')})


def test_symbols_alone_give_names_and_no_lines(profsim):
    case = Case(profsim, BUILDS[0], strip=[('strip', '-g', 'named')])
    for got, (name, offset, _) in case.symbols():
        same('name', got, [(name, '', 0, offset)])


def test_a_symbol_that_does_not_cover_the_call_is_no_name(profsim):
    """Exported functions keep their names; others are called by where they begin."""
    case = Case(profsim, (*BUILDS[0], '-rdynamic'), strip=[('strip', 'named')])
    exported, dynamic = 0, run('nm', '-D', 'named')
    for got, (name, offset, start) in case.symbols():
        is_exported = f' {name}\n' in dynamic
        exported += is_exported
        if not is_exported:
            name = f'named+{start - case.shift:#x}'
        same('name', got, [(name, '', 0, offset)])
    if not 0 < exported < len(case.frames()):
        raise AssertionError(f'{exported} exported functions')


def test_debug_information_may_lie_beside_the_program(profsim):
    case = Case(profsim, BUILDS[0], strip=[
        ('objcopy', '--only-keep-debug', 'named', 'named.debug'),
        ('strip', 'named'), ('objcopy', '--add-gnu-debuglink=named.debug', 'named')])
    for got, wanted in case.lines():
        if wanted:
            same('line', [row[:3] for row in got], wanted)


def test_a_program_replaced_since_lends_no_names(profsim):
    run('g++', '-O0', '-o', 'other', SOURCE)
    with open('both', 'w', encoding='utf-8') as file:
        file.write('./named; mv other named')
    case = Case(profsim, BUILDS[0], 'sh both')
    for _, got in case.frames():
        same('name', re.sub(r'0x\w+', '', got[0][0]), 'named+')


def test_depth_keeps_what_is_next_to_the_leaf(profsim):
    case, stacks = Case(profsim, BUILDS[0]), []
    run(profsim, 'record', '--depth', '2', '-o', 'y.rec', '--', './named')
    for rec in case.rec, read('y.rec'):
        stacks.append([[rec.frames[f].function for f in rec.stacks[e.stack][:2]]
                       for e in rec.events if e.stack is not None])
    same('depth', [len(s) for s in rec.stacks if len(s) > 2], [])
    same('stacks', stacks[1], stacks[0])


def main(profsim):
    tests = [test for name, test in globals().items() if name.startswith('test_')]
    failed, profsim = 0, os.path.realpath(profsim)
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test(profsim)
            except AssertionError as why:
                print(f'FAILED: {test.__name__}: {why}')
                failed += 1
            os.chdir('/')
    print(f'names: {len(tests) - failed} passed, {failed} failed')
    sys.exit(failed > 0)


main(*sys.argv[1:])
