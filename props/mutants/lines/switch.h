/*
 * switch.h -- which mutant is on, in a library that has them all.
 *
 * props/mutants/lines/generate.c writes copies of the library's source that
 * include this file. One mutant, two or none are on for the life of a process:
 * numbers $PROF_MUTANT and $PROF_MUTANT_TOO. A process also notes which mutants
 * it reached, in the file $PROF_MUTANTS_MET.
 */
#ifndef MUTATE_SWITCH_H
#define MUTATE_SWITCH_H

#include <stdint.h>

/* The bytes of a file: which mutants were met, and at its end the runs. */
enum { SWITCH_MUTANTS_MAX = 32768, SWITCH_BYTES = SWITCH_MUTANTS_MAX + 64 };

extern unsigned mutant_on;         /* 0: none */
extern unsigned mutant_too;        /* the same */
extern unsigned char *mutants_met; /* by the first number of a spot */

extern uint32_t *mutant_runs; /* worlds tried, the present one included */

void mutant_meet(unsigned first_id);
int mutant_is(unsigned id);

/*
 * In an expression: first_id, the lowest number of its spot. Code that the
 * explorer runs calls functions, because it would take these reads for accesses
 * of the program.
 */
#ifdef MUTANT_BY_CALL
#define MUTANT_MET(first_id) mutant_meet(first_id)
#define MUTANT_IS(id)        mutant_is(id)
#else
#define MUTANT_MET(first_id) (mutants_met[first_id] = 1)
#define MUTANT_IS(id)        (mutant_on == (id) || mutant_too == (id))
#endif

#endif
