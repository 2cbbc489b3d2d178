/*
 * test_registry.c -- profiles by name (P3): the built-in ones, those that can
 * be added, and wrong use, which returns an error and changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "pprof_case.h"
#include "prof/registry.h"
#include "unit_test.h"

enum { OWN = 4, ENTRIES = 100 };

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
    return PROF_OK;
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

static void *
zeroed(size_t bytes)
{
    return props_block(bytes, 0);
}

static int
a_registry(void **state)
{
    const struct prof_config prof_config = {.buckets_max = 64};
    struct prof_registry_config config = {
        .profiles_max = OWN, .entries_max = ENTRIES, .lost = CASE_LOST};
    size_t bytes = prof_bytes_needed(&prof_config);

    (void)state;
    prof_block = zeroed(bytes);
    assert_int_equal(prof_init(&prof, &prof_config, prof_block, bytes),
                     PROF_OK);
    prof_heap_rate_set(prof, 1);
    prof_heap_alloc(prof_proc_at(prof, 0), work, 2, 16);
    prof_heap_alloc(prof_proc_at(prof, 0), serve, 2, 32);
    prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, work, 2, 10);
    tasks_count = 3;
    tasks_growth = 0;
    config.sources = (struct prof_sources){
        .prof = prof,
        .goroutines = {.list = list_tasks, .context = task_labels},
        .threads = {.list = list_tasks},
        .dump = {.print = print_tasks},
        .count_heap = count_heap,
    };
    bytes = prof_registry_bytes_needed(&config);
    block = zeroed(bytes);
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

static void
assert_names(const char *const *want, size_t want_count)
{
    struct prof_profile *got[16];
    size_t count;

    assert_int_equal(prof_registry_list(registry, got, 16, &count), PROF_OK);
    assert_int_equal(count, want_count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(prof_profile_name(got[i]), want[i]);
}

TEST_WITH(a_registry, no_registry, six_profiles_are_built_in)
{
    assert_names(built_in, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(
            prof_profile_name(prof_registry_find(registry, built_in[i])),
            built_in[i]);
    assert_null(prof_registry_find(registry, "heaps"));
    assert_null(prof_registry_find(registry, "hea"));
    assert_null(prof_registry_find(registry, ""));
}

TEST_WITH(a_registry, no_registry,
          profiles_are_listed_by_the_bytes_of_their_names)
{
    static const char *const want[] = {
        "Open", "a b",   "allocs", "block",        "goroutine",
        "heap", "heap2", "mutex",  "threadcreate", "\xc3\xa4"};
    struct prof_profile *none[9];
    size_t count = 0;

    own("heap2");
    own("\xc3\xa4");
    own("a b");
    own("Open");
    assert_names(want, 10);
    assert_int_equal(prof_registry_list(registry, none, 9, &count),
                     PROF_ERR_SHORT);
    assert_int_equal(count, 10);
}

TEST_WITH(a_registry, no_registry, a_wrong_name_is_refused_and_nothing_changes)
{
    char name[PROF_NAME_MAX + 2];
    struct prof_profile *profile = NULL;
    static const char *const want[] = {"allocs", "block", "goroutine",   "heap",
                                       "mine",   "mutex", "threadcreate"};

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
    assert_names(want, 7);
    name[PROF_NAME_MAX] = '\0';
    assert_string_equal(prof_profile_name(own(name)), name);
}

TEST_WITH(a_registry, no_registry, room_for_profiles_runs_out_with_an_answer)
{
    struct prof_profile *profile = NULL;

    own("1");
    own("2");
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

TEST_WITH(a_registry, no_registry, entries_are_counted_by_stack)
{
    struct prof_profile *files = own("files");

    for (int key = 0; key < 5; key++)
        assert_int_equal(prof_profile_add(files, &key, sizeof key,
                                          key < 3 ? work : serve, 2),
                         PROF_OK);
    assert_int_equal(count_of(files), 5);
    assert_string_equal(text_of(files, 1),
                        "files profile: total 5\n"
                        "3 @ 0x2040 0x2240\n"
                        "#\t0x203f\tmain.work+0x3f\twork.go:12\n"
                        "#\t0x223f\tmain.main+0x3f\tmain.go:3\n\n"
                        "2 @ 0x2140 0x2240\n"
                        "#\t0x213f\tmain.serve+0x3f\tserve.go:7\n"
                        "#\t0x223f\tmain.main+0x3f\tmain.go:3\n\n");
    for (int key = 0; key < 3; key++)
        assert_int_equal(prof_profile_remove(files, &key, sizeof key), PROF_OK);
    assert_int_equal(count_of(files), 2);
    case_begin(&run);
    case_read(&run, prof_profile_write(files, &run.output, 0));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 2);
    assert_string_equal(run.profile.types[0].type, "files");
    case_end(&run);
}

TEST_WITH(a_registry, no_registry, a_key_that_is_open_is_refused)
{
    struct prof_profile *files = own("files");
    struct prof_profile *sockets = own("sockets");

    assert_int_equal(prof_profile_add(files, "k", 1, work, 2), PROF_OK);
    assert_int_equal(prof_profile_add(files, "k", 1, serve, 2),
                     PROF_ERR_KEY_TAKEN);
    assert_int_equal(count_of(files), 1);
    /* Keys differ if their lengths or their profiles differ. */
    assert_int_equal(prof_profile_add(files, "k", 2, work, 2), PROF_OK);
    assert_int_equal(prof_profile_add(files, "", 0, work, 2), PROF_OK);
    assert_int_equal(prof_profile_add(sockets, "k", 1, work, 2), PROF_OK);
    assert_int_equal(prof_profile_remove(files, "k", 1), PROF_OK);
    assert_int_equal(prof_profile_add(files, "k", 1, serve, 2), PROF_OK);
    assert_int_equal(count_of(files), 3);
    assert_int_equal(count_of(sockets), 1);
}

TEST_WITH(a_registry, no_registry, removing_what_is_not_there_does_nothing)
{
    static char wide_key[UINT16_MAX + 2];
    struct prof_profile *files = own("files");
    char long_key[PROF_KEY_MAX + 1] = {0};

    assert_int_equal(prof_profile_add(files, "k", 1, work, 2), PROF_OK);
    assert_int_equal(prof_profile_remove(files, "l", 1), PROF_OK);
    assert_int_equal(prof_profile_remove(files, long_key, sizeof long_key),
                     PROF_OK);
    wide_key[0] = 'k'; /* longer by 2^16 than "k" */
    assert_int_equal(prof_profile_remove(files, wide_key, sizeof wide_key),
                     PROF_OK);
    assert_int_equal(count_of(files), 1);
    assert_int_equal(
        prof_profile_add(files, long_key, sizeof long_key, work, 2),
        PROF_ERR_KEY);
    assert_int_equal(prof_profile_add(files, long_key, PROF_KEY_MAX, work, 2),
                     PROF_OK);
}

TEST_WITH(a_registry, no_registry, built_in_profiles_take_no_entries)
{
    for (size_t i = 0; i < 6; i++) {
        struct prof_profile *profile =
            prof_registry_find(registry, built_in[i]);
        const size_t before = count_of(profile);

        assert_int_equal(prof_profile_add(profile, "k", 1, work, 2),
                         PROF_ERR_BUILT_IN);
        assert_int_equal(prof_profile_remove(profile, "k", 1),
                         PROF_ERR_BUILT_IN);
        assert_int_equal(count_of(profile), before);
    }
}

/* As in Go's TestEmptyCallStack: one entry, with the name of lost stacks. */
TEST_WITH(a_registry, no_registry, an_entry_without_a_stack_is_shown_as_lost)
{
    struct prof_profile *files = own("test18836");

    assert_int_equal(prof_profile_add(files, "k", 1, NULL, 0), PROF_OK);
    assert_string_equal(text_of(files, 1),
                        "test18836 profile: total 1\n"
                        "1 @ 0x4001\n"
                        "#\t0x4000\tmain.lost+0x0\tlost.go:5\n\n");
    case_begin(&run);
    case_read(&run, prof_profile_write(files, &run.output, 0));
    assert_int_equal(run.profile.samples[0].locations_count, 1);
    assert_string_equal(case_function(&run, 1), "main.lost");
    assert_int_equal(run.profile.locations[0].address, 0x4000);
    case_end(&run);
}

/* Add and remove entries at random; a plain array says which are open. */
TEST_WITH(a_registry, no_registry, entries_come_and_go_as_a_simple_list_says)
{
    struct prof_profile *profiles[2] = {own("a"), own("b")};
    bool open[2][256] = {{false}};
    size_t count[2] = {0, 0};
    uint64_t seed = 3;

    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[2] = {0, 7};
        size_t bytes_count;
        uint8_t key;
        unsigned which;
        enum prof_status want;

        seed = seed * 6364136223846793005U + 1442695040888963407U;
        key = (uint8_t)(seed >> 33);
        /* Each key of one byte is the beginning of a key of two. */
        bytes[0] = key >> 1;
        bytes_count = 1 + (key & 1);
        which = (unsigned)(seed >> 60 & 1);
        if ((seed >> 50 & 1) != 0) {
            want = open[which][key]                 ? PROF_ERR_KEY_TAKEN
                   : count[0] + count[1] == ENTRIES ? PROF_ERR_MEMORY
                                                    : PROF_OK;
            assert_int_equal(
                prof_profile_add(profiles[which], bytes, bytes_count, work, 2),
                want);
            count[which] += want == PROF_OK;
            open[which][key] |= want == PROF_OK;
        } else {
            assert_int_equal(
                prof_profile_remove(profiles[which], bytes, bytes_count),
                PROF_OK);
            count[which] -= open[which][key];
            open[which][key] = false;
        }
        assert_int_equal(count_of(profiles[which]), count[which]);
    }
}

/* ---- built-in content ---- */

TEST_WITH(a_registry, no_registry,
          counts_of_built_in_profiles_are_their_records)
{
    static const size_t want[] = {2, 1, 3, 2, 0, 3};

    for (size_t i = 0; i < 6; i++)
        assert_int_equal(count_of(prof_registry_find(registry, built_in[i])),
                         want[i]);
}

TEST_WITH(a_registry, no_registry, debug_chooses_the_form)
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

TEST_WITH(a_registry, no_registry, heap_texts_end_with_the_embedders_counters)
{
    const char *text = text_of(prof_registry_find(registry, "heap"), 1);

    assert_non_null(strstr(text, "\n\n# runtime.MemStats\n# Alloc = 0\n"));
    assert_non_null(strstr(text, "\n# NumGC = 5\n"));
    (void)text_of(prof_registry_find(registry, "heap"), 1); /* from 0 again */
}

TEST_WITH(a_registry, no_registry,
          allocs_differ_from_heap_in_what_is_shown_first)
{
    case_begin(&run);
    case_read(&run, prof_profile_write(prof_registry_find(registry, "allocs"),
                                       &run.output, 0));
    assert_string_equal(run.profile.default_type, "alloc_space");
    case_end(&run);
    case_begin(&run);
    case_read(&run, prof_profile_write(prof_registry_find(registry, "heap"),
                                       &run.output, 0));
    assert_string_equal(run.profile.default_type, "");
    case_end(&run);
}

TEST_WITH(a_registry, no_registry,
          a_list_that_grows_while_it_is_read_is_read_again)
{
    struct prof_profile *tasks = prof_registry_find(registry, "goroutine");

    tasks_growth = 30; /* fits into the spare room */
    assert_non_null(strstr(text_of(tasks, 1), "goroutine profile: total"));
    tasks_growth = 60; /* never fits: the call must still return */
    case_begin(&run);
    /* The scratch has to hold the records of the last try, not those of all
     * tries. */
    run.output.scratch_bytes = 2000 * sizeof(struct prof_count_record);
    assert_int_equal(prof_profile_write(tasks, &run.output, 1), PROF_ERR_BUSY);
}

TEST_WITH(a_registry, no_registry,
          scratch_too_small_for_the_records_is_reported)
{
    for (size_t i = 0; i < 6; i++) {
        struct prof_profile *profile =
            prof_registry_find(registry, built_in[i]);

        for (size_t bytes = 0; bytes < 200000; bytes += 4096) {
            enum prof_status status;

            case_begin(&run);
            run.output.scratch_bytes = bytes;
            status = prof_profile_write(profile, &run.output, 0);
            assert_true(status == PROF_OK || status == PROF_ERR_MEMORY);
        }
    }
}

/* ---- init ---- */

TEST(a_registry_needs_what_it_says)
{
    struct prof_registry_config config = {.entries_max = 10};
    const size_t bytes = prof_registry_bytes_needed(&config);
    struct prof_registry *made = NULL;
    void *memory = zeroed(bytes);

    assert_int_equal(prof_registry_init(&made, &config, memory, bytes - 1),
                     PROF_ERR_MEMORY);
    assert_null(made);
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    for (size_t i = 0; i < 6; i++) {
        struct prof_profile *profile = prof_registry_find(made, built_in[i]);

        /* An empty profile is shown as empty. */
        assert_int_equal(count_of(profile), 0);
        case_begin(&run);
        case_read(&run, prof_profile_write(profile, &run.output, 0));
        assert_int_equal(run.profile.samples_count, 0);
        case_end(&run);
    }
    config.depth_max = PROF_DEPTH_LIMIT + 1;
    assert_int_equal(prof_registry_bytes_needed(&config), 0);
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_ERR_CONFIG);
    free(memory);
}

TEST(a_configuration_beyond_the_limits_is_refused)
{
    static const struct prof_registry_config wrong[] = {
        {.profiles_max = UINT32_MAX},
        {.entries_max = UINT32_MAX},
        {.depth_max = UINT32_MAX},
    };
    const struct prof_registry_config config = {.entries_max = 10};
    const size_t bytes = prof_registry_bytes_needed(&config);
    unsigned char *memory = zeroed(bytes + 64);
    struct prof_registry *made = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(prof_registry_bytes_needed(&wrong[i]), 0);
    for (size_t off = 1; off < 64; off++)
        assert_int_equal(
            prof_registry_init(&made, &config, memory + off, bytes),
            PROF_ERR_MEMORY);
    assert_null(made);
    free(memory);
}

/* Contention is measured in the clock's ticks: at twice the frequency, half the
 * time is shown. */
TEST_WITH(a_registry, no_registry, ticks_are_those_of_the_sources_clock)
{
    struct prof_registry_config config = {.entries_max = 1};
    size_t bytes;
    void *memory;
    struct prof_registry *made;

    config.sources =
        (struct prof_sources){.prof = prof, .ticks_per_second = 2000000000};
    bytes = prof_registry_bytes_needed(&config);
    memory = zeroed(bytes);
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    case_begin(&run);
    case_read(&run, prof_profile_write(prof_registry_find(made, "block"),
                                       &run.output, 0));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[1], 10 / 2);
    case_end(&run);
    /* The text of a heap without counters, and that of goroutines without a
     * dump. */
    case_begin(&run);
    assert_null(strstr(
        case_text(&run, prof_profile_write(prof_registry_find(made, "heap"),
                                           &run.output, 1)),
        "MemStats"));
    case_begin(&run);
    (void)case_text(&run,
                    prof_profile_write(prof_registry_find(made, "goroutine"),
                                       &run.output, 2));
    free(memory);
}

/* What an output leaves unset is taken from the registry. */
TEST_WITH(a_registry, no_registry,
          what_an_output_says_goes_before_what_the_registry_says)
{
    struct prof_profile *own;
    const char *text;

    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    assert_int_equal(prof_profile_add(own, "a", 1, NULL, 0), PROF_OK);
    case_begin(&run);
    run.output.lost = 0;
    text = case_text(&run, prof_profile_write(own, &run.output, 1));
    assert_non_null(strstr(text, "1 @ 0x4001\n"));
    case_begin(&run);
    run.output.lost = 0;
    case_read(&run,
              prof_profile_write(prof_registry_find(registry, "threadcreate"),
                                 &run.output, 0));
    assert_string_equal(case_function(&run, 1), "main.lost");
    case_end(&run);
    case_begin(&run);
    run.output.rules = &prof_rules_go1_5;
    case_read(&run, prof_profile_write(prof_registry_find(registry, "heap"),
                                       &run.output, 0));
    case_end(&run);
}

TEST_WITH(a_registry, no_registry, a_rate_beyond_32_bits_is_shown_whole)
{
    struct prof_profile *const heap = prof_registry_find(registry, "heap");

    prof_heap_rate_set(prof, INT64_C(1) << 40);
    assert_non_null(strstr(text_of(heap, 1), "@ heap/2199023255552\n"));
    case_begin(&run);
    case_read(&run, prof_profile_write(heap, &run.output, 0));
    assert_int_equal(run.profile.period, INT64_C(1) << 40);
    case_end(&run);
}

/* An empty key is valid; keys of equal length with other bytes are
 * different. */
TEST_WITH(a_registry, no_registry, keys_are_compared_to_the_last_byte)
{
    struct prof_profile *own;

    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    for (int i = 0; i < 64; i++) {
        const char key[2] = {'k', (char)i};

        assert_int_equal(prof_profile_add(own, key, 2, work, 2), PROF_OK);
    }
    assert_int_equal(prof_profile_add(own, "", 0, work, 2), PROF_OK);
    assert_int_equal(count_of(own), 65);
    assert_int_not_equal(prof_profile_add(own, "", 0, work, 2), PROF_OK);
    assert_int_equal(prof_profile_remove(own, "", 0), PROF_OK);
    assert_int_equal(count_of(own), 64);
}

/* Profiles share the chains of entries: 40 empty keys do not have one each. */
TEST_WITH(a_registry, no_registry, each_profile_has_an_empty_key_of_its_own)
{
    struct prof_registry_config config = {.profiles_max = 40,
                                          .entries_max = 40};
    const size_t bytes = prof_registry_bytes_needed(&config);
    void *memory = zeroed(bytes);
    struct prof_registry *made;

    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    for (int i = 0; i < 40; i++) {
        const char name[] = {(char)('A' + i), '\0'};
        struct prof_profile *profile;

        assert_int_equal(prof_registry_new(made, name, &profile), PROF_OK);
        assert_int_equal(prof_profile_add(profile, "", 0, work, 2), PROF_OK);
        assert_int_equal(count_of(profile), 1);
    }
    free(memory);
}

/* The scratch of one's own profile has the records first, then their stacks,
 * then what the writer needs. */
TEST_WITH(a_registry, no_registry,
          scratch_too_small_for_own_entries_is_reported)
{
    struct prof_profile *own;
    size_t refused = 0;

    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    for (char key = 'a'; key <= 'z'; key++)
        assert_int_equal(prof_profile_add(own, &key, 1, work, 2), PROF_OK);
    for (size_t bytes = 0; bytes < 20000; bytes += 64) {
        case_begin(&run);
        run.output.scratch_bytes = bytes;
        refused += prof_profile_write(own, &run.output, 1) == PROF_ERR_MEMORY;
    }
    assert_true(refused > (26 * 32 * sizeof(uintptr_t)) / 64);
}

/* ---- failures ---- */

static enum prof_status
refuse(void *context, const void *bytes, size_t bytes_count)
{
    (void)context;
    (void)bytes;
    (void)bytes_count;
    return PROF_ERR_SINK;
}

TEST_WITH(a_registry, no_registry,
          a_sink_that_fails_is_reported_by_each_profile_in_each_form)
{
    struct prof_profile *profiles[16];
    size_t count;

    assert_int_equal(prof_profile_add(own("files"), "k", 1, work, 2), PROF_OK);
    assert_int_equal(prof_registry_list(registry, profiles, 16, &count),
                     PROF_OK);
    for (size_t i = 0; i < count; i++) {
        for (int debug = -1; debug <= 2; debug++) {
            case_begin(&run);
            run.output.sink.write = refuse;
            assert_int_equal(
                prof_profile_write(profiles[i], &run.output, debug),
                PROF_ERR_SINK);
        }
    }
}

static enum prof_status
no_list(void *context, struct prof_count_record *records, size_t records_max,
        size_t *count)
{
    (void)context;
    (void)records;
    (void)records_max;
    *count = 0;
    return PROF_ERR_UNSUPPORTED;
}

TEST_WITH(a_registry, no_registry, a_source_that_fails_is_reported)
{
    const struct prof_registry_config config = {
        .sources = {.goroutines = {.list = no_list}}};
    const size_t bytes = prof_registry_bytes_needed(&config);
    void *memory = zeroed(bytes);
    struct prof_registry *made;
    struct prof_profile *tasks;
    size_t tasks_found = 1;

    memset(memory, 0xa5, bytes); /* a block may hold anything */
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    tasks = prof_registry_find(made, "goroutine");
    assert_int_equal(prof_profile_count(tasks, &tasks_found),
                     PROF_ERR_UNSUPPORTED);
    case_begin(&run);
    assert_int_equal(prof_profile_write(tasks, &run.output, 0),
                     PROF_ERR_UNSUPPORTED);
    free(memory);
}

/* ---- to the last one ---- */

TEST_WITH(a_registry, no_registry, a_name_that_begins_another_stands_before_it)
{
    static const char *const want[] = {"allocs", "block",  "goroutine",
                                       "heap",   "heap2",  "heap22",
                                       "mutex",  "mutex+", "threadcreate"};
    struct prof_profile *listed[9];
    size_t count = 0;

    own("heap22");
    own("heap2");
    own("mutex+");
    assert_names(want, 9);
    assert_int_equal(prof_registry_list(registry, listed, 9, &count), PROF_OK);
    assert_int_equal(count, 9);
    assert_int_equal(prof_registry_list(registry, listed, 8, &count),
                     PROF_ERR_SHORT);
}

/* Removed entries are not shown, whichever were added before them. */
TEST_WITH(a_registry, no_registry, what_is_shown_is_what_is_open)
{
    struct prof_profile *files = own("files");
    struct prof_profile *others = own("others");

    assert_int_equal(prof_profile_add(files, "a", 1, work, 2), PROF_OK);
    assert_int_equal(prof_profile_add(others, "a", 1, work, 2), PROF_OK);
    assert_int_equal(prof_profile_add(files, "b", 1, serve, 1), PROF_OK);
    assert_int_equal(prof_profile_remove(files, "a", 1), PROF_OK);
    assert_string_equal(text_of(files, 1),
                        "files profile: total 1\n"
                        "1 @ 0x2140\n"
                        "#\t0x213f\tmain.serve+0x3f\tserve.go:7\n\n");
    assert_int_equal(prof_profile_remove(files, "b", 1), PROF_OK);
    assert_string_equal(text_of(files, 1), "files profile: total 0\n");
    assert_int_equal(count_of(others), 1);
}

/* The last entry that fits is added, shown and removed like any other. */
TEST_WITH(a_registry, no_registry, the_last_entry_is_as_good_as_the_first)
{
    struct prof_profile *files = own("files");

    for (int key = 0; key < ENTRIES; key++)
        assert_int_equal(prof_profile_add(files, &key, sizeof key, work, 2),
                         PROF_OK);
    for (int key = ENTRIES; key < ENTRIES + 3; key++)
        assert_int_equal(prof_profile_add(files, &key, sizeof key, work, 2),
                         PROF_ERR_MEMORY);
    assert_int_equal(count_of(files), ENTRIES);
    assert_non_null(
        strstr(text_of(files, 1), "total 100\n100 @ 0x2040 0x2240\n"));
    for (int key = 0; key < ENTRIES; key++)
        assert_int_equal(prof_profile_remove(files, &key, sizeof key), PROF_OK);
    assert_int_equal(count_of(files), 0);
    assert_int_equal(prof_profile_add(files, "again", 5, work, 2), PROF_OK);
}

/* Stacks are cut at the registry's depth limit. */
TEST_WITH(a_registry, no_registry, a_stack_is_cut_at_its_greatest_depth)
{
    struct prof_registry_config config = {
        .profiles_max = 1, .entries_max = 3, .depth_max = 2};
    static const uintptr_t deep[] = {CASE_WORK, CASE_MAIN, CASE_SERVE};
    const size_t bytes = prof_registry_bytes_needed(&config);
    void *memory = zeroed(bytes);
    struct prof_registry *made;
    struct prof_profile *files;

    memset(memory, 0xa5, bytes);
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    assert_int_equal(prof_registry_new(made, "files", &files), PROF_OK);
    for (uint32_t depth = 1; depth <= 3; depth++)
        assert_int_equal(
            prof_profile_add(files, &depth, sizeof depth, deep, depth),
            PROF_OK);
    assert_non_null(strstr(text_of(files, 1), "2 @ 0x2040 0x2240\n"));
    assert_non_null(strstr(text_of(files, 1), "1 @ 0x2040\n"));
    free(memory);
}

/* With any amount of scratch, nothing beyond it is written. */
TEST_WITH(a_registry, no_registry, nothing_beyond_the_scratch_is_touched)
{
    struct prof_profile *profiles[16];
    size_t count;

    assert_int_equal(prof_profile_add(own("files"), "k", 1, work, 2), PROF_OK);
    assert_int_equal(prof_registry_list(registry, profiles, 16, &count),
                     PROF_OK);
    for (size_t i = 0; i < count; i++) {
        for (size_t bytes = 0; bytes < 8192; bytes += 64) {
            case_begin(&run);
            memset(run.scratch + bytes, 0xa5, 256);
            run.output.scratch_bytes = bytes;
            (void)!prof_profile_write(profiles[i], &run.output, 0);
            (void)!prof_profile_write(profiles[i], &run.output, 1);
            for (size_t k = bytes; k < bytes + 256; k++)
                assert_int_equal(run.scratch[k], 0xa5);
        }
    }
}

TEST_WITH(a_registry, no_registry,
          a_profile_is_written_with_the_rules_of_its_source)
{
    struct prof_registry_config config = {
        .sources = {.prof = prof, .rules = &prof_rules_go1_5}};
    const size_t bytes = prof_registry_bytes_needed(&config);
    void *memory = zeroed(bytes);
    static struct case_run direct;
    struct prof_registry *made;
    int64_t objects[2];
    bool sampled = false;

    prof_heap_rate_set(prof, 512);
    for (int i = 0; i < 100000 && !sampled; i++)
        sampled = prof_heap_sample(prof_proc_at(prof, 0), 56);
    assert_true(sampled);
    prof_heap_alloc(prof_proc_at(prof, 0), serve, 1, 56); /* counts as 9.65 */
    assert_int_equal(prof_registry_init(&made, &config, memory, bytes),
                     PROF_OK);
    for (int own_rules = 0; own_rules < 2; own_rules++) {
        const struct prof_rules *rules =
            own_rules != 0 ? &prof_rules_exact : &prof_rules_go1_5;
        static struct prof_heap_record records[16];
        size_t count;

        assert_int_equal(
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, 16, &count),
            PROF_OK);
        case_begin(&run);
        run.output.rules = own_rules != 0 ? rules : NULL;
        assert_int_equal(prof_profile_write(prof_registry_find(made, "heap"),
                                            &run.output, 0),
                         PROF_OK);
        case_begin(&direct);
        direct.output.rules = rules;
        assert_int_equal(prof_pprof_heap(&direct.output, records, count, 512,
                                         PROF_VIEW_INUSE),
                         PROF_OK);
        assert_int_equal(run.memory.bytes_count, direct.memory.bytes_count);
        assert_memory_equal(run.bytes, direct.bytes, run.memory.bytes_count);
        case_read(&run, PROF_OK);
        objects[own_rules] = run.profile.samples[0].values[0];
        case_end(&run);
    }
    assert_int_not_equal(objects[0], objects[1]);
    free(memory);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
