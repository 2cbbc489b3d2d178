/* recorded_locks.h -- the waits of recorded_program.c. */
#ifndef RECORD_TEST_RECORDED_LOCKS_H
#define RECORD_TEST_RECORDED_LOCKS_H

/* Wait for locks of every kind; test_recorder.py knows the functions that do
 * it. */
void recorded_locks_run(void);

#endif
