/*
 * recfile.c -- writes recordings: varints, deltas, blocks with a checksum.
 *
 * Invariant: a record lies in one block; a block ends once it has grown past
 * BLOCK_BYTES, or when a record of another kind begins.
 */
#include "record/convert/recfile.h"

#include <stdlib.h>
#include <string.h>

#include "common/recording/recording.h"

#define BLOCK_BYTES 65536u
#define HEAD_BYTES  9u

enum event_tag {
    TAG_ALLOC = 1,
    TAG_FREE,
    TAG_WAIT,
    TAG_RELEASE,
    TAG_RESIZE,
    TAG_SEMAPHORE,
    TAG_USABLE = 0x80, /* a bit that ALLOC and RESIZE may have */
};

enum { LOCK_SEMAPHORE = 4 }; /* the kinds below it have two bits of the tag */

static void
put(struct cli_recfile *file, const void *bytes, size_t count)
{
    cli_proto_put(&file->to, bytes, count);
}

static void
put_varint(struct cli_recfile *file, uint64_t value)
{
    cli_proto_varint(&file->to, value);
}

static void
put_text(struct cli_recfile *file, const char *text)
{
    size_t count = strnlen(text, 65536);

    put_varint(file, count);
    put(file, text, count);
}

static void
store_u32(uint8_t *to, uint32_t value)
{
    int i;

    for (i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void
close_block(struct cli_recfile *file)
{
    uint8_t *head;
    size_t payload_bytes;

    if (file->block_kind == 0)
        return;
    payload_bytes = file->to.count - file->block_offset - HEAD_BYTES;
    head = file->to.at + file->block_offset;
    store_u32(head + 1, (uint32_t)payload_bytes);
    file->crc = sim_recording_crc(file->crc, head, 5);
    file->crc = sim_recording_crc(file->crc, head + HEAD_BYTES, payload_bytes);
    store_u32(head + 5, file->crc);
    file->block_kind = 0;
}

/* Before each record: make sure a block of its kind is open. */
static void
begin(struct cli_recfile *file, char kind)
{
    uint8_t head[HEAD_BYTES] = {(uint8_t)kind};

    if (file->block_kind == (uint8_t)kind &&
        file->to.count - file->block_offset < BLOCK_BYTES)
        return;
    close_block(file);
    file->block_offset = file->to.count;
    file->block_kind = (uint8_t)kind;
    put(file, head, sizeof head);
}

void
cli_recfile_init(struct cli_recfile *file)
{
    memset(file, 0, sizeof *file);
    put(file, "PROFREC\n\2\0\0\0", 12);
}

void
cli_recfile_release(struct cli_recfile *file)
{
    free(file->to.at);
    memset(file, 0, sizeof *file);
}

void
cli_recfile_about(struct cli_recfile *file,
                  const struct cli_recfile_about *about)
{
    uint32_t i;

    begin(file, 'A');
    put_varint(file, about->ticks_per_second);
    put_varint(file, about->start_ticks);
    put_varint(file, about->process);
    put_varint(file, about->parent);
    put_varint(file, about->forked_ticks);
    put_varint(file, about->depth_max);
    put_varint(file, about->arguments_count);
    for (i = 0; i < about->arguments_count; i++)
        put_text(file, about->arguments[i]);
}

void
cli_recfile_string(struct cli_recfile *file, const char *text)
{
    begin(file, 'S');
    put_text(file, text);
}

void
cli_recfile_module(struct cli_recfile *file,
                   const struct cli_recfile_module *module)
{
    begin(file, 'M');
    put_varint(file, module->start);
    put_varint(file, module->length_bytes);
    put_varint(file, module->offset);
    put_varint(file, module->path);
    put_varint(file, module->id_bytes);
    put(file, module->id, module->id_bytes);
}

void
cli_recfile_frame(struct cli_recfile *file,
                  const struct cli_recfile_frame *frame)
{
    uint64_t delta = frame->pc - file->pc;

    begin(file, 'F');
    put_varint(file, delta << 1 ^ (0 - (delta >> 63)));
    put_varint(file, frame->module);
    put_varint(file, frame->function);
    put_varint(file, frame->function_offset);
    put_varint(file, frame->file);
    put_varint(file, frame->line);
    file->pc = frame->pc;
}

void
cli_recfile_stack(struct cli_recfile *file, const uint32_t *frames,
                  uint32_t depth)
{
    uint32_t keep = 0;
    uint32_t i;

    while (keep < depth && keep < file->stack_depth &&
           frames[depth - 1 - keep] ==
               file->stack[file->stack_depth - 1 - keep])
        keep++;
    begin(file, 'K');
    put_varint(file, keep);
    put_varint(file, depth - keep);
    for (i = 0; i < depth - keep; i++)
        put_varint(file, frames[i]);
    memcpy(file->stack, frames, depth * sizeof *frames);
    file->stack_depth = depth;
}

void
cli_recfile_thread(struct cli_recfile *file, uint64_t number, const char *name)
{
    begin(file, 'T');
    put_varint(file, number);
    put_text(file, name);
}

static void
put_event(struct cli_recfile *file, uint32_t tag, uint32_t thread,
          uint64_t ticks)
{
    uint8_t byte = (uint8_t)(tag | (thread != file->thread ? 16u : 0u));

    begin(file, 'E');
    put(file, &byte, 1);
    if (thread != file->thread)
        put_varint(file, thread);
    put_varint(file, ticks - file->ticks);
    file->thread = thread;
    file->ticks = ticks;
}

static bool
is_usable(uint64_t usable_bytes, uint64_t size_bytes)
{
    return usable_bytes != 0 && usable_bytes >= size_bytes;
}

void
cli_recfile_alloc(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                  uint64_t size_bytes,
                  const struct cli_recfile_request *request, uint32_t stack)
{
    const bool has_usable = is_usable(request->usable_bytes, size_bytes);
    const uint32_t tag = TAG_ALLOC | (request->zeroed ? 0x20u : 0u) |
                         (request->has_alignment ? 0x40u : 0u) |
                         (has_usable ? TAG_USABLE : 0u);

    put_event(file, tag, thread, ticks);
    put_varint(file, size_bytes);
    if (request->has_alignment)
        put_varint(file, request->alignment_log2);
    if (has_usable)
        put_varint(file, request->usable_bytes - size_bytes);
    put_varint(file, stack);
    file->allocs++;
}

void
cli_recfile_resize(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                   uint64_t object, uint64_t size_bytes, uint64_t usable_bytes,
                   uint32_t stack)
{
    const bool has_usable = is_usable(usable_bytes, size_bytes);

    put_event(file, TAG_RESIZE | (has_usable ? TAG_USABLE : 0u), thread, ticks);
    put_varint(file, file->allocs - object);
    put_varint(file, size_bytes);
    if (has_usable)
        put_varint(file, usable_bytes - size_bytes);
    put_varint(file, stack);
    file->resizes++;
}

void
cli_recfile_free(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                 uint64_t object)
{
    put_event(file, TAG_FREE, thread, ticks);
    put_varint(file, file->allocs - object);
    file->frees++;
}

void
cli_recfile_wait(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                 uint32_t lock_kind, bool failed, uint64_t lock,
                 uint64_t wait_ticks, uint32_t stack)
{
    uint32_t tag =
        lock_kind == LOCK_SEMAPHORE ? TAG_SEMAPHORE : TAG_WAIT | lock_kind << 5;

    tag |= failed ? 0x80u : 0u;

    put_event(file, tag, thread, ticks);
    put_varint(file, lock);
    put_varint(file, wait_ticks);
    put_varint(file, stack);
    file->waits++;
}

void
cli_recfile_release_of(struct cli_recfile *file, uint32_t thread,
                       uint64_t ticks, uint32_t lock_kind, uint64_t lock,
                       uint32_t stack)
{
    put_event(file, TAG_RELEASE | lock_kind << 5, thread, ticks);
    put_varint(file, lock);
    put_varint(file, stack);
    file->releases++;
}

void
cli_recfile_end(struct cli_recfile *file, const uint64_t *dropped)
{
    uint32_t i;

    begin(file, 'Z');
    put_varint(file, file->allocs);
    put_varint(file, file->frees);
    put_varint(file, file->waits);
    put_varint(file, file->releases);
    put_varint(file, file->resizes);
    put_varint(file, file->allocs - file->frees);
    put_varint(file, CLI_RECFILE_CAUSES);
    for (i = 0; i < CLI_RECFILE_CAUSES; i++)
        put_varint(file, dropped[i]);
    close_block(file);
}
