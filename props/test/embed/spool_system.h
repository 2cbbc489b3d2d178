/*
 * spool_system.h -- replaces the system calls of spools (link with --wrap for
 * each): notes them, and lets them fail as often as the test says. Folders and
 * files are real; fallocate() only pretends to reserve space.
 */
#ifndef SPOOL_SYSTEM_H
#define SPOOL_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { SPOOL_NOTED_MAX = 32 };

struct spool_advice {
    uint64_t from; /* of the mapping */
    uint64_t bytes;
    int advice;
};

struct spool_system {
    /* How often each call fails, and with which error. */
    int maps, truncates, populates, allocates;
    int populate_errno;
    bool has_file_limit, has_command;
    uint64_t file_limit_bytes;
    const char *command;
    long command_bytes;
    uint64_t clock_ns;
    /* The calls made. */
    int opened, closed;
    int flags[SPOOL_NOTED_MAX]; /* of each file opened */
    uint64_t sizes[SPOOL_NOTED_MAX];
    size_t sizes_count; /* sizes given to the file */
    uint64_t asked[SPOOL_NOTED_MAX];
    size_t asked_count; /* reservations of disk space */
    struct spool_advice advices[SPOOL_NOTED_MAX];
    size_t advices_count;
    const uint8_t *mapped;
    uint64_t unmapped_bytes;
};

extern struct spool_system spool_system;

#endif
