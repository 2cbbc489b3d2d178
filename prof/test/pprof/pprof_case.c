/* pprof_case.c -- see pprof_case.h. */
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "common/test/unit_test.h"

const struct case_name case_names[] = {
    {0x1000, 0x1100, "runtime.mallocgc", "malloc.go", 100},
    {0x1100, 0x1200, "runtime.newobject", "malloc.go", 200},
    {0x2000, 0x2100, "main.work", "work.go", 12},
    {0x2100, 0x2200, "main.serve", "serve.go", 7},
    {0x2200, 0x2300, "main.main", "main.go", 3},
    {0x2300, 0x2400, "main.work", "copy.go", 99},
    {0x3000, 0x3100, "runtime.goexit", "asm.s", 1},
    {0x4000, 0x4100, "main.lost", "lost.go", 5},
};
const size_t case_names_count = sizeof case_names / sizeof *case_names;

static void
find_name(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    for (size_t i = 0; i < case_names_count; i++) {
        if (pc < case_names[i].from || pc >= case_names[i].limit)
            continue;
        symbol->function = case_names[i].function;
        symbol->file = case_names[i].file;
        symbol->line = case_names[i].line;
        symbol->entry = case_names[i].from;
        symbol->kind = prof_frame_kind_go(symbol->function);
    }
}

void
case_begin(struct case_run *run)
{
    run->memory =
        (struct prof_memory){.bytes = run->bytes, .bytes_max = CASE_BYTES};
    memset(&run->profile, 0, sizeof run->profile);
    run->output = (struct prof_output){
        .sink = prof_memory_sink(&run->memory),
        .symbols = {.find = find_name},
        .lost = CASE_LOST,
        .scratch = run->scratch,
        .scratch_bytes = CASE_SCRATCH_BYTES,
    };
    /* The result must not depend on what the scratch held before. */
    memset(run->scratch, 0xa5, sizeof run->scratch);
}

void
case_read(struct case_run *run, enum prof_status status)
{
    assert_int_equal(status, PROF_OK);
    if (!model_pprof_read(&run->profile, run->bytes, run->memory.bytes_count))
        fail_msg("%s", run->profile.reason);
}

void
case_end(struct case_run *run)
{
    model_pprof_release(&run->profile);
}

const char *
case_text(struct case_run *run, enum prof_status status)
{
    assert_int_equal(status, PROF_OK);
    assert_true(run->memory.bytes_count < CASE_BYTES);
    run->bytes[run->memory.bytes_count] = '\0';
    return (const char *)run->bytes;
}

const char *
case_function(const struct case_run *run, uint64_t location)
{
    const struct model_pprof_location *found =
        model_pprof_location(&run->profile, location);
    const struct model_pprof_function *function;

    assert_non_null(found);
    function = model_pprof_function(&run->profile, found->function);
    assert_non_null(function);
    return function->name;
}

void
case_heap(struct case_run *run, const struct prof_heap_record *records,
          size_t count, int64_t rate_bytes)
{
    static struct prof_heap_record sampled[64];

    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        sampled[i] = records[i];
        sampled[i].rate_bytes = rate_bytes;
    }
    case_begin(run);
    run->output.rules = &prof_rules_go1_17;
    case_read(run, prof_pprof_heap(&run->output, sampled, count, rate_bytes,
                                   PROF_VIEW_INUSE));
}

void
case_assert_values(const struct case_run *run, size_t sample,
                   const int64_t *want, size_t count)
{
    assert_true(sample < run->profile.samples_count);
    assert_int_equal(run->profile.samples[sample].values_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(run->profile.samples[sample].values[i], want[i]);
}

void
case_assert_columns(struct case_run *run, const char *single_tabs)
{
    static char want[CASE_BYTES];
    const size_t bytes =
        model_tabs(want, sizeof want - 1, single_tabs, strlen(single_tabs));

    want[bytes] = '\0';
    assert_string_equal(case_text(run, PROF_OK), want);
}
