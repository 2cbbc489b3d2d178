/* spool_heads.c -- see spool_heads.h. */
#include "spool_heads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images.h"
#include "rng.h"
#include "spool_case.h"
#include "unit_test.h"

#define DAMAGED "the log has a damaged header"

/* Write so many bytes of the spool. */
static void
write_bytes(size_t bytes)
{
    FILE *const file = fopen(spool_path_of("spool"), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(spool, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void
list_none(void *context, uint32_t process, uint64_t ticks, const char *path)
{
    (void)process;
    (void)ticks;
    fail_msg("%s: %s", (const char *)context, path);
}

static void
expect_closed(const char *path)
{
    char line[4352];
    FILE *const maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, path) != NULL)
            fail_msg("still there: %s", line);
    fclose(maps);
}

static int
next_descriptor(void)
{
    const int file = dup(2);

    close(file);
    return file;
}

/* in: why, NULL: it is one */
static void
expect(const char *path, const char *why)
{
    const int next = next_descriptor();
    struct cli_image image = {.process = 1};
    struct cli_converted what;
    char error[200] = "";

    errno = EBADF; /* of an earlier failure */
    assert_int_equal(cli_convert(path, spool_path_of("x.rec"), NULL, &what,
                                 error, sizeof error),
                     why == NULL);
    assert_string_equal(error, why != NULL ? why : "");
    assert_int_equal(cli_convert_peek(path, &image), why == NULL);
    assert_int_equal(image.process, why == NULL ? 42 : 1);
    if (why != NULL)
        cli_convert_executed(path, list_none, error);
    expect_closed(path);
    assert_int_equal(next_descriptor(), next);
}

static void
expect_spool(bool is_one)
{
    char path[96];

    snprintf(path, sizeof path, "%s", spool_path_of("spool"));
    write_bytes(sizeof spool);
    expect(path, is_one ? NULL : DAMAGED);
}

void
spool_check_headers(void)
{
    static const uint32_t depths[] = {0, 1, 2, EMBED_DEPTH_MAX,
                                      EMBED_DEPTH_MAX + 1};
    static const uint32_t commands[] = {0, 1, 2, 4095, 4096, 4097};
    static const uint64_t useds[] = {0,
                                     EMBED_SPOOL_FIRST - 8,
                                     EMBED_SPOOL_FIRST,
                                     EMBED_SPOOL_FIRST + 4,
                                     EMBED_SPOOL_FIRST + 16,
                                     SPOOL_BYTES,
                                     SPOOL_BYTES + 4,
                                     SPOOL_BYTES + 8};
    for (int i = -1; i <= 1; i++) {
        spool_begin();
        spool_header()->magic += (uint64_t)i;
        expect_spool(i == 0);
        spool_begin();
        spool_header()->version += (uint32_t)i;
        expect_spool(i == 0);
    }
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        spool_begin();
        spool_header()->depth_max = depths[i];
        expect_spool(depths[i] >= 1 && depths[i] <= EMBED_DEPTH_MAX);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (int end = 0; end < 2; end++) {
            spool_begin();
            spool_header()->command_bytes = commands[i];
            memset(spool_header()->command, 'c', 4096);
            if (commands[i] > 0 && commands[i] <= 4096)
                spool_header()->command[commands[i] - 1] = (char)end;
            expect_spool(commands[i] <= 4096 && (end == 0 || commands[i] == 0));
        }
    for (size_t i = 0; i < sizeof useds / sizeof *useds; i++) {
        spool_begin();
        while (atomic_load(&spool_header()->used_bytes) < SPOOL_BYTES)
            spool_append(EMBED_UNLOAD, 0, 0, &(uint64_t){START}, 1);
        atomic_store(&spool_header()->used_bytes, useds[i]);
        expect_spool(useds[i] >= EMBED_SPOOL_FIRST && useds[i] <= SPOOL_BYTES &&
                     useds[i] % 8 == 0);
    }
}

void
spool_check_no_spool(void)
{
    char path[96];
    char link[96];
    const int input = dup(0);

    snprintf(path, sizeof path, "%s", spool_path_of("spool"));
    snprintf(link, sizeof link, "%s", spool_path_of("link"));
    spool_begin();
    atomic_store(&spool_header()->used_bytes, EMBED_SPOOL_FIRST);
    write_bytes(EMBED_SPOOL_FIRST);
    expect(path, NULL);
    assert_int_equal(symlink(path, link), 0);
    expect(link, "Too many levels of symbolic links");
    assert_int_equal(unlink(link), 0);
    close(0); /* the spool's number is 0 */
    expect(path, NULL);
    assert_true(input < 0 || (dup2(input, 0) == 0 && close(input) == 0));
    write_bytes(EMBED_SPOOL_FIRST - 1);
    expect(path, DAMAGED);
    write_bytes(0);
    expect(path, DAMAGED);
    assert_int_equal(unlink(path), 0);
    expect(path, "No such file or directory");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect(path, DAMAGED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    expect(path, DAMAGED);
    assert_int_equal(rmdir(path), 0);
}

/* ---- the command line ---- */

/* Words with spaces in between, cut to fit. */
static void
expect_command(const char *found, size_t room)
{
    const struct embed_spool_header *const header = spool_header();
    size_t length = header->command_bytes < room ? header->command_bytes : room;

    length = length > 0 ? length - 1 : 0;
    assert_int_equal(strlen(found), length);
    for (size_t i = 0; i < length; i++)
        assert_int_equal(found[i],
                         header->command[i] != '\0' ? header->command[i] : ' ');
}

void
spool_check_commands(void)
{
    static const uint32_t lengths[] = {0,   1,   2,   3,   159,  160, 161,
                                       162, 255, 256, 257, 4095, 4096};
    struct sim_rng rng = {.state = 3};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct cli_converted what;
        struct cli_image image;
        char error[200];

        spool_begin();
        spool_header()->parent = 41;
        atomic_store(&spool_header()->events, 5);
        atomic_store(&spool_header()->asked_bytes, 6);
        spool_header()->command_bytes = lengths[i];
        for (uint32_t k = 0; k + 1 < lengths[i]; k++)
            spool_header()->command[k] =
                sim_rng_below(&rng, 3) == 0 ? '\0' : 'c';
        if (lengths[i] > 0)
            spool_header()->command[lengths[i] - 1] = '\0';
        memset(&what, 'x', sizeof what);
        memset(&image, 'x', sizeof image);
        if (!spool_convert(&what, error, sizeof error))
            fail_msg("%s", error);
        assert_true(cli_convert_peek(spool_path_of("spool"), &image));
        expect_command(what.command, sizeof what.command);
        expect_command(image.command, sizeof image.command);
        assert_int_equal(image.process, 42);
        assert_int_equal(image.parent, 41);
        assert_int_equal(image.events, 5);
        assert_int_equal(image.bytes, 6);
    }
}

/* ---- executed programs ---- */

struct executed {
    uint32_t process;
    uint64_t ticks;
    size_t length;
    char first;
};

struct list {
    struct executed items[64];
    uint32_t count;
    uint32_t seen;
};

static void
check_next(void *context, uint32_t process, uint64_t ticks, const char *path)
{
    struct list *const list = context;
    const struct executed *const want = &list->items[list->seen++];

    assert_true(list->seen <= list->count);
    assert_int_equal(process, want->process);
    assert_int_equal(ticks, want->ticks);
    assert_int_equal(strlen(path), want->length);
    for (size_t i = 0; i < want->length; i++)
        assert_int_equal(path[i], want->first);
}

/* Log it. in: room, words for the path. returns: whether it is sound */
static bool
log_executed(const struct executed *one, size_t length, uint32_t room)
{
    static uint64_t words[128];

    words[0] = one->ticks;
    words[1] = length;
    memset(&words[2], one->first, sizeof words - 16);
    spool_append(EMBED_EXEC, 0, one->process, words, 2 + room);
    return length <= 8 * (size_t)room;
}

void
spool_check_executed(void)
{
    static const size_t lengths[] = {0, 1, 7, 8, 9, 16, 510, 511, 512, 600};
    static struct list list;
    const uint64_t other[2] = {1, 0};
    struct sim_rng rng = {.state = 4};

    for (uint32_t round = 0; round < 200; round++) {
        uint64_t last = 0;
        bool is_sound = false;

        spool_begin();
        list.count = 0;
        list.seen = 0;
        for (uint32_t i = 0; i < 12; i++) {
            const size_t length = lengths[sim_rng_below(&rng, 10)];
            const uint32_t room =
                (uint32_t)(length + 7) / 8 + sim_rng_below(&rng, 3);
            const struct executed one = {
                1 + i, 9 * i + 1, length < 511 ? length : 511, (char)('a' + i)};
            const uint32_t kind = sim_rng_below(&rng, 6);

            if (kind < 3)
                spool_append(kind == 0   ? EMBED_SHORT_FREE
                             : kind == 1 ? EMBED_SHORT_ALLOC
                                         : EMBED_NAME,
                             0, 0, other, kind);
            else if (kind == 3) /* too short for a path */
                spool_append(EMBED_EXEC, 0, 0, other, 1);
            last = atomic_load(&spool_header()->used_bytes);
            is_sound = log_executed(&one, length, room > 0 ? room - 1 : 0);
            if (is_sound)
                list.items[list.count++] = one;
        }
        if (round % 4 == 1) /* cut within its last record */
            atomic_fetch_sub(&spool_header()->used_bytes, 8);
        else if (round % 4 == 2) /* and before it */
            atomic_store(&spool_header()->used_bytes, last);
        if ((round % 4 == 1 || round % 4 == 2) && is_sound)
            list.count--;
        if (round % 4 == 3) { /* a record of no length ends it */
            memset(&spool[EMBED_SPOOL_FIRST + 2], 0, 2);
            list.count = 0;
        }
        atomic_store(&spool_header()->executed, round < 100);
        if (round >= 100) /* none, so the log is not searched */
            list.count = 0;
        write_bytes(sizeof spool);
        cli_convert_executed(spool_path_of("spool"), check_next, &list);
        assert_int_equal(list.seen, list.count);
        expect_closed(spool_path_of("spool"));
    }
}
