/*
 * cpu_file_asked.h -- CPU profiles with drawn settings, some of them refused,
 * and what their files must show.
 */
#ifndef PROPS_CPU_FILE_ASKED_H
#define PROPS_CPU_FILE_ASKED_H

#include <stdatomic.h>
#include <sys/time.h>

#include "cpu_file_case.h"

/* A profile as it was asked for, and what was done while it ran. */
struct asked {
    struct prof_cpu_file_config config;
    int64_t since_ns; /* the time just before the start */
    uint64_t ticks;   /* of the test; the timer's come on top */
};

/* returns: a number below `limit`; each process draws the same ones */
uint32_t asked_draw(uint32_t limit);

/*
 * Start a profile with drawn settings. Half of the starts have one reason to be
 * refused, and must be.
 *
 * in:      packing, prof_gzip_bytes() of memory
 *          refuses_thread, makes pthread_create() fail while it is 1
 */
enum prof_status asked_start(struct asked *asked, void *packing,
                             atomic_int *refuses_thread);

/* Check the file of a profile that was stopped. */
void asked_check(const struct asked *asked);

/* Set a timer of the program's own: none, one that repeats, or one that does
 * not. */
void asked_set_timer(struct itimerval *set);

/* Is the program's timer as it was set? */
void asked_check_timer(const struct itimerval *set);

#endif
