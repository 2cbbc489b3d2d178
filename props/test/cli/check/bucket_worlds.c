/* bucket_worlds.c -- see bucket_worlds.h. */
#include "bucket_worlds.h"

#include <inttypes.h>
#include <string.h>

#include "drawn.h"

enum { ALL_STACKS = 9, NO_BUCKET = WORLD_BUCKETS };

/* Some are equal when they are cut. */
static const char *const all_stacks[ALL_STACKS] = {
    "", "a", "ba", "dcba", "dcbz", "dcbyx", "dcb", "z", "za"};
static const char *const all_rules[] = {"exact", "go1.10", "go1.5"};
enum { EXACT, GO1_10, GO1_5, RULES };

const char *world_stacks[WORLD_STACKS];
struct world_after world_after[2][WORLD_EVENTS];
char world_events[2][WORLD_EVENTS][64];

static uint32_t room_for; /* buckets */

/* ---- What happens in a world ---- */

static uint32_t
bucket_of(struct world_after *side, enum world_kind kind, const char *frames,
          uint64_t size_bytes)
{
    struct world_bucket made = {.kind = kind, .size_bytes = size_bytes};
    uint32_t i = 0;

    strncpy(made.frames, frames, WORLD_KEPT);
    while (i < side->count &&
           (side->buckets[i].kind != kind ||
            side->buckets[i].size_bytes != size_bytes ||
            strcmp(side->buckets[i].frames, made.frames) != 0))
        i++;
    if (i == side->count && i == room_for)
        return NO_BUCKET;
    if (i == side->count)
        side->buckets[side->count++] = made;
    return i;
}

/* Publish a slot, and empty it. */
static void
publish(struct world_after *side, uint32_t slot)
{
    for (uint32_t i = 0; i < side->count; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            side->buckets[i].shown[k] += side->buckets[i].slots[slot][k];
            side->buckets[i].slots[slot][k] = 0;
        }
    }
}

static uint32_t
ahead(const struct world_after *side, uint32_t cycles)
{
    return (side->cycle + cycles) % 3;
}

static void
count_one(struct world_after *side, uint32_t bucket, uint32_t which,
          bool as_alloc)
{
    const uint32_t slot = side->rules == GO1_5 ? as_alloc
                          : as_alloc           ? ahead(side, 2)
                                               : ahead(side, 1);

    if (bucket != NO_BUCKET)
        side->buckets[bucket].slots[slot][which]++;
}

static void
terminate(struct world_after *side)
{
    side->marking = side->flushed = false;
    side->cycle++;
    for (uint32_t o = 0; o < side->objects; o++) {
        if (side->lives[o] == DOOMED)
            side->lives[o] = DEAD;
    }
    if (side->rules != GO1_5)
        return;
    publish(side, 0);
    for (uint32_t i = 0; i < side->count; i++) {
        struct world_bucket *bucket = &side->buckets[i];

        memcpy(bucket->slots[0], bucket->slots[1], sizeof bucket->slots[0]);
        memset(bucket->slots[1], 0, sizeof bucket->slots[1]);
    }
}

/* A snapshot. in: room, UINT32_MAX: enough */
static void
read_heap(struct world_after *side, bool all, uint32_t room)
{
    uint32_t listed = 0;
    bool first = true;

    if (side->rules != GO1_5)
        publish(side, ahead(side, 0));
    for (uint32_t i = 0; i < side->count; i++)
        first &= side->buckets[i].kind != WORLD_HEAP ||
                 (side->buckets[i].shown[0] | side->buckets[i].shown[1]) == 0;
    for (uint32_t i = 0; i < side->count; i++) {
        struct world_bucket *bucket = &side->buckets[i];
        uint64_t live = bucket->shown[0] - bucket->shown[1];

        for (uint32_t slot = 0; first && slot < 3; slot++)
            live += bucket->slots[slot][0] - bucket->slots[slot][1];
        bucket->listed = bucket->kind == WORLD_HEAP &&
                         (all || live * bucket->size_bytes != 0);
        listed += bucket->listed;
    }
    side->fits = listed <= room;
    for (uint32_t i = 0; i < side->count; i++)
        side->buckets[i].listed &= side->fits;
    for (uint32_t slot = 0;
         slot < 3 && first && (side->fits || side->rules != EXACT); slot++)
        publish(side, slot);
}

/* returns: an object in this state; side->objects: none */
static uint32_t
any_object(const struct world_after *side, enum world_life life)
{
    uint32_t found = side->objects;
    uint32_t seen = 0;

    for (uint32_t o = 0; o < side->objects; o++) {
        if (side->lives[o] == life && draw(++seen) == 0)
            found = o;
    }
    return found;
}

#define SAY(...) snprintf(to, sizeof world_events[0][0], __VA_ARGS__)

static void
collect(struct world_after *side, char *to)
{
    const uint32_t dead = any_object(side, DEAD);

    if (side->marking) {
        SAY("gc-terminate");
        terminate(side);
    } else if (dead < side->objects) {
        SAY("gc-sweep o%" PRIu32, dead);
        side->lives[dead] = GONE;
        count_one(side, side->bucket_of[dead], 1, false);
    } else if (!side->flushed || draw(3) == 0) {
        SAY("gc-flush");
        if (side->rules != GO1_5 && !side->flushed)
            publish(side, ahead(side, 0));
        side->flushed = true;
    } else if (draw(3) == 0) {
        SAY("gc-post-sweep");
        if (side->rules != GO1_5)
            publish(side, ahead(side, 1));
    } else {
        SAY("gc-mark");
        side->marking = true;
        for (uint32_t o = 0; o < side->objects; o++) {
            if (side->lives[o] == DROPPED)
                side->lives[o] = DOOMED;
        }
    }
}

static void
wait_for_lock(struct world_after *side, char *to)
{
    const uint32_t stack = (uint32_t)draw(WORLD_STACKS);
    const uint32_t cycles = 1 + (uint32_t)draw(1000);
    const bool is_mutex = draw(2) == 0;
    uint32_t i;

    SAY("t%u: %s s%" PRIu32 " %" PRIu32, (unsigned)draw(4),
        is_mutex ? "mutex" : "block", stack, cycles);
    if (is_mutex && side->rules == GO1_5)
        return;
    i = bucket_of(side, is_mutex ? WORLD_MUTEX : WORLD_BLOCK,
                  world_stacks[stack], 0);
    if (i == NO_BUCKET)
        return;
    side->buckets[i].shown[0]++;
    side->buckets[i].shown[1] += cycles;
}

/* Draw an event of the program. */
static void
happen(struct world_after *side, char *to)
{
    const bool frees = draw(2) == 0;
    const uint32_t live = any_object(side, LIVE);
    const uint32_t stack = (uint32_t)draw(WORLD_STACKS);
    const uint32_t size = 16 * (uint32_t)draw(3);

    if (draw(5) < 3 && live < side->objects) {
        SAY("t%u: %s o%" PRIu32, (unsigned)draw(4), frees ? "free" : "drop",
            live);
        side->lives[live] = frees ? GONE : DROPPED;
        if (frees && side->rules != GO1_10)
            count_one(side, side->bucket_of[live], 1, true);
        return;
    }
    SAY("t%u: alloc o%" PRIu32 " s%" PRIu32 " %" PRIu32, (unsigned)draw(4),
        side->objects, stack, size);
    side->lives[side->objects] = LIVE;
    side->bucket_of[side->objects] =
        bucket_of(side, WORLD_HEAP, world_stacks[stack], size);
    count_one(side, side->bucket_of[side->objects++], 0, true);
}

static void
draw_events(void)
{
    for (uint32_t i = 0; i < WORLD_EVENTS; i++) {
        const uint64_t what = draw(12);
        const bool all = draw(2) == 0;
        const uint32_t room = draw(4) == 0 ? (uint32_t)draw(3) : UINT32_MAX;

        for (int s = 0; s < 2; s++) {
            struct world_after *side = &world_after[s][i];
            char *to = world_events[s][i];

            if (i > 0)
                *side = world_after[s][i - 1];
            if (what < 2) {
                SAY(room == UINT32_MAX ? "snapshot%s" : "snapshot%s room=%u",
                    all ? "-all" : "", (unsigned)room);
                read_heap(side, all, room);
            } else if (what < 6) {
                collect(side, to);
            } else if (what < 7) {
                wait_for_lock(side, to);
            } else {
                happen(side, to);
            }
        }
    }
}

void
worlds_draw(uint64_t seed)
{
    const char *all[ALL_STACKS];

    drawn = seed;
    room_for = draw(3) == 0 ? 4 + (uint32_t)draw(8) : WORLD_BUCKETS - 1;
    memcpy(all, all_stacks, sizeof all);
    for (uint32_t i = 0; i < WORLD_STACKS; i++) {
        const uint32_t other = i + (uint32_t)draw(ALL_STACKS - i);

        world_stacks[i] = all[other];
        all[other] = all[i];
    }
    memset(world_after, 0, sizeof world_after);
    for (int world = 0; world < 2; world++)
        world_after[world][0].rules = (uint32_t)draw(RULES);
    draw_events();
}

void
world_write(int world, FILE *to)
{
    fprintf(to,
            "profsim scenario 2\nrules %s\nbuckets %" PRIu32
            "\ndepth %d\nprocs 3\n",
            all_rules[world_after[world][0].rules], room_for, WORLD_KEPT);
    for (uint32_t i = 0; i < WORLD_STACKS; i++) {
        size_t depth = strlen(world_stacks[i]);

        fprintf(to, "stack s%" PRIu32 " = %s", i, depth == 0 ? "-" : "");
        while (depth-- > 0)
            fprintf(to, "%c%s", world_stacks[i][depth], depth > 0 ? ">" : "");
        fputc('\n', to);
    }
    for (uint32_t i = 0; i < WORLD_EVENTS; i++)
        fprintf(to, "%s\n", world_events[world][i]);
}
