/*
 * hang.h -- shared by the programs of this folder: rounds and a watchdog.
 *
 * Each program reproduces a report of a profiler that hung, crashed, or broke
 * the program into which it was loaded. Without a profiler it exits with 0.
 *
 * usage: PROGRAM ROUNDS SECONDS
 *      a round that takes longer than SECONDS is a hang: exit code 99
 */
#ifndef RECORD_TEST_HANGS_HANG_H
#define RECORD_TEST_HANGS_HANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HANG_EXIT_HUNG = 99, HANG_EXIT_WRONG = 1 };

/* Read the arguments and begin. returns: how many rounds to make */
uint32_t hang_begin(int argc, char **argv);

/* Begin a round. The watchdog waits for the next round or the end. */
void hang_round(void);

/*
 * Send SIGVTALRM to the process once, after less than half a millisecond; the
 * time differs from round to round.
 */
void hang_interrupt(uint32_t round);

/* Start the watchdog in a forked child, which inherits no alarm. */
void hang_watch(void);

/* End with HANG_EXIT_WRONG if `holds` is false. */
void hang_must(bool holds, const char *what);

/* Allocate, resize and free some blocks in several ways. */
void hang_allocate(uint32_t blocks);

/* Make threads that call the function until hang_threads_end(). */
void hang_threads_begin(uint32_t count, void (*function)(void));
void hang_threads_end(void);

/*
 * Request a profile from the loaded profiler: from jemalloc and gperftools by
 * their functions, from ours by SIGUSR2. If none is loaded, do nothing.
 */
void hang_dump(void);

/* Wait for a child, which must exit with 0. */
void hang_wait(pid_t child);

/* Run this program again with another argument, and wait for its end. */
void hang_run_again(const char *argument);

/* Open a library in the program's folder. returns: its handle */
void *hang_open(const char *name);

#endif
