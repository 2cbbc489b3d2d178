#!/usr/bin/env python3
# build: args='out/gcc/profsim out/gcc/record/test'
"""The recorder on programs that know their own truth, and on some that know
nothing of it: a recording has exactly what happened.

usage: [TEST_FILTER=TEST] test_recorder.py PROFSIM FOLDER-OF-PROGRAMS
"""
import os
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
from recorded import (ALLOC, COND, FREE, IN_VAIN, MUTEX, READ, RESIZE,
                      SEMAPHORE, WAIT, WRITE, ZEROED, Folder, Recorded,
                      run_tests, same, test)

def no_losses(recording, **known):
    want = {cause: known.get(cause, 0) for cause in recording.dropped}
    want['cut'] = recording.dropped['cut'] # all events are there
    same(recording.dropped, want)


# ---- Truth: allocations, frees and bytes by function ----

# Each of 4 threads makes 500 rounds: objects of 1000 to 1003 bytes grow to 2000
# to 2003, and 500 objects of 7 * 11 bytes are made.
THREADS = {'make_small': (2000, 2000, 500 * 4006),
           'grow': (2000, 2000, 500 * 8006),
           'make_zeroed': (2000, 2000, 2000 * 77),
           'make_before_main': (1, 1, 4321)}
# An object of 9 bytes survives two failed reallocs, grows to 45 bytes, and is
# freed; one of 33 is never freed.
FAMILY = {'make_aligned': (4, 4, 101 + 128 + 103 + 104),
          'make_small': (1, 1, 9), 'grow_array': (1, 1, 45),
          'grow': (1, 0, 33)}
DOZEN = {'make_small': (12, 2, 12 * 70)}
# The child frees three objects of its parent, which its log does not know.
TRUTH = (
    # mode, exit code, options, truth, the second image's, unknown frees there
    ('threads', 0, (), THREADS, None, 0),
    ('threads', 0, ('--frame-pointers',), THREADS, None, 0),
    ('threads', 0, ('--depth=1',), THREADS, None, 0),
    ('family', 0, (), FAMILY, None, 0),
    ('fork', 0, (), {'make_small': (10, 10, 600), 'make_in_child': (0, 0, 0)},
     {'make_small': (0, 0, 0), 'make_in_child': (5, 1, 5 * 555)}, 3),
    ('exec', 0, (), DOZEN, FAMILY, 0),
    # Every way to end leaves a whole recording.
    ('sigkill', -9, (), DOZEN, None, 0),
    ('abort', -6, (), DOZEN, None, 0),
    ('_exit', 3, (), DOZEN, None, 0),
    ('return', 0, (), DOZEN, None, 0),
)


@test
def each_function_has_its_own_truth(folder):
    for mode, code, options, truth, second, unknown in TRUTH:
        folder.record(folder.program('recorded_program'), mode,
                      options=options, expect=code)
        first = folder.recording()
        same(first.arguments[1], mode)
        same({name: first.tally(name) for name in truth}, truth)
        no_losses(first)
        if second is not None:
            second_image = folder.recording('.2')
            same({name: second_image.tally(name) for name in second}, second)
            no_losses(second_image, unknown=unknown)
        if truth is THREADS:
            made = first.allocations('make_small')
            threads = {event.thread for event in made}
            assert len(threads) == 4 and 0 not in threads
            depth = 1 if '--depth=1' in options else 2
            assert all(first.functions(event)[:2] ==
                       ['make_small', 'work'][:depth] for event in made)
            assert depth == 2 or max(map(len, first.stacks)) == 1
        if truth is DOZEN and mode != 'exec':
            for event in first.allocations('make_small'):
                callers = first.functions(event)
                same(callers[:4],
                     ['make_small', 'allocate_dozen', 'end', 'main'])
                assert '_start' in callers


@test
def a_broken_frame_pointer_ends_a_stack_by_frame_pointers_only(folder):
    if platform.machine() != 'x86_64':
        return
    for options, whole in ((), 7), (('--frame-pointers',), 0):
        folder.record(folder.program('recorded_program'), 'frames',
                      options=options)
        recording = folder.recording()
        stacks = [recording.functions(event)
                  for event in recording.allocations('make_small')]
        same([stack[1] for stack in stacks], ['call_amid'] * 7)
        same(sum('main' in stack for stack in stacks), whole)
        no_losses(recording)


@test
def objects_that_change_threads_keep_their_order(folder):
    folder.record(folder.program('recorded_program'), 'exchange')
    recording = folder.recording()
    allocs, frees, _ = recording.tally('make_for_other')
    same((allocs, frees), (20000, 20000))
    no_losses(recording)


@test
def forks_amid_a_busy_thread_neither_hang_nor_lose(folder):
    folder.record(folder.program('recorded_program'), 'forks')
    first = folder.recording()
    assert first.tally('make_in_callback')[0] > 0
    no_losses(first)
    for i in range(2, 42):
        child = folder.recording(f'.{i}')
        same(child.tally('make_in_child'), (1, 1, 555))
        no_losses(child)


@test
def the_image_that_asked_for_most_bytes_is_the_first(folder):
    program = folder.program('recorded_program')
    folder.record('sh', '-c', '"$0" return && "$0" large && "$0" return',
                  program)
    same(folder.recording().tally('make_small'), (1, 1, 64 << 20))


@test
def a_full_log_is_a_beginning_and_says_what_is_missing(folder):
    folder.record(folder.program('recorded_program'), 'fill',
                  options=('--limit=1M',))
    recording = folder.recording()
    assert recording.allocs > 10000 and recording.live < 100
    assert len(recording.events) + recording.dropped['limit'] >= 200000
    same(recording.dropped['unknown'], 0)


@test
def a_free_that_was_not_seen_is_inferred(folder):
    folder.record(folder.program('recorded_program'), 'unseen')
    recording = folder.recording()
    same(recording.tally('make_small'), (2, 2, 140))
    no_losses(recording, missed=1)


@test
def modules_have_the_build_ids_of_their_files(folder):
    folder.record(folder.program('recorded_program'), 'return')
    recording = folder.recording()
    (path, build_id), = {(path, build_id) for _, _, _, path, build_id
                         in recording.modules if '/libc.so' in path}
    notes = subprocess.run(['readelf', '-n', path], capture_output=True,
                           text=True, check=True).stdout
    assert f'Build ID: {build_id.hex()}\n' in notes


# ---- Waits ----

WAITS = (
    # who waits, for what, in vain?, who let go
    ('wait_for_mutex', MUTEX, False, 'let_go_of_mutex'),
    ('wait_to_read', READ, False, 'let_go_of_rwlock'),
    ('wait_to_write', WRITE, False, 'let_go_of_rwlock'),
    ('wait_for_signal', COND, False, None),
    ('wait_in_vain', COND, True, None),
    ('give_up_beside_another', MUTEX, True, None),
    ('wait_beside_another', MUTEX, False, 'let_go_after_one_gave_up'),
    ('wait_for_who_waits', MUTEX, False, 'let_go_by_waiting'),
)


def is_within(release, wait):
    return (wait.what == release.what and
            wait.ticks - wait.size <= release.ticks <= wait.ticks)


@test
def waits_name_the_waiter_and_the_one_who_let_go(folder):
    folder.record(folder.program('recorded_program'), 'locks')
    recording = folder.recording()
    no_losses(recording)
    for waiter, kind, failed, releaser in WAITS:
        wait, = [wait for wait in recording.waits()
                 if recording.leaf(wait) == waiter]
        same((waiter, wait.kind, wait.flags),
             (waiter, WAIT, kind | (IN_VAIN if failed else 0)))
        assert wait.size > 0
        assert releaser is None or any(
            recording.leaf(event) == releaser and is_within(event, wait)
            for event in recording.releases())


# ---- What version 2 adds: resized objects, how they were requested, ... ----

def calls(folder):
    """The recordings of the parent and of its child; taken once."""
    if not os.path.exists('calls.rec'):
        folder.record(folder.program('recorded_calls'))
        os.rename('x.rec', 'calls.rec')
        os.rename('x.rec.2', 'calls.rec.2')
    return Recorded('calls.rec'), Recorded('calls.rec.2')


@test
def an_object_that_is_resized_stays_the_same(folder):
    recording, _ = calls(folder)

    def fate(size):
        born, = recording.of_size(size)
        return [event.size for event in recording.events if
                event.kind in (ALLOC, FREE, RESIZE) and event.what == born.what]

    same(fate(1234567), [1234567, 2345678, 3456789, 45, 0])
    same(fate(7654321), [7654321, 0]) # resized to 0 bytes: freed
    # The object lives for 30 ms. The clock of frees lags by up to two of its
    # ticks, so at least 10 ms must show.
    born, = recording.of_size(424240)
    freed, = [event for event in recording.events
              if event.kind == FREE and event.what == born.what]
    assert freed.ticks - born.ticks >= 10000000
    # For the simulated collector a resized object is a new one.
    same(folder.run(folder.profsim, 'check', 'calls.rec'), 0)


@test
def how_it_was_asked_for_is_kept(folder):
    recording, _ = calls(folder)
    for size, zeroed, alignment in (
            (777777, True, 0), (888832, False, 4096), (999999, False, 64),
            (11110, True, 0), (11136, False, 64), (1234567, False, 0)):
        event, = recording.of_size(size)
        same((event.flags & ZEROED != 0, event.alignment, event.usable),
             (zeroed, alignment, None))
    folder.record(folder.program('recorded_calls'), 'usable',
                  options=('--usable',))
    recording = folder.recording()
    said = [tuple(map(int, line.split())) for line in folder.out.splitlines()]
    same(len(said), 4)
    for pair in said:
        assert pair in [(event.size, event.usable)
                        for event in recording.events
                        if event.kind in (ALLOC, RESIZE)]


@test
def waits_with_an_end_are_waits_and_threads_have_names(folder):
    recording, _ = calls(folder)
    same([name for _, name in recording.threads],
         ['named by prctl', 'waits a lot'])
    waits = [wait for wait in recording.waits() if wait.thread == 1]
    in_vain = [(WAIT, kind | IN_VAIN) for kind in (MUTEX, READ, WRITE)
               for _ in range(2)]
    same([(wait.kind, wait.flags) for wait in waits],
         in_vain + [(SEMAPHORE, IN_VAIN)] * 2 + [(SEMAPHORE, 0)])
    assert all(wait.size > 1000000 for wait in waits)
    # A release is recorded only if a thread waits.
    assert all(any(is_within(event, wait) for wait in recording.waits())
               for event in recording.releases())


@test
def a_child_knows_when_it_was_forked(folder):
    parent, child = calls(folder)
    same(parent.forked, 0)
    assert parent.start < child.forked <= child.start
    assert child.forked - parent.start < parent.events[-1].ticks
    same(len(child.of_size(555555)), 1)
    # The parent's wait does not count in the child, which waits once itself.
    same(len(child.waits()), 1)
    no_losses(child, inside=1)


@test
def a_library_in_place_of_another_has_its_own_names(folder):
    libraries = [folder.program(f'unloaded_{name}.so')
                 for name in ('first', 'second')]
    folder.record(folder.program('unloading_program'), *libraries)
    recording = folder.recording()
    depths = set()
    for size, function, library in ((1001, 'first_allocates', libraries[0]),
                                    (2002, 'second_allocates', libraries[1])):
        found = recording.of_size(size)
        leaves = {recording.stacks[event.stack][0] for event in found}
        same((len(found), len(leaves)), (10, 1))
        leaf = recording.frames[leaves.pop()]
        same((leaf.function, recording.module(leaf)), (function, library))
        depths |= {len(recording.stacks[event.stack]) for event in found}
    # The second library's function has a larger frame at the same address.
    assert len(depths) == 1 and depths.pop() > 2
    # A library that is mapped at two places is two modules.
    same([recording.functions(event)[1] for event in recording.of_size(3003)],
         ['first_asks'] * 2)


# ---- Programs that know nothing of us, and commands that cannot be run ----

@test
def programs_that_know_nothing_of_us_are_recorded(folder):
    # Distributions remove symbols from programs; this function is exported.
    for words, least, function in (
            (('git', 'init', '-q', 'repository'), 50, None),
            (('git', '-C', 'repository', 'status'), 50, None),
            (('/usr/bin/python3', '-c', '''
import threading
t = [threading.Thread(target=lambda: [bytearray(9000) for i in range(200)])
     for n in range(4)]
[x.start() for x in t]
[x.join() for x in t]'''), 500, None),
            (('sqlite3', ':memory:', '''
create table t(a, b); with recursive c(x) as (select 1 union all select x + 1
from c where x < 2000) insert into t select x, 'row ' || x from c;
select count(*) from t'''), 2000, 'sqlite3_step')):
        folder.record(*words)
        recording = folder.recording()
        assert recording.allocs >= least
        assert function is None or function in {
            frame.function for frame in recording.frames}
        same(recording.dropped['missed'], 0)


@test
def what_cannot_be_recorded_is_an_error_of_ours(folder):
    program = folder.program('recorded_program')
    for words, code in ((['--', '/no/such/command'], 127),
                        (['--', 'no-such-command'], 127), (['--', '/'], 126),
                        (['--depth', '0', program], 125),
                        (['--limit', '12q', program], 125),
                        (['--nonsense', program], 125), ([], 125)):
        same((words, folder.run(folder.profsim, 'record', '-o', 'none.rec',
                                *words)), (words, code))
    os.mkdir('folder.rec')
    same(folder.run(folder.profsim, 'record', '-o', 'folder.rec', program,
                    '_exit'), 125)
    assert not os.path.exists('none.rec')
    folder.expect_no_spools()


if __name__ == '__main__':
    sys.exit(run_tests(Folder(*sys.argv[1:3]), 'recorder'))
