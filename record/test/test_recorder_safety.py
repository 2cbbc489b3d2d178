#!/usr/bin/env python3
# build: as=safety args='out/gcc/profsim out/gcc/record/test 50'
# build: args='out/gcc/profsim out/gcc/record/test 1000' when=long
"""The recorder does no harm: guarded_program runs under it as it does alone,
whatever it does and whichever resource is exhausted.

usage: [TEST_FILTER=TEST] test_recorder_safety.py PROFSIM FOLDER-OF-PROGRAMS
       ROUNDS
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from recorded import Folder, Recorded, run_tests, same, test

MORE_STACK_BYTES = 2048 # that the recorder may use


def guarded(folder, *words, **how):
    """Record guarded_program, which ends with 0 if nothing of its own was
    touched."""
    folder.record(folder.program('guarded_program'), *words, **how)
    folder.expect_no_spools()


def alone(folder, *words):
    same(folder.run(folder.program('guarded_program'), *words), 0)


def number_in(text, pattern):
    return int(re.search(pattern, text).group(1))


# ---- What is the program's own ----

@test
def descriptors_are_the_programs(folder):
    alone(folder, 'descriptors')
    guarded(folder, 'descriptors')
    assert folder.recording().allocs > 4 * 5000


@test
def errno_is_the_programs(folder):
    alone(folder, 'errno')
    guarded(folder, 'errno')
    assert 4 <= folder.recording().allocs <= 10


@test
def a_small_stack_is_enough(folder):
    def uses():
        pairs = [line.split() for line in open('stacks')]
        return {where: int(size) for where, size in pairs}

    alone(folder, 'stacks', 'stacks')
    want = uses()
    guarded(folder, 'stacks', 'stacks')
    got = uses()
    same(sorted(got), ['child', 'coroutine', 'signal', 'thread'])
    assert all(got[where] <= want[where] + MORE_STACK_BYTES for where in got)


@test
def a_limit_of_memory_is_the_programs(folder):
    for limit in 48 << 20, 300 << 20, 1024 << 20:
        alone(folder, 'memory-limit', str(limit))
        want = int(folder.out)
        guarded(folder, 'memory-limit', str(limit))
        assert want > 30 and int(folder.out) >= want - 1 - (limit >> 24)


@test
def a_limit_of_files_ends_the_log_alone(folder):
    guarded(folder, 'file-limit', '0')
    guarded(folder, 'file-limit', '262144')
    recording = folder.recording()
    assert recording.allocs > 1000 and recording.dropped['limit'] > 0
    guarded(folder, 'lowered-file-limit')
    assert folder.recording().allocs > 1000


def on_disk(folder, options, *words):
    """Record with the spools on a disk of their own, which is empty
    afterwards. returns: None if this container has no such disks"""
    mount = ['unshare', '-m'] if os.geteuid() == 0 else ['unshare', '-mUr']
    script = ('mount -t tmpfs -o "$1" tmpfs "$2" || exit 77; shift; spools=$1;'
              'shift; "$@"; code=$?; [ -z "$(ls "$spools")" ] || code=78;'
              'exit $code')
    code = 77 # in a chroot even the first call fails
    if folder.run(*mount, 'true') == 0:
        code = folder.run(*mount, 'sh', '-c', script, 'sh', options,
                          folder.spools, folder.profsim, 'record', '-o',
                          'x.rec', '--limit=16777216',
                          folder.program('guarded_program'), *words)
    if code == 77:
        print('skipped: a_full_disk_ends_the_log_alone: no private disk here')
        return None
    return code


@test
def a_full_disk_ends_the_log_alone(folder):
    for words in ('fill',), ('full-disk', folder.spools + '/fill'):
        code = on_disk(folder, 'size=6m', *words)
        if code is None:
            return
        same(code, 0)
        recording = folder.recording()
        assert recording.allocs >= 1000 and recording.dropped['disk'] > 0
    # Nothing is recorded, but the program runs on as usual.
    if os.path.exists('stacks'):
        os.unlink('stacks')
    same(on_disk(folder, 'size=4k', 'stacks', 'stacks'), 0)
    assert os.path.exists('stacks')


@test
def a_folder_of_the_same_name_is_not_written_to(folder):
    guarded(folder, 'replaced')
    guarded(folder, 'linked')


@test
def what_else_is_preloaded_stays(folder):
    others = ''.join(f'/nowhere/{i:0150}.so:' for i in range(110))
    os.environ['LD_PRELOAD'] = os.environ['OTHERS'] = others
    try:
        folder.record('sh', '-c',
                      'case $LD_PRELOAD in *:"$OTHERS") ;; *) false ;; esac')
    finally:
        del os.environ['LD_PRELOAD']
    folder.expect_no_spools()


# ---- Forks ----

@test
def forks_in_handlers_neither_die_nor_hang(folder):
    for call, threads in (('fork', 0), ('_Fork', 0), ('fork', 2),
                          ('_Fork', 2)):
        guarded(folder, call, str(threads),
                options=('--images=1', '--limit=1048576'))
        assert folder.recording().allocs > 100


@test
def a_fork_at_any_instruction_is_survived(folder):
    """From the fork on each child has a log of its own, and it is complete."""
    alone(folder, 'fork-everywhere')
    guarded(folder, 'fork-everywhere',
            options=('--images=3', '--limit=1048576'))
    forked = number_in(folder.err, 'guarded_program: forked: ([0-9]+)')
    assert forked > 200
    same(number_in(folder.err, 'profsim record: ([0-9]+) smaller process') + 3,
         forked + 1)
    for suffix in '', '.2', '.3':
        recording = folder.recording(suffix)
        assert (100 if suffix else 202) <= recording.allocs <= 204
        same(recording.dropped['limit'], 0)


# ---- Who outlives whom ----

def await_word(path):
    """The process id that guarded_program writes when it holds."""
    for _ in range(10000):
        if os.path.exists(path) and open(path).read().endswith('\n'):
            return int(open(path).read())
        time.sleep(0.002)
    raise AssertionError(f'no {path} after 20 s')


def await_end(process):
    for _ in range(10000):
        try:
            with open(f'/proc/{process}/stat') as stat:
                if stat.read().rsplit(')')[1].split()[0] == 'Z':
                    return
        except OSError:
            return
        time.sleep(0.002)
    raise AssertionError(f'{process} still runs after 20 s')


def let_go(word):
    process = await_word(word)
    os.unlink(word)
    await_end(process)


def recover(folder, file, *options):
    spools, = os.listdir(folder.spools)
    return folder.run(folder.profsim, 'recover', '-o', file, *options,
                      os.path.join(folder.spools, spools))


@test
def what_was_logged_outlives_the_one_who_asked(folder):
    """And a save that fails removes nothing, not even a spool that would have
    been dropped, had the recording been saved."""
    for name in 'x.rec', 'x.rec.2':
        if os.path.exists(name):
            os.unlink(name)
    with open('err', 'w') as err:
        recorder = subprocess.Popen(
            (folder.profsim, 'record', '-o', 'x.rec', 'sh', '-c',
             '"$0" some; exec "$0" hold word',
             folder.program('guarded_program')), stderr=err)
    await_word('word')
    recorder.send_signal(signal.SIGKILL)
    same(recorder.wait(), -signal.SIGKILL)
    let_go('word')
    same(recover(folder, '/dev/full', '--images=1'), 1)
    same(recover(folder, 'x.rec'), 0)
    assert 20000 <= folder.recording().allocs <= 20020
    assert any(1000 <= Recorded(name).allocs <= 1020
               for name in os.listdir('.') if name.startswith('x.rec.'))
    folder.expect_no_spools()


@test
def a_daemon_is_saved_while_it_runs_and_after(folder):
    # The shell allocates each time it sleeps: few times, or it would ask for
    # more bytes than the daemon, and be the recording.
    folder.record('sh', '-c', '"$0" daemon word; '
                  'while ! [ -s word ]; do sleep 0.3; done',
                  folder.program('guarded_program'), options=('--images=9',))
    assert 500 <= folder.recording().allocs <= 520
    let_go('word')
    same(recover(folder, 'x.rec'), 0)
    assert 1000 <= folder.recording().allocs <= 1020
    folder.expect_no_spools()


# ---- Which image is recorded, and which is named as missing ----

@test
def the_program_behind_a_starter_is_recorded(folder):
    with open('x.c', 'w') as source:
        source.writelines(f'int f{i}(int a) {{ return a + {i}; }}\n'
                          for i in range(50))
    program = folder.program('guarded_program')
    for words, name in (
            (('env', 'A=1', program, 'some'), 'guarded_program'),
            (('sh', '-c', '"$0" some; true', program), 'guarded_program'),
            (('chroot', '/', program, 'some'), 'guarded_program'),
            (('gcc', '-c', '-O1', '-o', '/dev/null', 'x.c'), 'cc1')):
        if words[0] != 'chroot' or os.geteuid() == 0:
            folder.record(*words)
            same(os.path.basename(folder.recording().arguments[0]), name)
    # Of two that allocate equally much, it is the last.
    folder.record(program, 'again')
    same([folder.recording(suffix).arguments[1] for suffix in ('', '.2')],
         ['some', 'again'])
    folder.expect_no_spools()


SPAWN = '''
import os, sys
words = [sys.argv[1], 'some']
os.waitpid(os.posix_spawn(words[0], words, %s), 0)'''


@test
def an_image_that_lost_the_recorder_is_named(folder):
    """By exec or posix_spawn; one that keeps the environment, or a program
    that is not found, is not named."""
    program = folder.program('guarded_program')
    for is_lost, words in (
            (True, ('sh', '-c', 'env -i "$0" some; true', program)),
            (True, ('python3', '-S', '-c', SPAWN % '{}', program)),
            (False, ('sh', '-c', 'env nowhere 2>&-; env "$0" some; true',
                     program)),
            (False, ('python3', '-S', '-c', SPAWN % 'os.environ', program)),
            # Calls whose arguments are a list execute it with these.
            (True, (program, 'execl')), (True, (program, 'execlp')),
            (True, (program, 'execle'))):
        folder.record(*words)
        same('not recorded: process' in folder.err, is_lost)
        same('1 executed program ran without the recorder' in folder.err,
             is_lost)
    folder.expect_no_spools()


if __name__ == '__main__':
    os.environ['GUARDED_ROUNDS'] = sys.argv[3] # of the forks in handlers
    sys.exit(run_tests(Folder(*sys.argv[1:3]), 'safety'))
