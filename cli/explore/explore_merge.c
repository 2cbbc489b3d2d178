/* explore_merge.c -- see explore_merge.h. */
#include "explore_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complaint.h"
#include "escape.h"
#include "explore.h"
#include "explore_result.h"
#include "kernel_groups.h"
#include "missing.h"
#include "quote.h"

/* What is kept of each shard. Its sums are added to `whole`. */
struct seen {
    const char *path; /* NULL: missing */
    uint64_t graphs;
    uint64_t graphs_sum;
    enum cli_exit exit_code;
};

/* What all shards together have learned of the program. */
struct known {
    uint64_t loops[SIM_LOOPS_MAX]; /* in order */
    uint64_t loops_count;
    uint64_t depth; /* of the shards that know all loops */
};

struct merge {
    struct known known;
    struct cli_explored whole; /* the sums, and the first failure */
    const char *first;         /* the file that defines the search */
    const char *failed_at;     /* the file with the failure */
    struct seen *shards;
};

bool
cli_is_explored(const char *first)
{
    return strcmp(first, CLI_EXPLORED_FIRST) == 0;
}

static uint32_t
shards_of(const struct cli_explored *e)
{
    return e->shard.count != 0 ? e->shard.count : 1;
}

/* Does the result ask only for a kernel and options with a number? Then nothing
 * loads or runs a file. */
static bool
is_harmless(const char *asked)
{
    char text[CLI_EXPLORED_WORDS];
    char *rest;
    char *word;

    snprintf(text, sizeof text, "%s", asked);
    word = strtok_r(text, " ", &rest);
    if (word == NULL || strcmp(word, "explore") != 0)
        return false;
    word = strtok_r(NULL, " ", &rest);
    if (word == NULL || *word == '-' || strchr(word, '/') != NULL)
        return false;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        const char *value = strtok_r(NULL, " ", &rest);

        if ((strcmp(word, "--bound") != 0 && strcmp(word, "--unroll") != 0 &&
             strcmp(word, "--spurious") != 0) ||
            value == NULL || strspn(value, "0123456789") != strlen(value))
            return false;
    }
    return true;
}

static bool
begin(struct merge *m, const struct cli_explored *e, const char *path)
{
    if (!is_harmless(e->asked))
        return cli_complain("%s: 'asked %s' is not a command of profsim", path,
                            e->asked);
    m->whole = *e;
    m->whole.choices = NULL;
    m->whole.runs = m->whole.graphs = m->whole.graphs_sum = 0;
    m->whole.bounded = m->whole.spent_ms = 0;
    m->whole.exit_code = CLI_OK;
    m->shards = cli_need(calloc(shards_of(e), sizeof *m->shards));
    m->first = path;
    return true;
}

/* Do both shards belong to one search? */
static bool
fits(const struct merge *m, const struct cli_explored *e, const char *path)
{
    const struct cli_explored *w = &m->whole;
    const char *what = NULL;

    if (strcmp(w->version, e->version) != 0)
        what = "version";
    else if (strcmp(w->program, e->program) != 0)
        what = "build";
    else if (strcmp(w->asked, e->asked) != 0)
        what = "search";
    else if (w->shard.count != e->shard.count)
        what = "number of shards";
    return what == NULL ||
           cli_complain("%s: it has another %s than %s", path, what, m->first);
}

/* ---- What the shards have learned ---- */

static bool
has_loops(const struct cli_explored *e, const struct known *k)
{
    return e->loops_count == k->loops_count &&
           memcmp(e->loops, k->loops, k->loops_count * sizeof *k->loops) == 0;
}

static void
know_loop(struct known *k, uint64_t loop)
{
    uint64_t i = k->loops_count;

    while (i > 0 && k->loops[i - 1] > loop)
        i--;
    if ((i > 0 && k->loops[i - 1] == loop) || k->loops_count == SIM_LOOPS_MAX)
        return;
    memmove(&k->loops[i + 1], &k->loops[i],
            (k->loops_count - i) * sizeof *k->loops);
    k->loops[i] = loop;
    k->loops_count++;
}

/* Does the shard know everything that the shards know together? Only then has
 * it searched the right lists. */
static bool
is_up_to_date(const struct known *k, const struct cli_explored *e)
{
    if (e->depth != k->depth)
        return false;
    return has_loops(e, k) || (e->depth == 0 && e->graphs == 0);
}

static bool
add(struct merge *m, struct cli_explored *e, const char *path)
{
    const uint32_t i = e->shard.index != 0 ? e->shard.index - 1 : 0;
    struct seen *seen = &m->shards[i];

    if (seen->path != NULL)
        return (seen->graphs == e->graphs &&
                seen->graphs_sum == e->graphs_sum &&
                seen->exit_code == e->exit_code) ||
               cli_complain(
                   "%s and %s are results of the same shard, but differ",
                   seen->path, path);
    *seen = (struct seen){path, e->graphs, e->graphs_sum, e->exit_code};
    m->whole.runs += e->runs;
    m->whole.graphs += e->graphs;
    m->whole.graphs_sum += e->graphs_sum;
    m->whole.bounded += e->bounded;
    m->whole.spent_ms += e->spent_ms;
    if (cli_exit_worse(m->whole.exit_code, e->exit_code) !=
        m->whole.exit_code) {
        m->whole.exit_code = e->exit_code;
        free(m->whole.choices);
        m->whole.choices = e->choices;
        e->choices = NULL;
        m->failed_at = path;
    }
    return true;
}

static bool
is_missing(const void *context, uint32_t shard)
{
    const struct merge *m = context;

    return m->shards[shard].path == NULL;
}

/* ---- A failure is run again ---- */

enum { WORDS_MAX = 16 };

/* Run `profsim explore ... --replay CHOICES` in a process of its own. */
static enum cli_exit
replay(const struct cli_explored *e)
{
    static char asked[CLI_EXPLORED_WORDS];
    char option[] = "--replay";
    char *words[WORDS_MAX + 3];
    char *rest;
    int count = 0;
    int status = 0;
    pid_t child;

    snprintf(asked, sizeof asked, "%s", e->asked);
    for (char *word = strtok_r(asked, " ", &rest);
         word != NULL && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count++] = option;
    words[count++] = e->choices;
    words[count] = NULL;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        const enum cli_exit exit_code = cli_explore(count, words);

        fflush(stdout);
        _exit((int)exit_code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return cli_usage("the system refused a process");
    return WIFEXITED(status) ? (enum cli_exit)WEXITSTATUS(status) : CLI_CRASH;
}

/* Is the kernel one of profsim's? Any other is a user's program, which merge
 * cannot run. */
static bool
is_own_kernel(const struct cli_explored *e)
{
    const char *name = e->asked + strlen("explore ");
    const size_t bytes = strcspn(name, " ");

    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        for (size_t k = 0; cli_kernel_groups[g][k].name != NULL; k++) {
            if (strlen(cli_kernel_groups[g][k].name) == bytes &&
                memcmp(cli_kernel_groups[g][k].name, name, bytes) == 0)
                return true;
        }
    }
    return false;
}

/* Repeat a failure: it counts only if it fails here, too. returns: the exit
 * code */
static enum cli_exit
confirm(const struct merge *m)
{
    const struct cli_explored *w = &m->whole;

    if (w->exit_code == CLI_OK)
        return CLI_OK;
    if (!is_own_kernel(w)) {
        sim_escape_line(stdout,
                        "%s: a failure of a program that is not a kernel of "
                        "profsim; it was not run again",
                        m->failed_at);
        return w->exit_code;
    }
    if (w->choices == NULL)
        return cli_usage("%s: a failure without choices cannot be run again",
                         m->failed_at);
    if (replay(w) != w->exit_code)
        return cli_usage("%s: its choices do not fail as it says",
                         m->failed_at);
    return w->exit_code;
}

static enum cli_exit
tell(const struct merge *m, const char *folder, struct cli_report *report)
{
    const struct cli_explored *w = &m->whole;
    const char *kernel = w->asked + strcspn(w->asked, " ");
    enum cli_exit exit_code = confirm(m);
    uint32_t missing;
    struct cli_result *result;

    if (exit_code == CLI_USAGE)
        return exit_code;
    missing = cli_missing_tell(is_missing, m, shards_of(w), w->asked, folder);
    if (exit_code == CLI_OK && (missing > 0 || w->graphs == 0))
        exit_code = CLI_INCOMPLETE;
    printf("%s: %" PRIu64 " runs, %" PRIu64 " graphs, log hash %016" PRIx64
           ", %s\n",
           w->asked, w->runs, w->graphs, w->graphs_sum,
           missing > 0                   ? "not finished"
           : exit_code == CLI_INCOMPLETE ? "no run comes to its end"
           : exit_code != CLI_OK         ? "fails"
           : w->bounded > 0              ? "holds, waits to a bound"
                                         : "holds");
    if (w->choices != NULL)
        printf("replay: profsim %s --replay %s\n", w->asked, w->choices);
    result = cli_report_add(
        report, "kernels", *kernel != '\0' ? kernel + 1 : "",
        exit_code == CLI_OK && w->bounded > 0 ? CLI_VERDICT_BOUNDED
                                              : cli_verdict_of(exit_code));
    cli_result_count(result, "runs", w->runs);
    cli_result_count(result, "graphs", w->graphs);
    return exit_code;
}

typedef bool take_result(struct merge *m, struct cli_explored *e,
                         const char *path);

static bool
learn_loops(struct merge *m, struct cli_explored *e, const char *path)
{
    if ((m->first == NULL && !begin(m, e, path)) || !fits(m, e, path))
        return false;
    for (uint64_t i = 0; i < e->loops_count; i++)
        know_loop(&m->known, e->loops[i]);
    return true;
}

/* If one shard found that the search cannot be split, that holds for all. */
static bool
learn_depth(struct merge *m, struct cli_explored *e, const char *path)
{
    (void)path;
    if (e->depth == 0 ||
        (m->known.depth == UINT64_MAX && has_loops(e, &m->known)))
        m->known.depth = e->depth;
    return true;
}

/* Count a shard as missing if it knows less than all shards together. */
static bool
add_known(struct merge *m, struct cli_explored *e, const char *path)
{
    if (e->exit_code != CLI_OK || is_up_to_date(&m->known, e))
        return add(m, e, path);
    sim_escape_line(stdout,
                    "%s: other shards have learned more of the program: this "
                    "one begins again",
                    path);
    return true;
}

static enum cli_exit
take_all(struct merge *m, char *const *paths, uint32_t paths_count,
         take_result *take)
{
    enum cli_exit exit_code = CLI_OK;

    for (uint32_t i = 0; i < paths_count; i++) {
        struct cli_explored e;

        if (!cli_explored_read(&e, paths[i])) {
            exit_code = CLI_USAGE;
            continue;
        }
        if (!take(m, &e, paths[i]))
            exit_code = CLI_USAGE;
        cli_explored_free(&e);
    }
    return exit_code;
}

static enum cli_exit
add_all(struct merge *m, char *const *paths, uint32_t paths_count)
{
    static take_result *const takes[] = {learn_loops, learn_depth, add_known};
    enum cli_exit exit_code = CLI_OK;

    m->known.depth = UINT64_MAX;
    for (size_t i = 0; i < 3 && exit_code == CLI_OK; i++)
        exit_code = take_all(m, paths, paths_count, takes[i]);
    return exit_code;
}

enum cli_exit
cli_explore_merge(char *const *paths, uint32_t paths_count, const char *folder,
                  struct cli_report *report)
{
    static struct merge m;
    enum cli_exit exit_code;

    memset(&m, 0, sizeof m);
    exit_code = add_all(&m, paths, paths_count);
    if (exit_code == CLI_OK)
        exit_code = tell(&m, folder, report);
    cli_explored_free(&m.whole);
    free(m.shards);
    return exit_code;
}
