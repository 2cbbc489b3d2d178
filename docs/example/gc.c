/*
 * gc.c -- a heap profile of a program that uses the Boehm-Demers-Weiser
 * collector. The collector's events drive the profile; docs/embedding.md says
 * why each call is where it is.
 *
 *      cc -pthread gc.c write.c $(pkg-config --cflags --libs prof bdw-gc)
 *
 * usage: gc HEAP.pb.gz THREADS [incremental]
 *
 * The collector is conservative: it keeps more than what the program knows to
 * be alive. It clears the links to the objects that died. So after each
 * collection the profile is compared with the objects whose links remain, and
 * these must include what the program knows to be alive.
 */
#define GC_THREADS
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <prof/prof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

enum { THREADS_MAX = 4, ROOTS = 64, ROUNDS = 3000, COLLECT_EVERY = 500 };
enum { SAMPLES_MAX = 1 << 16, BUCKETS_MAX = 64 };

/* ---- the embedding ---- */

/* A sampled object. The collector does not scan the memory of this struct. */
struct sample {
    void *object;         /* the collector sets it to NULL when it is dead */
    GC_hidden_pointer at; /* the same, hidden; 0: this sample is free */
    void *volatile *root; /* where the program keeps it */
    prof_bucket bucket;
    uint32_t next; /* in the free list */
    bool is_known; /* the root had it when the mark ended */
};

static struct prof *prof;
static struct sample *samples; /* guarded by the collector's lock, as are all */
static uint32_t samples_count; /* number 0 is none */
static uint32_t samples_free;
static int64_t objects_of[BUCKETS_MAX + 1]; /* by bucket, according to the
                                               links */
static unsigned collections, retained, wrong;

/* What a thread passes to take_sample() and record(). */
struct note {
    struct prof_proc *proc;
    struct sample *sample;
    void *object;
    void *volatile *root;
    size_t bytes;
    uintptr_t stack[2];
};

/* context: the collector's lock is held, so no thread is stopped in this
 * function, and no record call is in flight when the world is stopped */
static void *
take_sample(void *context)
{
    struct note *const note = (struct note *)context;

    if (samples_free != 0) {
        note->sample = &samples[samples_free];
        samples_free = note->sample->next;
        note->sample->bucket = PROF_BUCKET_NONE;
    } else if (samples_count + 1 < SAMPLES_MAX) {
        note->sample = &samples[++samples_count];
    } else {
        abort();
    }
    return NULL;
}

static void *
record(void *context)
{
    const struct note *const note = (const struct note *)context;
    struct sample *const sample = note->sample;

    sample->root = note->root;
    sample->at = GC_HIDE_POINTER(note->object);
    sample->bucket = prof_heap_alloc(note->proc, note->stack, 2, note->bytes);
    return NULL;
}

/* Allocate, and keep the object at `root`. */
static void
allocate(struct prof_proc *proc, uintptr_t site, size_t bytes,
         void *volatile *root)
{
    struct note note = {proc, NULL, NULL, root, bytes, {site, 1}};

    note.object = GC_MALLOC(bytes);
    if (note.object == NULL)
        abort();
    *root = note.object;
    if (!prof_heap_sample(proc, bytes))
        return;
    GC_call_with_alloc_lock(take_sample, &note);
    note.sample->object = note.object;
    GC_general_register_disappearing_link(&note.sample->object, note.object);
    GC_call_with_alloc_lock(record, &note);
}

/* Called when the mark has ended and the world is stopped. */
static void
mark_ended(void)
{
    if (prof_heap_next_cycle(prof) != PROF_OK)
        wrong++; /* control calls are made only with the collector's lock */
    for (uint32_t i = 1; i <= samples_count; i++)
        samples[i].is_known =
            samples[i].at != 0 &&
            *samples[i].root == GC_REVEAL_POINTER(samples[i].at);
}

/* Called when the world runs, and nothing is reclaimed yet: an object without a
 * mark is dead. */
static void
free_the_dead(void)
{
    for (uint32_t i = 1; i <= samples_count; i++) {
        struct sample *const sample = &samples[i];

        if (sample->at == 0 || GC_is_marked(GC_REVEAL_POINTER(sample->at)))
            continue;
        /* Processor 0 is the collector's: the collecting thread has its
         * lock. */
        prof_heap_free(prof_proc_at(prof, 0), sample->bucket);
        sample->at = 0;
        sample->next = samples_free;
        samples_free = i;
    }
}

static void compare(void);

static void
on_event(GC_EventType event)
{
    switch (event) {
    case GC_EVENT_MARK_END:
        mark_ended();
        break;
    case GC_EVENT_POST_START_WORLD:
        if (prof_heap_flush(prof) != PROF_OK)
            wrong++;
        break;
    case GC_EVENT_RECLAIM_START:
        free_the_dead();
        break;
    case GC_EVENT_RECLAIM_END:
        /* Optional: it shows this collection now, not only after the next. */
        if (prof_heap_post_sweep(prof) != PROF_OK)
            wrong++;
        compare();
        break;
    default:
        break;
    }
}

/* ---- the comparison ---- */

/* Sum up the objects whose links the collector has not cleared. */
static void
count_the_living(void)
{
    memset(objects_of, 0, sizeof objects_of);
    for (uint32_t i = 1; i <= samples_count; i++) {
        const struct sample *const sample = &samples[i];

        if (sample->object != NULL && sample->bucket != PROF_BUCKET_NONE) {
            objects_of[sample->bucket]++;
            retained += !sample->is_known;
        }
        wrong += sample->is_known && sample->object == NULL;
    }
}

/* Compare the profile with the sums, bucket by bucket. The newest bucket comes
 * first, so they come in the order of their numbers. */
static void
compare(void)
{
    static struct prof_heap_record records[BUCKETS_MAX];
    size_t count;

    collections++;
    count_the_living();
    if (prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS_MAX,
                           &count) != PROF_OK) {
        wrong++;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t in_use = prof_heap_inuse_objects(&records[i]);

        if (in_use == objects_of[count - i])
            continue;
        wrong++;
        fprintf(stderr, "gc: collection %u: %lld in use, %lld live\n",
                collections, (long long)in_use,
                (long long)objects_of[count - i]);
    }
}

/* ---- the program ---- */

enum site { SMALL = 2, MIDDLE, LARGE, SITES };

static void
find(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static const char *const names[] = {"", "work", "small", "middle", "large"};

    (void)context;
    symbol->function = names[pc];
}

static const size_t bytes_at[] = {0, 0, 48, 3000, 20000};
static void *volatile roots[THREADS_MAX][ROOTS];
static unsigned number_of[THREADS_MAX];

static void *
work(void *argument)
{
    const unsigned me = *(const unsigned *)argument;
    struct prof_proc *const proc = prof_proc_at(prof, 1 + me);

    for (unsigned i = 0; i < ROUNDS; i++) {
        const enum site site = (enum site)(SMALL + (i * 7 + i / 5) % 3);

        /* The object that this root had before is dead now. */
        allocate(proc, site, bytes_at[site], &roots[me][(i * 13) % ROOTS]);
        roots[me][(i * 29) % ROOTS] = NULL;
        if (i % COLLECT_EVERY == COLLECT_EVERY - 1)
            GC_gcollect();
    }
    return NULL;
}

static bool
begin(unsigned threads)
{
    struct prof_config config;
    size_t bytes;
    void *block;

    memset(&config, 0, sizeof config);
    config.buckets_max = BUCKETS_MAX;
    config.procs_max = 1 + threads;
    bytes = prof_bytes_needed(&config);
    block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    samples = (struct sample *)calloc(SAMPLES_MAX, sizeof *samples);
    if (samples == NULL || block == NULL ||
        prof_init(&prof, &config, memset(block, 0, bytes), bytes) != PROF_OK)
        return false;
    prof_heap_rate_set(prof, 1);
    GC_set_on_collection_event(on_event);
    return true;
}

static void *
print_the_living(void *context)
{
    static struct prof_heap_record records[BUCKETS_MAX];
    size_t count;

    (void)context;
    if (prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS_MAX,
                           &count) != PROF_OK)
        abort();
    for (uint32_t i = 1; i <= samples_count; i++)
        if (samples[i].at != 0 && samples[i].object != NULL) {
            const struct prof_heap_record *const record =
                &records[count - samples[i].bucket];
            struct prof_symbol symbol;

            find(NULL, record->stack[0], &symbol);
            printf("live %llu %s work\n",
                   (unsigned long long)record->size_bytes, symbol.function);
        }
    printf("collections %u retained %u wrong %u\n", collections, retained,
           wrong);
    return NULL;
}

int
main(int argc, char **argv)
{
    const unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    pthread_t ids[THREADS_MAX];

    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: gc HEAP.pb.gz THREADS [incremental]\n");
        return 1;
    }
    GC_INIT();
    if (argc > 3)
        GC_enable_incremental();
    if (!begin(threads)) {
        fprintf(stderr, "gc: no memory for the profile\n");
        return 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        number_of[i] = i;
        if (pthread_create(&ids[i], NULL, work, &number_of[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    GC_gcollect();
    GC_call_with_alloc_lock(print_the_living, NULL);
    return write_heap(prof, argv[1], find) && wrong == 0 ? 0 : 1;
}
