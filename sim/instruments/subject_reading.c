/* subject_reading.c -- what a subject shows, and its rates. */
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/subject_watcher.h"

/* ---- Memory ---- */

bool
subject_reading_create(struct watcher *watcher, const struct sim_limits *limits)
{
    bool done = true;

    /* More than a record for each object and one for each stack. */
    watcher->records_max =
        4 * ((size_t)limits->objects_max + limits->buckets_max) + 64;
    for (int i = 0; i < 2; i++) {
        struct sim_subject_view *view = &watcher->views[i];
        struct sim_subject_waits *waits = &watcher->waits[i];

        view->records = calloc(watcher->records_max, sizeof *view->records);
        waits->records = calloc(watcher->records_max, sizeof *waits->records);
        done &= view->records != NULL && waits->records != NULL;
    }
    return done;
}

void
subject_reading_destroy(struct watcher *watcher)
{
    for (int i = 0; i < 2; i++) {
        free(watcher->views[i].records);
        free(watcher->waits[i].records);
    }
}

/* ---- Reading ---- */

/* returns: the first stack that is the site, SIM_SUBJECT_NOWHERE if none is */
static uint32_t
find_site(const struct watcher *watcher, const struct subject_site *site)
{
    const struct sim_config *config = sim_world_config(watcher->world);
    const uint32_t depth_max = watcher->subject->depth_max;

    for (uint32_t i = 0; i < config->stacks_count; i++) {
        const struct truth_stack *stack = &config->stacks[i];
        const uint32_t depth = depth_max != 0 && depth_max < stack->depth
                                   ? depth_max
                                   : stack->depth;

        if (depth == site->depth &&
            (depth == 0 || memcmp(stack->frames, site->frames,
                                  depth * sizeof *stack->frames) == 0))
            return i;
    }
    return SIM_SUBJECT_NOWHERE;
}

static void
keep_record(void *context, const struct subject_record *record)
{
    struct watcher *watcher = context;
    struct sim_subject_view *view = watcher->reading;

    view->cut |= view->count == watcher->records_max;
    if (view->cut)
        return;
    view->records[view->count++] = (struct sim_subject_record){
        .site = find_site(watcher, &record->site),
        .depth = record->site.depth,
        .leaf = record->site.depth > 0 ? record->site.frames[0] : 0,
        .address = record->address,
        .live = record->live,
        .allocated = record->allocated,
        .freed = record->freed,
    };
}

static void
read_into(struct watcher *watcher, int which)
{
    watcher->reading = &watcher->views[which];
    watcher->reading->count = 0;
    watcher->reading->cut = false;
    watcher->subject->snapshot(watcher->state, keep_record, watcher);
}

static void
hear_snapshot(struct sim_instrument *instrument, struct sim_world *world,
              const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;

    (void)world;
    (void)subject_state(watcher, fact->proc);
    read_into(watcher, 0);
    read_into(watcher, 1);
}

static void
hear_part(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    const struct subject *subject = watcher->subject;
    void *state = subject_state(watcher, fact->proc);
    bool more = true;

    (void)world;
    watcher->reading = &watcher->views[0];
    if (fact->kind == TRUTH_PART_FIRST) {
        watcher->reading->count = 0;
        watcher->reading->cut = false;
        watcher->is_read = true;
        subject->read_begin(state);
        return;
    }
    while (more && !watcher->reading->cut && watcher->is_read) {
        more = subject->read_next(state, keep_record, watcher);
        watcher->is_read = more && !watcher->reading->cut;
        more = more && fact->kind == TRUTH_PART_LAST;
    }
}

static void
keep_wait(void *context, const struct subject_wait_record *record)
{
    struct watcher *watcher = context;
    struct sim_subject_waits *waits = watcher->waits_read;

    waits->cut |= waits->count == watcher->records_max;
    if (waits->cut)
        return;
    waits->records[waits->count++] = (struct sim_subject_wait){
        .site = find_site(watcher, &record->site),
        .depth = record->site.depth,
        .leaf = record->site.depth > 0 ? record->site.frames[0] : 0,
        .count = record->count,
        .ticks = record->ticks,
    };
}

static void
hear_waits(struct sim_instrument *instrument, struct sim_world *world,
           const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = subject_state(watcher, fact->proc);

    (void)world;
    for (int i = 0; i < 2; i++) {
        watcher->waits_read = &watcher->waits[i];
        watcher->waits_read->count = 0;
        watcher->waits_read->cut = false;
        watcher->subject->read_waits(state,
                                     fact->kind == TRUTH_BLOCK_SNAPSHOT
                                         ? SUBJECT_BLOCK_WAITS
                                         : SUBJECT_MUTEX_WAITS,
                                     keep_wait, watcher);
    }
}

static void
hear_wait_rate(struct sim_instrument *instrument, struct sim_world *world,
               const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;
    void *state = subject_state(watcher, fact->proc);

    (void)world;
    watcher->subject->set_wait_rate(state,
                                    fact->kind == TRUTH_BLOCK_RATE
                                        ? SUBJECT_BLOCK_WAITS
                                        : SUBJECT_MUTEX_WAITS,
                                    (uint64_t)fact->cycles);
}

static void
hear_rate(struct sim_instrument *instrument, struct sim_world *world,
          const struct truth_entry *fact)
{
    struct watcher *watcher = (struct watcher *)instrument;

    (void)world;
    watcher->rate_bytes = fact->cycles < 0 ? 0 : (uint64_t)fact->cycles;
    if (!watcher->begun)
        return;
    if (!watcher->is_read)
        read_into(watcher, 0);
    watcher->subject->set_rate(watcher->state, watcher->rate_bytes);
    if (!watcher->is_read)
        read_into(watcher, 1);
}

sim_hear *
subject_reading_hears(enum truth_kind kind)
{
    switch ((int)kind) {
    case TRUTH_SNAPSHOT:
        return hear_snapshot;
    case TRUTH_PART_FIRST:
    case TRUTH_PART_NEXT:
    case TRUTH_PART_LAST:
        return hear_part;
    case TRUTH_BLOCK_SNAPSHOT:
    case TRUTH_MUTEX_SNAPSHOT:
        return hear_waits;
    case TRUTH_BLOCK_RATE:
    case TRUTH_MUTEX_FRACTION:
        return hear_wait_rate;
    case TRUTH_HEAP_RATE:
        return hear_rate;
    default:
        return NULL;
    }
}

const char *
subject_reading_refuses(const struct sim_instrument *instrument,
                        const struct sim_world *world,
                        const struct sim_event *event)
{
    const struct watcher *watcher = (const struct watcher *)instrument;

    (void)world;
    switch ((int)event->kind) {
    case SIM_EV_PART_FIRST:
    case SIM_EV_SNAPSHOT:
        return watcher->is_read ? "the subject is being read in parts" : NULL;
    case SIM_EV_PART_NEXT:
    case SIM_EV_PART_LAST:
        return watcher->is_read ? NULL
                                : "the subject is not being read in parts";
    default:
        return NULL;
    }
}

/* ---- For the judge ---- */

const struct sim_subject_view *
sim_subject_view(const struct sim_world *world, int which)
{
    return &watcher_of(world)->views[which];
}

const struct sim_subject_waits *
sim_subject_waits(const struct sim_world *world, int which)
{
    return &watcher_of(world)->waits[which];
}

bool
sim_subject_is_read(const struct sim_world *world)
{
    return watcher_of(world)->is_read;
}

uint32_t
sim_subject_site(const struct sim_world *world, uint32_t stack)
{
    const struct sim_config *config = sim_world_config(world);
    const struct truth_stack *wanted = &config->stacks[stack];
    const uint32_t depth_max = config->subject->depth_max;

    for (uint32_t i = 0; i < stack; i++) {
        const struct truth_stack *other = &config->stacks[i];
        const bool is_cut = depth_max != 0 && wanted->depth >= depth_max;
        const uint32_t depth = is_cut ? depth_max : wanted->depth;

        if ((is_cut ? other->depth >= depth : other->depth == depth) &&
            (depth == 0 || memcmp(other->frames, wanted->frames,
                                  depth * sizeof *other->frames) == 0))
            return i;
    }
    return stack;
}
