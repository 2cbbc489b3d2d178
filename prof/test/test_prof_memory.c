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

#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

#define PAGE    4096U
#define BUCKETS 4000U

/* What a case wrote to its standard error. */
static char text[512];

/* Run a case in a child. returns: its status, from waitpid() */
static int
status_of(void (*run)(struct prof *prof), struct prof *prof)
{
    size_t length = 0;
    int status = -1;
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
    for (ssize_t got = 1; got > 0 && length < sizeof text - 1;) {
        got = read(ends[0], &text[length], sizeof text - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool
ended_by(int status, int signal_wanted)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == signal_wanted;
}

/* ---- untouched memory ---- */

static unsigned char *block;
static size_t block_bytes;

/* Make an instance on pages of its own. */
static struct prof *
paged_instance(const struct prof_config *config)
{
    struct prof *prof = NULL;

    block_bytes = (prof_bytes_needed(config) + PAGE - 1) / PAGE * PAGE;
    block = mmap(NULL, block_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(block != MAP_FAILED);
    assert_int_equal(madvise(block, block_bytes, MADV_NOHUGEPAGE), 0);
    assert_int_equal(prof_init(&prof, config, block, block_bytes), PROF_OK);
    return prof;
}

/* prof_init() touches only the beginning of the block. */
TEST(a_new_instance_costs_a_page_however_large_it_is)
{
    const struct prof_config config = {.buckets_max = 1U << 20};
    size_t resident = 0;
    unsigned char *pages;

    (void)paged_instance(&config);
    pages = calloc(block_bytes / PAGE, 1);
    assert_non_null(pages);
    assert_int_equal(mincore(block, block_bytes, pages), 0);
    for (size_t i = 0; i < block_bytes / PAGE; i++)
        resident += pages[i] & 1;
    assert_int_equal(resident, 1);
    free(pages);
    assert_int_equal(munmap(block, block_bytes), 0);
}

/* Only the first page is left, which holds the instance itself. */
static void
next_cycle_guarded(struct prof *prof)
{
    if (mprotect(block + PAGE, block_bytes - PAGE, PROT_NONE) != 0)
        _exit(98);
    if (prof_heap_next_cycle(prof) != PROF_OK)
        _exit(1);
}

static void
flush_guarded(struct prof *prof)
{
    next_cycle_guarded(prof);
    if (prof_heap_flush(prof) != PROF_OK)
        _exit(1);
}

/* With PROF_HEAP_RING next_cycle is O(1): it touches no bucket. With the stages
 * it does, and a flush does with the ring. */
TEST(next_cycle_touches_nothing_but_the_instance_itself)
{
    struct prof_config config = {.buckets_max = BUCKETS};

    for (int stages = 0; stages < 2; stages++) {
        struct prof *prof;

        config.rules = stages ? &prof_rules_go1_5 : &prof_rules_exact;
        prof = paged_instance(&config);
        for (uintptr_t i = 1; i <= BUCKETS; i++) {
            prof_heap_free(prof_proc_at(prof, 0),
                           prof_heap_alloc(prof_proc_at(prof, 0), &i, 1, 8));
            if (i % 500 == 0) {
                assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
                assert_int_equal(prof_heap_flush(prof), PROF_OK);
            }
        }
        if (stages)
            assert_true(ended_by(status_of(next_cycle_guarded, prof), SIGSEGV));
        else
            assert_int_equal(status_of(next_cycle_guarded, prof), 0);
        assert_true(ended_by(status_of(flush_guarded, prof), SIGSEGV));
        assert_int_equal(munmap(block, block_bytes), 0);
    }
}

/* ---- broken contracts ---- */

static void
take_a_proc_out_of_range(struct prof *prof)
{
    (void)prof_proc_at(prof, 3);
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

/* Nothing may be read or written beyond the block. */
TEST(a_number_out_of_range_ends_the_program_and_says_where)
{
    static const struct {
        void (*run)(struct prof *prof);
        const char *file;
        const char *condition;
    } cases[] = {
        {take_a_proc_out_of_range, "prof.c:", "index < prof->procs_count\n"},
        {free_a_bucket_out_of_range, "heap.c:", "bucket <= "},
        {free_explicitly_a_bucket_out_of_range, "heap.c:", "bucket <= "},
    };
    const struct prof_config config = {.buckets_max = 4, .procs_max = 3};
    struct prof *prof = props_prof_make(&config);

    assert_non_null(prof_proc_at(prof, 2));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(ended_by(status_of(cases[i].run, prof), SIGABRT));
        assert_ptr_equal(strstr(text, "prof: "), text);
        assert_non_null(strstr(text, cases[i].file));
        assert_non_null(strstr(text, cases[i].condition));
    }
    props_prof_drop(prof);
}
