/*
 * losses.c -- prints what is sampled and what was lost: for a client of the
 * agent, and into a file beside the profiles of a process that lost something.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prof/file.h"
#include "record/sampler/profiler.h"
#include "record/sampler/block_table.h"

struct count {
    const char *name;
    uint64_t value;
};

enum { COUNTS = 9 };

static void
take_counts(struct count counts[COUNTS])
{
    const struct prof_drops drops = prof_drops(profile.prof);
    struct profile_losses *const losses = &profile.losses;

    profile_cpu_look();
    counts[0] = (struct count){"dropped_no_bucket", drops.no_bucket};
    counts[1] = (struct count){"dropped_no_frames", drops.no_frames};
    counts[2] = (struct count){"early", atomic_load(&losses->early)};
    counts[3] = (struct count){"untracked", atomic_load(&losses->untracked)};
    counts[4] = (struct count){"unseen_frees", atomic_load(&losses->unseen)};
    counts[5] = (struct count){"uncharged_waits", atomic_load(&losses->waits)};
    counts[6] = (struct count){"timer_taken", atomic_load(&losses->timer)};
    counts[8] = (struct count){"own_malloc", atomic_load(&losses->own)};
    counts[7] = (struct count){"confined", profile_is_confined()};
}

static size_t
print_counts(char *to, size_t bytes, bool also_zero)
{
    struct count counts[COUNTS];
    size_t used = 0;

    take_counts(counts);
    *to = '\0';
    for (int i = 0; i < COUNTS; i++)
        if ((also_zero || counts[i].value != 0) && used < bytes)
            used += (size_t)snprintf(to + used, bytes - used, "%s %llu\n",
                                     counts[i].name,
                                     (unsigned long long)counts[i].value);
    return used < bytes ? used : bytes - 1;
}

void
profile_status_print(char *to, size_t bytes)
{
    const int used =
        snprintf(to, bytes,
                 "process %ld\nheap_rate_bytes %lld\nmutex_fraction %lld\n"
                 "block_rate_ns %lld\ncpu_hz %u\nlive_samples %llu\n",
                 (long)getpid(), (long long)profile.config.heap_rate_bytes,
                 (long long)profile.config.mutex_fraction,
                 (long long)profile.config.block_rate_ns, profile.config.cpu_hz,
                 (unsigned long long)table_count());

    (void)print_counts(to + used, bytes - (size_t)used, true);
}

/* Write the losses, or remove the file if there are none: losses decrease if a
 * call that would have confined the process fails. */
void
profile_losses_write(void)
{
    static pid_t written_by;
    struct prof_file file;
    struct prof_sink sink;
    char path[PROFILE_FOLDER_MAX + 32];
    char text[512];
    const size_t bytes = print_counts(text, sizeof text, false);

    (void)snprintf(path, sizeof path, "%s/%ld" PROFILE_LOST_END,
                   profile.config.folder, (long)getpid());
    if (bytes == 0) {
        if (written_by == getpid())
            (void)unlink(path);
        return;
    }
    if (prof_file_begin(&file, path) != PROF_OK)
        return;
    prof_file_be_quick(&file);
    sink = prof_file_sink(&file);
    if (prof_file_end(&file, sink.write(sink.context, text, bytes)) == PROF_OK)
        written_by = getpid(); /* on failure there is nothing to report to */
}
