#!/usr/bin/env python3
"""What changes in the code so that a product needs only common/ and the library."""
import re, os, sys, glob, subprocess

def read(p): return open(p).read()
def write(p, s): os.makedirs(os.path.dirname(p) or ".", exist_ok=True); open(p, "w").write(s)
def sub(p, *pairs, optional=False):
    s = read(p)
    for a, b in pairs:
        if a not in s:
            print("EDIT FAILS: %s: %r" % (p, a[:60]))
            if optional: continue
        s = s.replace(a, b)
    write(p, s)
def rsub(p, a, b, flags=re.M | re.S, count=0):
    s = read(p)
    t, n = re.subn(a, b, s, count=count, flags=flags)
    if n == 0: print("EDIT FAILS: %s: %r" % (p, a[:60]))
    write(p, t)

# 1. The limit of a scenario file stands with the limits of the other kinds.
sub("common/input.c", ('#include "sim/scenario/scenario.h"\n\n', ""),
    ("SIM_SCENARIO_FILE_MAX", "SIM_INPUT_SCENARIO_MAX"))
rsub("common/input.h", r"^(enum sim_input_kind )", r"enum { SIM_INPUT_SCENARIO_MAX = 1 << 28 /* bytes */ };\n\n\1", count=1)
rsub("sim/scenario/scenario.h", r"SIM_SCENARIO_FILE_MAX = 1 << 28,", "SIM_SCENARIO_FILE_MAX = SIM_INPUT_SCENARIO_MAX,")
rsub("sim/scenario/scenario.h", r'(#include "sim/)', r'#include "common/input.h"\n\1', count=1)

# 2. Commands of record and of props read recordings.
s = read("props/command/check_recording.c")
m = re.search(r"/\* One recording is read at a time\. \*/.*?\n\}\n\n(?=/\* The properties to judge)", s, re.S)
body = m[0]
s = s.replace(body, "")
s = s.replace('#include "common/monotonic.h"\n', "").replace('#include "common/progress_line.h"\n', "")
write("props/command/check_recording.c", s)
write("common/command/recording_input.c", '''/* recording_input.c -- see recording_input.h. */
#include "common/command/recording_input.h"

#include <inttypes.h>

#include "common/command/complaint.h"
#include "common/monotonic.h"
#include "common/progress_line.h"

''' + body.rstrip("\n") + "\n")
s = read("props/command/check_recording.h")
m = re.search(r"/\* Show the progress of long work.*?\n\n(?=#endif)", s, re.S)
decls = m[0]
s = s.replace(decls, "").replace('#include "common/recording/recording.h"\n', '#include "common/command/recording_input.h"\n')
write("props/command/check_recording.h", s)
write("common/command/recording_input.h", '''/* recording_input.h -- the recording that a command was given. */
#ifndef COMMON_COMMAND_RECORDING_INPUT_H
#define COMMON_COMMAND_RECORDING_INPUT_H

#include <stdint.h>

#include "common/recording/recording.h"

''' + decls + "#endif\n")

# 3. Commands: declared with their product, found by name at link time.
s = read("props/command/commands.h")
for name in ("cli_diff", "cli_show"):
    s = s.replace("enum cli_exit %s(int argc, char **argv);\n" % name, "")
write("props/command/commands.h", s)
rsub("record/command/record.h", r"\n#endif\n$", "\nenum cli_exit cli_diff(int argc, char **argv);\nenum cli_exit cli_show(int argc, char **argv);\n\n#endif\n")
s = read("record/command/diff.c")
s = s.replace('#include "props/command/check_recording.h"\n#include "props/command/commands.h"\n', '#include "common/command/recording_input.h"\n#include "record/command/record.h"\n')
if "complaint.h" not in s: s = s.replace('#include "common/command/options.h"\n', '#include "common/command/complaint.h"\n#include "common/command/options.h"\n')
write("record/command/diff.c", s)

s = read("command/main.c")
names = re.findall(r"^    \{[A-Z]+, \"[a-z]+\",\s+(cli_\w+),", s, re.M)
keep = ("common/", "prof/")
s = "\n".join(l for l in s.split("\n") if not (l.startswith('#include "') and not l[10:].startswith(keep)))
s = s.replace("#include \"common/nearest.h\"\n", "#include \"common/command/exit.h\"\n#include \"common/nearest.h\"\n") if "command/exit.h" not in s else s
weak = ("/* A build of some products has their commands alone: the others are NULL. */\n"
        "#define COMMAND(name) \\\n    enum cli_exit name(int argc, char **argv) __attribute__((weak))\n"
        + "".join("COMMAND(%s);\n" % n for n in names) + "\n")
s = s.replace("static const struct {\n    enum group group;", weak + "static const struct {\n    enum group group;")
s = s.replace("        if (i == 0 || commands[i].group != commands[i - 1].group)\n            fprintf(file, \"\\n%s\\n\", groups[commands[i].group]);\n",
 "        if (commands[i].run == NULL)\n            continue;\n        if (group != commands[i].group)\n            fprintf(file, \"\\n%s\\n\", groups[group = commands[i].group]);\n")
s = s.replace("    const size_t count = sizeof commands / sizeof *commands;\n", "    const size_t count = sizeof commands / sizeof *commands;\n    enum group group = GROUPS;\n")
s = s.replace("        sim_nearest_try(&nearest, commands[i].name);", "        if (commands[i].run != NULL)\n            sim_nearest_try(&nearest, commands[i].name);")
s = s.replace("if (strcmp(commands[i].name, argv[0]) == 0)", "if (commands[i].run != NULL && strcmp(commands[i].name, argv[0]) == 0)")
if len(names) < 10 or "group != commands" not in s: print("EDIT FAILS: main.c", names)
write("command/main.c", s)

for p in glob.glob("*/test/**/*.c", recursive=True):
    t = read(p)
    if re.search(r"\bcli_(show|diff)\b", t) and "record/command/record.h" not in t:
        write(p, t.replace('#include "props/command/commands.h"\n', '#include "props/command/commands.h"\n#include "record/command/record.h"\n'))

# 4. The library's kernels are listed where they are linked.
sub("explore/command/kernel_groups.c", ('#include "props/kernels/kernels.h"\n', ""),
    ("const struct sim_kernel_entry *const cli_kernel_groups[] = {",
     "/* The kernels over the library (props/kernels/); NULL in a build of the explorer\n"
     " * alone. */\n"
     "extern const struct sim_kernel_entry props_kernels[] __attribute__((weak));\n\n"
     "const struct sim_kernel_entry *const cli_kernel_groups[] = {"))

# 5. What a recorded program did is shown; `profsim check` judges.
s = read("record/command/show.c")
s = s.replace('#include "props/command/check_recording.h"\n#include "props/command/commands.h"\n#include "props/command/file_result.h"\n',
              '#include "common/command/complaint.h"\n#include "common/command/recording_input.h"\n#include "common/report/report.h"\n#include "record/command/record.h"\n')
s = s.replace("    bool verdicts; /* also judge the library on the recording */\n", "")
s = s.replace("    const struct prof_rules *rules;\n", "", 1)
s = s.replace("    struct props_breach breach = cli_no_breach();\n", "")
s = re.sub(r"    if \(exit_code != CLI_OK\) \{\n        cli_file_result\(.*?\n    \} else if \(words->verdicts\) \{.*?\n    \} else \{\n(.*?)\n    \}\n",
  "    if (exit_code == CLI_OK)\n        cli_result_text(\n            words->report,\n            &cli_report_add(words->report, \"files\", path, CLI_VERDICT_NOT_TRIED)\n                 ->text,\n            \"its heap was shown\");\n    else\n        not_shown(words->report, path);\n", s, flags=re.S)
s = re.sub(r"        cli_file_result\(words->report, \"files\", path, CLI_USAGE, &breach,\s+\"profsim show\"\);\n", "        not_shown(words->report, path);\n", s)
s = re.sub(r"    \{VERDICTS, .*?\},\n", "", s, flags=re.S, count=1)
s = re.sub(r"    \{RULES, .*?\},\n", "", s, flags=re.S, count=1)
s = re.sub(r"    case RULES:\n.*?\n(?=    case TOP)", "", s, flags=re.S, count=1)
s = re.sub(r"    case VERDICTS:\n.*?\n(?=    case )", "", s, flags=re.S, count=1)
s = s.replace("enum { RULES = 1, TOP, OUT, VERDICTS, BY, FOLDED };", "enum { TOP = 1, OUT, BY, FOLDED };")
write("record/command/show.c", s)
s = read("record/command/show.c")
s = s.replace("static enum cli_exit\nshow_input(", '''/* Report the file of the last complaint. */
static void
not_shown(struct cli_report *report, const char *path)
{
    cli_result_text(
        report,
        &cli_report_add(report, "files", path, cli_verdict_of(CLI_USAGE))->text,
        "%s", cli_complaint_last());
}

static enum cli_exit
show_input(''', 1)
s = s.replace("    struct words words = {\n        .rules = &prof_rules_exact, .top = 10, .report = &report};\n", "    struct words words = {.top = 10, .report = &report};\n")
write("record/command/show.c", s)
for p in glob.glob("**/test_command.sh", recursive=True) + glob.glob("**/test_report.sh", recursive=True): pass

# 6. Profile files: what writes them, and what each product writes.
s = read("common/profiles.h")
def cut(first, last):
    global s
    m = re.search(r"/\*(?:(?!\*/).)*?" + first + r".*?" + last + r"\([^;]*;\n\n", s, re.S)
    # from the comment right before
    start = s.rfind("/*", 0, s.index(last + "("))
    end = s.index(";\n", s.index(last + "(")) + 3
    block = s[start:end]
    s = s[:start] + s[end:]
    return block
rec = cut("", "cli_profiles_write_recording")
scen = cut("", "cli_profiles_write_scenario") + cut("", "cli_profiles_show_subject") + \
    cut("", "cli_profiles_print_allocations") + cut("", "cli_profiles_write_tasks")
s = s.replace('#include "record/report/calls.h"\n', "").replace('#include "record/report/live_heap.h"\n', "").replace('#include "common/recording/recording.h"\n', "")
s = s.replace("struct sim_scenario;\nstruct sim_world;\n\n", "")
write("common/profiles.h", s)
write("record/report/profiles_recording.h", '''/* profiles_recording.h -- the profile files of a recording. */
#ifndef RECORD_REPORT_PROFILES_RECORDING_H
#define RECORD_REPORT_PROFILES_RECORDING_H

#include <stdbool.h>

#include "record/report/calls.h"
#include "record/report/live_heap.h"

''' + rec + "#endif\n")
write("props/command/profiles_scenario.h", '''/* profiles_scenario.h -- the profile files of a scenario. */
#ifndef PROPS_COMMAND_PROFILES_SCENARIO_H
#define PROPS_COMMAND_PROFILES_SCENARIO_H

#include <stdbool.h>

#include "prof/pprof.h"

struct sim_scenario;
struct sim_world;

''' + scen + "#endif\n")
for folder, header, words in (("record", "record/report/profiles_recording.h", ["cli_profiles_write_recording"]),
                              ("props", "props/command/profiles_scenario.h", re.findall(r"(cli_profiles_\w+)\(", scen))):
    for p in glob.glob("record/**/*.c", recursive=True) + glob.glob("props/**/*.c", recursive=True) + glob.glob("command/**/*.c", recursive=True):
        t = read(p)
        if any(re.search(r"\b%s\(" % w, t) for w in words) and '"common/profiles.h"\n' in t:
            write(p, t.replace('#include "common/profiles.h"\n', '#include "common/profiles.h"\n#include "%s"\n' % header))
# 7. What objects are made from besides their includes.
assets = sorted(glob.glob("common/page/*.html") + glob.glob("common/page/*.css") + glob.glob("common/page/*.js"))
used = [a for a in assets if os.path.basename(a) in read("common/page/page.c")]
def directive(path, *runs):
    """Lines "build: ..." at the end of the first comment, or one more comment."""
    s = read(path)
    lines = ["build: " + r for r in runs]
    if path.endswith((".sh", ".py", ".table")):
        text = s.split("\n")
        at = 1 if text[0].startswith("#!") else 0
        if not path.endswith(".py"):
            while at < len(text) and text[at].startswith("#"): at += 1
        text[at:at] = ["# " + l for l in lines]
        write(path, "\n".join(text))
        return
    if s.startswith("/*\n"):
        end = s.index(" */\n")
        s = s[:end] + " *\n" + "".join(" * " + l + "\n" for l in lines) + s[end:]
    else:
        end = s.index("*/") + 2
        s = s[:end] + ("\n/* " + lines[0] + " */" if len(lines) == 1 and len(lines[0]) < 70 else
            "\n/*\n" + "".join(" * " + l + "\n" for l in lines) + " */") + s[end:]
    write(path, s)
directive("common/page/page.c", "needs=" + ",".join(used))
directive("subjects/conform/producer.c", "so=libotel-producer.so libs='-pthread -ldl'")
directive("subjects/conform/observe.c", "so=libprofsim-observe.so ldflags='-Wl,-z,defs -Wl,-soname,libprofsim-observe.so'")
directive("props/kernels/port.c", "plain=yes")
# Names of folders and files in Python and in tests.
def py(p, *pairs):
    if os.path.exists(p): sub(p, *pairs, optional=True)
    else: print("no such file: " + p)
py("bench/page.py", ('"..", "cli", "page"', '"..", "common", "page"'))
py("subjects/live/table.py", ('"..", "..", "cli", "page"', '"..", "..", "common", "page"'))
py("command/test/run_table.py", ('rpartition("/props/")', 'rpartition("/command/")'), ('"cli", "report"', '"common", "report"'))
py("record/test/recorded.py", ("sys.path.append(os.path.join(os.path.dirname(__file__), '../record/command'))\n", ""))
py("record/test/recording.py", ("'../../../../install'", "'../../install'"))
py("prof/test/test_process.c", ('strstr(mappings[i].file, "test_file")', 'strstr(mappings[i].file, "test_prof")'))
py("subjects/catalogue/exam.py", ('["world", "program", "plans", "choose"]', '["small_world", "plan_program", "plans", "choose"]'),
   ('"-iquote", HERE', '"-I", "."'), ("-- -iquote %s", "-- -I. %s"))

# The build has one door.
for p in ["Makefile", *glob.glob(".ci/*"), *glob.glob("props/**/*.sh", recursive=True), *glob.glob("install/**/*.sh", recursive=True),
          *glob.glob("docs/*.md"), "reports/catalogue.md", "subjects/catalogue/report.md", "tools/mutants.py"]:
    if not os.path.isfile(p) or p == "install/test_install.sh": continue
    s = read(p)
    s = re.sub(r"(?<![\w/.-])ninja (?=[-$o\"@]|fuzz|all\b)", "tools/ninja ", s).replace("ninja hostile  ", "make test T=hostile_files")
    s = s.replace("['ninja',", "['tools/ninja',").replace("&& ninja\n", "&& tools/ninja\n").replace("$(ninja -t query", "$(ninja -f out/build.ninja -t query")
    s = s.replace("compile_commands.json: build.ninja rooms.ninja rules.ninja", "compile_commands.json: tools/rules.ninja")
    s = s.replace("out/fuzz/fuzz_", "out/fuzz/fuzz_")
    s = s.replace("out/gcc/install/libprof", "out/gcc/libprof").replace("$o/props/explore_all", "$o/props/test/test_kernels")
    s = s.replace("out/cov/props/test_file", "out/cov/prof/test/test_prof").replace("out/gcc/props/test_file.ok", "out/gcc/prof/test/test_prof.ok")
    s = s.replace("out/gcc/props/test_rules_changed.ok", "out/gcc/subjects/test/test_rules_changed.ok").replace("`tools/ninja out/gcc/explore.slow`", "`make test T=test_explore_slow`")
    s = s.replace("test_file.ok: skipped", "test_prof.ok: skipped").replace("test_recorder_safety.ok: skipped", "safety.ok: skipped").replace("test_tracer_threads.ok: skipped", "test_prof_trace.ok: skipped").replace("pages-browser.ok: skipped", "test_pages_browser.ok: skipped")
    write(p, s)
py(".ci/deps", ("    build) echo gcc libc6-dev linux-libc-dev binutils ninja-build git \\\n        libxxhash-dev libdw-dev libelf-dev libisal-dev libiberty-dev \\\n        systemtap-sdt-dev ;;",
   "    prof) echo gcc libc6-dev linux-libc-dev binutils ninja-build git python3 \\\n        libxxhash-dev libisal-dev ;;\n    explore) packages_of prof && echo libdw-dev libiberty-dev ;;\n    record) packages_of explore && echo libelf-dev systemtap-sdt-dev ;;\n    build) packages_of record ;;"),
   ("#   (build, test,", "#   (prof, explore, record: one product; build: all; test,"))
py("Makefile", (".PHONY: all run", ".PHONY: all prof explore record run"), ("run: all\n", "# One product, with its own packages only.\nprof explore record: ; @.ci/deps $@ && tools/ninja $@\nrun: all\n"))
write(".ci/test", '''#!/bin/sh
# Build and run one test of the gcc variant: a program's name, or a file's of tests.
# usage: .ci/test NAME
set -eu
name=${1:-}
edges_of() { # NAME
    tools/ninja -t targets all | cut -d: -f1 | grep -xE "out/(gcc/(.*/)?)?$1\\.ok" || :
}
edges=$([ -z "$name" ] || edges_of "$name")
if [ -z "$edges" ] && [ -n "$name" ]; then
    folder=$(git ls-files -co --exclude-standard "*/$name.c" | head -n 1)
    folder=${folder%/*}
    edges=$([ -z "$folder" ] || edges_of "test_$(echo "$folder" | sed 's,/test,,; s,/,_,g')")
fi
[ -n "$edges" ] || {
    echo "make test: no test is called '$name'; use T=NAME, as T=test_prof" >&2
    exit 2
}
rm -f $edges
tools/ninja $edges
cat $edges
''')
py(".ci/count", ("tools/ninja -t query", "ninja -f out/build.ninja -t query"))
rsub(".ci/fresh", "PART=fresh.check", "PART='out/gcc/check'")
rsub("tools/text/words", r"for file in prof/\[!p\].*?done\n(?=for tag)", "")
py("tools/text/words", ("ARCHITECTURE.md lists each\n# invariant and pair tag of the core.", "ARCHITECTURE.md lists each\n# pair tag of the core."),
   ("$(ls -d prof sim model props cli embed bench docs subjects cluster install", "$(ls -d prof sim model props explore record command common bench docs subjects install tools"))
py("tools/text/folders.awk", ('    delete count["subjects/catalogue/bugs"]\n', '    delete count["subjects/catalogue/bugs"]\n'))

# 8. How programs and tests are built and run, where it is not the rule.
import json

ALL = {
 "tools/text/test_words.sh": ["args='' when=long"],
 "tools/text/test_circles.sh": ["args=''"],
 "tools/text/test_duplicates.sh": ["args=''"],
 "props/test/test_determinism.sh": ["args='out/gcc/profsim out/clang/profsim out/O0/profsim' when=long"],
 "props/test/test_reproducible.sh": ["args='out/profsim out/profsim-conform out/libprofsim-observe.so out/libprofsim-record.so out/libprof-malloc.so out/gcc/libprof.so out/gcc/libprof.a' when=long"],
 "subjects/test/test_subject.sh": ["as=subject_some args='out/gcc/profsim fixtures/subjects some'", "args='out/gcc/profsim fixtures/subjects all' when=long"],
 "subjects/test/test_subject_explored.sh": ["args='out/gcc/profsim subjects fixtures/subjects'"],
 "subjects/test/test_conform.sh": ["args='out/gcc/profsim out/gcc/libotel-producer.so out/gcc/libprof-malloc.so' needs=subjects/conform/producer_fault.def"],
 "explore/test/test_explore.sh": ["as=programs", "args='out/gcc/profsim all' when=long"],
 "explore/test/test_explore_random.sh": ["as=random args='out/gcc/profsim 200'", "args='out/gcc/profsim 1500' when=long"],
 "explore/test/test_explore_gdb.sh": ["when=check-programs"],
 "command/test/shard/test_shards.sh": ["as=shards args='out/gcc/profsim 400 3'", "args='out/gcc/profsim 6400 1 2 7 64' when=cluster"],
 "command/test/shard/test_orderings.sh": ["as=orderings args='out/gcc/profsim 3,7 counter-4 trace-order trace-two-readers'", "args='out/gcc/profsim 1,2,7,64 counter-4 trace-order trace-two-readers' when=cluster"],
 "command/test/shard/test_rows.sh": ["as=rows args='out/gcc/profsim heap-totals 3'", "args='out/gcc/profsim heap-stopped-world 1 2 7 64' when=cluster"],
 "command/test/shard/test_shared.sh": ["args='out/gcc/profsim out/gcc/libprofsim-record.so'"],
 "install/test_install.sh": ["args=out/gcc/profsim needs=all when=long"],
 "install/test_headers.sh": ["args='' needs=out/gcc/install/test_install.ok when=long"],
 "install/test_example.sh": ["args='' needs=out/gcc/install/test_install.ok,all when=long"],
 "command/test/test_pages_browser.sh": ["", "as=pages_required args='out/gcc/profsim --required' when=check-pages"],
 "install/install/cluster/test_cluster.sh": ["args='out/gcc/profsim parallel slurm dask kubernetes fuzzlite' when=cluster"],
 "install/cluster/test_merge.sh": ["args='out/gcc/profsim out/gcc/install/cluster/simulate_results' when=cluster"],
 "record/test/test_recordings.py": ["args='out/gcc/profsim 20 fixtures/recordings/waits.rec fixtures/recordings/perl-words.rec'"],
 "record/test/test_recorder.py": ["args='out/gcc/profsim out/gcc/record/test'"],
 "record/test/test_recorder_safety.py": ["as=safety args='out/gcc/profsim out/gcc/record/test 50'", "args='out/gcc/profsim out/gcc/record/test 1000' when=long"],
 "record/test/test_live_programs.sh": ["args='out/gcc/profsim out/gcc/record/test/count_heap.so base'", "as=live_programs_all args='out/gcc/profsim out/gcc/record/test/count_heap.so all' when=check-programs"],
 "record/test/hangs/test_hangs.sh": ["as=hangs args='out/gcc 5 30 nothing record profile'",
   "as=hangs_all args='out/gcc 1000 20 nothing record profile' seconds=3600 when=check-hangs",
   "as=hangs_peers args='-p record/test/hangs/peers.sh out/gcc 100 20 jemalloc gperftools gperftools-cpu heaptrack massif' when=check-hangs-peers"],
 "record/test/test_profile.sh": ["args='out/gcc/profsim out/gcc/libprof-malloc.so out/gcc/record/test/sampled_program out/gcc/record/test/alone_program'"],
 "record/test/test_probes.c": ["args='out/gcc/libprof-malloc.so out/gcc/record/test/probed_program' not=asan,clang"],
 "record/test/test_barred.sh": ["args='out/gcc/profsim out/gcc/record/test/barred_program out/gcc/record/test/static_program'"],
 "props/test/test_faketime.sh": ["args='out/gcc/props/test/profile_program out/gcc/profsim'"],
 "command/test/test_files.c": ["args=out/gcc/profsim not=asan"],
 "command/test/test_hostile_files.sh": ["as=hostile_files args='out/gcc/command/test/hostile 300'", "args='out/gcc/command/test/hostile 20000' when=long", "as=hostile_sanitized args='out/asan/command/test/hostile 20000' when=long"],
 "sim/test/test_scenario_trip.c": ["args=fixtures/scenarios/*.sim", "as=scenario_trip_full args='full fixtures/scenarios/*.sim' when=long"],
 "model/test/test_trace_fuzz.c": ["", "as=trace_fuzz_full args=full when=long"],
 "explore/test/test_explore_model.c": ["", "as=explore_model_all args=2500 when=long"],
 "explore/test/test_explore_sleep.c": ["", "as=explore_sleep_all args=20000 when=long"],
 "explore/test/test_explore_slow.c": ["when=long"],
 "explore/test/test_explore.c": ["by=gcc,clang"],
 "explore/test/test_explore_cases.c": ["by=gcc,clang"],
 "props/test/test_kernels.c": ["as=kernels_some args=some", "as=kernels_all args=--exhaustive when=long",
   "as=kernels_stopped args='heap-everything --bound 4' when=long", "as=kernels_running args='advance-everything --bound 3' when=long"],
 "prof/test/test_forks.c": ["with=prof/test/test_signals.c"],
 "prof/test/test_signals.c": ["cflags=-O2"],
 "prof/test/interrupted.c": ["cflags=-O2"],
 "props/test/test_harness.c": ["ldflags='$$(cat props/test/faulty_prof.wrap)' with=props/test/faulty_prof.c"],
 "props/test/test_fuzz_worlds.c": ["with=props/fuzz/fuzz_worlds.c"],
 "subjects/test/test_rules_changed.c": ["when=long"],
 "props/peers/trace_reader.sh": ["args='out/gcc/profsim out/gcc/props/peers/trace_corrupt 300' when=check-peers"],
 "props/peers/trace_writer.sh": ["args='out/gcc/profsim out/gcc/props/peers/trace_write' when=check-peers"],
 "props/peers/one_world.sh": ["args='out/gcc/profsim out/gcc/props/peers/one_world' when=check-peers"],
 "props/peers/pprof.sh": ["args='out/gcc/profsim out/gcc/props/peers/pprof_kinds' when=check-peers"],
 "props/peers/go_writers.sh": ["args=out/gcc/props/peers/go_writers when=check-peers"],
 "props/peers/go_runtime.sh": ["args=out/gcc/props/peers/go_schedules when=check-peers"],
 "props/peers/go_thresholds.sh": ["args=out/gcc/props/peers/go_thresholds when=check-peers"],
 "bench/test_page.py": ["args=''"],
 "subjects/live/test_audit.py": ["args=''"],
 "prof/test/test_stress.c": ["also=tsan"],
 "prof/test/test_stress_running.c": ["also=tsan"],
 "prof/test/pprof/test_cpu_file.c": ["also=tsan"],
 "record/test/hangs/atfork_order.c": ["needs=out/gcc/record/test/hangs/atfork_library.so ldflags=\"-Wl,--no-as-needed out/gcc/record/test/hangs/atfork_library.so -Wl,-rpath,'$$ORIGIN'\""],
 "record/test/hangs/atfork_library.c": ["so=atfork_library.so ldflags=-Wl,-soname,atfork_library.so"],
 "record/test/hangs/plain_library.c": ["so=plain_library.so"],
 "record/test/hangs/waiting_library.c": ["so=waiting_library.so"],
 "record/test/count_heap.c": ["so=count_heap.so"],
 "record/test/unloaded_first.c": ["so=unloaded_first.so"],
 "record/test/unloaded_second.c": ["so=unloaded_second.so"],
 "record/test/barred_program.c": ["", "as=static_program ldflags=-static"],
 "record/test/recorded_program.c": ["ldflags=-Wl,--no-as-needed libs=-l:libstdc++.so.6"],
}
found = json.load(open("tools/house/plan.json"))["directives"]
for path, builds in found.items():
    if not os.path.exists(path) or not re.search(r"/test/|^bench/", path) or "/hangs/" in path: continue
    b = builds[0]
    words = []
    cflags = [c for c in b["cflags"] if c in ("-O2", "-O3") or c.startswith("-D")]
    if b["wrap"]: words.append("wrap=" + ",".join(b["wrap"]))
    if b["beside"]: words.append("with=" + ",".join(b["beside"]))
    if cflags: words.append("cflags=" + (cflags[0] if len(cflags) == 1 else "'%s'" % " ".join(cflags)))
    if "-rdynamic" in b["ldflags"] and path.startswith("bench/"): words.append("ldflags=-rdynamic")
    if words and not (not b["wrap"] and path.endswith(".c") and "TEST" in read(path) and not re.search(r"^main\(", read(path), re.M)):
        lines = ALL.setdefault(path, [""])
        lines[0] = (lines[0] + " " + " ".join(words)).strip()
for path, lines in ALL.items():
    if not os.path.exists(path):
        print("no such file: " + path)
        continue
    directive(path, *[line or "as=" + os.path.basename(path).rsplit(".", 1)[0] for line in lines])
