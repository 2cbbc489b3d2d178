"""Old place -> new place of every tracked file."""
import re

# Exact files first, then prefixes, the longest first.
FILES = {
    "bench/peers/peers.c": "bench/peers.c",
    "bench/peers/peers.h": "bench/peers.h",
    "bench/peers/tables.c": "bench/tables.c",
    "bench/peers/tables.h": "bench/tables.h",
    # the explorer
    "sim/explore/port.c": "props/kernels/port.c",
    "sim/explore/registry.h": "explore/engine/kernel_entry.h",
    "sim/explore/trace.h": "explore/engine/steps.h",
    "sim/explore/trace.c": "explore/engine/steps.c",
    "sim/explore/search/control.h": "explore/search/search_control.h",
    "sim/explore/search/control.c": "explore/search/search_control.c",
    "cli/explore/explore.h": "explore/command/explore_command.h",
    "cli/explore/explore.c": "explore/command/explore_command.c",
    # common
    "sim/choice/rng.h": "common/rng.h",
    "cli/clock.h": "common/monotonic.h",
    "props/campaign/output.c": "common/output.c",
    "props/campaign/output.h": "common/output.h",
    "props/campaign/progress_line.c": "common/progress_line.c",
    "props/campaign/progress_line.h": "common/progress_line.h",
    "props/sampling/binomial.c": "common/binomial.c",
    "props/sampling/binomial.h": "common/binomial.h",
    "sim/recording/drive.c": "sim/generate/drive.c",
    "sim/recording/drive.h": "sim/generate/drive.h",
    # prof: a name stands for one file
    "prof/core/rng.c": "prof/core/random.c",
    "prof/core/rng.h": "prof/core/random.h",
    "prof/core/check.h": "prof/core/assertion.h",
    "prof/pprof/cpu.h": "prof/pprof/cpu_fields.h",
    "prof/pprof/registry.h": "prof/pprof/registry_fields.h",
    "prof/pprof/symbol.h": "prof/pprof/symbol_of.h",
    "prof/pprof/frames.h": "prof/pprof/frame_lines.h",
    "prof/pprof/frames.c": "prof/pprof/frame_lines.c",
    # model, sim, subjects, props
    "model/pprof/pprof.h": "model/pprof/pprof_reader.h",
    "model/pprof/pprof.c": "model/pprof/pprof_reader.c",
    "model/trace/trace_event.def": "model/trace/trace_wire.def",
    "sim/instruments/tracer.h": "sim/instruments/world_tracer.h",
    "sim/instruments/tracer.c": "sim/instruments/world_tracer.c",
    "subjects/rules/rules.h": "subjects/rules/rule_set.h",
    "subjects/conform/stream.h": "subjects/conform/event_stream.h",
    "subjects/conform/fault.def": "subjects/conform/producer_fault.def",
    "subjects/catalogue/judge.h": "subjects/catalogue/plan_judge.h",
    "subjects/catalogue/program.h": "subjects/catalogue/plan_program.h",
    "subjects/catalogue/program.c": "subjects/catalogue/plan_program.c",
    "subjects/catalogue/world.h": "subjects/catalogue/small_world.h",
    "subjects/catalogue/world.c": "subjects/catalogue/small_world.c",
    "props/kernels/futex.h": "props/kernels/kernel_futex.h",
    "props/kernels/instance.h": "props/kernels/kernel_instance.h",
    "props/kernels/instance.c": "props/kernels/kernel_instance.c",
    # commands
    "subjects/conform/notes.c": "subjects/notes.c",
    "subjects/conform/notes.h": "subjects/notes.h",
    "cli/check/check.h": "props/command/check_command.h",
    "cli/check/check.c": "props/command/check_command.c",
    "cli/audit.c": "subjects/command/audit_command.c",
    "cli/bias.c": "props/command/bias_command.c",
    "cli/explain.c": "props/command/explain.c",
    "cli/list.c": "props/command/list.c",
    "cli/replay.c": "props/command/replay_command.c",
    "cli/run.c": "props/command/run_command.c",
    "cli/heap_plot.c": "props/command/heap_plot.c",
    "cli/heap_plot.h": "props/command/heap_plot.h",
    "cli/conform.c": "subjects/command/conform.c",
    "cli/conform.h": "subjects/command/conform.h",
    "cli/heap/profiles.c": "common/profiles.c",
    "cli/heap/profiles.h": "common/profiles.h",
    "cli/heap/demangle.c": "common/demangle.c",
    "cli/heap/demangle.h": "common/demangle.h",
    "cli/record/preload.c": "common/command/preload.c",
    "cli/record/preload.h": "common/command/preload.h",
    "cli/profile/proto.c": "common/proto.c",
    "cli/profile/proto.h": "common/proto.h",
    "cli/explore/explored_program.c": "explore/runtime/explored_program.c",
    "cli/explore/only_kernel.c": "explore/runtime/only_kernel.c",
    "cli/explore/only_kernel.h": "explore/runtime/only_kernel.h",
    "cli/main.c": "command/main.c",
    "cli/command.c": "props/command/commands.c",
    "cli/command.h": "props/command/commands.h",
    "cli/shard/list_command.c": "command/list_command.c",
    "cli/shard/list_command.h": "command/list_command.h",
    "cli/shard/rows_merge.c": "command/rows_merge.c",
    "cli/shard/rows_merge.h": "command/rows_merge.h",
    "cli/shard/corpus.c": "props/command/corpus.c",
    "cli/shard/corpus.h": "props/command/corpus.h",
    "cli/shard/shard_result.c": "props/command/shard_result.c",
    "cli/shard/shard_result.h": "props/command/shard_result.h",
    "cli/shard/shard_result_read.c": "props/command/shard_result_read.c",
    "sim/recording/live_heap.c": "record/report/live_heap.c",
    "sim/recording/live_heap.h": "record/report/live_heap.h",
    "props/fuzz/hostile.c": "command/test/hostile.c",
    "props/fuzz/bad_commands.c": "command/test/bad_commands.c",
    "props/fuzz/bad_commands.h": "command/test/bad_commands.h",
    "cli/heap/profiles_scenario.c": "props/command/profiles_scenario.c",
    "cli/heap/profiles_scenario.h": "props/command/profiles_scenario.h",
    "cli/heap/profiles_subject.c": "props/command/profiles_subject.c",
    "cli/heap/profiles_tasks.c": "props/command/profiles_tasks.c",
    "cli/heap/show.c": "record/command/show.c",
    "cli/heap/diff.c": "record/command/diff.c",
    "cli/report/file_result.c": "props/command/file_result.c",
    "cli/report/file_result.h": "props/command/file_result.h",
    "cli/profile/profile.c": "record/command/profile_command.c",
    "cli/profile/profile.h": "record/command/profile_command.h",
    "cli/profile/profile_top.c": "record/report/profile_top.c",
    "cli/profile/profile_top.h": "record/report/profile_top.h",
    "cli/profile/named_profile.c": "record/report/named_profile.c",
    "cli/profile/named_profile.h": "record/report/named_profile.h",
    "cli/profile/otlp.c": "record/report/otlp.c",
    "cli/profile/otlp.h": "record/report/otlp.h",
    "cli/trace/trace.h": "model/command/trace_command.h",
    "cli/trace/trace.c": "model/command/trace_command.c",
    "embed/profile/profile.h": "record/sampler/profiler.h",
    "embed/profile/table.h": "record/sampler/block_table.h",
    "embed/profile/table.c": "record/sampler/block_table.c",
    # tests
    "props/test/lib/varint.h": "common/test/varint_read.h",
    "props/test/explore/parts/waits.h": "explore/test/parts/wait_programs.h",
    "props/test/explore/parts/waits.c": "explore/test/parts/wait_programs.c",
    "props/test/cli/profile/profile_world.h": "record/test/profile_case_world.h",
    "props/test/cli/profile/profile_world.c": "record/test/profile_case_world.c",
}
for name in "run_page heap_time".split():
    for ext in ("c", "h"):
        FILES["cli/page/%s.%s" % (name, ext)] = "record/report/%s.%s" % (name, ext)
for name in "buckets failure_event failure_page failure_trace needed".split():
    for ext in ("c", "h"):
        FILES["cli/page/%s.%s" % (name, ext)] = "props/page/%s.%s" % (name, ext)
for name in ("debug_info images map modules names symbol_table symbol_cache symbols "
             "eh_table").split():
    for ext in ("c", "h"):
        FILES["cli/record/%s.%s" % (name, ext)] = "record/symbols/%s.%s" % (name, ext)
for name in ("convert convert_folder conversion items tables recfile losses").split():
    for ext in ("c", "h"):
        FILES["cli/record/%s.%s" % (name, ext)] = "record/convert/%s.%s" % (name, ext)
for name in "audit_command audit_judge audit_live audit_recording conform_stream".split():
    for ext in ("c", "h"):
        FILES["cli/%s.%s" % (name, ext)] = "subjects/command/%s.%s" % (name, ext)
for name in "seqlock table table_plain counter litmus history textbook".split():
    for ext in ("c", "h"):
        FILES["fixtures/explore/%s.%s" % (name, ext)] = "explore/textbook/%s.%s" % (name, ext)

for name in "cases waiting unruly scaling needle known_faults reported".split():
    for ext in ("c", "h"):
        FILES["fixtures/explore/%s.%s" % (name, ext)] = "explore/test/kernels/%s.%s" % (name, ext)

for name in "cfi cfi_read cfi_expression cfi_table frames stack_memory unwind".split():
    for ext in ("c", "h"):
        FILES["embed/%s.%s" % (name, ext)] = "record/unwind/%s.%s" % (name, ext)

FOLDERS = {
    "sim/explore/program": "explore/runtime",
    "sim/explore/search": "explore/search",
    "sim/explore/report": "explore/report",
    "sim/explore": "explore/engine",
    "sim/choice": "common",
    "sim/input": "common",
    "sim/recording": "common/recording",
    "cli/explore": "explore/command",
    "cli/check": "props/command",
    "cli/heap": "record/report",
    "cli/page": "common/page",
    "cli/profile": "record/command",
    "cli/record": "record/command",
    "cli/report": "common/report",
    "cli/shard": "common/shard",
    "cli/trace": "model/command",
    "cli": "common/command",
    "embed/profile": "record/sampler",
    "embed": "record/preload",
    "fixtures/explore/user": "explore/examples",
    "fixtures/explore/reported": "explore/test/reported",
    "fixtures/explore": "explore/test/programs",
    "cluster": "install/cluster",
    ".ci/text": "tools/text",
    "props/stress": "prof/test",
    "props/hangs": "record/test/hangs",
    "props/test/lib": "common/test",
    "props/test/prof": "prof/test",
    "props/test/pprof": "prof/test/pprof",
    "props/test/trace": "prof/test/trace",
    "props/test/model": "model/test",
    "props/test/subjects": "subjects/test",
    "props/test/explore": "explore/test",
    "props/test/embed": "record/test",
    "props/test/embed/unwind": "record/test",
    "props/test/embed/safety": "record/test",
    "props/test/embed/profile": "record/test",
    "props/test/harness": "props/test",
    "props/test/sim": "sim/test",
    "props/test/cli/audit": "subjects/test",
    "props/test/cli/conform": "subjects/test",
    "props/test/cli/check": "props/test/command",
    "props/test/cli/explore": "explore/test",
    "props/test/cli/heap": "record/test",
    "props/test/cli/profile": "record/test",
    "props/test/cli/record": "record/test",
    "props/test/cli/shard": "command/test/shard",
    "props/test/cli/trace": "model/test",
    "props/test/cli": "command/test",
}
# Tests by what they test, where the old folder does not say it.
TESTS = [
    (r"props/test/explore/explore_all\.c", r"props/test/test_kernels.c"),
    (r"props/stress/stress_prof\.c", r"prof/test/test_stress.c"),
    (r"props/stress/stress_running\.c", r"prof/test/test_stress_running.c"),
    (r"props/fuzz/hostile\.sh", r"command/test/test_hostile_files.sh"),
    (r"props/hangs/run\.sh", r"record/test/hangs/test_hangs.sh"),
    (r"props/test/pprof/profile_program\.c", r"props/test/profile_program.c"),
    # These also judge: they are of props.
    (r"props/test/prof/(test_contention.*|test_sampl.*)", r"props/test/\1"),
    (r"props/test/pprof/(test_pprof_contention.*|test_pprof_worlds.*)", r"props/test/\1"),
    (r"props/test/trace/(test_tracer_threads.*)", r"props/test/\1"),
    (r"props/test/sim/(test_faults.*|test_traced_.*|test_worlds.*|test_scenario_trip.*)", r"props/test/\1"),
    (r"props/test/cli/(test_audit.*)", r"subjects/test/\1"),
    (r"props/test/cli/(test_conform.*)", r"subjects/test/\1"),
    (r"props/test/cli/(test_subject\.sh)", r"subjects/test/\1"),
    (r"props/test/cli/explore/(test_subject_explored.sh)", r"subjects/test/\1"),
    (r"props/test/cli/(test_bias.*|test_words\.c|random_scenarios\.py)", r"props/test/\1"),
    (r"props/test/cli/(test_mutants_table.*)", r"explore/test/\1"),
    (r"props/test/cli/(test_convert.*|spool_case.*|test_lost_files.*|test_otlp.*|test_profile.*"
     r"|test_demangle.*|test_graphs.*|test_live_programs.*|test_run_out.*|read_otlp.*"
     r"|random_recordings\.py|recording_.*|test_shown_names.*|test_barred.*)", r"record/test/\1"),
    (r"props/test/cli/(test_trace_.*)", r"model/test/\1"),
    (r"props/test/cli/(test_progress_line.*|test_output.*)", r"common/test/\1"),
    (r"props/test/sim/(test_escape.*|test_shrink.*)", r"common/test/\1"),
    (r"props/test/sim/(small_recording.*|test_recording.*|test_live_heap.*|test_releases.*)",
     r"record/test/\1"),
    (r"props/test/sim/((test_)?cross.*|test_pairs.*)", r"props/test/\1"),
    (r"props/test/trace/(test_trace_(fuzz|reader|rules).*|trace_rows.*)", r"model/test/\1"),
    (r"props/test/harness/(test_trace_judge.*)", r"props/test/\1"),
    (r"model/command/(.*)", r"model/command/\1"),
]
DROP = re.compile(r".*\.ninja$")


def new_place(path):
    if DROP.match(path) and path != "build.ninja":
        return None
    if path in FILES:
        return FILES[path]
    for pattern, place in TESTS:
        if re.fullmatch(pattern, path):
            return re.sub("^" + pattern + "$", place, path)
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    while folder:
        if folder in FOLDERS:
            return FOLDERS[folder] + path[len(folder):]
        folder = folder.rsplit("/", 1)[0] if "/" in folder else ""
    return path
