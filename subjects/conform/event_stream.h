/*
 * event_stream.h -- events of a whole command, in memory that its processes
 * share with profsim: written by observe.c, read when the command has ended.
 */
#ifndef SUBJECTS_CONFORM_EVENT_STREAM_H
#define SUBJECTS_CONFORM_EVENT_STREAM_H

#include <stdint.h>

#define STREAM_ENV   "PROFSIM_CONFORM_STREAM" /* path of the memory */
#define STREAM_MAGIC UINT64_C(0x6d6f72666e6f4331)

enum { STREAM_EVENTS_MAX = 1 << 20 };

struct stream_event {
    uint64_t kind; /* enum watch_kind */
    uint64_t process;
    uint64_t address;
    uint64_t bytes;
    uint64_t weight_bytes;
};

struct stream {
    uint64_t magic;
    uint64_t count;   /* of events; those without room are only counted */
    uint64_t sites;   /* with a probe, in all processes */
    uint64_t refused; /* processes whose probes could not be watched */
    struct stream_event events[STREAM_EVENTS_MAX];
};

#endif
