#!/usr/bin/env python3
"""Writes out/build.ninja from the folders as they are.  usage: tools/build.py

A folder's sources are one archive of its product (UNITS). A source with main() is a
program, out/VARIANT/PATH; a test_*.c, test_*.sh, test_*.py and *.table in a folder
test/ is a test, whose log is PROGRAM.ok. A program is linked with the other sources
of its folder and with the products whose headers it includes, and what those include.

Whatever is not so stands in the source, in the first comment, as words KEY=VALUE
after "build:" (values with spaces in quotes):
  libs, cflags, ldflags, wrap   of the compiler and linker; wrap=malloc,free
  args, env, seconds            of the run; needs=FILE,FILE what it also reads
  when                          the target that runs it: check (default), long, ...
  also, not                     more or fewer variants: also=tsan not=asan
  as                            the name of this run; several lines are several runs
  with                          sources that it is linked with before any archive
  by                            the compilers of the programs that it explores
  verbs                         all: it is linked with the commands, as profsim is
  so                            the shared library that this source makes
"""
import functools
import os
import pathlib
import re
import shlex
import sys

# What people run is gcc's. `explored` is compiled once for most variants.
HERE = '-ffile-prefix-map="$$PWD"=.'
HARD = ("-fstack-protector-strong -fstack-clash-protection -fcf-protection=full"
        " -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
COUNTED = "-fprofile-instr-generate -fcoverage-mapping"
VARIANTS = {
    "gcc": dict(cc="gcc", cflags="-O2 -g " + HERE, explored_cflags=HERE, hardened=HARD,
                hardened_link="-Wl,-z,relro,-z,now,-z,noexecstack"),
    "clang": dict(cc="clang", cflags="-O2 -g"),
    "O0": dict(cc="gcc", cflags="-O0 -g"),
    "asan": dict(cc="clang", cflags="-O1 -g1 -fsanitize=address,undefined"
                 " -fno-sanitize=null,object-size -fno-sanitize-recover=all"),
    "tsan": dict(cc="clang", cflags="-O1 -g1 -fsanitize=thread"),
    "fuzz": dict(cc="clang", cflags="-O1 -g -fsanitize=fuzzer-no-link,address",
                 cflags_kernels="-O1 -g -fsanitize=fuzzer-no-link",
                 features="props/fuzz/feature_libfuzzer.c"),
    # Counts what of prof/ the tests reach, also when a process dies or is explored.
    "cov": dict(cc="clang", cflags="-O1 -g -fprofile-instr-generate"
                " -fprofile-list=props/coverage/only",
                prof_cflags=COUNTED + " -fprofile-update=atomic"
                " -mllvm -runtime-counter-relocation",
                explored_cflags=COUNTED + " -fprofile-update=single -O0"),
}
EXPLORED = {"clang": "clang", "cov": "cov"}  # all others use what gcc's explored

# Archives: the folders of each, without their test/.
UNITS = {
    "prof": ["prof"],
    "common": ["common/."],
    "common_recording": ["common/recording"],
    "common_command": ["common/command", "common/report", "common/shard", "common/page"],
    "truth": ["sim/truth"],
    "sim": ["sim/world", "sim/instruments", "sim/generate", "sim/scenario"],
    "model_heap": ["model/heap"],
    "model_trace": ["model/trace"],
    "model_pprof": ["model/pprof"],
    "props": ["props/judge", "props/cross", "props/campaign", "props/sampling",
              "props/page", "props/."],
    "subjects": ["subjects/rules", "subjects/."],
    "explore": ["explore/engine", "explore/search", "explore/report"],
    "textbook": ["explore/textbook"],
    "kernels": ["props/kernels"],
    "runtime": ["explore/runtime"],
    "record": ["record/symbols", "record/convert", "record/report"],
    "unwind": ["record/unwind"],
    "preload": ["record/preload"],
    "sampler": ["record/sampler"],
    "conform": ["subjects/conform"],
    "props_command": ["props/command"],
    "model_command": ["model/command"],
    "subjects_command": ["subjects/command"],
    "explore_command": ["explore/command"],
    "record_command": ["record/command"],
    "command": ["command"],
}
# Loaded into other programs: who includes their headers shares their structs.
APART = {"preload", "sampler", "conform", "runtime"}
COMMANDS = [u for u in UNITS if u.endswith("command")]
# Compiled for the explorer: instrumented, once with each compiler.
ALSO_EXPLORED = ["prof/core/", "prof/trace/", "prof/pprof/cpu.c", "prof/pprof/cpu_profile.c",
                 "prof/pprof/registry.c", "prof/pprof/registry_write.c"]
INSTRUMENTED = ("explore/textbook/", "explore/test/kernels/", "props/kernels/")

# Flags by folder, the longest that fits.
LOADED = "$hardened -fPIC -fvisibility=hidden -fno-builtin -ftls-model=initial-exec"
FLAGS = {
    "prof/": "$prof_cflags -fPIC -fvisibility=hidden -fno-semantic-interposition",
    "common/": "$hardened",
    "command/": "$hardened",
    "model/trace/": "$hardened",
    "sim/scenario/": "$hardened",
    "record/": "$hardened",
    "record/preload/": LOADED,
    "record/unwind/": LOADED,
    "record/sampler/": LOADED + " -DEMBED_SAMPLES",
    "subjects/conform/": LOADED,
    "subjects/notes": LOADED,
    "explore/runtime/": "-fno-builtin -fexceptions",
    "record/test/": "-O0 -fno-builtin",
    "record/test/hangs/": "-O2 -fno-builtin -fPIC",
}
FLAGS_ORDER = sorted(FLAGS, key=len, reverse=True)
# Checks of the text (tools/text/check).
TEXT = "includes pairs sizes format words circles duplicates promises lines".split()
# Programs elsewhere than in a product.
PROGRAMS = ("bench/", "props/peers/", "props/fuzz/", "install/")
RUN_TESTS = "common/test/run_tests.c"  # the main() of tests that have none
ROOTS = ("prof", "common", "sim", "model", "props", "subjects", "explore", "record", "command",
         "bench", "install", "tools")
SKIP = ("explore/examples", "explore/test/programs", "subjects/catalogue", "bench/peers",
        "docs/example")
# What these headers need when a program is linked.
LIBRARIES = {b"<elfutils/": "-ldw", b"<dwarf.h>": "-ldw", b"<libelf.h>": "-lelf", b"<gelf.h>": "-lelf",
             b"<isa-l": "-lisal", b"<libiberty/": "-liberty", b"<libunwind.h>": "-lunwind",
             b"<cmocka.h>": "-lcmocka"}
BUILD = re.compile(r"^[ *#/]*build:\s.*?(?=\*/|\n[ *#/]*\n|\n[^ *#])", re.S | re.M)
FOLDERS = (b"fixtures/", b"docs/", b"tools/", b"/test/", b"explore/examples")
PATHS = re.compile(rb"(?<![\w/])(?:(?:fixtures|docs|install|tools|\w+/test)/[\w./-]+\w|explore/examples)")


def group_name(folder):
    """prof/test/pprof -> test_prof_pprof: the program of the tests without a main()."""
    return "test_" + folder.replace("/test", "").replace("/", "_")


class Source:
    def __init__(self, path, text):
        self.path = path
        self.folder = os.path.dirname(path)
        names = [part.split(b"\n", 1)[0].strip().decode() for part in text.split(b"#include ")[1:]]
        self.includes = [n.split('"')[1] for n in names if n[:1] == '"']
        self.is_main = path.endswith(".c") and (b"\nmain(" in text or b"\nint main(" in text)
        self.builds = []
        if b"build:" in text:
            for part in (BUILD.search(text.decode(errors="replace")) or [""])[0].split("build:")[1:]:
                words = shlex.split(re.sub(r"\n[ *#]*", " ", part).strip("*/ \n"))
                self.builds.append(dict(word.partition("=")[::2] for word in words))
        self.keys = {k: v for build in reversed(self.builds) for k, v in build.items()}
        self.is_test = path.endswith(".table") or self.key("when") and not path.endswith(".c") or \
            os.path.basename(path).startswith("test_") and \
            (not path.endswith((".c", ".h")) or "/test/" in path and path.endswith(".c"))
        self.libs = [lib for head, lib in LIBRARIES.items() if head in text]
        self.libs += self.key("libs").split()
        self.reads = set(PATHS.findall(text)) if self.is_test and any(
            folder in text for folder in FOLDERS) else set()

    def key(self, name, default=""):
        return self.keys.get(name, default)


def read_tree():
    files = {}
    for root in ROOTS:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if f[0] != "." and
                                os.path.join(folder, f) not in SKIP)
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def", ".sh", ".py", ".table")):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        files[path] = Source(path, file.read())
    return files


class Tree:
    def __init__(self):
        self.files = read_tree()
        self.unit_of, self.members, self.units = {}, {}, {}
        for path, source in self.files.items():
            if not path.endswith(".c"):
                continue
            unit = self.unit(path)
            self.unit_of[path] = unit
            if not source.is_main and not source.is_test and not source.key("so"):
                self.members.setdefault(unit, []).append(path)
        self.needs, self.direct, self.flags = {}, {}, {}

    def unit(self, path):
        """The archive that a source or header belongs to: a product's, or its folder's."""
        folder = os.path.dirname(path)
        if folder not in self.units:
            self.units[folder] = self.unit_of_folder(path, folder)
        return self.units[folder]

    @staticmethod
    def unit_of_folder(path, folder):
        if path.startswith("prof/include/"):
            return "prof"
        if "/test/" not in path:
            for unit, folders in UNITS.items():
                for f in folders:
                    if folder + "/." == f or folder == f or \
                            folder.startswith(f + "/") and unit == "prof":
                        return unit
        return folder

    def headers(self, path, seen):
        """The headers that a file includes, also by way of headers."""
        for name in self.files[path].includes:
            if name not in self.files:
                beside = os.path.join(self.files[path].folder, name)
                name = beside if beside in self.files else "prof/include/" + name
            if name in self.files and name not in seen:
                seen.add(name)
                self.headers(name, seen)
        return seen

    def needs_of_file(self, path):
        """Units whose headers a file includes; of a test's helpers, that share a header
        of their folder with it, also what they include."""
        if path not in self.needs:
            seen, todo, done = set(), {path}, set()
            while todo:
                source = todo.pop()
                done.add(source)
                self.headers(source, seen)
                folders = {self.unit(h) for h in seen} - set(UNITS)
                todo |= {p for f in folders for p in self.members.get(f, ())
                         if seen.intersection(self.beside(p))} - done
            # A header of common/ without a source needs none of the others'.
            self.needs[path] = {self.unit(h) for h in seen if not h.startswith("common/")
                                or h[:-1] + "c" in self.files}
        return self.needs[path]

    def beside(self, path):
        """The headers of its own folder that a source includes."""
        return [i for i in self.files[path].includes if os.path.dirname(i) == self.files[path].folder]

    def needs_of_unit(self, unit):
        if unit not in self.direct:
            units = set()
            for path in self.members.get(unit, []) if unit in UNITS else ():
                units |= self.needs_of_file(path)
            self.direct[unit] = units - {unit}
        return self.direct[unit]

    def closure(self, units):
        """All that these units are linked with, in a fixed order."""
        found, todo = set(), list(units)
        while todo:
            unit = todo.pop()
            if unit not in found and unit not in APART:
                found.add(unit)
                todo += self.needs_of_unit(unit)
        return sorted(u for u in found if self.members.get(u))

    def libs(self, units):
        words = []
        for unit in units:
            for path in self.members.get(unit, []):
                words += self.files[path].libs
        return " ".join(dict.fromkeys(words))


class Writer:
    def __init__(self, tree):
        self.tree = tree
        self.lines = []
        self.files = {}  # name -> lines
        self.phony = {}  # target -> outputs

    def build(self, out, rule, inputs, implicit=(), **variables):
        implicit = " | " + " ".join(implicit) if implicit else ""
        self.lines.append("build %s: %s %s%s\n" % (out, rule, " ".join(inputs), implicit))
        self.lines += ["  %s = %s\n" % (k, v) for k, v in variables.items() if v]
        return out

    def variant(self, name):
        self.lines = self.files.setdefault("out/%s.ninja" % name, [])
        self.o = "out/" + name
        self.name = name
        self.explored = "out/" + EXPLORED.get(name, "gcc")
        blank = dict.fromkeys("explored_cflags hardened hardened_link prof_cflags ldflags".split(), "")
        self.lines += ["%s = %s\n" % item for item in {**blank, **VARIANTS[name]}.items()]
        self.build(self.object(RUN_TESTS), "cc", [RUN_TESTS], flags="-O0")
        for unit, members in self.tree.members.items():
            self.unit(unit, members)

    def compile(self, path, out=None, flags=""):
        source = self.tree.files[path]
        needs = source.key("needs").split(",") if source.key("needs") and not source.is_test else ()
        return self.build(out or self.object(path), "cc", [path], needs,
                          flags=(self.flags(path) + " " + flags).strip())

    def object(self, path, suffix=""):
        return "%s/%s%s.o" % (self.o, path[:-2], suffix)

    @functools.lru_cache(None)
    def flags(self, path):
        source = self.tree.files[path]
        words = [next((FLAGS[f] for f in FLAGS_ORDER if path.startswith(f) and
                       ("/test/" in path) == ("/test/" in f)), "")]
        if not words[0] and "/test/" in path:
            words[0] = "-O0"  # to optimise most tests takes longer than to run them
        elif not words[0] and "/command/" in path:
            words[0] = "$hardened"
        if source.key("so") and "-fPIC" not in words[0]:
            words.append("-fPIC")
        return " ".join(filter(None, words + [source.key("cflags")]))

    def unit(self, unit, members):
        members = [p for p in members if not p.startswith("props/fuzz/feature_")]
        if unit in ("textbook", "kernels", "explore/test/kernels"):
            if self.name not in ("gcc", "clang", "cov"):
                return
            objects = [self.build(self.object(p), "cc" if self.tree.files[p].key("plain") else
                                  "cc_explored", [p]) for p in members]
            if unit == "kernels":
                objects += [self.build(self.object(p, ".explored"), "cc_explored", [p])
                            for p in self.tree.members["prof"]
                            if p.startswith(tuple(ALSO_EXPLORED))]
                self.build(self.o + "/kernels.o", "explored_group", objects, table="props_kernels")
            else:
                self.build(self.archive(unit), "ar", objects)
            return
        objects = [self.compile(p) for p in members]
        if unit != "sampler":
            self.build(self.archive(unit), "ar", objects)

    def archive(self, unit, explored=None):
        if unit in ("textbook", "kernels", "explore/test/kernels"):
            o = explored or self.explored
            return o + "/kernels.o" if unit == "kernels" else "%s/lib%s.a" % (
                o, unit.replace("/", "_"))
        return "%s/lib%s.a" % (self.o, unit.replace("/", "_"))

    def archives(self, units, explored=None):
        return [self.archive(u, explored) for u in units if u != "sampler"]

    def link(self, out, inputs, units, source=None, **variables):
        apart = sorted(APART & set(variables.pop("apart", ())))
        units = apart + self.tree.closure({*units, *(n for a in apart for n in self.tree.needs_of_unit(a))})
        archives = self.archives(units, variables.pop("explored", None))
        ldflags, libs = variables.pop("ldflags", ""), variables.pop("libs", "")
        build = variables.pop("build", None)
        needs = []
        if source:
            ldflags += " " + (build.get("ldflags", "") if build else source.key("ldflags"))
            libs += " " + " ".join(source.libs)
            ldflags += "".join(" -Wl,--wrap=" + w for w in source.key("wrap").split(",") if w)
            if "/test/" in source.path:
                ldflags += " -rdynamic -Wl,-z,now"
                needs = [] if source.is_test else list(filter(None, source.key("needs").split(",")))
        libs = " ".join(filter(None, [libs.strip(), self.tree.libs(units), "-lm"]))
        return self.build(out, "link", inputs, archives + needs, archives=" ".join(archives),
                          ldflags=ldflags.strip(), libs=libs, **variables)

    def program(self, path, name=None, flags="", explored=None, beside=(), build=None):
        """Of a source, and of those of the same group of tests."""
        source = self.tree.files[path]
        out = "%s/%s" % (self.o, name or path[:-2])
        one = out + ".o" if name and not beside else self.object(path)
        objects = [self.compile(path, one, flags)]
        units = {self.tree.unit_of[path]} | self.tree.needs_of_file(path)
        for other in beside:
            objects.append(self.compile(other))
            units |= self.tree.needs_of_file(other)
        for other in filter(None, source.key("with").split(",")):
            objects.append(self.compile(other) if self.tree.files[other].is_test else self.object(other))
            units |= self.tree.needs_of_file(other)
        if source.is_test and not source.is_main:
            objects.append(self.object(RUN_TESTS))
        cmocka = "-lcmocka" if source.is_test else ""
        if source.key("verbs"):
            return self.with_verbs(out, objects, COMMANDS, units)
        return self.link(out, objects, units, source, libs=cmocka, explored=explored,
                         build=build)

    def run(self, out, command, source, build, depends=()):
        args = build.get("args", "")
        if "out/gcc/profsim" in args:
            depends = [*depends, "out/gcc/product"]
        files = set(depends) | {w for w in args.split() if re.match("out/[a-z0-9A-Z]+/.", w) and
                                not os.path.isdir(w.split("/", 2)[2])}
        files |= set(filter(None, build.get("needs", "").split(",")))
        for token in map(bytes.decode, source.reads):
            if source.path.endswith(".c") and not token.startswith(("fixtures/", "docs/")):
                continue
            if os.path.isfile(token):
                files.add(token)
            elif os.path.isdir(token) and token.startswith(("fixtures/", "explore/examples")):
                files |= {e.path for e in os.scandir(token) if e.is_file()}
        files -= set(command)
        self.build(out, "test", command, sorted(files), args=args, env=build.get("env"),
                   seconds=build.get("seconds"))
        return out

    def programs(self):
        """Programs and libraries that tests use, by folder."""
        self.used = {}
        for path, source in sorted(self.tree.files.items()):
            outs = self.used.setdefault(source.folder, [])
            if source.key("so"):
                place = source.folder if "/test/" in path else ""
                outs.append(self.link(
                    os.path.join(self.o, place, source.key("so")), [self.compile(path), *map(
                        self.object, filter(None, source.key("with").split(",")))],
                    self.tree.needs_of_file(path), source,
                    apart={self.tree.unit_of[path]}, ldflags="-shared $hardened_link"))
            elif source.is_main and not source.is_test and path != RUN_TESTS and path.endswith(".c") and (
                    "/test/" in path or self.name == "gcc" and path.startswith(PROGRAMS)):
                for build in source.builds or [{}]:
                    if source.folder == "bench":
                        self.add("out/bench.check", "%s/%s" % (self.o, path[:-2]))
                    outs.append(self.program(path, build.get("as") and os.path.join(
                        source.folder, build["as"]), build=build))

    def add(self, target, out):
        self.phony.setdefault(target, []).append(out)

    def tests(self):
        """The tests of a variant, in C; of gcc's also the scripts."""
        groups = {}
        taken = {p for s in self.tree.files.values() for p in s.key("with").split(",")}
        for path, source in sorted(self.tree.files.items()):
            if not source.is_test or path in taken:
                continue
            if path.endswith(".c") and not source.is_main and not source.builds:
                groups.setdefault(source.folder, []).append(path)
                if groups[source.folder][0] != path:
                    continue
            if not path.endswith(".c"):
                if self.name == "gcc":
                    self.script(path, source)
                continue
            when = (source.builds or [{}])[0].get("when", "check")
            wanted = {"gcc": when, "clang": "long", "asan": when if path.startswith(
                ("prof/", "model/")) else "long" if path[:7] != "record/" else None}.get(self.name)
            if self.name == "cov" and path.startswith(("prof/", "props/")):
                wanted = "out/cov/check"
            if self.name in source.key("also").split(","):
                wanted = when
            if not wanted or self.name in source.key("not").split(","):
                continue
            if groups.get(source.folder, [None])[0] == path:
                beside = [p for p, other in sorted(self.tree.files.items()) if
                          other.folder == source.folder and other.is_test and p.endswith(".c")
                          and not other.is_main and not other.builds and p != path]
                name = "%s/%s" % (source.folder, group_name(source.folder))
                source.reads = set().union(*(self.tree.files[p].reads for p in [path, *beside]))
                program = self.program(path, name, beside=beside)
                self.add(wanted, self.run("%s/%s.ok" % (self.o, name), [program], source, {}))
                continue
            for by in source.key("by").split(",") if source.key("by") else [None]:
                if by and self.name != "gcc" and self.explored != "out/" + by:
                    continue
                name = path[:-2] + ("_" + by if by else "")
                program = self.program(path, name, '-DEXPLORED_BY=\\"%s\\"' % by if by else "",
                                       "out/" + by if by else None)
                for build in source.builds or [{}]:
                    out = "%s/%s" % (self.o, os.path.join(source.folder, build["as"])
                                     if "as" in build else name)
                    done = self.run(out + ".ok", [program], source, build)
                    if "when" not in build or self.name == "gcc":
                        self.add(build.get("when", wanted), done)

    def script(self, path, source):
        for build in source.builds or [{}]:
            name = os.path.join(source.folder, build["as"]) if "as" in build else \
                os.path.splitext(path)[0]
            command, args, depends = [path], "out/gcc/profsim", self.used[source.folder]
            if path.endswith(".table"):
                command, args, depends = ["command/test/run_table.py"], args + " " + path, [path]
            self.add(build.get("when", "check"), self.run(
                "out/gcc/%s.ok" % name, command, source, {"args": args, **build}, depends))

    def profsim(self, out, commands, **variables):
        """The command with some of its verbs: those of the archives are all linked."""
        main = self.build(out + "-main.o", "cc", ["command/main.c"], flags=self.flags("command/main.c"))
        return self.with_verbs(out, [main], commands, **variables)

    def with_verbs(self, out, objects, commands, more=(), **variables):
        commands = [u for u in commands if self.tree.members.get(u)]
        whole = " ".join(self.archive(u) for u in commands)
        units = {u for c in commands for u in [c, *self.tree.needs_of_unit(c)]} | {"common_command", *more}
        return self.link(out, objects + ([self.archive("kernels")] if "props_command" in commands else []),
                         units, ldflags="$hardened_link -Wl,--whole-archive %s -Wl,--no-whole-archive"
                         % whole, **variables)

    def fuzz(self):
        """One program a kind of input, for the engine of the variant (docs/fuzzing.md)."""
        kernels, features = VARIANTS[self.name]["cflags_kernels"], VARIANTS[self.name]["features"]
        for path in self.tree.files:
            name = os.path.basename(path)[:-2]
            if not path.startswith("props/fuzz/fuzz_") or not path.endswith(".c"):
                continue
            inputs = [self.object(path)]
            units = self.tree.needs_of_file(path)
            if name == "fuzz_kernels":  # with fibers of its own: no address sanitizer
                inputs = [self.build(self.o + "/fuzz_kernels.o", "cc", [path], cflags=kernels)]
                inputs.append(self.build(self.o + "/features.o", "cc", [features], cflags="-O1 -g"))
                inputs.append("out/gcc/kernels.o")
                archives = ["out/gcc/lib%s.a" % u.replace("/", "_") for u in self.tree.closure(units | {"explore"})
                            if u not in ("kernels", "textbook")]
                out = self.build("%s/%s" % (self.o, name), "link", inputs, archives, cflags=kernels,
                                 archives=" ".join(archives), libs="-fsanitize=fuzzer -ldw -lisal -lm")
            else:
                out = self.link("%s/%s" % (self.o, name), inputs, units, libs="-fsanitize=fuzzer")
            self.add("fuzz", out)

    def shared(self):
        """What is loaded into other programs, and what programs to explore are linked with."""
        t = self.tree
        prof = self.archive("prof")
        self.build(self.o + "/libprof.so", "link", [], [prof, "install/libprof.map", "install/version"],
                   ldflags="-shared $hardened_link -Wl,-z,defs -Wl,-z,now -Wl,-Bsymbolic-functions"
                   " -Wl,--version-script=install/libprof.map"
                   " -Wl,-soname,libprof.so.$$(install/version major)"
                   " -Wl,--whole-archive %s -Wl,--no-whole-archive" % prof, libs="-lisal")
        preload = self.archive("preload")
        self.link(self.o + "/libprofsim-record.so", [], {"unwind"}, apart={"preload"},
                   ldflags="$hardened_link -shared -Wl,-z,defs -Wl,-soname,libprofsim-record.so"
                   " -Wl,--whole-archive %s -Wl,--no-whole-archive" % preload)
        shared = ["record/preload/%s.c" % name for name in ("locks", "real", "stack")]
        sampler = [self.object(p) for p in t.members["sampler"] + shared]
        sampler.append(self.build(self.object("record/preload/heap.c", ".sampled"), "cc",
                                  ["record/preload/heap.c"], flags=FLAGS["record/sampler/"]))
        self.link(self.o + "/libprof-malloc.so", sampler, {"prof", "unwind"},
                  ldflags="$hardened_link -shared -Wl,-z,defs -Wl,-soname,libprof-malloc.so"
                  " -Wl,--exclude-libs,ALL")
        runtime = [self.object(p) for p in t.members["runtime"]]
        real = self.object("explore/runtime/real.c")
        runtime.remove(real)
        archives = [self.archive(u) for u in t.closure({"explore_command", "explore"})
                    if u not in ("textbook", "kernels")]
        self.build(self.o + "/explored-runtime.o", "explored_runtime", runtime + archives,
                   [real, "explore/runtime/intercept.def", "explore/runtime/intercept.awk"], real=real)
        self.build(self.o + "/libprofsim-explore.a", "ar", [self.o + "/explored-runtime.o"])
        self.link(self.o + "/profsim-conform", [self.build(
            self.object("subjects/conform/exercise.c"), "cc", ["subjects/conform/exercise.c"],
            flags=self.flags("subjects/conform/exercise.c")), self.object("subjects/conform/mask.c")],
            {"subjects"}, apart={"conform"},
            ldflags="$hardened_link")


def main():
    tree = Tree()
    w = Writer(tree)
    for name in ("gcc", "clang", "O0", "asan", "tsan", "cov"):
        w.variant(name)
        w.profsim(w.o + "/profsim", COMMANDS)
        if name != "O0":
            w.programs()
        w.tests()
        if name in ("gcc", "clang"):
            w.shared()
        if name == "gcc":
            for product in ("explore", "record"):
                w.profsim("out/%s/profsim" % product, [product + "_command"])
            w.profsim("out/profsim", COMMANDS, whole="$whole_simulator")
    w.variant("fuzz")
    w.fuzz()
    w.phony["out/gcc/check"] = [o for o in w.phony["check"] if o.startswith("out/gcc/")]
    w.add("check", "out/gates.check")
    w.add("long", "out/more.long")
    w.lines = ["ninja_required_version = 1.11\nbuilddir = out\ninclude tools/rules.ninja\n"]
    w.lines += ["subninja %s\n" % name for name in w.files]
    for name in TEXT:
        w.add("check", w.build("out/text/%s.ok" % name, "text", [], name=name))
    w.lines.append("include tools/extra.ninja\n")
    for target, outs in w.phony.items():
        w.build(target, "phony", sorted(outs))
    w.files["out/build.ninja"] = w.lines
    os.makedirs("out", exist_ok=True)
    for name, lines in w.files.items():
        text = "".join(lines)
        if not os.path.exists(name) or pathlib.Path(name).read_text() != text:
            pathlib.Path(name + ".new").write_text(text)
            os.replace(name + ".new", name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
