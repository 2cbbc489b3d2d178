/*
 * watch.h -- watches the otel_memory probes of its own process: a breakpoint
 * stands in place of each nop, and a handler of SIGTRAP reads the arguments. No
 * help from the kernel or another process is needed.
 *
 * x86-64 only. If a thread blocks SIGTRAP when a probe fires, the kernel kills
 * the process: see mask.c.
 */
#ifndef SUBJECTS_CONFORM_WATCH_H
#define SUBJECTS_CONFORM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum watch_kind { WATCH_ALLOC, WATCH_FREE, WATCH_KINDS };

struct watch_event {
    enum watch_kind kind;
    uint64_t address;
    uint64_t bytes;        /* of an allocation */
    uint64_t weight_bytes; /* same */
};

/*
 * Set breakpoints at all probes of the provider in all modules that are loaded
 * now. From then on call `sink` for each event, in its thread and at the moment
 * it fires.
 *
 * in:      sink, safe in a signal handler
 * returns: NULL, or why not
 */
const char *watch_begin(const char *provider,
                        void (*sink)(const struct watch_event *event));

/* returns: how many sites have a probe of this kind; how many sites, of any
 * kind, have a semaphore */
size_t watch_sites(enum watch_kind kind);
size_t watch_semaphores(void);

/* Attach or detach as a consumer does: increment or decrement every semaphore.
 * A probe without a semaphore always fires. */
void watch_attach(void);
void watch_detach(void);

#endif
