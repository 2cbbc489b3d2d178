/* threads.c -- what threads and the children of fork must and must not share.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subjects/conform/exercise.h"

static void
run_thread(void *(*work)(void *), void *context)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, context) != 0)
        not_tried("a thread cannot be created");
    pthread_join(thread, NULL);
}

/* ---- Lives ---- */

enum { LIVES_MAX = 1 << 17 };

/* Events in the order in which they fired, on all threads. */
static struct {
    uint64_t address;
    enum watch_kind kind;
} lives[LIVES_MAX];
static atomic_uint lives_count;

/* Delay each free event. If a producer fires it too late, another thread that
 * already got the address can fire its alloc event first. */
static void
note_life(const struct watch_event *event)
{
    uint32_t at;

    if (event->kind == WATCH_FREE)
        for (int i = 0; i < 3; i++)
            sched_yield();
    at = atomic_fetch_add(&lives_count, 1);
    if (at >= LIVES_MAX)
        return;
    lives[at].address = event->address;
    lives[at].kind = event->kind;
}

static int
by_address(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    if (lives[a].address != lives[b].address)
        return lives[a].address < lives[b].address ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* returns: addresses that were used again */
static uint64_t
judge_lives(void)
{
    static uint32_t order[LIVES_MAX];
    const uint32_t count =
        lives_count < LIVES_MAX ? lives_count : (uint32_t)LIVES_MAX;
    uint64_t again = 0;

    on_event = NULL;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort(order, count, sizeof *order, by_address);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_first =
            i == 0 || lives[order[i]].address != lives[order[i - 1]].address;
        const enum watch_kind wanted =
            is_first || lives[order[i - 1]].kind == WATCH_FREE ? WATCH_ALLOC
                                                               : WATCH_FREE;

        if (lives[order[i]].kind != wanted)
            broken("%#jx has two %s after each other",
                   (uintmax_t)lives[order[i]].address,
                   wanted == WATCH_ALLOC ? "frees" : "allocs");
        again += !is_first && wanted == WATCH_ALLOC;
    }
    return again;
}

enum { REUSE_BYTES = 100000, REUSE_ROUNDS = 30000 };

void
check_reuse(void)
{
    uint64_t again;

    on_event = note_life;
    for (int i = 0; i < REUSE_ROUNDS; i++)
        free(malloc(REUSE_BYTES));
    again = judge_lives();
    if (again == 0)
        not_tried("no address was used again");
    holds("%ju addresses were used again", (uintmax_t)again);
}

static _Atomic(void *) handed;
static atomic_bool is_over;

static void *
free_what_is_handed(void *unused)
{
    while (!atomic_load(&is_over)) {
        void *const block = atomic_exchange(&handed, NULL);

        if (block != NULL)
            free(block);
        else
            sched_yield();
    }
    return unused;
}

void
check_order(void)
{
    uint64_t again;
    pthread_t other;

    on_event = note_life;
    if (pthread_create(&other, NULL, free_what_is_handed, NULL) != 0)
        not_tried("a thread cannot be created");
    for (int i = 0; i < REUSE_ROUNDS; i++) {
        void *const block = malloc(REUSE_BYTES);
        void *old = atomic_exchange(&handed, block);

        if (old != NULL)
            free(old);
    }
    atomic_store(&is_over, true);
    pthread_join(other, NULL);
    free(atomic_exchange(&handed, NULL));
    again = judge_lives();
    if (again == 0)
        not_tried("no address was used again");
    holds("%ju addresses were used again, freed by two threads",
          (uintmax_t)again);
}

/* ---- Elsewhere ---- */

enum { ELSEWHERE = 300 };

struct elsewhere {
    void *blocks[ELSEWHERE];
    uint32_t allocs; /* events */
    uint32_t frees;
};

static void *
allocate_all(void *context)
{
    struct elsewhere *const all = context;

    seen_begin();
    for (int i = 0; i < ELSEWHERE; i++)
        all->blocks[i] = malloc(100000);
    all->allocs = seen_end().allocs;
    return NULL;
}

static void *
free_all(void *context)
{
    struct elsewhere *const all = context;

    seen_begin();
    for (int i = 0; i < ELSEWHERE; i++)
        free(all->blocks[i]);
    all->frees = seen_end().frees;
    return NULL;
}

static void
judge_elsewhere(const struct elsewhere *all)
{
    if (all->allocs == 0)
        not_tried("no block was sampled");
    if (all->frees != all->allocs)
        broken("%u blocks were sampled, %u of their frees fired", all->allocs,
               all->frees);
    holds("%u sampled blocks", all->allocs);
}

void
check_free_elsewhere(void)
{
    static struct elsewhere all;

    allocate_all(&all);
    run_thread(free_all, &all);
    judge_elsewhere(&all);
}

static pthread_key_t key;
static uint32_t dying_allocs;
static uint32_t dying_frees;

/* A destructor of thread-local data: frees the value, and allocates more. */
static void
in_destructor(void *block)
{
    seen_begin();
    free(block);
    for (int i = 0; i < 64; i++)
        free(malloc(100000));
    dying_allocs = seen_end().allocs;
    dying_frees = seen_end().frees;
}

static void *
leave_a_block(void *context)
{
    pthread_setspecific(key, sampled_block(100000));
    return allocate_all(context);
}

void
check_thread_exit(void)
{
    static struct elsewhere all;

    if (pthread_key_create(&key, in_destructor) != 0)
        not_tried("no destructor can be set");
    run_thread(leave_a_block, &all);
    if (dying_frees != dying_allocs + 1)
        broken("a destructor freed 1 sampled block and allocated and freed 64: "
               "%u allocs and %u frees fired",
               dying_allocs, dying_frees);
    free_all(&all);
    if (all.frees != all.allocs)
        broken("of a thread that has ended, %u blocks were sampled, %u of "
               "their frees fired",
               all.allocs, all.frees);
    if (all.allocs == 0)
        not_tried("no block that outlived its thread was sampled");
    holds("%u sampled blocks outlived their thread; of 64 in its destructor %u "
          "were sampled",
          all.allocs, dying_allocs);
}

/* ---- Numbers ---- */

enum { DRAWERS = 200, DRAWS = 128 };

static size_t drawn_bytes;

/* Which blocks of a thread or child were sampled: a bit for each block. */
struct pattern {
    uint64_t bits[DRAWS / 64];
};

static void *
draw_pattern(void *context)
{
    struct pattern *const pattern = context;

    for (int i = 0; i < DRAWS; i++) {
        struct seen seen;

        free(seen_malloc(drawn_bytes, &seen));
        pattern->bits[i / 64] |= (uint64_t)(seen.allocs > 0) << i % 64;
    }
    return NULL;
}

/* Of 200 patterns of 128 draws, each of chance 0.3 to 0.7, any two are equal
 * with a chance below 20,000 x 0.58^128 = 1e-26. */
static void
judge_patterns(const struct pattern *patterns, const char *who)
{
    for (int i = 0; i < DRAWERS; i++)
        for (int j = 0; j < i; j++)
            if (memcmp(&patterns[i], &patterns[j], sizeof *patterns) == 0)
                broken("%s %d and %d of %d sample the same of their first %d "
                       "blocks",
                       who, j, i, (int)DRAWERS, (int)DRAWS);
    holds("the first %d blocks of %d %s", (int)DRAWS, (int)DRAWERS, who);
}

/* Find a size that is sampled about every other time. Children and threads
 * inherit the state of the sampler as it is after this. */
static void
choose_drawn_bytes(void)
{
    double chance;

    drawn_bytes = half_size();
    chance = chance_of(drawn_bytes);
    if (chance < 0.3 || chance > 0.7)
        not_tried("no size is sampled about every other time");
}

void
check_threads_differ(void)
{
    static struct pattern patterns[DRAWERS];

    choose_drawn_bytes();
    for (int i = 0; i < DRAWERS; i++)
        run_thread(draw_pattern, &patterns[i]);
    judge_patterns(patterns, "threads");
}

/* returns: how the child ended; out: what it wrote */
static int
run_child(void (*work)(int output), void *result, size_t bytes)
{
    int ends[2];
    int status = -1;
    ssize_t got;
    pid_t child;

    if (pipe(ends) != 0)
        not_tried("a pipe cannot be made");
    child = fork();
    if (child < 0)
        not_tried("a child cannot be made");
    if (child == 0) {
        work(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    got = read(ends[0], result, bytes);
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || got != (ssize_t)bytes)
        return status == 0 ? -1 : status;
    return status;
}

static void
draw_in_child(int output)
{
    struct pattern pattern = {{0}};

    draw_pattern(&pattern);
    (void)!write(output, &pattern, sizeof pattern);
}

void
check_children_differ(void)
{
    static struct pattern patterns[DRAWERS];

    choose_drawn_bytes();
    for (int i = 0; i < DRAWERS; i++)
        if (run_child(draw_in_child, &patterns[i], sizeof *patterns) != 0)
            broken("child %d, which allocates, does not end well", i);
    judge_patterns(patterns, "children");
}

static void *inherited[64];

static void
free_inherited(int output)
{
    uint32_t fired;

    seen_begin();
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
        free(inherited[i]);
    fired = seen_end().frees;
    for (int i = 0; i < 1000; i++)
        free(malloc(100000));
    (void)!write(output, &fired, sizeof fired);
}

void
check_inherited(void)
{
    const size_t count = sizeof inherited / sizeof *inherited;
    uint32_t fired = 0;
    uint32_t mine = 0;

    for (size_t i = 0; i < count; i++)
        inherited[i] = sampled_block(100000);
    if (run_child(free_inherited, &fired, sizeof fired) != 0)
        broken("a child that frees inherited blocks does not end well");
    for (size_t i = 0; i < count; i++) {
        struct seen seen;

        seen_free(inherited[i], &seen);
        mine += seen.frees;
    }
    if (mine != count)
        broken("after a child freed its copies, %u of %zu frees fire in the "
               "parent",
               mine, count);
    holds("%zu blocks; %u of their frees fire in the child", count, fired);
}
