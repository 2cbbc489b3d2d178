/* start_stubs.c -- see start_stubs.h. */
#include "start_stubs.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "prof/fork.h"
#include "in_child.h"
#include "stack.h"
#include "table.h"
#include "unwind.h"

#define STUBS start_stubs

enum { BYTES = 777 }; /* of the library's memory */

struct profile profile;
_Thread_local bool embed_inside;
uint32_t embed_depth_max;
struct start_stubs start_stubs = {.clock_ns = 7, .own = 4321, .forked = 1};

static char the_block, procs[START_PROCS];

static bool
note(char what)
{
    const size_t at = strlen(STUBS.seen);

    CHECK(at < sizeof STUBS.seen - 1);
    STUBS.seen[at] = what;
    errno = 88;
    return STUBS.fails_at != what;
}

#define NOTES(name, letter)  \
    void name(void)          \
    {                        \
        CHECK(embed_inside); \
        (void)note(letter);  \
    }
#define NOTES_ANYWHERE(name, letter) \
    void name(void)                  \
    {                                \
        (void)note(letter);          \
    }

NOTES(embed_locks_resolve, 'L')
NOTES(embed_heap_resolve, 'H')
NOTES(profile_threads_resolve, 'T')
NOTES(profile_waits_start, 'W')
NOTES(profile_agent_start, 'A')
NOTES(embed_unwind_start, 'u')
NOTES(profile_threads_start, 't')
NOTES(profile_cpu_begin, 'c')
NOTES(profile_until_give, 'g')
NOTES_ANYWHERE(table_before_fork, '(')
NOTES_ANYWHERE(table_after_fork, ')')
NOTES_ANYWHERE(profile_waits_after_fork_child, 'w')
NOTES_ANYWHERE(profile_dump_after_fork_child, 'd')
NOTES_ANYWHERE(embed_stacks_reclaim, 's')
NOTES_ANYWHERE(profile_rights_after_fork_child, 'r')

void
profile_agent_end(void)
{
    int cancelling;

    CHECK(embed_inside);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    CHECK(cancelling == PTHREAD_CANCEL_DISABLE);
    (void)note('E');
}

bool
embed_stacks_start(void)
{
    CHECK(embed_inside);
    if (STUBS.begins_amid) /* another thread */
        CHECK(!profile_begin());
    return note('S');
}

void *
profile_map(size_t bytes)
{
    CHECK(bytes == BYTES);
    return note('m') ? &the_block : NULL;
}

size_t
prof_bytes_needed(const struct prof_config *wanted)
{
    STUBS.config = *wanted;
    return BYTES;
}

enum prof_status
prof_init(struct prof **prof, const struct prof_config *wanted, void *block,
          size_t block_bytes)
{
    CHECK(block == &the_block && block_bytes == BYTES);
    CHECK(memcmp(wanted, &STUBS.config, sizeof STUBS.config) == 0);
    STUBS.rules = *wanted->rules;
    *prof = (struct prof *)(void *)&STUBS.the_prof;
    return note('i') ? PROF_OK : PROF_ERR_MEMORY;
}

const struct prof_rules prof_rules_exact = {.sizing_consumes_first = true};

void
prof_heap_rate_set(struct prof *prof, int64_t rate_bytes)
{
    CHECK(prof == (void *)&STUBS.the_prof);
    STUBS.heap_rate = rate_bytes;
}

int64_t
prof_mutex_fraction_set(struct prof *prof, int64_t fraction)
{
    CHECK(prof == (void *)&STUBS.the_prof);
    STUBS.mutex_fraction = fraction;
    return 0;
}

void
prof_block_rate_set(struct prof *prof, int64_t rate_ns)
{
    CHECK(prof == (void *)&STUBS.the_prof);
    STUBS.block_rate = rate_ns;
}

struct prof_proc *
prof_proc_at(struct prof *prof, uint32_t index)
{
    CHECK(prof == (void *)&STUBS.the_prof && index < START_PROCS);
    return (struct prof_proc *)(void *)&procs[index];
}

void
prof_proc_seed(struct prof_proc *proc, uint64_t seed)
{
    STUBS.seeds[(char *)proc - procs] = seed;
}

void
prof_after_fork_child(struct prof *prof)
{
    CHECK(prof == (void *)&STUBS.the_prof && embed_inside);
    (void)note('p');
}

bool
profile_threads_after_fork_child(void)
{
    (void)note('h');
    return STUBS.had_others;
}

void
profile_agent_after_fork_child(bool may_start)
{
    (void)note(may_start ? 'a' : 'n');
}

void
prof_cpu_after_fork_child(struct prof_cpu *cpu)
{
    CHECK(cpu == (void *)&STUBS.the_prof);
    (void)note('x');
}

static pid_t
real_fork(void)
{
    (void)note('F');
    return STUBS.forked;
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    pid_t (*const real)(void) = real_fork;

    CHECK(version == NULL && strcmp(name, "_Fork") == 0);
    memcpy(function, &real, sizeof real);
    (void)note('R');
}

/* ---- the system ---- */

int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void),
                          void (*child)(void));
int
__wrap_pthread_atfork(void (*before)(void), void (*parent)(void),
                      void (*child)(void))
{
    STUBS.before_fork = before;
    STUBS.in_parent = parent;
    STUBS.in_child = child;
    return note('f') ? 0 : ENOMEM;
}

int __wrap_clock_gettime(clockid_t which, struct timespec *to);
int
__wrap_clock_gettime(clockid_t which, struct timespec *to)
{
    CHECK(which == CLOCK_MONOTONIC);
    *to = (struct timespec){.tv_sec = 5 + STUBS.clock_ns / 1000000000,
                            .tv_nsec = STUBS.clock_ns % 1000000000};
    return 0;
}

pid_t __wrap_getpid(void);
pid_t
__wrap_getpid(void)
{
    return STUBS.own;
}
