/* heap_model.c -- see heap_model.h. */
#include "heap_model.h"

#include <string.h>

#include "drawn.h"
#include "unit_test.h"
/* ---- Code ---- */

#define TEN "ABCDEFGHIJ"

/* Two symbols have one name; names of 64 bytes are shown whole, longer ones are
 * not, and the last would be cut inside a letter. Two other names have one hash
 * (FNV-1a), by which a tree of calls looks names up. */
static const struct {
    const char *symbol;
    const char *shown;
    bool is_plumbing;
} names[] = {
    {"malloc", "malloc", true},
    {"8yn0iYCKYHlIj4-BwPqk", "8yn0iYCKYHlIj4-BwPqk", false},
    {"GReLUrM4wMqfg9yzV3KQ", "GReLUrM4wMqfg9yzV3KQ", false},
    {"_Znwm", "operator new(unsigned long)", true},
    {"_ZN4data4listC1Ev", "data::list::list()", false},
    {"_ZN4data4listC2Ev", "data::list::list()", false},
    {"a;b<c>&\"d\\e'", "a;b<c>&\"d\\e'", false},
    {"two\nlines", "two\nlines", false},
    {"mallocate", "mallocate", false},
    {TEN TEN TEN TEN TEN TEN "1234", TEN TEN TEN TEN TEN TEN "1234", false},
    {TEN TEN TEN TEN TEN TEN "12345", TEN TEN TEN TEN TEN TEN "12345", false},
    {TEN TEN TEN TEN TEN TEN "\xc3\xa4\xc3\xa4\xc3\xa4",
     TEN TEN TEN TEN TEN TEN "\xc3\xa4\xc3\xa4\xc3\xa4", false},
    {"calloc", "calloc", true},
    {"", "", false}};
const char *const heap_model_modules[MODEL_MODULES] = {
    "", "/lib/b.so.1", "/usr/bin/prog", "/lib/c.so"};
static const char *const files[] = {"", "src/a.c", "b.c", "/x/y/c.cc"};

enum { NAMES = sizeof names / sizeof *names, FILES = 4, CHAIN_MAX = 12 };

static void
make_call(struct model_call *call, uint64_t pc, uint32_t module, bool inlined)
{
    const uint64_t name = draw(NAMES);
    const char *const slash = strrchr(heap_model_modules[module], '/');

    *call = (struct model_call){.symbol = names[name].symbol,
                                .shown = names[name].shown,
                                .file = files[draw(FILES)],
                                .module = heap_model_modules[module],
                                .pc = pc,
                                .line = (uint32_t)draw(3) * 17,
                                .is_plumbing = names[name].is_plumbing,
                                .is_inlined = inlined};
    if (*call->symbol == '\0')
        call->shown = slash != NULL ? slash + 1 : "?";
    if (!inlined)
        call->offset = draw(40);
}

static bool
is_taken(const struct heap_model *model, uint64_t address)
{
    for (uint32_t i = 0; i < model->calls_count; i++) {
        if (model->calls[i].address == address)
            return true;
    }
    return false;
}

/* A return address belongs to the innermost call; those around it get the next
 * ones below that are free. */
static void
give_addresses(struct heap_model *model)
{
    for (uint32_t i = 0; i < model->calls_count; i++) {
        if (i == 0 || !model->calls[i - 1].is_inlined)
            model->calls[i].address = model->calls[i].pc;
    }
    for (uint32_t i = 1; i < model->calls_count; i++) {
        uint64_t address = model->calls[i - 1].address;

        if (!model->calls[i - 1].is_inlined)
            continue;
        do
            address--;
        while (is_taken(model, address));
        model->calls[i].address = address;
    }
}

/* Make groups of calls at one pc. The first group is a long chain. */
static void
make_code(struct heap_model *model)
{
    uint64_t next[MODEL_MODULES];

    for (uint32_t i = 0; i < MODEL_MODULES; i++)
        next[i] = 0x10000 * (MODEL_MODULES + 1 - i);
    while (model->calls_count + CHAIN_MAX <= MODEL_FRAMES) {
        const uint32_t module = (uint32_t)draw(MODEL_MODULES);
        const uint64_t chain =
            model->calls_count == 0 ? CHAIN_MAX : 1 + draw(8) / 5 * draw(4);

        next[module] += 1 + draw(9);
        for (uint64_t i = chain > 0 ? chain : 1; i > 0; i--)
            make_call(&model->calls[model->calls_count++], next[module], module,
                      i > 1);
    }
    give_addresses(model);
}

static void
call_it_main(struct model_call *call)
{
    call->symbol = call->shown = "main";
    call->is_plumbing = false;
}

/* Without arguments, the program is the module of the first main(), whatever
 * its name. */
static void
make_main(struct heap_model *model)
{
    uint32_t i = model->calls_count / 2;
    uint32_t k = model->calls_count - 1;

    while (i > 0 && *model->calls[i].module == '\0')
        i--;
    while (k > i && (*model->calls[k].module == '\0' ||
                     model->calls[k].module == model->calls[i].module))
        k--;
    call_it_main(&model->calls[i]);
    call_it_main(&model->calls[k]);
    model->arguments = 0;
}

static uint32_t
draw_frame(const struct heap_model *model)
{
    uint32_t frame = (uint32_t)draw(model->calls_count);

    while (frame > 0 && model->calls[frame - 1].is_inlined)
        frame--;
    return frame;
}

/* Stack 0 is empty, and stack 1 has more calls than are kept. Others often
 * share the frames next to the root. */
static void
make_stacks(struct heap_model *model, uint32_t count)
{
    model->stacks_count = count;
    model->stacks[1].depth = 100; /* 12 calls each */
    for (uint32_t i = 2; i < count; i++) {
        struct model_stack *stack = &model->stacks[i];
        const struct model_stack *before = &model->stacks[i - 1];
        const uint32_t kept =
            i > 2 ? (uint32_t)draw((before->depth < 5 ? before->depth : 5) + 1)
                  : 0;
        const uint32_t fresh = 1 + (uint32_t)draw(4);

        for (uint32_t k = 0; k < fresh; k++)
            stack->frames[k] = draw_frame(model);
        for (uint32_t k = 0; k < kept; k++)
            stack->frames[fresh + k] = before->frames[before->depth - kept + k];
        stack->depth = fresh + kept;
    }
}

uint32_t
heap_model_calls(const struct heap_model *model, uint32_t stack,
                 const struct model_call **calls)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->stacks[stack].depth; i++) {
        const struct model_call *call =
            &model->calls[model->stacks[stack].frames[i]];

        for (;; call++) {
            if (count < MODEL_CALLS)
                calls[count++] = call;
            if (!call->is_inlined)
                break;
        }
    }
    return count;
}

/* ---- Events ---- */

static uint64_t
draw_bytes(void)
{
    switch (draw(8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_C(1) << draw(44);
    case 2:
        return (UINT64_C(1) << draw(44)) - 1;
    default:
        return draw(5000);
    }
}

static struct model_event *
add_event(struct heap_model *model, enum model_kind kind, uint64_t ticks)
{
    struct model_event *event = &model->events[model->events_count++];

    *event =
        (struct model_event){.kind = kind,
                             .ticks = ticks,
                             .thread = (uint32_t)draw(model->threads_count),
                             .stack = (uint32_t)draw(model->stacks_count)};
    event->bytes = draw_bytes();
    event->usable_bytes = model->has_usable ? event->bytes + draw(60) + 1 : 0;
    return event;
}

/* A release of a lock, for which one thread waits until the next event; if it
 * waited for no time, it began to wait after the release. */
static void
add_wait(struct heap_model *model, uint64_t ticks)
{
    const uint64_t lock = model->waits++;
    struct model_event *event = add_event(model, MODEL_RELEASE, ticks);

    event->lock = lock;
    event = add_event(model, MODEL_WAIT, ticks + 1 + draw(3));
    event->lock = lock;
    event->waited = draw(4) == 0 ? 0 : 4 + draw(100);
    if (event->waited > 90 && ticks > UINT64_C(1) << 34 &&
        model->ticks_per_second > 1)
        event->waited += UINT64_C(1) << 33;
}

static void
make_events(struct heap_model *model)
{
    static uint64_t live[MODEL_EVENTS];
    const uint64_t step = UINT64_C(1) << 2 * draw(16);
    const uint64_t first = draw(3) == 0 ? 14 : 0; /* most events are waits */
    uint64_t live_count = 0;
    uint64_t objects = 0;
    uint64_t ticks = draw(3) == 0 ? UINT64_C(1) << 35 : 200;

    for (uint32_t i = 0; i < model->stacks_count + 200; i++) {
        const uint64_t what = i == 0 ? 0 : first + draw(16 - first);
        struct model_event *event;

        ticks += draw(step);
        if (what < 8 || (what < 15 && live_count == 0)) {
            event = add_event(model, MODEL_ALLOC, ticks);
            if (i == 0)
                event->bytes = event->usable_bytes = 7;
            live[live_count++] = event->object = objects++;
        } else if (what < 15) {
            const uint64_t at = draw(live_count);

            event =
                add_event(model, what < 12 ? MODEL_FREE : MODEL_RESIZE, ticks);
            event->object = live[at];
            if (what < 12)
                live[at] = live[--live_count];
        } else {
            add_wait(model, ticks);
            ticks += 3;
        }
        assert_true(model->events_count + 4 < MODEL_EVENTS);
    }
    model->duration_ticks = model->events[model->events_count - 1].ticks;
}

/* ---- Sums ---- */

struct object {
    struct model_bucket *bucket;
    const struct model_event *by;
    uint32_t class;
};

static struct object objects_of[MODEL_EVENTS];

static struct model_bucket *
bucket_of(struct heap_model *model, uint32_t stack, uint64_t bytes)
{
    uint32_t i = 0;

    while (i < model->buckets_count && (model->buckets[i].stack != stack ||
                                        model->buckets[i].bytes != bytes))
        i++;
    if (i == model->buckets_count)
        model->buckets[model->buckets_count++] =
            (struct model_bucket){.stack = stack, .bytes = bytes};
    return &model->buckets[i];
}

static void
count_in(struct model_count *count, uint64_t bytes, bool more)
{
    count->objects += more ? 1 : UINT64_MAX;
    count->bytes += more ? bytes : 0 - bytes;
}

/* Count an object that begins or ends, in use until now and for ever after. in:
 * is_early, whether it is not after the peak */
static void
count_object(struct heap_model *model, const struct object *object, bool begins,
             bool is_early)
{
    const uint64_t bytes = object->by->bytes;
    struct model_thread *thread = &model->threads[object->by->thread];
    struct model_sums *all[] = {&model->total,
                                &model->stacks[object->by->stack].sums,
                                &model->classes[object->class]};

    *(begins ? &object->bucket->allocs : &object->bucket->frees) += 1;
    if (is_early)
        *(begins ? &object->bucket->peak_allocs
                 : &object->bucket->peak_frees) += 1;
    for (int i = 0; i < 3; i++) {
        if (begins)
            count_in(&all[i]->at[MODEL_ALLOCS], bytes, true);
        if (begins && is_early)
            count_in(&all[i]->peak_allocs, bytes, true);
        count_in(&all[i]->at[MODEL_EXIT], bytes, begins);
        if (is_early)
            count_in(&all[i]->at[MODEL_PEAK], bytes, begins);
    }
    if (begins)
        count_in(&thread->at[MODEL_ALLOCS], bytes, true);
    count_in(&thread->at[MODEL_EXIT], bytes, begins);
    if (is_early)
        count_in(&thread->at[MODEL_PEAK], bytes, begins);
    if (is_early)
        model->usable_bytes +=
            begins ? object->by->usable_bytes : 0 - object->by->usable_bytes;
}

static void
begin_object(struct heap_model *model, const struct model_event *event,
             bool is_early)
{
    struct object *object = &objects_of[event->object];
    struct model_span *span =
        &model->spans[event->ticks / (model->duration_ticks / MODEL_SPANS + 1)];

    object->by = event;
    object->bucket = bucket_of(model, event->stack, event->bytes);
    for (object->class = 0; event->bytes >> object->class != 0;)
        object->class ++;
    count_object(model, object, true, is_early);
    count_in(&span->allocs, event->bytes, true);
}

/* returns: the number of the event after which most bytes are in use, the first
 * such; also says so of each part of the run */
static uint32_t
find_peak(struct heap_model *model)
{
    static uint64_t bytes_of[MODEL_EVENTS];
    const uint64_t length = model->duration_ticks / MODEL_SPANS + 1;
    uint64_t most = 0;
    uint64_t bytes = 0;
    uint32_t peak = 0;
    uint32_t next = 0;

    for (uint64_t i = 0; i < MODEL_SPANS; i++) {
        struct model_span *span = &model->spans[i];

        span->most_bytes = bytes;
        for (; next < model->events_count &&
               model->events[next].ticks / length == i;
             next++) {
            const struct model_event *event = &model->events[next];

            if (event->kind == MODEL_FREE || event->kind == MODEL_RESIZE)
                bytes -= bytes_of[event->object];
            if (event->kind == MODEL_ALLOC || event->kind == MODEL_RESIZE)
                bytes += bytes_of[event->object] = event->bytes;
            if (bytes > span->most_bytes)
                span->most_bytes = bytes;
            if (bytes > most) {
                most = bytes;
                peak = next;
            }
        }
        span->last_bytes = bytes;
    }
    return peak;
}

static void
add_up(struct heap_model *model)
{
    const uint32_t peak = find_peak(model);

    model->peak_ticks = model->events[peak].ticks;
    for (uint32_t i = 0; i < model->events_count; i++) {
        const struct model_event *event = &model->events[i];

        if (event->kind == MODEL_FREE || event->kind == MODEL_RESIZE) {
            const struct object *object = &objects_of[event->object];

            count_object(model, object, false, i <= peak);
            count_in(&model->threads[event->thread].freed, object->by->bytes,
                     true);
        }
        if (event->kind == MODEL_ALLOC || event->kind == MODEL_RESIZE)
            begin_object(model, event, i <= peak);
    }
}

void
heap_model_make(struct heap_model *model, uint64_t seed, uint32_t stacks_count)
{
    static const char *const words[] = {
        "/opt/prog", "-x", "a b", "c\td", "e", "f", "g", "h", "i", "j", "k"};
    static const uint64_t rates[] = {1, 1000, 1000000000};

    memset(model, 0, sizeof *model);
    drawn = seed << 20;
    model->ticks_per_second = rates[draw(3)];
    model->process = 1 + (uint32_t)draw(UINT32_MAX);
    model->arguments = (uint32_t)draw(12);
    memcpy(model->argument, words, sizeof words);
    model->has_usable = draw(2) == 0;
    for (int i = 0; i < MODEL_CAUSES; i++)
        model->dropped[i] = draw(3) * draw(UINT64_C(1) << 40);
    model->threads_count = 3 + (uint32_t)draw(MODEL_THREADS - 3);
    for (uint32_t i = 0; i < model->threads_count; i++) {
        model->threads[i].number = draw(UINT64_C(1) << 40);
        if (i % 3 != 1)
            snprintf(model->threads[i].name, 16, "thread %u", i);
    }
    make_code(model);
    if (seed % 5 == 3)
        make_main(model);
    make_stacks(model, stacks_count);
    make_events(model);
    add_up(model);
}
