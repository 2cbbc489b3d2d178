/*
 * test_registry.c -- profiles by name (P3): the built-in ones, those that can
 * be added, and wrong use, which returns an error and changes nothing.
 */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/test/aligned_block.h"
#include "prof/test/pprof/pprof_case.h"
#include "prof/registry.h"
#include "common/test/unit_test.h"

enum { OWN = 4, ENTRIES = 100 };

#define REGISTRY_TEST(name) TEST_WITH(a_registry, no_registry, name)

static struct case_run run;
static struct prof_registry *registry;
static void *block;
static struct prof *prof;
static void *prof_block;

static const uintptr_t work[] = {CASE_WORK, CASE_MAIN};
static const uintptr_t serve[] = {CASE_SERVE, CASE_MAIN};

/* ---- fixtures ---- */

static struct prof_label task_labels[] = {{"who", "me"}};
static size_t tasks_count = 3;
static size_t tasks_growth; /* how many tasks are added at each listing */
static enum prof_status tasks_status;

static enum prof_status
list_tasks(void *context, struct prof_count_record *records, size_t records_max,
           size_t *count)
{
    const bool labelled = context != NULL;

    tasks_count += tasks_growth;
    *count = tasks_count;
    if (*count > records_max)
        return PROF_ERR_SHORT;
    for (size_t i = 0; i < *count; i++)
        records[i] = (struct prof_count_record){
            .stack = work,
            .depth = labelled ? 2 : 0,
            .labels = labelled && i == 0 ? task_labels : NULL,
            .labels_count = labelled && i == 0};
    return tasks_status;
}

static size_t
print_tasks(void *context, char *buffer, size_t room)
{
    (void)context;
    return (size_t)snprintf(buffer, room, "task 1 [running]:\n");
}

static void
count_heap(void *context, struct prof_heap_counters *counters)
{
    (void)context;
    assert_int_equal(counters->lookups, 0); /* all counters are 0 */
    assert_int_equal(counters->gcs, 0);
    counters->gcs = 5;
}

static int
a_registry(void **state)
{
    const struct prof_config prof_config = {.buckets_max = 64};
    struct prof_registry_config config = {
        .profiles_max = OWN, .entries_max = ENTRIES, .lost = CASE_LOST};
    size_t bytes = prof_bytes_needed(&prof_config);

    (void)state;
    prof_block = props_block(bytes, 0);
    assert_int_equal(prof_init(&prof, &prof_config, prof_block, bytes),
                     PROF_OK);
    prof_heap_rate_set(prof, 1);
    prof_heap_alloc(prof_proc_at(prof, 0), work, 2, 16);
    prof_heap_alloc(prof_proc_at(prof, 0), serve, 2, 32);
    prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, work, 2, 10);
    tasks_count = 3;
    tasks_growth = 0;
    tasks_status = PROF_OK;
    config.sources = (struct prof_sources){
        .prof = prof,
        .goroutines = {.list = list_tasks, .context = task_labels},
        .threads = {.list = list_tasks},
        .dump = {.print = print_tasks},
        .count_heap = count_heap,
    };
    bytes = prof_registry_bytes_needed(&config);
    block = props_block(bytes, 0);
    assert_int_equal(prof_registry_init(&registry, &config, block, bytes),
                     PROF_OK);
    return 0;
}

static int
no_registry(void **state)
{
    (void)state;
    free(block);
    free(prof_block);
    return 0;
}

static struct prof_profile *
own(const char *name)
{
    struct prof_profile *profile = NULL;

    assert_int_equal(prof_registry_new(registry, name, &profile), PROF_OK);
    return profile;
}

static size_t
count_of(struct prof_profile *profile)
{
    size_t count = SIZE_MAX;

    assert_int_equal(prof_profile_count(profile, &count), PROF_OK);
    return count;
}

static const char *
text_of(struct prof_profile *profile, int debug)
{
    case_begin(&run);
    return case_text(&run, prof_profile_write(profile, &run.output, debug));
}

/* ---- names ---- */

static const char *const built_in[] = {"allocs", "block", "goroutine",
                                       "heap",   "mutex", "threadcreate"};

REGISTRY_TEST(profiles_are_listed_by_the_bytes_of_their_names)
{
    static const char *const want[] = {
        "Open", "a b",   "allocs", "block",        "goroutine",
        "heap", "heap2", "mutex",  "threadcreate", "\xc3\xa4"};
    struct prof_profile *got[10];
    size_t count = 0;

    assert_null(prof_registry_find(registry, "heap2"));
    assert_null(prof_registry_find(registry, "hea"));
    assert_null(prof_registry_find(registry, ""));
    own("heap2");
    own("\xc3\xa4");
    own("a b");
    own("Open");
    for (size_t room = 9; room <= 10; room++) {
        assert_int_equal(prof_registry_list(registry, got, room, &count),
                         room < 10 ? PROF_ERR_SHORT : PROF_OK);
        assert_int_equal(count, 10);
    }
    for (size_t i = 0; i < 10; i++)
        assert_string_equal(prof_profile_name(got[i]), want[i]);
}

REGISTRY_TEST(a_wrong_name_is_refused_and_nothing_changes)
{
    char name[PROF_NAME_MAX + 2];
    struct prof_profile *profile = NULL;

    own("mine");
    memset(name, 'x', sizeof name);
    name[PROF_NAME_MAX + 1] = '\0';
    assert_int_equal(prof_registry_new(registry, "", &profile), PROF_ERR_NAME);
    assert_int_equal(prof_registry_new(registry, NULL, &profile),
                     PROF_ERR_NAME);
    assert_int_equal(prof_registry_new(registry, name, &profile),
                     PROF_ERR_NAME);
    assert_int_equal(prof_registry_new(registry, "mine", &profile),
                     PROF_ERR_NAME_TAKEN);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(prof_registry_new(registry, built_in[i], &profile),
                         PROF_ERR_NAME_TAKEN);
    assert_null(profile);
    name[PROF_NAME_MAX] = '\0';
    assert_string_equal(prof_profile_name(own(name)), name);
    own("3");
    own("4");
    assert_int_equal(prof_registry_new(registry, "5", &profile),
                     PROF_ERR_MEMORY);
    /* A name that is there is no question of room. */
    assert_int_equal(prof_registry_new(registry, "4", &profile),
                     PROF_ERR_NAME_TAKEN);
    assert_null(profile);
}

/* ---- entries ---- */

static enum prof_status
add(struct prof_profile *profile, const void *key, size_t key_bytes)
{
    return prof_profile_add(profile, key, key_bytes, work, 2);
}

REGISTRY_TEST(built_in_profiles_have_their_records_and_take_no_entries)
{
    static const size_t want[] = {2, 1, 3, 2, 0, 3};

    for (size_t i = 0; i < 6; i++) {
        struct prof_profile *profile =
            prof_registry_find(registry, built_in[i]);

        assert_int_equal(prof_profile_add(profile, "k", 1, work, 2),
                         PROF_ERR_BUILT_IN);
        assert_int_equal(prof_profile_remove(profile, "k", 1),
                         PROF_ERR_BUILT_IN);
        assert_int_equal(count_of(profile), want[i]);
    }
}

/* Add and remove entries at random; a plain array says which are open. Each key
 * of one byte is the beginning of a key of two. */
REGISTRY_TEST(entries_come_and_go_as_a_simple_list_says)
{
    struct prof_profile *profiles[2] = {own("a"), own("b")};
    bool open[2][256] = {{false}};
    size_t count[2] = {0, 0};
    uint64_t seed = 3;

    for (int round = 0; round < 20000; round++) {
        enum prof_status want = PROF_OK;
        uint8_t key[2] = {0, 7};
        unsigned which;
        bool *is_open;
        bool adds;

        seed = seed * 6364136223846793005U + 1442695040888963407U;
        which = (unsigned)(seed >> 60 & 1);
        adds = (seed >> 50 & 1) != 0;
        is_open = &open[which][seed >> 33 & 0xff];
        key[0] = (uint8_t)(seed >> 33) >> 1;
        if (adds && *is_open)
            want = PROF_ERR_KEY_TAKEN;
        else if (adds && count[0] + count[1] == ENTRIES)
            want = PROF_ERR_MEMORY;
        assert_int_equal((adds ? add : prof_profile_remove)(
                             profiles[which], key, 1 + (seed >> 33 & 1)),
                         want);
        if (want == PROF_OK) {
            count[which] += adds - *is_open;
            *is_open = adds;
        }
        assert_int_equal(count_of(profiles[which]), count[which]);
    }
}

/* ---- built-in content ---- */

REGISTRY_TEST(debug_chooses_the_form)
{
    static const struct {
        const char *name;
        int debug;
        const char *begins; /* "": profile.proto */
    } rows[] = {
        {"heap", 0, ""},
        {"heap", 1, "heap profile: 2: 48 [2: 49] @ heap/2\n"},
        {"heap", 2, "heap profile: "},
        {"heap", -1, "heap profile: "},
        {"allocs", -1, "heap profile: "},
        {"allocs", 0, ""},
        {"block", 0, ""},
        {"block", -1, ""},
        {"block", 1, "--- contention:\ncycles/second=1000000000\n10 1 @ "},
        {"mutex", 1, "--- mutex:\ncycles/second=1000000000\nsampling period=1"},
        {"goroutine", 0, ""},
        {"goroutine", -1, ""},
        {"goroutine", 1, "goroutine profile: total 3\n2 @ 0x2040 0x2240\n"},
        {"goroutine", 2, "task 1 [running]:\n"},
        {"goroutine", 3, "task 1 [running]:\n"},
        {"threadcreate", 0, ""},
        {"threadcreate", 1, "threadcreate profile: total 3\n3 @ 0x4001\n"},
        {"threadcreate", 2, "threadcreate profile: total 3\n3 @ 0x4001\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct prof_profile *profile =
            prof_registry_find(registry, rows[i].name);
        const char *text = text_of(profile, rows[i].debug);
        const bool is_proto =
            model_pprof_read(&run.profile, run.bytes, run.memory.bytes_count);

        case_end(&run);
        if (is_proto != (rows[i].begins[0] == '\0') ||
            strncmp(text, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("%s, debug %d: %.40s", rows[i].name, rows[i].debug, text);
    }
}

REGISTRY_TEST(a_list_that_grows_is_read_again_and_one_that_fails_is_reported)
{
    struct prof_profile *tasks = prof_registry_find(registry, "goroutine");
    size_t count = 1;

    tasks_growth = 30; /* fits into the spare room */
    assert_non_null(strstr(text_of(tasks, 1), "goroutine profile: total"));
    tasks_growth = 60; /* never fits: the call must still return */
    case_begin(&run);
    /* The scratch has to hold the records of the last try, not those of all
     * tries. */
    run.output.scratch_bytes = 2000 * sizeof(struct prof_count_record);
    assert_int_equal(prof_profile_write(tasks, &run.output, 1), PROF_ERR_BUSY);
    tasks_growth = 0;
    tasks_count = 0;
    tasks_status = PROF_ERR_UNSUPPORTED;
    assert_int_equal(prof_profile_count(tasks, &count), PROF_ERR_UNSUPPORTED);
    assert_int_equal(prof_profile_write(tasks, &run.output, 0),
                     PROF_ERR_UNSUPPORTED);
}

/* ---- init ---- */

/* Make a registry in memory that held anything. */
static struct prof_registry *
made_of(const struct prof_registry_config *config)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char memory[1 << 16];
    const size_t bytes = prof_registry_bytes_needed(config);
    struct prof_registry *made = NULL;

    assert_in_range(bytes, 1, sizeof memory - 64);
    memset(memory, 0xa5, sizeof memory);
    assert_int_equal(prof_registry_init(&made, config, memory, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_registry_init(&made, config, memory + 8, bytes),
                     PROF_ERR_MEMORY);
    assert_null(made);
    assert_int_equal(memory[0], 0xa5);
    assert_int_equal(prof_registry_init(&made, config, memory, bytes), PROF_OK);
    return made;
}

/* Write a profile and read it. returns: a value of its first sample */
static int64_t
value_of(struct prof_registry *of, const char *name, size_t number,
         const struct prof_rules *rules)
{
    int64_t value;

    case_begin(&run);
    run.output.rules = rules;
    case_read(&run,
              prof_profile_write(prof_registry_find(of, name), &run.output, 0));
    assert_int_not_equal(run.profile.samples_count, 0);
    value = run.profile.samples[0].values[number];
    case_end(&run);
    return value;
}

TEST(a_registry_without_sources_has_empty_profiles)
{
    static const struct prof_registry_config wrong[] = {
        {.profiles_max = UINT32_MAX},
        {.entries_max = UINT32_MAX},
        {.depth_max = PROF_DEPTH_LIMIT + 1},
    };
    const struct prof_registry_config config = {.entries_max = 10};
    struct prof_registry *made = made_of(&config);

    for (size_t i = 0; i < 6; i++) {
        struct prof_profile *profile = prof_registry_find(made, built_in[i]);

        assert_int_equal(count_of(profile), 0);
        case_begin(&run);
        case_read(&run, prof_profile_write(profile, &run.output, 0));
        assert_int_equal(run.profile.samples_count, 0);
        assert_int_equal(run.profile.period, i == 0 || i == 3 ? 0 : 1);
        case_end(&run);
    }
    assert_string_equal(text_of(prof_registry_find(made, "heap"), 1),
                        "heap profile: 0: 0 [0: 1] @ heap/0\n");
    assert_string_equal(text_of(prof_registry_find(made, "goroutine"), 2),
                        "goroutine profile: total 0\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(prof_registry_bytes_needed(&wrong[i]), 0);
        assert_int_equal(prof_registry_init(&made, &wrong[i], block, 1 << 16),
                         PROF_ERR_CONFIG);
    }
}

/* Contention is measured in the clock's ticks: at twice the frequency, half the
 * time is shown. Go before 1.20 scales mutex events by the fraction when they
 * are written, and block events never. */
REGISTRY_TEST(contention_is_shown_by_the_clock_and_the_rules_of_its_source)
{
    const struct prof_config config = {.buckets_max = 8,
                                       .rules = &prof_rules_go1_17};
    struct prof_registry_config of = {.sources.ticks_per_second = 2000000000};
    struct prof_registry *made;

    memset(prof_block, 0, prof_bytes_needed(&config));
    assert_int_equal(prof_init(&of.sources.prof, &config, prof_block,
                               prof_bytes_needed(&config)),
                     PROF_OK);
    for (int kind = PROF_BLOCK; kind <= PROF_MUTEX; kind++)
        prof_contention_event(prof_proc_at(of.sources.prof, 0),
                              (enum prof_contention)kind, work, 2, 10);
    (void)prof_mutex_fraction_set(of.sources.prof, 5);
    made = made_of(&of);
    assert_int_equal(value_of(made, "block", 0, NULL), 1);
    assert_int_equal(value_of(made, "block", 1, NULL), 10 / 2);
    assert_int_equal(value_of(made, "mutex", 0, NULL), 5);
}

/* What an output leaves unset is taken from the registry. A sample of 56 bytes
 * at a rate of 512 counts as 9.65 objects. */
REGISTRY_TEST(what_an_output_says_goes_before_what_the_registry_says)
{
    struct prof_registry_config config = {
        .sources = {.prof = prof, .rules = &prof_rules_go1_5}};
    struct prof_profile *const files = own("files");
    struct prof_registry *made;

    assert_int_equal(prof_profile_add(files, "a", 1, NULL, 0), PROF_OK);
    for (int i = 0; i < 2; i++) {
        case_begin(&run);
        run.output.lost = i == 0 ? 0 : CASE_WORK;
        assert_non_null(
            strstr(case_text(&run, prof_profile_write(files, &run.output, 1)),
                   i == 0 ? "1 @ 0x4001\n" : "1 @ 0x2040\n"));
    }
    prof_heap_rate_set(prof, 512);
    while (!prof_heap_sample(prof_proc_at(prof, 0), 56))
        continue;
    prof_heap_alloc(prof_proc_at(prof, 0), serve, 1, 56);
    made = made_of(&config);
    assert_int_equal(value_of(made, "heap", 0, NULL), 9); /* Go cuts it off */
    assert_int_equal(value_of(made, "heap", 0, &prof_rules_exact), 10);
}
