/*
 * record.c -- `profsim record`: run a command under the recorder.
 *
 *      record -- COMMAND           LD_PRELOAD=libprofsim-record.so
 *        |                         PROFSIM_SPOOL=<private directory>
 *        +-- spool per image  -->  FILE, FILE.2, ... (images.c)
 *
 * The command keeps its stdio, its arguments and its exit status; messages go
 * to stderr after it has ended. This process ignores ^C, which the command also
 * gets, and goes on to save the recordings.
 */
#include "record/command/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/command/exit.h"
#include "record/symbols/images.h"
#include "common/command/preload.h"
#include "prof/file.h"
#include "common/command/preloaded_program.h"
#include "record/command/record_options.h"
#include "record/preload/spool.h"

/* What the recorder asks of the disk before it begins. */
enum { LOG_BYTES_MIN = 65536 };

static bool
complain(const char *what, const char *reason)
{
    sim_escape_line(stderr, "profsim record: %s: %s", what, reason);
    return false;
}

/* Is the output the program, its script, or another file that an argument
 * names? */
static bool
is_used(const struct prof_file *output, char **command)
{
    struct cli_program program;

    cli_program_look(&program, command[0]);
    if (prof_file_is(output, program.found))
        return true;
    for (size_t i = 1; command[i] != NULL; i++)
        if (prof_file_is(output, command[i]))
            return true;
    return false;
}

/* Can the output be written? Find out before the command runs, not after. */
static bool
can_write(const char *output, char **command)
{
    struct prof_file file;

    if (prof_file_check(&file, output) != PROF_OK)
        return complain(output, prof_file_reason(&file));
    return !is_used(&file, command) ||
           complain(output, "the command uses it; write another file");
}

static bool
make_spool_directory(char *path, size_t path_bytes)
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || *base != '/')
        base = "/tmp";
    /* The recorder has room for 400 bytes. */
    if (snprintf(path, path_bytes, "%s/profsim-XXXXXX", base) > 390)
        return complain(base, "too long a path for temporary files");
    if (mkdtemp(path) == NULL)
        return complain(path, strerror(errno));
    return true;
}

struct spooled {
    const struct cli_record_options *options;
    char spool[PATH_MAX];
};

static void
set_environment(void *context)
{
    const struct cli_record_options *options =
        ((const struct spooled *)context)->options;
    const char *spool = ((const struct spooled *)context)->spool;
    char text[32];
    struct stat status;

    setenv(EMBED_ENV_SPOOL, spool, 1);
    if (stat(spool, &status) == 0) {
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)status.st_dev);
        setenv(EMBED_ENV_DEVICE, text, 1);
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)status.st_ino);
        setenv(EMBED_ENV_INODE, text, 1);
    }
    snprintf(text, sizeof text, "%" PRIu64, options->limit_bytes);
    setenv(EMBED_ENV_LIMIT, text, 1);
    snprintf(text, sizeof text, "%" PRIu64, options->depth);
    setenv(EMBED_ENV_DEPTH, text, 1);
    setenv(EMBED_ENV_FRAMES, options->by_frames ? "1" : "0", 1);
    setenv(EMBED_ENV_USABLE, options->asks_usable ? "1" : "0", 1);
}

/* Save all recordings, even if one of them fails. */
static bool
finish(const char *folder, const struct cli_record_options *options)
{
    struct cli_images images;
    bool good = cli_images_read(&images, "record", folder);
    const char *const obstacle =
        good && images.count == 0 ? cli_preload_obstacle(folder, LOG_BYTES_MIN)
                                  : NULL;

    if (obstacle != NULL)
        good = complain(folder, obstacle);
    else if (good && images.count == 0)
        good = complain(options->command[0],
                        "did not load the recorder (statically linked, "
                        "set-uid, out of disk, or under a limit of its "
                        "address space or files?)");
    else if (good)
        good = cli_images_save(&images, options->output, options->images);
    cli_images_remove(&images);
    cli_images_release(&images);
    return good;
}

enum cli_exit
cli_record(int argc, char **argv)
{
    struct cli_record_options options;
    struct spooled spooled = {.options = &options};
    const struct cli_preload preload = {.verb = "record",
                                        .library = "libprofsim-record.so",
                                        .variable = "PROFSIM_RECORDER",
                                        .set_environment = set_environment,
                                        .context = &spooled};
    char library[PATH_MAX];
    int status = 0;
    enum cli_exit run;
    bool good;
    enum cli_exit wrong;

    if (!cli_record_options(&options, argc, argv, &wrong))
        return wrong;
    if (!can_write(options.output, options.command) ||
        !cli_preload_find(library, sizeof library, &preload) ||
        !make_spool_directory(spooled.spool, sizeof spooled.spool))
        return CLI_RECORD;
    run = cli_preload_run(&preload, library, options.command, &status);
    good = run == CLI_OK && finish(spooled.spool, &options);
    if (run != CLI_OK)
        rmdir(spooled.spool);
    cli_preload_let_go();
    if (run != CLI_OK)
        return run;
    if (good || !options.is_strict)
        return cli_preload_end_as(status);
    cli_preload_report_end(&preload, status);
    return CLI_RECORD;
}
