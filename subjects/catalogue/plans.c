/*
 * plans.c -- plans: short programs that use a profiler, a few calls each. Every
 * plan is tried with every profiler that has the calls it needs.
 */
#include <pthread.h>
#include <stdlib.h>

#include "subjects/catalogue/plan_program.h"

#define X(name, needs) void plan_##name(void);
#include "subjects/catalogue/plan.def"
#undef X

/* A plan between begin and end, for --entry plan_NAME. */
#define PLAN(name)          \
    static void name(void); \
    void plan_##name(void); \
    void plan_##name(void)  \
    {                       \
        begin();            \
        name();             \
        end();              \
    }                       \
    static void name(void)

static void
begin(void)
{
    if (profiler.begin != NULL)
        profiler.begin();
}

static void
end(void)
{
    if (profiler.end != NULL)
        profiler.end();
}

static unsigned kept[2]; /* a block for each thread */

static void
two_lives(void)
{
    drop(make(1), 1);
    kept[0] = make(2);
}

static void
another_life(void)
{
    kept[1] = make(3);
}

/* Two threads that only allocate and free. */
PLAN(lives)
{
    start(0, two_lives);
    start(1, another_life);
    join(0);
    join(1);
    judge_at_rest();
    drop(kept[0], 2);
    drop(kept[1], 3);
}

static void
one_life(void)
{
    kept[0] = make(1);
}

/* A snapshot while a thread allocates. */
PLAN(watched)
{
    kept[1] = make(2);
    start(0, one_life);
    call_begin();
    judge_meanwhile();
    call_end();
    join(0);
    judge_at_rest();
    drop(kept[0], 1);
    drop(kept[1], 2);
}

static void
drop_first(void)
{
    drop(kept[0], 1);
}

/* An address is freed by one thread, and comes back to another. */
PLAN(reuse)
{
    kept[0] = make(1);
    start(0, drop_first);
    start(1, another_life);
    join(0);
    join(1);
    judge_at_rest();
    drop(kept[1], 3);
}

static void
grow_first(void)
{
    kept[0] = change(kept[0], 1, 2);
}

/* A block of one thread moves, and its old address comes back to another. */
PLAN(growth)
{
    kept[0] = make(1);
    start(0, grow_first);
    start(1, another_life);
    join(0);
    join(1);
    judge_at_rest();
    drop(kept[0], 2);
    drop(kept[1], 3);
}

/* Blocks that grow and shrink, at one site and from one site to another. */
PLAN(resizing)
{
    kept[0] = change(make(2), 2, 2);
    judge_at_rest();
    kept[0] = change(kept[0], 2, 1);
    judge_at_rest();
    kept[0] = change(kept[0], 1, 4);
    judge_at_rest();
    drop(kept[0], 4);
    judge_at_rest();
}

static void
refuse_first(void)
{
    unsigned result;

    call_begin();
    result = profiler.resize(1, kept[1], site_bytes(4));
    call_end();
    if (result != 0)
        broken("M1", "a resize that fails returns a block");
}

/* A resize fails while the last block of its site is freed. */
PLAN(refusal)
{
    kept[0] = make(1);
    kept[1] = make(2);
    world_refuse(true);
    start(0, refuse_first);
    start(1, drop_first);
    join(0);
    join(1);
    world_refuse(false);
    judge_at_rest();
    drop(kept[1], 2);
    judge_at_rest();
}

/* The end of a block is freed. */
PLAN(trimming)
{
    kept[0] = make(4);
    heap_trim(kept[0], site_bytes(4) / 2);
    profiler.trim(kept[0], site_bytes(4) / 2);
    judge_at_rest();
    drop(kept[0], 4);
    judge_at_rest();
}

/* The profiler is switched off and on while blocks stay allocated. */
PLAN(switching)
{
    unsigned unseen;

    kept[0] = make(1);
    turn(false);
    unseen = make(2);
    judge_at_rest();
    turn(true);
    drop(unseen, 2);
    kept[1] = make(3);
    judge_at_rest();
    drop(kept[0], 1);
    drop(kept[1], 3);
    judge_at_rest();
}

static void
switch_off(void)
{
    if (profiler.manner == INTERPRETED)
        call_begin();
    profiler.turn(false);
    if (profiler.manner == INTERPRETED)
        call_end();
}

/* The profiler is switched on after the program has run for a while. */
PLAN(late)
{
    turn(false);
    kept[0] = make(2);
    turn(true);
    kept[1] = make(1);
    judge_at_rest();
    drop(kept[0], 2);
    drop(kept[1], 1);
}

/* The profiler is switched off during an allocation. */
PLAN(stopping)
{
    kept[0] = make(1);
    start(0, another_life);
    start(1, switch_off);
    join(0);
    join(1);
    drop(kept[0], 1);
    drop(kept[1], 3);
}

/* Other code has started the sampler; this profiler has not. */
void
plan_asking(void)
{
    judge_at_rest();
    end();
}

/* A reset forgets all counts; blocks from before it are freed after it. */
PLAN(resetting)
{
    unsigned old = make(1);

    world_forget();
    profiler.reset();
    kept[0] = make(1);
    drop(old, 1);
    judge_at_rest();
    drop(kept[0], 1);
    judge_at_rest();
}

/* Threads that free blocks end, and later threads allocate and free. */
PLAN(leaving)
{
    kept[0] = make(1);
    start(0, drop_first);
    join(0);
    start(0, one_life);
    join(0);
    start(1, drop_first);
    join(1);
    judge_at_rest();
}

static unsigned handed; /* written by one thread, freed by another */
static pthread_mutex_t hand = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_handed = PTHREAD_COND_INITIALIZER;

static void
hand_over(void)
{
    const unsigned address = make(1);

    pthread_mutex_lock(&hand);
    handed = address;
    pthread_cond_signal(&is_handed);
    pthread_mutex_unlock(&hand);
}

static void
take_over(void)
{
    unsigned address;

    pthread_mutex_lock(&hand);
    while (handed == 0)
        pthread_cond_wait(&is_handed, &hand);
    address = handed;
    pthread_mutex_unlock(&hand);
    drop(address, 1);
}

/* Another thread frees a block before or after the block's own thread ends. */
PLAN(exits)
{
    start(0, hand_over);
    start(1, take_over);
    join(0);
    join(1);
    judge_at_rest();
}

/* A library is loaded while a thread allocates. */
PLAN(loading)
{
    start(0, one_life);
    library_load();
    join(0);
    judge_at_rest();
    library_unload();
    drop(kept[0], 1);
}

/* A library that was loaded is unloaded. */
PLAN(unloading)
{
    library_load();
    turn(false);
    library_unload();
    turn(true);
    kept[0] = make(1);
    judge_at_rest();
    drop(kept[0], 1);
}

/* A collection in the middle of its sweep. */
PLAN(collection)
{
    struct shown shown[SITES] = {0};

    kept[0] = make(1);
    kept[1] = make(2);
    object_make(kept[0]);
    object_make(kept[1]);
    object_sweep_begin(kept[0]);
    profiler.snapshot(shown);
    object_sweep_end(kept[0]);
    judge_at_rest();
    object_sweep_begin(kept[1]);
    object_sweep_end(kept[1]);
    judge_at_rest();
}

static void
do_job(void)
{
    call_begin();
    profiler.job();
    call_end();
}

/* Postponed work is done more than once. */
PLAN(jobs)
{
    if (profiler.collected != NULL)
        profiler.collected();
    do_job();
    kept[0] = make(1);
    do_job();
    do_job();
    kept[1] = make(2);
    do_job();
    judge_at_rest();
    drop(kept[0], 1);
    drop(kept[1], 2);
    do_job();
}

/* Postponed work is done while another thread allocates. */
PLAN(busy)
{
    kept[0] = make(1);
    start(0, do_job);
    kept[1] = make(2);
    join(0);
    do_job();
    do_job();
    judge_at_rest();
    drop(kept[0], 1);
    drop(kept[1], 2);
    do_job();
}

/* The interpreter's own table, which a call resizes. */
static struct {
    unsigned length;
    unsigned *items;
} table;

static void
resize_table(void)
{
    call_begin();
    table.length = 2;
    free(table.items);
    table.items = NULL;
    kept[0] = profiler.alloc(1, site_bytes(1));
    table.items = calloc(table.length, sizeof *table.items);
    call_end();
}

static void
read_table(void)
{
    call_begin();
    if (table.length > 0 && table.items == NULL)
        broken("L2", "a thread runs in the middle of another one's allocation");
    call_end();
}

/* Only one thread runs at a time, so between calls nothing is half done. */
PLAN(turns)
{
    start(0, resize_table);
    start(1, read_table);
    join(0);
    join(1);
    free(table.items);
    judge_at_rest();
    drop(kept[0], 1);
}

/* A file is written. */
PLAN(written)
{
    kept[0] = make(1);
    judge_file();
    if (profiler.resize != NULL)
        kept[0] = change(kept[0], 1, 2);
    judge_file();
    drop(kept[0], profiler.resize != NULL ? 2 : 1);
    judge_file();
}
