#!/usr/bin/env python3
"""Mistakes written without a look at the tests: which part of `make check`
notices each.

    mistakes.py score FOLDER [--long] [NAME...]
                                 ask every test that a mistake touches, those
                                 first that are likely to see it, until one fails;
                                 FOLDER/caught.tsv gets its name, or "survives".
                                 A mistake that has a line there is not tried
                                 again; with --long, those that survived are
                                 tried by the tests that take longer than LONG_MS
    mistakes.py check [EVERY]    ask the tests that caught.tsv and seen.tsv name
                                 again, for one mistake in EVERY (1) of all
                                 folders; exit 1 if one of them passes now. A
                                 patch that no longer applies is named, and is
                                 not a failure

fixtures/mistakes/README.md says how the lists were written.
"""
import collections
import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
import mutants

FOLDERS = 'fixtures/mistakes'
LONG_MS = 12000
INCOMPLETE = 6 # exit code of `explore` if not all orderings were tried
# Those parts of gates.check that run the command.
GATES = ('explore-programs', 'explore-random', 'catalogue.some',
         'subject.some', 'command', 'shared', 'report', 'audit', 'ci', 'shards',
         'orderings', 'rows', 'corpus', 'pages', 'subject-explored')
WORK = 'out/mistakes'


def durations():
    """How long each target took when it was built last, in ms."""
    took = {}
    with open('out/.ninja_log', encoding='utf-8') as file:
        for line in file:
            part = line.rstrip('\n').split('\t')
            if len(part) == 5:
                took[part[3]] = int(part[1]) - int(part[0])
    return took


def hits():
    """How many mutants of each file of prof/ each test was the first to see."""
    found = collections.Counter()
    with open('reports/mutation.csv', encoding='utf-8') as file:
        for line in file:
            named = re.match(r'"(prof/\S+) .*,"(test_\w+) ', line)
            if named:
                found[named[1], named[2]] += 1
    return found


def judges(build):
    """The tests of `make check`, as gcc builds them, and how long each takes."""
    targets = [f'{mutants.OUT}/check', *[f'out/{name}.ok' for name in GATES]]
    asked = set(mutants.output_of('ninja', '-t', 'commands',
                                  *targets).split('\n'))
    took = durations()
    found = [edge for edge, command in build.command.items()
             if command in asked and edge.endswith('.ok')]
    return {edge: took.get(edge, LONG_MS + 1) for edge in found}


def in_order(mutant, edges, known):
    """Sort the tests: those that catch most of the file's mutants come first, those
    that need a product, into which everything is linked, last."""
    def rank(edge):
        seen = sum(known[file, os.path.basename(edge).removesuffix('.ok')]
                   for file in mutant.patch.files)
        command = mutant.build.command[edge]
        return (-seen, any(f'/{product}' in command
                           for product in mutants.PRODUCTS), edges[edge], edge)
    return sorted(edges, key=rank)


@functools.cache
def needs(build, test):
    """The targets without which the test is not run, though its command may not
    name them: `profsim explore` links a library that is beside it."""
    said = mutants.output_of('ninja', '-t', 'query', test).split('  outputs:')
    return [word for word in said[0].split() if word in build.command and
            word != test]


def touches(mutant, target, known):
    """Is any part of the target made from a file that the patch changes?"""
    if target not in known:
        known[target] = False
        build = mutant.build
        if build.source[target].endswith('.c') and mutant.is_touched(target):
            known[target] = True
        else:
            parts = build.inputs(target)
            if target.endswith('.ok'):
                parts += needs(build, target)
            for product in mutants.PRODUCTS:
                path = f'{mutants.OUT}/{product}'
                if target.endswith('.ok') and path in build.command[target]:
                    parts.append(path)
            known[target] = any([touches(mutant, part, known)
                                 for part in parts])
    return known[target]


def try_orderings(mutant):
    """Try some orderings of every kernel; if one fails, so does the whole search.

    returns: the kernel, and how it fails; or None"""
    log = f'{mutant.folder}/orderings.out'
    for how in (['--strategy', 'random'], ['--exhaustive']):
        status = mutants.timed(
            300, [mutant.make(f'{mutants.OUT}/props/explore_all'), *how,
                  '--runs', '3000'], log)
        failed = re.search(r'^(\S+) +\d+ runs? .*? s  '
                           r'(?!no failure|holds|not finished)(.*)',
                           mutants.text_of(log), re.M)
        if failed:
            return ('explore_all', f'test run:explore_all {failed[1]}: '
                                   f'{failed[2]}')
        if status not in (0, INCOMPLETE, None):
            return 'explore_all', f'test run:explore_all ends with {status}'
    return None


def caught_by(mutant, edges):
    """returns: the first test that fails, and how; or None"""
    known = {}
    kernels = f'{mutants.OUT}/props/explore_all'
    if f'{kernels}.ok' not in edges and touches(mutant, kernels, known):
        caught = try_orderings(mutant)
        if caught is not None:
            return caught
    for edge in in_order(mutant, edges, hits()):
        if not touches(mutant, edge, known):
            continue
        name = os.path.basename(edge).removesuffix('.ok')
        seconds = 60 + edges[edge] // 100
        rows = mutants.try_test(mutant, f'run:{name}', seconds)
        # A failure must repeat, or it is chance; a test that hangs need not.
        if rows and (rows[0].startswith('unfinished') or
                     mutants.try_test(mutant, f'run:{name}', seconds)):
            return name, rows[0]
    return None


def trial(build, path, edges):
    """returns: the line of caught.tsv for one mistake"""
    patch = mutants.Patch(path)
    mutant = mutants.Mutant(build, patch, f'{WORK}/{patch.name}')
    try:
        caught = caught_by(mutant, edges)
    finally:
        shutil.rmtree(mutant.folder, ignore_errors=True)
    if caught is None:
        return f'{patch.name}\tsurvives\t'
    name, row = caught
    if row.startswith('unfinished'):
        return f'{patch.name}\t{name}\thangs'
    return f'{patch.name}\t{name}\t{" ".join(row.split()[2:])}'


def read_table(folder, name='caught.tsv'):
    path = f'{folder}/{name}'
    if not os.path.exists(path):
        return {}
    with open(path, encoding='utf-8') as file:
        return {line.split('\t')[0]: line.rstrip('\n') for line in file}


def write_table(folder, table):
    with open(f'{folder}/caught.tsv', 'w', encoding='utf-8') as file:
        file.write(''.join(f'{table[name]}\n' for name in sorted(table)))


def each(paths, work):
    """Two at a time, and one line each. returns: what could not be tried"""
    lock = threading.Lock()
    broken = []
    done = 0

    def one(path):
        nonlocal done
        line = ''
        try:
            line = work(path)
        except mutants.Broken as why:
            broken.append(str(why))
        with lock:
            done += 1
            print(f'[{done}/{len(paths)}] mistake {line or path}', flush=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, paths))
    for why in sorted(broken):
        print(f'mistakes: {why}', file=sys.stderr)
    return broken


def score(folder, names, is_long):
    build = mutants.Build()
    edges = {edge: ms for edge, ms in judges(build).items()
             if (ms > LONG_MS) == is_long}
    table = read_table(folder)
    left = {name for name in table
            if not (is_long and table[name].split('\t')[1] == 'survives')}
    lock = threading.Lock()

    def work(path):
        line = trial(build, path, edges)
        with lock:
            table[line.split('\t')[0]] = line
            write_table(folder, table)
        return line

    paths = [f'{folder}/{name}' for name in sorted(os.listdir(folder))
             if name.endswith('.patch') and
             (name.removesuffix('.patch') in names if names else
              name.removesuffix('.patch') not in left)]
    return 1 if each(paths, work) else 0


def still_caught(build, folder, line):
    """returns: what to say of one mistake; raises Broken if nothing sees it"""
    name, test, how = line.split('\t')
    patch = mutants.Patch(f'{folder}/{name}.patch')
    try:
        mutant = mutants.Mutant(build, patch, f'{WORK}/{name}')
    except mutants.Broken:
        return f'{name}: its patch is out of date'
    try:
        if test == 'explore_all':
            rows = mutants.try_kernel(mutant, f'kernel:{how.split(":")[0]}')
        else:
            rows = mutants.try_test(mutant, f'run:{test}')
    finally:
        shutil.rmtree(mutant.folder, ignore_errors=True)
    if not rows:
        raise mutants.Broken(f'{folder}/{name}: {test} sees nothing of it')
    if rows[0].startswith('unfinished') and how != 'hangs':
        raise mutants.Broken(f'{folder}/{name}: {rows[0]}')
    return f'{name}: {test}'


def check(every):
    known = [(f'{FOLDERS}/{folder}', line)
             for folder in sorted(os.listdir(FOLDERS))
             if os.path.isdir(f'{FOLDERS}/{folder}')
             for table in ('caught.tsv', 'seen.tsv')
             for _, line in sorted(read_table(f'{FOLDERS}/{folder}',
                                              table).items())]
    chosen = [(folder, line) for folder, line in known
              if line.split('\t')[1] not in ('survives', 'equivalent')][::every]
    build = mutants.Build()
    wanted = {f'{mutants.OUT}/props/explore_all'}
    wanted |= {f'{mutants.OUT}/{product}' for product in mutants.PRODUCTS}
    wanted |= {mutants.edge_of(build, line.split('\t')[1])
               for _, line in chosen}
    subprocess.run(['ninja', '-k', '0', *sorted(wanted)], check=True)
    build = mutants.Build() # its headers are known now
    return 1 if each(chosen, lambda one: still_caught(build, *one)) else 0


def main(words):
    mutants.notice_signals()
    if words[:1] == ['score'] and len(words) > 1:
        names = [word for word in words[2:] if word != '--long']
        return score(words[1].rstrip('/'), names, '--long' in words)
    if words[:1] == ['check'] and len(words) <= 2:
        return check(int(words[1]) if len(words) == 2 else 1)
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
