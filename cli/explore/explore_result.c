/* explore_result.c -- see explore_result.h. */
#include "explore_result.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complaint.h"
#include "line_reader.h"
#include "line_writer.h"

/* ---- Writing ---- */

static void
print_explored(FILE *file, const void *value)
{
    const struct cli_explored *const e = value;

    fprintf(file,
            CLI_EXPLORED_FIRST
            "\nversion %s\nprogram %s\nasked %s\nshard %" PRIu32 "/%" PRIu32
            "\nspent %" PRIu64 "\ndepth %" PRIu64 "\nloops %" PRIu64 "\n",
            e->version, e->program, e->asked, e->shard.index, e->shard.count,
            e->spent_ms, e->depth, e->loops_count);
    for (uint64_t i = 0; i < e->loops_count; i++)
        fprintf(file, "loop %016" PRIx64 "\n", e->loops[i]);
    fprintf(file,
            "runs %" PRIu64 "\ngraphs %" PRIu64 "\nhash %016" PRIx64
            "\nbounded %" PRIu64 "\nexit %d\n",
            e->runs, e->graphs, e->graphs_sum, e->bounded, (int)e->exit_code);
    if (e->choices != NULL)
        fprintf(file, "choices %s\n", e->choices);
}

const char *
cli_explored_write(const struct cli_explored *explored, const char *path)
{
    return cli_lines_write(path, print_explored, explored);
}

/* ---- Reading ---- */

static bool
take_loops(struct cli_reader *r, struct cli_explored *e)
{
    if (!cli_reader_line_number(r, "loops ", &e->loops_count))
        return false;
    if (e->loops_count > SIM_LOOPS_MAX)
        return cli_reader_wrong(r, "too many loops");
    for (uint64_t i = 0; i < e->loops_count; i++) {
        if (!cli_reader_line_hash(r, "loop ", &e->loops[i]))
            return false;
        if (i > 0 && e->loops[i] <= e->loops[i - 1])
            return cli_reader_wrong(r, "the loops are not in order");
    }
    return true;
}

/* Read the exit code, then the choices of a failure, then the end. */
static bool
take_verdict(struct cli_reader *r, struct cli_explored *e)
{
    uint64_t code;

    if (!cli_reader_line_number(r, "exit ", &code))
        return false;
    if (code == CLI_USAGE || code > CLI_NONDETERMINISM)
        return cli_reader_wrong(r, "not the verdict of a finished shard");
    e->exit_code = (enum cli_exit)code;
    if (!cli_reader_next(r))
        return false;
    if (code == CLI_OK || !cli_reader_skip(r, "choices "))
        return true;
    if (strspn(r->at, "0123456789,g") != strlen(r->at))
        return cli_reader_wrong(r, "not a list of choices");
    e->choices = cli_need(strdup(r->at));
    return cli_reader_next(r);
}

bool
cli_explored_read(struct cli_explored *e, const char *path)
{
    struct cli_reader r;
    bool good;

    memset(e, 0, sizeof *e);
    if (!cli_reader_open(&r, path, CLI_EXPLORED_FIRST))
        return false;
    good =
        cli_reader_line_text(&r, "version ", e->version, sizeof e->version) &&
        cli_reader_line_text(&r, "program ", e->program, sizeof e->program) &&
        cli_reader_line_text(&r, "asked ", e->asked, sizeof e->asked) &&
        cli_reader_line_shard(&r, &e->shard) &&
        cli_reader_line_number(&r, "spent ", &e->spent_ms) &&
        cli_reader_line_number(&r, "depth ", &e->depth) && take_loops(&r, e) &&
        cli_reader_line_number(&r, "runs ", &e->runs) &&
        cli_reader_line_number(&r, "graphs ", &e->graphs) &&
        cli_reader_line_hash(&r, "hash ", &e->graphs_sum) &&
        cli_reader_line_number(&r, "bounded ", &e->bounded) &&
        take_verdict(&r, e) && cli_reader_end(&r);
    cli_reader_close(&r);
    if (!good)
        cli_explored_free(e);
    return good;
}

void
cli_explored_free(struct cli_explored *e)
{
    free(e->choices);
    e->choices = NULL;
}

/* ---- What others have learned ---- */

static bool
is_result(const char *name)
{
    const size_t length = strlen(name);

    return length > 7 && name[0] != '.' &&
           strcmp(&name[length - 7], ".result") == 0;
}

/* returns: has that shard found that the search cannot be split? */
static bool
learn_from(const struct cli_explored *mine, const char *path)
{
    struct cli_explored other;
    bool whole = false;

    if (!cli_explored_read(&other, path))
        return false; /* `merge` refuses it */
    if (strcmp(other.program, mine->program) == 0 &&
        strcmp(other.asked, mine->asked) == 0) {
        for (uint64_t i = 0; i < other.loops_count; i++)
            sim_explore_learn_loop(other.loops[i]);
        whole = other.depth == 0 && other.shard.count == mine->shard.count;
    }
    cli_explored_free(&other);
    return whole;
}

bool
cli_explored_learn(const struct cli_explored *mine, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct dirent *entry;
    bool whole = false;
    DIR *list;

    snprintf(folder, sizeof folder, "%.*s",
             slash != NULL ? (int)(slash - path) : 1,
             slash != NULL ? path : ".");
    list = opendir(slash == path ? "/" : folder);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        char other[PATH_MAX];

        if (is_result(entry->d_name) &&
            snprintf(other, sizeof other, "%s/%s", folder, entry->d_name) <
                (int)sizeof other)
            whole |= learn_from(mine, other);
    }
    if (list != NULL)
        closedir(list);
    return whole;
}
