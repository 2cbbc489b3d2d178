#!/usr/bin/env python3
"""The rows of ring.c as an SVG.

usage: ring.py <ROWS >ring.svg
"""
import sys
from xml.sax.saxutils import escape

LEFT, WIDTH, HEIGHT, TOP = 250, 130, 34, 64
COLUMNS = ['slot 0', 'slot 1', 'slot 2', 'snapshot shows']
COLORS = ['#d6e6f5', '#d6e6f5', '#d6e6f5', '#dff2d8']


def text(x, y, words, anchor='middle', weight='normal'):
    return (f'<text x="{x}" y="{y}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')


def counts(allocs, frees):
    words = [f'{allocs} alloc{"s" if allocs != 1 else ""}'] if allocs else []
    words += [f'{frees} free{"s" if frees != 1 else ""}'] if frees else []
    return ', '.join(words)


def main():
    rows = [line.rstrip('\n').split(',') for line in sys.stdin]
    height = TOP + HEIGHT * len(rows) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + 4 * WIDTH + 20}" '
           f'height="{height}" font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>',
           text(16, 24, 'Three slots hold what recent cycles recorded; a flush '
                'publishes the oldest', 'start', 'bold')]
    for i, name in enumerate(COLUMNS):
        out.append(text(LEFT + (i + 0.5) * WIDTH, TOP - 10, name))
    before = None
    for number, row in enumerate(rows):
        y = TOP + number * HEIGHT
        cycle, event, *values = row
        values = [int(value) for value in values]
        if cycle != before:
            out.append(f'<line x1="12" x2="{LEFT + 4 * WIDTH}" y1="{y}" y2="{y}" '
                       'stroke="#999"/>')
            out.append(text(16, y + 22, f'cycle {cycle}', 'start', 'bold'))
        before = cycle
        out.append(text(90, y + 22, event, 'start'))
        for i in range(len(COLUMNS)):
            words = counts(*values[2 * i:2 * i + 2])
            if words:
                out.append(f'<rect x="{LEFT + i * WIDTH + 4}" y="{y + 4}" '
                           f'width="{WIDTH - 8}" height="{HEIGHT - 8}" rx="4" '
                           f'fill="{COLORS[i]}"/>')
                out.append(text(LEFT + (i + 0.5) * WIDTH, y + 22, words))
    out.append(text(16, height - 16, 'Made by `make pictures` from a run of '
                    'docs/pictures/ring.c.', 'start'))
    print('\n'.join(out + ['</svg>']))


if __name__ == '__main__':
    main()
