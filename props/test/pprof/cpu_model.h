/*
 * cpu_model.h -- a CPU profile after drawn calls, compared with a model: ticks,
 * words, starts and stops, some of them refused, and forks.
 */
#ifndef PROPS_CPU_MODEL_H
#define PROPS_CPU_MODEL_H

#include "pprof_case.h"
#include "prof/cpu.h"

/* Draw a configuration of few ticks, stacks and frames. */
struct prof_cpu_config cpu_model_config(void);

/* in:      cpu, a new profile of that configuration */
void cpu_model_begin(struct prof_cpu *cpu,
                     const struct prof_cpu_config *config);

/* Make a drawn call, and check what it returns or writes. */
void cpu_model_call(struct case_run *run);

#endif
