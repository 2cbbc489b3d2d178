/*
 * worker.c -- see worker.h.
 */
#include "explore/search/worker.h"
#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/engine/need.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RUNS_AT_ONCE = 32 };

struct worker {
    int fd;
    struct sim_shared *shared;
    struct sim_slot *slot;
    uint32_t runs_left; /* of those it took from the shared budget */
    bool failure_sent;
};

/* ---- Messages ---- */

static bool
put(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool
get(int fd, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        const ssize_t n = read(fd, at, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool
send_two(int fd, enum sim_message_type type, uint32_t count, const void *data,
         size_t bytes, const void *more, size_t more_bytes)
{
    const struct sim_message head = {
        .type = type, .count = count, .bytes = bytes + more_bytes};

    return put(fd, &head, sizeof head) && put(fd, data, bytes) &&
           put(fd, more, more_bytes);
}

bool
sim_message_send(int fd, enum sim_message_type type, uint32_t count,
                 const void *data, size_t bytes)
{
    return send_two(fd, type, count, data, bytes, NULL, 0);
}

bool
sim_message_receive(int fd, struct sim_message *m)
{
    if (!get(fd, m, sizeof *m))
        return false;
    m->data = sim_need(malloc(m->bytes + 1));
    if (get(fd, m->data, m->bytes))
        return true;
    free(m->data);
    return false;
}

void
sim_message_free(struct sim_message *m)
{
    free(m->data);
    m->data = NULL;
}

/* ---- Reports to the coordinator ---- */

static void
publish(struct engine *e, const struct sim_search *s)
{
    const struct worker *w = s->context;
    const struct sim_exhaust_result *r = s->result;
    const uint64_t counts[SIM_COUNT_COUNT] = {
        r->runs,    r->graphs,   r->graphs_sum, r->blocked,
        r->bounded, r->failures, r->sampled,
    };

    for (uint32_t i = 0; i < SIM_COUNT_COUNT; i++)
        atomic_store_explicit(&w->slot->counts[i], counts[i],
                              memory_order_relaxed);
    atomic_store_explicit(&w->slot->share,
                          (uint32_t)(sim_search_share(e, s) * SIM_SHARE_ONE),
                          memory_order_relaxed);
}

static void
quit_unless(bool sent)
{
    if (!sent)
        _exit(0); /* the coordinator has ended */
}

static void
send_failure(const struct sim_search *s)
{
    struct worker *w = s->context;
    const struct sim_exhaust_result *r = s->result;
    struct sim_failed failed;

    if (r->failures == 0 || w->failure_sent)
        return;
    w->failure_sent = true;
    memset(&failed, 0, sizeof failed);
    failed.run = r->first_failure;
    failed.options = r->options;
    failed.by_sampling = r->found_by_sampling;
    quit_unless(send_two(w->fd, SIM_MESSAGE_FAILED, r->choices_count, &failed,
                         sizeof failed, r->choices,
                         r->choices_count * sizeof *r->choices));
}

/* Steps from the path to `to`, and what was learned about the path. */
static void
send_steps(struct engine *e, const struct sim_search *s,
           enum sim_message_type type, uint32_t to)
{
    const struct worker *w = s->context;
    const uint32_t count = to - s->base;
    struct sim_step *steps = sim_need(malloc((count + 1) * sizeof *steps));
    uint8_t *learned = sim_need(malloc(s->base + 1));

    publish(e, s);
    send_failure(s);
    sim_search_steps(e, s, s->base, to, steps);
    sim_search_learned(e, s, learned);
    quit_unless(send_two(w->fd, type, count, steps, count * sizeof *steps,
                         learned, s->base));
    free(steps);
    free(learned);
}

/* ---- Requests ---- */

static void
share(struct engine *e, struct sim_search *s)
{
    const uint32_t open = sim_search_open(e, s);
    const uint32_t depth = sim_search_depth(s);
    const uint32_t to = open < depth ? open + 1 : s->base;

    send_steps(e, s, SIM_MESSAGE_SHARED, to);
    sim_search_narrow(s, to);
}

static void
show(struct engine *e, struct sim_search *s)
{
    const struct worker *w = s->context;
    struct sim_message go_on;

    send_steps(e, s, SIM_MESSAGE_SHOWN, sim_search_depth(s));
    quit_unless(sim_message_receive(w->fd, &go_on));
    sim_message_free(&go_on);
}

/* returns: false if all runs have been made */
static bool
take_run(struct worker *w)
{
    int64_t left;

    if (w->runs_left == 0) {
        left = atomic_fetch_sub(&w->shared->runs_left, RUNS_AT_ONCE);
        w->runs_left = left <= 0             ? 0
                       : left < RUNS_AT_ONCE ? (uint32_t)left
                                             : RUNS_AT_ONCE;
    }
    return w->runs_left > 0;
}

static bool
pause_worker(struct sim_search *s)
{
    struct engine *e = &sim_engine;
    struct worker *w = s->context;
    const uint32_t request =
        atomic_load_explicit(&w->slot->request, memory_order_relaxed);

    if (s->result->runs % RUNS_AT_ONCE == 0)
        publish(e, s);
    if (request != SIM_REQUEST_NONE) {
        atomic_store(&w->slot->request, SIM_REQUEST_NONE);
        if (request == SIM_REQUEST_STOP)
            return true;
        if (request == SIM_REQUEST_SHARE)
            share(e, s);
        else
            show(e, s);
    }
    if (!take_run(w))
        return true;
    w->runs_left--;
    return false;
}

/* ---- The worker's main loop ---- */

static void
send_again(struct engine *e, const struct sim_search *s)
{
    const struct worker *w = s->context;
    const uintptr_t *sites;
    const uint32_t count = sim_wait_sites(e, &sites);

    quit_unless(sim_message_send(w->fd, SIM_MESSAGE_AGAIN,
                                 s->reduced | (s->shard.whole ? 2U : 0) |
                                     e->threads_known << 2 |
                                     e->cleared_bytes << 8,
                                 sites, count * sizeof *sites));
}

static void
send_over(struct engine *e, const struct sim_search *s)
{
    const struct worker *w = s->context;

    publish(e, s);
    send_failure(s);
    quit_unless(sim_message_send(w->fd, SIM_MESSAGE_OVER, 0,
                                 s->result->difference,
                                 sizeof s->result->difference));
}

static void
search_part(struct engine *e, struct sim_search *s,
            const struct sim_message *part)
{
    sim_search_load(e, s, (const void *)part->data, part->count);
    switch (sim_search_continue(e, s)) {
    case SIM_SEARCH_DONE:
        send_steps(e, s, SIM_MESSAGE_DONE, s->base);
        break;
    case SIM_SEARCH_PAUSED:
        send_steps(e, s, SIM_MESSAGE_GIVEN, sim_search_depth(s));
        break;
    case SIM_SEARCH_OVER:
        send_over(e, s);
        break;
    case SIM_SEARCH_AGAIN:
        send_again(e, s);
        break;
    }
}

_Noreturn void
sim_worker_main(struct engine *e, struct sim_search *s, int fd,
                struct sim_shared *shared, uint32_t number)
{
    struct worker w = {
        .fd = fd, .shared = shared, .slot = &shared->slots[number]};
    struct sim_exhaust_result result;
    struct sim_message part;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(&result, 0, sizeof result);
    s->result = &result;
    s->context = &w;
    s->pause = pause_worker;
    s->sample_seed += (uint64_t)(number + 1) << 40;
    while (sim_message_receive(fd, &part)) {
        search_part(e, s, &part);
        sim_message_free(&part);
    }
    _exit(0);
}
