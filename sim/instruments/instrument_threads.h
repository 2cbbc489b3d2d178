/* instrument_threads.h -- which calls needed the threads of a world. */
#ifndef SIM_INSTRUMENTS_INSTRUMENT_THREADS_H
#define SIM_INSTRUMENTS_INSTRUMENT_THREADS_H

#include <stddef.h>

#include "prof/pprof.h"
#include "sim/world/world.h"

enum { SIM_THREADS_LISTED_MAX = 4096 };

/*
 * List the threads so far, newest first. A thread's stack is that of the last
 * call since the previous thread that created or woke a task; empty if there
 * was no such call.
 *
 * out, returns: as prof_heap_snapshot()
 * in:      context, a world that carries the instrument
 */
enum prof_status sim_threads_list(void *context,
                                  struct prof_count_record *records,
                                  size_t records_max, size_t *count);

#endif
