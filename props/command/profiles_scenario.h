/* profiles_scenario.h -- the profile files of a scenario. */
#ifndef PROPS_COMMAND_PROFILES_SCENARIO_H
#define PROPS_COMMAND_PROFILES_SCENARIO_H

#include <stdbool.h>

#include "prof/pprof.h"

struct sim_scenario;
struct sim_world;

/*
 * Run a scenario and write what its instruments show at the end.
 *
 * in:      path, of the scenario
 */
bool cli_profiles_write_scenario(const char *folder, const char *path,
                                 struct sim_scenario *scenario);

/*
 * Run a scenario about a subject, print what the subject shows at the end, by
 * site, and also write it as heap.pb.gz, block.pb.gz and mutex.pb.gz.
 *
 * in:      folder, "": nothing is written; path, where the scenario is from
 */
bool cli_profiles_show_subject(const char *folder, const char *path,
                               const struct sim_scenario *scenario);

/*
 * Run a scenario and print the lines of its allocations, frees and collections.
 *
 * in:      path, for messages
 */
bool cli_profiles_print_allocations(const char *path,
                                    struct sim_scenario *scenario);

/* Write what a world's instruments show of its tasks, threads and CPU time. */
bool cli_profiles_write_tasks(const char *folder, const char *path,
                              struct sim_world *world,
                              const struct prof_symbols *symbols);

#endif
