/*
 * prof/cpu_file.h -- a CPU profile of this process, written to a file: what
 * StartCPUProfile and StopCPUProfile are in Go.
 *
 *      start ... a thread drains the ticks every 100 ms ... stop: the file
 *
 * The file appears whole when the profile is stopped, or not at all: a process
 * that ends without stopping leaves nothing behind.
 */
#ifndef PROF_CPU_FILE_H
#define PROF_CPU_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/file.h"
#include "prof/port.h"
#include "prof/process.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { PROF_CPU_FILE_DRAIN_MS = 100 };

struct prof_cpu_file_config {
    struct prof_cpu *cpu; /* not running; nobody else's until the stop */
    const char *path;     /* copied; a relative one is that of the stop */
    uint32_t hz;          /* ticks per second of CPU; 0: PROF_CPU_HZ */
    /*
     * Who ticks. False: the process, by ITIMER_PROF, which counts the CPU time
     * of all threads; above one tick per kernel tick it loses some. True: each
     * thread that has a prof_timer.
     */
    bool threads_have_timers;
    prof_unwind *unwind; /* as in prof_process_begin() */
    /*
     * Symbols, mappings, `lost` and scratch; the call sets the sink and the
     * time. The writing thread calls `symbols`, which must not call start or
     * stop.
     */
    struct prof_output output;
    void *packing; /* prof_gzip_bytes(); NULL: not compressed */
    size_t packing_bytes;
};

/* All zero is one that was never started. The fields are private. */
struct prof_cpu_file {
    struct prof_port_lock lock; /* guards what follows, to `stopping` */
    bool is_running;            /* or is being started */
    struct prof_cpu_file_config config;
    uintptr_t writer;        /* a pthread_t */
    int64_t timer_before[4]; /* a struct itimerval: seconds, microseconds */
    int64_t began_ns;        /* of the wall clock */
    int64_t began_monotonic_ns;
    int64_t duration_ns;     /* the writer's after the stop */
    enum prof_status status; /* the writer's until its join */
    struct prof_file file;   /* as is this */
    char path[PROF_PATH_MAX];
    uint32_t stopping; /* the writer sleeps on it */
};

/*
 * Begin a CPU profile of the process. Until the stop SIGPROF is the profile's,
 * and ITIMER_PROF unless threads have timers.
 *
 * returns: PROF_OK; PROF_ERR_ACTIVE (there is one already, here or by
 *          prof_process_begin()); PROF_ERR_CONFIG (hz); PROF_ERR_SINK (the file
 *          cannot be made: prof_cpu_file_reason()); PROF_ERR_UNSUPPORTED (no
 *          thread, no timer); PROF_ERR_BUSY (a tick of the profile before is
 *          still being recorded). On error none was begun, and what
 *          `cpu` held may be gone.
 * context: any thread, not a signal handler
 */
PROF_NODISCARD enum prof_status
prof_cpu_file_start(struct prof_cpu_file *file,
                    const struct prof_cpu_file_config *config);

/*
 * End the profile, and return when its file is written. Nothing if none is
 * running.
 *
 * returns: PROF_OK; PROF_ERR_SINK (prof_cpu_file_reason() says why) or
 *          PROF_ERR_MEMORY (scratch or packing): no file, and the one of that
 *          name is as it was. In any case the profile is over.
 * context: any thread, not a signal handler
 */
PROF_NODISCARD enum prof_status prof_cpu_file_stop(struct prof_cpu_file *file);

/* returns: why the last call was PROF_ERR_SINK, for people
 * context: no other call is being made */
const char *prof_cpu_file_reason(const struct prof_cpu_file *file);

/*
 * Go on in the child of a fork: no profile is running, the parent's goes on
 * there, and its struct prof_cpu may be used again (prof/fork.h). Without it
 * the child's stop would wait for a thread that it has not got.
 */
void prof_cpu_file_after_fork_child(struct prof_cpu_file *file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
