/*
 * go_tape.c -- see go_tape.h.
 *
 * Recording a wait may draw a random number. Go's generator is set to a state,
 * and ours to a state from which it returns the same 32 bits. So both decide by
 * the same number. The tape chooses it; every second one is close to the
 * threshold of the decision.
 */
#include "props/peers/go_tape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/sampling/stream.h"

__extension__ typedef unsigned __int128 wide;

struct go_tape go_tape;

/* The linker defines these names. */
prof_bucket __real_prof_heap_alloc(struct prof_proc *proc,
                                   const uintptr_t *stack, uint32_t depth,
                                   uint64_t size_bytes);
prof_bucket __wrap_prof_heap_alloc(struct prof_proc *proc,
                                   const uintptr_t *stack, uint32_t depth,
                                   uint64_t size_bytes);
void __real_prof_heap_free(struct prof_proc *proc, prof_bucket bucket);
void __wrap_prof_heap_free(struct prof_proc *proc, prof_bucket bucket);
enum prof_status __real_prof_heap_next_cycle(struct prof *prof);
enum prof_status __wrap_prof_heap_next_cycle(struct prof *prof);
enum prof_status __real_prof_heap_flush(struct prof *prof);
enum prof_status __wrap_prof_heap_flush(struct prof *prof);
enum prof_status __real_prof_heap_post_sweep(struct prof *prof);
enum prof_status __wrap_prof_heap_post_sweep(struct prof *prof);
enum prof_status __real_prof_heap_snapshot(struct prof *prof,
                                           enum prof_select select,
                                           struct prof_heap_record *records,
                                           size_t records_max, size_t *count);
enum prof_status __wrap_prof_heap_snapshot(struct prof *prof,
                                           enum prof_select select,
                                           struct prof_heap_record *records,
                                           size_t records_max, size_t *count);
typedef void visit_heap(void *context, const struct prof_heap_record *record);
void __real_prof_heap_iterate(struct prof *prof, visit_heap *visit,
                              void *context);
void __wrap_prof_heap_iterate(struct prof *prof, visit_heap *visit,
                              void *context);
void __real_prof_block_rate_set(struct prof *prof, int64_t rate_ns);
void __wrap_prof_block_rate_set(struct prof *prof, int64_t rate_ns);
int64_t __real_prof_mutex_fraction_set(struct prof *prof, int64_t fraction);
int64_t __wrap_prof_mutex_fraction_set(struct prof *prof, int64_t fraction);
void __real_prof_contention_event(struct prof_proc *proc,
                                  enum prof_contention kind,
                                  const uintptr_t *stack, uint32_t depth,
                                  int64_t cycles);
void __wrap_prof_contention_event(struct prof_proc *proc,
                                  enum prof_contention kind,
                                  const uintptr_t *stack, uint32_t depth,
                                  int64_t cycles);
enum prof_status
__real_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count);
enum prof_status
__wrap_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count);

/* ---- stacks ---- */

static uint32_t
cut(uint32_t depth)
{
    return depth < go_tape.depth_max ? depth : go_tape.depth_max;
}

/* Find the number of a stack of the schedule, by the address of its frames. */
static uint32_t
number_of(const uintptr_t *frames)
{
    for (uint32_t i = 0; i < go_tape.stacks_count; i++) {
        if (go_tape.stacks[i].frames == frames)
            return i;
    }
    abort();
}

/* Find the number of the first stack that has these frames; -1 if there is
 * none. */
static int
first_with(const uintptr_t *frames, uint32_t depth)
{
    for (uint32_t i = 0; i < go_tape.stacks_count; i++) {
        const struct truth_stack *stack = &go_tape.stacks[i];

        if (cut(stack->depth) == depth &&
            (depth == 0 ||
             memcmp(stack->frames, frames, depth * sizeof *frames) == 0))
            return (int)i;
    }
    return -1;
}

void
go_tape_begin(uint64_t seed, uint32_t cycle_first)
{
    fprintf(go_tape.schedule, "run %" PRIu64 " %" PRIu32 "\n", seed,
            cycle_first);
    fprintf(go_tape.answers, "run %" PRIu64 "\n", seed);
    for (uint32_t i = 0; i < go_tape.stacks_count; i++) {
        const struct truth_stack *stack = &go_tape.stacks[i];

        fprintf(go_tape.schedule, "stack");
        for (uint32_t j = 0; j < cut(stack->depth); j++)
            fprintf(go_tape.schedule, " %" PRIxPTR, stack->frames[j]);
        fprintf(go_tape.schedule, "\n");
    }
}

/* ---- heap ---- */

static uint32_t
object_now(void)
{
    const struct truth_log *log = go_tape.truth;

    return log == NULL ? go_tape.object
                       : log->entries[log->entries_count - 1].object;
}

static void
call(const char *words)
{
    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "%s\n", words);
}

prof_bucket
__wrap_prof_heap_alloc(struct prof_proc *proc, const uintptr_t *stack,
                       uint32_t depth, uint64_t size_bytes)
{
    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "alloc %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
            object_now(), number_of(stack), size_bytes);
    return __real_prof_heap_alloc(proc, stack, depth, size_bytes);
}

void
__wrap_prof_heap_free(struct prof_proc *proc, prof_bucket bucket)
{
    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "free %" PRIu32 "\n", object_now());
    __real_prof_heap_free(proc, bucket);
}

enum prof_status
__wrap_prof_heap_next_cycle(struct prof *prof)
{
    enum prof_status status;

    call("next");
    status = __real_prof_heap_next_cycle(prof);
    go_tape.counts.wraps += prof_heap_phase(prof).cycle == 0;
    return status;
}

enum prof_status
__wrap_prof_heap_flush(struct prof *prof)
{
    call("flush");
    return __real_prof_heap_flush(prof);
}

enum prof_status
__wrap_prof_heap_post_sweep(struct prof *prof)
{
    call("sweep");
    return __real_prof_heap_post_sweep(prof);
}

static void
answer_head(const char *word, size_t count, enum prof_status status)
{
    fprintf(go_tape.answers, "%s %zu %s", word, count,
            status == PROF_OK ? "ok" : "short");
    go_tape.counts.shorts += status == PROF_ERR_SHORT;
}

static void
answer_state(struct prof *prof)
{
    const struct prof_heap_phase phase = prof_heap_phase(prof);
    const struct prof_heap_totals totals = prof_heap_totals(prof);

    fprintf(go_tape.answers,
            " cycle %" PRIu32 " %d published %" PRIu64 " %" PRIu64
            " pending %" PRIu64 " %" PRIu64 "\n",
            phase.cycle, phase.flushed, totals.allocs_published,
            totals.frees_published, totals.allocs_pending,
            totals.frees_pending);
}

static bool
nothing_published(struct prof *prof)
{
    const struct prof_heap_totals totals = prof_heap_totals(prof);

    return totals.allocs_published + totals.frees_published == 0 &&
           totals.allocs_pending > 0;
}

enum prof_status
__wrap_prof_heap_snapshot(struct prof *prof, enum prof_select select,
                          struct prof_heap_record *records, size_t records_max,
                          size_t *count)
{
    const bool nothing = nothing_published(prof);
    enum prof_status status;

    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "%s %zu\n",
            select == PROF_SELECT_ALL ? "all" : "inuse", records_max);
    status =
        __real_prof_heap_snapshot(prof, select, records, records_max, count);
    go_tape.counts.firsts += nothing && !nothing_published(prof);
    answer_head("heap", *count, status);
    answer_state(prof);
    for (size_t i = 0; i < *count && status == PROF_OK; i++) {
        const struct prof_heap_record *record = &records[i];

        go_tape.counts.heap_read++;
        fprintf(go_tape.answers,
                " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                first_with(record->stack, record->depth), record->allocs,
                record->frees, prof_heap_alloc_bytes(record),
                prof_heap_free_bytes(record));
    }
    return status;
}

static void
count_record(void *context, const struct prof_heap_record *record)
{
    size_t *count = context;

    (void)record;
    (*count)++;
}

static void
answer_record(void *context, const struct prof_heap_record *record)
{
    (void)context;
    go_tape.counts.heap_read++;
    fprintf(go_tape.answers, " %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            first_with(record->stack, record->depth), record->size_bytes,
            record->allocs, record->frees);
}

void
__wrap_prof_heap_iterate(struct prof *prof, visit_heap *visit, void *context)
{
    size_t count = 0;

    call("iterate");
    __real_prof_heap_iterate(prof, count_record, &count);
    answer_head("iterate", count, PROF_OK);
    answer_state(prof);
    __real_prof_heap_iterate(prof, answer_record, NULL);
    __real_prof_heap_iterate(prof, visit, context);
}

/* ---- contention ---- */

void
__wrap_prof_block_rate_set(struct prof *prof, int64_t rate_ns)
{
    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "rate %" PRId64 "\n", rate_ns);
    __real_prof_block_rate_set(prof, rate_ns);
    fprintf(go_tape.answers, "rate %" PRId64 "\n", prof_block_rate_ticks(prof));
}

int64_t
__wrap_prof_mutex_fraction_set(struct prof *prof, int64_t fraction)
{
    int64_t before;

    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "fraction %" PRId64 "\n", fraction);
    before = __real_prof_mutex_fraction_set(prof, fraction);
    fprintf(go_tape.answers, "fraction %" PRId64 "\n", before);
    return before;
}

uint32_t
go_tape_random(uint64_t state)
{
    const uint64_t next = state + 0xa0761d6478bd642fU;
    const wide product = (wide)next * (next ^ 0xe7037ed1a0b428dbU);

    return (uint32_t)((uint64_t)(product >> 64) ^ (uint64_t)product);
}

/* Would a number larger or smaller by 1 be decided otherwise? */
static bool
at_the_edge(uint32_t number, int64_t rate, int64_t keeps_up_to)
{
    const int64_t residue = rate > 0 ? number % rate : -2;

    return residue == keeps_up_to || residue - 1 == keeps_up_to;
}

/* Choose a state of Go's generator, and set ours so that the same number comes
 * next. */
static uint64_t
choose_number(struct prof_proc *proc, int64_t rate, int64_t keeps_up_to)
{
    uint32_t tries = sim_rng_below(&go_tape.rng, 2) * 64;
    uint64_t state = sim_rng_next(&go_tape.rng);
    uint64_t ours = 0;

    while (tries-- > 0 &&
           !at_the_edge(go_tape_random(state), rate, keeps_up_to))
        state = sim_rng_next(&go_tape.rng);
    go_tape.counts.edges +=
        at_the_edge(go_tape_random(state), rate, keeps_up_to);
    if (!props_stream_before(PROF_RANDOM_XORSHIFT32, go_tape_random(state),
                             &ours))
        abort();
    prof_proc_rng_resume(proc, ours);
    return state;
}

void
__wrap_prof_contention_event(struct prof_proc *proc, enum prof_contention kind,
                             const uintptr_t *stack, uint32_t depth,
                             int64_t cycles)
{
    const bool block = kind == PROF_BLOCK;
    const int64_t rate = block
                             ? prof_block_rate_ticks(go_tape.prof)
                             : __real_prof_mutex_fraction_set(go_tape.prof, -1);
    const uint64_t state = choose_number(proc, rate,
                                         !block       ? 0
                                         : cycles < 1 ? 1
                                                      : cycles);
    const uint64_t before = prof_proc_rng_state(proc);
    bool drew;

    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "%s %" PRIu32 " %" PRId64 " %" PRIx64 "\n",
            block ? "block" : "mutex", number_of(stack), cycles, state);
    __real_prof_contention_event(proc, kind, stack, depth, cycles);
    drew = prof_proc_rng_state(proc) != before;
    fprintf(go_tape.answers, "drew %s\n", drew ? "true" : "false");
    if (drew)
        go_tape.counts.draws++;
    else
        go_tape.counts.undrawn++;
}

enum prof_status
__wrap_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count)
{
    const char *word = kind == PROF_BLOCK ? "blocks" : "mutexes";
    enum prof_status status;

    go_tape.counts.calls++;
    fprintf(go_tape.schedule, "%s %zu\n", word, records_max);
    status = __real_prof_contention_snapshot(prof, kind, records, records_max,
                                             count);
    answer_head(word, *count, status);
    fprintf(go_tape.answers, "\n");
    for (size_t i = 0; i < *count && status == PROF_OK; i++) {
        go_tape.counts.waits_read++;
        fprintf(go_tape.answers, " %d %" PRIu64 " %" PRIu64 "\n",
                first_with(records[i].stack, records[i].depth),
                records[i].count, records[i].cycles);
    }
    return status;
}
