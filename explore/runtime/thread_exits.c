/* thread_exits.c -- destructors of thread_local objects. */
#include "explore/runtime/program.h"

#include "explore/runtime/explored.h"

enum { EXITS_MAX = 256 };

struct thread_exit {
    uint32_t of; /* a slot; SIM_THREADS_MAX: done */
    void (*destroy)(void *object);
    void *object;
};

static struct thread_exit exits[EXITS_MAX];
static uint32_t exits_count;

void
sim_thread_exits_reset(void)
{
    exits_count = 0;
}

void
sim_thread_exits_add(struct engine *e, void (*destroy)(void *), void *object)
{
    if (exits_count == EXITS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, 0, 0,
                          "the program has too many thread_local objects");
    exits[exits_count++] = (struct thread_exit){
        .of = e->current, .destroy = destroy, .object = object};
}

/* Run the destructors, newest first; they may register others. */
void
sim_thread_exits_run(struct engine *e)
{
    for (uint32_t i = exits_count; i-- > 0;) {
        const struct thread_exit exit = exits[i];

        if (exit.of != e->current)
            continue;
        exits[i].of = SIM_THREADS_MAX;
        exit.destroy(exit.object);
        i = exits_count;
    }
}
