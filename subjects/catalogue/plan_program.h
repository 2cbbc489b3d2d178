/* plan_program.h -- the actions of which plans are made. */
#ifndef SUBJECTS_CATALOGUE_PLAN_PROGRAM_H
#define SUBJECTS_CATALOGUE_PLAN_PROGRAM_H

#include "subjects/catalogue/plan_judge.h"

/* Allocate a block at a site; free it; resize it at a site. */
unsigned make(unsigned site);
void drop(unsigned address, unsigned site);
unsigned change(unsigned address, unsigned old_site, unsigned site);

void turn(bool on);

/* Run an action on thread 0 or 1, while main goes on. */
void start(unsigned thread, void (*work)(void));
void join(unsigned thread);

#endif
