/*
 * live_objects.h -- the heap oracle: which objects there were at a mark
 * termination.
 *
 * It gets the facts of the log one by one, only those of counted objects.
 */
#ifndef MODEL_LIVE_OBJECTS_H
#define MODEL_LIVE_OBJECTS_H

#include "heap.h"

struct model_object;

/* Is there unpublished data that becomes final in some cycle? */
enum model_debt { MODEL_DEBT_NONE, MODEL_DEBT_DUE, MODEL_DEBT_OVERDUE };

struct model_live {
    enum model_scheme scheme;
    uint32_t objects_max;
    struct model_object *objects; /* by the log's number */
    uint32_t objects_count;

    uint32_t terminations; /* g */
    bool stopped_sweep;    /* termination g swept in the stopped world */
    bool post_swept;       /* post_sweep since termination g */
    uint32_t first_at;     /* entry of the last first snapshot */

    uint32_t untold_old;  /* found dead before g, the library not told */
    uint32_t untold_new;  /* found dead at g, not told */
    uint32_t untold_next; /* found dead by the marking that ends at g+1 */
    bool frees_in_alloc_slot;

    enum model_debt debt_now;   /* final in this cycle */
    enum model_debt debt_next;  /* in the next */
    enum model_debt debt_after; /* in the one after it */

    /* What model_live_at() still has to count. */
    uint32_t *births; /* all objects, in order of birth */
    uint32_t births_count;
    uint32_t births_done;
    uint64_t bytes_then; /* in use at the last k that was asked for; may wrap */
    uint32_t *leaving;   /* found dead or freed, not yet at k */
    uint32_t leaving_count;
};

/* returns: false if there is not enough memory; delete all the same */
bool model_live_new(struct model_live *live, uint32_t objects_max);
void model_live_delete(struct model_live *live);
void model_live_reset(struct model_live *live, enum model_scheme scheme);

/* returns: the bucket of an object, MODEL_BUCKET_NONE if it is not counted */
uint32_t model_live_bucket(const struct model_live *live, uint32_t object);

/*
 * The facts, in the order of the log.
 *
 * in:      at, the entry of the log
 */
void model_live_born(struct model_live *live, uint32_t object, uint32_t bucket,
                     uint32_t at);
void model_live_freed(struct model_live *live, uint32_t object, uint32_t at);
void model_live_dead(struct model_live *live, uint32_t object);
void model_live_swept(struct model_live *live, uint32_t object, uint32_t at);
void model_live_terminate(struct model_live *live, bool stopped_sweep);
void model_live_next_cycle(struct model_live *live);
void model_live_flush(struct model_live *live); /* or a snapshot */
void model_live_post_sweep(struct model_live *live);
/* A snapshot that published everything, because nothing was published. */
void model_live_first(struct model_live *live, uint32_t at);

/* model_heap_at(). */
bool model_live_at(struct model_live *live, struct model_bucket *buckets,
                   uint32_t *k);

#endif
