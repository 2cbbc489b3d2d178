#!/usr/bin/env python3
"""No circle of files: no two or more files of a product (a top folder) need each other.

A file needs another of its product if it uses a function or a variable that only
the other defines. A function that several files define, such as embed_on_alloc(), is an
interface: its caller does not depend on one of these files. So is a hook, such as
malloc(), which has the name of a function of libc.
What an inline function of a header uses, its callers use.
usage: tools/text/circles.py FILE.c FILE.h...
"""
import collections
import re
import sys

NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*', re.S | re.M)
FUNCTION = re.compile(r"^(\w+)\([^;{]*?\)\s*(?:__attribute__\(\(.*?\)\)\s*)?\{", re.M | re.S)
VARIABLE = re.compile(r"^(?!static|typedef|extern|return)[A-Za-z_][\w \*]*?[ \*](\w+)"
                      r"(?:\[[^\]]*\])*(?: =|;)", re.M)
INLINE = re.compile(r"^static inline [^;{]*?(\w+)\([^;{]*?\)\s*\{", re.M | re.S)
USE = re.compile(r"(?<![\w.])(?<!->)(?<!struct )(?<!enum )([A-Za-z_]\w*)")


def read(path):
    """returns: the names that the file defines for others, and those it uses"""
    with open(path, encoding="utf-8") as file:
        text = NO_CODE.sub(" ", file.read())
    lines = text.split("\n")
    own = set()
    names = {name for name in VARIABLE.findall(text) if name != "__attribute__"}
    for found in FUNCTION.finditer(text):
        above = lines[text.count("\n", 0, found.start()) - 1]
        (own if re.search(r"\bstatic\b|EMBED_HOOK", above) else names).add(found.group(1))
    return names - {"__attribute__"}, set(USE.findall(text)) - own


def inlines(path):
    """returns: for each inline function of a header, the names that it uses"""
    with open(path, encoding="utf-8") as file:
        text = NO_CODE.sub(" ", file.read())
    return {found.group(1): set(USE.findall(text[found.end():text.index("\n}", found.end())]))
            for found in INLINE.finditer(text)}


def circles(needs):
    """returns: the sets of files that reach each other, of more than one file"""
    reached = {}
    for start in needs:
        seen, waiting = set(), [start]
        while waiting:
            new = needs[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    return {frozenset(b for b in reached[a] if a in reached[b])
            for a in needs if a in reached[a]}


def main():
    rooms = collections.defaultdict(dict)
    definers = collections.defaultdict(collections.Counter)
    headers = {}
    for path in sys.argv[1:]:
        if path.endswith(".h"):
            headers.update(inlines(path))
    for path in sorted(p for p in sys.argv[1:] if p.endswith(".c")):
        names, uses = read(path)
        waiting = uses & headers.keys()
        while waiting:
            more = headers[waiting.pop()] - uses
            uses |= more
            waiting |= more & headers.keys()
        room, _, file = path.partition("/") if path[0] != "/" else path.rpartition("/")
        rooms[room][file] = names, uses
        definers[room].update(names)
    failed = 0
    for room, files in sorted(rooms.items()):
        interfaces = {name for name, count in definers[room].items() if count > 1}
        needs = {a: {b for b in files if b != a and files[a][1] & files[b][0] - interfaces}
                 for a in files}
        for circle in sorted(circles(needs), key=sorted):
            failed += 1
            print("%s: %s need each other" % (room, ", ".join(sorted(circle))))
            for a in sorted(circle):
                for b in sorted(needs[a] & circle):
                    print("    %s needs %s: %s" % (
                        a, b, " ".join(sorted(files[a][1] & files[b][0] - interfaces))))
    print("circles: %d passed, %d failed" % (len(rooms) - failed, failed))
    return failed > 0 or not rooms


if __name__ == "__main__":
    sys.exit(main())
