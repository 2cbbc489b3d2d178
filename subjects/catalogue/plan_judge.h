/* plan_judge.h -- how plans set up the world and have it judged. */
#ifndef SUBJECTS_CATALOGUE_PLAN_JUDGE_H
#define SUBJECTS_CATALOGUE_PLAN_JUDGE_H

#include "subjects/catalogue/small_world.h"

/* What a plan sets for the allocator and for the judge. */
void world_refuse(bool resizes_fail);
void world_watch(bool is_profiled); /* must later blocks be shown? */

void world_forget(void); /* earlier blocks need not be shown any more */

unsigned site_bytes(unsigned site);
void library_load(void);
void library_unload(void);
void object_make(unsigned address);
void object_sweep_begin(unsigned address);
void object_sweep_end(unsigned address);

/* Called before and after each call that the program makes. */
void call_begin(void);
void call_end(void);

/* Between these two calls a site may show one object more (objects > 0) or one
 * less (objects < 0) than before. */
void change_begin(unsigned site, int objects);
void change_end(unsigned site, int objects);

/* Judge while nothing else runs: exactly what is live must be shown. */
void judge_at_rest(void);
/* Judge while other threads run: each site must show what it had at some moment
 * during the snapshot. */
void judge_meanwhile(void);
/* Judge a file: it must hold as many records as its head says. */
void judge_file(void);

#endif
