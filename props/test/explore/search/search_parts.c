/* search_parts.c -- see search_parts.h. */
#include "search_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"
#include "futile.h"
#include "lists.h"
#include "search.h"
#include "tsan.h"
#include "unit_test.h"

static struct sim_exhaust_result result;

static struct sim_search
begin(const struct sim_kernel *kernel,
      const struct sim_exhaust_options *options, bool reduced)
{
    struct sim_search s = {.kernel = kernel,
                           .options = options,
                           .result = &result,
                           .reduced = reduced};

    memset(&result, 0, sizeof result);
    sim_search_begin(&s);
    return s;
}

/* ---- Files ---- */

/* A process that has searched nothing goes on from the file of another. */
void
search_parts_fresh(void)
{
    char file[64];
    const struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_exhaust_options options = {.checkpoint = file, .runs_max = 100};
    struct sim_exhaust_result r;
    pid_t child;

    snprintf(file, sizeof file, "/tmp/profsim-fresh-%d", (int)getpid());
    remove(file);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sim_explore_exhaust(&kernel, &options, &r);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    options.runs_max = 0;
    sim_explore_exhaust(&kernel, &options, &r);
    assert_true(r.resumed);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, LISTS);
}

/* ---- The state of a search ---- */

static void
check_bound(struct sim_search *s, bool prunes)
{
    s->shard = (struct sim_shard){.count = 3, .index = 2, .depth = 4};
    s->rechecks = s->options->jobs <= 1;
    sim_search_bind(s);
    assert_ptr_equal(sim_engine.visited, prunes ? &s->visited : NULL);
    assert_true(sim_engine.options.reduced == s->reduced);
    assert_true(sim_engine.options.drop_waiters);
    assert_int_equal(sim_engine.recheck_of_100, s->options->jobs <= 1 ? 7 : 0);
    assert_int_equal(sim_engine.shard.index, 2);
    assert_int_equal(sim_engine.shard.depth, 4);
    sim_engine.shard = (struct sim_shard){.count = 0};
}

static void
check_cleared(struct sim_search *s)
{
    static const uint64_t key[2] = {1, 1};

    s->sample_at = s->sample_seed = 1;
    sim_engine.learned = true;
    sim_visited_insert(&s->visited, key);
    sim_visited_insert(&s->graphs, key);
    assert_true(sim_futile_learn(5, 5));
    result.runs = 9;
    sim_search_clear(s);
    assert_int_equal(s->sample_at, 256);
    assert_int_equal(s->sample_seed, 11);
    assert_false(sim_engine.learned);
    assert_false(sim_visited_contains(&s->visited, key));
    assert_false(sim_visited_contains(&s->graphs, key));
    assert_false(sim_futile_knows(5, 5));
    assert_int_equal(result.runs, 0);
}

void
search_parts_begun(void)
{
    const struct sim_kernel kernel = lists_kernel(NULL);

    for (uint32_t i = 0; i < 3 * 2 * 2 * 2; i++) {
        const struct sim_exhaust_options options = {.jobs = i % 3,
                                                    .no_pruning =
                                                        i / 3 % 2 != 0,
                                                    .states_max = i / 12 * 1000,
                                                    .recheck_of_100 = 7,
                                                    .seed = 11};
        struct sim_search s;

        sim_futile_forget();
        sim_futile_learn(5, 5);
        sim_engine.threads_known = 5;
        s = begin(&kernel, &options, i / 6 % 2 != 0);
        assert_int_equal(sim_engine.threads_known, 0);
        assert_false(sim_futile_knows(5, 5));
        assert_int_equal(s.sample_at, 256);
        assert_int_equal(s.sample_seed, 11);
        assert_true(s.rechecks == (options.jobs < 2));
        assert_true((s.visited.shared != NULL) == (options.jobs == 2));
        assert_true((s.graphs.shared != NULL) == (options.jobs == 2));
        if (options.jobs < 2) {
            assert_int_equal(s.visited.count_max, i / 12 != 0 ? 1000 : 1 << 26);
            assert_int_equal(s.graphs.count_max, 1 << 26);
        }
        check_bound(&s, !options.no_pruning && !s.reduced);
        check_cleared(&s);
        sim_engine.visited = &s.visited;
        sim_engine.logged = true;
        sim_search_end(&s);
        assert_null(sim_engine.visited);
        assert_false(sim_engine.logged);
    }
}

enum { DEPTH = 3 };

static struct sim_step
step_of(uint32_t i, uint32_t value)
{
    struct sim_step step;

    memset(&step, 0, sizeof step);
    step.choice = (struct sim_choice){.bound = 5, .value = value};
    step.question = (struct sim_question){
        .sources = i % 2 == 0 ? 0 : 2, .allowed = 6, .enabled = 2, .tried = 4};
    return step;
}

/* Nothing behind the path is read or written, nor behind what is asked for. */
void
search_parts_loaded(void)
{
    const struct sim_exhaust_options options = {.jobs = 0};
    const struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_search s = begin(&kernel, &options, true);
    struct sim_step path[DEPTH + 1];
    struct sim_step steps[DEPTH + 1];
    struct sim_step nothing;
    uint8_t learned[DEPTH + 1];

    for (uint32_t i = 0; i <= DEPTH; i++)
        path[i] = step_of(i, i);
    s.choices.list[DEPTH].value = 77;
    sim_search_load(&s, path, DEPTH);
    assert_int_equal(s.base, DEPTH);
    assert_int_equal(s.choices.fixed_count, DEPTH);
    assert_int_equal(s.choices.backend, SIM_ODOMETER);
    assert_int_equal(s.choices.list[DEPTH].value, 77);
    memset(steps, 0xa5, sizeof steps);
    memset(&nothing, 0xa5, sizeof nothing);
    for (uint32_t i = 0; i < DEPTH; i++)
        sim_reduce_question(i)->enabled |= (uint8_t)(1U << i);
    sim_search_steps(&s, 1, DEPTH, steps);
    memset(learned, 0xa5, sizeof learned);
    sim_search_learned(&s, learned);
    for (uint32_t i = 0; i < DEPTH; i++) {
        path[i].question.enabled =
            (uint8_t)(1U << i); /* 0, and learned since */
        assert_int_equal(learned[i], 1U << i);
        assert_memory_equal(&steps[i], i + 1 < DEPTH ? &path[i + 1] : &nothing,
                            i + 1 < DEPTH ? 0 : sizeof nothing);
    }
    assert_memory_equal(steps, path + 1, (DEPTH - 1) * sizeof *steps);
    assert_int_equal(learned[DEPTH], 0xa5);
    s.choices.nondeterministic = true;
    sim_search_load(&s, NULL, 0);
    assert_int_equal(s.base + s.choices.fixed_count, 0);
    assert_false(s.choices.nondeterministic);
    sim_search_end(&s);
}

/* The first question that has another answer, and how much is done. */
void
search_parts_open(void)
{
    const struct sim_exhaust_options options = {.jobs = 0};
    const struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_search s = begin(&kernel, &options, false);

    for (uint32_t i = 0; i < 125 * (DEPTH + 1); i++) {
        uint32_t open = s.base = i / 125;
        double weight = 1;
        double sum = 0;

        s.choices.fixed_count = DEPTH;
        for (uint32_t k = 0, rest = i; k <= DEPTH; k++, rest /= 5)
            s.choices.list[k] =
                (struct sim_choice){.bound = 5, .value = rest % 5};
        s.choices.list[DEPTH].value = 4; /* behind the list */
        while (open < DEPTH && s.choices.list[open].value == 4)
            open++;
        for (uint32_t k = s.base; k < DEPTH; k++) {
            weight /= 5;
            sum += weight * s.choices.list[k].value;
        }
        assert_int_equal(sim_search_open(&s), open);
        assert_int_equal(sim_search_depth(&s), DEPTH);
        assert_true(sim_search_share(&s) == sum);
    }
    /* Two threads were tried that are not known to be worth it. */
    s.reduced = true;
    s.base = 0;
    s.choices.fixed_count = 1;
    s.choices.list[0] = (struct sim_choice){.bound = 11, .value = 3};
    *sim_reduce_question(0) = (struct sim_question){.sources = 2, .tried = 3};
    assert_true(sim_search_share(&s) == 1);
    sim_search_end(&s);
}

void
search_parts_verdict(void)
{
    for (uint32_t i = 0; i < 2 * 3 * 3 * 3 * 2; i++) {
        const bool finished = i % 2 != 0;
        const bool differs = i / 54 != 0;
        struct sim_exhaust_result r = {.failures = i / 2 % 3,
                                       .graphs = i / 6 % 3,
                                       .shard_depth = i / 18 % 3};

        snprintf(r.difference, sizeof r.difference, "%s",
                 differs ? "it differs" : "");
        assert_int_equal(sim_search_verdict(&r, finished),
                         differs              ? SIM_VERDICT_NONDETERMINISTIC
                         : r.failures != 0    ? SIM_VERDICT_FAIL
                         : !finished          ? SIM_VERDICT_UNFINISHED
                         : r.graphs != 0      ? SIM_VERDICT_PASS
                         : r.shard_depth != 0 ? SIM_VERDICT_PASS
                                              : SIM_VERDICT_EMPTY);
    }
}

/* ---- Prefixes ---- */

static void
learn(void *context)
{
    (void)context;
    sim_engine.learned = true;
}

static uint32_t word;
static uint32_t sleeps_at = LISTS; /* the list in which a thread sleeps */
static uint32_t sleeps;

/* A list is a shard's from a read on. */
static void
choose_and_read(void *context, uint32_t thread)
{
    uint32_t number = 0;

    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 5; i++) {
        number = 4 * number + sim_explore_choose(4, SIM_DATA);
        (void)__tsan_atomic32_load(&word, __ATOMIC_RELAXED);
    }
    if (number == lists_fork)
        sim_explore_barrier(); /* it is not announced */
    if (number == sleeps_at && sleeps++ < 8)
        sim_shard_sleeps();
}

/* Below one or none of the answers there are 4 lists, below two or three there
 * are 16, and so on. */
void
search_parts_prefixes(void)
{
    const struct sim_exhaust_options options = {.shards = 2, .shard = 1};
    struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_search s = begin(&kernel, &options, true);
    uint64_t prefixes;

    kernel.threads[0].body = choose_and_read;
    for (uint32_t depth = 1; depth < 13; depth++) {
        s.shard = (struct sim_shard){.count = 2, .depth = depth};
        s.base = 7;
        prefixes = 99;
        assert_true(sim_search_prefixes(&s, &prefixes));
        assert_int_equal(prefixes, depth < 10 ? 4U << depth / 2 * 2 : 0);
        assert_true(s.reduced && !s.shard.whole);
    }
    lists_fork = 40;
    assert_false(sim_search_prefixes(&s, &prefixes));
    assert_false(s.reduced);
    lists_fork = LISTS;
    s.reduced = true;
    kernel.setup = learn;
    assert_false(sim_search_prefixes(&s, &prefixes));
    assert_true(s.reduced);
    sim_engine.learned = false;
    sim_search_end(&s);
    sim_engine.shard = (struct sim_shard){.count = 0};
}

static struct sim_exhaust_result
search_shard(const struct sim_kernel *kernel, uint32_t shard)
{
    const struct sim_exhaust_options options = {.shards = 2, .shard = shard};
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    return r;
}

/* A list that no read is in is judged at its end. Only the shard of a list sees
 * that it cannot be reduced: then it is another's, or the first shard's. */
void
search_parts_shards(void)
{
    struct sim_kernel kernel = lists_kernel(NULL);
    uint32_t idle = 0;

    assert_int_equal(search_shard(&kernel, 1).graphs +
                         search_shard(&kernel, 2).graphs,
                     LISTS);
    kernel.threads[0].body = choose_and_read;
    assert_int_equal(search_shard(&kernel, 1).graphs +
                         search_shard(&kernel, 2).graphs,
                     LISTS);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t whole = 0;

        for (uint32_t number = 0; number < LISTS; number += 100) {
            struct sim_exhaust_result r;

            sleeps = 0;
            sleeps_at = i == 0 ? number : LISTS;
            lists_fork = i == 0 ? LISTS : number;
            r = search_shard(&kernel, 1);
            assert_true(r.graphs < LISTS || r.shard_depth == 0);
            whole += r.graphs == LISTS;
            r = search_shard(&kernel, 2);
            assert_true(r.graphs < LISTS);
            assert_true((r.graphs == 0) == (r.shard_depth == 0));
            idle += r.graphs == 0;
        }
        assert_in_range(whole, 1, 10);
    }
    assert_in_range(idle, 2, 20);
    sleeps_at = LISTS;
}
