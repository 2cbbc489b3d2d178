/*
 * test_images.c -- which processes of a recorded program are kept, under which
 * names, and what is printed of those that are not; of spools made by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "images.h"
#include "images_case.h"
#include "in_child.h"
#include "record_case.h"
#include "record_outputs.h"
#include "recording.h"
#include "spool_case.h"
#include "unit_test.h"

enum { SECONDS = 60 };

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
        images_expect_all(&cases[i]);
}

TEST(one_that_is_damaged_costs_no_other)
{
    for (size_t damaged = 0; damaged < 32; damaged++) {
        struct images_case one = {.count = 4, .kept = damaged < 16 ? 4 : 2};

        for (size_t i = 0; i < 4; i++)
            one.made[i] = (struct made){.bytes = 7 - i % 3,
                                        .events = 3,
                                        .is_damaged = damaged >> i & 1};
        images_expect_all(&one);
    }
}

/* A process cannot be made, or not be heard: nothing is lost. */
TEST(without_memory_all_logs_are_kept)
{
    static const struct images_case one = {
        .made = {{5, 5, 0, 0, 0}, {4, 4, 0, 0, 0}}, .count = 2, .kept = 2};
    static const int exits[] = {CLI_NOT_FOUND, CLI_USAGE};

    for (unsigned i = 0; i < 2; i++) {
        struct captured said;

        images_refuse = IMAGES_REFUSE_FIRST_MEMORY + i;
        said = images_run(&one);
        images_refuse = IMAGES_REFUSE_NONE;
        assert_int_equal(said.exit_code, exits[i]);
        assert_int_equal(
            images_count_of(said.text, ": Cannot allocate memory\n"), 1);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(unlink(spool_path_of(images_spool_name(k))), 0);
        assert_int_equal(rmdir(spool_path_of("spools")), 0);
        captured_free(&said);
    }
}

TEST(without_a_process_that_saves_all_logs_are_kept)
{
    static const char *const reasons[] = {
        "record: saving failed: Resource temporarily unavailable\n",
        "record: saving failed: Too many open files\n"};

    for (size_t i = 0; i < 2; i++) {
        const struct images_case one = {
            .made = {{5, 5, 0, 0, 0}, {4, 4, 0, 0, 0}}, .count = 2, .kept = 1};
        struct captured said;

        images_refuse = i == 0 ? IMAGES_REFUSE_FORK : IMAGES_REFUSE_PIPE;
        said = images_run(&one);
        images_refuse = IMAGES_REFUSE_NONE;
        assert_int_equal(said.exit_code, CLI_USAGE);
        assert_int_equal(images_count_of(said.text, reasons[i]), 1);
        assert_non_null(strstr(said.text, "not saved: process 100, run it\n"));
        assert_non_null(strstr(said.text, "not saved: process 101, run it\n"));
        assert_non_null(strstr(said.text, "the logs of 2 processes are kept"));
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(unlink(spool_path_of(images_spool_name(k))), 0);
        assert_int_equal(rmdir(spool_path_of("spools")), 0);
        assert_int_not_equal(access(spool_path_of("out"), F_OK), 0);
        captured_free(&said);
    }
}

/* Lists end after 20 lines; what they leave out is counted. */
static void
expect_lists(size_t count, bool is_damaged)
{
    const size_t listed = count < 20 ? count : 20;
    struct images_case one = {.count = count, .kept = count};
    struct captured said;
    char line[64];

    for (size_t i = 0; i < count; i++)
        one.made[i] = (struct made){.bytes = 100 - i,
                                    .events = 1,
                                    .is_damaged = is_damaged,
                                    .executes_at = 1000000};
    said = images_run(&one);
    assert_int_equal(images_count_of(said.text, " bytes asked for, "),
                     is_damaged ? 0 : listed);
    snprintf(line, sizeof line, "and %zu smaller, up to %s.%zu\n", count - 20,
             spool_path_of("out"), count);
    assert_int_equal(strstr(said.text, "smaller, up to") != NULL,
                     count > 20 && !is_damaged);
    if (count > 20 && !is_damaged)
        assert_non_null(strstr(said.text, line));
    assert_int_equal(images_count_of(said.text, "not recorded: process "),
                     listed);
    snprintf(line, sizeof line, "record: %zu executed programs ran", count);
    assert_non_null(strstr(said.text, line));
    assert_int_equal(images_count_of(said.text, "not saved: process "),
                     is_damaged ? listed : 0);
    snprintf(line, sizeof line, "record: the logs of %zu processes are kept",
             count);
    assert_int_equal(strstr(said.text, line) != NULL, is_damaged);
    images_expect_left(&said);
    for (size_t i = 0; i < count; i++)
        images_expect_file(i, !is_damaged);
    captured_free(&said);
}

TEST(each_list_has_at_most_20_lines)
{
    expect_lists(20, true);
    expect_lists(21, true);
    expect_lists(IMAGES_MOST, false);
    expect_lists(20, false);
}

/* What the frees lack that the recording has anyway, or of objects from before
 * the start, is not mentioned. */
TEST(what_a_recording_lacks_is_told)
{
    static const char *const lines[CLI_RECFILE_CAUSES] = {
        "not recorded 1 event after the log was full: ",
        "not recorded 2 events after the disk was full: ",
        "not recorded 3 events inside the recorder: ",
        "not recorded 1 allocation before the recorder could start: ",
        "that were never seen",
        "that nobody saw",
        "not recorded 4 waits for locks beyond the recorder's table: ",
        "not recorded 1 child, forked by a process that confined itself: "};
    static const uint64_t counts[CLI_RECFILE_CAUSES] = {1, 2, 3, 1, 9, 9, 4, 1};

    for (size_t cause = 0; cause < CLI_RECFILE_CAUSES; cause++) {
        struct images_case one = {.count = 2, .kept = 2};
        const bool is_told =
            cause != EMBED_DROP_UNKNOWN && cause != EMBED_DROP_MISSED;
        char line[256];
        struct captured said;

        for (size_t i = 0; i < 2; i++)
            one.made[i] = (struct made){.bytes = 9 - i, .events = 3};
        images_dropped[cause] = counts[cause];
        said = images_run(&one);
        images_dropped[cause] = 0;
        for (size_t i = 0; i < 2; i++) {
            snprintf(line, sizeof line, "run it\nprofsim record: %s%s: %s",
                     spool_path_of("out"), i == 0 ? "" : ".2", lines[cause]);
            assert_int_equal(images_count_of(said.text, line), is_told);
        }
        assert_int_equal(images_count_of(said.text, lines[cause]), 2 * is_told);
        images_expect_saved(&said);
        images_expect_left(&said);
        captured_free(&said);
    }
}

/* Those that are not listed are counted. */
TEST(smaller_recordings_that_lack_something_are_counted)
{
    struct images_case one = {.count = 23, .kept = 23};
    struct captured said;

    for (size_t i = 0; i < one.count; i++)
        one.made[i] = (struct made){.bytes = 100 - i, .events = 1};
    for (size_t cause = 0; cause < CLI_RECFILE_CAUSES; cause++) {
        images_dropped[cause] = 1;
        said = images_run(&one);
        images_dropped[cause] = 0;
        assert_int_equal(
            images_count_of(said.text, "\nprofsim record: 3 of these lack "
                                       "events, too; 'profsim run' says "
                                       "which\n"),
            cause != EMBED_DROP_UNKNOWN && cause != EMBED_DROP_MISSED);
        for (size_t i = 0; i < one.count; i++)
            images_expect_file(i, true);
        images_expect_left(&said);
        captured_free(&said);
    }
}

TEST(a_folder_that_cannot_be_read_is_told)
{
    char *argv[] = {strdup(spool_path_of("none")), strdup(spool_path_of("out")),
                    NULL};
    struct captured said;

    assert_true(captured_run(&said, images_save, argv, -1, SECONDS));
    assert_int_equal(said.exit_code, CLI_NOT_FOUND);
    assert_non_null(strstr(said.text, "profsim record: "));
    assert_non_null(strstr(said.text, "/none: No such file or directory\n"));
    captured_free(&said);
    free(argv[0]);
    free(argv[1]);
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
        struct captured said = images_run(&one);

        assert_int_equal(
            strstr(said.text, "not recorded: process 100, /gon\n") != NULL,
            cases[i].is_lost);
        assert_int_equal(strstr(said.text, "1 executed program ran") != NULL,
                         cases[i].is_lost);
        images_expect_saved(&said);
        images_expect_left(&said);
        captured_free(&said);
    }
}

TEST(a_record_that_is_cut_off_names_nothing)
{
    record_check_cut();
}

/* ---- whole commands ---- */

TEST(record_ends_as_its_command)
{
    static const struct {
        const char *script;
        int exit_code;
        int signal;
        bool is_there;
        const char *text;
    } cases[] = {
        {RECORD_SAVE, 0, 0, true,
         "out: 10 bytes asked for, 1 event, process 77: "},
        {RECORD_SAVE "exit 3", 3, 0, true, "out: 10 bytes"},
        {RECORD_SAVE "exit 255", 255, 0, true, "out: 10 bytes"},
        {RECORD_SAVE "kill -9 $$", -1, 9, true, "out: 10 bytes"},
        {RECORD_SAVE "kill -TERM $$", -1, 15, true, "out: 10 bytes"},
        {RECORD_SAVE "kill -QUIT $$", -1, 3, true, "out: 10 bytes"},
        {"exit 3", 125, 0, false, "the command exited with 3\n"},
        {"kill -9 $$", 125, 0, false, "was ended by signal 9\n"},
        {":", 125, 0, false, "sh: did not load the recorder"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        record_expect(&(struct record_case){.script = cases[i].script},
                      cases[i].exit_code, cases[i].signal, cases[i].is_there,
                      cases[i].text);
}

/* Why nothing was logged is known if no file can be written there. */
TEST(a_folder_of_logs_that_is_full_is_told)
{
    record_expect(&(struct record_case){.script = ":", .file_bytes = 65536},
                  CLI_RECORD, 0, false, "sh: did not load the recorder");
    record_expect(
        &(struct record_case){.script = "exit 3", .file_bytes = 65535},
        CLI_RECORD, 0, false,
        ": File too large\n"
        "profsim record: the command exited with 3\n");
}

TEST(what_cannot_be_recorded_is_told)
{
    static const struct record_case cases[] = {
        {.options = {"--", "/no/such/command"}},
        {.options = {"--", "/"}},
        {.script = RECORD_SAVE, .library = "/no/such.so"},
        {.script = RECORD_SAVE, .library = "/dev/../dev/null "},
        {.script = RECORD_SAVE, .options = {"-o", "/no/such/folder/out"}},
        {.script = RECORD_SAVE, .options = {"--depth", "0"}},
        {.script = RECORD_SAVE, .options = {"--images", "0"}},
        {.script = RECORD_SAVE, .options = {"--limit", "65535"}},
        {.script = RECORD_SAVE, .options = {"--limit", "1025G"}},
        {.script = RECORD_SAVE, .options = {"--images", "1000001"}},
        {.script = RECORD_SAVE, .options = {"--depth", "1000000"}},
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
        record_expect(&cases[i], exits[i], 0, false, texts[i]);
}

TEST(the_output_does_not_replace_what_the_command_uses)
{
    record_check_used();
}

TEST(the_output_may_have_the_name_of_a_program)
{
    record_check_unused();
}

TEST(an_output_without_a_name_is_refused)
{
    record_check_unnamed();
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
                "$LD_PRELOAD;" RECORD_SAVE
                "test $PROFSIM_SPOOL_DEVICE = $(stat -c %d \"$PROFSIM_SPOOL\") "
                "&& test $PROFSIM_SPOOL_INODE = "
                "$(stat -c %i \"$PROFSIM_SPOOL\")",
            .preloaded = i % 2 == 0 ? NULL : record_library()};

        memcpy(one.options, cases[i].options, sizeof one.options);
        snprintf(text, sizeof text, "%s%s%s%s\n", cases[i].text,
                 record_library(), i % 2 == 0 ? "" : ":",
                 i % 2 == 0 ? "" : record_library());
        record_expect(&one, 0, 0, true, text);
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
