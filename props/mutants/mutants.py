#!/usr/bin/env python3
"""Mutants: one deliberate mistake each, to see what catches it.

    mutants.py all               build what they need, try every patch of
                                 fixtures/mutants/ with what must catch it, write
                                 out/mutants/named.md and .csv; exit 1 if one
                                 survives
    mutants.py full              with every property, too: who else catches it;
                                 written to reports/mutants.md and .csv
    mutants.py needs             the targets that `all` builds
    mutants.py try PATCH OUT     build what one needs, try it with every property,
                                 too, print its verdict; OUT gets its row
    mutants.py list              the names of all
    mutants.py one NAME          try one of them, if what it needs is built, and
                                 print its verdict: what a shard does
    mutants.py build PATCH DIR TARGET...
                                 make targets of build.ninja with the mutant in
                                 them; prints the path of each

A patch begins with a header, then comes a unified diff against this tree:
  title: what is wrong, one line
  issue: the real bugs it reproduces       (optional; 30 at least in all)
  caught-by: who must catch it; every word must
      H1 ...        this property, when it alone is asked for
      crash         the run ends its process
      cover:ID       a campaign never reaches this goal
      test_NAME     the test program test_NAME.c of props/test/ fails;
                    test_scripts is the test of the scripts
      test_NAME/TEST  one of its tests
      kernel:NAME   every ordering of this kernel over the core is tried
                    (props/kernels/), and one of them fails
      run:NAME      the test that makes NAME.ok fails, with the mutant in
                    what profsim and its libraries are made of
      run:NAME/TEST one of its tests, likewise
      nobody        it is not wrong: everything must hold
  survives: why nothing catches it yet     (optional; then it counts against
                                            the score and does not fail)
  rules: what the library follows          (optional; exact)
  runs: at most so many                    (optional; 20000)

What the patch touches is compiled and linked again by the commands of
build.ninja, in a tree of its own; what it does not touch is taken as built.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True # scripts are run from read-only trees, too
import report

OUT = os.environ.get('O', 'out/gcc')
PATCHES = 'fixtures/mutants'
ROWS = 'out/mutants'
PRODUCTS = ('libprofsim-explore.a', 'libprofsim-observe.so',
            'libprofsim-record.so', 'libprof-malloc.so', 'profsim-conform',
            'profsim')
REAL_BUGS = 30
WORD = r'(?<![\w./+-])%s(?![\w/+-]|\.\w)'


class Broken(Exception):
    """The patch, or what it needs, is wrong: no verdict."""


def output_of(*command):
    return subprocess.run(command, check=True, text=True,
                          capture_output=True).stdout


class Build:
    """What build.ninja has: the command of each output, and the sources from
    which an object was compiled."""

    def __init__(self):
        edges = json.loads(output_of('ninja', '-t', 'compdb'))
        self.command = {e['output']: e['command'] for e in edges}
        self.source = {e['output']: e['file'] for e in edges}
        self.headers = {}
        for line in output_of('ninja', '-t', 'deps').split('\n'):
            if line.startswith(' '):
                self.headers[target].add(line.strip())
            elif ': #deps' in line:
                target = line.split(':')[0]
                self.headers[target] = set()

    def inputs(self, target):
        """Return the outputs of other edges that the target's command names."""
        return [word for word in re.split(r'[\s,;]+', self.command[target])
                if word != target and word in self.command]


class Patch:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path).removesuffix('.patch')
        with open(path, encoding='utf-8') as file:
            text = file.read()
        self.header = text.split('\n--- ')[0]
        self.files = re.findall(r'^\+\+\+ b/(\S+)', text, re.M)
        self.wanted = self.field('caught-by', 'nobody').split()

    def field(self, name, default=''):
        match = re.search(rf'^{name}: *(.+)$', self.header, re.M)
        return match[1].strip() if match else default

    def of_campaign(self):
        return [word for word in self.wanted
                if not re.match('test_|kernel:|run:', word)]


class Mutant:
    """A patched tree, and what is built of it."""

    def __init__(self, build, patch, folder):
        self.build = build
        self.patch = patch
        self.folder = folder
        self.tree = f'{folder}/tree'
        self.made = {}
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.tree)
        touched = {file.split('/')[0] for file in patch.files}
        for entry in os.listdir('.'):
            if entry in touched:
                shutil.copytree(entry, f'{self.tree}/{entry}', symlinks=True)
            elif not entry.startswith('.'):
                os.symlink(os.path.abspath(entry), f'{self.tree}/{entry}')
        if not patch.files:
            return
        done = subprocess.run(
            ['patch', '-s', '-p1', '-F2', '-d', self.tree, '-i',
             os.path.abspath(patch.path)], text=True, capture_output=True)
        if done.returncode != 0:
            raise Broken(f'{patch.path} no longer applies: '
                         f'{done.stdout.splitlines()[0]}')

    def is_touched(self, target):
        return self.build.source[target] in self.patch.files or any(
            file in self.build.headers.get(target, ())
            for file in self.patch.files)

    def make(self, target):
        """The path of the target with the mutant in it, or as built."""
        if target not in self.made:
            self.made[target] = self.rebuilt(target)
        return self.made[target]

    def rebuilt(self, target):
        command = self.build.command[target]
        out = f'{self.folder}/{target}'
        if self.build.source[target].endswith('.c'):
            if not self.is_touched(target):
                return target
            command = re.sub(r' -MMD -MF \S+', '', command)
            command = re.sub(r' -Werror(?= )', ' -w', command)
            self.run(command, {target: os.path.abspath(out)}, out, self.tree)
            return out
        changed = {part: self.make(part) for part in self.build.inputs(target)}
        changed = {part: made for part, made in changed.items() if part != made}
        if not changed:
            return target
        # Leave out link-time optimisation and sources: slow, and without mutants.
        command = re.sub(r' -flto\S*| \S+\.c(?= )', '', command)
        # Files that the command writes next to its output, like OUT.tmp.
        beside = {word: word.replace(target, out) for word in
                  re.findall(rf'{re.escape(target)}\.\w+', command)
                  if word not in self.build.command}
        self.run(command, changed | beside | {target: out}, out, '.')
        return out

    @staticmethod
    def run(command, names, out, folder):
        os.makedirs(os.path.dirname(out), exist_ok=True)
        for name, other in names.items():
            command = re.sub(WORD % re.escape(name), other, command)
        done = subprocess.run(command, shell=True, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            lines = done.stdout.splitlines()
            told = [line for line in lines if 'rror' in line or 'ld:' in line]
            raise Broken(f'{out} is not built, exit {done.returncode}: ' +
                         ' | '.join((told or lines[-2:])[:2]))

    def products(self):
        """Make the programs, in one folder, where they find each other."""
        os.makedirs(f'{self.folder}/bin', exist_ok=True)
        for name in PRODUCTS:
            path = f'{self.folder}/bin/{name}'
            if not os.path.exists(path):
                shutil.copy2(self.make(f'{OUT}/{name}'), path)


def timed(seconds, command, log, **more):
    """Run a command with all that it starts.

    returns: the exit status; None if it took longer than `seconds`. A command
    that cannot be run gives no verdict: raises Broken."""
    with open(log, 'w', encoding='utf-8') as file:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                       stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True, **more)
        except OSError as why:
            raise Broken(f'{command}: {why.strerror}') from why
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if status in (126, 127): # of a shell: not executable, not found
        raise Broken(f'{log}: exit {status}: {text_of(log).strip()[-200:]}')
    return status


def text_of(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


def first(pattern, text):
    match = re.search(pattern, text, re.M)
    return match[1] if match else ''


def try_scripts(mutant, _word):
    log = f'{mutant.folder}/scripts.out'
    status = timed(300, ['sh', f'{mutant.tree}/props/test/harness/test_scripts.sh',
                         f'{mutant.tree}/props'], log)
    if status == 0:
        return []
    if status is None:
        return ['unfinished test_scripts']
    named = first(r'^FAILED: ([^:]*:[^:]*):', text_of(log)).replace(' ', '_')
    return [f'test test_scripts {named}']


def edge_of(build, name):
    """Return the target NAME.ok of this variant, or of no variant."""
    for edge in build.command:
        if re.fullmatch(rf'({OUT}/(.*/)?|out/){name}\.ok', edge):
            return edge
    raise Broken(f'no test makes {name}.ok')


def try_test(mutant, word, seconds=300):
    """Run the test that makes NAME.ok; say which of its cases failed."""
    name, _, only = word.removeprefix('run:').partition('/')
    edge = edge_of(mutant.build, name)
    command = re.sub(r'^\{ *(.*?)timeout \d+ (.*?) > .*', r'\1\2',
                     mutant.build.command[edge], flags=re.S)
    if any(re.search(rf'(^|/){re.escape(product)}\b', command)
           for product in PRODUCTS):
        mutant.products()
        names = '|'.join(re.escape(product) for product in PRODUCTS)
        command = re.sub(rf'(?<![\w./-])({OUT}|out)/({names})(?![\w.-])',
                         rf'{mutant.folder}/bin/\2', command)
    for part in mutant.build.inputs(edge):
        command = re.sub(WORD % re.escape(part), mutant.make(part), command)
    log = f'{mutant.folder}/{name}.out'
    chosen = {'TEST_FILTER': only} if only else {}
    status = timed(seconds, command, log, shell=True, env=os.environ | chosen)
    if status == 0:
        return []
    if status is None: # a slow test, on a slow machine, has noticed nothing
        return [f'unfinished {word}']
    text = text_of(log)
    failed = first(r'^\[  FAILED  \] ([a-zA-Z_0-9]+)$', text) or \
        first(r'^(?:FAILED|failed): (.*)', text).replace(' ', '_') or 'crashed'
    # A test of all properties says which one was broken.
    broken = first(r'^ERROR: [a-z0-9.-]*, ([A-Z][0-9]*): ', text)
    return [f'test {word} {failed}' + (f' ({broken})' if broken else '')]


def try_kernel(mutant, word):
    """Try every ordering of a kernel; say after how many runs it failed, and how."""
    name = word.removeprefix('kernel:')
    log = f'{mutant.folder}/{name}.out'
    status = timed(300, [mutant.make(f'{OUT}/props/explore_all'), name,
                          '--exhaustive'], log)
    if status is None:
        return [f'unfinished kernel {name}']
    found = re.findall(rf'^{re.escape(name)} +(\d+) +runs? .*? s  (.*)',
                       text_of(log), re.M) if status != 0 else []
    if status != 0 and not found:
        return [f'unfinished kernel {name}, {status}']
    return [f'kernel {name} {runs} {how}' for runs, how in found]


def try_campaign(mutant, mode):
    patch = mutant.patch
    log = f'{mutant.folder}/trial.log'
    status = timed(300, [mutant.make(f'{OUT}/props/mutant_trial'), mode,
                         mutant.folder, patch.field('rules', 'exact'),
                         patch.field('runs', '20000'), *patch.of_campaign()],
                   log)
    if status == 0:
        return text_of(log).splitlines()
    return [*text_of(log).splitlines(), f'unfinished {status or "timeout"}']


def facts(mutant, mode):
    """Try a mutant. returns: what was found, one fact a line"""
    patch = mutant.patch
    rows = [f'name {patch.name}', f'title {patch.field("title")}',
            f'issue {patch.field("issue")}', f'where {" ".join(patch.files)}',
            f'rules {patch.field("rules", "exact")}',
            f'caught-by {" ".join(patch.wanted)}',
            f'survives {patch.field("survives")}']
    for word in patch.wanted:
        if word == 'test_scripts':
            rows += try_scripts(mutant, word)
        elif word.startswith(('test_', 'run:')):
            rows += try_test(mutant, word)
        elif word.startswith('kernel:'):
            rows += try_kernel(mutant, word)
    if patch.of_campaign():
        rows += try_campaign(mutant, mode)
    return rows


def try_one(build, path, row, mode):
    """Try a patch. in: mode, that of mutant_trial, `named` or `matrix`"""
    mutant = Mutant(build, Patch(path), row.removesuffix('.row'))
    text = '\n'.join(facts(mutant, mode)) + '\n'
    for part in ('tree', 'bin', 'out'):
        shutil.rmtree(f'{mutant.folder}/{part}', ignore_errors=True)
    with open(f'{row}.part', 'w', encoding='utf-8') as file:
        file.write(text)
    os.replace(f'{row}.part', row)


def patches():
    return [Patch(f'{PATCHES}/{name}') for name in sorted(os.listdir(PATCHES))
            if name.endswith('.patch')]


def needs(build, all_patches):
    """Return the targets that must be built, and pass without a mutant: a test
    that fails anyway catches nothing."""
    targets = {f'{OUT}/props/mutant_trial', f'{OUT}/props/explore_all'}
    targets |= {f'{OUT}/{product}' for product in PRODUCTS}
    for patch in all_patches:
        targets |= {edge_of(build, word.removeprefix('run:').split('/')[0])
                    for word in patch.wanted
                    if word.startswith(('test_', 'run:'))}
    return sorted(targets)


def newest(paths):
    return max(os.path.getmtime(path) for path in paths)


def try_all(mode, results):
    all_patches = patches()
    bugs = {bug for patch in all_patches for bug in patch.field('issue').split()}
    if len(bugs) < REAL_BUGS:
        raise Broken(f'only {len(bugs)} real bugs are reproduced, not {REAL_BUGS}')
    wanted = needs(Build(), all_patches)
    subprocess.run(['ninja', '-k', '0', *wanted], check=True)
    build = Build() # its headers are known now
    since = newest([*wanted, __file__])
    rows = {patch: f'{ROWS}/{mode}/{patch.name}.row' for patch in all_patches}
    os.makedirs(f'{ROWS}/{mode}', exist_ok=True)
    lock = threading.Lock()
    left = [patch for patch in all_patches
            if not os.path.exists(rows[patch]) or
            os.path.getmtime(rows[patch]) <
            max(since, os.path.getmtime(patch.path))]
    done = 0
    broken = []

    def work(patch):
        nonlocal done
        begun = time.monotonic()
        try:
            try_one(build, patch.path, rows[patch], mode)
        except Broken as why:
            broken.append(str(why))
        with lock:
            done += 1
            print(f'[{done}/{len(left)}] mutant {patch.name}, '
                  f'{time.monotonic() - begun:.1f} s', flush=True)

    # One more than there are processors, as some tests only wait.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 1) as pool:
        list(pool.map(work, left))
    for why in sorted(broken):
        print(f'mutants: {why}', file=sys.stderr)
    if broken:
        return 1
    if mode == 'named':
        print('mutants: each is tried with what its header names; '
              'with every property: make mutants FULL=1')
    return report.write(list(rows.values()), f'{results}.csv', f'{results}.md',
                        'none' if mode == 'named' else 'a twentieth')


def tell(row):
    """Print how a trial ended. returns: the exit status"""
    known = report.Row(row)
    print(f'{known.name}: {known.verdict}: {known.by_whom()} '
          f'{known.detection()}'.strip())
    print(*known.failures, sep='\n', end='\n' if known.failures else '')
    return 1 if known.failures else 0


def try_named(name):
    """Try a patch with what its header names; print how that ended."""
    row = f'{ROWS}/named/{name}.row'
    path = f'{PATCHES}/{name}.patch'
    if name not in [patch.name for patch in patches()]:
        raise Broken(f'there is no {path}')
    os.makedirs(os.path.dirname(row), exist_ok=True)
    try_one(Build(), path, row, 'named')
    return tell(row)


def notice_signals():
    """Handle signals that a shell makes background commands ignore; tests need
    them to end programs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1)) # ends what it started
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def main(words):
    notice_signals()
    try:
        if words == ['all']:
            return try_all('named', f'{ROWS}/named')
        if words == ['full']:
            return try_all('matrix', 'reports/mutants')
        if words == ['list']:
            print('\n'.join(patch.name for patch in patches()))
        elif len(words) == 2 and words[0] == 'one':
            return try_named(words[1])
        elif words == ['needs']:
            print('\n'.join(needs(Build(), patches())))
        elif len(words) == 3 and words[0] == 'try':
            subprocess.run(['ninja', '-k', '0',
                            *needs(Build(), [Patch(words[1])])], check=True)
            os.makedirs(os.path.dirname(words[2]) or '.', exist_ok=True)
            try_one(Build(), words[1], words[2], 'matrix')
            return tell(words[2])
        elif len(words) > 3 and words[0] == 'build':
            mutant = Mutant(Build(), Patch(words[1]), words[2])
            print('\n'.join(mutant.make(target) for target in words[3:]))
        else:
            print('usage: mutants.py all | full | needs | list | one NAME | '
                  'try PATCH OUT | build PATCH DIR TARGET...', file=sys.stderr)
            return 2
    except (Broken, subprocess.CalledProcessError) as why:
        print(f'mutants: {why}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
