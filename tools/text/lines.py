#!/usr/bin/env python3
"""lines.py -- how much text the project may have.

    tools/text/lines.py            check the limits
    tools/text/lines.py table      print the lines of each folder

Product is the C of what ships; all that tests it is tests: test/, props/,
examples, fixtures' programs, the bugs of the catalogue, live subjects, tools.
Tests never exceed the product. Pictures and recordings do not count.
"""
import os
import subprocess
import sys

# 190,000 and 92,000, and 2,400 of the product that came later with its tests.
TOTAL_MAX = 194800
PRODUCT_MAX = 94400
PRODUCT = ('prof', 'sim', 'model', 'subjects', 'explore', 'record', 'command',
           'common')
TESTING = ('subjects/live', 'subjects/catalogue/bugs', 'explore/examples')
PICTURES = ('.png', '.svg', '.rec')


def kind_of(path):
    """returns: product, tests or rest"""
    parts = path.split('/')
    if 'test' in parts or parts[0] in ('props', 'tools', 'fixtures') or \
            path.startswith(TESTING):
        return 'tests'
    if parts[0] in PRODUCT and path.endswith(('.c', '.h', '.def')):
        return 'product'
    return 'rest'


def counted():
    """returns: lines by (folder, kind)"""
    names = subprocess.run(['git', 'ls-files', '-z'], check=True, text=True,
                           capture_output=True).stdout.split('\0')
    lines = {}
    for name in names:
        if not name or name.endswith(PICTURES) or not os.path.isfile(name):
            continue
        with open(name, 'rb') as file:
            text = file.read()
        if b'\0' in text:
            continue
        key = (name.split('/')[0] if '/' in name else '.', kind_of(name))
        lines[key] = lines.get(key, 0) + text.count(b'\n')
    return lines


def main(words):
    lines = counted()
    sums = {kind: sum(count for (_, k), count in lines.items() if k == kind)
            for kind in ('product', 'tests', 'rest')}
    total = sum(sums.values())
    if words == ['table']:
        for (folder, kind), count in sorted(lines.items()):
            print(f'{folder:12} {kind:8} {count:7}')
    limits = [('all text', total, TOTAL_MAX),
              ('product', sums['product'], PRODUCT_MAX),
              ('tests', sums['tests'], sums['product'])]
    failed = 0
    for name, count, most in limits:
        failed += count > most
        print(f'{name}: {count} lines, at most {most}'
              f'{": TOO MANY" if count > most else ""}')
    print(f'lines: {len(limits) - failed} passed, {failed} failed')
    return failed > 0


sys.exit(main(sys.argv[1:]))
