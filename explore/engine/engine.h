/*
 * engine.h -- one run in progress; private to explore/engine/.
 *
 * Who calls whom:  tsan.c (ABI) -> memory.c, plain.c, lock.c -> engine.c
 * (scheduling points) -> strategy.h -> choice.c.
 *
 * Time stamps (vector clocks): thread t's k-th event has the stamp k in
 * component t. A plain access between events k and k+1 has the stamp k+1,
 * because only a later event can publish it. clock[t] >= k means "has seen t's
 * event k".
 *
 * The graph hash is the sum over all events of mix(thread, stamp, kind,
 * read-from or modification index). A sum does not depend on the order, so two
 * runs with the same (partial) execution graph have the same hash, whatever
 * their interleaving.
 */
#ifndef EXPLORE_ENGINE_ENGINE_H
#define EXPLORE_ENGINE_ENGINE_H

#include "explore/engine/explore.h"
#include "explore/engine/fiber.h"
#include "explore/search/reduce.h"
#include "explore/search/graph_shard.h"
#include "explore/engine/location.h"
#include "explore/engine/thread.h"
#include "explore/engine/steps.h"
#include "explore/search/visited.h"

enum {
    LOCKS_MAX = 64,
    LOCATIONS_MAX = 4096,
    CELLS_MAX = 1 << 16,
    WORDS_LOG2 = 15,
    WORDS = 1 << WORDS_LOG2,
    WORDS_USED_MAX = WORDS / 4 * 3,
    CANDIDATES_MAX = 512,
    SIM_LABEL_STORE = 1 << 8, /* the question is where a store goes */
    SIM_NODES_MAX = 128,
    SIM_CHOICES_MAX = 1 << 16, /* of a run */
};

/* A set of nodes (seq_cst accesses and fences), a bit each. */
__extension__ typedef unsigned __int128 sim_node_set;

#define SIM_HEAP_BYTES ((uintptr_t)1 << 28)

struct lock {
    const void *address;
    uint32_t rank;
    uint32_t holder; /* SIM_THREADS_MAX: free */
    uint32_t version;
    struct clock sync;
    struct order order;
    uintptr_t site;
};

/* What a run knows; all 0 when it begins. */
struct run_state {
    uint32_t spinners;
    bool detour;      /* continues from a cut prefix, without choices */
    bool starting;    /* threads run up to their first event */
    bool first;       /* the first scheduling question is still to be asked */
    bool irreducible; /* the run met an operation that cannot be reduced */
    bool cut;         /* the run ends because of earlier runs */
    bool owned;       /* the list is this shard's (graph_shard.h) */
    bool foreign;     /* ... is another shard's, so the run ends */
    bool last_round;  /* no thread can run: those in loops make a last round */
    bool freeing;     /* a free counts as a write to the block */
    uint32_t accesses_count; /* see seq_cst.c */
    uint32_t seq_cst_accesses, seq_cst_fences, seq_cst_marks;
    uint64_t marks;
    uint64_t object_clock; /* changes of objects so far */
    struct order marks_order;
    struct order creations; /* of threads */
    struct order barriers;  /* on all threads */
    uint32_t locations_count, cells_count, words_used;
    uint32_t plain_count, locks_count, trace_count;
};

struct engine {
    /* The run */
    const struct sim_kernel *kernel;
    struct sim_run_options options;
    struct sim_choices *choices;
    struct sim_run *run;
    struct sim_visited *visited; /* pruning; or NULL */
    uint32_t recheck_of_100;
    struct sim_rng detour_rng;
    bool active;  /* instrumented accesses are events */
    bool reduced; /* see reduce.c */
    bool turns;   /* each operation has its turn among barriers */
    bool logged;  /* the run is compared with a second one; repeat.c */
    bool learned; /* something new, such as a wait loop: begin again */
    bool program; /* a whole program: stacks are memory like any other */
    struct sim_shard shard;
    uint32_t unfinished;
    uint64_t run_number;

    /* Scheduling */
    struct thread threads[SIM_THREADS_MAX];
    struct sim_fiber main;
    uint32_t threads_count;
    uint32_t threads_known; /* the most in any run of this search */
    uint32_t cleared_bytes; /* of each stack, before a run (wait.c) */
    uint32_t current;
    uint32_t ready; /* bit per thread that may run */
    uint32_t preemptions_left;
    uint32_t spurious_left;
    uint32_t steps_max;
    uint64_t end_us;    /* the monotonic clock when the search must end; or 0 */
    uint32_t all_steps; /* of all runs; wraps around */
    bool late;          /* that time has come, so a run was cut short */

    /* State of the graph */
    uint64_t graph[2];
    struct location *locations;
    struct cell *cells;
    struct word *words;
    struct lock locks[LOCKS_MAX];

    const struct sim_strategy_part *strategy; /* of this run */
    const struct sim_graphs *graphs;

    /* Of PCT and STALL */
    uint32_t pct_changes[8];
    uint32_t pct_depth;
    uint32_t steps_most; /* in a run so far: PCT's k */
    uint32_t stall_thread;
    uint32_t stall_at;
    uint32_t stall_left;

    /* Mutants, sites, traces */
    struct sim_site mutant;
    struct sim_site *sites;
    uint32_t sites_count;
    uint32_t sites_max;
    struct trace_event *trace; /* NULL: not traced */
    uint32_t trace_stop;       /* stop before this event, + 1; or 0: nowhere */

    struct run_state state;

    /* Of single files; each is private to the one named */
    struct {
        struct sim_question *questions;
        uint32_t *earlier; /* the operation's previous question, or NONE */
        struct entry *entries;
        uint32_t entries_count;
        uint32_t stack[SIM_THREADS_MAX]; /* that wait, innermost last */
        uint32_t stack_count;
        uint32_t resume; /* thread to run at the next point, or NONE */
    } reduction;         /* reduce.c */
    struct {
        struct access *list;
        uint32_t nodes[SIM_NODES_MAX];
        sim_node_set edges[SIM_NODES_MAX];
    } seq_cst;              /* seq_cst.c */
    struct object *objects; /* object.c */
    uint32_t objects_count;
    uintptr_t loop_sites[256]; /* wait.c */
    uint32_t loop_sites_count;
    struct sim_visited futile; /* futile.c */
    struct repeat *repeat;     /* repeat.c */
    struct script *script;     /* script.c */
    bool script_runs;
    struct sim_race race;  /* of the latest failure; plain.c */
    uintptr_t heap_base;   /* of a whole program's heap; 0: there is none */
    uintptr_t stacks_from; /* all threads' stacks, and what lies between */
    uintptr_t stacks_to;
    void (*heap_check_block)(uintptr_t address, size_t bytes, uintptr_t site);
    bool (*heap_find_making)(uintptr_t address, struct sim_making *making);
    struct sim_choice search_list[SIM_CHOICES_MAX]; /* search.c */
    /* sample.c; a search may make random runs in between. */
    struct sim_choice sample_list[SIM_CHOICES_MAX];
};

extern struct engine sim_engine;

/* The callee-saved registers and stack at the latest call by explored code. */
struct sim_caller {
    uint64_t registers[6];
    const uint64_t *stack;
};

extern struct sim_caller sim_caller;

static inline struct thread *
sim_self(struct engine *e)
{
    return &e->threads[e->current];
}

/* Orders are the compiler's numbers. */
static inline bool
sim_acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
           order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static inline bool
sim_releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

/* switch.c */
/* Is the time of the search over? */
bool sim_engine_is_late(const struct engine *e);
/* End a run that goes on past that. */
void sim_engine_look_at_clock(struct engine *e);
void sim_engine_failure_set(struct engine *e, enum sim_failure_kind kind,
                            uintptr_t site, uintptr_t other_site,
                            const char *text);
_Noreturn void sim_engine_stop(struct engine *e, enum sim_end end);
_Noreturn void sim_engine_refuse(struct engine *e, enum sim_failure_kind kind,
                                 uintptr_t site, uintptr_t other_site,
                                 const char *text);
void sim_engine_go(struct engine *e, uint32_t next);

/* engine.c, point.c */
void sim_engine_hash(struct engine *e, uint64_t what, uint64_t detail,
                     bool add);
void sim_engine_first_pick(struct engine *e);
_Noreturn void sim_engine_thread_end(struct engine *e);
_Noreturn void sim_engine_complete(struct engine *e);
void sim_engine_start(struct engine *e, uint32_t i);
void sim_engine_point(struct engine *e, uintptr_t site);
void sim_engine_block(struct engine *e, uintptr_t site);
void sim_engine_yield(struct engine *e, uintptr_t site);
void sim_engine_event(struct engine *e, uint64_t kind, uint64_t detail);
void sim_engine_check_invariant(struct engine *e);
uint32_t sim_engine_ask(struct engine *e, uint32_t bound, enum sim_kind kind,
                        uint16_t label);
void sim_engine_signal_point(struct engine *e);
bool sim_engine_spurious(struct engine *e);

static inline void
sim_engine_after_event(struct engine *e)
{
    if (e->kernel->invariant != NULL)
        sim_engine_check_invariant(e);
}

/* Make a thread's offers, before it reads what others may change. */
static inline void
sim_engine_settle(struct engine *e)
{
    if (sim_self(e)->run.offers_count > 0)
        e->graphs->settle(e);
}

/* run.c */
void sim_engine_thread_reset(struct engine *e, uint32_t i);
void sim_engine_begin(struct engine *e, const struct sim_kernel *kernel,
                      const struct sim_run_options *options);
enum sim_end sim_engine_run(struct engine *e, struct sim_choices *choices,
                            struct sim_run *run);

/* round.c */
void sim_wait_fruitless(struct engine *e, uint32_t first,
                        uintptr_t site); /* wait.c */
void sim_round_arrive(struct engine *e, uintptr_t site);
/* It has read this address, at the latest place it came to. */
void sim_round_read(struct engine *e, uintptr_t address, uintptr_t site);
/* The previous rounds are over. */
static inline void
sim_round_progress(struct engine *e)
{
    sim_self(e)->run.states_count = 0;
    sim_self(e)->run.turning = 0;
}

/* calls.c; returns outside a run only */
void sim_calls_fail(struct engine *e, const char *what, uintptr_t site);

/* blocked.c */
bool sim_object_time_out(struct engine *e);

/* How often other threads have changed an object, plus 1: not 0. */
static inline uint64_t
sim_object_changes(struct engine *e, const struct thread *t)
{
    return e->state.object_clock - t->run.object_own + 1;
}

/* thread.c */
uint32_t sim_thread_create(struct engine *e, void (*body)(void *argument),
                           void *argument, uintptr_t function, uintptr_t site);
void sim_thread_vanish(struct engine *e, uint32_t i);
const char *sim_thread_name(struct engine *e, const struct sim_kernel *kernel,
                            uint32_t i);
void sim_thread_end_event(struct engine *e);
_Noreturn void sim_thread_end(struct engine *e);
void sim_thread_join(struct engine *e, uint32_t i, uintptr_t site);

/* memory.c */
uint64_t sim_atomic_load(struct engine *e, uintptr_t address, uint32_t bytes,
                         int order, uintptr_t site);
void sim_atomic_store(struct engine *e, uintptr_t address, uint32_t bytes,
                      uint64_t value, int order, uintptr_t site);
uint64_t sim_atomic_rmw(struct engine *e, uintptr_t address, uint32_t bytes,
                        uint64_t (*change)(uint64_t old, uint64_t operand),
                        uint64_t operand, int order, uintptr_t site);
bool sim_atomic_cas(struct engine *e, uintptr_t address, uint32_t bytes,
                    uint64_t *expected, uint64_t desired, int order,
                    int order_failure, bool weak, uintptr_t site);
uint64_t sim_memory_system_read(struct engine *e, uintptr_t address,
                                uint32_t bytes, const struct clock *reported,
                                uintptr_t site);

/* sources.c */
uint32_t sim_sources_choose(struct engine *e, struct reading *r);
uint32_t sim_sources_position(struct engine *e, const struct location *l,
                              int order);

/* seq_cst.c */
void sim_seq_cst_access(struct engine *e, const struct location *location,
                        const struct store *from, bool writes, bool seq_cst,
                        uintptr_t site);
void sim_seq_cst_open(struct engine *e);
void sim_seq_cst_fence(struct engine *e, uintptr_t site);
void sim_seq_cst_sync(
    struct engine *e); /* after an operation on a lock, and the like */
void sim_seq_cst_sync_of(struct engine *e, uint32_t thread); /* it begins */
void sim_seq_cst_mark(struct engine *e, uint64_t number, uintptr_t site);
bool sim_seq_cst_allows(struct engine *e, const struct location *l,
                        uint32_t from, uint32_t position, bool seq_cst,
                        const struct clock *now);

/* steps.c */
struct trace_event *sim_trace_add_event(struct engine *e, enum sim_op op,
                                        uintptr_t site);

/* returns: the event, to be filled in; NULL if the run is not traced */
static inline struct trace_event *
sim_trace_add(struct engine *e, enum sim_op op, uintptr_t site)
{
    return e->trace != NULL ? sim_trace_add_event(e, op, site) : NULL;
}

/* order.c: a thread's turn among barriers */
void sim_turn_forget_barrier(struct engine *e);

/* fence.c */
void sim_atomic_fence(struct engine *e, int order, uintptr_t site);

/* wait.c */
void sim_wait_note(struct engine *e, struct location *location, uint32_t index,
                   uintptr_t site);
bool sim_wait_probe(struct engine *e, struct location *location,
                    uint64_t *value, uintptr_t site);
void sim_wait_before_write(struct engine *e, struct location *location,
                           uintptr_t site);
void sim_wait_wrote(struct engine *e);
void sim_wait_leave(struct engine *e);
/* blocked.c */
const struct store *sim_wait_origin(const struct location *l, uint32_t index);
bool sim_wait_is_new(const struct round_read *read);
uint32_t
sim_wait_unroll(struct engine *e); /* rounds to explore like any code */
const struct round_read *sim_wait_change(struct engine *e, uint32_t thread);
uint32_t sim_wait_last_round(struct engine *e);
uint64_t sim_wait_state(struct engine *e);
uint64_t sim_wait_stack(struct engine *e, uintptr_t from, uint64_t hash);
void sim_wait_enter(struct engine *e, uintptr_t site);
void sim_wait_round(struct engine *e, uintptr_t site);

/* repeat.c */
void sim_repeat_begin(struct engine *e, uint64_t run);
void sim_repeat_access(struct engine *e, uintptr_t site, uint64_t what);
bool sim_repeat_check(struct engine *e, const struct sim_choices *choices,
                      const struct sim_run *first, char *difference,
                      size_t bytes);

static inline void
sim_repeat_note(struct engine *e, uintptr_t site, uint64_t what)
{
    if (e->logged)
        sim_repeat_access(e, site, what);
}

/* lock.c */
void sim_lock_take(struct engine *e, const void *lock, uint32_t rank,
                   uintptr_t site);
bool sim_lock_try(struct engine *e, const void *lock, uint32_t rank,
                  uintptr_t site);
void sim_lock_release(struct engine *e, const void *lock, uintptr_t site);
void sim_lock_reset(struct engine *e, const void *lock, uintptr_t site);
void sim_lock_wait(struct engine *e, const uint32_t *word, uint32_t seen,
                   uintptr_t site);
void sim_lock_wake(struct engine *e, const uint32_t *word, uint32_t most,
                   uintptr_t site);

static inline bool
sim_heap_has(struct engine *e, uintptr_t address)
{
    return e->heap_base != 0 && address - e->heap_base < SIM_HEAP_BYTES;
}

static inline void
sim_heap_check(struct engine *e, uintptr_t address, size_t bytes,
               uintptr_t site)
{
    if (sim_heap_has(e, address))
        e->heap_check_block(address, bytes, site);
}

/* A thread accesses the stack of another one. */
void sim_plain_stack(struct engine *e, uintptr_t address, size_t bytes,
                     uintptr_t site);

static inline void
sim_stack_check(struct engine *e, uintptr_t address, size_t bytes,
                uintptr_t site)
{
    if (address - e->stacks_from < e->stacks_to - e->stacks_from &&
        e->program && !sim_fiber_owns(&sim_self(e)->fiber, address))
        sim_plain_stack(e, address, bytes, site);
}

/* Other threads have used the stack between `from` and `to`: were they done? */
void sim_plain_return(struct engine *e, uintptr_t from, uintptr_t to,
                      uintptr_t site);

/*
 * A function of this thread returns, or the thread ends: nobody may use its
 * variables, from `from` to `to` on its stack, any more. It writes nothing to
 * the stack, where later functions may have words that they do not write, and
 * the state of a wait loop would depend on it.
 *
 * in:      site; 0: that of the latest end
 */
static inline void
sim_plain_end(struct engine *e, uintptr_t from, uintptr_t to, uintptr_t site)
{
    struct thread *t = sim_self(e);
    uint32_t count = t->run.ended_count;

    if (site == 0 && count > 0)
        site = t->ended[count - 1].site;
    while (count > 0 && t->ended[count - 1].below <= to)
        count--;
    if (count < ENDED_MAX) /* else uses of these variables are not found */
        t->ended[count++] = (struct ended){
            .below = to, .stamp = t->run.now.at[e->current] + 1, .site = site};
    t->run.ended_count = count;
    if (from < t->run.exposed_to && to > t->run.exposed_from)
        sim_plain_return(e, from, to, site);
}

/* plain.c: a word that is new, or not in its first slot */
struct word *sim_memory_word_apart(struct engine *e, uintptr_t address,
                                   uintptr_t site);

/* The first slot for a word in the table. */
static inline struct word *
sim_memory_slot(struct engine *e, uintptr_t address)
{
    return &e->words[(address >> 3) * 0x9e3779b97f4a7c15U >> (64 - WORDS_LOG2)];
}

static inline struct word *
sim_memory_word(struct engine *e, uintptr_t address, uintptr_t site)
{
    struct word *word = sim_memory_slot(e, address);

    return word->run == e->run_number && word->address == address
               ? word
               : sim_memory_word_apart(e, address, site);
}

void sim_plain_access(struct engine *e, uintptr_t address, size_t bytes,
                      bool write, uintptr_t site);
/* Does an atomic access, which has acquired what it read, race with a plain
 * one? */
void sim_location_check(struct engine *e, const struct location *l, bool write,
                        uintptr_t site);

/* site.c; returns: false if no symbol covers the address */
bool sim_site_address_text(char *text, size_t text_bytes, uintptr_t address);

#endif
