/* shard_result.c -- see shard_result.h; docs/scale.md has the format. */
#include "shard_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "line_writer.h"
#include "prof/version.h"

const char *
cli_part_name(enum cli_part_kind kind)
{
    return kind == CLI_PART_HEAPS ? "heaps" : "traces";
}

bool
cli_shard_result_begin(struct cli_shard_result *result, const char *asked,
                       struct cli_shard shard)
{
    memset(result, 0, sizeof *result);
    result->shard = shard;
    snprintf(result->version, sizeof result->version, "%s", PROF_VERSION);
    snprintf(result->asked, sizeof result->asked, "%s", asked);
    return cli_program_id(result->program);
}

void
cli_shard_result_free(struct cli_shard_result *result)
{
    for (int i = 0; i < CLI_PART_COUNT; i++) {
        free(result->parts[i].failure.scenario);
        result->parts[i].failure.scenario = NULL;
    }
}

/* ---- Writing ---- */

static void
print_failure(FILE *file, const struct cli_shard_failure *failure)
{
    const char *text = failure->scenario != NULL ? failure->scenario : "";

    if (failure->exit_code == CLI_OK)
        return;
    fprintf(file, "failure %s seed %" PRIu64 " exit %d scenario %zu\n%s",
            props_property_id(failure->property), failure->seed,
            (int)failure->exit_code, strlen(text), text);
}

static void
print_part(FILE *file, const struct cli_part *part, enum cli_part_kind kind,
           uint64_t step)
{
    if (part->runs == 0 && part->failure.exit_code == CLI_OK)
        return;
    fprintf(file, "part %s\n", cli_part_name(kind));
    if (part->runs > 0)
        fprintf(file,
                "seeds %" PRIu64 "..%" PRIu64 " step %" PRIu64 "\nruns %" PRIu64
                "\nevents %" PRIu64 "\nhash %016" PRIx64 "\n",
                part->seed_first, part->seed_first + (part->runs - 1) * step,
                step, part->runs, part->events, part->hash);
    for (int i = 0; i < COVER_COUNT; i++) {
        if (part->cover.hits[i] > 0)
            fprintf(file, "goal %s %" PRIu64 "\n",
                    props_cover_id((enum props_cover)i), part->cover.hits[i]);
    }
    print_failure(file, &part->failure);
}

static void
print_result(FILE *file, const void *value)
{
    const struct cli_shard_result *const r = value;

    fprintf(file,
            "profsim result 1\nversion %s\nprogram %s\nasked %s\n"
            "shard %" PRIu32 "/%" PRIu32 "\nspent %" PRIu64 " ms\n",
            r->version, r->program, r->asked, r->shard.index, r->shard.count,
            r->spent_ms);
    if (r->is_checked)
        fputs("enumerated\n", file);
    for (int i = 0; i < PROPS_COUNT; i++) {
        if ((r->checked & PROPS_BIT(i)) != 0)
            fprintf(file, "holds %s cells %" PRIu64 "\n",
                    props_property_id((enum props_property)i), r->cells[i]);
    }
    print_failure(file, &r->checker);
    for (int i = 0; i < CLI_PART_COUNT; i++)
        print_part(file, &r->parts[i], (enum cli_part_kind)i, r->seed_step);
}

const char *
cli_shard_result_write(const struct cli_shard_result *result, const char *path)
{
    return cli_lines_write(path, print_result, result);
}

/* ---- Comparing ---- */

static bool
differs(const char *path, const char *what, const char *a, const char *b)
{
    return strcmp(a, b) != 0 &&
           !cli_complain("%s: it is of %s '%s', not '%s'", path, what, b, a);
}

bool
cli_shard_result_fits(const struct cli_shard_result *a,
                      const struct cli_shard_result *b, const char *path)
{
    char counts[2][16];

    snprintf(counts[0], sizeof counts[0], "%" PRIu32, a->shard.count);
    snprintf(counts[1], sizeof counts[1], "%" PRIu32, b->shard.count);
    return !differs(path, "version", a->version, b->version) &&
           !differs(path, "build", a->program, b->program) &&
           !differs(path, "the campaign", a->asked, b->asked) &&
           !differs(path, "so many shards:", counts[0], counts[1]);
}
