#!/usr/bin/env python3
# build: args='out/gcc/profsim out/gcc/libprofsim-record.so'
"""Every output of profsim in a shared folder (mode 1777, as /tmp) where another user
has planted traps: symbolic links, hard links to the victim's files and links, pipes,
folders, files of his own, links under names that a temporary file could have. All
outputs have one writer (prof/port/file.c): each is tried with a link, and one of them
with every trap.

The victim of each trap is a user, then root; the kernel's protections
(fs.protected_*) are all off, then all on. These settings belong to the machine, so
they change for a few seconds only, and a process that outlives this one restores them
whatever happens. Where they cannot be changed (in a container), they stay as they are.
Without root the test uses user namespaces (uidmap). If there are none either, nothing
is tested, and that counts as a failure.

usage: command/test/test_shared.py PROFSIM RECORDER
"""
import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

USER, THIEF = 54321, 54322
FLAGS = [f"/proc/sys/fs/protected_{name}" for name in ("symlinks", "hardlinks", "regular", "fifos")]
# The outputs: their names in the shared folder, and the commands that write them.
FILES = {
    "record": ("x", "record -o {shared}/x true"),
    "all": ("x.2", "record -o {shared}/x sh {in}/two.sh"),
    "recover": ("x", "recover -o {shared}/x {dir}/spools"),
    "chrome": ("x", "trace convert --to chrome {in}/trace.out -o {shared}/x"),
    "perfetto": ("x", "trace convert --to perfetto {in}/trace.out -o {shared}/x"),
    "scenario": ("heap.pb.gz", "run --out {shared} {in}/a.sim"),
    "text": ("heap.symbolized", "run --out {shared} {in}/a.sim"),
    "recording": ("mutex.pb.gz", "show --out {shared} {in}/w.rec"),
    "traces": ("trace.out", "run --out {shared} {in}/t.sim"),
    "failure": ("H2-go1.6-late-67.sim", "check H2 --rules go1.6-late --seeds 67..67 --save {shared}"),
    "result": ("x", "check H2 --seeds 1..2 --result {shared}/x"),
}
FOLDERS = {
    "inside": ("new", "run --out {shared}/new {in}/a.sim"),
    "each": ("a.sim", "run --out {shared} {in}/a.sim {in}/b.sim"),
    "failures": ("profsim-failures", "check H2 --rules go1.6-late --seeds 67..67"),
    "profiles": ("profsim-profile", "profile --heap 1 sh {in}/two.sh"),
}
TRAPS = ["link", "dangling", "second", "second-link", "pipe", "folder", "file", "guessed"]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


@contextlib.contextmanager
def as_user(user):
    os.setegid(user)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


class Place:
    def __init__(self, folder, profsim, recorder):
        self.at = {"dir": folder, "in": folder + "/in", "shared": folder + "/shared"}
        self.home = folder + "/home"
        os.mkdir(self.at["in"])
        for path, name in ((profsim, "profsim"), (recorder, "libprofsim-record.so"),
                           (os.path.dirname(recorder) + "/libprof-malloc.so", "libprof-malloc.so"),
                           ("fixtures/scenarios/birth-during-mark.sim", "a.sim"),
                           ("fixtures/scenarios/wrap.sim", "b.sim"),
                           ("fixtures/scenarios/late-return-across-sessions.sim", "t.sim"),
                           ("fixtures/recordings/waits.rec", "w.rec")):
            shutil.copy(path, self.at["in"] + "/" + name)
        self.profsim = self.at["in"] + "/profsim"
        write(self.at["in"] + "/two.sh", "ls / >/dev/null\ntrue\n")  # two images
        subprocess.run([profsim, "run", "--out", self.at["in"], self.at["in"] + "/t.sim"], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([self.profsim, "record", "sh", "-c", "kill -9 $PPID"], check=False,
                       env=dict(os.environ, TMPDIR=self.at["in"]), capture_output=True)
        left = [n for n in os.listdir(self.at["in"]) if n.startswith("profsim-")]
        os.rename(self.at["in"] + "/" + left[0], self.at["in"] + "/spools")

    def begin(self, victim, output):
        """New folders."""
        for path in (self.at["shared"], self.home, self.at["dir"] + "/spools"):
            shutil.rmtree(path, ignore_errors=True)
        if output == "recover":  # what is saved is removed
            shutil.copytree(self.at["in"] + "/spools", self.at["dir"] + "/spools")
        os.mkdir(self.at["shared"])
        os.chmod(self.at["shared"], 0o1777)
        os.mkdir(self.home)
        write(self.home + "/precious", "precious")
        write(self.home + "/open", "open")
        os.chmod(self.home + "/open", 0o666)  # a file that any kernel lets a thief link to
        os.symlink(self.home + "/precious", self.home + "/link")
        for top in (self.home, self.at["dir"] + "/spools"):
            for root, folders, files in os.walk(top):
                for name in [".", *folders, *files]:
                    os.lchown(os.path.join(root, name), victim, victim)

    def look(self):
        """The state of all that could be changed elsewhere."""
        seen = []
        for name in [""] + sorted(os.listdir(self.home)):
            s = os.lstat(self.home + "/" + name)
            seen.append((name, s.st_mode, s.st_size, s.st_uid, s.st_ino, s.st_mtime_ns))
        for name in ("precious", "open"):
            with open(self.home + "/" + name, encoding="utf-8") as file:
                seen.append(file.read())
        return seen

    def plant(self, trap, path):
        """returns: a pipe's reader, or None"""
        with as_user(THIEF):
            if trap in ("link", "dangling"):
                os.symlink(self.home + ("/precious" if trap == "link" else "/absent"), path)
            elif trap in ("second", "second-link"):
                os.link(self.home + ("/open" if trap == "second" else "/link"), path, follow_symlinks=False)
            elif trap == "pipe":
                os.mkfifo(path)
                os.chmod(path, 0o666)
                return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            elif trap in ("folder", "folder-of-links"):
                os.mkdir(path)
                os.chmod(path, 0o777)
                for name in ("heap.pb.gz", "H2-go1.6-late-67.sim") if trap == "folder-of-links" else ():
                    os.symlink(self.home + "/precious", path + "/" + name)
            elif trap == "file":
                write(path, "theirs")
                os.chmod(path, 0o666)
            elif trap == "folder-link":
                os.symlink(self.home, path)
        return None

    def run(self, victim, trap, words, path):
        """returns: whether it was refused, and what was printed"""
        def begin():
            if trap == "guessed":
                with as_user(THIEF):
                    for i in range(os.getpid() - 5, os.getpid() + 200):
                        os.symlink(self.home + "/precious", f"{path}.{i}.part")
            os.setgroups([])
            os.setresgid(victim, victim, victim)
            os.setresuid(victim, victim, victim)
        ran = subprocess.run([self.profsim, *words.format(**self.at).split()], cwd=self.at["shared"], timeout=60,
                             env=dict(os.environ, HOME=self.home, TMPDIR=self.at["shared"]), check=False,
                             stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=begin)
        said = (ran.stderr + ran.stdout).decode()
        if ran.returncode == 2:  # a failure was found
            return "\nnot saved: " in said, said
        if ran.returncode == 0:  # as the program's, which ended before
            return "saving failed: cannot write" in said, said
        return ran.returncode in (1, 125), said


def attempt(place, victim, output, trap):
    """returns: None, or what is wrong"""
    name, words = {**FILES, **FOLDERS}[output]
    path = place.at["shared"] + "/" + name
    place.begin(victim, output)
    written = trap in ("second", "guessed") or (trap == "file" and victim == 0 and output in FILES)
    try:
        reader = place.plant(trap, path)
    except PermissionError:
        reader, written = None, True  # the kernel did not let the thief
    before = place.look()
    refused, said = place.run(victim, trap, words, path)
    stolen = b""
    if reader is not None:
        with contextlib.suppress(BlockingIOError):
            stolen = os.read(reader, 1)
        os.close(reader)
    if place.look() != before or stolen:
        return "the victim's files changed, or were read"
    if [n for n in os.listdir(place.at["shared"]) if n.startswith(".prof")]:
        return "something is left behind"
    if written:
        s = os.lstat(path)
        good = not refused and stat.S_ISREG(s.st_mode) and s.st_size > 0 and \
            (s.st_uid, s.st_nlink) == (victim, 1) and s.st_mode & 0o022 == 0
        return None if good else "it is not written: " + said
    named = any(line.startswith(("profsim", "not saved")) and os.path.basename(path) in line
                for line in said.splitlines())
    return None if refused and named else "it is not refused by its name: " + said


def try_all(place, setting):
    passed, failed = 0, 0
    for victim in (USER, 0):
        cases = [(o, t) for o in FILES for t in TRAPS if t == "link" or o == "text"]
        # A process's number is not known before it runs, so its file's name cannot be planted.
        cases += [(o, t) for o in FOLDERS for t in ("folder-link", "folder-of-links", "file")
                  if (o, t) != ("profiles", "folder-of-links")]
        for output, trap in cases:
            wrong = attempt(place, victim, output, trap)
            passed += wrong is None
            failed += wrong is not None
            if wrong is not None:
                print(f"FAILED: {output} over {trap}, user {victim}, protections {setting}: {wrong}")
    return passed, failed


def set_flags(values):
    try:
        for path, value in zip(FLAGS, values):
            write(path, value)
        return True
    except OSError:
        return False


def main():
    if os.geteuid() != 0:
        unshare = ["unshare", "--user", "--map-root-user", "--map-auto"]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
            os.execvp("unshare", [*unshare, sys.executable, *sys.argv])
        print("FAILED: needs root, or a user namespace with other users in it\nshared: 0 passed, 1 failed")
        return 1
    # Only one such test may run at a time: a second one would take the changed
    # settings for the original ones.
    lock = open(FLAGS[0], encoding="utf-8")  # pylint: disable=consider-using-with
    fcntl.flock(lock, fcntl.LOCK_EX)
    old = []
    for path in FLAGS:
        with open(path, encoding="utf-8") as file:
            old.append(file.read().strip())
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    ends = os.pipe()
    restorer = os.fork()
    if restorer == 0:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        os.close(ends[1])
        os.read(ends[0], 1)
        set_flags(old)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)
    os.close(ends[0])
    os.umask(0o022)
    place = Place(folder, os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]))
    settings = {"off": ["0"] * 4, "on": ["1", "1", "2", "2"]}
    tried = {name: try_all(place, name) for name, values in settings.items() if set_flags(values)}
    if not tried:
        tried = {"as they are": try_all(place, "as they are")}
    os.close(ends[1])
    os.waitpid(restorer, 0)
    passed, failed = (sum(counts) for counts in zip(*tried.values()))
    print(f"fs.protected_*: {' '.join(tried)}\nshared: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
