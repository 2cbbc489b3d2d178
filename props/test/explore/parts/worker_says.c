/* worker_says.c -- see worker_says.h. */
#include "worker_says.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "futile.h"
#include "unit_test.h"
#include "worker.h"

static void
interrupted(int number)
{
    (void)number;
}

/* Signals make calls of write() return early, or fail. */
static void
interrupt_often(void)
{
    const struct sigaction action = {.sa_handler = interrupted};
    const struct itimerval timer = {{0, 200}, {0, 200}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The message is larger than a socket's buffer: it is written and read in
 * pieces. */
void
worker_says_long(void)
{
    enum { BYTES = 3 << 20 };
    uint8_t *data = malloc(BYTES);
    struct sim_message m;
    int ends[2];
    pid_t child;

    assert_non_null(data);
    for (uint32_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 31 ^ i >> 11);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        interrupt_often();
        _exit(!sim_message_send(ends[1], SIM_MESSAGE_SHARED, 7, data, BYTES));
    }
    close(ends[1]);
    assert_true(sim_message_receive(ends[0], &m));
    assert_int_equal(m.type, SIM_MESSAGE_SHARED);
    assert_int_equal(m.count, 7);
    assert_int_equal(m.bytes, BYTES);
    assert_memory_equal(m.data, data, BYTES);
    sim_message_free(&m);
    assert_false(sim_message_receive(ends[0], &m)); /* no other end */
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    free(data);
}

/* Signals end calls of read() that wait for the rest of a message. */
void
worker_says_slowly(void)
{
    const struct sim_message head = {
        .type = SIM_MESSAGE_DONE, .count = 3, .bytes = 4};
    const struct itimerval never = {{0, 0}, {0, 0}};
    const struct timespec pause = {.tv_nsec = 5000000};
    struct sim_message m;
    int ends[2];
    pid_t child;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        nanosleep(&pause, NULL);
        if (write(ends[1], &head, sizeof head) != sizeof head)
            _exit(1);
        nanosleep(&pause, NULL);
        _exit(write(ends[1], "abc", 4) != 4);
    }
    interrupt_often();
    assert_true(sim_message_receive(ends[0], &m));
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    assert_int_equal(m.count, 3);
    assert_string_equal(m.data, "abc");
    sim_message_free(&m);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
}

void
worker_says_cut(void)
{
    struct sim_message head = {.type = SIM_MESSAGE_DONE, .bytes = 10};
    struct sim_message m;
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], &head, sizeof head), sizeof head);
    assert_int_equal(write(ends[1], "12345", 5), 5);
    close(ends[1]);
    assert_false(sim_message_receive(ends[0], &m));
    close(ends[0]);
}

/* ---- What a worker says ---- */

struct side {
    struct sim_shared *shared;
    pid_t pid;
    int fd;
};

static void *
shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    return memory;
}

/* Start a worker, and give it the whole tree. */
static struct side
start(const struct sim_kernel *kernel, struct sim_exhaust_options options,
      uint32_t number, struct sim_search search)
{
    struct side w;
    int ends[2];

    w.shared = shared_memory(sizeof *w.shared);
    w.shared->runs_left = INT64_MAX;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    options.jobs = 2;
    w.pid = fork();
    assert_true(w.pid >= 0);
    if (w.pid == 0) {
        static struct sim_exhaust_result result;

        alarm(60); /* seconds; ends one that hangs */
        close(ends[0]);
        search.kernel = kernel;
        search.options = &options;
        search.result = &result;
        sim_search_begin(&search);
        sim_worker_main(&search, ends[1], w.shared, number);
    }
    close(ends[1]);
    w.fd = ends[0];
    assert_true(sim_message_send(w.fd, SIM_MESSAGE_PART, 0, NULL, 0));
    return w;
}

static void
end(struct side *w)
{
    int status;

    close(w->fd);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    assert_int_equal(status, 0);
    munmap(w->shared, sizeof *w->shared);
}

static struct sim_message
hear(const struct side *w, enum sim_message_type type)
{
    struct sim_message m;

    assert_true(sim_message_receive(w->fd, &m));
    assert_int_equal(m.type, type);
    return m;
}

void
worker_says_failed(const struct sim_kernel *kernel)
{
    static struct sim_choice list[1024];
    struct side w = start(kernel, (struct sim_exhaust_options){.run.unroll = 3},
                          1, (struct sim_search){.reduced = true});
    struct sim_message m = hear(&w, SIM_MESSAGE_FAILED);
    const struct sim_choice *sent =
        (const void *)(m.data + sizeof(struct sim_failed));
    struct sim_failed failed;
    struct sim_choices choices;
    struct sim_run run;
    uint32_t values[1024];

    assert_int_equal(m.bytes, sizeof failed + m.count * sizeof *sent);
    memcpy(&failed, m.data, sizeof failed);
    assert_int_equal(failed.run.end, SIM_END_FAILED);
    assert_int_equal(failed.options.unroll, 3);
    assert_true(failed.options.reduced);
    assert_false(failed.by_sampling);
    assert_in_range(m.count, 1, 1023);
    for (uint32_t i = 0; i < m.count; i++)
        values[i] = sent[i].value;
    sim_choices_init(&choices, list, 1024);
    sim_choices_replay(&choices, values, m.count);
    assert_int_equal(sim_explore_run(kernel, &failed.options, &choices, &run),
                     SIM_END_FAILED);
    assert_string_equal(run.failure.text, failed.run.failure.text);
    assert_string_not_equal(run.failure.text, "");
    assert_int_equal(run.failure.site, failed.run.failure.site);
    assert_memory_equal(run.graph, failed.run.graph, sizeof run.graph);
    sim_message_free(&m);
    m = hear(&w, SIM_MESSAGE_OVER);
    assert_int_equal(m.data[0], '\0');
    assert_int_equal(
        atomic_load(&w.shared->slots[1].counts[SIM_COUNT_FAILURES]), 1);
    sim_message_free(&m);
    end(&w);
}

static void
fail_thrice(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    if (sim_explore_choose(4, SIM_DATA) != 0)
        sim_explore_fail("it is not 0");
}

/* It goes on past failures, and sends the first one only. */
void
worker_says_once(void)
{
    static const struct sim_kernel kernel = {
        .name = "thrice",
        .about = "any",
        .threads = {{"t", fail_thrice, NULL}},
        .threads_count = 1};
    struct side w =
        start(&kernel, (struct sim_exhaust_options){.keep_going = true}, 1,
              (struct sim_search){.reduced = true});
    struct sim_message m = hear(&w, SIM_MESSAGE_FAILED);

    sim_message_free(&m);
    m = hear(&w, SIM_MESSAGE_DONE);
    sim_message_free(&m);
    assert_true(atomic_load(&w.shared->slots[1].counts[SIM_COUNT_FAILURES]) >
                1);
    end(&w);
}

struct orphan {
    volatile pid_t pid;
    volatile uint32_t runs;
};

static void
count_run(void *context, const struct sim_run *run)
{
    struct orphan *orphan = context;

    (void)run;
    orphan->runs = orphan->runs + 1;
}

/* Its coordinator is killed in the middle of a part. */
void
worker_says_orphaned(const struct sim_kernel *kernel)
{
    struct orphan *orphan = shared_memory(sizeof *orphan);
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        orphan->pid =
            start(kernel,
                  (struct sim_exhaust_options){.after_run = count_run,
                                               .after_run_context = orphan},
                  1, (struct sim_search){.reduced = true})
                .pid;
        for (;;)
            pause();
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(60); /* seconds; ends a test that hangs */
    while (orphan->pid == 0 || orphan->runs == 0)
        sched_yield();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(waitpid(orphan->pid, &status, 0), orphan->pid);
    alarm(0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    munmap(orphan, sizeof *orphan);
}

void
worker_says_again(const struct sim_kernel *kernel)
{
    const uintptr_t *known;
    const uint32_t before = sim_wait_sites(&known);

    for (uint32_t i = 0; i < 4; i++) {
        struct side w =
            start(kernel, (struct sim_exhaust_options){.jobs = 0}, 1,
                  (struct sim_search){.reduced = i % 2 != 0,
                                      .shard = {.whole = i / 2 != 0}});
        struct sim_message m = hear(&w, SIM_MESSAGE_AGAIN);
        const uintptr_t *sites = (const void *)m.data;
        const size_t count = m.bytes / sizeof *sites;

        assert_int_equal(m.count & 3, i);
        assert_in_range(m.count >> 2 & 63, 0, SIM_THREADS_MAX);
        assert_true(m.count >> 8 >= 2048); /* a loop is seen with its stack */
        assert_true(count > before);
        assert_memory_equal(sites, known, before * sizeof *sites);
        assert_true(sites[count - 1] != 0);
        sim_message_free(&m);
        end(&w);
    }
}

/* ---- Seeds ---- */

enum { STATES = 1000 };

static struct states {
    uint32_t count;
    uint64_t state[STATES]; /* of the generator when a random run begins */
} * states;

static void
note_state(void *context)
{
    struct states *s = context;

    if (sim_engine.choices->backend == SIM_RANDOM && s->count < STATES)
        s->state[s->count++] = sim_engine.choices->rng.state;
}

static void
choose(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 0; i < 10; i++)
        (void)sim_explore_choose(2, SIM_DATA);
}

void
worker_says_seeds(void)
{
    const struct sim_exhaust_options options = {.portfolio = true, .seed = 5};

    states = shared_memory(2 * sizeof *states);
    for (uint32_t i = 0; i < 2; i++) {
        const struct sim_kernel kernel = {.name = "choose",
                                          .about = "any",
                                          .context = &states[i],
                                          .setup = note_state,
                                          .threads = {{"c", choose, NULL}},
                                          .threads_count = 1};
        struct side w =
            start(&kernel, options, i, (struct sim_search){.reduced = true});
        struct sim_message m = hear(&w, SIM_MESSAGE_DONE);

        sim_message_free(&m);
        assert_in_range(states[i].count, 3 * (256 / 12), STATES);
        assert_true(
            atomic_load(&w.shared->slots[i].counts[SIM_COUNT_SAMPLED]) >=
            3 * (256 / 12));
        end(&w);
    }
    for (uint32_t i = 0; i < states[0].count; i++) {
        for (uint32_t k = 0; k < states[1].count; k++)
            assert_true(states[0].state[i] != states[1].state[k]);
    }
    munmap(states, 2 * sizeof *states);
}
