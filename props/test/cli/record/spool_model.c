/* spool_model.c -- see spool_model.h: makes spools. */
#include "spool_model.h"

#include <stdio.h>
#include <string.h>

#include "drawn.h"
#include "unit_test.h"

enum { FILE_BYTES = 0x4000 };

#define NOTHING UINT64_MAX

static struct embed_spool_header *
header_of(struct spool_model *model)
{
    return (void *)model->bytes;
}

static uint64_t
used(struct spool_model *model)
{
    return atomic_load(&header_of(model)->used_bytes);
}

static void
put_words(struct spool_model *model, const uint64_t *words, uint32_t count)
{
    assert_true(used(model) + 8 * count <= SPOOL_BYTES_MAX);
    memcpy(&model->bytes[used(model)], words, 8 * (size_t)count);
    atomic_fetch_add(&header_of(model)->used_bytes, 8 * count);
}

/* returns: the record's offset */
static uint64_t
put(struct spool_model *model, uint64_t kind, uint64_t detail, uint64_t number,
    const uint64_t *words, uint32_t count)
{
    const uint64_t offset = used(model);
    const uint64_t first =
        kind | detail << 8 | (uint64_t)(count + 1) << 16 | number << 32;

    put_words(model, &first, 1);
    put_words(model, words, count);
    return offset;
}

static uint64_t
tick(struct spool_model *model)
{
    model->now_ticks += draw(3) * draw(1000);
    return model->now_ticks;
}

/* ---- Tables ---- */

static void
put_thread(struct spool_model *model)
{
    const uint64_t number = 1 + draw(UINT64_C(1) << 40);

    model->thread_numbers[model->threads_count++] = number;
    put(model, EMBED_THREAD, 0, 0, &number, 1);
}

static void
put_name(struct spool_model *model)
{
    const uint64_t thread = draw(model->threads_count);
    char *const name = model->thread_names[thread];
    uint64_t words[2];

    memset(name, 0, 16);
    memset(name, 'a' + (int)draw(26), draw(16));
    memcpy(words, name, 16);
    put(model, EMBED_NAME, 0, thread, words, 2);
}

static void
put_mapping(struct spool_model *model, int place, int file, uint64_t start,
            uint64_t limit)
{
    const uint64_t at = model->base + (uint64_t)place * 0x10000;
    const uint32_t id_bytes = file == 3 ? 0 : 5;
    char path[40] = {0};
    uint64_t words[16] = {at - 0x1000 * (uint64_t)(file + 1), at + start,
                          at + limit, start + 0x200 * (uint64_t)file};
    const size_t length =
        (size_t)snprintf(path, sizeof path, "/no/f%d-%d.so", place, file);

    words[4] = id_bytes | (uint64_t)length << 32;
    for (uint32_t i = 0; i < id_bytes; i++)
        ((uint8_t *)&words[5])[i] = (uint8_t)(place * 16 + file);
    memcpy((uint8_t *)&words[5] + id_bytes, path, length);
    put(model, EMBED_MODULE, 0, 0, words,
        (uint32_t)(5 + (id_bytes + length + 7) / 8));
}

/* Log what is mapped there now. A file that was never there before gets a layer
 * above all that were. */
static void
put_module(struct spool_model *model, int place)
{
    const int file = model->current[place];

    if (file == 1)
        put_mapping(model, place, file, 0, 0x1000);
    put_mapping(model, place, file, file == 1 ? 0x2000 : 0, FILE_BYTES);
    if (model->layers[place][file] == 0)
        model->layers[place][file] = ++model->layers_count[place];
    model->is_logged[place] = true;
    model->is_due[place] = false;
}

/* Another file in one of the places. What was logged must be logged again. */
static void
put_unload(struct spool_model *model)
{
    const int place = (int)draw(SPOOL_PLACES);
    const uint64_t now = model->now_ticks + draw(9); /* it is no event */

    if (model->is_due[place])
        put_module(model, place);
    put(model, EMBED_UNLOAD, 0, 0, &now, 1);
    model->current[place] = (int)draw(SPOOL_FILES);
    memset(model->is_logged, 0, sizeof model->is_logged);
}

static struct spool_pc
draw_pc(struct spool_model *model)
{
    static const uint64_t offsets[] = {1, 2, 0x800, 0x1000, 0x2001, FILE_BYTES};
    const int place = (int)draw(SPOOL_PLACES + 1) - 1;

    if (place < 0)
        return (struct spool_pc){0x900000 + draw(4), -1, 0};
    return (struct spool_pc){model->base + (uint64_t)place * 0x10000 +
                                 offsets[draw(6)],
                             place, model->current[place]};
}

/* A stack is logged before the modules of its calls; they may come later. */
static void
put_stack(struct spool_model *model)
{
    struct spool_stack *const stack = &model->stacks[model->stacks_count];
    uint64_t words[1 + SPOOL_DEPTH] = {draw(NOTHING)};

    if (model->stacks_count == SPOOL_STACKS)
        return;
    model->stacks_count++;
    stack->depth = (uint32_t)draw(draw(2) == 0 ? 3 : SPOOL_DEPTH + 1);
    for (uint32_t i = 0; i < stack->depth; i++) {
        stack->pcs[i] = draw_pc(model);
        words[1 + i] = stack->pcs[i].pc;
        if (stack->pcs[i].place >= 0 && !model->is_logged[stack->pcs[i].place])
            model->is_due[stack->pcs[i].place] = true;
    }
    stack->offset =
        put(model, EMBED_STACK, 0, stack->depth, words, 1 + stack->depth);
    for (int i = 0; i < SPOOL_PLACES; i++) {
        if (model->is_due[i] && draw(2) == 0)
            put_module(model, i);
    }
}

static void
put_exec(struct spool_model *model)
{
    uint64_t words[4] = {model->now_ticks + draw(9), 9}; /* no event */

    memcpy(&words[2], "/bin/else", 9);
    put(model, EMBED_EXEC, 0, 77, words, 4);
    atomic_fetch_add(&header_of(model)->executed, 1);
}

/* ---- Events ---- */

/* The record that causes it is written next. */
static struct sim_recorded *
expect_event(struct spool_model *model, enum sim_recorded_kind kind,
             uint32_t thread)
{
    struct sim_recorded *event = &model->events[model->events_count++];

    assert_true(model->events_count < SPOOL_EVENTS);
    *event = (struct sim_recorded){
        .kind = kind, .thread = thread, .ticks = model->now_ticks - 1000};
    return event;
}

static uint64_t
address_of(uint64_t number)
{
    return (number + 1) << (number % 3 == 0 ? 40 : 4);
}

/* An object comes to an address; one that is there is gone. */
static void
place_object(struct spool_model *model, uint64_t at, uint32_t thread,
             uint64_t object)
{
    if (model->object_at[at] != NOTHING) {
        expect_event(model, SIM_RECORDED_FREE, thread)->object =
            model->object_at[at];
        model->dropped[EMBED_DROP_MISSED]++;
    }
    model->object_at[at] = object;
}

static struct sim_recorded *
expect_alloc(struct spool_model *model, uint64_t at, uint32_t thread,
             uint32_t stack, uint64_t bytes)
{
    struct sim_recorded *event;

    place_object(model, at, thread, model->objects);
    event = expect_event(model, SIM_RECORDED_ALLOC, thread);
    event->object = model->objects++;
    event->size_bytes = bytes;
    event->stack = stack;
    return event;
}

static void
put_alloc(struct spool_model *model, uint32_t thread, uint32_t stack)
{
    const uint64_t at = draw(SPOOL_ADDRESSES);
    const uint64_t bytes = draw(3) == 0 ? draw(UINT64_C(1) << 50) : draw(99);
    const uint64_t detail = draw(3) == 0 ? draw(256) : 0;
    const bool has_usable = draw(2) == 0;
    uint64_t words[5] = {tick(model), address_of(at), bytes};
    struct sim_recorded *event = expect_alloc(model, at, thread, stack, bytes);

    event->zeroed = (detail & 1) != 0;
    if (detail / 2 >= 1 && detail / 2 <= 64)
        event->alignment = UINT64_C(1) << (detail / 2 - 1);
    words[3] = bytes + draw(20) - (bytes > 5 ? 5 : 0);
    if (has_usable && words[3] >= bytes)
        event->usable_bytes = words[3];
    words[has_usable ? 4 : 3] = model->stacks[stack].offset;
    put(model, EMBED_ALLOC, detail, thread, words, has_usable ? 5 : 4);
}

static void
put_short_alloc(struct spool_model *model, uint32_t thread, uint32_t stack)
{
    const uint64_t at = draw(SPOOL_ADDRESSES);
    const uint64_t bytes = draw(2) == 0 ? draw(1 << 14) : (1 << 14) - 1;
    const uint64_t later = draw(4) == 0 ? draw(1 << 24) : 0;
    const uint64_t words[2] = {
        EMBED_SHORT_ALLOC | (uint64_t)thread << 8 | address_of(at) / 16 << 20,
        bytes | later << 14 | model->stacks[stack].offset / 8 << 38};

    model->now_ticks += later;
    expect_alloc(model, at, thread, stack, bytes);
    put_words(model, words, 2);
}

static void
put_free(struct spool_model *model, uint32_t thread)
{
    const uint64_t at = draw(SPOOL_ADDRESSES);
    const bool is_short = draw(2) == 0;
    const uint64_t words[2] = {is_short ? 0 : tick(model), address_of(at)};
    const uint64_t word =
        EMBED_SHORT_FREE | (uint64_t)thread << 8 | address_of(at) / 16 << 20;

    if (model->object_at[at] != NOTHING)
        expect_event(model, SIM_RECORDED_FREE, thread)->object =
            model->object_at[at];
    else
        model->dropped[EMBED_DROP_UNKNOWN]++;
    model->object_at[at] = NOTHING;
    if (is_short)
        put_words(model, &word, 1);
    else
        put(model, EMBED_FREE, 0, thread, words, 2);
}

/* Begin a resize. One in four fails: its record is cancelled. */
static void
put_resize(struct spool_model *model, uint32_t thread)
{
    struct spool_resize *const resize = &model->resizes[draw(SPOOL_RESIZES)];
    const uint64_t at = draw(SPOOL_ADDRESSES);
    uint64_t words[2] = {0, address_of(at)};
    const bool fails = draw(4) == 0;

    if (!fails && resize->offset != 0)
        return; /* of another thread, and still going on */
    words[0] = tick(model);
    if (fails) {
        put(model, EMBED_CANCELLED, 0, thread, words, 2);
        return;
    }
    resize->object = model->object_at[at];
    model->object_at[at] = NOTHING;
    if (resize->object == NOTHING)
        model->dropped[EMBED_DROP_UNKNOWN]++;
    resize->offset = put(model, EMBED_RESIZE, 0, thread, words, 2);
}

static void
put_resized(struct spool_model *model, uint32_t thread, uint32_t stack)
{
    struct spool_resize *const resize = &model->resizes[draw(SPOOL_RESIZES)];
    const uint64_t at = draw(SPOOL_ADDRESSES);
    const uint64_t bytes = draw(1000);
    uint64_t words[6] = {tick(model), address_of(at), bytes, resize->offset};
    const bool has_usable = draw(2) == 0;
    struct sim_recorded *event;

    if (resize->offset == 0 || resize->object == NOTHING) {
        event = expect_alloc(model, at, thread, stack, bytes);
    } else {
        place_object(model, at, thread, resize->object);
        event = expect_event(model, SIM_RECORDED_RESIZE, thread);
        event->object = resize->object;
        event->size_bytes = bytes;
        event->stack = stack;
    }
    words[4] = bytes + draw(9);
    if (has_usable && words[4] > 0)
        event->usable_bytes = words[4];
    words[has_usable ? 5 : 4] = model->stacks[stack].offset;
    put(model, EMBED_RESIZED, 0, thread, words, has_usable ? 6 : 5);
    resize->offset = 0;
}

static uint64_t
draw_lock(struct spool_model *model, uint64_t *address)
{
    const uint64_t lock = draw(8);

    *address = 0x7000 + lock * 40;
    if (model->lock_numbers[lock] == NOTHING)
        model->lock_numbers[lock] = model->locks++;
    return model->lock_numbers[lock];
}

static void
put_wait(struct spool_model *model, uint32_t thread, uint32_t stack)
{
    const uint64_t detail = draw(5) | (draw(3) == 0 ? 0x80u : 0);
    uint64_t words[4] = {tick(model), 0, 0, model->stacks[stack].offset};
    struct sim_recorded *event = expect_event(model, SIM_RECORDED_WAIT, thread);

    event->lock = draw_lock(model, &words[1]);
    event->lock_kind = (enum sim_recorded_lock)(detail & 7);
    event->wait_failed = detail > 0x7f;
    event->stack = stack;
    words[2] = draw(4) == 0 ? draw(2000) : 1000 + draw(model->now_ticks - 999);
    if (words[2] >= 1000 && words[2] <= words[0])
        event->wait_ticks = words[0] - words[2];
    put(model, EMBED_WAIT, detail, thread, words, 4);
}

static void
put_release(struct spool_model *model, uint32_t thread, uint32_t stack)
{
    const uint64_t detail = draw(2);
    uint64_t words[3] = {tick(model), 0, model->stacks[stack].offset};
    struct sim_recorded *event =
        expect_event(model, SIM_RECORDED_RELEASE, thread);

    event->lock = draw_lock(model, &words[1]);
    event->lock_kind = (enum sim_recorded_lock)detail;
    event->stack = stack;
    put(model, EMBED_RELEASE, detail, thread, words, 3);
}

static void
put_record(struct spool_model *model)
{
    const uint32_t thread = (uint32_t)draw(model->threads_count);
    const uint32_t stack = (uint32_t)draw(model->stacks_count);
    const uint64_t what = draw(24);

    if (what < 4)
        put_alloc(model, thread, stack);
    else if (what < 8)
        put_short_alloc(model, thread, stack);
    else if (what < 12)
        put_free(model, thread);
    else if (what < 14)
        put_resize(model, thread);
    else if (what < 16)
        put_resized(model, thread, stack);
    else if (what == 16)
        put_wait(model, thread, stack);
    else if (what == 17)
        put_release(model, thread, stack);
    else if (what < 21)
        put_stack(model);
    else if (what == 21)
        put_unload(model);
    else if (what == 22 && model->threads_count < SPOOL_THREADS)
        put_thread(model);
    else
        draw(2) == 0 ? put_name(model) : put_exec(model);
}

void
spool_model_make(struct spool_model *model, uint64_t seed, uint32_t records)
{
    struct embed_spool_header *header;
    uint32_t done = 0;

    memset(model, 0, sizeof *model);
    memset(model->object_at, 0xff, sizeof model->object_at);
    memset(model->lock_numbers, 0xff, sizeof model->lock_numbers);
    drawn = seed << 32;
    model->base = 0x100000 * (1 + draw(7));
    model->now_ticks = 1000;
    header = header_of(model);
    header->magic = EMBED_SPOOL_MAGIC;
    header->version = EMBED_SPOOL_VERSION;
    header->depth_max = SPOOL_DEPTH;
    header->process = (uint32_t)draw(UINT32_MAX);
    header->parent = (uint32_t)draw(UINT32_MAX);
    header->start_ticks = 1000;
    header->forked_ticks = draw(2) * draw(1000);
    header->command_bytes = 9;
    memcpy(header->command, "run\0it\0x", 9);
    for (int i = 0; i < EMBED_DROP_COUNT; i++) {
        model->dropped[i] = draw(3) * draw(UINT64_C(1) << 40);
        atomic_store(&header->dropped[i], model->dropped[i]);
    }
    atomic_store(&header->used_bytes, EMBED_SPOOL_FIRST);
    put_thread(model);
    put_stack(model);
    for (uint32_t i = 0; i < records; i++) {
        put_record(model);
        for (; done < model->events_count; done++)
            model->event_ends[done] = used(model);
    }
    for (int i = 0; i < SPOOL_PLACES; i++) {
        if (model->is_due[i])
            put_module(model, i);
    }
}
