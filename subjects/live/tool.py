"""What all live tools have in common: how one is run, and what it cost."""
import collections
import math
import subprocess

LIMIT_S = 300

Cost = collections.namedtuple("Cost", "cpu_s rss_kib")


def run(command):
    """Run a command; returns its output."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(command),
                                       done.stderr.decode()[-500:]))
    return done.stdout.decode()


def version_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=LIMIT_S)
    except OSError:
        return None
    text = (done.stdout + done.stderr).strip().splitlines()
    return text[0] if text and done.returncode == 0 else None


def package_version(name):
    text = version_of(["dpkg-query", "-W", "-f=${Status} ${Version}", name])
    if not text or not text.startswith("install ok installed "):
        return None
    return name + " " + text.split()[-1]


def weight(size, rate):
    """returns: the number of objects that one object sampled by a byte sampler stands
    for"""
    return 1 / -math.expm1(-size / rate)


class Tool:
    name = language = ""
    exact = False       # counts everything
    says = ()           # of objects, bytes, live_objects, live_bytes
    modes = ("plain",)
    workloads = ()      # of these modes; (): all
    least = 16          # the smallest object that can be asked for
    keeps_all = False   # objects in use are all it sees
    most_runs = 192     # of a workload: what its slowest part costs

    def counted(self, mode, size):
        """returns: the bytes that the tool counts for an object of the requested
        size"""
        return size

    def __init__(self, folder, rate, scratch=None):
        """in: folder, of the truth programs; scratch, for the files of a run"""
        self.folder, self.rate = folder, rate
        self.scratch = scratch or folder

    def sums(self, parts):
        return [dict.fromkeys(self.says, 0.0) for _ in parts]

    def run(self, command, env=None):
        """Run a truth program; returns its output and its Cost."""
        path = self.scratch + "/cost.txt"
        words = ["%s=%s" % each for each in (env or {}).items()]
        # What is preloaded is for the program alone.
        text = run([self.folder + "/cost", path, "env"] + words + command)
        with open(path) as file:
            cpu_us, rss_kib = map(int, file.read().split())
        return text, Cost(cpu_us / 1e6, rss_kib)

    # What an adapter defines:
    #   measure(mode, seed, parts)  returns sums and Cost
    #   plain(mode, seed, parts)    returns the Cost of the same without profiler
    #   fork(seed, parts)           returns the sums of parent and child
