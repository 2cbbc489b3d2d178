/* check_found.c -- what a shard of a campaign has found: its file, and what is
 * left to do (check_shard.h). */
#include <string.h>

#include "props/command/check_command.h"

const char *
cli_part_name(enum cli_part_kind kind)
{
    return kind == CLI_PART_HEAPS ? "heaps" : "traces";
}

void
cli_check_found_begin(struct cli_check_found *found,
                      const struct cli_check_options *options,
                      struct cli_shard shard)
{
    const uint64_t before = options->drawn ? 0 : shard.index - 1;

    *found = (struct cli_check_found){
        .shard = shard,
        .seed_first = options->campaign.seed_first + before,
        .seed_step = options->drawn ? 1 : shard.count,
    };
}

/* ---- What is left ---- */

/* returns: how many seeds the shard has in all */
static uint64_t
seeds_of(const struct cli_check_options *options,
         const struct cli_check_found *found)
{
    const uint64_t last = options->campaign.seed_last;

    return found->seed_first > last
               ? 0
               : (last - found->seed_first) / found->seed_step + 1;
}

uint64_t
cli_check_left(const struct cli_check_options *options,
               const struct cli_check_found *found, enum cli_part_kind kind)
{
    struct props_campaign unused;

    if (!cli_check_part(options, kind, &unused))
        return 0;
    for (int i = 0; i <= (int)kind; i++) {
        if (found->parts[i].failure.exit_code != CLI_OK)
            return 0;
    }
    return seeds_of(options, found) - found->parts[kind].runs;
}

bool
cli_check_is_done(const struct cli_check_options *options,
                  const struct cli_check_found *found)
{
    if (found->shard.index == 1 && !found->is_checked)
        return false;
    return found->checker.exit_code != CLI_OK ||
           (options->campaign.seconds != 0 &&
            found->elapsed_ms >= UINT64_C(1000) * options->campaign.seconds) ||
           (cli_check_left(options, found, CLI_PART_HEAPS) == 0 &&
            cli_check_left(options, found, CLI_PART_TRACES) == 0);
}

uint64_t
cli_check_next_seed(const struct cli_check_found *found,
                    enum cli_part_kind kind)
{
    return found->seed_first + found->parts[kind].runs * found->seed_step;
}

void
cli_check_outcome(const struct cli_part *part, struct props_outcome *outcome)
{
    *outcome = (struct props_outcome){
        .end = part->failure.exit_code == CLI_OK ? PROPS_END_PASSED
                                                 : PROPS_END_BROKEN,
        .runs = part->runs,
        .events = part->events,
        .hash = part->hash,
        .cover = part->cover,
    };
}

/* ---- The file ---- */

static void
pass_failure(struct cli_shard_file *file, struct cli_shard_failure *failure,
             const char *of)
{
    cli_shard_pass(file, &failure->exit_code, "%s.failed", of);
    cli_shard_pass(file, &failure->property, "%s.property", of);
}

void
cli_check_found_pass(struct cli_shard_file *file, struct cli_check_found *found)
{
    cli_shard_pass(file, &found->seed_first, "first");
    cli_shard_pass(file, &found->elapsed_ms, "spent");
    cli_shard_pass(file, &found->is_checked, "enumerated");
    cli_shard_pass(file, &found->checked, "hold");
    for (int i = 0; i < PROPS_COUNT; i++)
        cli_shard_pass(file, &found->cells[i], "cells.%s",
                       props_property_id((enum props_property)i));
    pass_failure(file, &found->checker, "checker");
    for (int kind = 0; kind < CLI_PART_COUNT; kind++) {
        const char *name = cli_part_name((enum cli_part_kind)kind);
        struct cli_part *part = &found->parts[kind];

        cli_shard_pass(file, &part->runs, "%s.runs", name);
        cli_shard_pass(file, &part->events, "%s.events", name);
        cli_shard_pass(file, &part->hash, "%s.hash", name);
        pass_failure(file, &part->failure, name);
        for (int i = 0; i < COVER_COUNT; i++)
            cli_shard_pass(file, &part->cover.hits[i], "%s.%s", name,
                           props_cover_id((enum props_cover)i));
    }
}

static bool
is_sound_failure(const struct cli_shard_failure *failure)
{
    return failure->exit_code != CLI_USAGE &&
           failure->exit_code <= CLI_NONDETERMINISM &&
           failure->property <= PROPS_NONE;
}

static bool
is_sound_part(const struct cli_check_options *options,
              const struct cli_check_found *found, enum cli_part_kind kind)
{
    const struct cli_part *part = &found->parts[kind];
    const bool failed = part->failure.exit_code != CLI_OK;
    const uint64_t seeds = seeds_of(options, found);
    struct props_campaign unused;

    if (!cli_check_part(options, kind, &unused))
        return part->runs == 0 && !failed;
    return is_sound_failure(&part->failure) && part->runs <= seeds &&
           (!failed || part->runs < seeds);
}

bool
cli_check_found_read(struct cli_check_found *found,
                     const struct cli_check_options *options,
                     struct cli_shard_file *file)
{
    const props_set requested = options->campaign.requested;
    uint64_t first;

    cli_check_found_begin(found, options, file->shard);
    first = found->seed_first;
    cli_check_found_pass(file, found);
    cli_shard_claims(file,
                     found->shard.index == 1 ||
                         (!found->is_checked && found->checked == 0 &&
                          found->checker.exit_code == CLI_OK),
                     "only the first shard enumerates");
    cli_shard_claims(
        file,
        is_sound_failure(&found->checker) &&
            (found->checked & ~requested) == 0 &&
            (found->checker.exit_code == CLI_OK ||
             (found->checker.property < PROPS_NONE &&
              (requested & PROPS_BIT(found->checker.property)) != 0)),
        "properties that its command does not name");
    return cli_shard_claims(file,
                            found->elapsed_ms <= UINT64_MAX / 2 &&
                                (options->drawn
                                     ? found->seed_first <= UINT64_MAX >> 2
                                     : found->seed_first == first) &&
                                is_sound_part(options, found, CLI_PART_HEAPS) &&
                                is_sound_part(options, found, CLI_PART_TRACES),
                            "the seeds are not those of its shard");
}
