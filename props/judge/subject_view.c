/* subject_view.c -- see subject_view.h. */
#include "props/judge/subject_view.h"

#include <math.h>
#include <string.h>

#include "common/rng.h"

void
subject_view_add(struct subject_count *to, const struct subject_count *count)
{
    to->objects += count->objects;
    to->samples += count->samples;
    to->bytes += count->bytes;
}

bool
subject_view_same_site(const struct sim_subject_record *a,
                       const struct sim_subject_record *b)
{
    return a->site == b->site && a->depth == b->depth && a->leaf == b->leaf;
}

bool
subject_view_sum(const struct sim_subject_view *view, size_t index,
                 bool by_object, struct sim_subject_record *sum)
{
    *sum = view->records[index];
    if (by_object)
        return true;
    for (size_t i = 0; i < index; i++) {
        if (subject_view_same_site(&view->records[i], sum))
            return false;
    }
    for (size_t i = index + 1; i < view->count; i++) {
        if (!subject_view_same_site(&view->records[i], sum))
            continue;
        subject_view_add(&sum->live, &view->records[i].live);
        subject_view_add(&sum->allocated, &view->records[i].allocated);
        subject_view_add(&sum->freed, &view->records[i].freed);
    }
    return true;
}

bool
subject_is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static uint64_t
hash_count(uint64_t hash, const struct subject_count *count)
{
    uint64_t words[3] = {0, 0, (uint64_t)count->samples};

    memcpy(&words[0], &count->objects, sizeof words[0]);
    memcpy(&words[1], &count->bytes, sizeof words[1]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = sim_hash_step(hash, words[i]);
    return hash;
}

uint64_t
subject_view_hash(uint64_t hash, const struct sim_subject_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct sim_subject_record *record = &view->records[i];

        hash = sim_hash_step(hash, record->site);
        hash = sim_hash_step(hash, record->depth);
        hash = sim_hash_step(hash, record->leaf);
        hash = sim_hash_step(hash, record->address);
        hash = hash_count(hash, &record->live);
        hash = hash_count(hash, &record->allocated);
        hash = hash_count(hash, &record->freed);
    }
    return hash;
}

uint64_t
subject_waits_hash(uint64_t hash, const struct sim_subject_waits *waits)
{
    for (size_t i = 0; i < waits->count; i++) {
        const struct sim_subject_wait *record = &waits->records[i];
        const struct subject_count count = {.objects = record->count,
                                            .bytes = record->ticks};

        hash = sim_hash_step(hash, record->site);
        hash = sim_hash_step(hash, record->depth);
        hash = sim_hash_step(hash, record->leaf);
        hash = hash_count(hash, &count);
    }
    return hash;
}
