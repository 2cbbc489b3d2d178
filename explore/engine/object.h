/*
 * object.h -- what the threads of a whole program wait for: mutexes, rwlocks,
 * condition variables, barriers, semaphores, once flags, other threads.
 *
 * An object is identified by its address. Every operation is one event. An
 * object has a version, which orders its operations, so the graph records which
 * came first. A thread that must wait is not ready, until another thread
 * changes the object so that it can go on. Private to explore/engine/.
 */
#ifndef EXPLORE_ENGINE_OBJECT_H
#define EXPLORE_ENGINE_OBJECT_H

#include "explore/engine/engine.h"

struct engine;

enum sim_need {
    SIM_NEED_LOCK,  /* no thread holds it, for reading or writing */
    SIM_NEED_READ,  /* no thread holds it for writing */
    SIM_NEED_COUNT, /* its count is above 0 */
};

/* How long a thread waits. */
enum sim_limit {
    SIM_UNLIMITED,
    SIM_LIMITED, /* it may time out early, once; else when no thread can go on
                  */
    SIM_PASSED,  /* it may time out at any moment */
};

struct object {
    const void *address;
    uint32_t holder;   /* of a lock; SIM_THREADS_MAX: none */
    uint32_t readers;  /* bit per thread that holds it for reading */
    uint32_t count;    /* recursion, semaphore, arrivals at a barrier */
    uint32_t size;     /* threads of a barrier; kind of a mutex */
    uint32_t state;    /* used by the caller */
    uint32_t users;    /* bit per thread that it has admitted */
    uint32_t version;  /* operations that had an effect */
    struct clock sync; /* what a thread that takes it learns */
    struct clock
        read; /* what readers pass on to a thread that takes it for writing */
    struct order order; /* of the operations on it, graph by graph */
    uintptr_t site;     /* where it was last taken */
    uint32_t held[SIM_THREADS_MAX]; /* how often, for reading */
    bool destroyed;
    bool known; /* it was used before */
};

/* Forget all objects; at the beginning of a run. */
void sim_object_reset(struct engine *e);

/* The object at `address`; a new one is zero and not held. */
struct object *sim_object_at(struct engine *e, const void *address,
                             uintptr_t site);

/* returns: a hash of the locks that this thread holds, and how often */
uint64_t sim_object_held(struct engine *e);

/* The same for an operation: the object must not be destroyed. */
struct object *sim_object_used(struct engine *e, const volatile void *address,
                               uintptr_t site);

/* Is this the object's first use in the run? Then its initial state is still in
 * memory. */
bool sim_object_is_new(struct object *o);

/*
 * The scheduling point before an operation. A thread with a need passes it only
 * when the object admits that need. Each operation ends with sim_object_done(),
 * or by going to sleep.
 *
 * in:      looks: is the operation known to change nothing (reduce.h)?
 * returns: false if the wait timed out first
 */
void sim_object_point(struct engine *e, struct object *o, bool looks,
                      uintptr_t site);
bool sim_object_wait(struct engine *e, struct object *o, enum sim_need need,
                     enum sim_limit limit, uintptr_t site);

bool sim_object_admits(const struct object *o, enum sim_need need);

/*
 * Record the operation itself in the graph and the trace.
 *
 * in:      what, a name such as "lock", of static duration; ok, did it succeed;
 *          orders, must other operations be ordered with it
 */
void sim_object_event(struct engine *e, struct object *o, const char *what,
                      bool ok, bool orders, uintptr_t site);

/* The operation is over. Search graph by graph orders it with others, unless it
 * only read. */
void sim_object_done(struct engine *e, struct object *o, bool changed);

/* Initialise an object; destroy it. */
void sim_object_init(struct engine *e, struct object *o, uintptr_t site);
void sim_object_destroy(struct engine *e, struct object *o, uintptr_t site);

/* An unordered operation had an effect that others may wait for. */
void sim_object_changed(struct engine *e);

/* After the object changed: which threads can go on now? */
void sim_object_settle(struct engine *e, const struct object *o);

/*
 * Sleep on `o` until woken, then take `lock` (if not NULL) again in the same
 * step. The caller has recorded that the thread goes to sleep, as a change of
 * `o` if `changed`.
 *
 * returns: false if the wait timed out first
 */
bool sim_object_sleep(struct engine *e, struct object *o, bool changed,
                      struct object *lock, enum sim_limit limit,
                      uintptr_t site);

/* Will the next sleep end for no reason (--spurious)? */
bool sim_object_spurious(struct engine *e);

/* The thread continues after a sleep, which no other thread sees. */
void sim_object_gone_on(struct engine *e, const struct object *o,
                        const char *what, bool woken, uintptr_t site);

/* Wake at most `most` sleepers of `o`, by choice. If it `tells`, they see what
 * this thread has done before. returns: how many */
uint32_t sim_object_wake(struct engine *e, struct object *o, uint32_t most,
                         bool reports);

/* Locks, for mutexes, rwlocks and once flags. */
void sim_object_take(struct engine *e, struct object *o, uintptr_t site);
void sim_object_give(struct engine *e, struct object *o, uintptr_t site);

#endif
