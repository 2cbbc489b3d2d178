/*
 * test_scenario_trip.c -- scenarios survive a round trip through text: those of
 * fixtures/ with their results, truncated and mutated ones, and ones built by
 * code.
 *
 * usage: test_scenario_trip [full] FILE.sim...
 *        full: every truncation and mutation; without it one in 8
 */
#include "scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "rng.h"
#include "unit_test.h"

enum {
    FILES_MAX = 256,
    FILE_BYTES_MAX = 16384,
    LIST_MAX = 8192,
    MUTATIONS = 200000,
    BUILDS = 500,
};

struct text {
    char *bytes;
    size_t count;
};

static const char *paths[FILES_MAX];
static struct text files[FILES_MAX];
static uint32_t files_count;
static uint32_t every = 8; /* tries one in `every` */

/* ---- helpers ---- */

static struct text
printed(const struct sim_scenario *s)
{
    struct text text = {NULL, 0};
    FILE *file = open_memstream(&text.bytes, &text.count);

    assert_non_null(file);
    assert_true(sim_scenario_print(file, s));
    assert_int_equal(fclose(file), 0);
    return text;
}

static struct sim_scenario *
read_again(const struct text *text)
{
    struct sim_error error = {{0}};
    struct sim_scenario *s =
        sim_scenario_parse(text->bytes, text->count, "again", &error);

    if (s == NULL)
        fail_msg("%s\n%.*s", error.text, (int)text->count, text->bytes);
    return s;
}

static void
assert_same_stacks(const struct sim_scenario *a, const struct sim_scenario *b)
{
    assert_int_equal(a->config.stacks_count, b->config.stacks_count);
    for (uint32_t i = 0; i < a->config.stacks_count; i++) {
        const struct truth_stack *left = &a->config.stacks[i];
        const struct truth_stack *right = &b->config.stacks[i];

        assert_string_equal(a->stack_names[i], b->stack_names[i]);
        assert_int_equal(left->depth, right->depth);
        for (uint32_t j = 0; j < left->depth; j++) {
            const char *name = sim_scenario_frame_name(a, left->frames[j]);
            const char *other = sim_scenario_frame_name(b, right->frames[j]);

            assert_true(left->frames[j] == right->frames[j]);
            assert_int_equal(name == NULL, other == NULL);
            if (name != NULL)
                assert_string_equal(name, other);
        }
    }
}

static void
assert_same_config(const struct sim_config *a, const struct sim_config *b)
{
    assert_ptr_equal(a->rules, b->rules);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->buckets_max, b->buckets_max);
    assert_int_equal(a->depth_max, b->depth_max);
    assert_int_equal(a->frames_max, b->frames_max);
    assert_int_equal(a->cycle_first, b->cycle_first);
    assert_int_equal(a->procs, b->procs);
    for (uint32_t i = 0; i < SIM_PROCS_MAX; i++) {
        assert_int_equal(a->clocks[i].offset_ticks, b->clocks[i].offset_ticks);
        assert_int_equal(a->clocks[i].drift_ppm, b->clocks[i].drift_ppm);
    }
}

static void
assert_same_event(const struct sim_event *a, const struct sim_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->task, b->task);
    assert_true(a->delay_ticks == b->delay_ticks);
    assert_int_equal(a->object, b->object);
    assert_int_equal(a->stack, b->stack);
    assert_true(a->size_bytes == b->size_bytes);
    assert_true(a->cycles == b->cycles);
    assert_int_equal(a->room, b->room);
}

static void
assert_same_expects(const struct sim_scenario *a, const struct sim_scenario *b)
{
    assert_int_equal(a->expects_count, b->expects_count);
    for (uint32_t i = 0; i < a->expects_count; i++) {
        const struct sim_expect *left = &a->expects[i];
        const struct sim_expect *right = &b->expects[i];

        assert_int_equal(left->kind, right->kind);
        assert_int_equal(left->event, right->event);
        assert_int_equal(left->stack, right->stack);
        assert_true(left->size_bytes == right->size_bytes);
        assert_true(left->first == right->first);
        assert_true(left->second == right->second);
    }
    assert_int_equal(a->listed_count, b->listed_count);
    for (uint32_t i = 0; i < a->listed_count; i++) {
        assert_int_equal(a->listed[i].stack, b->listed[i].stack);
        assert_true(a->listed[i].size_bytes == b->listed[i].size_bytes);
    }
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->property, b->property);
}

static void
assert_same(const struct sim_scenario *a, const struct sim_scenario *b)
{
    assert_string_equal(a->header, b->header);
    assert_same_config(&a->config, &b->config);
    assert_same_stacks(a, b);
    assert_int_equal(a->objects_count, b->objects_count);
    for (uint32_t i = 0; i < a->objects_count; i++)
        assert_string_equal(a->object_names[i], b->object_names[i]);
    assert_int_equal(a->events_count, b->events_count);
    for (uint32_t i = 0; i < a->events_count; i++)
        assert_same_event(&a->events[i], &b->events[i]);
    assert_same_expects(a, b);
}

/* Print, read and compare the scenario; print it again and compare the text. */
static void
assert_survives_text(const struct sim_scenario *s)
{
    struct text once = printed(s);
    struct sim_scenario *again = read_again(&once);
    struct text twice = printed(again);

    assert_same(s, again);
    assert_int_equal(once.count, twice.count);
    assert_memory_equal(once.bytes, twice.bytes, once.count);
    sim_scenario_free(again);
    free(once.bytes);
    free(twice.bytes);
}

/* ---- fixtures ---- */

TEST(every_fixture_says_what_it_pins_and_what_comes_of_it)
{
    assert_in_range(files_count, 12, FILES_MAX);
    for (uint32_t i = 0; i < files_count; i++) {
        struct sim_scenario *s = read_again(&files[i]);

        if (strncmp(s->header, "pins: ", 6) != 0)
            fail_msg("%s does not say what it pins", paths[i]);
        if (s->outcome == SIM_OUTCOME_UNSAID)
            fail_msg("%s has no outcome", paths[i]);
        sim_scenario_free(s);
    }
}

TEST(every_fixture_survives_text)
{
    for (uint32_t i = 0; i < files_count; i++) {
        struct sim_scenario *s = read_again(&files[i]);

        assert_survives_text(s);
        sim_scenario_free(s);
    }
}

TEST(every_fixture_gets_the_answers_it_expects)
{
    for (uint32_t i = 0; i < files_count; i++) {
        struct sim_error error = {{0}};
        struct sim_scenario *s = sim_scenario_read(paths[i], &error);
        const struct sim_limits limits = {
            .events_max = FILE_BYTES_MAX,
            .objects_max = FILE_BYTES_MAX,
            .buckets_max = SIM_SCENARIO_BUCKETS_DEFAULT,
            .instruments = SIM_ALL_INSTRUMENTS,
        };
        struct sim_world *world = sim_world_new(&limits);

        assert_non_null(s);
        assert_non_null(world);
        assert_null(sim_world_reset(world, &s->config));
        for (uint32_t j = 0; j < s->events_count; j++) {
            const char *why = sim_world_apply(world, &s->events[j]);

            if (why != NULL)
                fail_msg("%s:%" PRIu32 ": %s", paths[i], s->event_lines[j],
                         why);
            if (!sim_scenario_check_answer(s, j, sim_world_answer(world),
                                           &error))
                fail_msg("%s", error.text);
        }
        sim_world_delete(world);
        sim_scenario_free(s);
    }
}

/* ---- foreign bytes ---- */

/* Any bytes are either a scenario that survives the round trip, or refused with
 * one line of reason. */
static bool
assert_answered(const char *bytes, size_t count)
{
    struct sim_error error = {{0}};
    struct sim_scenario *s = sim_scenario_parse(bytes, count, "m", &error);

    if (s == NULL) {
        assert_int_equal(strncmp(error.text, "m:", 2), 0);
        assert_null(strchr(error.text, '\n'));
        return false;
    }
    assert_survives_text(s);
    sim_scenario_free(s);
    return true;
}

TEST(a_file_cut_anywhere_is_answered)
{
    for (uint32_t i = 0; i < files_count; i++) {
        for (size_t count = i % every; count < files[i].count; count += every) {
            /* The copy has its exact size, so that a read beyond its end is
             * noticed. */
            char *cut = malloc(count + (count == 0));

            assert_non_null(cut);
            memcpy(cut, files[i].bytes, count);
            (void)assert_answered(cut, count);
            free(cut);
        }
    }
}

/* Change, insert, delete or copy a few bytes. */
static size_t
mutate(struct sim_rng *rng, char *bytes, size_t count)
{
    static const char likely[] = "0123456789 \n>@:#=-+xtr/\r\t";
    const uint32_t size = (uint32_t)count;
    const uint32_t at = sim_rng_below(rng, size);
    const uint32_t from = sim_rng_below(rng, size);
    uint32_t run = 1 + sim_rng_below(rng, 24);
    const uint32_t room = size - (at > from ? at : from);

    run = run < room ? run : room;
    switch (sim_rng_below(rng, 5)) {
    case 0:
        bytes[at] = (char)sim_rng_below(rng, 256);
        return count;
    case 1:
        bytes[at] = likely[sim_rng_below(rng, sizeof likely - 1)];
        return count;
    case 2:
        memmove(bytes + at, bytes + from, run);
        return count;
    case 3:
        memmove(bytes + at + 1, bytes + at, count - at);
        bytes[at] = likely[sim_rng_below(rng, sizeof likely - 1)];
        return count + 1;
    default:
        run = count > run ? run : 0;
        memmove(bytes + at, bytes + at + run, count - at - run);
        return count - run;
    }
}

TEST(a_mutated_file_is_answered)
{
    enum { STEPS_MAX = 4 };
    const uint32_t mutations = MUTATIONS / every;
    struct sim_rng rng = {20};
    uint32_t accepted = 0;

    for (uint32_t i = 0; i < mutations; i++) {
        const struct text *file = &files[sim_rng_below(&rng, files_count)];
        const uint32_t steps = 1 + sim_rng_below(&rng, STEPS_MAX);
        char *bytes = malloc(file->count + STEPS_MAX);
        size_t count = file->count;

        assert_non_null(bytes);
        memcpy(bytes, file->bytes, count);
        for (uint32_t step = 0; step < steps; step++)
            count = mutate(&rng, bytes, count);
        accepted += assert_answered(bytes, count);
        free(bytes);
    }
    /* Many must be accepted and many refused, or the test would not test
     * both. */
    assert_in_range(accepted, mutations / 20, mutations - mutations / 20);
}

/* ---- built ---- */

static const char *
name_some(void *context, uintptr_t frame)
{
    static const char *const names[] = {
        NULL, "main", "std::vector<int> f#", "9lives", "a@0x5", "-"};

    (void)context;
    return names[frame / 16 % 6];
}

static uint32_t
generate_events(struct sim_generator *generator, struct sim_world *world,
                struct sim_event *events)
{
    uint32_t count = 0;

    assert_null(sim_world_reset(world, &generator->config));
    while (count < SIM_EVENTS_MAX &&
           sim_generator_next(generator, world, &events[count])) {
        assert_null(sim_world_apply(world, &events[count]));
        count++;
    }
    return count;
}

/* The two runs give the same truth. Object numbers may differ if a gap was
 * closed. */
static void
assert_same_run(struct sim_world *world, const struct sim_scenario *s)
{
    const uint32_t entries = sim_world_truth(world)->entries_count;

    assert_null(sim_world_reset(world, &s->config));
    for (uint32_t i = 0; i < s->events_count; i++)
        assert_null(sim_world_apply(world, &s->events[i]));
    assert_int_equal(sim_world_truth(world)->entries_count, entries);
}

TEST(what_a_generator_made_survives_text_and_runs_again)
{
    static struct sim_choice list[LIST_MAX];
    static struct sim_event events[SIM_EVENTS_MAX];
    static struct sim_generator generator;
    struct sim_world *world = sim_world_new(&sim_generator_limits);
    struct sim_choices choices;

    assert_non_null(world);
    sim_choices_init(&choices, list, LIST_MAX);
    for (uint64_t seed = 0; seed < BUILDS; seed++) {
        struct sim_error error = {{0}};
        struct sim_scenario_source source = {
            .config = &generator.config,
            .events = events,
            .header = "found by seed\n\n  7 \n",
            .outcome = SIM_OUTCOME_BROKEN,
            .property = "H2",
            .frame_name = seed % 2 == 0 ? name_some : NULL,
        };
        struct sim_scenario *s;

        sim_choices_random(&choices, seed);
        sim_generator_begin(&generator, &choices, &prof_rules_exact,
                            SIM_WORLDS_HEAPS);
        source.events_count = generate_events(&generator, world, events);
        s = sim_scenario_build(&source, &error);
        if (s == NULL)
            fail_msg("seed %" PRIu64 ": %s", seed, error.text);
        assert_int_equal(s->events_count, source.events_count);
        assert_survives_text(s);
        assert_same_run(world, s);
        sim_scenario_free(s);
    }
    sim_world_delete(world);
}

TEST(what_is_built_closes_up_and_is_named)
{
    const uintptr_t frames[] = {0x30, 0x20, 0x10};
    const struct truth_stack stacks[] = {
        {frames, 1}, {frames, 2}, {NULL, 0}, {frames, 3}};
    const struct sim_config config = {
        .buckets_max = 9, .stacks = stacks, .stacks_count = 4};
    const struct sim_event events[] = {
        {.kind = SIM_EV_ALLOC, .object = 7, .stack = 3, .size_bytes = 8},
        {.kind = SIM_EV_MUTEX, .object = 9, .stack = 1, .cycles = -1},
        {.kind = SIM_EV_ALLOC, .object = 2, .stack = 3, .task = 5},
        {.kind = SIM_EV_DROP, .object = 2, .delay_ticks = 4},
        {.kind = SIM_EV_SNAPSHOT, .room = SIM_ROOM_ENOUGH},
    };
    struct sim_scenario_source source = {
        .config = &config, .events = events, .events_count = 5};
    struct sim_error error = {{0}};
    struct sim_scenario *s = sim_scenario_build(&source, &error);
    struct text text;

    assert_non_null(s);
    text = printed(s);
    assert_string_equal(text.bytes,
                        "profsim scenario 2\n\nbuckets 9\n"
                        "stack s1 = 0x10>0x20>0x30\nstack s2 = 0x20>0x30\n\n"
                        "alloc o1 s1 8\nmutex s2 -1\nt5: alloc o2 s1 0\n"
                        "@+4 drop o2\nsnapshot\n");
    free(text.bytes);
    sim_scenario_free(s);
    source.events++;
    source.events_count = 3;
    s = sim_scenario_build(&source, &error);
    assert_non_null(s);
    sim_scenario_free(s);
    source.events++;
    source.events++;
    source.events_count = 1;
    assert_null(sim_scenario_build(&source, &error));
    assert_string_equal(error.text, "built:0: object 2 was never allocated");
}

static void
load(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct text *text = &files[files_count];

    if (file == NULL || files_count == FILES_MAX)
        exit(1);
    text->bytes = malloc(FILE_BYTES_MAX);
    if (text->bytes == NULL)
        exit(1);
    text->count = fread(text->bytes, 1, FILE_BYTES_MAX, file);
    (void)fclose(file);
    if (text->count == 0 || text->count == FILE_BYTES_MAX)
        exit(1);
    paths[files_count++] = path;
}

/* Sort by bytes: the shell that lists the files sorts by its locale. */
static int
path_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int
main(int argc, char **argv)
{
    const bool full = argc > 1 && strcmp(argv[1], "full") == 0;
    char **names = argv + 1 + full;
    const int count = argc - 1 - full;
    int failed;

    every = full ? 1 : every;
    qsort(names, (size_t)count, sizeof *names, path_order);
    for (int i = 0; i < count; i++)
        load(names[i]);
    failed = tests_run(NULL, NULL);
    while (files_count > 0)
        free(files[--files_count].bytes);
    return failed;
}
