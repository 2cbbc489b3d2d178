/*
 * conform_stream.c -- `profsim conform -- COMMAND`: judges the events of a
 * command's own probes, as far as the events alone can show an error.
 */
#include "subjects/command/conform_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "common/command/preload.h"
#include "subjects/conform/event_stream.h"
#include "subjects/conform/weights.h"

static struct stream *stream;
static int memory;

/* ---- The stream ---- */

static bool
open_memory(void)
{
    void *map = MAP_FAILED;

    memory = memfd_create("profsim-conform", MFD_CLOEXEC);
    if (memory >= 0 && ftruncate(memory, sizeof *stream) == 0)
        map = mmap(NULL, sizeof *stream, PROT_READ | PROT_WRITE, MAP_SHARED,
                   memory, 0);
    if (map == MAP_FAILED)
        return cli_complain("conform: no memory for the events");
    stream = map;
    stream->magic = STREAM_MAGIC;
    return true;
}

static void
name_memory(void *context)
{
    char path[64];

    (void)context;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), memory);
    setenv(STREAM_ENV, path, 1);
}

static size_t
events_count(void)
{
    return stream->count < STREAM_EVENTS_MAX ? (size_t)stream->count
                                             : STREAM_EVENTS_MAX;
}

/* -------------------------------------------------------------------
 * judgements */

struct judging {
    struct cli_conform_outcome *outcome;
    uint32_t *order; /* of the events */
    size_t count;
};

static void set(struct judging *judging, enum cli_verdict verdict,
                const char *format, ...) __attribute__((format(printf, 3, 4)));

static void
set(struct judging *judging, enum cli_verdict verdict, const char *format, ...)
{
    va_list arguments;

    judging->outcome->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(judging->outcome->text, sizeof judging->outcome->text, format,
              arguments);
    va_end(arguments);
}

static const struct stream_event *
event_at(const struct judging *judging, size_t i)
{
    return &stream->events[judging->order[i]];
}

static int
compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int
by_life(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const struct stream_event *const x = &stream->events[a];
    const struct stream_event *const y = &stream->events[b];
    int order = compare(x->process, y->process);

    order = order != 0 ? order : compare(x->address, y->address);
    return order != 0 ? order : compare(a, b);
}

static int
by_size(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const int order = compare(stream->events[a].bytes, stream->events[b].bytes);

    return order != 0 ? order : compare(a, b);
}

static bool
is_same_block(const struct stream_event *a, const struct stream_event *b)
{
    return a->process == b->process && a->address == b->address;
}

/* For each address, allocs and frees must alternate. In a forked child, the
 * first free of an address may lack its alloc: the block may be inherited. */
static void
judge_lives(struct judging *judging)
{
    const uint64_t first = stream->events[0].process;
    uint64_t inherited = 0;
    uint64_t closed = 0;

    for (size_t i = 0; i < judging->count; i++) {
        const struct stream_event *const now = event_at(judging, i);
        const struct stream_event *const before =
            i > 0 && is_same_block(event_at(judging, i - 1), now)
                ? event_at(judging, i - 1)
                : NULL;
        const bool is_free = now->kind != 0;

        if (before != NULL && (before->kind != 0) == is_free) {
            set(judging, CLI_VERDICT_BROKEN,
                "process %ju: %#jx has two %s after each other",
                (uintmax_t)now->process, (uintmax_t)now->address,
                is_free ? "frees" : "allocs");
            return;
        }
        if (before == NULL && is_free && now->process == first) {
            set(judging, CLI_VERDICT_BROKEN,
                "%#jx has a free, and no alloc before it",
                (uintmax_t)now->address);
            return;
        }
        inherited += before == NULL && is_free;
        closed += before != NULL && is_free;
    }
    if (closed + inherited == 0) {
        set(judging, CLI_VERDICT_NOT_TRIED, "none of %zu events is a free",
            judging->count);
        return;
    }
    set(judging, CLI_VERDICT_HOLDS,
        "%ju of %zu events are frees of their alloc, %ju of inherited blocks",
        (uintmax_t)closed, judging->count, (uintmax_t)inherited);
}

/* All blocks of one size must have the same weight, not below the size; unless
 * weights count intervals. */
static void
judge_weights(struct judging *judging)
{
    const struct stream_event *before = NULL;
    uint64_t pairs = 0;
    uint64_t allocs = 0;
    uint64_t interval = 0;
    bool differ = false;

    for (size_t i = 0; i < judging->count; i++)
        if (event_at(judging, i)->kind == 0)
            interval =
                weights_divisor(event_at(judging, i)->weight_bytes, interval);
    set(judging, CLI_VERDICT_HOLDS, "%s", "");
    for (size_t i = 0; i < judging->count; i++) {
        const struct stream_event *const now = event_at(judging, i);

        if (now->kind != 0)
            continue;
        allocs++;
        if (now->weight_bytes < now->bytes)
            set(judging, CLI_VERDICT_BROKEN,
                "a block of %ju bytes weighs %ju: a chance above 1",
                (uintmax_t)now->bytes, (uintmax_t)now->weight_bytes);
        if (before != NULL && before->bytes == now->bytes) {
            const bool apart = now->weight_bytes > before->weight_bytes + 1 ||
                               before->weight_bytes > now->weight_bytes + 1;

            pairs++;
            differ = differ || apart;
            if (apart)
                set(judging, CLI_VERDICT_BROKEN,
                    "blocks of %ju bytes weigh %ju and %ju",
                    (uintmax_t)now->bytes, (uintmax_t)before->weight_bytes,
                    (uintmax_t)now->weight_bytes);
        }
        before = now;
    }
    if (differ && interval >= WEIGHTS_INTERVAL_LEAST)
        set(judging, CLI_VERDICT_HOLDS,
            "%ju weights count intervals of %ju bytes, as the first version of "
            "the contract had it",
            (uintmax_t)allocs, (uintmax_t)interval);
    else if (judging->outcome->verdict == CLI_VERDICT_BROKEN)
        return;
    else if (pairs == 0)
        set(judging, CLI_VERDICT_NOT_TRIED,
            "of %ju sampled blocks no two have one size", (uintmax_t)allocs);
    else
        set(judging, CLI_VERDICT_HOLDS,
            "%ju sampled blocks, %ju of a size that another one has",
            (uintmax_t)allocs, (uintmax_t)pairs);
}

static void
judge_nothing(struct judging *judging)
{
    for (size_t i = 0; i < judging->count; i++)
        if (event_at(judging, i)->address == 0) {
            set(judging, CLI_VERDICT_BROKEN, "%s of NULL",
                event_at(judging, i)->kind != 0 ? "a free" : "an alloc");
            return;
        }
    set(judging, CLI_VERDICT_HOLDS, "none of %zu events is of NULL",
        judging->count);
}

static void
judge_size_zero(struct judging *judging)
{
    uint64_t zeros = 0;

    for (size_t i = 0; i < judging->count; i++) {
        const struct stream_event *const now = event_at(judging, i);

        if (now->kind != 0 || now->bytes != 0)
            continue;
        zeros++;
        if (now->weight_bytes != 0) {
            set(judging, CLI_VERDICT_BROKEN,
                "a block of no size weighs %ju bytes",
                (uintmax_t)now->weight_bytes);
            return;
        }
    }
    if (zeros == 0)
        set(judging, CLI_VERDICT_NOT_TRIED, "no block of no size was sampled");
    else
        set(judging, CLI_VERDICT_HOLDS, "%ju blocks of no size",
            (uintmax_t)zeros);
}

/* -------------------------------------------------------------------- the
 * table */

static const struct {
    const char *name;
    void (*judge)(struct judging *judging);
    int (*order)(const void *left, const void *right);
} judgements[] = {
    {"weights", judge_weights, by_size},
    {"frees", judge_lives, by_life},
    {"nothing", judge_nothing, by_life},
    {"size_zero", judge_size_zero, by_life},
};

bool
cli_conform_stream_judges(const char *name)
{
    for (size_t i = 0; i < sizeof judgements / sizeof *judgements; i++)
        if (strcmp(judgements[i].name, name) == 0)
            return true;
    return false;
}

void
cli_conform_stream_judge(const char *name, struct cli_conform_outcome *outcome)
{
    struct judging judging = {.outcome = outcome, .count = events_count()};

    judging.order = calloc(judging.count + 1, sizeof *judging.order);
    if (judging.order == NULL) {
        set(&judging, CLI_VERDICT_INCOMPLETE, "not enough memory");
        return;
    }
    for (size_t i = 0; i < judging.count; i++)
        judging.order[i] = (uint32_t)i;
    for (size_t i = 0; i < sizeof judgements / sizeof *judgements; i++)
        if (strcmp(judgements[i].name, name) == 0) {
            qsort(judging.order, judging.count, sizeof *judging.order,
                  judgements[i].order);
            if (judging.count == 0)
                set(&judging, CLI_VERDICT_NOT_TRIED, "nothing was sampled");
            else
                judgements[i].judge(&judging);
        }
    free(judging.order);
}

enum cli_exit
cli_conform_stream_run(char **command)
{
    static const struct cli_preload observer = {
        .verb = "conform",
        .library = "libprofsim-observe.so",
        .variable = "PROFSIM_OBSERVE",
        .set_environment = name_memory,
    };
    char path[4096];
    enum cli_exit exit_code;
    int status = 0;

    if (!cli_preload_find(path, sizeof path, &observer) || !open_memory())
        return CLI_USAGE;
    exit_code = cli_preload_run(&observer, path, command, &status);
    cli_preload_let_go();
    if (exit_code != CLI_OK)
        return exit_code;
    if (stream->sites == 0)
        return cli_usage("%s: no module that it loads at its start has a probe "
                         "otel_memory:alloc",
                         command[0]);
    if (stream->refused > 0)
        return cli_usage("%s: its probes cannot be watched", command[0]);
    if (WIFSIGNALED(status))
        printf("# the command was ended by signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        printf("# the command ended with code %d\n", WEXITSTATUS(status));
    printf("# %ju events", (uintmax_t)stream->count);
    if (stream->count > STREAM_EVENTS_MAX)
        printf(", the first %d of which are judged", (int)STREAM_EVENTS_MAX);
    putchar('\n');
    return CLI_OK;
}
