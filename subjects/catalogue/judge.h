/* judge.h -- what the plans see of the world. */
#ifndef JUDGE_H
#define JUDGE_H

#include "world.h"

/* A plan sets what the allocator does, and what counts. */
void world_refuse(bool resizes_fail);
void world_watch(bool is_profiled); /* blocks from now on are to be shown */

void world_forget(void); /* nor are those of before */

unsigned site_bytes(unsigned site);
void library_load(void);
void library_unload(void);
void object_make(unsigned address);
void object_sweep_begin(unsigned address);
void object_sweep_end(unsigned address);

/* Around each call of the program. */
void call_begin(void);
void call_end(void);

/* Between these the site may or may not have so many objects more. */
void change_begin(unsigned site, int objects);
void change_end(unsigned site, int objects);

/* Nothing runs: what is shown is what is live. */
void judge_at_rest(void);
/* Others run: each site shows what it had at some moment of the snapshot. */
void judge_meanwhile(void);
/* A file holds what its head says. */
void judge_file(void);

#endif
