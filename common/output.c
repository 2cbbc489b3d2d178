/* output.c -- see output.h. */
#include "common/output.h"

#include <errno.h>
#include <signal.h>

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define DEADLY_COUNT (sizeof deadly / sizeof *deadly)

static struct prof_file *volatile written; /* NULL: none */
static struct sigaction before[DEADLY_COUNT];
static struct sigaction before_limit;

/* Remove the unfinished file; then let the signal do what it would have
 * done. */
static void
clean_up(int number)
{
    if (written != NULL)
        prof_file_abandon(written);
    signal(number, SIG_DFL);
    raise(number);
}

/* Catch a signal, unless it is ignored or handled already. */
static void
guard(struct prof_file *file)
{
    const struct sigaction cleaning = {.sa_handler = clean_up};
    const struct sigaction ignoring = {.sa_handler = SIG_IGN};

    file->folder = -1;
    file->temporary[0] = '\0';
    written = file;
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        sigaction(deadly[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_DFL)
            sigaction(deadly[i], &cleaning, NULL);
    }
    sigaction(SIGXFSZ, &ignoring, &before_limit);
}

static void
guard_end(void)
{
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaction(deadly[i], &before[i], NULL);
    sigaction(SIGXFSZ, &before_limit, NULL);
    written = NULL;
}

enum prof_status
props_output_begin(struct prof_file *file, const struct props_output *output)
{
    enum prof_status status;

    guard(file);
    status = output->is_private ? prof_file_begin_private(file, output->path)
                                : prof_file_begin(file, output->path);
    if (status == PROF_OK && output->input != NULL &&
        prof_file_is(file, output->input)) {
        status = prof_file_end(file, PROF_ERR_SINK);
        file->error = EINVAL;
        file->reason = "it is the input; write another file";
    }
    if (status != PROF_OK)
        guard_end();
    return status;
}

enum prof_status
props_output_end(struct prof_file *file, enum prof_status status)
{
    status = prof_file_end(file, status);
    guard_end();
    return status;
}

const char *
props_output_write(const struct props_output *output, const void *bytes,
                   size_t bytes_count)
{
    struct prof_file file;
    enum prof_status status = props_output_begin(&file, output);
    const struct prof_sink sink = prof_file_sink(&file);

    if (status == PROF_OK)
        status = props_output_end(&file,
                                  sink.write(sink.context, bytes, bytes_count));
    return status == PROF_OK ? NULL : prof_file_reason(&file);
}
