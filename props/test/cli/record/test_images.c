/*
 * test_images.c -- which processes of a recorded program are kept, under which
 * names, and what is printed of those that are not; of spools made by hand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "images.h"
#include "in_child.h"
#include "record_case.h"
#include "recording.h"
#include "spool_case.h"
#include "unit_test.h"

enum { MOST = 8, SECONDS = 60 };

/* Of the image at its place by start. */
struct made {
    uint64_t bytes;
    uint64_t events;
    bool is_damaged;
    uint64_t executes_at; /* ticks; 0: nothing */
    uint32_t process;     /* 0: 100 and its place */
};

struct images_case {
    struct made made[MOST];
    size_t count;
    size_t kept; /* at most */
};

static const struct images_case *tried;

static const char *
spool_name(size_t place)
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
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 1));
    if (made->executes_at != 0) {
        uint64_t words[3] = {made->executes_at, 4};

        memcpy(&words[2], "/gon", 4);
        spool_append(EMBED_EXEC, 0, process_of(place), words, 3);
        atomic_store(&spool_header()->executed, 1);
    }
    if (made->is_damaged)
        spool_append((enum embed_kind)99, 0, 0, &made->bytes, 1);
    record_write_spool(spool_path_of(spool_name(place)));
}

static enum cli_exit
save(int argc, char **argv)
{
    struct cli_images images;
    bool good;

    (void)argc;
    if (!cli_images_read(&images, argv[0]))
        return CLI_NOT_FOUND;
    good = cli_images_save(&images, argv[1], tried->kept);
    cli_images_remove(&images);
    cli_images_release(&images);
    return good ? CLI_OK : CLI_USAGE;
}

static struct captured
run(const struct images_case *one)
{
    char *argv[3] = {NULL};
    struct captured said;

    tried = one;
    assert_int_equal(mkdir(spool_path_of("spools"), 0700), 0);
    for (size_t i = 0; i < one->count; i++)
        write_spool(i);
    argv[0] = strdup(spool_path_of("spools"));
    argv[1] = strdup(spool_path_of("out"));
    assert_true(captured_run(&said, save, argv, -1, SECONDS));
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
static void
expect_file(size_t place, bool is_there)
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

/* The line of an image follows that of each larger one. */
static const char *
expect_line(const char *from, size_t place)
{
    const struct made *made = &tried->made[place];
    char line[200];
    const char *at;

    snprintf(line, sizeof line,
             ": %" PRIu64 " bytes asked for, %" PRIu64
             " events, process %" PRIu32 ": run it\n",
             made->bytes, made->events, process_of(place));
    at = strstr(from, line);
    if (at == NULL)
        fail_msg("no \"%s\" in:\n%s", line, from);
    return at;
}

static void
expect_saved(const struct captured *said)
{
    const char *at = said->text;
    char line[128];
    size_t left = 0;

    for (size_t rank = 0; rank < tried->count; rank++) {
        for (size_t i = 0; i < tried->count; i++) {
            if (rank_of(i) != rank)
                continue;
            if (is_kept(i)) {
                at = expect_line(at, i);
                expect_file(i, !tried->made[i].is_damaged);
            }
            left += !is_kept(i) && tried->made[i].events > 0;
        }
    }
    snprintf(line, sizeof line, "record: %zu smaller process images", left);
    if (left > 0)
        assert_non_null(strstr(said->text, line));
    else
        assert_null(strstr(said->text, "smaller process images"));
}

/* Those that were not saved are still there; and if one was not saved, also
 * those that were not to be kept, whenever they started. */
static void
expect_left(const struct captured *said)
{
    bool has_failed = false;
    size_t left = 0;

    for (size_t i = 0; i < tried->count; i++)
        has_failed = has_failed || (is_kept(i) && tried->made[i].is_damaged);
    for (size_t i = 0; i < tried->count; i++) {
        const bool is_there = access(spool_path_of(spool_name(i)), F_OK) == 0;

        left += is_there;
        assert_int_equal(is_there,
                         is_kept(i) ? tried->made[i].is_damaged : has_failed);
        (void)unlink(spool_path_of(spool_name(i)));
    }
    (void)rmdir(spool_path_of("spools"));
    assert_int_equal(said->exit_code, left > 0 ? 1 : 0);
    assert_int_equal(strstr(said->text, "are kept; save them") != NULL,
                     left > 0);
}

static void
expect_all(const struct images_case *one)
{
    struct captured said = run(one);

    expect_saved(&said);
    expect_left(&said);
    captured_free(&said);
}

TEST(the_largest_comes_first_and_the_others_by_start)
{
    static const struct images_case cases[] = {
        {{{5, 5, 0, 0, 0}}, 1, 3},
        {{{0, 0, 0, 0, 0}}, 1, 3},
        {{{5, 5, 0, 0, 0}, {9, 2, 0, 0, 0}, {7, 1, 0, 0, 0}}, 3, 3},
        {{{5, 5, 0, 0, 0}, {9, 2, 0, 0, 0}, {7, 1, 0, 0, 0}}, 3, 1},
        /* Bytes are equal: events decide, then the later start. */
        {{{5, 5, 0, 0, 0}, {5, 6, 0, 0, 0}, {5, 6, 0, 0, 0}, {5, 4, 0, 0, 0}},
         4,
         2},
        {{{0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}}, 3, 2},
        /* Without events none is kept, but the only one. */
        {{{5, 5, 0, 0, 0}, {6, 0, 0, 0, 0}, {4, 0, 0, 0, 0}, {3, 1, 0, 0, 0}},
         4,
         4},
        {{{9, 9, 0, 0, 0}, {4, 0, 0, 0, 0}, {3, 0, 0, 0, 0}}, 3, 1},
        {{{1, 1, 0, 0, 0},
          {UINT64_C(1) << 32, 1, 0, 0, 0},
          {5, UINT64_C(1) << 33, 0, 0, 0},
          {UINT64_C(1) << 63, 1, 0, 0, 0}},
         4,
         3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_all(&cases[i]);
}

TEST(one_that_is_damaged_costs_no_other)
{
    for (size_t damaged = 0; damaged < 32; damaged++) {
        struct images_case one = {.count = 4, .kept = damaged < 16 ? 4 : 2};

        for (size_t i = 0; i < 4; i++)
            one.made[i] = (struct made){.bytes = 7 - i % 3,
                                        .events = 3,
                                        .is_damaged = damaged >> i & 1};
        expect_all(&one);
    }
}

/* A program that logged nothing after it was executed has lost the recorder. */
TEST(an_executed_program_without_a_log_is_named)
{
    static const struct {
        uint64_t executes_at;
        uint32_t process; /* of the second image, which starts at 2000 */
        bool is_lost;
    } cases[] = {{1500, 100, false},
                 {1500, 101, true},
                 {2000, 100, false},
                 {2001, 100, true},
                 {2001, 101, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct images_case one = {
            .made = {{5, 5, false, cases[i].executes_at, 0},
                     {4, 4, false, 0, cases[i].process}},
            .count = 2,
            .kept = 2};
        struct captured said = run(&one);

        assert_int_equal(
            strstr(said.text, "not recorded: process 100, /gon\n") != NULL,
            cases[i].is_lost);
        assert_int_equal(strstr(said.text, "1 executed programs ran") != NULL,
                         cases[i].is_lost);
        expect_saved(&said);
        expect_left(&said);
        captured_free(&said);
    }
}

TEST(a_record_that_is_cut_off_names_nothing)
{
    record_check_cut();
}

/* ---- whole commands ---- */

#define SAVE "cp \"$1\" \"$PROFSIM_SPOOL/0000001000-x\";"

/* The recording is there or not, and the folder of logs is gone. */
static void
expect_record(const struct record_case *one, int exit_code, int signal,
              bool is_there, const char *text)
{
    struct captured said = record_run(one);
    struct sim_recording_error error;
    struct sim_recording *recording;

    if (said.exit_code != exit_code || said.signal != signal ||
        strstr(said.text, text) == NULL)
        fail_msg("%d %d, not %d %d:\n%s\n%s", said.exit_code, said.signal,
                 exit_code, signal, text, said.text);
    captured_free(&said);
    assert_false(record_left_folder());
    assert_int_equal(access(spool_path_of("out"), F_OK) == 0, is_there);
    if (!is_there)
        return;
    assert_true(sim_recording_open(&recording, spool_path_of("out"), &error));
    assert_int_equal(sim_recording_totals(recording)->process, 77);
    sim_recording_close(recording);
    assert_int_equal(unlink(spool_path_of("out")), 0);
}

TEST(record_ends_as_its_command)
{
    static const struct {
        const char *script;
        int exit_code;
        int signal;
        bool is_there;
        const char *text;
    } cases[] = {
        {SAVE, 0, 0, true, "out: 10 bytes asked for, 1 events, process 77: "},
        {SAVE "exit 3", 3, 0, true, "out: 10 bytes"},
        {SAVE "exit 255", 255, 0, true, "out: 10 bytes"},
        {SAVE "kill -9 $$", -1, 9, true, "out: 10 bytes"},
        {SAVE "kill -TERM $$", -1, 15, true, "out: 10 bytes"},
        {SAVE "kill -QUIT $$", -1, 3, true, "out: 10 bytes"},
        {"exit 3", 125, 0, false, "the command exited with 3\n"},
        {"kill -9 $$", 125, 0, false, "was ended by signal 9\n"},
        {":", 125, 0, false, "sh: did not load the recorder"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_record(&(struct record_case){.script = cases[i].script},
                      cases[i].exit_code, cases[i].signal, cases[i].is_there,
                      cases[i].text);
}

TEST(what_cannot_be_recorded_is_told)
{
    static const struct record_case cases[] = {
        {.options = {"--", "/no/such/command"}},
        {.options = {"--", "/"}},
        {.script = SAVE, .library = "/no/such.so"},
        {.script = SAVE, .library = "/dev/../dev/null "},
        {.script = SAVE, .options = {"-o", "/no/such/folder/out"}},
        {.script = SAVE, .options = {"--depth", "0"}},
        {.script = SAVE, .options = {"--images", "0"}},
        {.script = SAVE, .options = {"--limit", "65535"}},
        {.script = SAVE, .options = {"--limit", "1025G"}},
        {.script = SAVE, .options = {"--images", "1000001"}},
        {.script = SAVE, .options = {"--depth", "1000000"}},
        {.options = {"--usable"}},
    };
    static const int exits[] = {127, 126, 125, 125, 125, 125,
                                125, 125, 125, 125, 125, 125};
    static const char *const texts[] = {"/no/such/command: No such file",
                                        "/: Permission denied",
                                        "/no/such.so: the library is not there",
                                        "the library is not there",
                                        "/no/such/folder/out: ",
                                        "--depth",
                                        "--images",
                                        "--limit",
                                        "--limit",
                                        "--images",
                                        "--depth",
                                        "no command to record"};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_record(&cases[i], exits[i], 0, false, texts[i]);
}

/* The script prints what the recorder would read. */
TEST(the_recorder_gets_what_was_asked)
{
    static const struct {
        const char *options[RECORD_WORDS];
        const char *text;
    } cases[] = {
        {{NULL}, "536870912 32 0 0\n"},
        {{"--limit", "65536", "--depth", "1"}, "65536 1 0 0\n"},
        {{"--limit", "1024G", "--images", "1"}, "1099511627776 32 0 0\n"},
        {{"--usable", "--images", "1000000"}, "536870912 32 0 1\n"},
        {{"--frame-pointers"}, "536870912 32 1 0\n"},
        {{"--usable", "--frame-pointers", "--depth", "7"}, "536870912 7 1 1\n"},
    };
    char text[8192];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record_case one = {
            .script =
                "echo $PROFSIM_SPOOL_BYTES $PROFSIM_DEPTH "
                "$PROFSIM_FRAME_POINTERS $PROFSIM_USABLE; echo "
                "$LD_PRELOAD;" SAVE
                "test $PROFSIM_SPOOL_DEVICE = $(stat -c %d \"$PROFSIM_SPOOL\") "
                "&& test $PROFSIM_SPOOL_INODE = "
                "$(stat -c %i \"$PROFSIM_SPOOL\")",
            .preloaded = i % 2 == 0 ? NULL : record_library()};

        memcpy(one.options, cases[i].options, sizeof one.options);
        snprintf(text, sizeof text, "%s%s%s%s\n", cases[i].text,
                 record_library(), i % 2 == 0 ? "" : ":",
                 i % 2 == 0 ? "" : record_library());
        expect_record(&one, 0, 0, true, text);
    }
}

TEST(signals_are_the_command_s_while_it_runs)
{
    expect_in_child(record_check_signals);
}

TEST(a_log_of_a_process_that_runs_is_saved_and_kept)
{
    for (uint32_t running = 0; running < 8; running++)
        record_check_running(running);
}

int
main(void)
{
    return tests_run(spool_make_folder, spool_remove_folder);
}
