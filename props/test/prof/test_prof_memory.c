/*
 * test_prof_memory.c -- which memory a call touches (H10), and how a broken
 * contract ends. Each case runs in a process of its own, so that a fault is an
 * observable result.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instance.h"
#include "test_prof_make.h"
#include "unit_test.h"

#define PAGE    4096U
#define BUCKETS 4000U

/* How a case ended, and what it wrote to its standard error. */
struct ending {
    int status; /* from waitpid() */
    char text[512];
};

/* Run a case in a child and wait for its end. */
static struct ending
end_of(void (*run)(struct prof *prof), struct prof *prof)
{
    struct ending ending = {0};
    size_t length = 0;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would report it */
        (void)signal(SIGABRT, SIG_DFL);
        (void)alarm(20);
        if (dup2(ends[1], STDERR_FILENO) < 0)
            _exit(99);
        run(prof);
        _exit(0);
    }
    (void)close(ends[1]);
    while (length < sizeof ending.text - 1) {
        const ssize_t got = read(ends[0], &ending.text[length],
                                 sizeof ending.text - 1 - length);

        if (got <= 0)
            break;
        length += (size_t)got;
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &ending.status, 0), child);
    return ending;
}

static bool
ended_well(const struct ending *ending)
{
    return WIFEXITED(ending->status) && WEXITSTATUS(ending->status) == 0;
}

static bool
ended_by(const struct ending *ending, int signal_wanted)
{
    return WIFSIGNALED(ending->status) &&
           WTERMSIG(ending->status) == signal_wanted;
}

/* ---- parts of a block ---- */

enum { PARTS_MAX = 64 };

/* The arrays of an instance, each with the length that is used. */
struct parts {
    struct {
        uintptr_t begin, end;
    } part[PARTS_MAX];
    size_t count;
};

static void
add_part(struct parts *parts, const void *begin, size_t bytes)
{
    assert_true(parts->count < PARTS_MAX);
    parts->part[parts->count].begin = (uintptr_t)begin;
    parts->part[parts->count++].end = (uintptr_t)begin + bytes;
}

/* Columns occupy whole cache lines. */
static size_t
lines(size_t bytes)
{
    return (bytes + PROF_BLOCK_ALIGN - 1) / PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN;
}

static void
add_parts(struct parts *parts, const struct prof *prof)
{
    const size_t rows = (size_t)prof->table.rows_max + 1;
    const struct counters *counters = &prof->counters;

    add_part(parts, prof, sizeof *prof);
    add_part(parts, prof->procs, prof->procs_count * sizeof *prof->procs);
    add_part(parts, prof->table.slots,
             sizeof *prof->table.slots << prof->table.slots_log2);
    add_part(parts, prof->table.entries, rows * sizeof *prof->table.entries);
    add_part(parts, prof->table.words - KEY_WORDS,
             (KEY_WORDS * rows + prof->table.frames_max) *
                 sizeof *prof->table.words);
    for (int slot = 0; slot < COUNTER_SLOTS; slot++) {
        add_part(parts, counters->published[slot],
                 lines(rows * sizeof(uint64_t)));
        add_part(parts, counters->published_high[slot],
                 rows * 2 * sizeof(uint32_t));
        add_part(parts, counters->carried[slot], rows * 2 * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < prof->procs_count; i++) {
        const struct columns *columns = &prof->procs[i].columns;

        for (int slot = 0; slot < COUNTER_SLOTS; slot++) {
            add_part(parts, columns->slots[slot],
                     lines(rows * sizeof(uint64_t)));
            /* An index into the slots may exceed their number: it finds the
             * same slot. */
            assert_ptr_equal(columns->slots[slot + COUNTER_SLOTS],
                             columns->slots[slot]);
        }
        add_part(parts, columns->waits, rows * sizeof(struct wait));
    }
}

TEST(parts_of_a_block_do_not_overlap)
{
    for (uint32_t rows = 1; rows <= 40; rows++) {
        const struct prof_config config = {
            .buckets_max = rows, .frames_max = rows, .procs_max = 1 + rows % 3};
        struct prof *prof = props_prof_make(&config);
        const uintptr_t begin = (uintptr_t)prof;
        const uintptr_t end = begin + prof_bytes_needed(&config);
        struct parts parts = {.count = 0};

        add_parts(&parts, prof);
        for (size_t i = 0; i < parts.count; i++) {
            assert_true(parts.part[i].begin >= begin &&
                        parts.part[i].end <= end);
            for (size_t j = 0; j < i; j++)
                assert_true(parts.part[i].end <= parts.part[j].begin ||
                            parts.part[j].end <= parts.part[i].begin);
        }
        props_prof_drop(prof);
    }
}

/* ---- untouched memory ---- */

static void *block;
static size_t block_bytes;

/* Make an instance on pages of its own, whose buckets have events in all
 * slots. */
static struct prof *
large_instance(const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = BUCKETS};
    struct prof *prof = NULL;

    block_bytes = (prof_bytes_needed(&config) + PAGE - 1) / PAGE * PAGE;
    block = mmap(NULL, block_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    assert_int_equal(prof_init(&prof, &config, block, block_bytes), PROF_OK);
    for (uintptr_t i = 1; i <= BUCKETS; i++) {
        const prof_bucket bucket =
            prof_heap_alloc(prof_proc_at(prof, 0), &i, 1, 8);

        prof_heap_free(prof_proc_at(prof, 0), bucket);
        if (i % 500 == 0) {
            assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
            assert_int_equal(prof_heap_flush(prof), PROF_OK);
        }
    }
    return prof;
}

/* Leave only the pages of struct prof itself. */
static void
guard(struct prof *prof)
{
    const size_t kept = (sizeof *prof + PAGE - 1) / PAGE * PAGE;

    if (mprotect((unsigned char *)block + kept, block_bytes - kept,
                 PROT_NONE) != 0)
        _exit(98);
}

static void
next_cycle_guarded(struct prof *prof)
{
    guard(prof);
    if (prof_heap_next_cycle(prof) != PROF_OK)
        _exit(1);
}

static void
flush_guarded(struct prof *prof)
{
    if (prof_heap_next_cycle(prof) != PROF_OK)
        _exit(1);
    guard(prof);
    if (prof_heap_flush(prof) != PROF_OK)
        _exit(1);
}

TEST(next_cycle_touches_nothing_but_the_instance_itself)
{
    struct prof *prof = large_instance(&prof_rules_exact);
    const struct ending ending = end_of(next_cycle_guarded, prof);

    assert_int_equal(ending.status, 0);
    assert_true(ended_well(&ending));
    assert_int_equal(munmap(block, block_bytes), 0);
}

/* The guard works: a call that touches the buckets crashes. */
TEST(a_flush_touches_the_buckets_and_dies_of_the_guard)
{
    struct prof *prof = large_instance(&prof_rules_exact);
    const struct ending ending = end_of(flush_guarded, prof);

    assert_true(ended_by(&ending, SIGSEGV));
    assert_int_equal(munmap(block, block_bytes), 0);
}

/* In the other scheme next_cycle() touches the buckets: it is not O(1). */
TEST(next_cycle_of_the_stages_touches_the_buckets)
{
    struct prof *prof = large_instance(&prof_rules_go1_5);
    const struct ending ending = end_of(next_cycle_guarded, prof);

    assert_true(ended_by(&ending, SIGSEGV));
    assert_int_equal(munmap(block, block_bytes), 0);
}

/* prof_init() promises to touch only the beginning of the block. */
TEST(a_new_instance_costs_a_page_however_large_it_is)
{
    const struct prof_config config = {.buckets_max = 1U << 20};
    const size_t bytes = prof_bytes_needed(&config);
    struct prof *prof = NULL;
    unsigned char *large =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t resident = 0;
    unsigned char *pages = calloc(bytes / PAGE + 1, 1);

    assert_true(large != MAP_FAILED);
    assert_non_null(pages);
    assert_int_equal(madvise(large, bytes, MADV_NOHUGEPAGE), 0);
    assert_int_equal(prof_init(&prof, &config, large, bytes), PROF_OK);
    assert_int_equal(mincore(large, bytes, pages), 0);
    for (size_t i = 0; i <= (bytes - 1) / PAGE; i++)
        resident += pages[i] & 1;
    assert_int_equal(resident, 1);
    free(pages);
    assert_int_equal(munmap(large, bytes), 0);
}

/* ---- broken contracts ---- */

static void
take_a_proc_out_of_range(struct prof *prof)
{
    (void)prof_proc_at(prof, 3);
}

TEST(a_processor_out_of_range_ends_the_program_and_says_where)
{
    const struct prof_config config = {.buckets_max = 1, .procs_max = 3};
    struct prof *prof = props_prof_make(&config);
    const struct ending ending = end_of(take_a_proc_out_of_range, prof);

    assert_non_null(prof_proc_at(prof, 2));
    assert_true(ended_by(&ending, SIGABRT));
    assert_ptr_equal(strstr(ending.text, "prof: "), ending.text);
    assert_non_null(strstr(ending.text, "prof.c:"));
    assert_non_null(strstr(ending.text, "index < prof->procs_count\n"));
    props_prof_drop(prof);
}

static void
free_a_bucket_out_of_range(struct prof *prof)
{
    prof_heap_free(prof_proc_at(prof, 0), 5);
}

static void
free_explicitly_a_bucket_out_of_range(struct prof *prof)
{
    prof_heap_free_explicit(prof_proc_at(prof, 0), UINT32_MAX);
}

/* The bucket may be of another instance: nothing may be written beyond the
 * block. */
TEST(a_bucket_out_of_range_ends_the_program_and_says_where)
{
    static void (*const cases[])(struct prof *) = {
        free_a_bucket_out_of_range, free_explicitly_a_bucket_out_of_range};
    const struct prof_config config = {.buckets_max = 4};
    struct prof *prof = props_prof_make(&config);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ending ending = end_of(cases[i], prof);

        assert_true(ended_by(&ending, SIGABRT));
        assert_non_null(strstr(ending.text, "heap.c:"));
        assert_non_null(strstr(ending.text, "bucket <= "));
    }
    props_prof_drop(prof);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
