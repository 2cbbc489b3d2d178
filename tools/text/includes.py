#!/usr/bin/env python3
"""Which folder may include which: the table of ARCHITECTURE.md, for every folder.

An include in quotes is a path from the top ("explore/engine/thread.h") or one of the
library's public headers ("prof/prof.h"); no name stands for two headers. The core
includes no system header but these. Programs that are written as a user would write
them (AS_A_USER) include what stands beside them.
usage: tools/text/includes.py FILE...      (all sources and headers)
"""
import os
import re
import sys

ROW = re.compile(r"^\| ((?:`[^`]+`[, ]*)+) \| .* \| (.*) \|$", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)', re.M)
CORE = set("limits.h stdalign.h stdatomic.h stdbool.h stddef.h stdint.h string.h"
           " xxhash.h".split())
AS_A_USER = ("docs/", "explore/examples/", "explore/test/programs/", "fixtures/", "bench/peers/",
             "subjects/catalogue/worlds/", "subjects/explored.c")


def table():
    """returns: for each folder of the table, those it may include; None: all"""
    with open("ARCHITECTURE.md", encoding="utf-8") as page:
        rows = ROW.findall(page.read())
    return {folder: None if may == "all" else re.findall(r"`([^`]+)`", may)
            for folders, may in rows for folder in re.findall(r"`([^`]+)`", folders)}


def main():
    may, known, wrong, names = table(), set(sys.argv[1:]), [], {}
    for path in sorted(known):
        name = os.path.basename(path)
        if path.endswith((".h", ".def")) and not path.startswith(AS_A_USER):
            if names.setdefault(name, path) != path:
                wrong.append("%s: %s has the same name" % (path, names[name]))
        row = next((f for f in sorted(may, key=len, reverse=True) if path.startswith(f)), None)
        if path.startswith(AS_A_USER):
            continue
        if row is None:
            wrong.append("%s: no row of ARCHITECTURE.md says what it may include" % path)
            continue
        with open(path, encoding="utf-8") as file:
            includes = INCLUDE.findall(file.read())
        core = path.startswith("prof/") and not path.startswith(("prof/port/", "prof/test/"))
        for quote, name in includes:
            if quote == "<":
                if core and name not in CORE:
                    wrong.append("%s: the core does not use <%s>" % (path, name))
                continue
            target = name if name in known else "prof/include/" + name
            if target not in known:
                wrong.append('%s: "%s" is no path from the top' % (path, name))
            elif may[row] is not None and not target.startswith((row, *may[row])):
                wrong.append('%s: "%s" is not in `%s` nor in what it may include' % (
                    path, name, row))
    print("\n".join(wrong + ["includes: %d passed, %d failed" % (
        len(known) - len(wrong), len(wrong))]))
    return bool(wrong) or not known


if __name__ == "__main__":
    sys.exit(main())
