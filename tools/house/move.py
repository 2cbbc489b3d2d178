#!/usr/bin/env python3
"""Moves the tree to the new house.  usage: cd TREE && move.py plan|move|text

move: renames only.  text: includes, paths, guards (after `move`, reads plan.json).
"""
import collections, json, os, re, subprocess, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from mapping import new_place
from resolve import tracked, resolve, INCLUDE

PLAN = os.path.join(HERE, "plan.json")
AS_A_USER = re.compile(r"explore/examples/|explore/test/programs/|docs/(?!pictures)|fixtures/(?!mutants)"
                       r"|subjects/explored\.c|subjects/subject\.h|bench/peers/lttng")
TOPS = r"(?:sim|cli|embed|props|cluster|fixtures|\.ci|model|prof|subjects|bench)"
TOKEN = re.compile(r"(?<![A-Za-z0-9_])(" + TOPS + r"/[A-Za-z0-9_./*{}\[\]!$,-]*)")
GUARD = re.compile(r"^#ifndef ([A-Z0-9_]+_H)\n#define \1\n", re.M)


def directives(new):
    """new place of a program's main source -> its KEY=VALUE words, from the old build."""
    out = subprocess.run(["ninja", "-t", "compdb"], capture_output=True, text=True).stdout
    edges = [e for e in json.loads(out) if e["output"].startswith("out/gcc/")]
    source = {e["output"]: e for e in edges if " -c " in e["command"]}
    result = {}
    for e in edges:
        if " -c " in e["command"] or not re.match(r"(gcc|clang) ", e["command"]):
            continue
        words = e["command"].split()
        objects = [w for w in words if w in source]
        if not objects:
            continue
        first = next((o for o in objects if not o.endswith("/run_tests.o")), None)
        old = source[first]["file"] if first else None
        if old not in new or not new[old]:
            continue
        wraps = re.findall(r"--wrap=(\w+)", e["command"])
        libs = [w for w in words if re.match(r"-l(?!cmocka|pthread|m$|dw|elf|iberty|isal|dl|unwind|deflate)|-l:", w)]
        flags = [w for w in words if w in ("-rdynamic", "-static", "-shared", "-Wl,--no-as-needed")
                 or w.startswith(("-Wl,-rpath", "-Wl,-soname"))]
        c = source[first]["command"].split()
        cflags = [w for w in c if w.startswith("-D") and w[2:] not in ("_GNU_SOURCE", "_FORTIFY_SOURCE=2")
                  and not w.startswith("-DEXPLORED_BY") or w in ("-fno-builtin", "-pthread", "-O3", "-O1")]
        if "/test/" in new[old] and "-O0" not in c:
            cflags.append("-O2")
        beside = [new.get(source[o]["file"]) for o in objects]
        beside = [b for b in beside if b and b.startswith("common/test/") and "run_tests" not in b]
        result.setdefault(new[old], []).append(dict(beside=beside if wraps else [], out=e["output"], wrap=wraps, libs=libs,
                                                    ldflags=flags, cflags=cflags))
    return result


def plan():
    files = tracked()
    new = {f: new_place(f) for f in files}
    places = collections.Counter(v for v in new.values() if v)
    clashes = [k for k, n in places.items() if n > 1]
    assert not clashes, clashes
    found, notes = resolve(files)
    json.dump({"new": new, "found": [[f, n, t] for (f, n), t in found.items()],
               "notes": notes, "directives": directives(new)}, open(PLAN, "w"), indent=0)
    for note in notes:
        print(note)
    names = collections.defaultdict(set)
    for v in places:
        if v.endswith((".h", ".def")):
            names[os.path.basename(v)].add(v)
    for k, v in names.items():
        if len(v) > 1:
            print("two files:", k, *v)
    print("%d files, %d move" % (len(files), sum(k != v for k, v in new.items())))


def move():
    new = json.load(open(PLAN))["new"]
    # By way of unused names, for places that are swapped.
    for old, place in new.items():
        if place and place != old:
            os.rename(old, old + ".moving")
    for old, place in new.items():
        if place and place != old:
            os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
            os.rename(old + ".moving", place)
    subprocess.run("git add -A && find . -type d -empty -not -path './.git/*' -not -path './out/*' -delete",
                   shell=True, check=True)


class Texts:
    def __init__(self):
        p = json.load(open(PLAN))
        self.new = {k: v for k, v in p["new"].items() if v}
        self.gone = {k for k, v in p["new"].items() if not v}
        self.found = {(f, n): t for f, n, t in p["found"]}
        self.folders = collections.defaultdict(collections.Counter)
        for old, place in self.new.items():
            a, b = os.path.dirname(old), os.path.dirname(place)
            self.folders[a][b] += 1
        self.parents = {}
        for a in list(self.folders):
            while "/" in a:
                a = a.rsplit("/", 1)[0]
                self.parents.setdefault(a, None)
        self.unknown = collections.defaultdict(set)
        self.split = collections.defaultdict(set)
        # Renamed files of a folder, for comments that name them bare.
        self.renamed = collections.defaultdict(dict)
        for old, place in self.new.items():
            if os.path.basename(old) != os.path.basename(place):
                self.renamed[os.path.dirname(old)][os.path.basename(old)] = place

    def place_of_folder(self, folder, where):
        if folder in self.folders:
            c = self.folders[folder]
            best = os.path.dirname(new_place(folder + "/~") or folder + "/~")
            if best not in c:
                best = c.most_common(1)[0][0]
            if len(c) > 1:
                self.split[folder].add(where)
            return best
        if folder in self.parents:
            return os.path.dirname(new_place(folder + "/~") or folder + "/~")
        return None

    def token(self, token, where):
        tail = ""
        while token and token[-1] in ".,$*{}![]-":
            if token[-1] in "*{}$![]":
                break
            tail, token = token[-1] + tail, token[:-1]
        if token in self.new:
            return self.new[token] + tail
        slash = token.endswith("/")
        bare = token.rstrip("/")
        place = self.place_of_folder(bare, where)
        if place:
            return place + ("/" if slash else "") + tail
        # FILE without its ending, or a pattern in a folder
        twins = {self.new[k][:-len(k) + len(bare)] if False else os.path.splitext(self.new[k])[0]
                 for k in self.new if os.path.splitext(k)[0] == bare}
        if len(twins) == 1:
            return twins.pop() + tail
        if re.search(r"[*{}$!\[]", bare):
            at = re.search(r"[*{}$!\[]", bare).start()
            head = bare[:at].rsplit("/", 1)[0]
            place = self.place_of_folder(head, where)
            self.unknown["pattern " + bare].add(where)
            if place:
                return place + bare[len(head):] + ("/" if slash else "") + tail
        elif not re.match(r"(prof|bench|model|subjects|fixtures)/", bare):
            self.unknown[bare].add(where)
        return token + tail

    def rewrite(self, old, place, text):
        out = []
        keep = AS_A_USER.match(place)
        folder = os.path.dirname(old)
        patch_file = None
        for line in text.split("\n"):
            m = re.match(r"^\+\+\+ b/(\S+)", line) if place.endswith(".patch") else None
            if m:
                patch_file = m[1]
            prefix = line[:1] if patch_file and line[:1] in " +-" else ""
            m = INCLUDE.match(line[len(prefix):]) if prefix or not patch_file else None
            if m and place.endswith((".c", ".h", ".def", ".cc", ".patch", ".in")):
                target = self.found.get((patch_file or old, m[2]))
                if target and target in self.new:
                    t = self.new[target]
                    if t.startswith("prof/include/"):
                        line = prefix + m[1] + '"' + t[len("prof/include/"):] + '"' + m[3]
                    elif not keep:
                        line = prefix + m[1] + '"' + t + '"' + m[3]
                    else:
                        rel = os.path.relpath(t, os.path.dirname(place))
                        line = prefix + m[1] + '"' + (m[2] if "/" not in rel and ".." in rel or ".." in rel else rel) + '"' + m[3]
                    out.append(line)
                    continue
            line = TOKEN.sub(lambda m: self.token(m[1], place), line)
            if "." in line:
                for name, t in self.renamed[folder].items():
                    if name in line:
                        line = re.sub(r"(?<![A-Za-z0-9_/.-])" + re.escape(name) + r"(?![A-Za-z0-9_])",
                                      os.path.basename(t), line)
            out.append(line)
        text = "\n".join(out)
        if place.endswith(".h") and not place.startswith(("prof/include/",)) and not keep:
            m = GUARD.search(text)
            if m:
                guard = re.sub(r"[^A-Z0-9]", "_", place.upper())
                text = re.sub(r"\b" + m[1] + r"\b", guard, text)
        return text


def text():
    t = Texts()
    for old, place in t.new.items():
        try:
            before = open(place, encoding="utf-8", newline="").read()
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        if place.endswith((".rec", ".png", ".trace", ".svg", ".csv")) or place == "CHANGELOG.md" \
                or place.startswith("reports/findings"):
            continue
        after = t.rewrite(old, place, before)
        if after != before:
            open(place, "w", encoding="utf-8", newline="").write(after)
    for k, v in sorted(t.unknown.items()):
        print("unknown: %s in %s" % (k, " ".join(sorted(v)[:4])))
    for k, v in sorted(t.split.items()):
        print("split: %s in %s" % (k, " ".join(sorted(v)[:6])))


if __name__ == "__main__":
    {"plan": plan, "move": move, "text": text}[sys.argv[1]]()
