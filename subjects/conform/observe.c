/*
 * observe.c -- preloaded into a command whose otel_memory probes are to be
 * judged: attaches to them, and writes each event to the stream. It allocates
 * nothing and calls nothing of the program.
 *
 * build: so=libprofsim-observe.so with=subjects/conform/mask.c
 * ldflags='-Wl,-z,defs -Wl,-soname,libprofsim-observe.so'
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "subjects/conform/event_stream.h"
#include "subjects/conform/watch.h"

static struct stream *stream;

static void
write_event(const struct watch_event *event)
{
    const uint64_t at = __atomic_fetch_add(&stream->count, 1, __ATOMIC_SEQ_CST);

    if (at < STREAM_EVENTS_MAX)
        stream->events[at] =
            (struct stream_event){.kind = event->kind,
                                  .process = (uint64_t)getpid(),
                                  .address = event->address,
                                  .bytes = event->bytes,
                                  .weight_bytes = event->weight_bytes};
}

static struct stream *
open_stream(void)
{
    const char *const path = getenv(STREAM_ENV);
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map;

    if (file < 0)
        return NULL;
    map =
        mmap(NULL, sizeof *stream, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED)
        return NULL;
    if (((struct stream *)map)->magic == STREAM_MAGIC)
        return map;
    munmap(map, sizeof *stream);
    return NULL;
}

static void __attribute__((constructor)) begin(void)
{
    stream = open_stream();
    if (stream == NULL)
        return;
    if (watch_begin("otel_memory", write_event) != NULL)
        __atomic_fetch_add(&stream->refused, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&stream->sites, watch_sites(WATCH_ALLOC),
                       __ATOMIC_SEQ_CST);
    watch_attach();
}
