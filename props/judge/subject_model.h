/*
 * subject_model.h -- what a subject must show: a model of a sampled live heap,
 * derived from the truth log alone.
 *
 * Every object has a site, its bytes as the subject counts them, and whether it
 * must, may or must not be recorded. For each site the sums over the objects
 * that must, and that may, be recorded bound what a snapshot shows:
 *
 *      must <= shown <= must + may     in samples; objects and bytes if may = 0
 *      must <= shown                   in objects and bytes, as an estimate
 */
#ifndef PROPS_JUDGE_SUBJECT_MODEL_H
#define PROPS_JUDGE_SUBJECT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "subjects/subject.h"
#include "sim/world/world.h"

enum recorded { NEVER, MAYBE, SURELY };

/* What has happened in a world, and may give a difference its name. */
enum {
    WAS_REALLOCATED = 1 << 0,
    WAS_HUGE = 1 << 1,
    THREAD_ENDED = 1 << 2,
    HAS_FORKED = 1 << 3,
    RATE_CHANGED = 1 << 4,
    WAIT_RATE_CHANGED = 1 << 5,
};

struct subject_thing {
    enum recorded recorded;
    bool lives;
    uint32_t site;
    uint64_t bytes;
};

/* The sums of one site. */
struct subject_sums {
    int64_t must_objects, may_objects;
    double must_bytes, may_bytes;
};

struct subject_model {
    const struct sim_world *world;
    const struct subject *subject;
    struct subject_thing *things;       /* by object */
    uint32_t things_count;              /* above all object numbers */
    uint64_t debt_bytes[SIM_PROCS_MAX]; /* until a rate of 1 holds */
    uint64_t rate_bytes;
    uint64_t sampled_at_bytes; /* largest rate so far; 0: 1 or 0 */
    double ever_bytes;         /* of all blocks so far: sums in double may be
                                * wrong by a small part of it */
    bool was_reported;         /* it was informed of more than its first rate */
    uint32_t past;             /* a set of these */
};

/* returns: false if there is not enough memory */
bool subject_model_init(struct subject_model *model, uint32_t objects_max);
void subject_model_release(struct subject_model *model);

/* returns: as how many bytes the subject counts a request */
uint64_t subject_counted_bytes(const struct subject *subject,
                               uint64_t size_bytes, uint64_t align_bytes);

/* Begin with a world that was reset. in: model->world */
void subject_model_begin(struct subject_model *model);

/* Learn a fact. */
void subject_model_learn(struct subject_model *model,
                         const struct truth_entry *fact);

/* How what is shown of a site compares with its sums. */
enum subject_fit { SHOWS_RIGHT, SHOWS_LESS, SHOWS_MORE };

enum subject_fit subject_model_fit(const struct subject_model *model,
                                   const struct subject_sums *sums,
                                   const struct subject_count *shown);

/* Is the number shown less than expected, by more than rounding in doubles
 * explains? Is it more? */
bool subject_is_less(const struct subject_model *model, double shown,
                     double expected);
bool subject_is_more(const struct subject_model *model, double shown,
                     double expected);

/* returns: the sums of a site */
struct subject_sums subject_model_sums(const struct subject_model *model,
                                       uint32_t site);

#endif
