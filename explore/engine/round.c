/*
 * round.c -- finds wait loops in a whole program, where no call marks them.
 *
 * A thread is in a wait loop when it comes to the same access again with the
 * same registers and the same stack, and has changed nothing in between. That
 * round was unsuccessful, and so will the next one be, until another thread
 * does something. What happens then is covered by another run, which does not
 * have this round because the thread reads only after that change. So the
 * thread may be blocked here, as after a round that ends with a pause
 * instruction.
 *
 * A loop that counts its rounds is not such a loop: its registers differ. Nor
 * is one whose rounds leave more locks held or fewer, or are noticed by others:
 * the thread wakes one, is woken, passes a barrier, posts a semaphore, or a try
 * fails because it has the lock. Such rounds, turns, may go on for ever if
 * others are not scheduled; so after some of them the run ends, and is marked
 * `bounded`.
 *
 * So does a run in which a thread comes to the same access again and again,
 * writes in between (it counts its rounds, say), but reads nothing new that
 * another thread wrote. As a rule it waits for that thread, so this is done
 * only if another thread can run, or if the thread reads old values. It may
 * also count up to some number; hence the higher bounds. The first is for a
 * thread that comes back with the same registers and stack.
 */
#include "explore/engine/object.h"
#include "explore/search/frontier.h"

#include <string.h>

enum {
    TURNS_MAX = 4,
    BUSY_ROUNDS_MAX = 15,
    COUNTED_ROUNDS_MAX = 31,
    SAVED_BYTES = 40,         /* rbx, r12..r15, pushed below rbp */
    PROBE_LOOKS_MAX = 1 << 16 /* of a probe that never repeats a state */
};

static struct thread_state
state_now(struct engine *e, uint64_t hash, uint32_t first)
{
    const struct thread *t = sim_self(e);

    return (struct thread_state){.hash = hash,
                                 .first = first,
                                 .looks = t->run.object_looks,
                                 .turns = t->run.turns,
                                 .held = sim_object_held(e),
                                 .seen = sim_object_changes(e, t)};
}

/* Others may have noticed the round. A sampled run goes on. */
static void
end_turn(struct engine *e)
{
    if (++sim_self(e)->run.turning <= TURNS_MAX + sim_wait_unroll(e) ||
        !e->options.drop_waiters)
        return;
    e->run->bounded = true;
    sim_question_open(e, 0);
    sim_engine_stop(e, SIM_END_BLOCKED);
}

/* Could another thread go on? One that waits for a certain write could, too, in
 * another run. */
static bool
could_run(const struct engine *e)
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (i != e->current && ((e->ready >> i & 1) != 0 ||
                                e->threads[i].run.waits_for_chain != NULL))
            return true;
    }
    return false;
}

/* Come to a place, given by its hash, where `most` rounds are explored.
 * States and sites have half of the table each. */
static void
note_busy(struct engine *e, struct busy *table, uint64_t hash, uint32_t most)
{
    const struct thread *t = sim_self(e);
    struct busy *b = &table[hash % (BUSY_MAX / 2)];
    const uint64_t seen = sim_object_changes(e, t);
    uint32_t rounds = 0;

    if (b->run == e->run_number && b->hash == hash && b->seen == seen &&
        b->new_reads == t->run.new_reads) {
        rounds = b->rounds + 1;
        if (rounds > most + sim_wait_unroll(e) &&
            (b->old_reads != t->run.old_reads || could_run(e))) {
            e->run->bounded = true;
            sim_question_open(e, 0);
            sim_engine_stop(e, SIM_END_BLOCKED);
        }
    }
    *b = (struct busy){.run = e->run_number,
                       .hash = hash,
                       .seen = seen,
                       .new_reads = t->run.new_reads,
                       .old_reads = t->run.old_reads,
                       .rounds = rounds};
}

/* Are rounds counted? They are not while all other threads have ended. */
static bool
is_busy(const struct engine *e)
{
    return e->program && e->unfinished > 1 &&
           !e->threads[e->current].run.probing;
}

void
sim_round_read(struct engine *e, uintptr_t address, uintptr_t site)
{
    struct thread *t = sim_self(e);

    if (is_busy(e))
        note_busy(e, t->busy + BUSY_MAX / 2,
                  sim_hash_step(sim_hash_step(site, t->run.arrived), address),
                  COUNTED_ROUNDS_MAX);
}

static void
arrive(struct engine *e, uintptr_t from, uintptr_t site)
{
    struct thread *t = sim_self(e);
    const uint64_t hash = sim_wait_stack(e, from, site);

    t->run.arrived = from;
    if (is_busy(e))
        note_busy(e, t->busy, hash, BUSY_ROUNDS_MAX);
    for (uint32_t i = 0; i < t->run.states_count; i++) {
        const struct thread_state was = t->states[i];

        if (was.hash != hash)
            continue;
        if (was.turns != t->run.turns || was.held != sim_object_held(e)) {
            end_turn(e);
            t->states[0] = state_now(e, hash, t->run.round.count);
            t->run.states_count = 1;
            return;
        }
        t->run.object_seen = t->run.object_looks != was.looks ? was.seen : 0;
        sim_wait_fruitless(e, was.first, site);
        t->states[0] = state_now(e, hash, 0);
        t->run.states_count = 1;
        return;
    }
    /* Only the last round of a program is a probe. */
    if (t->run.probing && ++t->run.round.looks > PROBE_LOOKS_MAX) {
        e->run->bounded = true;
        sim_wait_fruitless(e, 0, site);
        return;
    }
    if (t->run.states_count == STATES_MAX) {
        memmove(t->states, t->states + 1, (STATES_MAX - 1) * sizeof *t->states);
        t->run.states_count--;
    }
    t->states[t->run.states_count++] = state_now(e, hash, t->run.round.count);
}

/*
 * Call before an access that may be part of a wait loop. Not inlined, so that
 * the callers' frames hold the whole state.
 */
#if defined(__x86_64__)
__attribute__((noinline)) void
sim_round_arrive(struct engine *e, uintptr_t site)
{
    __builtin_unwind_init();
    if (!e->active || !e->program || e->state.starting)
        return;
    sim_engine_settle(e);
    arrive(e, (uintptr_t)__builtin_frame_address(0) - SAVED_BYTES, site);
}
#else
void
sim_round_arrive(uintptr_t site)
{
    (void)site;
    (void)arrive;
}
#endif
