/* images_case.c -- see images_case.h. */
#include "images_case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images.h"
#include "record_case.h"
#include "recording.h"
#include "refused_memory.h"
#include "spool_case.h"
#include "unit_test.h"

enum { SECONDS = 60 };

enum images_refuse images_refuse;
uint64_t images_dropped[CLI_RECFILE_CAUSES];

static const struct images_case *tried;

/* ---- calls that fail ---- */

static bool refuses_fork;
static bool refuses_pipe;

pid_t __wrap_fork(void);
pid_t __real_fork(void);
int __wrap_pipe2(int *ends, int flags);
int __real_pipe2(int *ends, int flags);

pid_t
__wrap_fork(void)
{
    errno = EAGAIN;
    return refuses_fork ? -1 : __real_fork();
}

int
__wrap_pipe2(int *ends, int flags)
{
    errno = EMFILE;
    return refuses_pipe ? -1 : __real_pipe2(ends, flags);
}

static int
next_descriptor(void)
{
    const int next = dup(0);

    close(next);
    return next;
}

/* ---- spools ---- */

const char *
images_spool_name(size_t place)
{
    static char name[32];

    snprintf(name, sizeof name, "spools/%010zu-x", 1000 * (place + 1));
    return name;
}

static uint32_t
process_of(size_t place)
{
    const uint32_t given = tried->made[place].process;

    return given != 0 ? given : 100 + (uint32_t)place;
}

static void
write_spool(size_t place)
{
    const struct made *made = &tried->made[place];

    spool_begin();
    spool_header()->process = process_of(place);
    atomic_store(&spool_header()->asked_bytes, made->bytes);
    atomic_store(&spool_header()->events, made->events);
    for (size_t i = 0; i < CLI_RECFILE_CAUSES; i++)
        atomic_store(&spool_header()->dropped[i], images_dropped[i]);
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 1));
    if (made->executes_at != 0) {
        uint64_t words[3] = {made->executes_at, 4};

        memcpy(&words[2], "/gon", 4);
        spool_append(EMBED_EXEC, 0, process_of(place), words, 3);
        atomic_store(&spool_header()->executed, 1);
    }
    if (made->is_damaged)
        spool_append((enum embed_kind)99, 0, 0, &made->bytes, 1);
    record_write_spool(spool_path_of(images_spool_name(place)));
}

enum cli_exit
images_save(int argc, char **argv)
{
    const int descriptor = next_descriptor();
    struct cli_images images;
    bool good;

    (void)argc;
    refuses_fork = images_refuse == IMAGES_REFUSE_FORK;
    refuses_pipe = images_refuse == IMAGES_REFUSE_PIPE;
    if (images_refuse >= IMAGES_REFUSE_FIRST_MEMORY)
        refused_memory_at = images_refuse - IMAGES_REFUSE_PIPE;
    if (!cli_images_read(&images, "record", argv[0]))
        return CLI_NOT_FOUND;
    good = cli_images_save(&images, argv[1], tried->kept);
    cli_images_remove(&images);
    cli_images_release(&images);
    if (next_descriptor() != descriptor)
        return CLI_RECORD; /* one was left open */
    return good ? CLI_OK : CLI_USAGE;
}

struct captured
images_run(const struct images_case *one)
{
    char *argv[3] = {NULL};
    struct captured said;

    tried = one;
    assert_int_equal(mkdir(spool_path_of("spools"), 0700), 0);
    for (size_t i = 0; i < one->count; i++)
        write_spool(i);
    argv[0] = strdup(spool_path_of("spools"));
    argv[1] = strdup(spool_path_of("out"));
    assert_true(captured_run(&said, images_save, argv, -1, SECONDS));
    assert_int_equal(said.signal, 0);
    free(argv[0]);
    free(argv[1]);
    return said;
}

/* ---- What is wanted ---- */

static bool
is_larger(size_t a, size_t b)
{
    const struct made *x = &tried->made[a];
    const struct made *y = &tried->made[b];

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes;
    if (x->events != y->events)
        return x->events > y->events;
    return a > b; /* the later start */
}

/* returns: how many images are larger */
static size_t
rank_of(size_t place)
{
    size_t rank = 0;

    for (size_t i = 0; i < tried->count; i++)
        rank += i != place && is_larger(i, place);
    return rank;
}

static bool
is_kept(size_t place)
{
    return rank_of(place) == 0 ||
           (rank_of(place) < tried->kept && tried->made[place].events > 0);
}

static size_t
number_of(size_t place)
{
    size_t number = 1;

    if (rank_of(place) == 0)
        return 1;
    for (size_t i = 0; i <= place; i++)
        number += is_kept(i) && rank_of(i) != 0;
    return number;
}

/* Read the recording of an image, and remove it. */
void
images_expect_file(size_t place, bool is_there)
{
    char name[32] = "out";
    struct sim_recording_error error;
    struct sim_recording *recording;

    if (number_of(place) > 1)
        snprintf(name, sizeof name, "out.%zu", number_of(place));
    if (!is_there) {
        assert_int_not_equal(access(spool_path_of(name), F_OK), 0);
        return;
    }
    assert_true(sim_recording_open(&recording, spool_path_of(name), &error));
    assert_int_equal(sim_recording_totals(recording)->process,
                     process_of(place));
    sim_recording_close(recording);
    assert_int_equal(unlink(spool_path_of(name)), 0);
}

size_t
images_count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* The line of an image follows that of each larger one. */
static const char *
expect_line(const char *from, size_t place)
{
    const struct made *made = &tried->made[place];
    char line[200];
    const char *at;

    snprintf(line, sizeof line,
             ": %" PRIu64 " bytes asked for, %" PRIu64 " %s, process %" PRIu32
             ": run it\n",
             made->bytes, made->events, made->events == 1 ? "event" : "events",
             process_of(place));
    at = strstr(from, line);
    if (at == NULL)
        fail_msg("no \"%s\" in:\n%s", line, from);
    return at;
}

void
images_expect_saved(const struct captured *said)
{
    const char *at = said->text;
    char line[128];
    size_t saved = 0;
    size_t left = 0;

    for (size_t rank = 0; rank < tried->count; rank++) {
        for (size_t i = 0; i < tried->count; i++) {
            if (rank_of(i) != rank)
                continue;
            if (is_kept(i)) {
                saved += !tried->made[i].is_damaged;
                if (!tried->made[i].is_damaged)
                    at = expect_line(at, i);
                images_expect_file(i, !tried->made[i].is_damaged);
            }
            left += !is_kept(i) && tried->made[i].events > 0;
        }
    }
    assert_int_equal(images_count_of(said->text, " bytes asked for, "), saved);
    snprintf(line, sizeof line, "record: %zu smaller process image%s not kept;",
             left, left == 1 ? " was" : "s were");
    if (left > 0)
        assert_non_null(strstr(said->text, line));
    else
        assert_null(strstr(said->text, "smaller process image"));
}

/* Those that were not saved are still there; and if one was not saved, also
 * those that were not to be kept, whenever they started. */
void
images_expect_left(const struct captured *said)
{
    bool has_failed = false;
    size_t left = 0;

    for (size_t i = 0; i < tried->count; i++)
        has_failed = has_failed || (is_kept(i) && tried->made[i].is_damaged);
    for (size_t i = 0; i < tried->count; i++) {
        const bool is_there =
            access(spool_path_of(images_spool_name(i)), F_OK) == 0;

        left += is_there;
        assert_int_equal(is_there,
                         is_kept(i) ? tried->made[i].is_damaged : has_failed);
        (void)unlink(spool_path_of(images_spool_name(i)));
    }
    (void)rmdir(spool_path_of("spools"));
    assert_int_equal(said->exit_code, left > 0 ? 1 : 0);
    assert_int_equal(strstr(said->text, "are kept; save them") != NULL,
                     left > 0);
}

void
images_expect_all(const struct images_case *one)
{
    struct captured said = images_run(one);

    images_expect_saved(&said);
    images_expect_left(&said);
    captured_free(&said);
}
