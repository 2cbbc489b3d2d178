/*
 * jobs.c -- exhaustive search in several processes.
 *
 *      coordinator  <- socket ->  worker: one part of the tree each
 *             \___ slots, sets of states: shared memory ___/
 *
 * A worker that has finished gets the largest free part. If no part is free,
 * the coordinator asks another worker to share: that worker gives away the
 * remaining answers of its first open question, and continues below its current
 * answer. Workers share the sets of states and of graphs, so that none repeats
 * another's work.
 */
#include "explore/search/search_control.h"
#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/engine/need.h"
#include "explore/search/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
    pid_t pid;
    int fd;
    uint32_t part;           /* SIM_NO_PART: idle */
    bool requested;          /* a request is on its way */
    bool shown;              /* it pauses until told to go on */
    struct sim_message list; /* ... at this position */
};

struct jobs {
    struct sim_control *control;
    struct job list[SIM_JOBS_MAX];
    uint32_t count;
    struct sim_shared *shared;
    struct sim_exhaust_result before; /* what was found by one process */
    enum sim_search_end end;
    bool over;
    bool saving; /* all workers must pause */
};

/* ---- Processes ---- */

static bool
start(struct engine *e, struct jobs *j, uint32_t i)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        for (uint32_t k = 0; k < i; k++)
            close(j->list[k].fd);
        sim_worker_main(e, j->control->search, ends[1], j->shared, i);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    j->list[i] = (struct job){.pid = pid, .fd = ends[0], .part = SIM_NO_PART};
    return true;
}

/* Workers end when their socket closes, or are killed in the middle of a
 * part. */
static void
stop_all(struct jobs *j)
{
    for (uint32_t i = 0; i < j->count; i++) {
        kill(j->list[i].pid, SIGKILL);
        close(j->list[i].fd);
    }
    for (uint32_t i = 0; i < j->count; i++) {
        while (waitpid(j->list[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

/* Sum the counts of all workers, and those from before. */
static void
sum_up(struct jobs *j)
{
    struct sim_exhaust_result *r = j->control->result;
    const struct sim_exhaust_result *b = &j->before;
    uint64_t sum[SIM_COUNT_COUNT] = {0};

    for (uint32_t i = 0; i < j->count; i++) {
        for (uint32_t k = 0; k < SIM_COUNT_COUNT; k++)
            sum[k] += atomic_load(&j->shared->slots[i].counts[k]);
    }
    r->runs = b->runs + sum[SIM_COUNT_RUNS];
    r->graphs = b->graphs + sum[SIM_COUNT_GRAPHS];
    r->graphs_sum = b->graphs_sum + sum[SIM_COUNT_GRAPHS_SUM];
    r->blocked = b->blocked + sum[SIM_COUNT_BLOCKED];
    r->bounded = b->bounded + sum[SIM_COUNT_BOUNDED];
    r->failures = b->failures + sum[SIM_COUNT_FAILURES];
    r->sampled = b->sampled + sum[SIM_COUNT_SAMPLED];
}

static void
finish(struct jobs *j, enum sim_search_end end)
{
    if (!j->over)
        j->end = end;
    j->over = true;
}

static void
lose_worker(struct jobs *j)
{
    struct sim_exhaust_result *r = j->control->result;

    if (!j->over)
        snprintf(r->trouble, sizeof r->trouble,
                 "a process of the search has ended");
    finish(j, SIM_SEARCH_OVER);
}

/* ---- Parts ---- */

static void
hand_out(struct jobs *j)
{
    static struct sim_step path[SIM_CHOICES_MAX];
    struct sim_frontier *f = &j->control->frontier;

    for (uint32_t i = 0; i < j->count && !j->saving; i++) {
        struct job *job = &j->list[i];
        uint32_t depth;

        if (job->part != SIM_NO_PART)
            continue;
        job->part = sim_frontier_take(f);
        if (job->part == SIM_NO_PART)
            return;
        depth = sim_frontier_depth(f, job->part);
        sim_frontier_path(f, job->part, path);
        if (!sim_message_send(job->fd, SIM_MESSAGE_PART, depth, path,
                              depth * sizeof *path))
            lose_worker(j);
    }
}

static void
ask(struct jobs *j, uint32_t i, enum sim_request request)
{
    struct job *job = &j->list[i];

    if (job->part == SIM_NO_PART || job->requested)
        return;
    job->requested = true;
    atomic_store(&j->shared->slots[i].request, request);
}

/* If a worker is idle, ask others to share their parts. */
static void
ask_to_share(struct jobs *j)
{
    uint32_t idle = 0;

    for (uint32_t i = 0; i < j->count; i++)
        idle += j->list[i].part == SIM_NO_PART;
    for (uint32_t i = 0; i < j->count && idle > 0; i++)
        ask(j, i, SIM_REQUEST_SHARE);
}

/* ---- What workers say ---- */

static void
take_failure(struct jobs *j, const struct sim_message *m)
{
    const struct sim_failed *failed = (const void *)m->data;
    struct sim_exhaust_result *r = j->control->result;

    if (m->bytes < sizeof *failed || r->choices != NULL)
        return;
    r->failures = 0; /* until all are summed up again */
    sim_search_keep_failure(r, &failed->run,
                            (const void *)(m->data + sizeof *failed), m->count,
                            &failed->options);
    r->found_by_sampling = failed->by_sampling;
}

static void
take_over(struct jobs *j, const struct sim_message *m)
{
    struct sim_exhaust_result *r = j->control->result;

    memcpy(r->difference, m->data,
           m->bytes < sizeof r->difference ? m->bytes : sizeof r->difference);
    finish(j, SIM_SEARCH_OVER);
}

static void
take_again(struct engine *e, struct jobs *j, const struct sim_message *m)
{
    for (size_t i = 0; i < m->bytes / sizeof(uintptr_t); i++) {
        uintptr_t site;

        memcpy(&site, m->data + i * sizeof site, sizeof site);
        sim_wait_learn(e, site);
    }
    j->control->search->reduced = (m->count & 1) != 0;
    j->control->search->shard.whole = (m->count & 2) != 0;
    e->threads_known = m->count >> 2 & 63;
    if (e->cleared_bytes < m->count >> 8)
        e->cleared_bytes = m->count >> 8;
    finish(j, SIM_SEARCH_AGAIN);
}

/* Steps from the part's path on, and what was learned about the path. */
static void
take_steps(struct sim_frontier *f, const struct job *job,
           const struct sim_message *m)
{
    const uint32_t depth = sim_frontier_depth(f, job->part);
    const size_t bytes = m->count * sizeof(struct sim_step);

    if (m->bytes != bytes + depth)
        abort();
    sim_frontier_enable(f, job->part, m->data + bytes, depth);
    sim_frontier_split(f, job->part, (const void *)m->data, m->count);
}

static void
take_done(struct jobs *j, uint32_t i, const struct sim_message *m)
{
    struct sim_frontier *f = &j->control->frontier;
    struct job *job = &j->list[i];

    take_steps(f, job, m);
    sim_frontier_done(f, job->part);
    job->part = SIM_NO_PART;
    job->requested = false;
    atomic_store(&j->shared->slots[i].request, SIM_REQUEST_NONE);
    if (sim_frontier_is_empty(f))
        finish(j, SIM_SEARCH_DONE);
}

static void
take_message(struct engine *e, struct jobs *j, uint32_t i)
{
    struct job *job = &j->list[i];
    struct sim_frontier *f = &j->control->frontier;
    struct sim_message m;

    if (!sim_message_receive(job->fd, &m)) {
        lose_worker(j);
        return;
    }
    switch ((enum sim_message_type)m.type) {
    case SIM_MESSAGE_SHARED:
        take_steps(f, job, &m);
        job->requested = false;
        break;
    case SIM_MESSAGE_SHOWN:
        job->shown = true;
        job->list = m;
        return; /* the message is kept */
    case SIM_MESSAGE_GIVEN:
        take_steps(f, job, &m);
        sim_frontier_return(f, job->part);
        job->part = SIM_NO_PART;
        j->control->late = true;
        break;
    case SIM_MESSAGE_DONE:
        take_done(j, i, &m);
        break;
    case SIM_MESSAGE_FAILED:
        take_failure(j, &m);
        break;
    case SIM_MESSAGE_OVER:
        take_over(j, &m);
        break;
    case SIM_MESSAGE_AGAIN:
        take_again(e, j, &m);
        break;
    case SIM_MESSAGE_PART:
    case SIM_MESSAGE_GO_ON:
        break; /* not a worker's message */
    }
    sim_message_free(&m);
}

/* ---- The file ---- */

/* The worker keeps its part; only the file has it split. */
static bool
save(struct engine *e, struct jobs *j)
{
    struct sim_control *c = j->control;
    const uint64_t begun = sim_control_now_us();
    struct sim_frontier copy;
    bool saved;

    sim_frontier_copy(&copy, &c->frontier);
    for (uint32_t i = 0; i < j->count; i++) {
        if (j->list[i].shown) {
            take_steps(&copy, &j->list[i], &j->list[i].list);
            sim_frontier_return(&copy, j->list[i].part);
        }
    }
    sum_up(j);
    saved = sim_checkpoint_save(e, c, &copy);
    sim_frontier_free(&copy);
    sim_control_saved(c, begun);
    return saved;
}

/* Called until it is done: when all workers pause, write the file, and let them
 * go on. */
static void
save_soon(struct engine *e, struct jobs *j)
{
    j->saving = true;
    for (uint32_t i = 0; i < j->count; i++)
        ask(j, i, SIM_REQUEST_SHOW);
    for (uint32_t i = 0; i < j->count; i++) {
        if (j->list[i].part != SIM_NO_PART && !j->list[i].shown)
            return;
    }
    if (!save(e, j))
        finish(j, SIM_SEARCH_OVER);
    j->saving = false;
    for (uint32_t i = 0; i < j->count; i++) {
        struct job *job = &j->list[i];

        if (!job->shown)
            continue;
        sim_message_free(&job->list);
        job->shown = job->requested = false;
        if (!sim_message_send(job->fd, SIM_MESSAGE_GO_ON, 0, NULL, 0))
            lose_worker(j);
    }
}

/* ---- The coordinator ---- */

static double
share_of(const struct jobs *j)
{
    const struct sim_frontier *f = &j->control->frontier;
    double *done = sim_need(calloc(f->parts_count + 1, sizeof *done));
    double sum;

    for (uint32_t i = 0; i < j->count; i++) {
        if (j->list[i].part != SIM_NO_PART)
            done[j->list[i].part] =
                (double)atomic_load(&j->shared->slots[i].share) / SIM_SHARE_ONE;
    }
    sum = sim_frontier_share(f, done);
    free(done);
    return sum;
}

/* When the time or the runs are used up, let workers give their parts back. */
static void
stop_if_late(struct jobs *j)
{
    uint32_t busy = 0;

    if (!j->control->late)
        return;
    for (uint32_t i = 0; i < j->count; i++) {
        ask(j, i, SIM_REQUEST_STOP);
        busy += j->list[i].part != SIM_NO_PART;
    }
    if (busy == 0)
        finish(j, SIM_SEARCH_PAUSED);
}

static void
hear(struct engine *e, struct jobs *j)
{
    struct pollfd fds[SIM_JOBS_MAX];

    for (uint32_t i = 0; i < j->count; i++)
        fds[i] = (struct pollfd){.fd = j->list[i].fd, .events = POLLIN};
    if (poll(fds, j->count, 20) <= 0)
        return;
    for (uint32_t i = 0; i < j->count && !j->over; i++) {
        if (fds[i].revents != 0)
            take_message(e, j, i);
    }
}

static void
coordinate(struct engine *e, struct jobs *j)
{
    struct sim_control *c = j->control;

    while (!j->over) {
        if (j->saving || (!c->late && sim_control_file_is_due(c)))
            save_soon(e, j); /* those that pause must go on, late or not */
        if (c->late && !j->saving)
            stop_if_late(j);
        else
            hand_out(j);
        ask_to_share(j);
        if (j->over)
            break;
        hear(e, j);
        if (sim_control_now_us() < c->look_us)
            continue;
        sum_up(j);
        sim_control_look(c, c->result->runs, c->result->graphs, share_of(j));
    }
    sum_up(j);
}

enum sim_search_end
sim_jobs_run(struct engine *e, struct sim_control *c)
{
    static struct jobs j;
    const uint32_t wanted =
        c->options->jobs < SIM_JOBS_MAX ? c->options->jobs : SIM_JOBS_MAX;

    memset(&j, 0, sizeof j);
    j.control = c;
    j.before = *c->result;
    j.shared = sim_need(mmap(NULL, sizeof *j.shared, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    j.shared->runs_left =
        c->options->runs_max != 0
            ? (int64_t)(c->options->runs_max - c->result->runs)
            : INT64_MAX;
    while (j.count < wanted && start(e, &j, j.count))
        j.count++;
    if (j.count == 0) {
        snprintf(c->result->trouble, sizeof c->result->trouble,
                 "no process could be started: %s", strerror(errno));
        finish(&j, SIM_SEARCH_OVER);
    }
    coordinate(e, &j);
    stop_all(&j);
    munmap(j.shared, sizeof *j.shared);
    return j.end;
}
