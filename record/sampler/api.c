/* api.c -- prof/malloc.h, for programs that link the profiler. */
#include "prof/malloc.h"

#include <errno.h>
#include <stdatomic.h>

#include "record/sampler/profiler.h"
#include "record/sampler/block_table.h"

/* During a call the thread is inside (embed_inside), so what the library
 * allocates is not recorded. */
struct entry {
    int saved_errno;
    bool inside;
};

static struct entry
enter(void)
{
    const struct entry entry = {errno, embed_inside};

    embed_inside = true;
    return entry;
}

static void
leave(struct entry entry)
{
    embed_inside = entry.inside;
    errno = entry.saved_errno;
}

void
prof_malloc_rate_set(int64_t rate_bytes)
{
    if (!profile_begin())
        return;
    prof_heap_rate_set(profile.prof, rate_bytes);
    profile_until_give(); /* from this thread's next allocation on */
}

int64_t
prof_malloc_rate(void)
{
    return profile_begin() ? prof_heap_rate(profile.prof) : 0;
}

enum prof_status
prof_malloc_write(enum prof_malloc_kind kind, const struct prof_sink *sink)
{
    const enum profile_kind of = (enum profile_kind)kind;
    enum prof_status status;
    struct entry entry;

    if ((uint32_t)of >= PROFILE_KINDS)
        return PROF_ERR_CONFIG;
    if (!profile_begin() || !profile_has(of))
        return PROF_ERR_OFF;
    entry = enter();
    status = profile_dump(of, sink);
    leave(entry);
    return status;
}

enum prof_status
prof_malloc_dump(const char *folder)
{
    enum prof_status status;
    struct entry entry;

    if (!profile_begin())
        return PROF_ERR_OFF;
    entry = enter();
    status = profile_dump_to(folder, PROFILE_ALL);
    leave(entry);
    return status;
}

enum prof_status
prof_malloc_status(struct prof_malloc_status *status)
{
    const struct profile_losses *const losses = &profile.losses;
    struct prof_drops drops;

    if (!profile_begin())
        return PROF_ERR_OFF;
    drops = prof_drops(profile.prof);
    *status = (struct prof_malloc_status){
        .rate_bytes = prof_heap_rate(profile.prof),
        .live_samples = table_count(),
        .dropped_samples = drops.no_bucket + drops.no_frames,
        .untracked_samples = atomic_load(&losses->untracked),
        .early_allocs = atomic_load(&losses->early),
        .unseen_frees = atomic_load(&losses->unseen),
        .uncharged_waits = atomic_load(&losses->waits)};
    return PROF_OK;
}
