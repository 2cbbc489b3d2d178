#!/usr/bin/python3
"""mutants.py -- break the code on purpose, and see what notices.

    tools/mutants.py sample FOLDER [--count 100] [--seed 1] [--jobs N]
                    [--check TARGET]
        Draw COUNT changes of one operator, constant or statement from the C
        files of FOLDER, build TARGET (out/gcc/check) with each, and print the
        share that makes the build of a test fail. A change that does not
        compile is drawn again. Nothing is gated: the share is a thermometer.
    tools/mutants.py patches [NAME...]
        Try the patches of fixtures/mutants/, or those named. Each must be
        caught by every word of its header; exit 1 if one is not.
    tools/mutants.py list       the names of all patches
    tools/mutants.py tree NAME TARGET...
        Build targets with one patch in them, and print their paths.

Example: `tools/mutants.py sample prof/core --count 3 --seed 7` prints

    [1/3] caught    prof/core/heap.c:120: `<` becomes `<=`: test_prof_heap
    [2/3] survives  prof/core/random.c:94: `1` becomes `2`
    [3/3] caught    prof/core/table.c:210: a call is left out: test_worlds
    prof/core: 2 of 3 caught, 66.7 % (95 %: 9.4 to 99.2 %)

A patch begins with a header, then comes a diff:
    title: what is wrong, one line
    issue: real bugs that it reproduces         (optional)
    caught-by: who must catch it, of these words
        H1 ...        this property alone, by worlds
        crash         a world ends its process
        cover:GOAL    a campaign does not reach this goal
        kernel:NAME   some ordering of this kernel fails
        test_NAME     the test test_NAME.ok fails
    rules: the rule set of the library          (optional; exact)
    runs: at most so many worlds                (optional; 20000)

Each job works in its own copy of the tree and of what is built, under
out/mutants/, so the checkout stays as it is. The command that judges patches
is clang's, which is linked without link-time optimisation.
"""
import argparse
import glob
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading

OUT = os.environ.get('O', 'out/clang')
PATCHES = 'fixtures/mutants'
SECONDS = 600  # for one judge; more is a hang, which counts as caught


class Broken(Exception):
    """There is no verdict."""


def run(command, folder, log, seconds=SECONDS):
    """Run a command with all that it starts; its output goes to `log`.

    returns: the exit status, or None if it was ended after `seconds`"""
    with open(log, 'w', encoding='utf-8') as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out,
                                   stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def text_of(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


class Tree:
    """A copy of the checkout, with what is built of the targets' variants."""

    def __init__(self, name, targets):
        self.path = os.path.abspath(f'out/mutants/{name}')
        variants = {'/'.join(target.split('/')[:2]) for target in targets}
        self.log = f'{self.path}.log'
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(f'{self.path}/out')
        names = subprocess.run(
            ['git', 'ls-files', '-co', '--exclude-standard'], check=True,
            text=True, capture_output=True).stdout.splitlines()
        for name in filter(os.path.lexists, names):
            os.makedirs(os.path.dirname(f'{self.path}/{name}'), exist_ok=True)
            shutil.copy2(name, f'{self.path}/{name}', follow_symlinks=False)
        for part in [*glob.glob('out/.ninja*'), *glob.glob('out/*')]:
            if os.path.isfile(part) or part in variants:
                subprocess.run(['cp', '-a', part, f'{self.path}/{part}'],
                               check=True)

    def build(self, *targets, seconds=SECONDS):
        """returns: what failed first ('' if nothing did), and whether that was
        a compiler or linker"""
        status = run(['tools/ninja', '-j1', *targets], self.path, self.log, seconds)
        if status == 0:
            return '', False
        if status is None:
            return 'a hang', False
        failed = re.findall(r'^FAILED: (\S+)', text_of(self.log), re.M)
        name = failed[0] if failed else f'ninja, exit {status}'
        return (re.sub(r'.*/|\.ok$', '', name), not name.endswith('.ok'))


# ------------------------------------------------------------------- patches

class Patch:
    def __init__(self, name):
        self.name = name
        self.path = os.path.abspath(f'{PATCHES}/{name}.patch')
        if not os.path.exists(self.path):
            raise Broken(f'there is no {PATCHES}/{name}.patch')
        self.text = text_of(self.path)
        self.header = self.text.split('\n--- ')[0]
        self.wanted = self.field('caught-by', '').split()
        if not self.wanted:
            raise Broken(f'{name}: the header names nobody in caught-by:')

    def field(self, name, default):
        match = re.search(rf'^{name}: *(.+)$', self.header, re.M)
        return match[1].strip() if match else default

    def apply(self, tree, *more):
        done = subprocess.run(['patch', '-s', '-p1', '-F2', *more, '-i',
                               self.path], cwd=tree.path, text=True,
                              capture_output=True)
        if done.returncode != 0:
            raise Broken(f'{self.name} does not apply: '
                         f'{done.stdout.splitlines()[0]}')


def all_patches():
    return sorted(os.path.basename(path)[:-len('.patch')]
                  for path in glob.glob(f'{PATCHES}/*.patch'))


def catches(tree, patch, word):
    """Does what the word names notice the patch that is in the tree?"""
    if word.startswith('test_'):
        edges = subprocess.run(['tools/ninja', '-t', 'targets', 'all'], text=True,
                               cwd=tree.path, capture_output=True,
                               check=True).stdout
        edge = re.search(rf'^(out/(?:gcc/(?:.*/)?)?{word}\.ok):', edges, re.M)
        if not edge:
            raise Broken(f'{patch.name}: there is no {word}.ok')
        failed, of_compiler = tree.build(edge[1])
        if of_compiler:
            raise Broken(f'{patch.name} does not compile: {failed}')
        return bool(failed)
    failed, _ = tree.build(f'{OUT}/profsim')
    if failed:
        raise Broken(f'{patch.name} does not compile: {failed}')
    profsim = f'{tree.path}/{OUT}/profsim'
    runs = patch.field('runs', '20000')
    worlds = ['--rules', patch.field('rules', 'exact'), '--seeds', f'1..{runs}']
    # No failure is saved in the tree: later patches would replay it.
    here = f'{tree.path}/out/judge'
    shutil.rmtree(here, ignore_errors=True)
    os.makedirs(here)
    if word.startswith('kernel:'):
        status = run([profsim, 'explore', word[len('kernel:'):]], here, tree.log)
    elif word.startswith('cover:'):
        run([profsim, 'check', *worlds], here, tree.log)
        goal = word[len('cover:'):]
        return f'never reached: {goal} ' in text_of(tree.log)
    elif word == 'crash':
        return run([profsim, 'check', *worlds], here, tree.log) == 3
    else:
        status = run([profsim, 'check', word, *worlds], here, tree.log)
    if status in (1, 6, 126, 127, None):
        raise Broken(f'{patch.name}: {word} was not judged: '
                     f'{text_of(tree.log).strip()[-200:]}')
    return status != 0


def try_patch(tree, name):
    """returns: a line, and whether all that must catch the patch do"""
    patch = Patch(name)
    patch.apply(tree)
    try:
        missed = [word for word in patch.wanted
                  if not catches(tree, patch, word)]
    finally:
        patch.apply(tree, '-R')
    if missed:
        return f'survives  {name}: not noticed by {" ".join(missed)}', False
    return f'caught    {name}: {" ".join(patch.wanted)}', True


# -------------------------------------------------------------------- samples

OTHER = {'<': ['<=', '>'], '<=': ['<', '>'], '>': ['>=', '<'],
         '>=': ['>', '<'], '==': ['!='], '!=': ['=='], '&&': ['||'],
         '||': ['&&'], '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'],
         '%': ['*'], '&': ['|'], '|': ['&'], '^': ['&'], '<<': ['>>'],
         '>>': ['<<'], '+=': ['-='], '-=': ['+='], '|=': ['&='],
         '&=': ['|='], '<<=': ['>>='], '>>=': ['<<=']}


def compile_words(source):
    """The options that say how ninja compiles the source."""
    commands = subprocess.run(['tools/ninja', '-t', 'commands'], check=True,
                              text=True, capture_output=True).stdout
    line = re.search(rf'^.* -c {re.escape(source)} .*$', commands, re.M)
    words = line[0].split() if line else []
    return [word for at, word in enumerate(words)
            if word.startswith(('-I', '-D', '-std')) or
            word == '-include' or at > 0 and words[at - 1] == '-include']


def changes_of(source):
    """All changes of one operator, constant or statement: (offset, length, new
    text, line, what it is)."""
    import clang.cindex as clang  # Debian's python3-clang
    kinds = clang.CursorKind
    unit = clang.Index.create().parse(source, args=compile_words(source))
    with open(source, 'rb') as file:
        text = file.read()
    found = {}

    def add(begin, end, new, line, what):
        found[(begin, end, new)] = (begin, end - begin, new, line, what)

    def replace(token, new):
        extent = token.extent
        add(extent.start.offset, extent.end.offset, new, extent.start.line,
            f'`{token.spelling}` becomes `{new}`')

    def visit(cursor, parent):
        where = cursor.location.file
        if where and where.name != source:
            return
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        children = list(cursor.get_children())
        if cursor.kind in (kinds.BINARY_OPERATOR,
                           kinds.COMPOUND_ASSIGNMENT_OPERATOR) and \
                len(children) == 2:
            left, right = children
            for token in cursor.get_tokens():
                if left.extent.end.offset <= token.extent.start.offset < \
                        right.extent.start.offset:
                    for new in OTHER.get(token.spelling, []):
                        replace(token, new)
        elif cursor.kind == kinds.INTEGER_LITERAL:
            tokens = list(cursor.get_tokens())
            if tokens and tokens[0].spelling.isdigit():
                value = int(tokens[0].spelling)
                replace(tokens[0], str(value + 1))
                if value > 0:
                    replace(tokens[0], str(value - 1))
        elif cursor.kind in (kinds.IF_STMT, kinds.WHILE_STMT) and children:
            inside = children[0].extent
            old = text[inside.start.offset:inside.end.offset].decode()
            for value in '01':
                add(inside.start.offset, inside.end.offset,
                    f'(({old}), {value})', inside.start.line,
                    f'the condition is {value}')
        elif cursor.kind in (kinds.CALL_EXPR, kinds.RETURN_STMT,
                             kinds.BREAK_STMT, kinds.CONTINUE_STMT) and \
                parent is not None and parent.kind == kinds.COMPOUND_STMT and \
                not children_return(cursor):
            add(begin, end, '(void)0', cursor.extent.start.line,
                'a statement is left out')
        elif cursor.kind == kinds.BINARY_OPERATOR and parent is not None and \
                parent.kind == kinds.COMPOUND_STMT:
            add(begin, end, '(void)0', cursor.extent.start.line,
                'an assignment is left out')
        for child in children:
            visit(child, cursor)

    def children_return(cursor):
        return cursor.kind == kinds.RETURN_STMT and any(cursor.get_children())

    for cursor in unit.cursor.get_children():
        visit(cursor, None)
    return sorted(found.values())


def share(caught, count):
    """The share, with the exact (Clopper-Pearson) interval of 95 %."""
    def at_most(p, k):
        return sum(math.comb(count, i) * p ** i * (1 - p) ** (count - i)
                   for i in range(k + 1))

    def solve(holds):
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    if count == 0:
        return 'nothing was tried'
    least = solve(lambda p: 1 - at_most(p, caught - 1) < .025) if caught else 0
    most = solve(lambda p: at_most(p, caught) > .025) if caught < count else 1
    return (f'{caught} of {count} caught, {100 * caught / count:.1f} % '
            f'(95 %: {100 * least:.1f} to {100 * most:.1f} %)')


def try_change(tree, source, change, target):
    """returns: what noticed, '' if nothing did; None if it does not compile"""
    offset, length, new, _, _ = change
    path = f'{tree.path}/{source}'
    with open(path, 'rb') as file:
        old = file.read()
    try:
        with open(path, 'wb') as file:
            file.write(old[:offset] + new.encode() + old[offset + length:])
        failed, of_compiler = tree.build(target)
        return None if of_compiler else failed
    finally:
        with open(path, 'wb') as file:
            file.write(old)


def sample(options):
    sources = sorted(glob.glob(f'{options.folder.rstrip("/")}/**/*.c',
                               recursive=True))
    sources = [path for path in sources if '/test/' not in path]
    if not sources:
        raise Broken(f'{options.folder} has no C files')
    drawn = random.Random(options.seed)
    pool = [(path, change) for path in sources for change in changes_of(path)]
    drawn.shuffle(pool)
    lock = threading.Lock()
    tried, caught, at = 0, 0, 0
    if run(['tools/ninja', options.check], '.', 'out/mutants.log', 3600) != 0:
        raise Broken(f'{options.check} fails without a change: out/mutants.log')

    def work(tree):
        nonlocal tried, caught, at
        while True:
            with lock:
                if at >= len(pool) or tried >= options.count:
                    return
                path, change = pool[at]
                at += 1
                tried += 1
            by = try_change(tree, path, change, options.check)
            with lock:
                if by is None:
                    tried -= 1
                    continue
                caught += bool(by)
                print(f'[{tried}/{options.count}] '
                      f'{"caught   " if by else "survives "} {path}:{change[3]}: '
                      f'{change[4]}{": " + by if by else ""}', flush=True)

    in_trees(options.jobs, options.check, work)
    print(f'{options.folder}: {share(caught, tried)}')
    return 0 if tried > 0 else 1


# ----------------------------------------------------------------------- jobs

def in_trees(jobs, target, work):
    """Call work(tree) in as many threads; their first error is raised."""
    errors = []

    def guarded(number):
        try:
            work(Tree(str(number), [target]))
        except (Broken, OSError, subprocess.CalledProcessError) as why:
            errors.append(why)

    threads = [threading.Thread(target=guarded, args=(number,))
               for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(jobs):
        shutil.rmtree(f'out/mutants/{number}', ignore_errors=True)
    if errors:
        raise Broken(str(errors[0]))


def patches(names, jobs):
    names = names or all_patches()
    known = [Patch(name) for name in names]
    subprocess.run(['tools/ninja', f'{OUT}/profsim'], check=True)
    left = list(names)
    lock = threading.Lock()
    failed = []

    def work(tree):
        while True:
            with lock:
                if not left:
                    return
                name = left.pop(0)
                number = len(names) - len(left)
            try:
                line, good = try_patch(tree, name)
            except Broken as why:
                line, good = f'no verdict  {why}', False
            with lock:
                if not good:
                    failed.append(line)
                print(f'[{number}/{len(names)}] {line}', flush=True)

    in_trees(jobs, OUT + '/profsim', work)
    for line in failed:
        print(f'mutants: {line}', file=sys.stderr)
    print(f'mutants: {len(known) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(
        prog='mutants.py', description=__doc__.split('\n\n', maxsplit=1)[0])
    parser.add_argument('--jobs', type=int,
                        default=len(os.sched_getaffinity(0)))
    commands = parser.add_subparsers(dest='command', required=True)
    one = commands.add_parser('sample')
    one.add_argument('folder')
    one.add_argument('--count', type=int, default=100)
    one.add_argument('--seed', type=int, default=1)
    one.add_argument('--check', default='out/gcc/check')
    commands.add_parser('patches').add_argument('names', nargs='*')
    commands.add_parser('list')
    one = commands.add_parser('tree')
    one.add_argument('name')
    one.add_argument('targets', nargs='+')
    options = parser.parse_args()
    # Signals that a shell makes background commands ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if options.command == 'sample':
            return sample(options)
        if options.command == 'patches':
            return patches(options.names, options.jobs)
        if options.command == 'list':
            print('\n'.join(all_patches()))
            return 0
        tree = Tree(options.name, options.targets)
        Patch(options.name).apply(tree)
        failed, _ = tree.build(*options.targets)
        if failed:
            raise Broken(f'{options.name}: {failed} is not built')
        print('\n'.join(f'{tree.path}/{name}' for name in options.targets))
    except (Broken, subprocess.CalledProcessError) as why:
        print(f'mutants: {why}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
