/*
 * prof/cpu_file.h -- a CPU profile of this process, written to a file, like
 * StartCPUProfile and StopCPUProfile in Go.
 *
 *      start ... a thread drains the ticks every 100 ms ... stop: the file
 *
 * The file appears whole when the profile is stopped, or not at all: a process
 * that ends without stopping leaves no file.
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
    struct prof_cpu *cpu; /* not running; do not use it until the stop */
    const char *path;     /* copied; if relative, resolved at the stop */
    uint32_t hz;          /* ticks per second of CPU; 0: PROF_CPU_HZ */
    /*
     * What makes ticks. False: ITIMER_PROF, which counts the CPU time of all
     * threads; it loses ticks that are due more often than the kernel's own.
     * True: the prof_timer of each thread that has one.
     */
    bool threads_have_timers;
    prof_unwind *unwind; /* as in prof_process_begin() */
    /*
     * The caller sets symbols, mappings, `lost` and scratch; the call sets the
     * sink and the time. The writing thread calls `symbols`, which must not
     * call start or stop.
     */
    struct prof_output output;
    void *packing; /* prof_gzip_bytes(); NULL: not compressed */
    size_t packing_bytes;
};

/* All zero means never started. The fields are private. */
struct prof_cpu_file {
    struct prof_port_lock lock; /* guards what follows, to `stopping` */
    bool is_running;            /* or is being started */
    struct prof_cpu_file_config config;
    uintptr_t writer;        /* a pthread_t */
    int64_t timer_before[4]; /* a struct itimerval: seconds, microseconds */
    int64_t began_ns;        /* of the wall clock */
    int64_t began_monotonic_ns;
    int64_t duration_ns;     /* the writer sets it after the stop */
    enum prof_status status; /* only the writer uses it until joined */
    struct prof_file file;   /* the same */
    char path[PROF_PATH_MAX];
    uint32_t stopping; /* the writer sleeps on it */
};

/*
 * Begin a CPU profile of the process. Until the stop, the program must not use
 * SIGPROF, nor ITIMER_PROF unless threads have timers.
 *
 * returns: PROF_OK; PROF_ERR_ACTIVE (a CPU profile is running already, of this
 *          struct or begun by prof_process_begin()); PROF_ERR_CONFIG (hz);
 *          PROF_ERR_SINK (the file cannot be created: prof_cpu_file_reason());
 *          PROF_ERR_UNSUPPORTED (no thread, no timer); PROF_ERR_BUSY (a tick of
 *          the previous profile is still being recorded). On error no profile
 *          has begun, but the contents of `cpu` may be gone.
 * context: any thread, not a signal handler
 */
PROF_NODISCARD enum prof_status
prof_cpu_file_start(struct prof_cpu_file *file,
                    const struct prof_cpu_file_config *config);

/*
 * End the profile, and return when its file is written. Does nothing if none is
 * running.
 *
 * returns: PROF_OK; PROF_ERR_SINK (prof_cpu_file_reason() says why) or
 *          PROF_ERR_MEMORY (scratch or packing): no file is written, and an old
 *          one of that name is unchanged. In any case the profile is over.
 * context: any thread, not a signal handler
 */
PROF_NODISCARD enum prof_status prof_cpu_file_stop(struct prof_cpu_file *file);

/* returns: why the last call was PROF_ERR_SINK, for people
 * context: no other call is being made */
const char *prof_cpu_file_reason(const struct prof_cpu_file *file);

/*
 * Continue in the child of a fork: no profile is running there, and its struct
 * prof_cpu may be used again (prof/fork.h). The parent's profile goes on in the
 * parent. Without this call a stop in the child would wait for a thread that
 * exists only in the parent.
 */
void prof_cpu_file_after_fork_child(struct prof_cpu_file *file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
