"""Old place -> new place of every tracked file."""
import re

# Exact files first, then prefixes, the longest first.
FILES = {
    "bench/peers.c": "bench/peers.c",
    "bench/peers.h": "bench/peers.h",
    "bench/tables.c": "bench/tables.c",
    "bench/tables.h": "bench/tables.h",
    # the explorer
    "props/kernels/port.c": "props/kernels/port.c",
    "explore/engine/kernel_entry.h": "explore/engine/kernel_entry.h",
    "explore/engine/steps.h": "explore/engine/steps.h",
    "explore/engine/steps.c": "explore/engine/steps.c",
    "explore/search/search_control.h": "explore/search/search_control.h",
    "explore/search/search_control.c": "explore/search/search_control.c",
    "explore/command/explore_command.h": "explore/command/explore_command.h",
    "explore/command/explore_command.c": "explore/command/explore_command.c",
    # common
    "common/rng.h": "common/rng.h",
    "common/monotonic.h": "common/monotonic.h",
    "common/output.c": "common/output.c",
    "common/output.h": "common/output.h",
    "common/progress_line.c": "common/progress_line.c",
    "common/progress_line.h": "common/progress_line.h",
    "common/binomial.c": "common/binomial.c",
    "common/binomial.h": "common/binomial.h",
    "sim/generate/drive.c": "sim/generate/drive.c",
    "sim/generate/drive.h": "sim/generate/drive.h",
    # prof: a name stands for one file
    "prof/core/random.c": "prof/core/random.c",
    "prof/core/random.h": "prof/core/random.h",
    "prof/core/assertion.h": "prof/core/assertion.h",
    "prof/pprof/cpu_fields.h": "prof/pprof/cpu_fields.h",
    "prof/pprof/registry_fields.h": "prof/pprof/registry_fields.h",
    "prof/pprof/symbol_of.h": "prof/pprof/symbol_of.h",
    "prof/pprof/frame_lines.h": "prof/pprof/frame_lines.h",
    "prof/pprof/frame_lines.c": "prof/pprof/frame_lines.c",
    # model, sim, subjects, props
    "model/pprof/pprof_reader.h": "model/pprof/pprof_reader.h",
    "model/pprof/pprof_reader.c": "model/pprof/pprof_reader.c",
    "model/trace/trace_wire.def": "model/trace/trace_wire.def",
    "sim/instruments/world_tracer.h": "sim/instruments/world_tracer.h",
    "sim/instruments/world_tracer.c": "sim/instruments/world_tracer.c",
    "subjects/rules/rule_set.h": "subjects/rules/rule_set.h",
    "subjects/conform/event_stream.h": "subjects/conform/event_stream.h",
    "subjects/conform/producer_fault.def": "subjects/conform/producer_fault.def",
    "subjects/catalogue/plan_judge.h": "subjects/catalogue/plan_judge.h",
    "subjects/catalogue/plan_program.h": "subjects/catalogue/plan_program.h",
    "subjects/catalogue/plan_program.c": "subjects/catalogue/plan_program.c",
    "subjects/catalogue/small_world.h": "subjects/catalogue/small_world.h",
    "subjects/catalogue/small_world.c": "subjects/catalogue/small_world.c",
    "props/kernels/kernel_futex.h": "props/kernels/kernel_futex.h",
    "props/kernels/kernel_instance.h": "props/kernels/kernel_instance.h",
    "props/kernels/kernel_instance.c": "props/kernels/kernel_instance.c",
    # commands
    "subjects/notes.c": "subjects/notes.c",
    "subjects/notes.h": "subjects/notes.h",
    "props/command/check_command.h": "props/command/check_command.h",
    "props/command/check_command.c": "props/command/check_command.c",
    "subjects/command/audit_command.c": "subjects/command/audit_command.c",
    "props/command/bias_command.c": "props/command/bias_command.c",
    "props/command/explain.c": "props/command/explain.c",
    "props/command/list.c": "props/command/list.c",
    "props/command/replay_command.c": "props/command/replay_command.c",
    "props/command/run_command.c": "props/command/run_command.c",
    "props/command/heap_plot.c": "props/command/heap_plot.c",
    "props/command/heap_plot.h": "props/command/heap_plot.h",
    "subjects/command/conform.c": "subjects/command/conform.c",
    "subjects/command/conform.h": "subjects/command/conform.h",
    "common/profiles.c": "common/profiles.c",
    "common/profiles.h": "common/profiles.h",
    "common/demangle.c": "common/demangle.c",
    "common/demangle.h": "common/demangle.h",
    "common/command/preload.c": "common/command/preload.c",
    "common/command/preload.h": "common/command/preload.h",
    "cli/profile/proto.c": "common/proto.c",
    "cli/profile/proto.h": "common/proto.h",
    "explore/runtime/explored_program.c": "explore/runtime/explored_program.c",
    "explore/runtime/only_kernel.c": "explore/runtime/only_kernel.c",
    "explore/runtime/only_kernel.h": "explore/runtime/only_kernel.h",
    "command/main.c": "command/main.c",
    "props/command/commands.c": "props/command/commands.c",
    "props/command/commands.h": "props/command/commands.h",
    "cli/shard/list_command.c": "command/list_command.c",
    "cli/shard/list_command.h": "command/list_command.h",
    "cli/shard/rows_merge.c": "command/rows_merge.c",
    "cli/shard/rows_merge.h": "command/rows_merge.h",
    "props/command/corpus.c": "props/command/corpus.c",
    "props/command/corpus.h": "props/command/corpus.h",
    "cli/shard/shard_result.c": "props/command/shard_result.c",
    "cli/shard/shard_result.h": "props/command/shard_result.h",
    "cli/shard/shard_result_read.c": "props/command/shard_result_read.c",
    "record/report/live_heap.c": "record/report/live_heap.c",
    "record/report/live_heap.h": "record/report/live_heap.h",
    "command/test/hostile.c": "command/test/hostile.c",
    "command/test/bad_commands.c": "command/test/bad_commands.c",
    "command/test/bad_commands.h": "command/test/bad_commands.h",
    "props/command/profiles_scenario.c": "props/command/profiles_scenario.c",
    "props/command/profiles_scenario.h": "props/command/profiles_scenario.h",
    "props/command/profiles_subject.c": "props/command/profiles_subject.c",
    "props/command/profiles_tasks.c": "props/command/profiles_tasks.c",
    "record/command/show.c": "record/command/show.c",
    "record/command/diff.c": "record/command/diff.c",
    "props/command/file_result.c": "props/command/file_result.c",
    "props/command/file_result.h": "props/command/file_result.h",
    "record/command/profile_command.c": "record/command/profile_command.c",
    "record/command/profile_command.h": "record/command/profile_command.h",
    "record/report/profile_top.c": "record/report/profile_top.c",
    "record/report/profile_top.h": "record/report/profile_top.h",
    "record/report/named_profile.c": "record/report/named_profile.c",
    "record/report/named_profile.h": "record/report/named_profile.h",
    "record/report/otlp.c": "record/report/otlp.c",
    "record/report/otlp.h": "record/report/otlp.h",
    "model/command/trace_command.h": "model/command/trace_command.h",
    "model/command/trace_command.c": "model/command/trace_command.c",
    "record/sampler/profiler.h": "record/sampler/profiler.h",
    "record/sampler/block_table.h": "record/sampler/block_table.h",
    "record/sampler/block_table.c": "record/sampler/block_table.c",
    # tests
    "props/test/lib/varint.h": "common/test/varint_read.h",
    "props/test/explore/parts/waits.h": "explore/test/parts/wait_programs.h",
    "props/test/explore/parts/waits.c": "explore/test/parts/wait_programs.c",
    "props/test/cli/profile/profile_world.h": "record/test/profile_case_world.h",
    "props/test/cli/profile/profile_world.c": "record/test/profile_case_world.c",
}
for name in "run_page heap_time".split():
    for ext in ("c", "h"):
        FILES["common/page/%s.%s" % (name, ext)] = "record/report/%s.%s" % (name, ext)
for name in "buckets failure_event failure_page failure_trace needed".split():
    for ext in ("c", "h"):
        FILES["common/page/%s.%s" % (name, ext)] = "props/page/%s.%s" % (name, ext)
for name in ("debug_info images map modules names symbol_table symbol_cache symbols "
             "eh_table").split():
    for ext in ("c", "h"):
        FILES["record/command/%s.%s" % (name, ext)] = "record/symbols/%s.%s" % (name, ext)
for name in ("convert convert_folder conversion items tables recfile losses").split():
    for ext in ("c", "h"):
        FILES["record/command/%s.%s" % (name, ext)] = "record/convert/%s.%s" % (name, ext)
for name in "audit_command audit_judge audit_live audit_recording conform_stream".split():
    for ext in ("c", "h"):
        FILES["common/command/%s.%s" % (name, ext)] = "subjects/command/%s.%s" % (name, ext)
for name in "seqlock table table_plain counter litmus history textbook".split():
    for ext in ("c", "h"):
        FILES["explore/test/programs/%s.%s" % (name, ext)] = "explore/textbook/%s.%s" % (name, ext)

for name in "cases waiting unruly scaling needle known_faults reported".split():
    for ext in ("c", "h"):
        FILES["explore/test/programs/%s.%s" % (name, ext)] = "explore/test/kernels/%s.%s" % (name, ext)

for name in "cfi cfi_read cfi_expression cfi_table frames stack_memory unwind".split():
    for ext in ("c", "h"):
        FILES["record/preload/%s.%s" % (name, ext)] = "record/unwind/%s.%s" % (name, ext)

FOLDERS = {
    "explore/runtime": "explore/runtime",
    "explore/search": "explore/search",
    "explore/report": "explore/report",
    "explore/engine": "explore/engine",
    "common": "common",
    "common": "common",
    "common/recording": "common/recording",
    "explore/command": "explore/command",
    "props/command": "props/command",
    "record/report": "record/report",
    "common/page": "common/page",
    "record/command": "record/command",
    "record/command": "record/command",
    "common/report": "common/report",
    "common/shard": "common/shard",
    "model/command": "model/command",
    "cli": "common/command",
    "record/sampler": "record/sampler",
    "embed": "record/preload",
    "explore/examples": "explore/examples",
    "fixtures/explore/reported": "explore/test/reported",
    "explore/test/programs": "explore/test/programs",
    "cluster": "install/cluster",
    "tools/text": "tools/text",
    "prof/test": "prof/test",
    "record/test/hangs": "record/test/hangs",
    "common/test": "common/test",
    "prof/test": "prof/test",
    "prof/test/pprof": "prof/test/pprof",
    "prof/test/trace": "prof/test/trace",
    "model/test": "model/test",
    "subjects/test": "subjects/test",
    "explore/test": "explore/test",
    "record/test": "record/test",
    "record/test": "record/test",
    "record/test": "record/test",
    "props/test/embed/profile": "record/test",
    "props/test": "props/test",
    "sim/test": "sim/test",
    "props/test/cli/audit": "subjects/test",
    "props/test/cli/conform": "subjects/test",
    "props/test/cli/check": "props/test/command",
    "explore/test": "explore/test",
    "record/test": "record/test",
    "props/test/cli/profile": "record/test",
    "record/test": "record/test",
    "props/test/cli/shard": "command/test/shard",
    "props/test/cli/trace": "model/test",
    "command/test": "command/test",
}
# Tests by what they test, where the old folder does not say it.
TESTS = [
    (r"props/test/test_kernels\.c", r"props/test/test_kernels.c"),
    (r"prof/test/test_stress\.c", r"prof/test/test_stress.c"),
    (r"prof/test/test_stress_running\.c", r"prof/test/test_stress_running.c"),
    (r"props/fuzz/hostile\.sh", r"command/test/test_hostile_files.sh"),
    (r"record/test/hangs/test_hangs\.sh", r"record/test/hangs/test_hangs.sh"),
    (r"props/test/profile_program\.c", r"props/test/profile_program.c"),
    # These also judge: they are of props.
    (r"prof/test/(test_contention.*|test_sampl.*)", r"props/test/\1"),
    (r"prof/test/pprof/(test_pprof_contention.*|test_pprof_worlds.*)", r"props/test/\1"),
    (r"prof/test/trace/(test_tracer_threads.*)", r"props/test/\1"),
    (r"sim/test/(test_faults.*|test_traced_.*|test_worlds.*|test_scenario_trip.*)", r"props/test/\1"),
    (r"command/test/(test_audit.*)", r"subjects/test/\1"),
    (r"command/test/(test_conform.*)", r"subjects/test/\1"),
    (r"command/test/(test_subject\.sh)", r"subjects/test/\1"),
    (r"explore/test/(test_subject_explored.sh)", r"subjects/test/\1"),
    (r"command/test/(test_bias.*|test_words\.c|random_scenarios\.py)", r"props/test/\1"),
    (r"command/test/(test_mutants_table.*)", r"explore/test/\1"),
    (r"command/test/(test_convert.*|spool_case.*|test_lost_files.*|test_otlp.*|test_profile.*"
     r"|test_demangle.*|test_graphs.*|test_live_programs.*|test_run_out.*|read_otlp.*"
     r"|random_recordings\.py|recording_.*|test_shown_names.*|test_barred.*)", r"record/test/\1"),
    (r"command/test/(test_trace_.*)", r"model/test/\1"),
    (r"command/test/(test_progress_line.*|test_output.*)", r"common/test/\1"),
    (r"sim/test/(test_escape.*|test_shrink.*)", r"common/test/\1"),
    (r"sim/test/(small_recording.*|test_recording.*|test_live_heap.*|test_releases.*)",
     r"record/test/\1"),
    (r"sim/test/((test_)?cross.*|test_pairs.*)", r"props/test/\1"),
    (r"prof/test/trace/(test_trace_(fuzz|reader|rules).*|trace_rows.*)", r"model/test/\1"),
    (r"props/test/(test_trace_judge.*)", r"props/test/\1"),
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
