/*
 * history.c -- the bucket table is linearizable: some sequential order of the
 * calls explains their results.
 *
 * A call precedes another one if it happens before it in the sense of C11. To
 * establish that, each call takes and releases one lock (the turnstile) when it
 * begins and again when it ends. Without it, a call could end before another
 * one begins without any thread seeing that order; C11 promises nothing about
 * such calls.
 */
#include "props/kernels/kernel_instance.h"
#include "props/kernels/kernels.h"
#include "props/kernels/explained.h"
#include "prof/port.h"

enum { RECORD, LIST };

/* The state of a sequential table: the bucket of each stack, 0 for none. */
struct sequential {
    uint32_t bucket[KERNEL_STACKS];
};

static struct sim_history history;
static struct prof_port_lock turnstile;

static void
setup(void *context)
{
    (void)context;
    sim_history_init(&history);
    kernel_new_instance((struct prof_config){.hash = PROF_HASH_GO_64});
}

static bool
record_step(struct sequential *table, const struct sim_operation *operation)
{
    uint32_t *bucket = &table->bucket[operation->argument];

    for (uint32_t i = 0; *bucket == 0 && i < KERNEL_STACKS; i++) {
        if (table->bucket[i] == operation->result)
            return false; /* the bucket of another stack */
    }
    if (*bucket == 0)
        *bucket = (uint32_t)operation->result;
    return *bucket == operation->result;
}

static bool
step(void *state, const struct sim_operation *operation)
{
    struct sequential *table = state;
    uint64_t listed = 0;

    if (operation->kind == RECORD)
        return record_step(table, operation);
    for (uint32_t i = 0; i < KERNEL_STACKS; i++)
        listed |= (uint64_t)(table->bucket[i] != 0) << i;
    return listed == operation->result;
}

static void
finish(void *context)
{
    static const struct sim_linear_model model = {
        .state_bytes = sizeof(struct sequential), .step = step};

    (void)context;
    kernel_explained(&model, &history);
}

static uint32_t
call_of(uint32_t kind, uint32_t stack)
{
    uint32_t call;

    prof_port_lock_take(&turnstile);
    call = sim_history_call(&history, kind, 0, stack);
    prof_port_lock_release(&turnstile);
    return call;
}

static void
return_of(uint32_t call, uint64_t result)
{
    prof_port_lock_take(&turnstile);
    sim_history_return(&history, call, result);
    prof_port_lock_release(&turnstile);
}

static void
record(uint32_t thread, uint32_t stack)
{
    const uint32_t call = call_of(RECORD, stack);

    return_of(call, kernel_alloc(thread, stack));
}

static void
list_one(void *context, const struct prof_heap_record *seen)
{
    uint64_t *listed = context;

    for (uint32_t i = 0; i < KERNEL_STACKS; i++) {
        if (seen->stack[0] == kernel_stacks[i][0])
            *listed |= (uint64_t)1 << i;
    }
}

static void
list(void)
{
    const uint32_t call = call_of(LIST, 0);
    uint64_t listed = 0;

    prof_heap_iterate(kernel_prof, list_one, &listed);
    return_of(call, listed);
}

static void
record_one(void *context, uint32_t thread)
{
    (void)context;
    record(thread, thread);
}

static void
record_and_list(void *context, uint32_t thread)
{
    (void)context;
    record(thread, 0);
    list();
}

const struct sim_kernel props_kernel_history = {
    .name = "table-linear",
    .about = "recording and listing are linearizable",
    .setup = setup,
    .finish = finish,
    .threads = {{"first", record_one, NULL},
                {"second", record_one, NULL},
                {"third", record_and_list, NULL}},
    .threads_count = 3,
};
