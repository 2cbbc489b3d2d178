/* instrument_cpu.h -- the last CPU profile that was taken of a world. */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_CPU_H
#define SIM_INSTRUMENTS_INSTRUMENT_CPU_H

#include "prof/cpu.h"
#include "sim/world/world.h"

/* What is known about the profile besides its samples. */
struct sim_cpu_profile {
    uint32_t begins; /* profiles begun so far; 0: there is none */
    bool is_on;      /* the profile is still running */
    uint32_t hz;
    uint64_t begin_ns; /* of the world's time */
    uint64_t end_ns;
    char wrong[128]; /* the first status that should not have been; "": none */
};

/* in: world, which carries it */
const struct sim_cpu_profile *sim_cpu_profile(const struct sim_world *world);

/*
 * End the profile if it is still running, and write it.
 *
 * in:      output, without its time
 * returns: as prof_cpu_write()
 */
enum prof_status sim_cpu_write(struct sim_world *world,
                               const struct prof_output *output);

enum prof_status sim_cpu_write_text(struct sim_world *world,
                                    const struct prof_output *output);

/* returns: its ticks; the profile has been ended */
struct prof_cpu_totals sim_cpu_totals(const struct sim_world *world);

#endif
