/*
 * probed_event.h -- the record of one event: probed_program writes what it did,
 * test_probes.c what its probes saw.
 */
#ifndef PROPS_PROBED_EVENT_H
#define PROPS_PROBED_EVENT_H

#include <stdint.h>

enum probed_kind { PROBED_ALLOC, PROBED_FREE, PROBED_STOP };

struct probed_event {
    uint64_t kind;
    uint64_t address;
    uint64_t bytes;        /* allocated; each allocation has another size */
    uint64_t weight_bytes; /* what the probe reports */
};

enum {
    PROBED_EVENTS_MAX = 16384,
    PROBED_OUTPUT = 9 /* the descriptor to which the program writes its
                       * events */
};

#endif
