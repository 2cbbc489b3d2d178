/*
 * probed_program.c -- allocates and frees, stops itself four times, and writes
 * a record of each event to descriptor 9. test_probes.c runs it; at each stop
 * it turns the probes on or off. The program exits with 1 if errno was changed.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "probed_event.h"

enum { BLOCKS = 600, ERRNO = 77 };

static struct probed_event events[PROBED_EVENTS_MAX];
static size_t count;
static size_t last_bytes = 100;
static bool is_broken;

static void
note(enum probed_kind kind, const void *address, size_t bytes)
{
    if (count < PROBED_EVENTS_MAX)
        events[count++] =
            (struct probed_event){kind, (uintptr_t)address, bytes, 0};
    is_broken = is_broken || errno != ERRNO;
    errno = ERRNO;
}

/* Return sizes from 101 to some thousands, each once. */
static size_t
next_bytes(void)
{
    return ++last_bytes;
}

static void *
allocate(size_t i)
{
    const size_t bytes = next_bytes();
    void *address = NULL;

    if (i % 4 == 0)
        address = malloc(bytes);
    else if (i % 4 == 1)
        address = calloc(1, bytes);
    else if (i % 4 == 2)
        address = realloc(NULL, bytes);
    else if (posix_memalign(&address, 64, bytes) != 0)
        is_broken = true;
    note(PROBED_ALLOC, address, bytes);
    return address;
}

static void
release(void *address)
{
    note(PROBED_FREE, address, 0);
    free(address);
    free(NULL);
}

static void *
resize(void *old)
{
    const size_t bytes = next_bytes();
    void *const address = realloc(old, bytes);

    note(PROBED_FREE, old, 0);
    note(PROBED_ALLOC, address, bytes);
    return address;
}

/* Calls that fail are not reported by the probes, and leave the block as it
 * is. */
static void
fail(void *block)
{
    const volatile size_t too_many = SIZE_MAX / 4;

    if (realloc(block, too_many) != NULL || errno != ENOMEM ||
        malloc(too_many) != NULL || calloc(too_many, 8) != NULL)
        is_broken = true;
    errno = ERRNO;
}

static void
stop(void)
{
    note(PROBED_STOP, NULL, 0);
    raise(SIGSTOP);
    errno = ERRNO;
}

/* Some blocks are freed at once, so that addresses are used again. */
static void
work(void **kept)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        release(allocate(i));
        kept[i] = allocate(i);
        if (i % 3 == 0)
            kept[i] = resize(kept[i]);
        if (i % 50 == 0)
            fail(kept[i]);
    }
}

static void
release_some(void **kept, size_t from)
{
    for (size_t i = from; i < BLOCKS; i += 2)
        if (i % 4 == 0) { /* resized to 0 bytes: freed */
            note(PROBED_FREE, kept[i], 0);
            if (realloc(kept[i], 0) != NULL)
                is_broken = true;
        } else {
            release(kept[i]);
        }
}

int
main(void)
{
    static void *kept[4][BLOCKS];
    size_t bytes;

    errno = ERRNO;
    stop();
    work(kept[0]);
    stop();
    release_some(kept[0], 0);
    work(kept[1]);
    stop();
    work(kept[2]);
    release_some(kept[1], 0);
    stop();
    release_some(kept[1], 1);
    release_some(kept[2], 0);
    release_some(kept[2], 1);
    work(kept[3]);
    release_some(kept[3], 1);
    bytes = count * sizeof *events;
    if (write(PROBED_OUTPUT, events, bytes) != (ssize_t)bytes)
        return 1;
    return is_broken;
}
