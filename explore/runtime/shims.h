/*
 * shims.h -- what pthread.h and threads.h have in common. `site` is where the
 * program made the call; `until`, if not NULL, the end of a wait. Private to
 * explore/runtime/.
 */
#ifndef EXPLORE_RUNTIME_SHIMS_H
#define EXPLORE_RUNTIME_SHIMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;

/* in: returns_int, what function really returns (threads.h) */
int sim_pthread_create(struct engine *e, pthread_t *thread, bool detached,
                       void *(*function)(void *), bool returns_int,
                       void *argument, uintptr_t site);
_Noreturn void sim_pthread_leave(struct engine *e, void *result);
int sim_pthread_join(struct engine *e, pthread_t thread, void **result,
                     uintptr_t site);
int sim_pthread_detach(struct engine *e, pthread_t thread, uintptr_t site);
int sim_key_create(struct engine *e, pthread_key_t *key,
                   void (*destructor)(void *), uintptr_t site);
void sim_once(struct engine *e, const volatile int *flag,
              void (*function)(void), uintptr_t site);

void sim_mutex_init(struct engine *e, pthread_mutex_t *m, uintptr_t site);
void sim_mutex_destroy(struct engine *e, pthread_mutex_t *m, uintptr_t site);
int sim_mutex_lock(struct engine *e, pthread_mutex_t *m,
                   const struct timespec *until, uintptr_t site);
int sim_mutex_try(struct engine *e, pthread_mutex_t *m, uintptr_t site);
int sim_mutex_unlock(struct engine *e, pthread_mutex_t *m, uintptr_t site);

void sim_cond_init(struct engine *e, pthread_cond_t *c, uintptr_t site);
void sim_cond_destroy(struct engine *e, pthread_cond_t *c, uintptr_t site);
/* returns: how a sleep ended, in words, for the event of its end */
const char *sim_sleep_end(bool woken, bool spurious);
int sim_cond_wait(struct engine *e, pthread_cond_t *c, pthread_mutex_t *m,
                  const struct timespec *until, uintptr_t site);
/* in: tells, whether a thread that is woken sees what came before (POSIX) */
int sim_cond_wake(struct engine *e, pthread_cond_t *c, bool all, bool reports,
                  uintptr_t site);

#endif
