#!/usr/bin/env python3
"""The table "What is tried interleaved" of docs/semantics.md: each kernel and
goal that it names exists, each row names a kernel, and each kernel has a row.

    promises.py      exit 1 if not
"""
import fnmatch
import re
import sys

PAGE = 'docs/semantics.md'
HEADING = '## What is tried interleaved'
KERNELS = 'props/kernels/kernel.def'
GOALS = 'props/cover.def'


def names_of(path, pattern):
    with open(path, encoding='utf-8') as file:
        return set(re.findall(pattern, file.read()))


def rows():
    """returns: for each row the promise, and the names in its two columns"""
    with open(PAGE, encoding='utf-8') as file:
        section = file.read().split(HEADING + '\n')[1].split('\n## ')[0]
    cells = [line.strip('|').split('|') for line in section.split('\n')
             if line.startswith('|')]
    return [(cell[0].strip(), *(re.findall(r'`([^`]+)`', text)
                                for text in cell[1:]))
            for cell in cells[2:]]


def main():
    kernels = names_of(KERNELS, r'X\(\w+, "([^"]+)"')
    goals = names_of(GOALS, r'X\((\w+),')
    wrong = []
    tried = set()
    checked = 0
    for promise, by_kernels, by_goals in rows():
        if not by_kernels:
            wrong.append(f'no kernel tries "{promise}"')
        for name, known, where in ([(name, kernels, KERNELS)
                                    for name in by_kernels] +
                                   [(name, goals, GOALS) for name in by_goals]):
            found = fnmatch.filter(known, name)
            checked += 1
            if not found:
                wrong.append(f'"{promise}" names {name}, which is not in {where}')
            tried.update(found)
    for name in sorted(kernels - tried):
        wrong.append(f'no promise names the kernel {name}')
    for line in wrong:
        print(f'{PAGE}: {line}')
    print(f'promises: {checked + len(kernels)} passed, {len(wrong)} failed')
    return 1 if wrong or checked == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
