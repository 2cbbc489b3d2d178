/* pprof_case.c -- what the tests of the profile writers share. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "pprof_case.h"

const struct case_name case_names[] = {
    {0x1000, 0x1100, "runtime.mallocgc", "malloc.go", 100},
    {0x1100, 0x1200, "runtime.newobject", "malloc.go", 200},
    {0x2000, 0x2100, "main.work", "work.go", 12},
    {0x2100, 0x2200, "main.serve", "serve.go", 7},
    {0x2200, 0x2300, "main.main", "main.go", 3},
    {0x2300, 0x2400, "main.work", "twin.go", 99},
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
    /* Nothing may depend on what scratch held before. */
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
