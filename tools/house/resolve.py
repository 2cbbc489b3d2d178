"""Which file each #include of the old tree names, as the old build found it."""
import collections, json, os, re, subprocess
INCLUDE = re.compile(r'^(\s*#\s*include\s+)"([^"]+)"(.*)$')

def tracked():
    return subprocess.run(["git", "ls-files"], capture_output=True, text=True,
                          check=True).stdout.split("\n")[:-1]

def compile_lists():
    """source -> the lists of -iquote/-I folders it is compiled with"""
    lists = collections.defaultdict(list)
    out = subprocess.run(["ninja", "-t", "compdb"], capture_output=True, text=True).stdout
    for edge in json.loads(out):
        words = edge["command"].split()
        folders = []
        for i, w in enumerate(words):
            if w == "-iquote" or w == "-I":
                folders.append(words[i + 1])
            elif w.startswith("-iquote"):
                folders.append(w[7:])
            elif w.startswith("-I"):
                folders.append(w[2:])
        src = edge["file"]
        if folders not in lists[src]:
            lists[src].append(folders)
    return lists

def resolve(files):
    """(file, name) -> path, for every include in quotes that is found"""
    known = set(files)
    by_name = collections.defaultdict(list)
    for f in files:
        by_name[os.path.basename(f)].append(f)
    texts = {}
    def includes(path):
        if path not in texts:
            try:
                texts[path] = [m[2] for m in map(INCLUDE.match, open(path, errors="replace")) if m]
            except (IsADirectoryError, FileNotFoundError):
                texts[path] = []
        return texts[path]
    found = collections.defaultdict(collections.Counter)
    for src, lists in compile_lists().items():
        for folders in lists:
            seen, todo = set(), [src]
            while todo:
                f = todo.pop()
                if f in seen or f not in known: continue
                seen.add(f)
                for name in includes(f):
                    for d in [os.path.dirname(f)] + folders:
                        p = os.path.normpath(os.path.join(d, name))
                        if p in known:
                            found[f, name][p] += 1
                            todo.append(p)
                            break
    result, notes = {}, []
    for f in files:
        if not re.search(r"\.(c|h|def|cc|inc|in)$", f) : continue
        for name in includes(f):
            key = f, name
            if key in found:
                if len(found[key]) > 1: notes.append("several: %s %s %s" % (f, name, dict(found[key])))
                result[key] = found[key].most_common(1)[0][0]
                continue
            here = os.path.normpath(os.path.join(os.path.dirname(f), name))
            c = [p for p in files if p == name or p.endswith("/" + name)]
            if name == "world.h" and f.startswith("subjects/catalogue/"):
                result[key] = "subjects/catalogue/small_world.h"
            elif here in known: result[key] = here
            elif "prof/include/" + name in known: result[key] = "prof/include/" + name
            elif len(c) == 1: result[key] = c[0]
            else: notes.append("unresolved: %s %s %s" % (f, name, c))
    return result, notes
