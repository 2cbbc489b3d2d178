/*
 * spool_exact.h -- spools whose recordings are known byte by byte: a model
 * writes them with cli/record/recfile.h, which has tests of its own.
 */
#ifndef PROPS_SPOOL_EXACT_H
#define PROPS_SPOOL_EXACT_H

/* Modules, stacks, threads and their names, in random spools. */
void spool_check_exact(void);

/* A module came where another one was. */
void spool_check_layers(void);

/* Modules that come, go and come again. */
void spool_check_replaced(void);

/* Modules with one hash are different ones. */
void spool_check_collisions(void);

/* Events as the log has them, at their limits. */
void spool_check_events(void);

/* A record is as long as its kind and its numbers say, or is refused. */
void spool_check_records(void);

#endif
