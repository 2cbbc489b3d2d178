/*
 * exercise.c -- see exercise.h.
 *
 * usage: profsim-conform [CHECK]; without CHECK it lists all checks
 *
 * Run it with the producer preloaded. It prints one line: a word and a text.
 */
#include "subjects/conform/exercise.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/binomial.h"
#include "subjects/conform/weights.h"

enum { TRIES_MAX = 50000000, LEARN_BLOCKS = 64 };

static const char provider[] = "otel_memory";

/* ---- The verdict ---- */

static _Noreturn void
end(const char *word, const char *format, va_list arguments)
{
    char text[1000];
    int length;

    watch_detach();
    length = snprintf(text, sizeof text, "%s ", word);
    length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format,
                        arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length++] = '\n';
    (void)!write(STDOUT_FILENO, text, (size_t)length);
    _exit(0);
}

#define VERDICT(name, word)                      \
    _Noreturn void name(const char *format, ...) \
    {                                            \
        va_list arguments;                       \
                                                 \
        va_start(arguments, format);             \
        end(word, format, arguments);            \
    }
VERDICT(holds, "holds")
VERDICT(broken, "broken")
VERDICT(not_tried, "not-tried")
VERDICT(not_applicable, "not-applicable")

double
judge_count(const char *what, uint64_t trials, double p, uint64_t count)
{
    const double mean = (double)trials * p;
    struct props_interval accepted;

    if (p <= 0 || trials == 0)
        not_tried("%s: no chance to be sampled", what);
    if (p > 1 - 1e-12) { /* each must be sampled */
        if (count != trials)
            broken("%s: %ju of %ju were sampled, all should be", what,
                   (uintmax_t)count, (uintmax_t)trials);
        return 0;
    }
    accepted = props_binomial_accept(trials, p, PROPS_ALPHA);
    if (count < accepted.least || count > accepted.most)
        broken("%s: %ju of %ju were sampled; by the weights %.1f should be, "
               "%ju to %ju is chance",
               what, (uintmax_t)count, (uintmax_t)trials, mean,
               (uintmax_t)accepted.least, (uintmax_t)accepted.most);
    return ((double)(accepted.most - accepted.least) / 2 +
            3.1 * sqrt(mean * (1 - p))) /
           mean;
}

/* ---- The events ---- */

void (*on_event)(const struct watch_event *event);

/* Volatile: the compiler is told that malloc calls nothing in this file. */
static __thread volatile struct seen now_seen;

static void
sink(const struct watch_event *event)
{
    if (event->kind == WATCH_ALLOC) {
        now_seen.allocs++;
        now_seen.alloc = *event;
    } else {
        now_seen.frees++;
        now_seen.freed = *event;
    }
    if (on_event != NULL)
        on_event(event);
}

void
seen_begin(void)
{
    now_seen = (struct seen){0};
}

struct seen
seen_end(void)
{
    return now_seen;
}

void
seen_resume(struct seen seen)
{
    now_seen = seen;
}

/* ---- Operations ---- */

static void *
by_calloc(size_t bytes)
{
    return bytes % 4 == 0 ? calloc(bytes / 4, 4) : calloc(1, bytes);
}

static void *
by_realloc(size_t bytes)
{
    return realloc(NULL, bytes);
}

static void *
by_reallocarray(size_t bytes)
{
    return reallocarray(NULL, 1, bytes);
}

static void *
by_aligned_alloc(size_t bytes)
{
    return aligned_alloc(64, bytes);
}

static void *
by_posix_memalign(size_t bytes)
{
    void *block = NULL;

    return posix_memalign(&block, 256, bytes) == 0 ? block : NULL;
}

static void *
by_memalign(size_t bytes)
{
    return memalign(512, bytes);
}

static void *
by_valloc(size_t bytes)
{
    return valloc(bytes);
}

const struct way ways[] = {
    {"malloc", malloc},
    {"calloc", by_calloc},
    {"realloc(NULL)", by_realloc},
    {"reallocarray(NULL)", by_reallocarray},
    {"aligned_alloc", by_aligned_alloc},
    {"posix_memalign", by_posix_memalign},
    {"memalign", by_memalign},
    {"valloc", by_valloc},
    {NULL, NULL},
};

void *
seen_malloc(size_t bytes, struct seen *seen)
{
    void *block;

    seen_begin();
    block = malloc(bytes);
    *seen = seen_end();
    if (block == NULL)
        not_tried("malloc(%zu) failed: %s", bytes, strerror(errno));
    return block;
}

void
seen_free(void *block, struct seen *seen)
{
    seen_begin();
    free(block);
    *seen = seen_end();
}

void
seen_sample(size_t bytes, struct seen *seen)
{
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        free(seen_malloc(bytes, seen));
        if (seen->allocs > 0)
            return;
    }
    not_tried("of %d blocks of %zu bytes none was sampled", TRIES_MAX, bytes);
}

static void *
block_that_is(bool sampled, size_t bytes)
{
    if (!sampled && chance_of(bytes) > 1 - 1e-6)
        not_tried("all blocks of %zu bytes are sampled", bytes);
    for (uint32_t i = 0; i < TRIES_MAX; i++) {
        struct seen seen;
        void *const block = seen_malloc(bytes, &seen);

        if ((seen.allocs > 0) == sampled)
            return block;
        free(block);
    }
    not_tried("of %d blocks of %zu bytes %s was sampled", TRIES_MAX, bytes,
              sampled ? "none" : "each");
}

void *
sampled_block(size_t bytes)
{
    return block_that_is(true, bytes);
}

void *
unsampled_block(size_t bytes)
{
    return block_that_is(false, bytes);
}

/* ---- Its rules ---- */

/* Find out how the producer weighs, from blocks that span many intervals:
 * either all their weights are equal, or weights count the crossed
 * intervals. */
static struct weighing
learn(void)
{
    enum { BYTES = 16 << 20 };
    struct weighing learned = {0};
    uint64_t first = 0;
    uint64_t divisor = 0;
    bool differ = false;

    for (int i = 0; i < LEARN_BLOCKS; i++) {
        struct seen seen;
        void *const block = seen_malloc(BYTES, &seen);

        free(block);
        if (seen.allocs == 0)
            continue;
        first = first == 0 ? seen.alloc.weight_bytes : first;
        differ = differ || seen.alloc.weight_bytes != first;
        divisor = weights_divisor(seen.alloc.weight_bytes, divisor);
    }
    if (first == 0)
        not_tried("none of %d blocks of %d bytes was sampled: is the producer "
                  "on, and its interval below a gigabyte?",
                  LEARN_BLOCKS, BYTES);
    learned.is_by_crossings = differ && divisor >= WEIGHTS_INTERVAL_LEAST;
    learned.interval_bytes = learned.is_by_crossings ? divisor : 0;
    return learned;
}

const struct weighing *
weighing(void)
{
    static struct weighing learned;
    static bool has_learned;

    if (!has_learned)
        learned = learn();
    has_learned = true;
    return &learned;
}

double
chance_of(size_t bytes)
{
    struct seen seen;

    if (weighing()->is_by_crossings)
        return -expm1(-(double)bytes / (double)weighing()->interval_bytes);
    seen_sample(bytes, &seen);
    return (double)bytes / (double)seen.alloc.weight_bytes;
}

uint64_t
trials_for(double samples, double chance)
{
    const double trials = samples / chance;

    return trials > 2e7 ? 20000000 : (uint64_t)trials + 1;
}

size_t
half_size(void)
{
    size_t bytes = 16 << 20;

    while (bytes > 1 && chance_of(bytes) > 0.6)
        bytes /= 2;
    return bytes;
}

/* ---- A check ---- */

static const struct {
    const char *name;
    void (*check)(void);
} checks[] = {
#define X(id, name, sentence) {#name, check_##name},
#include "subjects/conform/sentences.def"
#undef X
};

int
main(int argc, char **argv)
{
    const char *problem;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (argc < 2)
            puts(checks[i].name);
        if (argc < 2 || strcmp(checks[i].name, argv[1]) != 0)
            continue;
        problem = watch_begin(provider, sink);
        if (problem != NULL)
            not_tried("the probes cannot be watched: %s", problem);
        if (watch_sites(WATCH_ALLOC) == 0)
            not_tried("no module that is loaded has a probe %s:alloc",
                      provider);
        watch_attach();
        checks[i].check();
        return 1; /* a check ends with a verdict */
    }
    return argc >= 2;
}
