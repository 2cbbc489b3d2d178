/* state.c -- what the files of the profiler share. */
#include "record/sampler/profiler.h"

#include <sys/mman.h>
#include <unistd.h>

struct profile profile;
_Thread_local bool embed_inside;

void *
profile_map(size_t bytes)
{
    void *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at != MAP_FAILED ? at : NULL;
}

bool
profile_is_confined(void)
{
    const pid_t child = atomic_load(&profile.confined_child);

    return atomic_load(&profile.confinements) != 0 ||
           (child != 0 && child == getpid());
}
