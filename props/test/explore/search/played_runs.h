/* played_runs.h -- a search whose runs are made up (search.c). */
#ifndef PROPS_PLAYED_RUNS_H
#define PROPS_PLAYED_RUNS_H

/* What a search counts, keeps and tells of runs that end in any way. */
void played_runs_count(void);

#endif
