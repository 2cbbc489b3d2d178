#!/usr/bin/env python3
"""Rows of mutants.py to a matrix and a score.

usage: report.py CSV MD ROW...
       report.py page CSV >HTML
out: the csv, a page of it, the md, the matrix and the score on standard output,
     a line for each mutant that is not caught as its header demands; then
     exit 1
"""
import csv as csv_format
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'cli', 'page'))
import measurements  # noqa: E402

INTRODUCTION = '''<!-- made by: make mutants FULL=1 -->
# Mutants

Each is one mistake in the library or in the harness, a patch in
fixtures/mutants/, and must be caught by what its header names: a
property, when no other is asked for; a goal that a campaign then
misses; a test; or a kernel that the explorer runs. The seeds of a
campaign are 1, 2, 3, ..., so the numbers are runs to detection; those
of a kernel are orderings tried. `holds` is a change that is not wrong.
'''


def properties():
    """Those that campaigns judge; as mutant_trial.c."""
    with open('props/property.def', encoding='utf-8') as file:
        return re.findall(r'^X\(([BCDHLTX]\w*),', file.read(), re.M)


class Row:
    def __init__(self, path):
        self.first_seed = self.first_what = self.events = self.unfinished = ''
        self.alone = {}   # property: first seed
        self.tests = {}   # word: the case that failed
        self.missed = set()
        self.kernels = {} # name: (runs, how)
        with open(path, encoding='utf-8') as file:
            for line in file:
                kind, _, rest = line.rstrip('\n').partition(' ')
                self.note(kind, rest)
        self.words = self.demand.split()
        self.failures = []
        self.verdict = self.judged()

    def note(self, kind, rest):
        words = rest.split()
        if kind in ('name', 'title', 'issue', 'survives'):
            setattr(self, kind, rest)
        elif kind == 'caught-by':
            self.demand = rest
        elif kind == 'first':
            self.first_seed, self.first_what = words[:2]
            self.events = words[2] if len(words) > 2 else ''
        elif kind == 'alone':
            self.alone[words[0]] = int(words[1])
        elif kind == 'missed':
            self.missed.add(words[0])
        elif kind == 'test':
            self.tests[words[0]] = ' '.join(words[1:])
        elif kind == 'kernel':
            self.kernels[words[0]] = int(words[1]), ' '.join(words[2:])
        elif kind == 'unfinished':
            self.unfinished = f'exit {rest}'

    def is_caught(self, word):
        if word == 'crash':
            return self.first_what == 'crash'
        if word.startswith(('test_', 'run:')):
            return word in self.tests
        kind, _, name = word.partition(':')
        if kind == 'cover':
            return name in self.missed
        if kind == 'kernel':
            return name in self.kernels
        return word in self.alone

    def fail(self, text):
        self.failures.append(f'mutants: {self.name}: {text}')

    def judged(self):
        if self.demand == 'nobody':
            if self.first_what:
                self.fail(f'was to hold, but breaks {self.first_what} at seed '
                          f'{self.first_seed}')
                return 'BROKEN'
            return self.not_judged() or 'holds'
        caught = all(self.is_caught(word) for word in self.words)
        if not caught and self.unfinished:
            return self.not_judged()
        if self.survives:
            if caught:
                self.fail('is caught now; take `survives` out of its header')
            return 'survives'
        if caught:
            return 'caught'
        found = [self.first_what] if self.first_what else []
        found += [f'{name}:{seed}' for name, seed in self.alone.items()]
        self.fail(f'survives: wanted {self.demand}, found '
                  f'{" ".join(found) or "nothing"}')
        return 'SURVIVES'

    def not_judged(self):
        """Its judge did not end: it is neither caught nor does it survive."""
        if not self.unfinished:
            return ''
        self.fail(f'is not judged: did not finish ({self.unfinished})')
        return 'NOT JUDGED'

    def detection(self):
        """Return how many runs it took until the demanded property was broken,
        judged alone; of several, the most. "" if a test or a goal catches it."""
        if self.verdict != 'caught':
            return ''
        runs = [self.alone[word] for word in self.words if word in self.alone]
        runs += [self.kernels[word[7:]][0] for word in self.words
                 if word[7:] in self.kernels]
        if runs:
            return max(runs)
        return int(self.first_seed) if self.first_what == 'crash' else ''

    def by_whom(self):
        parts = []
        for word in self.words:
            part = f'{word}: {self.tests[word]}' if word in self.tests else word
            if word[7:] in self.kernels:
                part += f' ({self.kernels[word[7:]][1]})'
            parts.append(part)
        return ', '.join(parts)


def by_project(bug):
    project, _, number = bug.partition('#')
    return project, int(number) if number.isdigit() else 0, bug


def table(head, rows):
    """Lines of a table."""
    return [f'| {" | ".join(map(str, row))} |' for row in
            (head, *rows)][:1] + ['|---' * len(head) + '|'] + \
        [f'| {" | ".join(map(str, row))} |' for row in rows]


def real_bugs(rows):
    made_by = {}
    for row in rows:
        for bug in row.issue.split():
            made_by.setdefault(bug, []).append(
                f'{row.name} ({row.by_whom() if row.verdict == "caught" else row.verdict})')
    return [(bug, '; '.join(made_by[bug]))
            for bug in sorted(made_by, key=by_project)]


def page(rows, columns, score, runs, bugs, others):
    held = sum(row.verdict == 'holds' for row in rows)
    lines = [INTRODUCTION, f'{score}; {held} hold.',
             f'Median runs to detection: {statistics.median_low(runs or [0])}, '
             f'most: {max(runs, default=0)}.', '']
    lines += table(
        ['mutant', 'caught by', 'runs', 'named by', 'events, shrunk',
         'what is wrong'],
        [(row.name, row.by_whom() if row.verdict == 'caught' else
          f'**{row.verdict}**', row.detection(), row.first_what, row.events,
          row.title + (f' ({row.issue})' if row.issue else '') +
          (f'; survives: {row.survives}' if row.survives else ''))
         for row in rows])
    lines += ['', '## Real bugs', '',
              f'{len(bugs)} reports of bugs that Go and others had, and what makes',
              'the same mistake here.', '']
    lines += table(['bug', 'mutant (caught by)'], bugs)
    lines += ['', '## Mutant and property', '',
              'The first seed at which a property, asked for alone, is broken. Those',
              f'that a header names had all its runs, the others {others}.', '']
    seeds = [(row.name, *(row.alone.get(name, '') for name in columns))
             for row in rows]
    kills = [sum(name in row.alone for row in rows) for name in columns]
    lines += table(['mutant', *columns],
                   [line for line in seeds if any(line[1:])] +
                   [('mutants it catches', *kills)])
    return '\n'.join(lines) + '\n'


def csv_of(rows, columns):
    lines = [','.join(['mutant', 'verdict', 'caught by', 'runs', 'named by',
                       'events', *columns, 'issue', 'title'])]
    for row in rows:
        lines.append(','.join(map(str, [
            row.name, row.verdict, f'"{row.by_whom()}"', row.detection(),
            row.first_what, row.events,
            *(row.alone.get(name, '') for name in columns), row.issue,
            f'"{row.title}"'])))
    return '\n'.join(lines) + '\n'


def cell_of(row):
    return [row['caught by'] if row['verdict'] == 'caught' else row['verdict'],
            None if row['verdict'] in ('caught', 'holds') else 'bad']


def html_of(text):
    """A page of the lines of the csv."""
    rows = list(csv_format.DictReader(text.splitlines()))
    verdicts = [row['verdict'] for row in rows]
    runs = [int(row['runs']) for row in rows if row['runs']]
    killed = {name: sum(bool(row[name]) for row in rows)
              for name in (rows[0] if rows else []) if re.match('[A-Z]+[0-9]', name)}
    return measurements.page(
        'Mutants', [INTRODUCTION.split('\n\n', 1)[1].replace('\n', ' ')], [
            {'title': 'Each mutant', 'text': '',
             'columns': ['mutant', 'caught by', 'runs', 'named by',
                         'events, shrunk', 'what is wrong'],
             'rows': [[row['mutant'], cell_of(row),
                       row['runs'] and int(row['runs']), row['named by'],
                       row['events'] and int(row['events']),
                       row['title'] + (f' ({row["issue"]})' if row['issue'] else '')]
                      for row in rows]},
            {'title': 'Each property', 'text': 'How many mutants it catches, asked '
             'for alone.', 'columns': ['property', 'mutants'],
             'rows': [[name, count] for name, count in killed.items()]}],
        [(verdicts.count(name), name) for name in dict.fromkeys(verdicts)] +
        [(statistics.median_low(runs or [0]), 'runs to detection, median'),
         (max(runs, default=0), 'runs, most')])


def write(paths, csv, md, others='a twentieth'):
    """Both files and the summary; returns the exit code."""
    rows = [Row(path) for path in paths]
    columns = properties()
    judged = [row for row in rows
              if row.verdict not in ('holds', 'BROKEN', 'NOT JUDGED')]
    caught = sum(row.verdict == 'caught' for row in judged)
    score = f'{caught} of {len(judged)} mutants caught ' \
        f'({100 * caught / max(len(judged), 1):.1f} %)'
    runs = [row.detection() for row in rows if row.detection() != '']
    bugs = real_bugs(rows)
    for path, text in ((csv, csv_of(rows, columns)),
                       (re.sub('[.]csv$', '', csv) + '.html',
                        html_of(csv_of(rows, columns))),
                       (md, page(rows, columns, score, runs, bugs, others))):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    for row in rows:
        print(f'{row.name:<35} '
              f'{row.by_whom() if row.verdict == "caught" else row.verdict}')
    print(f'{score}; median runs to detection '
          f'{statistics.median_low(runs or [0])}; {len(bugs)} real bugs')
    failures = [text for row in rows for text in row.failures]
    for text in failures:
        print(text, file=sys.stderr)
    return 1 if failures or not rows else 0


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == 'page':
        with open(sys.argv[2], encoding='utf-8') as table:
            sys.stdout.write(html_of(table.read()))
        sys.exit(0)
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(write(sys.argv[3:], sys.argv[1], sys.argv[2]))
