/*
 * vm.c -- a toy virtual machine with a heap profile and a mutex profile;
 * docs/embedding.md walks through it. It compiles as C and as C++.
 *
 *      cc -pthread vm.c write.c $(pkg-config --cflags --libs prof)
 *
 * usage: vm HEAP.pb.gz MUTEX.pb.gz
 *
 * Two threads run under one lock, the world: a thread releases it at its safe
 * points, and the thread that holds it may collect garbage, because no other
 * runs then. At the end it prints what is live, so that the profile can be
 * compared with that.
 */
#include <prof/fork.h>
#include <prof/process.h>
#include <prof/prof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "write.h"

enum { THREADS = 2, GENERATIONS = 8, ROUNDS = 40, ROOTS = 8 };
enum { DEPTH = 4, COLLECT_EVERY = 50 };

/* The functions of the program; one frame's return address is its number. */
enum function { MAIN = 1, RUN, SCRATCH, PUBLISH };

static void
find(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static const char *const names[] = {"", "main", "run", "scratch",
                                        "publish"};

    (void)context;
    symbol->function = names[pc];
}

struct object {
    struct object *next; /* of all objects */
    struct object *link; /* kept alive by this one */
    prof_bucket bucket;  /* for its free */
    bool marked;
    unsigned bytes; /* this and below: only to check the profile */
    uint32_t depth;
    uintptr_t stack[DEPTH];
};

struct thread {
    pthread_t id;
    struct prof_proc *proc;
    struct object *root;
    uintptr_t stack[DEPTH]; /* leaf first: it grows down from the end */
    uint32_t depth;
};

static struct prof *prof;
static pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER; /* guards all this */
static struct thread threads[1 + THREADS];                /* 0 is main's */
static struct object *objects;
static struct object *shared[ROOTS];
static unsigned born; /* since the last collection */
static bool collecting;

static const uintptr_t *
stack_of(const struct thread *me)
{
    return &me->stack[DEPTH - me->depth];
}

static void
enter(struct thread *me, enum function function)
{
    me->stack[DEPTH - ++me->depth] = function;
}

/* ---- the collector ---- */

static void
mark(struct object *object)
{
    for (; object != NULL && !object->marked; object = object->link)
        object->marked = true;
}

static void
sweep(struct prof_proc *proc)
{
    struct object **link = &objects;

    while (*link != NULL) {
        struct object *const object = *link;

        if (object->marked) {
            object->marked = false;
            link = &object->next;
        } else {
            *link = object->next;
            prof_heap_free(proc, object->bucket);
            free(object);
        }
    }
}

static void
collect(struct thread *me)
{
    collecting = true;
    born = 0;
    for (int i = 0; i <= THREADS; i++)
        mark(threads[i].root);
    for (int i = 0; i < ROOTS; i++)
        mark(shared[i]);
    /* Marking is done, and the world is still stopped. If the call is refused,
       because another thread is writing the profile, this collection shows
       together with the next one. */
    if (prof_heap_next_cycle(prof) != PROF_OK)
        fprintf(stderr, "vm: a collection shows late\n");
    sweep(me->proc);
    pthread_mutex_unlock(&world);
    /* The world runs again. The call is refused only under
     * PROF_WORLD_RUNNING. */
    if (prof_heap_flush(prof) != PROF_OK)
        abort();
    pthread_mutex_lock(&world);
    collecting = false;
}

/* in: bytes, the size that the object represents */
static void
allocate(struct thread *me, unsigned bytes)
{
    struct object *const object = (struct object *)calloc(1, sizeof *object);

    if (object == NULL)
        abort();
    object->bytes = bytes;
    object->depth = me->depth;
    memcpy(object->stack, stack_of(me), me->depth * sizeof *me->stack);
    if (prof_heap_sample(me->proc, bytes)) /* else its bucket is 0: not
                                              sampled */
        object->bucket =
            prof_heap_alloc(me->proc, stack_of(me), me->depth, bytes);
    object->link = me->root;
    me->root = object;
    object->next = objects;
    objects = object;
    if (++born >= COLLECT_EVERY && !collecting)
        collect(me);
}

/* ---- a mutex of the program ---- */

static bool held;
static unsigned waiters;
static int64_t first_ns, last_ns; /* when the first and the last waiter came */
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static unsigned contended; /* releases that a thread waited for */

static void
take(void)
{
    if (held) {
        last_ns = prof_process_monotonic_ns();
        if (waiters++ == 0)
            first_ns = last_ns;
        while (held)
            pthread_cond_wait(&released, &world); /* a safe point */
        waiters--;
    }
    held = true;
}

/* Charge the stack that releases the mutex with the time that others have
 * waited. */
static void
release(struct thread *me)
{
    const int64_t now_ns = prof_process_monotonic_ns();

    held = false;
    if (waiters == 0)
        return;
    contended++;
    prof_contention_event(me->proc, PROF_MUTEX, stack_of(me), me->depth,
                          prof_mutex_cycles(prof, now_ns - first_ns,
                                            now_ns - last_ns, waiters - 1));
    first_ns = now_ns; /* charged up to here */
    pthread_cond_signal(&released);
}

/* ---- the program ---- */

static void *
run(void *argument)
{
    struct thread *const me = (struct thread *)argument;

    pthread_mutex_lock(&world);
    enter(me, RUN);
    for (unsigned round = 0; round < ROUNDS; round++) {
        enter(me, SCRATCH);
        allocate(me, 64);
        allocate(me, 32);
        me->root = NULL; /* garbage now */
        me->depth--;
        take();
        enter(me, PUBLISH);
        allocate(me, 160);
        allocate(me, 16 + 16 * (round % 2));
        shared[round % ROOTS] = me->root; /* what was there is garbage */
        me->root = NULL;
        release(me);
        me->depth--;
        pthread_mutex_unlock(&world); /* a safe point */
        pthread_mutex_lock(&world);
    }
    me->depth--;
    pthread_mutex_unlock(&world);
    return NULL;
}

/* Run the threads. Threads come and go; the processors stay, and serve the next
 * threads. */
static void
run_threads(struct thread *me)
{
    take();
    for (int i = 1; i <= THREADS; i++)
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
            abort();
    /* Release the mutex only when both threads wait for it. */
    for (int tries = 0; tries < 10000 && waiters < THREADS; tries++) {
        pthread_mutex_unlock(&world);
        usleep(1000);
        pthread_mutex_lock(&world);
    }
    release(me);
    pthread_mutex_unlock(&world);
    for (int i = 1; i <= THREADS; i++)
        pthread_join(threads[i].id, NULL);
    pthread_mutex_lock(&world);
}

/* ---- the whole ---- */

static void
in_child(void)
{
    prof_after_fork_child(prof);
}

static bool
begin(void)
{
    struct prof_config config;
    size_t bytes;
    void *block;

    memset(&config, 0, sizeof config);
    config.buckets_max = 1000;
    config.procs_max = 1 + THREADS;
    bytes = prof_bytes_needed(&config);
    block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    if (block == NULL ||
        prof_init(&prof, &config, memset(block, 0, bytes), bytes) != PROF_OK)
        return false;
    prof_heap_rate_set(prof, 1); /* all objects, not one in 512 kB */
    for (uint32_t i = 0; i <= THREADS; i++)
        threads[i].proc = prof_proc_at(prof, i);
    return pthread_atfork(NULL, NULL, in_child) == 0;
}

static void
print_the_living(void)
{
    struct prof_symbol symbol;

    for (const struct object *o = objects; o != NULL; o = o->next) {
        printf("live %u", o->bytes);
        for (uint32_t i = 0; i < o->depth; i++) {
            find(NULL, o->stack[i], &symbol);
            printf(" %s", symbol.function);
        }
        printf("\n");
    }
    printf("contended %u\n", contended);
}

int
main(int argc, char **argv)
{
    struct thread *const me = &threads[0];

    if (argc != 3) {
        fprintf(stderr, "usage: vm HEAP.pb.gz MUTEX.pb.gz\n");
        return 1;
    }
    if (!begin()) {
        fprintf(stderr, "vm: no memory for the profile\n");
        return 1;
    }
    pthread_mutex_lock(&world);
    enter(me, MAIN);
    for (int i = 0; i < GENERATIONS; i++)
        run_threads(me);
    /* The first collection finds what is dead. The second one publishes that,
       and everything allocated before the first: then exactly what is live is
       in use. */
    collect(me);
    collect(me);
    print_the_living();
    pthread_mutex_unlock(&world);
    return write_heap(prof, argv[1], find) && write_mutex(prof, argv[2], find)
               ? 0
               : 1;
}
