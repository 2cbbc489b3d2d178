/*
 * profile_waits.h -- random waits and releases of locks, reported to the malloc
 * profiler and to a model of what it must record of them.
 *
 * Locks share slots of the profiler's table. Before a thread takes the lock
 * that guards the table, and after it has released it, other threads may come
 * first.
 */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

void profile_waits_choose_locks(void);

/* Begin or end a wait, release a lock, or fork. */
void profile_waits_call(void);

/* Check that the counts are the model's. */
void profile_waits_check(void);

#endif
