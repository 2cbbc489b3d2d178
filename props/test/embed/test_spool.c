/*
 * test_spool.c -- the file into which a process logs: its name, its size, and
 * what happens to it if a system call fails.
 *
 * The system calls are those of spool_system.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "recorder.h"
#include "spool_system.h"
#include "unit_test.h"

enum { KIB = 1024, MIB = 1024 * KIB, PAGE = 4096 };

#define SYS spool_system

uint32_t embed_depth_max = 9;
bool embed_by_frames;
_Atomic uint32_t embed_awaited;
static struct embed_state the_state;

/* ---- the file ---- */

static const char *
spool_path(void)
{
    static char path[96];

    snprintf(path, sizeof path, "%s/0000004000000000003-%ld", folder,
             (long)getpid());
    return path;
}

static bool
exists(void)
{
    return access(spool_path(), F_OK) == 0;
}

static int
set_out(void **state)
{
    struct stat status;

    (void)state;
    memset(&SYS, 0, sizeof SYS);
    SYS.clock_ns = UINT64_C(4000000000000);
    SYS.has_command = true;
    SYS.command = "name";
    SYS.command_bytes = 5;
    memset(&the_state, 0, offsetof(struct embed_state, modules));
    embed_state = &the_state;
    if (stat(folder, &status) != 0)
        return -1;
    strcpy(embed_config.directory, folder);
    embed_config.device = status.st_dev;
    embed_config.inode = status.st_ino;
    embed_config.limit_bytes = MIB;
    return 0;
}

static int
clear(void **state)
{
    (void)state;
    if (SYS.mapped != NULL && SYS.unmapped_bytes == 0)
        munmap(embed_state->log, SYS.sizes[SYS.sizes_count - 1]);
    (void)unlink(spool_path());
    return 0;
}

/* Check that a spool cannot be opened, and leaves no file, mapping or
 * descriptor. */
static void
expect_none(void)
{
    assert_false(embed_spool_open());
    assert_false(exists());
    assert_int_equal(SYS.opened, SYS.closed);
    assert_true(SYS.mapped == NULL ||
                SYS.unmapped_bytes == SYS.sizes[SYS.sizes_count - 1]);
}

static void
expect_spool(uint64_t bytes)
{
    struct stat status;

    assert_true(embed_spool_open());
    assert_int_equal(stat(spool_path(), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_size, SYS.sizes[SYS.sizes_count - 1]);
    assert_int_equal(SYS.opened, 3);
    assert_int_equal(SYS.closed, 3);
    assert_int_equal(SYS.unmapped_bytes, 0);
    assert_ptr_equal(embed_state->log, SYS.mapped);
    assert_int_equal(embed_state->limit_bytes, bytes);
    assert_int_equal(embed_header()->limit_bytes, bytes);
}

static void
expect_advice(size_t i, uint64_t from, uint64_t bytes, int advice)
{
    assert_true(i < SYS.advices_count);
    assert_int_equal(SYS.advices[i].from, from);
    assert_int_equal(SYS.advices[i].bytes, bytes);
    assert_int_equal(SYS.advices[i].advice, advice);
}

TEST_WITH(set_out, clear, a_spool_says_whose_it_is)
{
    const struct embed_spool_header *header;

    embed_forked_ticks = 77;
    atomic_store(&embed_early_drops, 5);
    SYS.command = "a\0bc";
    expect_spool(MIB);
    header = embed_header();
    assert_int_equal(header->magic, EMBED_SPOOL_MAGIC);
    assert_int_equal(header->version, EMBED_SPOOL_VERSION);
    assert_int_equal(header->depth_max, 9);
    assert_int_equal(header->process, getpid());
    assert_int_equal(header->parent, getppid());
    assert_int_equal(header->start_ticks, UINT64_C(4000000000006));
    assert_int_equal(embed_state->last_ticks, header->start_ticks);
    assert_int_equal(header->forked_ticks, 77);
    assert_int_equal(atomic_load(&header->used_bytes), EMBED_SPOOL_FIRST);
    assert_int_equal(embed_state->used_bytes, EMBED_SPOOL_FIRST);
    assert_int_equal(atomic_load(&header->dropped[EMBED_DROP_EARLY]), 5);
    assert_int_equal(atomic_load(&embed_early_drops), 0);
    assert_int_equal(header->command_bytes, 5);
    assert_memory_equal(header->command, "a\0bc\0", 6);
    embed_forked_ticks = 0;
}

/* Descriptors are not inherited, links not followed, files not shared. */
TEST_WITH(set_out, clear, files_are_opened_with_care)
{
    (void)state;
    expect_spool(MIB);
    assert_int_equal(SYS.flags[0],
                     O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC);
    assert_int_equal(SYS.flags[1],
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
    assert_int_equal(SYS.flags[2], O_RDONLY | O_CLOEXEC);
}

TEST_WITH(set_out, clear, a_command_is_kept_as_far_as_there_is_room)
{
    static char longest[4095];
    static const struct {
        const char *command;
        long bytes;
        uint32_t kept;
    } rows[] = {{"x\0y", 4, 4},        {"x\0y", 3, 4},  {longest, 4095, 4096},
                {longest, 4094, 4095}, {longest, 0, 0}, {longest, -1, 0}};

    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        SYS.command = rows[i].command;
        SYS.command_bytes = rows[i].bytes;
        expect_spool(MIB);
        assert_int_equal(embed_header()->command_bytes, rows[i].kept);
        if (rows[i].bytes > 0)
            assert_memory_equal(embed_header()->command, rows[i].command,
                                (size_t)rows[i].bytes);
        clear(state);
    }
    set_out(state);
    SYS.has_command = false; /* as if there were no /proc */
    assert_true(embed_spool_open());
    assert_int_equal(embed_header()->command_bytes, 0);
    assert_int_equal(SYS.closed, 2);
}

/* Another user may have made a folder of the same name, or a link. */
TEST_WITH(set_out, clear, another_folder_is_not_written_to)
{
    char link[64];

    (void)state;
    embed_config.inode++;
    expect_none();
    embed_config.inode--;
    embed_config.device++;
    expect_none();
    embed_config.device--;
    folder_path(link, sizeof link, "link");
    assert_int_equal(symlink(folder, link), 0);
    strcpy(embed_config.directory, link);
    expect_none();
    assert_int_equal(unlink(link), 0);
    strcpy(embed_config.directory, "/nowhere");
    SYS.opened = SYS.closed = 0;
    expect_none();
    assert_int_equal(SYS.opened, 0);
}

/* A daemon closes its standard input: then 0 is a valid descriptor. */
TEST_WITH(set_out, clear, the_lowest_number_is_a_number)
{
    const int input = dup(0);

    (void)state;
    close(0);
    expect_spool(MIB);
    assert_int_equal(embed_header()->command_bytes, 5);
    assert_int_equal(dup2(input, 0), 0);
    close(input);
}

TEST_WITH(set_out, clear, a_file_of_the_same_name_is_left_alone)
{
    const int file = open(spool_path(), O_RDWR | O_CREAT | O_EXCL, 0600);

    assert_true(file >= 0);
    close(file);
    assert_false(embed_spool_open());
    assert_true(exists());
    assert_int_equal(SYS.sizes_count, 0);
    assert_int_equal(SYS.opened, 1);
    assert_int_equal(SYS.closed, 1);
}

/* ---- how large it is ---- */

TEST_WITH(set_out, clear, a_spool_is_as_large_as_files_may_be)
{
    static const struct {
        uint64_t wanted, limit, got;
    } rows[] = {{100001, MIB, 98304},
                {MIB, 100000, 98304},
                {MIB, MIB - 1, MIB - PAGE},
                {MIB, MIB, MIB},
                {UINT64_C(5) << 30, UINT64_MAX, UINT64_C(5) << 30},
                {64 * KIB, MIB, 64 * KIB},
                {64 * KIB, 64 * KIB - 1, 0},
                {0, MIB, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        embed_config.limit_bytes = rows[i].wanted;
        SYS.has_file_limit = true;
        SYS.file_limit_bytes = rows[i].limit;
        rows[i].got != 0 ? expect_spool(rows[i].got) : expect_none();
        clear(state);
    }
    set_out(state);
    expect_spool(MIB); /* the limit is unknown */
}

/* If the mapping fails, half the size is tried, in whole pages, up to twice. */
TEST_WITH(set_out, clear, short_of_address_space_it_is_smaller)
{
    static const uint64_t sizes[] = {300 * KIB, 151552, 73728};

    for (int refused = 0; refused < 3; refused++) {
        set_out(state);
        embed_config.limit_bytes = 300 * KIB;
        SYS.maps = refused;
        expect_spool(sizes[refused]);
        assert_int_equal(SYS.sizes_count, refused + 1);
        clear(state);
    }
    set_out(state);
    embed_config.limit_bytes = 300 * KIB;
    SYS.maps = 3;
    expect_none();
    assert_int_equal(SYS.sizes_count, 3);
    set_out(state);
    SYS.truncates = 1;
    expect_none();
    assert_null(SYS.mapped);
}

/* The mapping is not inherited by children, and its pages are not read
 * ahead. */
TEST_WITH(set_out, clear, the_first_pages_are_there)
{
    (void)state;
    expect_spool(MIB);
    assert_int_equal(SYS.advices_count, 5);
    expect_advice(0, 0, MIB, MADV_DONTFORK);
    expect_advice(1, 0, MIB, MADV_RANDOM);
    expect_advice(2, 0, PAGE, MADV_POPULATE_WRITE);
    expect_advice(3, 0, EMBED_SPOOL_FIRST + 64 * KIB, MADV_POPULATE_WRITE);
    expect_advice(4, 0, MIB, MADV_NORMAL);
    assert_int_equal(embed_state->reserved_bytes, EMBED_SPOOL_FIRST + 64 * KIB);
    assert_int_equal(SYS.asked_count, 0);
    clear(state);
    set_out(state);
    embed_config.limit_bytes = 64 * KIB;
    expect_spool(64 * KIB);
    assert_int_equal(embed_state->reserved_bytes, 64 * KIB);
}

TEST_WITH(set_out, clear, a_kernel_without_populate_gives_all_at_once)
{
    static const struct {
        uint64_t wanted;
        int refused;
        uint64_t got;
    } rows[] = {{MIB, 0, MIB},
                {64 * MIB, 0, 64 * MIB},
                {100 * MIB, 0, 64 * MIB},
                {100 * MIB, 3, 8 * MIB},
                {300 * KIB, 1, 151552},
                {300 * KIB, 2, 73728},
                {300 * KIB, 3, 0},
                {64 * KIB, 0, 64 * KIB},
                {64 * KIB, 1, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        embed_config.limit_bytes = rows[i].wanted;
        SYS.populates = 1;
        SYS.populate_errno = EINVAL;
        SYS.allocates = rows[i].refused;
        if (rows[i].got == 0) {
            expect_none();
        } else {
            expect_spool(rows[i].got);
            assert_int_equal(embed_state->reserved_bytes, rows[i].got);
            assert_int_equal(SYS.asked[SYS.asked_count - 1], rows[i].got);
        }
        assert_int_equal(SYS.asked_count, rows[i].refused + (rows[i].got != 0));
        clear(state);
    }
}

TEST_WITH(set_out, clear, on_a_full_disk_there_is_none)
{
    (void)state;
    SYS.populates = 2;
    SYS.populate_errno = ENOMEM;
    expect_none();
    assert_int_equal(SYS.asked_count, 0);
    expect_advice(4, 0, MIB, MADV_NORMAL);
}

/* ---- more room ---- */

/* A spool's room is doubled, by 64 KiB at least and 4 MiB at most, in whole
 * pages. */
TEST_WITH(set_out, clear, room_is_made_in_steps)
{
    static const struct {
        uint64_t reserved, bytes, end;
    } rows[] = {{0, 8192, 8192 + 64 * KIB},
                {60 * KIB, 60 * KIB + 8, 124 * KIB},
                {64 * KIB, 64 * KIB + 8, 128 * KIB},
                {68 * KIB, 68 * KIB + 8, 136 * KIB},
                {68 * KIB, 100 * KIB + 4095, 168 * KIB},
                {4 * MIB - PAGE, 4 * MIB, 8 * MIB - PAGE},
                {4 * MIB, 4 * MIB + 8, 8 * MIB},
                {8 * MIB, 8 * MIB + 8, 12 * MIB},
                {8 * MIB, 8 * MIB + PAGE, 12 * MIB + PAGE},
                {64 * KIB, 64 * KIB + PAGE, 132 * KIB},
                {15 * MIB, 15 * MIB + 8, 19 * MIB},
                {18 * MIB, 18 * MIB + 8, 20 * MIB}, /* the limit */
                {19 * MIB, 20 * MIB, 20 * MIB},
                {19 * MIB, 20 * MIB + 8, 0},
                {20 * MIB, 20 * MIB + 8, 0}};

    embed_config.limit_bytes = 20 * MIB;
    expect_spool(20 * MIB);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SYS.advices_count = 0;
        embed_state->reserved_bytes = rows[i].reserved;
        errno = 1000;
        assert_int_equal(embed_reserve(rows[i].bytes), rows[i].end != 0);
        assert_int_equal(errno, 1000);
        assert_int_equal(SYS.advices_count, rows[i].end != 0);
        if (rows[i].end != 0)
            expect_advice(0, rows[i].reserved, rows[i].end - rows[i].reserved,
                          MADV_POPULATE_WRITE);
        assert_int_equal(embed_state->reserved_bytes,
                         rows[i].end != 0 ? rows[i].end : rows[i].reserved);
    }
}

TEST_WITH(set_out, clear, what_was_interrupted_is_tried_again)
{
    static const int again[] = {EINTR, EAGAIN};
    static const int never[] = {ENOMEM, EFAULT, EINVAL};
    uint64_t before;

    (void)state;
    expect_spool(MIB);
    before = embed_state->reserved_bytes;
    errno = 1000;
    for (size_t i = 0; i < 3; i++) {
        SYS.advices_count = 0;
        SYS.populates = 1;
        SYS.populate_errno = never[i];
        assert_false(embed_reserve(before + 8));
        assert_int_equal(SYS.advices_count, 1);
        assert_int_equal(embed_state->reserved_bytes, before);
    }
    for (size_t i = 0; i < 2; i++) {
        before = embed_state->reserved_bytes;
        SYS.advices_count = 0;
        SYS.populates = 3;
        SYS.populate_errno = again[i];
        assert_true(embed_reserve(before + 8));
        assert_int_equal(SYS.advices_count, 4);
        assert_int_equal(embed_state->reserved_bytes, 2 * before);
    }
    assert_int_equal(errno, 1000);
}

int
main(void)
{
    return tests_run(folder_make, folder_remove);
}
