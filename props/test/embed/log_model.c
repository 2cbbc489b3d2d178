/* log_model.c -- see log_model.h. */
#include "log_model.h"

#include <string.h>
#include <unistd.h>

#include "unit_test.h"

/* The hash that the recorder is given for a stack; for what it logs see
 * put_stack(). */
uint64_t
log_model_hash(uint32_t stack)
{
    return 1000 + (uint64_t)(stack / 2 % 2) + ((uint64_t)(stack / 4) << 40);
}

uint32_t
log_model_stack(uint32_t stack, uintptr_t *pcs)
{
    static const uint32_t depths[] = {1, 1, 3, 4, 7, 7, 2, 128, 9, 9, 5, 6};
    const uint32_t depth = depths[stack];

    for (uint32_t i = 0; i < depth; i++)
        pcs[i] = (uintptr_t)(stack / 2 + 1) << 32 | i;
    pcs[depth - 1] += stack % 2 * 16;
    return depth;
}

void
log_model_begin(struct log_model *model, uint64_t first_bytes, uint64_t ticks,
                uint32_t threads_before)
{
    const uint32_t image = model->image + 1;
    const uint32_t names = model->names;
    char name[sizeof model->name];

    memcpy(name, model->name, sizeof name);
    memset(model, 0, sizeof *model);
    memcpy(model->name, name, sizeof name);
    model->names = names;
    model->image = image;
    model->first_bytes = first_bytes;
    model->used_bytes = model->published_bytes = first_bytes;
    model->last_ticks = ticks;
    model->threads_count = threads_before;
}

/* ---- words ---- */

static uint8_t *
bytes_at(struct log_model *model, uint64_t offset)
{
    return &model->bytes[offset - model->first_bytes];
}

/* returns: the offset, 0 if there is no room for all of them */
static uint64_t
put_words(struct log_model *model, const uint64_t *words, uint32_t count)
{
    const uint64_t offset = model->used_bytes;
    const uint64_t end = offset + 8 * (uint64_t)count;

    if (!model->is_full) {
        model->cause =
            end > model->limit_bytes ? EMBED_DROP_LIMIT : EMBED_DROP_DISK;
        model->is_full = end > model->limit_bytes || end > model->disk_bytes;
    }
    if (model->is_full)
        return 0;
    memcpy(bytes_at(model, offset), words, 8 * (size_t)count);
    model->used_bytes = end;
    return offset;
}

/* in: words, the first is left to the head of the record */
static uint64_t
put_record(struct log_model *model, enum embed_kind kind, uint32_t detail,
           uint32_t number, uint64_t *words, uint32_t count)
{
    words[0] = (uint64_t)kind | (uint64_t)detail << 8 | (uint64_t)count << 16 |
               (uint64_t)number << 32;
    return put_words(model, words, count);
}

/* Log the thread and its name, unless the log has them. If there is no room for
 * the thread, nothing is changed. */
static void
put_thread(struct log_model *model, uint32_t thread)
{
    struct model_thread *const self = &model->threads[thread];
    uint64_t words[3] = {0, (uint64_t)gettid()};

    if (!self->is_known &&
        put_record(model, EMBED_THREAD, 0, model->threads_count, words, 2) == 0)
        return;
    if (!self->is_known)
        self->index = model->threads_count++;
    if (!self->is_known || self->names_seen != model->names) {
        memcpy(&words[1], model->name, sizeof model->name);
        (void)put_record(model, EMBED_NAME, 0, self->index, words, 3);
    }
    self->is_known = true;
    self->names_seen = model->names;
}

/* The hash that the log writes is not checked here: it only has to be the same
 * for a stack in all of an epoch. */
static uint64_t
put_stack(struct log_model *model, uint32_t stack)
{
    uint64_t words[2 + EMBED_DEPTH_MAX] = {0};
    uint32_t depth;

    if (model->offset_of_stack[stack] != 0)
        return model->offset_of_stack[stack];
    depth = log_model_stack(stack, &words[2]);
    model->offset_of_stack[stack] =
        put_record(model, EMBED_STACK, 0, depth, words, 2 + depth);
    model->notes += model->offset_of_stack[stack] != 0;
    return model->offset_of_stack[stack];
}

/* ---- events ---- */

static uint64_t
clamp(const struct log_model *model, uint64_t ticks)
{
    return ticks > model->last_ticks ? ticks : model->last_ticks;
}

/* Finish an event: it was logged, or it is counted as lost. */
static uint64_t
conclude(struct log_model *model, uint64_t offset, uint64_t ticks)
{
    if (offset == 0) {
        model->dropped[model->cause]++;
        return 0;
    }
    model->last_ticks = ticks;
    model->published_bytes = model->used_bytes;
    return offset;
}

static void
count_alloc(struct log_model *model, uint64_t offset, uint64_t bytes)
{
    model->events += offset != 0;
    model->asked_bytes += offset != 0 ? bytes : 0;
}

void
log_model_alloc(struct log_model *model, const struct model_moment *at,
                uint64_t address, struct embed_request request,
                uint64_t usable_bytes)
{
    const uint64_t ticks = clamp(model, at->ticks);
    const uint32_t detail = request.alignment << 1 | (request.zeroed ? 1 : 0);
    const bool is_long = usable_bytes != UINT64_MAX;
    uint64_t words[6] = {0, ticks, address, request.bytes};
    uint64_t passed;
    uint64_t offset;
    uint64_t stack;
    uint32_t index;

    put_thread(model, at->thread);
    index = model->threads[at->thread].index;
    stack = put_stack(model, at->stack);
    passed = ticks - model->last_ticks;
    if (!is_long && detail == 0 && address % 16 == 0 && address >> 48 == 0 &&
        request.bytes < 1u << 14 && passed < 1u << 24 && index < 1u << 12 &&
        stack / 8 < 1u << 26) {
        words[0] = EMBED_SHORT_ALLOC | index << 8 | address / 16 << 20;
        words[1] = request.bytes | passed << 14 | stack / 8 << 38;
        offset = put_words(model, words, 2);
    } else {
        words[4] = usable_bytes;
        words[is_long ? 5 : 4] = stack;
        offset = put_record(model, EMBED_ALLOC, detail, index, words,
                            is_long ? 6 : 5);
    }
    count_alloc(model, conclude(model, offset, ticks), request.bytes);
}

/* Log a FREE or a RESIZE. A free's time comes from the coarse clock, which
 * lags. */
static uint64_t
put_address(struct log_model *model, const struct model_moment *at,
            enum embed_kind kind, uint64_t address)
{
    const bool is_free = kind == EMBED_FREE;
    const uint64_t ticks = clamp(model, is_free ? at->coarse_ticks : at->ticks);
    uint64_t words[3] = {0, ticks, address};
    uint64_t offset;
    uint32_t index;

    put_thread(model, at->thread);
    index = model->threads[at->thread].index;
    if (is_free && ticks == model->last_ticks && address % 16 == 0 &&
        address >> 48 == 0 && index < 1u << 12) {
        words[0] = EMBED_SHORT_FREE | index << 8 | address / 16 << 20;
        offset = put_words(model, words, 1);
    } else {
        offset = put_record(model, kind, 0, index, words, 3);
    }
    return conclude(model, offset, ticks);
}

void
log_model_free(struct log_model *model, const struct model_moment *at,
               uint64_t address)
{
    (void)put_address(model, at, EMBED_FREE, address);
}

struct model_begun
log_model_resize(struct log_model *model, const struct model_moment *at,
                 uint64_t address)
{
    const uint64_t offset = put_address(model, at, EMBED_RESIZE, address);

    return (struct model_begun){.image = model->image, .offset = offset};
}

void
log_model_resized(struct log_model *model, const struct model_moment *at,
                  const struct model_begun *begun, uint64_t address,
                  uint64_t bytes, uint64_t usable_bytes)
{
    const uint64_t begin = begun->image == model->image ? begun->offset : 0;
    const uint32_t count = usable_bytes != UINT64_MAX ? 7 : 6;
    const uint64_t ticks = clamp(model, at->ticks);
    uint64_t words[7] = {0, ticks, address, bytes, begin};
    uint64_t offset;

    if (address == 0 && begin != 0)
        log_model_change(model, begin,
                         bytes != 0 ? EMBED_CANCELLED : EMBED_FREE);
    if (address == 0)
        return;
    put_thread(model, at->thread);
    words[5] = usable_bytes;
    words[count - 1] = put_stack(model, at->stack);
    offset = put_record(model, EMBED_RESIZED, 0,
                        model->threads[at->thread].index, words, count);
    count_alloc(model, conclude(model, offset, ticks), bytes);
}

struct model_begun
log_model_wait(struct log_model *model, const struct model_moment *at,
               uint32_t lock, uint32_t slot, bool has_releaser)
{
    struct model_begun begun = {.image = model->image,
                                .start_ticks = at->ticks};

    begun.offset = put_stack(model, at->stack);
    model->published_bytes = model->used_bytes;
    if (!has_releaser)
        return begun;
    begun.is_registered =
        model->slot_count[slot] == 0 || model->slot_lock[slot] == lock + 1;
    if (begun.is_registered) {
        model->slot_lock[slot] = lock + 1;
        model->awaited += model->slot_count[slot]++ == 0;
    } else {
        model->dropped[EMBED_DROP_WAITERS]++;
    }
    return begun;
}

void
log_model_waited(struct log_model *model, const struct model_moment *at,
                 const struct model_begun *begun, uint64_t address,
                 uint32_t slot, uint32_t detail)
{
    const uint64_t ticks = clamp(model, at->ticks);
    uint64_t words[5] = {0, ticks, address, begun->start_ticks, begun->offset};
    uint64_t offset;

    if (begun->image != model->image) {
        model->dropped[EMBED_DROP_INSIDE]++;
        return;
    }
    if (begun->is_registered && --model->slot_count[slot] == 0) {
        model->slot_lock[slot] = 0;
        model->awaited--;
    }
    if (begun->offset == 0) {
        model->dropped[model->cause]++;
        return;
    }
    put_thread(model, at->thread);
    offset = put_record(model, EMBED_WAIT, detail,
                        model->threads[at->thread].index, words, 5);
    model->events += conclude(model, offset, ticks) != 0;
}

void
log_model_release(struct log_model *model, const struct model_moment *at,
                  uint32_t lock, uint32_t slot, uint64_t address,
                  enum embed_lock_kind kind)
{
    const uint64_t ticks = clamp(model, at->ticks);
    uint64_t words[4] = {0, ticks, address};
    uint64_t offset;

    if (model->slot_lock[slot] != lock + 1)
        return;
    put_thread(model, at->thread);
    words[3] = put_stack(model, at->stack);
    offset = put_record(model, EMBED_RELEASE, kind,
                        model->threads[at->thread].index, words, 4);
    model->events += conclude(model, offset, ticks) != 0;
}

void
log_model_unload(struct log_model *model, const struct model_moment *at)
{
    uint64_t words[2] = {0, at->ticks};

    if (put_record(model, EMBED_UNLOAD, 0, 0, words, 2) == 0)
        return;
    memset(model->offset_of_stack, 0, sizeof model->offset_of_stack);
    model->published_bytes = model->used_bytes;
}

uint64_t
log_model_exec(struct log_model *model, uint32_t process, const char *path,
               uint32_t path_bytes, uint64_t ticks)
{
    uint64_t words[3 + 50] = {0, ticks, path_bytes};
    uint64_t offset;

    memcpy(&words[3], path, path_bytes);
    offset = put_record(model, EMBED_EXEC, 0, process, words,
                        3 + (path_bytes + 7) / 8);
    if (offset != 0) {
        model->executed++;
        model->published_bytes = model->used_bytes;
    }
    return offset;
}

void
log_model_change(struct log_model *model, uint64_t offset, enum embed_kind kind)
{
    *bytes_at(model, offset) = (uint8_t)kind;
}
