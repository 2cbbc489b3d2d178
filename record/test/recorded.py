"""Takes recordings of the test programs of this folder; what both of its tests
use."""
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

from recording import (ALLOC, FREE, RELEASE, RESIZE, SEMAPHORE,
                       WAIT, read)

MUTEX, READ, WRITE, COND = range(4)
ZEROED, IN_VAIN = 1, 4 # flags of an event
CAUSES = ('limit disk inside early unknown missed waiters children confined cut '
          'own mapped').split()


class Recorded:
    """A recording, with questions to it."""

    def __init__(self, path):
        self.recording = read(path)
        self.allocs, frees = self.recording.totals()[:2]
        self.live = self.allocs - frees
        self.dropped = dict(zip(CAUSES, self.recording.dropped))

    def __getattr__(self, name):
        return getattr(self.recording, name)

    def functions(self, event):
        """The functions of an event's stack, without inlined callers."""
        return [self.frames[frame].function
                for frame in self.stacks[event.stack]]

    def leaf(self, event):
        stack = self.stacks[event.stack]
        return self.frames[stack[0]].function if stack else ''

    def allocations(self, function):
        return [event for event in self.events
                if event.kind == ALLOC and self.leaf(event) == function]

    def of_size(self, size):
        return [event for event in self.events
                if event.kind == ALLOC and event.size == size]

    def tally(self, function):
        """Allocations by a function, how many of them were freed or resized,
        and their bytes. A resize counts as an allocation, too."""
        ours, allocs, frees, size = set(), 0, 0, 0
        for event in self.events:
            if event.kind in (FREE, RESIZE) and event.what in ours:
                frees += 1
                ours.remove(event.what)
            if (event.kind in (ALLOC, RESIZE) and
                    self.leaf(event) == function):
                ours.add(event.what)
                allocs, size = allocs + 1, size + event.size
        return allocs, frees, size

    def waits(self):
        return [event for event in self.events
                if event.kind in (WAIT, SEMAPHORE)]

    def releases(self):
        return [event for event in self.events if event.kind == RELEASE]


class Folder:
    """Where a test's files are, and the commands that it runs there."""

    def __init__(self, profsim, programs):
        self.profsim = os.path.realpath(profsim)
        self.programs = os.path.realpath(programs)
        self.path = tempfile.mkdtemp()
        self.spools = os.path.join(self.path, 'spools')
        os.mkdir(self.spools)
        os.environ['TMPDIR'] = self.spools
        os.chdir(self.path)
        self.err = self.out = ''

    def program(self, name):
        return os.path.join(self.programs, name)

    def run(self, *words):
        """Its exit code, or minus the signal that ended it."""
        with open('out', 'w+') as out, open('err', 'w+') as err:
            status = subprocess.run(words, stdout=out, stderr=err,
                                    timeout=200).returncode
        self.read()
        return status

    def read(self):
        self.out = open('out', errors='replace').read()
        self.err = open('err', errors='replace').read()

    def record(self, *words, options=(), expect=0):
        """Record a command into x.rec, which a recording() opens."""
        for name in os.listdir('.'):
            if name.startswith('x.rec'):
                os.unlink(name)
        options = ('--images=1000000', '--limit=16777216') + tuple(options)
        status = self.run(self.profsim, 'record', '-o', 'x.rec', *options,
                          '--', *words)
        same(status, expect)

    def recording(self, suffix=''):
        return Recorded('x.rec' + suffix)

    def expect_no_spools(self):
        same(os.listdir(self.spools), [])


def same(got, want):
    assert got == want, f'{got!r}, not {want!r}'


tests = []


def test(function):
    tests.append(function)
    return function


def run_tests(folder, name):
    """Run all, or those that TEST_FILTER names; print the usual last line."""
    wanted = os.environ.get('TEST_FILTER', '')
    failed = 0
    for function in tests:
        if wanted not in ('', function.__name__):
            continue
        try:
            function(folder)
        except Exception: # each test is tried
            failed += 1
            print('FAILED:', function.__name__)
            traceback.print_exc(file=sys.stdout)
            print(folder.out[-1000:], folder.err[-2000:], sep='\n')
    os.chdir('/')
    shutil.rmtree(folder.path)
    print(f'{name}: {len(tests) - failed} passed, {failed} failed')
    return failed != 0
