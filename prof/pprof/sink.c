/* sink.c -- a sink in memory, and the kind of a frame by Go's function
 * names. */
#include "prof/sink.h"

#include <string.h>

#include "prof/pprof/out.h"
#include "prof/symbol.h"

#include "prof/core/poison.h"

static enum prof_status
write_memory(void *context, const void *bytes, size_t bytes_count)
{
    struct prof_memory *memory = context;

    if (bytes_count > memory->bytes_max - memory->bytes_count)
        return PROF_ERR_SINK;
    if (bytes_count > 0)
        memcpy(&memory->bytes[memory->bytes_count], bytes, bytes_count);
    memory->bytes_count += bytes_count;
    return PROF_OK;
}

struct prof_sink
prof_memory_sink(struct prof_memory *memory)
{
    return (struct prof_sink){.write = write_memory, .context = memory};
}

enum prof_frame_kind
prof_frame_kind_go(const char *function)
{
    static const char prefix[] = "runtime.";
    static const char root[] = "runtime.goexit";
    const size_t bytes = prof_text_bytes(function);

    if (bytes < sizeof prefix - 1 ||
        memcmp(function, prefix, sizeof prefix - 1) != 0)
        return PROF_FRAME_PROGRAM;
    return bytes == sizeof root - 1 && memcmp(function, root, bytes) == 0
               ? PROF_FRAME_ROOT
               : PROF_FRAME_RUNTIME;
}
