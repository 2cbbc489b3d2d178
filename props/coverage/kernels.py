#!/usr/bin/env python3
"""Which functions that share memory between threads no kernel runs.

    kernels.py EXPORT     EXPORT: `llvm-cov export` of the kernels' run alone

A function shares memory if its text calls an operation of atomic.h or takes a
lock. Exit 1 if one is entered by no kernel and has no reason below, or a reason
is out of date.
"""
import collections
import json
import re
import sys

SHARES = re.compile(
    r'\b(atomic_\w+|(load|store|add|sub|or|swap|cas)\w*'
    r'_(owned|relaxed|acquire|release|acq_rel|seq_cst)|add_owned|'
    r'prof_port_(lock_\w+|wait|wake|barrier))\(')

REASONS = {
    'prof_port_lock_reset': 'a child after fork has one thread',
}


def body(file, first, last, lines={}):
    if file not in lines:
        with open(file, encoding='utf-8') as source:
            lines[file] = source.read().split('\n')
    return '\n'.join(lines[file][first - 1:last])


def main(export):
    with open(export, encoding='utf-8') as file:
        functions = json.load(file)['data'][0]['functions']
    entered = collections.Counter()
    for function in functions:
        file = function['filenames'][0]
        first, _, last = function['regions'][0][:3]
        name = function['name'].split(':')[-1]
        # props/kernels/lock.c takes the port's source in under these names.
        name = re.sub('^real_', 'prof_port_', name)
        if '/prof/' in file and SHARES.search(body(file, first, last)):
            entered[file.split('/prof/')[-1], name] += function['count']
    missed = sorted(key for key, count in entered.items() if count == 0)
    open_ = [key for key in missed if key[1] not in REASONS]
    stale = sorted(set(REASONS) - {name for _, name in missed})
    for file, name in open_:
        print(f'prof/{file}: {name} shares memory, and no kernel runs it')
    for name in stale:
        print(f'kernels.py: the reason for {name} is out of date')
    print(f'coverage: kernels run {len(entered) - len(missed)} of {len(entered)} '
          f'functions that share memory; {len(missed) - len(open_)} have a reason')
    return 1 if open_ or stale else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
