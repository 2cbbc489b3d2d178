/*
 * test_scratch.c -- the scratch of the writers: the size for which they ask is
 * enough, and no more than necessary where that can be checked; less is refused
 * before anything is written. White box: uses the sizes of the writers'
 * structs.
 */
#include <string.h>

#include "frames.h"
#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

static struct case_run run;

/* ---- Texts of stacks ---- */

static uintptr_t deep[PROF_DEPTH_LIMIT + 2];
static size_t asked;

/* Names no address. The writer must have cleared the symbol before the call. */
static void
count_questions(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static const struct prof_symbol nothing;

    (void)context;
    assert_int_equal(pc, deep[asked++]);
    assert_ptr_equal(symbol->function, nothing.function);
    assert_ptr_equal(symbol->file, nothing.file);
    assert_int_equal(symbol->line, 0);
    assert_int_equal(symbol->entry, 0);
    assert_int_equal(symbol->kind, PROF_FRAME_PROGRAM);
}

static enum prof_status
write_deep(uint32_t depth)
{
    const struct prof_count_record record = {.stack = deep, .depth = depth};

    asked = 0;
    run.output.symbols.find = count_questions;
    return prof_text_counts(&run.output, "c", &record, 1);
}

/* The scratch that one record needs: the text buffer, the names of its deepest
 * stack, and five words for its group and the orders. */
TEST(a_text_needs_a_buffer_and_the_names_of_its_deepest_stack)
{
    const size_t need =
        (1 << 14) + PROF_DEPTH_LIMIT * sizeof(struct prof_symbol) + 5 * 8;

    for (size_t i = 0; i < PROF_DEPTH_LIMIT + 2; i++)
        deep[i] = CASE_UNKNOWN + i;
    for (uint32_t depth = 0; depth <= PROF_DEPTH_LIMIT + 2; depth++) {
        if (depth == 3)
            depth = PROF_DEPTH_LIMIT - 1;
        case_begin(&run);
        run.output.scratch_bytes = need;
        /* An empty stack is shown as the lost address. */
        deep[0] = depth == 0 ? CASE_LOST : CASE_UNKNOWN;
        assert_int_equal(write_deep(depth), PROF_OK);
        assert_int_equal(asked, depth == 0                 ? 1
                                : depth < PROF_DEPTH_LIMIT ? depth
                                                           : PROF_DEPTH_LIMIT);
        for (size_t i = need; i < need + 256; i++)
            assert_int_equal(run.scratch[i], 0xa5);
        case_begin(&run);
        run.output.scratch_bytes = need - 1;
        assert_int_equal(write_deep(depth), PROF_ERR_MEMORY);
    }
}

/* The first stack has no program frame: room for names that no frame has filled
 * in is not read. */
TEST(a_stack_of_the_runtime_alone_is_shown_whole)
{
    static const uintptr_t stack[] = {CASE_MALLOC, CASE_NEW};
    const struct prof_count_record record = {.stack = stack, .depth = 2};

    case_begin(&run);
    assert_string_equal(
        case_text(&run, prof_text_counts(&run.output, "c", &record, 1)),
        "c profile: total 1\n"
        "1 @ 0x1040 0x1140\n"
        "#\t0x103f\truntime.mallocgc+0x3f\tmalloc.go:100\n"
        "#\t0x113f\truntime.newobject+0x3f\tmalloc.go:200\n\n");
}

/* ---- Counted stacks ---- */

enum { RECORDS = 20000, ADDRESSES = 384, MAPPINGS = 4096 };

static struct prof_count_record records[RECORDS];
static uintptr_t stacks[RECORDS][2];

/* Make records that are all different, of few addresses. */
static void
fill_records(void)
{
    for (size_t i = 0; i < RECORDS; i++) {
        stacks[i][0] = CASE_UNKNOWN + i % ADDRESSES;
        stacks[i][1] = CASE_UNKNOWN + i / ADDRESSES;
        records[i] = (struct prof_count_record){.stack = stacks[i], .depth = 2};
    }
}

TEST(scratch_for_many_records_of_few_addresses_suffices)
{
    static struct prof_mapping mappings[MAPPINGS];

    fill_records();
    case_begin(&run);
    run.output.mappings = mappings;
    run.output.mappings_count = MAPPINGS;
    run.output.symbols.find = NULL;
    run.output.scratch_bytes = prof_pprof_scratch_bytes(RECORDS, ADDRESSES);
    assert_true(run.output.scratch_bytes <= CASE_SCRATCH_BYTES);
    case_read(&run, prof_pprof_counts(&run.output, "c", records, RECORDS));
    assert_int_equal(run.profile.samples_count, RECORDS);
    assert_int_equal(run.profile.locations_count, ADDRESSES);
    case_end(&run);
}

/* A sink that counts the bytes, which shows whether the output is complete. */
static enum prof_status
count_bytes(void *context, const void *bytes, size_t bytes_count)
{
    (void)bytes;
    *(size_t *)context += bytes_count;
    return PROF_OK;
}

/* The scratch may end anywhere: among groups, orders or names. */
TEST(many_records_are_written_whole_or_not_at_all)
{
    static const size_t step = 40 << 10;
    size_t whole = 0;
    size_t refused = 0;

    fill_records();
    for (size_t bytes = CASE_SCRATCH_BYTES; bytes >= step; bytes -= step) {
        size_t written = 0;
        enum prof_status status;

        case_begin(&run);
        run.output.symbols.find = NULL;
        run.output.sink =
            (struct prof_sink){.write = count_bytes, .context = &written};
        run.output.scratch_bytes = bytes;
        status = prof_text_counts(&run.output, "c", records, RECORDS);
        if (bytes == CASE_SCRATCH_BYTES)
            whole = written;
        assert_int_equal(status, written == 0 ? PROF_ERR_MEMORY : PROF_OK);
        assert_true(written == 0 || written == whole);
        refused += written == 0;
    }
    assert_true(whole > RECORDS * sizeof "1 @ 0x9040 0x9040\n");
    assert_true(refused > RECORDS * sizeof(uint32_t) / step);
}

/* Each further record needs as much as the one before, also beyond 2^32. */
TEST(scratch_grows_with_any_number_of_records)
{
    const size_t base = prof_pprof_scratch_bytes(0, ADDRESSES);
    const size_t each = prof_pprof_scratch_bytes(1, ADDRESSES) - base;

    assert_true(each > 0);
    for (size_t count = 1; count >> 40 == 0; count *= 3)
        assert_int_equal(prof_pprof_scratch_bytes(count, ADDRESSES),
                         base + count * each);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
