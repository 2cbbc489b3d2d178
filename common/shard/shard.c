/* shard.c -- see shard.h. */
#include "common/shard/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/command/complaint.h"
#include "prof/file.h"

/* The environment variables that a scheduler sets. */
struct scheduler {
    const char *index;
    const char *count; /* NULL: it sets none */
    const char *least; /* of the index; NULL: see `from` */
    const char *step;  /* NULL: 1 */
    uint32_t from;
};

static const struct scheduler schedulers[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_STEP", 1},
    {"JOB_COMPLETION_INDEX", NULL, NULL, NULL, 0},
    {"PARALLEL_SEQ", NULL, NULL, NULL, 1},
    {"CI_NODE_INDEX", "CI_NODE_TOTAL", NULL, NULL, 1},
};

static bool
is_set(const char *name)
{
    return name != NULL && getenv(name) != NULL;
}

/* Read a number from an environment variable. out: *value, unchanged if the
 * variable is not set */
static bool
variable(const char *name, uint64_t *value)
{
    return !is_set(name) ||
           cli_number(name, getenv(name), 0, UINT32_MAX, value);
}

/* returns: the one scheduler whose index is set; NULL, and a complaint, if
 * there is none or there are several */
static const struct scheduler *
find(void)
{
    const struct scheduler *found = NULL;

    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        if (!is_set(schedulers[i].index))
            continue;
        if (found != NULL) {
            cli_complain("--shard auto: %s and %s are both set; write I/N",
                         found->index, schedulers[i].index);
            return NULL;
        }
        found = &schedulers[i];
    }
    if (found == NULL)
        cli_complain("--shard auto: no scheduler has set "
                     "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ "
                     "or CI_NODE_INDEX");
    return found;
}

/*
 * in:      count, N of `auto/N`; 0: the scheduler gives it. If N is given, a
 *          task's number is its shard's, so a job may run only some tasks of
 *          the array.
 */
static bool
take_scheduler(struct cli_shard *shard, uint64_t count)
{
    const struct scheduler *s = find();
    const bool given = count != 0;
    uint64_t index = 0;
    uint64_t least;
    uint64_t step = 1;

    if (s == NULL)
        return false;
    least = s->from;
    if (!variable(s->index, &index) ||
        (!given && (!variable(s->count, &count) ||
                    !variable(s->least, &least) || !variable(s->step, &step))))
        return false;
    if (count == 0)
        return cli_complain("--shard auto: nothing says how many shards "
                            "there are besides %s; write auto/N",
                            s->index);
    if (count > CLI_SHARDS_MAX)
        return cli_complain("--shard auto: more than %d shards",
                            CLI_SHARDS_MAX);
    if (index < least || step == 0 || (index - least) % step != 0 ||
        (index - least) / step >= count)
        return cli_complain("--shard auto: %s is %llu, not one of the %llu "
                            "numbers from %llu on",
                            s->index, (unsigned long long)index,
                            (unsigned long long)count,
                            (unsigned long long)least);
    shard->index = (uint32_t)((index - least) / step) + 1;
    shard->count = (uint32_t)count;
    return true;
}

bool
cli_shard_parse(struct cli_shard *shard, const char *text)
{
    const char *slash = strchr(text, '/');
    const size_t bytes = slash != NULL ? (size_t)(slash - text) : strlen(text);
    uint64_t index;
    uint64_t count = 0;
    char first[32];

    if ((slash == NULL && strcmp(text, "auto") != 0) || bytes >= sizeof first)
        return cli_complain("--shard takes I/N, auto or auto/N, not '%s'",
                            text);
    snprintf(first, sizeof first, "%.*s", (int)bytes, text);
    if (slash != NULL &&
        !cli_number("--shard", slash + 1, 1, CLI_SHARDS_MAX, &count))
        return false;
    if (strcmp(first, "auto") == 0)
        return take_scheduler(shard, count);
    if (!cli_number("--shard", first, 1, count, &index))
        return false;
    *shard = (struct cli_shard){(uint32_t)index, (uint32_t)count};
    return true;
}

bool
cli_result_take(const char **to, const char *value)
{
    *to = value;
    return *value != '\0' || cli_complain("--result needs the name of a file");
}

bool
cli_result_path(const char *given, struct cli_shard shard, char *path,
                size_t room)
{
    struct prof_file folder;
    struct stat like;
    int bytes;

    if (given[strlen(given) - 1] == '/' ||
        (stat(given, &like) == 0 && S_ISDIR(like.st_mode))) {
        if (prof_file_folder(&folder, given) != PROF_OK)
            return cli_complain("%s: %s", given, prof_file_reason(&folder));
        bytes =
            snprintf(path, room, "%s/shard-%" PRIu32 "-of-%" PRIu32 ".result",
                     given, shard.index, shard.count);
    } else {
        bytes = snprintf(path, room, "%s", given);
    }
    return (size_t)bytes < room ||
           cli_complain("%s: the name is too long", given);
}
