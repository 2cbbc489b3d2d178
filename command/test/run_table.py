#!/usr/bin/env python3
"""Runs tables of what the command promises: words and files in; exit code, lines
and files out.

    usage: run_table.py PROFSIM TABLE... [--only TEXT] [--keep] [--jobs N]

A table is a plain text file. A row begins with `row` and its name, and runs in an
empty folder of its own, in which `fixtures` and `explore` are the project's folders and
`profsim` stands first in PATH. Several rows run side by side.

    # A comment.
    row a mistyped event has a file, a line and a reason
      copy late.sim fixtures/scenarios/late-rotation-go1.6.sim
      edit late.sim s/^gc-sweep/gc-swep/
      $ replay late.sim
      refused late.sim:12: unknown event 'gc-swep'

    row a trace is written
      for name in every-event late-return-across-sessions
      $ run --out traces fixtures/scenarios/{name}.sim
      out~ {name}.sim: ok
      has traces/*.out

`for NAME in WORD...` (globs from the project's folder; several: their product) makes
a row of each word; {NAME}, and {root} for the project's folder, are then replaced.
`for A,B in "1 2" "3 4"` names the parts of each word. The steps below a line `each`
are taken at the beginning of each row below them.
Files in:
    write FILE          and lines that begin with `|`: the text, after `| `
    copy FILE FROM      the bytes of another file
    edit FILE s/A/B     each match of the regular expression A becomes B (s/A/B/1: only
                        the first); it is an error if there is none. Any byte may
                        stand for `/`
    cut FILE N          keep the first N bytes; N may end in %
    flip FILE N         another byte at N (from the end if negative; or N%)
    sh COMMAND          anything else: must exit with 0
What runs:
    env NAME=VALUE      for what follows
    stdin TEXT          the same
    $ WORDS             the command with these words, split as a shell would
    sh COMMAND          a shell's, whose output is checked as well; .out and .err
                        are what the last command printed
What must be so of the last command:
    exit N              its exit code; 0 if no such line stands below it
    out TEXT            a line of its output has TEXT in it
    out= TEXT           ... is TEXT
    out~ REGEX          ... has a match
    out! TEXT           no line has TEXT in it
    out* N REGEX        N lines have a match
    err, err=, ...      the same of stderr
    whole [FILE]        and lines that begin with `|`: all its output, or all of a file
    refused TEXT        exit code 1, no output, and one line of stderr that has TEXT
    same FILE FILE      files are equal
    has GLOB            there is such a file, and it is not empty
    no GLOB             there is none
    is FILE ...         as `out`, for lines of a file: is FILE = TEXT, is FILE ~ REGEX
    json FILE EXPR      of Python: d is what FILE holds; of a report, one(NAME) is a
                        result and v(NAME) its verdict, text(FILE) a file
    below FILE N        fewer than N bytes
    memory N            it had at most N MiB in use at once (not asked of a build with sanitizers)
Always checked: no signal ends the command, unless `exit` says 128 and its number; it
prints no control characters (`raw` lifts this); no unfinished file is left; a report
(--json, --junit) is as docs/ci/report.schema.json says, and agrees with the exit code.

One row on one line, for what is only said:

    refuse check --sneeze => '--sneeze'       as $ and refused
    answer help check => usage: profsim check as $ and out
"""
import concurrent.futures
import difflib
import glob
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.abspath(__file__)).rpartition("/command/")[0]
sys.path.insert(0, os.path.join(ROOT, "common", "report"))
sys.dont_write_bytecode = True
import check_report  # noqa: E402

SECONDS = 300


class Wrong(Exception):
    pass


def check(good, *said):
    if not good:
        raise Wrong(" ".join(str(word) for word in said))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        return file.read()


# ---- Tables ----


def expand(name, steps, where):
    """Rows of one with `for` lines."""
    loops = [s[0].split(None, 3) for s in steps if s[0].startswith("for ")]
    steps = [s for s in steps if not s[0].startswith("for ")]
    keys = [loop[1].split(",") for loop in loops]
    values = []
    for loop in loops:
        check(loop[2] == "in", where, "for NAME in WORD...")
        words = shlex.split(loop[3])
        values.append([found for word in words for found in
                       (sorted(glob.glob(word, root_dir=ROOT)) if "*" in word else [word])])
        check(values[-1], where, "no such files:", loop[3])
    for chosen in itertools.product(*values):
        known = {"root": ROOT}
        for names, word in zip(keys, chosen):
            known.update(zip(names, word.split(None, len(names) - 1) if len(names) > 1 else [word]))

        def put(text, known=known):
            return re.sub(r"\{(\w+)\}", lambda m: known.get(m[1], m[0]), text)
        own = put(name)
        if chosen and own == name:
            own += ": " + " ".join(chosen)
        yield own, [(put(text), [put(line) for line in block]) for text, block in steps], where


def rows_of(table):
    rows, name, steps, where, each = [], None, [], None, []
    for number, line in enumerate(read(table).splitlines() + ["row"], 1):
        text = line.strip()
        verb, _, rest = text.partition(" ")
        if text.startswith("|"):
            steps[-1][1].append(text[2:])
        elif verb in ("row", "each", "refuse", "answer"):
            if name == "each ":
                each = steps
            elif name is not None:
                rows += expand(name, each + steps, where)
            name, steps, where = rest, [], f"{os.path.relpath(table)}:{number}"
            if verb == "each":
                name = "each "
            elif verb != "row":
                words, _, said = rest.rpartition(" => ")
                steps = [("$ " + words, []), (("refused " if verb == "refuse" else "out ") + said, [])]
        elif text and not text.startswith("#"):
            check(name is not None, f"{table}:{number}: no row begins here")
            steps.append((text, []))
    return rows


# ---- One row ----


class Row:
    def __init__(self, profsim, folder):
        self.profsim, self.folder = profsim, folder
        self.env = dict(os.environ, PATH=os.path.join(folder, ".bin") + ":" + os.environ["PATH"])
        for name in ("LD_PRELOAD", "COLUMNS", "NO_COLOR"):
            self.env.pop(name, None)
        self.stdin = ""
        self.command = None  # the last one's words
        self.out = self.err = ""
        self.code = self.wanted = 0
        self.peak_mib = 0
        os.mkdir(os.path.join(folder, ".bin"))
        os.symlink(profsim, os.path.join(folder, ".bin", "profsim"))
        for name in ("fixtures", "explore"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, words):
        self.finish()
        self.command, self.wanted = words, 0
        self.raw = False
        with open(self.path(".out.new"), "wb") as out, open(self.path(".err.new"), "wb") as err, \
                tempfile.TemporaryFile() as given:
            given.write(self.stdin.encode())
            given.seek(0)
            process = subprocess.Popen(words, cwd=self.folder, env=self.env, stdin=given, stdout=out,
                                       stderr=err, start_new_session=True)
            timer = threading.Timer(SECONDS, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = status
        self.code = os.waitstatus_to_exitcode(status)
        if self.code < 0:
            self.code = 128 - self.code
        self.peak_mib = usage.ru_maxrss >> 10
        for name in (".out", ".err"):
            os.replace(self.path(name + ".new"), self.path(name))
        self.out, self.err = read(self.path(".out")), read(self.path(".err"))

    def option(self, name):
        for i, word in enumerate(self.command):
            if word == name and i + 1 < len(self.command):
                return self.command[i + 1]
            if word.startswith(name + "="):
                return word.partition("=")[2]
        return None

    def finish(self):
        """What holds of every command, whatever the row says."""
        if self.command is None:
            return
        check(self.code == self.wanted, f"exit code {self.code}, not {self.wanted}")
        if not self.raw:
            odd = re.search(r"[\x00-\x08\x0b-\x1f\x7f]", self.out + self.err)
            check(odd is None, f"prints the byte {odd and ord(odd[0]):#x}" if odd else "")
        left = glob.glob(self.path("**/*.part"), recursive=True)
        check(not left, "left behind:", left)
        if self.command[0] == self.profsim and self.option("--json") and self.option("--junit") and \
                (self.code != 1 or os.path.exists(self.path(self.option("--json")))):
            try:
                check_report.check(os.path.join(ROOT, "docs/ci/report.schema.json"), self.path(self.option("--json")),
                                   self.path(self.option("--junit")), self.code)
            except (SystemExit, OSError) as why:
                raise Wrong(f"report: {why}") from why
        self.command = None

    def lines(self, what, text, how, wanted):
        """Lines of a text, against what a table says of them."""
        lines = text.splitlines()
        many = None
        if how == "*":
            many, _, wanted = wanted.partition(" ")
        test = {"": lambda l: wanted in l, "!": lambda l: wanted in l, "=": lambda l: l == wanted,
                "~": lambda l: re.search(wanted, l), "*": lambda l: re.search(wanted, l)}[how]
        met = sum(1 for line in lines if test(line))
        if how == "!":
            check(met == 0, f"{what}: a line has '{wanted}'")
        elif how == "*":
            check(met == int(many), f"{what}: {met} lines match '{wanted}', not {many}")
        else:
            check(met > 0, f"{what}: no line", {"": "has", "=": "is", "~": "matches"}[how], f"'{wanted}'")

    @staticmethod
    def whole(text, block):
        differ = list(difflib.unified_diff([line.rstrip() for line in block], [line.rstrip() for line in text.splitlines()], "wanted", "found", lineterm=""))
        check(not differ, "\n    ".join(differ))

    def json(self, rest):
        name, _, expression = rest.partition(" ")
        d = json.loads(read(self.path(name)))

        def one(name):
            return [r for r in d["results"] if r["name"] == name][0]
        known = {"d": d, "one": one, "v": lambda name: one(name)["verdict"], "re": re,
                 "text": lambda name: read(self.path(name))}
        check(eval(expression, known), "not so of", name + ":", expression, "\n", json.dumps(d)[:1500])  # pylint: disable=eval-used

    def change(self, verb, rest):
        """Files in."""
        name, _, how = rest.partition(" ")
        if verb == "copy":
            shutil.copyfile(self.path(how), self.path(name))
            return
        with open(self.path(name), "rb") as file:
            data = bytearray(file.read())
        if verb == "edit":
            _, old, new, flags = (how.split(how[1]) + ["", ""])[:4]
            text, met = re.subn(old, new, data.decode("utf-8", "surrogateescape"), int(flags or 0), re.M)
            check(met > 0, f"edit {name}: nothing matches '{old}'")
            data = text.encode("utf-8", "surrogateescape")
        else:
            at = len(data) * int(how[:-1]) // 100 if how.endswith("%") else int(how)
            if verb == "cut":
                del data[at:]
            else:
                data[at] ^= 0xff
        with open(self.path(name), "wb") as file:
            file.write(data)

    def step(self, text, block):
        verb, _, rest = text.partition(" ")
        first, _, others = rest.partition(" ")
        if verb == "$":
            self.start([self.profsim] + shlex.split(rest))
        elif verb == "sh":
            self.start(["sh", "-c", rest])
        elif verb == "env":
            self.env.update([rest.split("=", 1)])
        elif verb == "stdin":
            self.stdin = rest
        elif verb == "write":
            with open(self.path(rest), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write("".join(line + "\n" for line in block))
        elif verb in ("copy", "edit", "cut", "flip"):
            self.change(verb, rest)
        elif verb == "exit":
            self.wanted = int(rest)
        elif verb == "raw":
            self.raw = True
        elif verb[:3] in ("out", "err") and len(verb) <= 4:
            self.lines({"out": "output", "err": "stderr"}[verb[:3]], getattr(self, verb[:3]), verb[3:], rest)
        elif verb == "whole":
            self.whole(self.out if not rest else read(self.path(rest)), block)
        elif verb == "refused":
            self.wanted = 1
            check(self.out == "", "there is output")
            check(self.err.count("\n") == 1, "not one line of stderr")
            self.lines("stderr", self.err, "", rest)
        elif verb == "same":
            check(read(self.path(first)) == read(self.path(others)), f"{first} and {others} differ")
        elif verb in ("has", "no"):
            found = [p for p in glob.glob(self.path(rest), recursive=True) if os.path.getsize(p) > 0]
            check(bool(found) == (verb == "has"), "there is" if found else "there is no", rest)
        elif verb == "is":
            how = others[:1] if others[:2] in ("= ", "~ ", "! ") else ""
            self.lines(first, read(self.path(first)), how, others[2:] if how else others)
        elif verb == "json":
            self.json(rest)
        elif verb == "below":
            size = os.path.getsize(self.path(first))
            check(size < int(others), f"{first} has {size} bytes")
        elif verb == "memory":
            check(self.peak_mib <= int(rest) or "/asan/" in self.profsim, f"{self.peak_mib} MiB, not {rest}")
        else:
            check(False, f"no such step: {text}")


def run(profsim, row, keep):
    """Runs a row. returns: what is wrong, or None"""
    name, steps, where = row
    folder = tempfile.mkdtemp(prefix="row-")
    state, text = Row(profsim, folder), ""
    try:
        for text, block in steps:
            state.step(text, block)
        text = "the end"
        state.finish()
        return None
    except (Wrong, OSError, ValueError, LookupError, SyntaxError, NameError, TypeError) as why:
        shown = "".join(f"    {what}: {line[:300]}\n" for what, said in (("out", state.out), ("err", state.err))
                        for line in said.splitlines()[:20])
        return (f"FAILED: {where}: {name}\n    at: {text}\n    {why}\n    exit: {state.code}\n{shown}"
                f"    again: {os.path.relpath(__file__)} {os.path.relpath(profsim)} {where.split(':')[0]} "
                f"--keep --only {shlex.quote(name)}" + (f"\n    folder: {folder}" if keep else ""))
    finally:
        if not keep:
            subprocess.run(["chmod", "-R", "u+rwx", folder], check=False) if not os.access(folder, os.W_OK) else None
            shutil.rmtree(folder, ignore_errors=True)


def main(words):
    only, keep, jobs, files = "", False, (os.cpu_count() or 1) + 1, []
    while words:
        word = words.pop(0)
        if word == "--only":
            only = words.pop(0)
        elif word == "--keep":
            keep = True
        elif word == "--jobs":
            jobs = int(words.pop(0))
        else:
            files.append(word)
    profsim, tables = os.path.realpath(files[0]), files[1:]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for table in tables:
            rows = [row for row in rows_of(table) if only in row[0]]
            wrong = [w for w in pool.map(lambda row: run(profsim, row, keep), rows) if w]
            failed += len(wrong) + (not rows and not only)
            print("\n".join(wrong + [f"{os.path.basename(table).partition('.')[0]}: "
                                     f"{len(rows) - len(wrong)} passed, {len(wrong)} failed"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
