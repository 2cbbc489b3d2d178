#!/usr/bin/env python3
"""No text of more than ten lines occurs in two places.

Lines are compared exactly, except for spaces; empty lines, includes, and lines with
only a number do not count. The model's copy of a table of constants is deliberate: a
slip in either is noticed. fixtures/ is data: there a program and its broken form stand
side by side.
usage: tools/text/duplicates.py FILE...
"""
import re
import sys

LINES_MAX = 10
NO_CODE = re.compile(r"#\s*include\b|[-+.\d\s,xe]+$|\Z")


def lines_of(path):
    """returns: (line number, text) of each line that counts"""
    with open(path, encoding="utf-8") as file:
        squeezed = [" ".join(line.split()) for line in file]
    return [(number, text) for number, text in enumerate(squeezed, 1)
            if not NO_CODE.match(text)]


def length(one, at, two, to):
    """returns: how many lines are equal from these on"""
    count = 0
    while at + count < len(one) and to + count < len(two) and \
            one[at + count][1] == two[to + count][1]:
        count += 1
    return count


def duplicates(texts):
    """Yields (lines, path, number, path, number) of each pair that is too long."""
    first = {}
    ends = {}  # of a pair found, by its paths: what is inside is told once
    for path, lines in texts.items():
        for at in range(len(lines) - LINES_MAX):
            window = tuple(text for _, text in lines[at:at + LINES_MAX + 1])
            other, to = first.setdefault(window, (path, at))
            if (other, to) == (path, at) or \
                    (other == path and at - to <= LINES_MAX) or \
                    ends.get((other, path), -1) > at:
                continue
            count = length(texts[other], to, lines, at)
            ends[other, path] = at + count
            yield count, other, texts[other][to][0], path, lines[at][0]


def main():
    texts = {path: lines_of(path) for path in sorted(sys.argv[1:])}
    found = sorted(duplicates(texts), reverse=True)
    for count, one, at, two, to in found:
        print("%s:%d: %d lines stand in %s:%d, too" % (two, to, count, one, at))
    failed = len({two for _, _, _, two, _ in found})
    print("duplicates: %d passed, %d failed" % (len(texts) - failed, failed))
    return failed > 0 or not texts


if __name__ == "__main__":
    sys.exit(main())
