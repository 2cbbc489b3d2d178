/*
 * test_model_memory.c -- an oracle that gets no memory says so, whichever
 * request is refused, and gives the rest back: the variant with sanitizers
 * reports a leak.
 */
#include <stdlib.h>

#include "heap.h"
#include "pprof.h"
#include "refused_memory.h"
#include "trace_oracle.h"
#include "trace_reader.h"
#include "trace_script.h"
#include "unit_test.h"

static bool
heap_is_made(void)
{
    struct model_heap *model = model_heap_new(4, 5, 6);
    const bool made = model != NULL;

    model_heap_delete(model);
    return made;
}

static bool
oracle_is_made(void)
{
    struct model_oracle *oracle = model_oracle_new(9);
    const bool made = oracle != NULL;

    model_oracle_delete(oracle);
    return made;
}

static bool
profile_is_read(void)
{
    struct model_pprof profile;
    const bool read = model_pprof_read(&profile, "\x32\x00", 2);

    if (!read)
        assert_string_equal(profile.reason, "not enough memory");
    model_pprof_release(&profile);
    return read;
}

/* Everything for which the reader takes memory. */
static bool
trace_is_read(void)
{
    struct props_trace_script script;
    struct model_trace trace;
    bool read;

    props_trace_script(&script,
                       "p0 timer:9 create:1 start:1 create:2 block start:2 "
                       "unblock:1 p1 start:1 futile block "
                       "raw:0xc3 raw:3 raw:5 raw:1 raw:0x33");
    model_trace_init(&trace);
    read = model_trace_read(&trace, script.bytes, script.bytes_count) ==
           MODEL_TRACE_OK;
    if (!read) {
        assert_string_equal(trace.reason.text, "out of memory");
        assert_int_equal(trace.reason.offset_bytes, 0);
    }
    model_trace_release(&trace);
    return read;
}

TEST(without_memory_there_is_no_oracle_and_no_verdict)
{
    static const struct {
        bool (*is_done)(void);
        uint32_t requests;
    } rows[] = {
        {heap_is_made, 8},
        {oracle_is_made, 3},
        {profile_is_read, 1},
        {trace_is_read, 12},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t refused = 0;
        bool done = false;

        while (!done) {
            refused_memory_at = refused + 1;
            done = rows[i].is_done();
            assert_int_equal(done, refused_memory_at != 0);
            refused += !done;
        }
        refused_memory_at = 0;
        assert_int_equal(refused, rows[i].requests);
    }
}

/* All objects of a log of the announced length, born and freed, with a stack
 * and a bucket each, and nothing published: the memory is just enough. */
TEST(a_log_of_the_announced_length_is_read)
{
    enum { OBJECTS = 3, ENTRIES = 2 * OBJECTS };
    static const uintptr_t frames[OBJECTS] = {1, 2, 3};
    struct truth_entry entries[ENTRIES] = {0};
    struct truth_stack stacks[OBJECTS];
    const struct truth_log log = {.entries = entries,
                                  .entries_count = ENTRIES,
                                  .stacks = stacks,
                                  .stacks_count = OBJECTS};
    const struct model_limits limits = {.scheme = MODEL_RING,
                                        .era = MODEL_EXACT,
                                        .depth_max = 1,
                                        .buckets_max = OBJECTS,
                                        .frames_max = OBJECTS};
    struct model_heap *model = model_heap_new(OBJECTS, OBJECTS, ENTRIES);
    uint32_t k;

    assert_non_null(model);
    for (uint32_t i = 0; i < ENTRIES; i++)
        entries[i] = (struct truth_entry){
            .kind = i < OBJECTS ? TRUTH_ALLOC : TRUTH_FREE_EXPLICIT,
            .object = i % OBJECTS,
            .stack = i % OBJECTS,
            .size_bytes = 8};
    for (uint32_t i = 0; i < OBJECTS; i++)
        stacks[i] = (struct truth_stack){.frames = &frames[i], .depth = 1};
    model_heap_reset(model, &limits, &log);
    model_heap_feed(model);
    assert_int_equal(model_heap_sum(model)->allocs_pending, OBJECTS);
    assert_int_equal(model_heap_sum(model)->frees_pending, OBJECTS);
    (void)model_heap_at(model, &k);
    assert_int_equal(k, 0);
    model_heap_delete(model);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
