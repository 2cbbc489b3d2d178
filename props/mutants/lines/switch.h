/*
 * switch.h -- which mutant is on, in a library that contains all mutants.
 *
 * props/mutants/lines/generate.c writes copies of the library's source that
 * include this file. During a process none, one or two mutants are on, those
 * numbered $PROF_MUTANT and $PROF_MUTANT_TOO. The process also notes which
 * spots with mutants it reached, in the file $PROF_MUTANTS_MET.
 */
#ifndef MUTATE_SWITCH_H
#define MUTATE_SWITCH_H

#include <stdint.h>

/* Else the compiler takes it for granted that the end of such a function is not
 * reached, and leaves out the question whether a mutant removes its last call.
 */
#define _Noreturn

/* The layout of that file: a byte for each spot that was reached, then the
 * number of runs. */
enum { SWITCH_MUTANTS_MAX = 32768, SWITCH_BYTES = SWITCH_MUTANTS_MAX + 64 };

extern unsigned mutant_on;         /* 0: none */
extern unsigned mutant_too;        /* the second mutant; 0: none */
extern unsigned char *mutants_met; /* indexed by the lowest number of a spot */

extern uint32_t *mutant_runs; /* worlds begun so far */

void mutant_meet(unsigned first_id);
int mutant_is(unsigned id);

/*
 * MUTANT_IS() and MUTANT_MET() are for expressions; first_id is the lowest
 * number of the spot. Code that the explorer runs calls functions instead, as
 * the explorer would take reads of these variables for accesses of the program.
 */
#ifdef MUTANT_BY_CALL
#define MUTANT_MET(first_id) mutant_meet(first_id)
#define MUTANT_IS(id)        mutant_is(id)
#else
#define MUTANT_MET(first_id) (mutants_met[first_id] = 1)
#define MUTANT_IS(id)        (mutant_on == (id) || mutant_too == (id))
#endif

#endif
