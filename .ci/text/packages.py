#!/usr/bin/env python3
"""Each library, header and command that a target of the Makefile needs belongs
to a package that one of the target's groups in .ci/deps names, and each package
named there is needed.

What is needed is read from ninja's graph and commands, from the Makefile and from the
scripts; which package has it is in .ci/packages. Nothing needs to be installed; the
rows of packages that are installed are compared with dpkg's lists.

usage: .ci/text/packages.py      (in the folder of the Makefile)
"""
import collections
import functools
import os
import re
import subprocess
import sys

TABLE = ".ci/packages"
TEST = ".ci/text/test_packages.sh"  # what it names are the mistakes it makes
BASE = "base"  # what a Debian root with make has
# What a package gives: "flag" of clang; "word" anywhere in a script, or a whole
# string of a C source; "file": who builds that needs the package when it runs.
KINDS = ("command", "header", "lib", "flag", "word", "file")

# ------------------------------------------------------------- shell commands

# The word after these is no command, or ends one.
KEYWORDS = set("if then else elif fi do done while until case esac in { } ! [[ ]]".split())
BUILTINS = set(". : [ alias bg break cd continue echo eval exit export false fg getopts"
               " hash jobs kill let local printf pwd read readonly return set shift"
               " command exec source test times trap true type ulimit umask unset wait builtin"
               " declare shopt".split())
# These call the command that follows their options.
CALLERS = set("chroot command env exec nice nohup setsid sudo time timeout unshare"
              " xargs".split())
ENDS = set(["\n", ";", ";;", "&", "&&", "|", "||", "(", ")"])


class Shell:
    """The commands that a shell text calls, found word by word."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.commands = set()
        self.functions = set()

    def substitution(self):
        """Behind "$(" or inside backquotes: up to the parenthesis that closes."""
        depth = 1
        start = self.at
        quote = None
        while self.at < len(self.text) and depth > 0:
            c = self.text[self.at]
            if quote:
                if c == "\\" and quote == '"':
                    self.at += 1
                elif c == quote:
                    quote = None
                elif quote == '"' and c == "$":
                    self.expansion()
                    continue
            elif c in "'\"":
                quote = c
            elif c == "\\":
                self.at += 1
            elif c == "$":
                self.expansion()
                continue
            elif c == "#" and self.text[self.at - 1] in " \n\t":
                while self.at < len(self.text) and self.text[self.at] != "\n":
                    self.at += 1
                continue
            elif c == "(":
                depth += 1
            elif c == ")":
                # In `case`, a pattern ends in one that nothing opened.
                before = self.text[start:self.at]
                if len(re.findall(r"\bcase\b", before)) <= len(
                        re.findall(r"\besac\b", before)):
                    depth -= 1
            self.at += 1
        inner = Shell(self.text[start:self.at - 1])
        inner.read()
        self.commands |= inner.commands

    def arithmetic(self):
        """Behind "$((": up to its parentheses."""
        depth = 2
        while self.at < len(self.text) and depth > 0:
            if self.text[self.at] == "$":
                self.expansion()
                continue
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1

    def braces(self):
        """Behind "${": up to its brace."""
        depth = 1
        while self.at < len(self.text) and depth > 0:
            if self.text.startswith("$(", self.at):
                self.at += 2
                self.substitution()
                continue
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1

    def expansion(self):
        """A "$" at self.at. Expansions are kept as one "$"."""
        if self.text.startswith("$((", self.at):
            self.at += 3
            self.arithmetic()
        elif self.text.startswith("$(", self.at):
            self.at += 2
            self.substitution()
        elif self.text.startswith("${", self.at):
            self.at += 2
            self.braces()
        else:
            self.at += 1
        return "$"

    def here_documents(self, ends):
        """At the start of a line: skip the bodies that were announced."""
        for end in ends:
            found = re.compile(r"^\t*" + re.escape(end) + r"$", re.M).search(
                self.text, self.at)
            self.at = found.end() + 1 if found else len(self.text)

    def words(self):
        """Words and operators; a quoted part leaves its text behind a quote."""
        word = None
        ends = []
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == "\\":
                if self.text[self.at + 1:self.at + 2] != "\n":
                    word = (word or "") + "'" + self.text[self.at + 1:self.at + 2]
                self.at += 2
            elif c == "'":
                end = self.text.find("'", self.at + 1)
                end = len(self.text) if end < 0 else end
                word = (word or "") + "'" + self.text[self.at + 1:end]
                self.at = end + 1
            elif c == '"':
                word = (word or "") + "'"
                self.at += 1
                while self.at < len(self.text) and self.text[self.at] != '"':
                    if self.text[self.at] == "\\":
                        word += self.text[self.at + 1:self.at + 2]
                        self.at += 2
                    elif self.text[self.at] == "$":
                        word += self.expansion()
                    else:
                        word += self.text[self.at]
                        self.at += 1
                self.at += 1
            elif c == "$":
                word = (word or "") + self.expansion()
            elif c == "`":
                end = self.text.find("`", self.at + 1)
                inner = Shell(self.text[self.at + 1:end])
                inner.read()
                self.commands |= inner.commands
                self.at = end + 1
                word = (word or "") + "$"
            elif c == "#" and word is None:
                while self.at < len(self.text) and self.text[self.at] != "\n":
                    self.at += 1
            elif c in " \t":
                if word is not None:
                    yield word
                word = None
                self.at += 1
            elif c in "<>":
                if word is not None and not word.isdigit():
                    yield word
                word = None
                operator = re.match(r"<<-?|[<>]+[&|]?\(?", self.text[self.at:]).group()
                self.at += len(operator)
                if operator.startswith("<<"):
                    end = re.match(r"\s*(['\"]?)([A-Za-z_]+)\1", self.text[self.at:])
                    if end:
                        ends.append(end.group(2))
                        self.at += end.end()
                        continue
                yield ">" if not operator.endswith("(") else "("
            elif c in "\n;&|()":
                if word is not None:
                    yield word
                word = None
                operator = re.match(r";;|&&|\|\||.", self.text[self.at:], re.S).group()
                self.at += len(operator)
                yield operator
                if operator == "\n" and ends:
                    self.here_documents(ends)
                    ends = []
            else:
                word = (word or "") + c
                self.at += 1
        if word is not None:
            yield word

    def called(self, word):
        """A word where a command stands. returns: whether the next is one, too."""
        if re.match(r"[A-Za-z_][A-Za-z0-9_]*\+?=", word):
            return True
        if word in KEYWORDS or word in CALLERS:
            if word in CALLERS:
                self.commands.add(word)
            return True
        if word and not re.search(r"[$/'*?=]", word):
            self.commands.add(word)
        return False

    def read(self):
        expects = True  # a command
        caller = None  # the one whose options are being skipped
        skip = 0  # words that an operator or `for` takes
        patterns = 0  # of `case`: >0 inside, and in_pattern before a ")"
        in_pattern = False
        heads = False  # between `for` or `case` and its `in` or `do`
        last = None
        for word in self.words():
            if skip and word not in ENDS:  # what an option or a ">" takes
                skip -= 1
                last = word
                continue
            skip = 0
            if word == ">":
                skip = 1
                continue
            if in_pattern:
                if word == "esac":
                    in_pattern = False
                    patterns -= 1
                    expects = False
                elif word == ")":
                    in_pattern = False
                    expects = True
                last = word
                continue
            if heads:
                if word == "in" and heads == "case":
                    heads, in_pattern, patterns = False, True, patterns + 1
                elif heads == "for" and word in (";", "\n"):
                    heads, expects = False, True
                last = word
                continue
            if word in ENDS:
                if word == "(" and last and not expects and re.match(r"[a-z_]\w*$", last):
                    self.functions.add(last)
                    self.commands.discard(last)
                in_pattern = word == ";;" and patterns > 0
                expects, caller = True, None
                last = word
                continue
            if last in ("-exec", "-execdir", "-ok"):
                self.called(word)
            elif expects and caller:
                if word in ("-k", "-s", "-n", "-P", "-L", "-I", "-u", "-C"):
                    skip = 1
                elif caller == "timeout" and not word.startswith("-"):
                    caller = "a command"  # that was the time
                elif not word.startswith("-") and "=" not in word:
                    expects = self.called(word)
                    caller = word if word in CALLERS else None
            elif expects:
                if word in ("for", "case"):
                    heads, expects = word, False
                elif word == "esac":
                    patterns, expects = patterns - 1, False
                elif word == "function":
                    skip, expects = 0, False
                else:
                    expects = self.called(word)
                    caller = word if word in CALLERS else None
            last = word


def shell_commands(text):
    """What a script calls, and the scripts that it sources by their paths."""
    for path in re.findall(r"^\. (\S+\.sh)$", text, re.M):
        with open(path, encoding="utf-8") as file:
            text = file.read() + text
    shell = Shell(text)
    shell.read()
    return shell.commands - shell.functions - BUILTINS


# ------------------------------------------------------------------ the table

class Table:
    """PACKAGE KIND NAME..., and the exceptions: optional FILE NAME: why."""

    def __init__(self):
        self.packages = collections.defaultdict(set)  # of (kind, name)
        self.optional = set()  # (file, name)
        for number, line in enumerate(open(TABLE), 1):
            line = line.split("#")[0].split()
            if not line:
                continue
            if line[0] == "optional":
                self.optional.add((line[1], line[2].rstrip(":")))
                continue
            if len(line) < 3 or line[1] not in KINDS:
                sys.exit(f"{TABLE}:{number}: not PACKAGE KIND NAME...")
            for name in line[2:]:
                self.packages[line[1], name].add(line[0])


def output_of(*command):
    # A make inside of make prints where it is.
    outside = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(command, capture_output=True, text=True, env=outside)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


# ------------------------------------------------------- what a target needs

LIB = re.compile(r"(?:^|[\s\"'=])-l(?!e\b|t\b)([A-Za-z0-9_+.-]+)(?=[\s\"']|$)")
COMPILER = re.compile(r"\b(gcc|g\+\+|clang|cc|ld)\b|\$\{?(CC|compiler)")
TREE_WORD = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+")


class File:
    """A source or script of the tree: what it names."""

    def __init__(self, path, headers, words):
        self.needs = set()  # (kind, name)
        self.files = set()  # of the tree
        if path == TEST:
            return
        text = open(path, errors="replace").read()
        if re.search(r"\.(c|h|cc|def)$", path):
            for name in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M):
                inside = headers.get(name)
                if inside:
                    self.files.add(inside)
                else:
                    self.needs.add(("header", name))
            self.needs |= {("word", name) for name in words if f'"{name}"' in text}
            for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
                if headers.get(name):
                    self.files.add(headers[name])
        elif path.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", text):
            self.needs |= {("command", name) for name in shell_commands(text)}
            text = re.sub(r"(?m)(^|\s)#.*", "", text)
            for line in text.replace("\\\n", " ").splitlines():
                if COMPILER.search(line):
                    self.needs |= {("lib", name) for name in LIB.findall(line)}
            if path != ".ci/deps":
                self.needs |= {("word", name) for name in words if re.search(
                    rf"(?<!\w){re.escape(name)}(?![\w+-])", text)}
            for word in set(TREE_WORD.findall(text)):
                for name in (word, os.path.join(os.path.dirname(path), word)):
                    if os.path.isfile(name) and not name.startswith("out/"):
                        self.files.add(os.path.normpath(name))
        elif re.match(r"#!.*\bpython3\b", text):
            self.needs.add(("command", "python3"))
            self.needs |= {("command", name) for name in re.findall(
                r"(?:subprocess\.\w+|output_of)\(\s*\[?\s*['\"]([a-z][\w.+-]*)['\"]",
                text)}


@functools.lru_cache(None)
def packages_of(group):
    return output_of(".ci/deps", "--list", group).split()


def tree_files(*endings):
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(f for f in folders if f == ".ci" or f[0] != "." and (
            folder != "." or f != "out"))
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.normpath(os.path.join(folder, name))


def tree_headers():
    """By the way a source includes it: the file of the tree."""
    headers = {}
    for path in tree_files(".h", ".def"):
        parts = path.split("/")
        for i in range(len(parts)):
            headers.setdefault("/".join(parts[i:]), path)
    return headers


def default_targets():
    text = open("install/install.ninja").read().replace("$\n", "")
    return re.search(r"^default (.*)", text, re.M).group(1).split()


def commands_of(targets):
    """Of ninja, each once, without the files that make them differ."""
    seen = set()
    words = set()
    for line in output_of("ninja", "-t", "commands", *targets).splitlines():
        words.update(TREE_WORD.findall(line))
        line = re.sub(r"\bout/[^\s;'\"]*", "./x", line)
        line = re.sub(r"(?<=\s)[\w./-]+\.(?:c|cc|h|def)\b", "./x", line)
        seen.add(re.sub(r"(?:\./x\s+)+", "./x ", line))
    return seen, words


class Target:
    """What `make NAME` installs, and what it needs with the file to blame."""

    def __init__(self, arguments, files, table):
        self.groups = []
        self.optional = table.optional
        self.needs = {}
        self.wishes = {}  # what the table calls optional
        plan = output_of("make", "-n", *arguments) + output_of(
            "make", "-n", *arguments, "BUILD_ONLY=1")
        plan = plan.replace("\\\n", " ")
        for line in re.findall(r"\.ci/deps ([a-z -]+)", plan):
            self.groups += [g for g in line.split() if g not in self.groups]
        self.groups = self.groups or ["build"]  # of one that comes after `make`
        targets = []
        for line in re.findall(r"\bninja\b([^;|&)\n]*)", plan) + re.findall(
                r"\.ci/programs ([^)]*)\)", plan):
            targets += [w for w in line.split() if re.match(r"[a-z][\w./-]*$", w)]
        if re.search(r"\bninja *$", plan, re.M):
            targets += default_targets()
        self.need("Makefile", {("command", c) for c in shell_commands(plan)})
        reached = {w for w in TREE_WORD.findall(plan) if os.path.isfile(w)}
        commands, words = commands_of(targets) if targets else ([], [])
        reached |= {w for w in words if not w.startswith("out/") and os.path.isfile(w)}
        graph = output_of("ninja", "-t", "graph", *targets) if targets else ""
        reached |= {w for w in re.findall(r'\[label="([^"]+)"\]$', graph, re.M)
                    if not w.startswith("out/") and os.path.isfile(w)}
        for command in commands:
            self.need("ninja", {("lib", n) for n in LIB.findall(command)})
            self.need("ninja", {("command", n) for n in shell_commands(command)})
            if re.match(r"clang\b", command):
                self.need("ninja", {("flag", f) for f in re.findall(
                    r"(-fsanitize|-fprofile-instr-generate)", command)})
        todo = list(reached)
        while todo:
            path = todo.pop()
            for more in files(path).files - reached:
                reached.add(more)
                todo.append(more)
            self.need(path, files(path).needs)
            self.need(path, {("file", path)} & set(table.packages))

    def need(self, path, names):
        for name in names:
            if (path, name[1]) in self.optional:
                self.wishes.setdefault(name, path)
            else:
                self.needs[name] = min(path, self.needs.get(name, path))


def targets_of_makefile():
    text = open("Makefile").read()
    names = re.search(r"^\.PHONY:((?:.*\\\n)*.*)", text, re.M).group(1).split()
    for name in names:
        if name not in ("\\", "clean"):
            yield name, [name]
    yield "fuzz-afl", ["fuzz", "ENGINE=afl"]


def blame(kind, name, path):
    """The fragments that have it: ninja's commands do not say."""
    if path != "ninja":
        return path
    wanted = "-l" + name if kind == "lib" else name
    return ", ".join(fragment for fragment in tree_files(".ninja") if re.search(
        r"(?<!\w)" + re.escape(wanted) + r"(?![\w-])", open(fragment).read()))


# ------------------------------------------- the table, against what is here

FOLDERS = {
    "header": ["/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/include/c++/12",
               "/usr/lib/gcc/x86_64-linux-gnu/12/include", "/usr/lib/llvm-14/include",
               "/usr/lib/llvm-14/lib/clang/14.0.6/include", "/usr/include/glib-2.0"],
    "lib": ["/usr/lib/x86_64-linux-gnu", "/usr/lib/gcc/x86_64-linux-gnu/12",
            "/usr/lib/llvm-14/lib"],
    "command": ["/usr/bin", "/bin", "/usr/sbin", "/sbin"],
}


def places(kind, name):
    """Where it can be, as dpkg's lists may spell it."""
    names = [f"lib{name}.so", f"lib{name}.a"] if kind == "lib" else [name]
    for folder in FOLDERS.get(kind, []):
        for file in names:
            path = os.path.join(folder, file)
            if os.path.exists(path):
                yield path
                yield os.path.realpath(path)
                yield re.sub("^/usr", "", os.path.realpath(path))


def installed_packages():
    """returns: by package, those it depends on; and those of every root"""
    depends = {}
    base = {"make", "apt"}  # whatever dpkg says of its priority here
    for line in output_of("dpkg-query", "-W", "-f=${Package}\t${db:Status-Status}\t"
                          "${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\n"
                          ).splitlines():
        name, status, essential, priority, needs = line.split("\t")
        if status == "installed":
            depends[name] = set(re.findall(r"(?:^|[,|]) *([a-z0-9][a-z0-9+.-]+)", needs))
            if essential == "yes" or priority == "required":
                base.add(name)
    return depends, base


def with_depends(package, depends):
    found = {package}
    todo = [package]
    while todo:
        for more in depends.get(todo.pop(), ()):
            if more in depends and more not in found:
                found.add(more)
                todo.append(more)
    return found


def wrong_rows(table):
    """Rows that dpkg knows better. returns: messages, and how many rows it knows"""
    try:
        depends, base = installed_packages()
    except FileNotFoundError:
        return [], 0
    at = {row: set(places(*row)) for row in table.packages}
    listed = subprocess.run(["dpkg", "-S"] + sorted(set().union(*at.values())),
                            capture_output=True, text=True).stdout
    owners = collections.defaultdict(set)
    for line in listed.splitlines():
        packages, _, path = line.partition(": ")
        owners[path] |= {p.split(":")[0].strip() for p in packages.split(", ")}
    messages = []
    known = 0
    for (kind, name), packages in sorted(table.packages.items()):
        own = set().union(*[owners[path] for path in at[kind, name]])
        for package in packages:
            if not own or package != BASE and package not in depends:
                continue
            known += 1
            having = (set().union(*[with_depends(p, depends) for p in base])
                      if package == BASE else with_depends(package, depends))
            if not own & having:
                messages.append(f"{TABLE}: {kind} {name} is of {' or '.join(sorted(own))},"
                                f" not of {package}")
    return messages, known


def check():
    table = Table()
    headers = tree_headers()
    words = [name for kind, name in table.packages if kind == "word"]
    known = {}

    def files(path):
        if path not in known:
            known[path] = File(path, headers, words)
        return known[path]

    wrong, passed = wrong_rows(table)
    misses = set(wrong)
    named = set()  # a need that no package meets is named once
    used = collections.defaultdict(set)  # package: targets
    targets = {}
    for name, arguments in targets_of_makefile():
        target = targets[name] = Target(
            arguments, files, table)
        installed = {p: g for g in target.groups
                     for p in packages_of(g)}
        for row in target.wishes:
            for package in table.packages.get(row, set()) & set(installed):
                used[package].add(name)
        for (kind, what), path in sorted(target.needs.items()):
            owners = table.packages.get((kind, what))
            label = {"lib": "-l" + what, "header": f"<{what}>"}.get(kind, what)
            if (kind, what) in named:
                continue
            if not owners:
                named.add((kind, what))
                misses.add(f"{blame(kind, what, path)}: {TABLE} does not say which"
                           f" package has {label}")
                continue
            if BASE in owners:
                passed += 1
                continue
            here = owners & set(installed)
            if here:
                passed += 1
                for package in here:
                    used[package].add(name)
                continue
            named.add((kind, what))
            misses.add(f"{blame(kind, what, path)}: {label} is of package"
                       f" {' or '.join(sorted(owners))}, which no group of"
                       f" `make {name}` names ({' '.join(target.groups)})")
    groups = sorted({g for t in targets.values() for g in t.groups})
    for group in groups:
        for package in packages_of(group):
            alone = [n for n, t in targets.items()
                     if group in t.groups and n in used[package] and not any(
                         package in packages_of(g)
                         for g in t.groups if g != group)]
            if alone:
                passed += 1
            else:
                misses.add(f".ci/deps: no target needs {package} of group {group}")
    for miss in sorted(misses):
        print(miss)
    print(f"packages: {passed} passed, {len(misses)} failed")
    return 1 if misses or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(check())
