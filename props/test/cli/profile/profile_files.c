/* profile_files.c -- see profile_case.h: what becomes of the files. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/profile_env.h"
#include "profile_case.h"
#include "profile_world.h"
#include "unit_test.h"

/* In the order of their names; the last six are none of ours. */
static const struct profile_file files[] = {
    {"2.heap.pb", PROFILE, 2, "2.heap."},
    {"2.mutex.pb", PROFILE, 4, "2.mutex."},
    {"3.heap.pb", PROFILE, 1, "3.heap."},
    {"3.mutex.pb", DAMAGED, 0, NULL},
    {"4.block.pb", EMPTY, 0, NULL},
    {"4.heap.pb", PROFILE, 1, "4.heap."},
    {"5.block.pb", PIPE, 0, NULL},
    {"5.cpu.pb", LINK, 0, NULL},
    {"5.heap.pb", PROFILE, 3, "5.heap."},
    {"6.cpu.pb", LARGE, 0, NULL},
    {"heap.pb", PROFILE, 5, NULL},
    {".cpu.pb", PROFILE, 6, NULL},
    {"8.model.pb", EMPTY, 6, NULL},
    {"x8.cpu.pb", EMPTY, 6, NULL},
    {".pb", DAMAGED, 0, NULL},
    {"x.pb2", DAMAGED, 0, NULL},
};
enum { FILES = sizeof files / sizeof *files, SAVED = 5 + 4 };

static void
expect_all(const char *folder, bool otlp)
{
    static const char *const options[] = {"--otlp", NULL};
    char text[PROFILE_TEXT];
    FILE *const to = fmemopen(text, sizeof text, "w");

    assert_non_null(to);
    fprintf(to,
            "profsim: %s/out/3.mutex.pb: it is not a profile\n"
            "profsim: %s/out/5.block.pb: Invalid argument\n"
            "profsim: %s/out/5.cpu.pb: Too many levels of symbolic links\n"
            "profsim: %s/out/6.cpu.pb: File too large\n"
            "profsim profile: process 7: not in its profiles: 2 frees behind "
            "the profiler's back\n"
            "profsim profile: %d profiles in %s/./out\n",
            folder, folder, folder, folder, SAVED, folder);
    profile_print_largest(to, folder, files, FILES);
    assert_int_equal(fclose(to), 0);
    assert_null(strstr(text, "count +/-")); /* their number is not there */
    profile_make_folder(folder);
    for (int i = 0; i < FILES; i++)
        profile_make(folder, &files[i]);
    profile_expect(profile_run(folder, otlp ? options : options + 1,
                               "echo unseen_frees 2 >\"$" PROFILE_ENV_FOLDER
                               "/7.lost\""),
                   CLI_RECORD, 0, text);
    for (int i = 0; i < FILES; i++) {
        char allocs[32];

        if (files[i].saved != NULL)
            profile_expect_saved(folder, &files[i], files[i].saved, otlp, "");
        else if (files[i].made != EMPTY || i >= FILES - 6)
            profile_remove(folder, files[i].name);
        snprintf(allocs, sizeof allocs, "%c.allocs.", files[i].name[0]);
        if (profile_is_heap(&files[i]))
            profile_expect_saved(folder, &files[i], allocs, otlp,
                                 "alloc_space");
    }
    profile_remove(folder, "7.lost.txt");
    profile_remove(folder, "");
}

/* What cannot be saved stays as it was, and is not counted. in: which, of the
 * files that should be written the first one that cannot be */
static void
expect_unsaved(const char *folder, int which)
{
    static const struct profile_file file = {"2.heap.pb", PROFILE, 2,
                                             "2.heap."};
    static const char *const written[] = {"2.heap.pb.gz", "2.heap.otlp",
                                          "2.allocs.pb.gz", "2.allocs.otlp"};
    const struct profile_file taken = {written[which], FOLDER, 0, NULL};
    char text[PROFILE_TEXT];

    profile_make_folder(folder);
    profile_make(folder, &file);
    profile_make(folder, &taken);
    snprintf(text, sizeof text,
             which >= 2 ? "profsim: %s/out/%s: Is a directory\n"
                          "profsim profile: 1 profile in %s/./out\n"
                          "profsim profile: the command exited with 3\n"
                        : "profsim: %s/out/%s: Is a directory\n"
                          "profsim profile: the command exited with 3\n",
             folder, written[which], folder);
    profile_expect(
        profile_run(folder, (const char *const[]){"--otlp", NULL}, "exit 3"),
        CLI_RECORD, 0, text);
    profile_remove(folder, file.name);
    for (int i = 0; i <= which; i++)
        profile_remove(folder, written[i]);
    profile_remove(folder, "");
}

static void
expect_unread(const char *folder, size_t read_bytes, uint32_t reads,
              int read_end)
{
    static const struct profile_file file = {"2.cpu.pb", PROFILE, 2, "2.cpu."};
    char text[PROFILE_TEXT];

    profile_make_folder(folder);
    profile_make(folder, &file);
    profile_special.read_bytes = read_bytes;
    profile_special.reads = reads;
    profile_special.read_end = read_end;
    if (reads > 0)
        snprintf(text, sizeof text, "profsim: %s/out/2.cpu.pb: %s\n", folder,
                 strerror(read_end != 0 ? read_end : EIO));
    else
        snprintf(text, sizeof text, "profsim profile: 1 profile in %s/./out\n",
                 folder);
    profile_expect(profile_run(folder, (const char *const[]){NULL}, ":"),
                   reads > 0 ? CLI_RECORD : CLI_OK, 0, text);
    profile_special.read_bytes = 0;
    if (reads > 0)
        profile_remove(folder, file.name);
    else
        profile_expect_saved(folder, &file, file.saved, false, "");
    profile_remove(folder, "");
}

/* A signal while names are looked up ends it; nobody hears SIGPIPE. */
static void
expect_ended(const char *folder, int signal)
{
    static const struct profile_file file = {"2.cpu.pb", PROFILE, 2, "2.cpu."};
    struct captured said;

    profile_make_folder(folder);
    profile_make(folder, &file);
    profile_special.read_bytes = 1000;
    profile_special.signal_at_read = signal;
    said = profile_run(folder, (const char *const[]){NULL}, ":");
    profile_special.read_bytes = 0;
    profile_special.signal_at_read = 0;
    assert_int_equal(said.signal, signal == SIGPIPE ? 0 : signal);
    captured_free(&said);
    if (signal != SIGPIPE)
        profile_remove(folder, file.name);
    else
        profile_expect_saved(folder, &file, file.saved, false, "");
    profile_remove(folder, "");
}

/* Without memory it stays as it was, or all of it is saved. */
static void
expect_refused(const char *folder)
{
    static const struct profile_file file = {"2.heap.pb", ONE, 0, NULL};
    static const char *const saved[] = {"2.heap.pb.gz", "2.allocs.pb.gz"};
    bool failed = true;

    for (uint32_t i = 1; failed && i < 200; i++) {
        struct captured said;
        char path[PATH_MAX];

        profile_make_folder(folder);
        profile_make(folder, &file);
        profile_special.refused = i;
        said = profile_run(folder, (const char *const[]){NULL}, ":");
        failed = said.exit_code != 0;
        for (int k = 0; k < 2; k++) {
            profile_path(path, folder, saved[k], "");
            if (unlink(path) != 0)
                assert_true(failed);
        }
        profile_path(path, folder, file.name, "");
        assert_int_equal(unlink(path) == 0, failed);
        captured_free(&said);
        profile_remove(folder, "");
    }
    assert_false(failed);
    profile_special.refused = 0;
}

void
profile_check_files(const char *folder)
{
    profile_special.is_closed = true;
    expect_all(folder, false);
    profile_special.is_closed = false;
    expect_all(folder, true);
    for (int which = 0; which < 4; which++)
        expect_unsaved(folder, which);
    expect_unread(folder, 100, 0, 0);
    expect_unread(folder, 100, 2, 0);
    expect_unread(folder, 100, 2, EISDIR);
    expect_ended(folder, SIGTERM);
    expect_ended(folder, SIGINT);
    expect_ended(folder, SIGHUP);
    expect_ended(folder, SIGPIPE);
    expect_refused(folder);
}
