/*
 * test_profile_losses.c -- what the malloc profiler reports about itself, with
 * a stub of the library: its status, lost events, and the calls of
 * prof/malloc.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prof/file.h"
#include "prof/malloc.h"
#include "profile.h"
#include "table.h"
#include "unit_test.h"

static char seen[32]; /* b, k, e: a file; u: removed; g: bytes given */
static char path[600];
static char text[600];
static pid_t process;
static struct prof_drops drops;
static uint64_t entries;
static bool begins, timer_is_taken;
static enum prof_status begin_status, write_status, dump_status;
static int64_t rate;
static enum profile_kind kind_dumped;
static uint32_t kinds_dumped;

static void
note(char what)
{
    const size_t at = strlen(seen);

    assert_true(at < sizeof seen - 1);
    seen[at] = what;
    errno = 88;
}

struct prof_drops
prof_drops(const struct prof *prof)
{
    assert_ptr_equal(prof, profile.prof);
    return drops;
}

uint64_t
table_count(void)
{
    return entries;
}

void
profile_cpu_look(void)
{
    if (timer_is_taken)
        atomic_store(&profile.losses.timer, 1);
}

bool
profile_begin(void)
{
    return begins;
}

bool
profile_has(enum profile_kind kind)
{
    return kind != PROFILE_MUTEX;
}

/* prof_malloc_dump() calls this inside, and must restore errno. */
enum prof_status
profile_dump(enum profile_kind kind, const struct prof_sink *sink)
{
    assert_true(embed_inside);
    assert_ptr_equal(sink->context, &drops);
    kind_dumped = kind;
    errno = 88;
    return dump_status;
}

enum prof_status
profile_dump_to(const char *folder, uint32_t kinds)
{
    assert_true(embed_inside);
    assert_string_equal(folder, "somewhere");
    kinds_dumped = kinds;
    errno = 88;
    return dump_status;
}

void
profile_until_give(void)
{
    note('g');
}

void
prof_heap_rate_set(struct prof *prof, int64_t rate_bytes)
{
    assert_ptr_equal(prof, profile.prof);
    rate = rate_bytes;
    note('r');
}

int64_t
prof_heap_rate(const struct prof *prof)
{
    assert_ptr_equal(prof, profile.prof);
    return rate;
}

/* ---- files ---- */

enum prof_status
prof_file_begin(struct prof_file *file, const char *name)
{
    file->descriptor = 5;
    strcpy(path, name);
    note('b');
    return begin_status;
}

void
prof_file_be_quick(struct prof_file *file)
{
    assert_int_equal(file->descriptor, 5);
    note('k');
}

static enum prof_status
write_text(void *context, const void *bytes, size_t bytes_count)
{
    (void)context;
    assert_true(bytes_count < sizeof text);
    memcpy(text, bytes, bytes_count);
    text[bytes_count] = '\0';
    return write_status;
}

struct prof_sink
prof_file_sink(struct prof_file *file)
{
    return (struct prof_sink){.write = write_text, .context = file};
}

enum prof_status
prof_file_end(struct prof_file *file, enum prof_status status)
{
    assert_int_equal(file->descriptor, 5);
    note('e');
    return status;
}

int __wrap_unlink(const char *name);
int
__wrap_unlink(const char *name)
{
    strcpy(path, name);
    note('u');
    return 0;
}

pid_t __wrap_getpid(void);
pid_t
__wrap_getpid(void)
{
    return process;
}

/* ---- the tests ---- */

static int
set_out(void **state)
{
    (void)state;
    memset(&profile, 0, sizeof profile);
    profile.prof = (struct prof *)(void *)&profile;
    strcpy(profile.config.folder, "/f");
    memset(&drops, 0, sizeof drops);
    memset(seen, 0, sizeof seen);
    memset(text, 0, sizeof text);
    entries = 0;
    process = 4321;
    begins = true;
    timer_is_taken = false;
    begin_status = write_status = dump_status = PROF_OK;
    embed_inside = false;
    return 0;
}

static void
lose_all(void)
{
    drops.no_bucket = 1;
    drops.no_frames = 2;
    atomic_store(&profile.losses.early, 3);
    atomic_store(&profile.losses.untracked, 4);
    atomic_store(&profile.losses.unseen, 5);
    atomic_store(&profile.losses.waits, UINT64_MAX);
    timer_is_taken = true;
    atomic_store(&profile.confinements, 7);
}

#define ALL_LOST                                          \
    "dropped_no_bucket 1\ndropped_no_frames 2\nearly 3\n" \
    "untracked 4\nunseen_frees 5\nuncharged_waits "       \
    "18446744073709551615\ntimer_taken 1\nconfined 1\n"

TEST_WITH(set_out, NULL, the_status_has_every_number)
{
    char got[1024];

    (void)state;
    profile.config.heap_rate_bytes = INT64_C(5000000000);
    profile.config.mutex_fraction = 6;
    profile.config.block_rate_ns = 7;
    profile.config.cpu_hz = 8;
    entries = 9;
    lose_all();
    profile_status_print(got, sizeof got);
    assert_string_equal(got, "process 4321\nheap_rate_bytes 5000000000\n"
                             "mutex_fraction 6\nblock_rate_ns 7\ncpu_hz 8\n"
                             "live_samples 9\n" ALL_LOST);
    set_out(state);
    profile_status_print(got, sizeof got);
    assert_string_equal(strstr(got, "dropped"),
                        "dropped_no_bucket 0\ndropped_no_frames 0\nearly 0\n"
                        "untracked 0\nunseen_frees 0\nuncharged_waits 0\n"
                        "timer_taken 0\nconfined 0\n");
}

TEST_WITH(set_out, NULL, what_was_lost_is_beside_the_files)
{
    (void)state;
    profile_losses_write();
    assert_string_equal(seen, "");
    lose_all();
    profile_losses_write();
    assert_string_equal(seen, "bke");
    assert_string_equal(path, "/f/4321.lost");
    assert_string_equal(text, ALL_LOST);
    set_out(state);
    atomic_store(&profile.losses.unseen, 1);
    profile_losses_write();
    assert_string_equal(text, "unseen_frees 1\n");
}

/* The file of losses is removed only if this process wrote it whole. */
TEST_WITH(set_out, NULL, what_is_no_longer_lost_is_removed)
{
    (void)state;
    atomic_store(&profile.confinements, 1);
    process = 77;
    begin_status = PROF_ERR_SINK;
    profile_losses_write();
    assert_string_equal(seen, "b");
    begin_status = PROF_OK;
    write_status = PROF_ERR_SINK;
    profile_losses_write();
    assert_string_equal(seen, "bbke");
    atomic_store(&profile.confinements, 0);
    profile_losses_write(); /* this process has written none */
    assert_string_equal(seen, "bbke");
    atomic_store(&profile.confinements, 1);
    write_status = PROF_OK;
    profile_losses_write();
    atomic_store(&profile.confinements, 0);
    process = 78; /* a child: the file is its parent's */
    profile_losses_write();
    assert_string_equal(seen, "bbkebke");
    process = 77;
    path[0] = '\0';
    profile_losses_write();
    assert_string_equal(seen, "bbkebkeu");
    assert_string_equal(path, "/f/77.lost");
}

/* ---- calls of the program ---- */

TEST_WITH(set_out, NULL, a_rate_holds_from_the_next_allocation_on)
{
    (void)state;
    prof_malloc_rate_set(700);
    assert_string_equal(seen, "rg");
    assert_int_equal(prof_malloc_rate(), 700);
    prof_malloc_rate_set(0); /* nothing is sampled from now on */
    assert_string_equal(seen, "rgrg");
    prof_malloc_rate_set(700);
    begins = false;
    prof_malloc_rate_set(800);
    assert_string_equal(seen, "rgrgrg");
    assert_int_equal(rate, 700);
    assert_int_equal(prof_malloc_rate(), 0);
}

TEST_WITH(set_out, NULL, a_profile_is_written_for_the_program)
{
    const struct prof_sink sink = {.context = &drops};

    errno = 5;
    for (int inside = 0; inside < 2; inside++) {
        embed_inside = inside;
        dump_status = PROF_ERR_BUSY;
        assert_int_equal(prof_malloc_write(PROF_MALLOC_CPU, &sink),
                         PROF_ERR_BUSY);
        assert_int_equal(kind_dumped, PROFILE_CPU);
        assert_int_equal(prof_malloc_write(PROF_MALLOC_HEAP, &sink),
                         PROF_ERR_BUSY);
        assert_int_equal(kind_dumped, PROFILE_HEAP);
        assert_int_equal(prof_malloc_dump("somewhere"), PROF_ERR_BUSY);
        assert_int_equal(kinds_dumped, 31);
        dump_status = PROF_OK;
        assert_int_equal(prof_malloc_write(PROF_MALLOC_BLOCK, &sink), PROF_OK);
        assert_int_equal(prof_malloc_dump("somewhere"), PROF_OK);
        assert_int_equal(prof_malloc_write(PROF_MALLOC_MUTEX, &sink),
                         PROF_ERR_OFF);
        assert_int_equal(
            prof_malloc_write((enum prof_malloc_kind)PROFILE_KINDS, &sink),
            PROF_ERR_CONFIG);
        begins = false;
        assert_int_equal(prof_malloc_write(PROF_MALLOC_HEAP, &sink),
                         PROF_ERR_OFF);
        assert_int_equal(prof_malloc_dump("somewhere"), PROF_ERR_OFF);
        begins = true;
        assert_int_equal(embed_inside, inside);
        assert_int_equal(errno, 5);
    }
    assert_int_equal(kind_dumped, PROFILE_BLOCK);
}

TEST_WITH(set_out, NULL, the_program_is_told_what_was_lost)
{
    struct prof_malloc_status status = {0};

    (void)state;
    lose_all();
    rate = 512;
    entries = 9;
    assert_int_equal(prof_malloc_status(&status), PROF_OK);
    assert_int_equal(status.rate_bytes, 512);
    assert_int_equal(status.live_samples, 9);
    assert_int_equal(status.dropped_samples, 3);
    drops.no_frames = UINT64_C(1) << 33; /* more than 32 bits hold */
    assert_int_equal(prof_malloc_status(&status), PROF_OK);
    assert_int_equal(status.dropped_samples, (UINT64_C(1) << 33) + 1);
    assert_int_equal(status.early_allocs, 3);
    assert_int_equal(status.untracked_samples, 4);
    assert_int_equal(status.unseen_frees, 5);
    assert_int_equal(status.uncharged_waits, UINT64_MAX);
    begins = false;
    assert_int_equal(prof_malloc_status(&status), PROF_ERR_OFF);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
