/*
 * live_objects.h -- the heap oracle: which objects existed at a mark
 * termination.
 *
 * It gets the facts of the log one by one, but only those of counted objects.
 */
#ifndef MODEL_HEAP_LIVE_OBJECTS_H
#define MODEL_HEAP_LIVE_OBJECTS_H

#include "model/heap/heap.h"

struct model_object;

/* Is data that becomes final in some cycle still unpublished? */
enum model_debt { MODEL_DEBT_NONE, MODEL_DEBT_DUE, MODEL_DEBT_OVERDUE };

struct model_live {
    enum model_scheme scheme;
    uint32_t objects_max;
    struct model_object *objects; /* by their number in the log */
    uint32_t objects_count;

    uint32_t terminations; /* mark terminations so far: g */
    bool stopped_sweep;    /* the sweep after termination g ran in the stopped
                              world */
    bool post_swept;       /* was post_sweep called since termination g? */
    uint32_t first_at;     /* log entry of the last snapshot that published
                              everything */

    uint32_t unreported_old;  /* objects found dead before g, free not recorded
                             yet */
    uint32_t unreported_new;  /* found dead at g, not recorded yet */
    uint32_t unreported_next; /* found dead by the marking that ends at g+1 */
    bool frees_in_alloc_slot;

    enum model_debt debt_now;   /* final in this cycle */
    enum model_debt debt_next;  /* in the next */
    enum model_debt debt_after; /* in the one after it */

    /* Objects that model_live_at() still has to count. */
    uint32_t *births; /* all objects, in order of allocation */
    uint32_t births_count;
    uint32_t births_done;
    uint64_t bytes_then; /* in use at the k of the last model_live_at(); may
                            wrap */
    uint32_t *leaving;   /* found dead or freed after k */
    uint32_t leaving_count;
};

/* returns: false if there is not enough memory; delete all the same */
bool model_live_new(struct model_live *live, uint32_t objects_max);
void model_live_delete(struct model_live *live);
void model_live_reset(struct model_live *live, enum model_scheme scheme);

/* returns: the bucket of an object, MODEL_BUCKET_NONE if it is not counted */
uint32_t model_live_bucket(const struct model_live *live, uint32_t object);

/*
 * Pass a fact to the oracle, in the order of the log.
 *
 * in:      at, the fact's entry in the log
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
/* Pass a snapshot that published everything, because nothing was published. */
void model_live_first(struct model_live *live, uint32_t at);

/* The work of model_heap_at(). */
bool model_live_at(struct model_live *live, struct model_bucket *buckets,
                   uint32_t *k);

#endif
