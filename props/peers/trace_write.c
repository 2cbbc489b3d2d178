/*
 * trace_write.c -- the traces of random worlds, as files for foreign readers.
 *
 * usage: trace_write DIR FIRST LAST
 *
 * Writes DIR/SEED-SESSION.trace for the seeds FIRST to LAST; a file in the
 * order of the clock is called SEED-SESSION-clock.trace.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "props/campaign/campaign.h"
#include "sim/instruments/instrument_trace.h"
#include "props/judge/run.h"

static bool
write_session(const char *dir, uint64_t seed, uint32_t index,
              const struct sim_world *world)
{
    const struct sim_session *session = sim_session(world, index);
    char path[1024];
    FILE *file;
    bool written;

    snprintf(path, sizeof path, "%s/%07" PRIu64 "-%" PRIu32 "%s.trace", dir,
             seed, index + 1,
             sim_world_config(world)->trace.by_clock ? "-clock" : "");
    file = fopen(path, "wb");
    if (file == NULL)
        return false;
    written = fwrite(session->bytes, 1, session->bytes_count, file) ==
              session->bytes_count;
    return fclose(file) == 0 && written;
}

static bool
write_seed(struct props_run *run, struct sim_choices *choices, const char *dir,
           uint64_t seed)
{
    sim_choices_random(choices, seed);
    if (!props_run_choices(run, choices, &prof_rules_exact, SIM_WORLDS_TRACED,
                           PROPS_OF_TRACES))
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, run->judge.breach.text);
    for (uint32_t i = 0; i < sim_sessions(run->judge.world); i++) {
        if (!write_session(dir, seed, i, run->judge.world))
            return false;
    }
    return true;
}

int
main(int argc, char **argv)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct props_run *run = props_run_new(&sim_generator_limits_all);
    struct sim_choices choices;

    if (argc != 4 || run == NULL) {
        fprintf(stderr, "usage: trace_write DIR FIRST LAST\n");
        return 1;
    }
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t seed = strtoull(argv[2], NULL, 10);
         seed <= strtoull(argv[3], NULL, 10); seed++) {
        if (!write_seed(run, &choices, argv[1], seed)) {
            perror(argv[1]);
            return 1;
        }
    }
    props_run_delete(run);
    return 0;
}
