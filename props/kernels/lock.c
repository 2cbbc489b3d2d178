/*
 * lock.c -- kernel: the lock of the Linux port.
 *
 * The lock's source is included under other names, and the explorer handles its
 * system calls. The explorer wakes all threads that sleep on a word, the system
 * wakes only one. So this kernel does not find failures that need a particular
 * thread to stay asleep.
 */
#include <unistd.h>

#include "prof/port.h"

#define prof_port_lock_take    real_lock_take
#define prof_port_lock_try     real_lock_try
#define prof_port_lock_release real_lock_release
#define prof_port_lock_reset   real_lock_reset
#define prof_port_now_ns       real_now_ns
#define prof_port_wait         real_wait
#define prof_port_wake         real_wake
#define prof_port_barrier      real_barrier
#define prof_port_panic        real_panic

void real_lock_take(struct prof_port_lock *lock);
bool real_lock_try(struct prof_port_lock *lock);
void real_lock_release(struct prof_port_lock *lock);
void real_lock_reset(struct prof_port_lock *lock);
uint64_t real_now_ns(void);
void real_wait(const uint32_t *word, uint32_t seen);
void real_wake(const uint32_t *word);
bool real_barrier(void);
_Noreturn void real_panic(const char *file, int line, const char *condition);

#include "props/kernels/kernel_futex.h"

#include "prof/port/linux.c"

#include "props/kernels/kernels.h"

static struct prof_port_lock lock;
static uint32_t counter; /* guarded by lock */

static void
setup(void *context)
{
    (void)context;
    lock = (struct prof_port_lock){0};
    counter = 0;
}

static void
count(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (int i = 0; i < 2; i++) {
        real_lock_take(&lock);
        counter++;
        real_lock_release(&lock);
    }
}

static void
count_if_free(void *context, uint32_t thread)
{
    (void)context;
    if (real_lock_try(&lock)) {
        counter++;
        real_lock_release(&lock);
    }
    count(context, thread);
}

static void
four_or_five(void *context)
{
    (void)context;
    sim_explore_check(counter == 4 || counter == 5,
                      "two threads held the lock at once");
}

const struct sim_kernel props_kernel_lock = {
    .name = "port-lock",
    .about = "one holder at a time, and every sleeper is woken",
    .setup = setup,
    .finish = four_or_five,
    .threads = {{"first", count, NULL}, {"second", count_if_free, NULL}},
    .threads_count = 2,
};
