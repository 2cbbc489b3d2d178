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
    uint64_t bytes;        /* of an allocation; each has a size of its own */
    uint64_t weight_bytes; /* as the probe says */
};

enum {
    PROBED_EVENTS_MAX = 16384,
    PROBED_OUTPUT = 9 /* descriptor where the program leaves them */
};

#endif
