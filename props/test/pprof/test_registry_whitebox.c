/*
 * test_registry_whitebox.c -- how a registry stores names and entries, and how
 * much it reads of its arguments. White box: reads the arrays of registry.h.
 */
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pprof_case.h"
#include "registry.h"
#include "unit_test.h"

enum { ENTRIES = 1023 }; /* and 1024 hash chains */

static struct case_run run;
static struct prof_registry *registry;
static struct prof_profile *own;
static struct prof_sources sources;

static int
a_registry(void **state)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 18];
    const struct prof_registry_config config = {.profiles_max = 1,
                                                .entries_max = ENTRIES,
                                                .depth_max = 1,
                                                .sources = sources};

    (void)state;
    memset(block, 0xa5, sizeof block);
    assert_int_equal(
        prof_registry_init(&registry, &config, block, sizeof block), PROF_OK);
    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    return 0;
}

static enum prof_status
add(const void *key, size_t key_bytes)
{
    return prof_profile_add(own, key, key_bytes, &(uintptr_t){CASE_WORK}, 1);
}

static const char *
text_of(const char *name)
{
    return case_text(
        &run,
        prof_profile_write(prof_registry_find(registry, name), &run.output, 1));
}

/*
 * As many entries as chains. Random hashes use 63 % of the chains on average,
 * and with 1024 chains practically never less than half.
 */
TEST_WITH(a_registry, NULL, entries_are_spread_over_their_chains)
{
    size_t used = 0;

    for (uint32_t key = 0; key < ENTRIES; key++)
        assert_int_equal(add(&key, sizeof key), PROF_OK);
    assert_int_equal(registry->chains_log2, 10);
    for (size_t i = 0; i < 1024; i++)
        used += registry->chains[i] != 0;
    assert_true(used > 512);
}

TEST_WITH(a_registry, NULL, a_key_of_no_bytes_may_be_nowhere)
{
    assert_int_equal(add(NULL, 0), PROF_OK);
    assert_int_equal(add("k", 1), PROF_OK);
    assert_int_equal(add(NULL, 0), PROF_ERR_KEY_TAKEN);
    assert_int_equal(prof_profile_remove(own, NULL, 0), PROF_OK);
    assert_int_equal(add(NULL, 0), PROF_OK);
}

/* Names end at the end of a page, so that reading one more byte ends the
 * process. */
TEST_WITH(a_registry, NULL, a_name_is_not_read_beyond_its_end)
{
    static const char *const names[] = {"own", "heap", "goroutin", "h", ""};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t bytes = strlen(names[i]) + 1;
        char *const name = memcpy(pages + page - bytes, names[i], bytes);

        if (i < 2)
            assert_string_equal(
                prof_profile_name(prof_registry_find(registry, name)),
                names[i]);
        else
            assert_null(prof_registry_find(registry, name));
    }
    assert_int_equal(munmap(pages, 2 * page), 0);
}

/* ---- defaults ---- */

/* Records take whole cache lines; the scratch may have less than one. */
TEST_WITH(a_registry, NULL, scratch_of_any_size_is_not_left)
{
    assert_int_equal(add("k", 1), PROF_OK);
    for (size_t bytes = 0; bytes < 4 * PROF_BLOCK_ALIGN; bytes++) {
        case_begin(&run);
        run.output.scratch_bytes = bytes;
        assert_int_equal(prof_profile_write(own, &run.output, 1),
                         PROF_ERR_MEMORY);
        for (size_t i = bytes; i < 1 << 12; i++)
            assert_int_equal(run.scratch[i], 0xa5);
    }
}

/* An output's lost address takes precedence over the registry's, which is 1 by
 * default. */
TEST_WITH(a_registry, NULL, entries_without_a_stack_have_the_lost_address)
{
    assert_int_equal(prof_profile_add(own, "k", 1, NULL, 0), PROF_OK);
    case_begin(&run);
    run.output.lost = 0;
    assert_non_null(strstr(text_of("own"), "1 @ 0x1\n"));
    case_begin(&run);
    run.output.lost = CASE_WORK;
    assert_non_null(strstr(text_of("own"), "1 @ 0x2040\n"));
    case_begin(&run);
    run.output.lost = 0;
    case_read(&run, prof_profile_write(own, &run.output, 0));
    assert_int_equal(run.profile.samples[0].locations_count, 1);
    case_end(&run);
}

TEST_WITH(a_registry, NULL, a_heap_without_a_source_has_no_rate)
{
    case_begin(&run);
    assert_string_equal(text_of("heap"),
                        "heap profile: 0: 0 [0: 1] @ heap/0\n");
    case_begin(&run);
    case_read(&run, prof_profile_write(prof_registry_find(registry, "heap"),
                                       &run.output, 0));
    assert_int_equal(run.profile.period, 0);
    case_end(&run);
}

/* ---- sources ---- */

static size_t claimed;

static enum prof_status
claim(void *context, struct prof_count_record *records, size_t records_max,
      size_t *count)
{
    (void)context;
    (void)records;
    *count = claimed;
    assert_true(records_max <= CASE_SCRATCH_BYTES / sizeof *records);
    return claimed > records_max ? PROF_ERR_SHORT : PROF_OK;
}

static int
a_registry_of_tasks(void **state)
{
    int failed;

    sources.threads.list = claim;
    failed = a_registry(state);
    memset(&sources, 0, sizeof sources);
    return failed;
}

/* Even if there are so many that their size in bytes wraps in 64 bits. */
TEST_WITH(a_registry_of_tasks, NULL,
          more_records_than_any_scratch_holds_are_refused)
{
    const size_t each = sizeof(struct prof_count_record);
    const size_t claims[] = {CASE_SCRATCH_BYTES / each, SIZE_MAX / each,
                             SIZE_MAX / each + 2, SIZE_MAX - 51};

    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        claimed = claims[i];
        case_begin(&run);
        assert_int_equal(
            prof_profile_write(prof_registry_find(registry, "threadcreate"),
                               &run.output, 0),
            PROF_ERR_MEMORY);
    }
}

/* There are more records than fit at the first listing: each is written
 * once. */
TEST(many_records_are_written_all)
{
    enum { RECORDS = 120 };
    static const char *const names[] = {"heap", "block"};
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 20];
    const struct prof_config config = {.buckets_max = 2 * RECORDS};

    memset(block, 0, sizeof block);
    assert_int_equal(prof_init(&sources.prof, &config, block, sizeof block),
                     PROF_OK);
    for (uintptr_t pc = CASE_UNKNOWN; pc < CASE_UNKNOWN + RECORDS; pc++) {
        prof_heap_alloc(prof_proc_at(sources.prof, 0), &pc, 1, 16);
        prof_contention_event(prof_proc_at(sources.prof, 0), PROF_BLOCK, &pc, 1,
                              10);
    }
    a_registry(state);
    memset(&sources, 0, sizeof sources);
    for (size_t i = 0; i < 2; i++) {
        case_begin(&run);
        case_read(&run,
                  prof_profile_write(prof_registry_find(registry, names[i]),
                                     &run.output, 0));
        assert_int_equal(run.profile.samples_count, RECORDS);
        assert_int_equal(run.profile.locations_count, RECORDS);
        case_end(&run);
    }
}

/* Go before 1.20 scales mutex events by the fraction when they are written, and
 * block events never. */
TEST(only_the_mutex_profile_is_scaled_by_the_fraction)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 18];
    const struct prof_config config = {.buckets_max = 8,
                                       .rules = &prof_rules_go1_17};
    const uintptr_t pc = CASE_UNKNOWN;

    assert_int_equal(prof_init(&sources.prof, &config, block, sizeof block),
                     PROF_OK);
    for (int kind = PROF_BLOCK; kind <= PROF_MUTEX; kind++)
        prof_contention_event(prof_proc_at(sources.prof, 0),
                              (enum prof_contention)kind, &pc, 1, 10);
    (void)prof_mutex_fraction_set(sources.prof, 5);
    a_registry(state);
    memset(&sources, 0, sizeof sources);
    for (int kind = PROF_BLOCK; kind <= PROF_MUTEX; kind++) {
        const char *const name = kind == PROF_BLOCK ? "block" : "mutex";

        case_begin(&run);
        case_read(&run, prof_profile_write(prof_registry_find(registry, name),
                                           &run.output, 0));
        assert_int_equal(run.profile.samples[0].values[0],
                         kind == PROF_BLOCK ? 1 : 5);
        case_end(&run);
    }
}

/* Each frame of a stack is kept, whatever its depth, and none of the stack that
 * had its place before. */
TEST(stacks_of_any_depth_are_kept)
{
    static const uint32_t depths[] = {PROF_DEPTH_LIMIT, 0, 1, 255, 256, 257, 3};
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 18];
    static uintptr_t stack[PROF_DEPTH_LIMIT];
    const struct prof_registry_config config = {
        .profiles_max = 1, .entries_max = 2, .depth_max = PROF_DEPTH_LIMIT};

    assert_int_equal(
        prof_registry_init(&registry, &config, block, sizeof block), PROF_OK);
    assert_int_equal(prof_registry_new(registry, "own", &own), PROF_OK);
    for (uint32_t i = 0; i < PROF_DEPTH_LIMIT; i++)
        stack[i] = CASE_UNKNOWN + i;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const uint32_t shown = depths[i] != 0 ? depths[i] : 1;

        assert_int_equal(prof_profile_add(own, &i, sizeof i, stack, depths[i]),
                         PROF_OK);
        case_begin(&run);
        case_read(&run, prof_profile_write(own, &run.output, 0));
        assert_int_equal(run.profile.samples_count, 1);
        assert_int_equal(run.profile.samples[0].locations_count, shown);
        assert_int_equal(run.profile.locations_count, shown);
        case_end(&run);
        assert_int_equal(prof_profile_remove(own, &i, sizeof i), PROF_OK);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
