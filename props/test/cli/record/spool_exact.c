/* spool_exact.c -- see spool_exact.h. */
#include "spool_exact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recfile.h"
#include "refused_memory.h"
#include "rng.h"
#include "spool_case.h"
#include "unit_test.h"

enum {
    MODULES = 64,
    STACKS = 24,
    DEPTH = 4,
    TEXTS = 256,
    CALLS = 128,
    LOGGED = 40
};
enum { LENGTH = 0x1000 };

struct module {
    uint64_t start;
    uint64_t offset;
    uint64_t bias; /* 0: a little below the start */
    uint64_t layer;
    uint64_t id_bytes;
    const char *path;
};

struct stack {
    uint64_t pcs[DEPTH]; /* as logged, leaf first */
    uint64_t layers[DEPTH];
    uint64_t epoch;
    uint32_t depth;
    uint64_t at; /* offset of its record */
    uint32_t frames[DEPTH];
    uint32_t number;
};

/* The two long ones have the same FNV-1a hash. */
static const char *const paths[] = {"/no/a",      "8yn0iYCKYHlIj4-BwPqk",
                                    "/no/b.so.1", "GReLUrM4wMqfg9yzV3KQ",
                                    "/a",         "/other/a",
                                    "[vdso]",     ""};
enum { PATHS = sizeof paths / sizeof *paths };

static struct module modules[MODULES];
static uint32_t modules_count;
static struct stack stacks[STACKS];
static uint32_t stacks_count;
static char texts[TEXTS][64]; /* the first one is empty */
static uint32_t texts_count;
static struct cli_recfile_frame frames[CALLS];
static uint32_t frames_count;

/* ---- the spool ---- */

static void
log_module(const struct module *module)
{
    const size_t bytes = strlen(module->path);
    uint64_t words[32] = {module->bias != 0 ? module->bias
                                            : module->start - 0x100,
                          module->start, module->start + LENGTH, module->offset,
                          module->id_bytes | (uint64_t)bytes << 32};

    memset(&words[5], 7, module->id_bytes);
    memcpy((char *)&words[5] + module->id_bytes, module->path, bytes);
    spool_append(EMBED_MODULE, 0, 0, words,
                 (uint32_t)(5 + (bytes + module->id_bytes + 7) / 8));
}

static void
log_stack(struct stack *stack)
{
    uint64_t words[DEPTH + 1] = {0};

    memcpy(&words[1], stack->pcs, 8 * (size_t)stack->depth);
    stack->at =
        spool_append(EMBED_STACK, 0, stack->depth, words, 1 + stack->depth);
}

/* ---- the recording ---- */

static uint64_t
text_number(const char *text)
{
    uint32_t i = 0;

    while (i < texts_count && strcmp(texts[i], text) != 0)
        i++;
    if (i == texts_count) {
        assert_true(++texts_count <= TEXTS);
        snprintf(texts[i], sizeof texts[i], "%s", text);
    }
    return i;
}

static uint64_t
start_of(const struct module *module)
{
    return module->start + (module->layer << 48);
}

/* Name a pc as a place in the last module that holds the call before it. */
static uint32_t
frame_of(uint64_t pc)
{
    struct cli_recfile_frame *frame = frames;
    uint32_t m = modules_count;
    char text[64];

    while (frame < frames + frames_count && frame->pc != pc)
        frame++;
    if (frame < frames + frames_count)
        return (uint32_t)(frame - frames);
    assert_true(++frames_count <= CALLS);
    while (m > 0 && (pc <= start_of(&modules[m - 1]) ||
                     pc > start_of(&modules[m - 1]) + LENGTH))
        m--;
    if (m > 0) {
        const struct module *module = &modules[m - 1];
        const char *slash = strrchr(module->path, '/');

        snprintf(text, sizeof text, "%s+0x%" PRIx64,
                 slash != NULL ? slash + 1 : module->path,
                 pc - start_of(module) + module->offset);
    } else {
        snprintf(text, sizeof text, "0x%" PRIx64, pc);
    }
    *frame = (struct cli_recfile_frame){
        .pc = pc, .module = m, .function = text_number(text)};
    return frames_count - 1;
}

static int
compare(const struct stack *a, const struct stack *b)
{
    for (uint32_t i = 1; i <= a->depth && i <= b->depth; i++)
        if (a->frames[a->depth - i] != b->frames[b->depth - i])
            return a->frames[a->depth - i] < b->frames[b->depth - i] ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/* A stack's number is how many different ones are before it. */
static void
number_stacks(void)
{
    for (uint32_t i = 0; i < stacks_count; i++) {
        stacks[i].number = 0;
        for (uint32_t k = 0; k < stacks_count; k++) {
            bool is_first = true;

            for (uint32_t j = 0; j < k; j++)
                is_first = is_first && compare(&stacks[j], &stacks[k]) != 0;
            if (is_first && compare(&stacks[k], &stacks[i]) < 0)
                stacks[i].number++;
        }
    }
}

static void
write_stacks(struct cli_recfile *to)
{
    for (uint32_t number = 0; number < stacks_count; number++) {
        uint32_t i = 0;

        while (i < stacks_count && stacks[i].number != number)
            i++;
        if (i < stacks_count)
            cli_recfile_stack(to, stacks[i].frames, stacks[i].depth);
    }
}

static void
write_tables(struct cli_recfile *to)
{
    uint64_t numbers[MODULES];

    texts_count = 1;
    texts[0][0] = '\0';
    frames_count = 0;
    for (uint32_t i = 0; i < modules_count; i++)
        numbers[i] = text_number(modules[i].path);
    for (uint32_t i = 0; i < stacks_count; i++)
        for (uint32_t k = 0; k < stacks[i].depth; k++) {
            const uint64_t pc = stacks[i].pcs[k] != 0 ? stacks[i].pcs[k] : 1;

            stacks[i].frames[k] = frame_of(pc + (stacks[i].layers[k] << 48));
        }
    for (uint32_t i = 1; i < texts_count; i++)
        cli_recfile_string(to, texts[i]);
    for (uint32_t i = 0; i < modules_count; i++) {
        static const uint8_t id[] = {7, 7, 7, 7, 7, 7, 7, 7};

        cli_recfile_module(to, &(struct cli_recfile_module){
                                   .start = start_of(&modules[i]),
                                   .length_bytes = LENGTH,
                                   .offset = modules[i].offset,
                                   .path = numbers[i],
                                   .id = id,
                                   .id_bytes = (uint32_t)modules[i].id_bytes});
    }
    for (uint32_t i = 0; i < frames_count; i++)
        cli_recfile_frame(to, &frames[i]);
    number_stacks();
    write_stacks(to);
}

static uint32_t refused; /* requests for memory; 0: none */

/* Without memory there is no recording, or one of all frames. */
static void
expect_refused(uint32_t request)
{
    struct sim_recording *recording;
    struct cli_converted what;
    char error[200] = "";

    refused_memory_at = request;
    if (!spool_convert(&what, error, sizeof error)) {
        assert_string_equal(error,
                            "not enough memory to convert the recording");
        return;
    }
    refused_memory_at = 0;
    recording = spool_open_result();
    assert_int_equal(sim_recording_totals(recording)->frames, frames_count);
    for (uint32_t i = 0; i < frames_count; i++)
        assert_true(sim_recording_frame(recording, i).function[0] != '\0');
    sim_recording_close(recording);
}

/* The recording has two threads, and an allocation of each stack. */
static void
expect_recording(void)
{
    static const char *const arguments[] = {"run", "it"};
    const struct cli_recfile_about about = {.ticks_per_second = 1000000000,
                                            .start_ticks = START,
                                            .forked_ticks = 900,
                                            .process = 42,
                                            .parent = 41,
                                            .depth_max = 8,
                                            .arguments_count = 2,
                                            .arguments = arguments};
    const uint64_t dropped[CLI_RECFILE_CAUSES] = {9, 1, 2, 3, 4, 5, 6, 7};
    struct cli_recfile want;
    struct cli_converted what;
    static uint8_t bytes[1 << 16];
    char error[200];
    size_t count;
    FILE *file;

    spool_header()->parent = 41;
    spool_header()->forked_ticks = 900;
    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        atomic_store(&spool_header()->dropped[i], dropped[i]);
    cli_recfile_init(&want, 0);
    cli_recfile_about(&want, &about);
    write_tables(&want);
    cli_recfile_thread(&want, 77, "");
    cli_recfile_thread(&want, 78, "sixteen letters!");
    for (uint32_t i = 0; i < stacks_count; i++) {
        spool_append_alloc(i, 0xa000 + 16 * i, i, stacks[i].at);
        cli_recfile_alloc(&want, 0, i, i, stacks[i].number);
    }
    cli_recfile_end(&want, dropped);
    assert_false(want.failed);
    for (uint32_t request = 1; request < refused; request++)
        expect_refused(request);
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(what.events, stacks_count);
    assert_int_equal(what.process, 42);
    assert_memory_equal(what.dropped, dropped, sizeof dropped);
    assert_string_equal(what.command, "run it");
    file = fopen(spool_path_of("x.rec"), "rb");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(count, want.bytes_count);
    assert_memory_equal(bytes, want.bytes, count);
    cli_recfile_release(&want);
}

static void
log_threads(void)
{
    uint64_t name[2];

    spool_append(EMBED_THREAD, 0, 1, &(uint64_t){78}, 1);
    memcpy(name, "sixteen letters!", sizeof name);
    spool_append(EMBED_NAME, 0, 1, name, 2);
}

/* ---- tests ---- */

static uint64_t
drawn_pc(struct sim_rng *rng)
{
    static const uint64_t edges[] = {0, 1, 2, LENGTH - 1, LENGTH, LENGTH + 1};
    const uint64_t place = sim_rng_below(rng, modules_count + 2);

    if (sim_rng_below(rng, 12) == 0)
        return 0; /* which the recorder never logs */
    return 0x5000 + place * 2 * LENGTH + edges[sim_rng_below(rng, 6)];
}

void
spool_check_exact(void)
{
    struct sim_rng rng = {.state = sim_mix64(77)};

    for (int round = 0; round < 60; round++) {
        spool_begin();
        log_threads();
        modules_count = round % 11 == 0 ? 0 : sim_rng_below(&rng, 9);
        stacks_count = round < 2 ? 0 : sim_rng_below(&rng, STACKS);
        for (uint32_t i = 0; i < modules_count; i++) {
            modules[i] =
                (struct module){.start = 0x5000 + 2 * LENGTH * (uint64_t)i,
                                .offset = 0x40 * sim_rng_below(&rng, 9),
                                .id_bytes = sim_rng_below(&rng, 9),
                                .path = paths[sim_rng_below(&rng, PATHS)]};
            log_module(&modules[i]);
        }
        for (uint32_t i = 0; i < stacks_count; i++) {
            stacks[i] = (struct stack){.depth = sim_rng_below(&rng, DEPTH + 1)};
            for (uint32_t k = 0; k < stacks[i].depth; k++)
                stacks[i].pcs[k] =
                    k > 0 && sim_rng_below(&rng, 2) == 0
                        ? stacks[0].pcs[stacks[0].depth > 0 ? 0 : k]
                        : drawn_pc(&rng);
            log_stack(&stacks[i]);
        }
        refused = round == 10 || round == 11 ? 60 : 0;
        expect_recording();
    }
}

/* Modules that fill the list to its end. The last two came in place of others,
 * the lower one after the higher one. A stack is moved with the module that is
 * logged next. */
void
spool_check_layers(void)
{
    static const uint64_t places[] = {0x5000, 0x5000 + 2 * LENGTH,
                                      0x5000 + 2 * LENGTH, 0x5000};

    for (uint32_t total = 4; total <= MODULES; total += MODULES - 4) {
        spool_begin();
        log_threads();
        modules_count = total;
        stacks_count = 8;
        for (uint32_t i = 0; i < total; i++) {
            const uint32_t one = i < 2               ? i
                                 : i + 4 < total + 2 ? 4
                                                     : i + 4 - total;
            const bool is_late = i + 2 >= total;

            modules[i] = (struct module){
                .start =
                    one < 4 ? places[one] : 0x5000 + 2 * LENGTH * (uint64_t)i,
                .layer = is_late,
                .path = is_late ? "/no/b" : "/no/a"};
            if (i + 2 == total)
                spool_append(EMBED_UNLOAD, 0, 0, &(uint64_t){START}, 1);
            for (uint32_t k = 2 * one; k < 2 * one + 2 && one < 4; k++) {
                stacks[k] = (struct stack){
                    .pcs = {places[one] + (k % 2 == 0 ? 0x10 : LENGTH)},
                    .depth = 1,
                    .layers = {is_late}};
                log_stack(&stacks[k]);
            }
            log_module(&modules[i]);
        }
        expect_recording();
    }
}

/* ---- modules that come and go ---- */

static struct {
    uint64_t epoch;
    uint32_t module;
} sightings[LOGGED];
static uint32_t sightings_count;

static bool
is_at(const struct module *module, uint64_t pc)
{
    return pc > module->start && pc <= module->start + LENGTH;
}

/* A module is moved above those of other files that were in its place, and with
 * the other segments of its file. */
static void
place_modules(void)
{
    for (uint32_t i = 0; i < modules_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            struct module *const one = &modules[i];
            const struct module *const other = &modules[k];

            if (one->bias == other->bias && one->path == other->path &&
                one->id_bytes == other->id_bytes)
                one->layer =
                    other->layer > one->layer ? other->layer : one->layer;
            else if (one->start < other->start + LENGTH &&
                     other->start < one->start + LENGTH &&
                     other->layer >= one->layer)
                one->layer = other->layer + 1;
        }
}

/* Of the modules that were ever at a pc it is the one that was logged next,
 * else the last. */
static void
place_stack(struct stack *stack)
{
    for (uint32_t k = 0; k < stack->depth; k++) {
        uint32_t found = MODULES;
        uint32_t i = 0;

        for (uint32_t m = 0; m < modules_count; m++)
            found = is_at(&modules[m], stack->pcs[k]) ? m : found;
        while (i < sightings_count &&
               (sightings[i].epoch < stack->epoch ||
                !is_at(&modules[sightings[i].module], stack->pcs[k])))
            i++;
        if (i < sightings_count)
            found = sightings[i].module;
        stack->layers[k] = found < MODULES ? modules[found].layer : 0;
    }
}

static void
see_module(struct sim_rng *rng, uint64_t epoch)
{
    static const char other[] = "/no/c";
    const uint64_t start = 0x5000 + LENGTH / 2 * sim_rng_below(rng, 6);
    const struct module drawn = {
        .start = start,
        .offset = start - 0x5000,
        .bias = sim_rng_below(rng, 3) > 0 ? 0x5000 : 0x4000,
        .id_bytes = sim_rng_below(rng, 4) == 0,
        .path = sim_rng_below(rng, 2) == 0 ? paths[0] : other};
    uint32_t m = 0;

    log_module(&drawn);
    while (m < modules_count && memcmp(&modules[m], &drawn, sizeof drawn) != 0)
        m++;
    if (m == modules_count)
        modules[modules_count++] = drawn;
    sightings[sightings_count].epoch = epoch;
    sightings[sightings_count++].module = m;
}

void
spool_check_replaced(void)
{
    struct sim_rng rng = {.state = sim_mix64(5)};

    for (int round = 0; round < 250; round++) {
        uint64_t epoch = 0;

        spool_begin();
        log_threads();
        modules_count = stacks_count = sightings_count = 0;
        for (int i = 0; i < LOGGED; i++) {
            struct stack *const stack = &stacks[stacks_count];
            const uint32_t drawn = sim_rng_below(&rng, 6);

            if (drawn < 2) {
                see_module(&rng, epoch);
            } else if (drawn == 2) {
                spool_append(EMBED_UNLOAD, 0, 0, &(uint64_t){START}, 1);
                epoch++;
            } else if (stacks_count < STACKS) {
                stacks_count++;
                *stack = (struct stack){.depth = 2, .epoch = epoch};
                for (uint32_t k = 0; k < 2; k++)
                    stack->pcs[k] = 0x5000 +
                                    LENGTH / 2 * sim_rng_below(&rng, 8) +
                                    sim_rng_below(&rng, 2);
                log_stack(stack);
            }
        }
        place_modules();
        for (uint32_t i = 0; i < stacks_count; i++)
            place_stack(&stacks[i]);
        expect_recording();
    }
}
