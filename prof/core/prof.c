/*
 * prof.c -- an instance in the caller's block, which has this layout:
 *
 *      | struct prof | procs | slots | entries | words | published counts |
 *        columns of each processor | upper 32 bits of the counts |
 *
 * Each part starts on a PROF_BLOCK_ALIGN boundary. Init writes only the first
 * two; the rest stays as the caller gave it, zero. A column is touched only
 * when it counts something (counters.c).
 */
#include <string.h>

#include "prof/core/assumptions.h"
#include "prof/core/block.h"
#include "prof/core/assertion.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

#define TICKS_DEFAULT 1000000000U
#define TICKS_LIMIT   UINT64_C(10000000000) /* per second, at most */

/* Where the parts of a block begin, in bytes; `end` is its length. */
struct layout {
    struct table table; /* all but its arrays */
    size_t procs;
    size_t slots;
    size_t entries;
    size_t words;
    size_t published;
    size_t columns;
    size_t upper;
    size_t column_bytes; /* of one slot */
    size_t waits_bytes;
    size_t end;
};

/* Is each field a value of its enum? The embedder may have filled them in. */
static bool
rules_are_known(const struct prof_rules *rules)
{
    return (unsigned)rules->heap <= PROF_HEAP_RING &&
           (unsigned)rules->rotate <= PROF_ROTATE_RESTARTED &&
           (unsigned)rules->explicit_free <= PROF_EXPLICIT_RECENT &&
           (unsigned)rules->random <= PROF_RANDOM_XORSHIFT32 &&
           (unsigned)rules->block <= PROF_BLOCK_CORRECTED &&
           (unsigned)rules->mutex <= PROF_MUTEX_UNSCALED &&
           (unsigned)rules->waiters <= PROF_WAITERS_ALL &&
           (unsigned)rules->sampler <= PROF_SAMPLER_EXPONENTIAL;
}

/* Exact rules need random numbers of 64 bits. */
static bool
rules_are_sound(const struct prof_rules *rules)
{
    return rules == NULL ||
           (rules_are_known(rules) && (rules->random == PROF_RANDOM_64 ||
                                       (rules->block != PROF_BLOCK_EXACT &&
                                        rules->mutex != PROF_MUTEX_EXACT &&
                                        rules->sampler != PROF_SAMPLER_EXACT)));
}

static enum prof_status
layout_of(struct layout *layout, const struct prof_config *config)
{
    const size_t procs = config->procs_max != 0 ? config->procs_max : 1;
    struct table_layout sizes;
    enum prof_status status;

    memset(layout, 0, sizeof *layout);
    if (procs > PROF_PROCS_LIMIT || config->cycle_first >= PROF_CYCLE_WRAP ||
        (unsigned)config->world > PROF_WORLD_RUNNING ||
        config->ticks_per_second > TICKS_LIMIT ||
        !rules_are_sound(config->rules))
        return PROF_ERR_CONFIG;
    status = prof_table_layout(&layout->table, &sizes, config);
    if (status != PROF_OK)
        return status;
    layout->procs = aligned(sizeof(struct prof));
    layout->slots = layout->procs + procs * sizeof(struct prof_proc);
    layout->entries = layout->slots + aligned(sizes.slots_bytes);
    layout->words = layout->entries + aligned(sizes.entries_bytes);
    layout->column_bytes =
        aligned(((size_t)config->buckets_max + 1) * sizeof(shared_u64));
    layout->waits_bytes =
        aligned(((size_t)config->buckets_max + 1) * sizeof(struct wait));
    layout->published = layout->words + aligned(sizes.words_bytes);
    layout->columns = layout->published + COUNTER_SLOTS * layout->column_bytes;
    layout->upper =
        layout->columns +
        procs * (COUNTER_SLOTS * layout->column_bytes + layout->waits_bytes);
    layout->end = layout->upper + 2 * COUNTER_SLOTS * layout->column_bytes;
    return PROF_OK;
}

size_t
prof_bytes_needed(const struct prof_config *config)
{
    struct layout layout;

    return layout_of(&layout, config) == PROF_OK ? layout.end : 0;
}

static void
init_counters(struct prof *prof, unsigned char *base,
              const struct layout *layout)
{
    unsigned char *column = base + layout->columns;
    unsigned char *upper = base + layout->upper;

    for (uint32_t i = 0; i < COUNTER_SLOTS; i++) {
        const size_t at = i * layout->column_bytes;

        prof->counters.published[i] = (void *)(base + layout->published + at);
        prof->counters.published_high[i] = (void *)(upper + at);
        prof->counters.carried[i] =
            (void *)(upper + COUNTER_SLOTS * layout->column_bytes + at);
    }
    for (uint32_t i = 0; i < prof->procs_count; i++) {
        struct columns *columns = &prof->procs[i].columns;

        for (uint32_t j = 0; j < 2 * COUNTER_SLOTS; j++)
            columns->slots[j] =
                (void *)(column + j % COUNTER_SLOTS * layout->column_bytes);
        column += COUNTER_SLOTS * layout->column_bytes;
        columns->waits = (void *)column;
        column += layout->waits_bytes;
    }
}

static void
init_procs(struct prof *prof, void *procs, const struct prof_config *config)
{
    prof->procs = procs;
    prof->world = config->world;
    prof->procs_count = config->procs_max != 0 ? config->procs_max : 1;
    for (uint32_t i = 0; i < prof->procs_count; i++) {
        struct prof_proc *proc = &prof->procs[i];

        proc->prof = prof;
        proc->rng.kind = prof->rules.random;
        /* A large odd factor, so that instances with seeds 0, 1, ... do not
           share streams. */
        prof_rng_seed(&proc->rng,
                      config->seed + i * UINT64_C(0xd1342543de82ef95));
    }
}

enum prof_status
prof_init(struct prof **out, const struct prof_config *config, void *block,
          size_t block_bytes)
{
    unsigned char *const base = block;
    struct layout layout;
    struct prof *prof;
    enum prof_status status = layout_of(&layout, config);

    if (status != PROF_OK)
        return status;
    if (block_bytes < layout.end || (uintptr_t)block % PROF_BLOCK_ALIGN != 0)
        return PROF_ERR_MEMORY;
    if (config->world == PROF_WORLD_RUNNING && !prof_port_barrier())
        return PROF_ERR_UNSUPPORTED;

    prof = block;
    prof->rules = config->rules != NULL ? *config->rules : prof_rules_exact;
    prof->table = layout.table;
    prof->table.slots = (void *)(base + layout.slots);
    prof->table.entries = (void *)(base + layout.entries);
    prof->table.words = prof_table_words(base + layout.words);
    init_procs(prof, base + layout.procs, config);
    init_counters(prof, base, &layout);
    prof->ticks_per_second = config->ticks_per_second != 0
                                 ? config->ticks_per_second
                                 : TICKS_DEFAULT;
    /* Relaxed: no other thread knows the instance yet. */
    store_relaxed(&prof->block_rate_ticks, 1);
    store_relaxed(&prof->mutex_fraction, 1);
    store_relaxed(&prof->heap_rate_bytes, PROF_HEAP_RATE_DEFAULT);
    store_relaxed(&prof->cycle_word, cycle_word_of(config->cycle_first));
    store_relaxed(&prof->cycle_lock,
                  advances_at_once(prof) ? CYCLE_MOVES : CYCLE_STANDS);
    *out = prof;
    return PROF_OK;
}

struct prof_proc *
prof_proc_at(struct prof *prof, uint32_t index)
{
    PROF_ASSERT(index < prof->procs_count);
    return &prof->procs[index];
}

void
prof_proc_seed(struct prof_proc *proc, uint64_t seed)
{
    prof_rng_seed(&proc->rng, seed);
}

uint64_t
prof_proc_rng_state(const struct prof_proc *proc)
{
    return proc->rng.state;
}

void
prof_proc_rng_resume(struct prof_proc *proc, uint64_t state)
{
    prof_rng_resume(&proc->rng, state);
}

struct prof_drops
prof_drops(const struct prof *prof)
{
    /* Relaxed: the counts are independent. */
    return (struct prof_drops){
        .no_bucket = load_relaxed(&prof->table.no_bucket),
        .no_frames = load_relaxed(&prof->table.no_frames),
        .no_free_path = load_relaxed(&prof->no_free_path),
        .no_mutex = load_relaxed(&prof->no_mutex),
    };
}

const char *
prof_check(const struct prof *prof)
{
    if (cycle_of_word(load_relaxed(&prof->cycle_word)) >= PROF_CYCLE_WRAP)
        return "heap I1";
    return prof_table_check(&prof->table);
}

const char *
prof_status_text(enum prof_status status)
{
    switch (status) {
#define PROF_X(name, text) \
    case name:             \
        return text;
#include "prof/status.def"
#undef PROF_X
    case PROF_STATUS_COUNT:
        break;
    }
    return "unknown status";
}

const char *
prof_version(void)
{
    return PROF_VERSION;
}
