/* checkpoint_parts.c -- see checkpoint_parts.h. */
#include "checkpoint_parts.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "engine.h"
#include "futile.h"
#include "unit_test.h"

/* ---- What is written is read ---- */

enum { KEYS = 100, SITES = 3 };

struct whole {
    struct sim_exhaust_options options;
    struct sim_exhaust_result result;
    struct sim_search search;
    struct sim_control control;
};

static void
begin(struct whole *w, const struct sim_kernel *kernel, const char *file,
      bool shared)
{
    memset(w, 0, sizeof *w);
    w->options.checkpoint = file;
    w->options.jobs = shared ? 2 : 1;
    w->search.kernel = kernel;
    w->search.options = &w->options;
    w->search.result = &w->result;
    w->search.reduced = !shared;
    sim_search_begin(&w->search);
    sim_control_begin(&w->control, &w->search);
}

static void
end(struct whole *w)
{
    sim_frontier_free(&w->control.frontier);
    sim_search_end(&w->search);
}

static void
key_of(uint64_t i, uint64_t key[2])
{
    key[0] = sim_mix64(i + 1);
    key[1] = sim_mix64(i + 1000);
}

/* Two parts below a question of three answers, one of which is done. */
static void
split(struct sim_frontier *f)
{
    const struct sim_step step = {.choice = {.bound = 3, .value = 1}};

    sim_frontier_split(f, sim_frontier_take(f), &step, 1);
}

static void
set_all(struct whole *w, bool shared)
{
    uint64_t key[2];

    w->control.spent_us = UINT64_C(5000000000);
    w->search.shard.whole = shared;
    w->search.sample_at = 512;
    w->search.sample_seed = 77;
    w->result.runs = 11;
    w->result.graphs = 12;
    w->result.graphs_sum = 13;
    w->result.blocked = 14;
    w->result.bounded = 15;
    w->result.rechecked = 16;
    w->result.sampled = 17;
    sim_engine.threads_known = 5;
    sim_engine.cleared_bytes = 8192;
    for (uint64_t i = 0; i < KEYS; i++) {
        key_of(i, key);
        sim_visited_insert(i % 3 == 0 ? &w->search.visited : &w->search.graphs,
                           key);
    }
    split(&w->control.frontier);
}

static void
check_sets(const struct whole *w)
{
    uint64_t key[2];

    assert_int_equal(sim_visited_count(&w->search.visited), (KEYS + 2) / 3);
    assert_int_equal(sim_visited_count(&w->search.graphs),
                     KEYS - (KEYS + 2) / 3);
    for (uint64_t i = 0; i < KEYS; i++) {
        key_of(i, key);
        assert_int_equal(sim_visited_contains(&w->search.visited, key),
                         i % 3 == 0);
        assert_int_equal(sim_visited_contains(&w->search.graphs, key),
                         i % 3 != 0);
    }
}

static void
check_all(struct whole *w, bool shared)
{
    double share;

    assert_true(w->result.resumed);
    assert_string_equal(w->result.trouble, "");
    assert_in_range(w->control.spent_us, UINT64_C(5000000000),
                    UINT64_C(5060000000));
    assert_int_equal(w->search.reduced, !shared);
    assert_int_equal(w->search.shard.whole, shared);
    assert_int_equal(w->search.sample_at, 512);
    assert_int_equal(w->search.sample_seed, 77);
    assert_false(w->search.rechecks);
    assert_int_equal(w->result.runs, 11);
    assert_int_equal(w->result.graphs, 12);
    assert_int_equal(w->result.graphs_sum, 13);
    assert_int_equal(w->result.blocked, 14);
    assert_int_equal(w->result.bounded, 15);
    assert_int_equal(w->result.rechecked, 16);
    assert_int_equal(w->result.sampled, 17);
    assert_int_equal(sim_engine.threads_known, 5);
    assert_int_equal(sim_engine.cleared_bytes, 8192);
    assert_false(sim_engine.learned);
    check_sets(w);
    share = sim_frontier_share(&w->control.frontier, NULL);
    assert_true(share > 0.333 && share < 0.334);
}

/* A process that has found other wait loops writes the file. */
static void
write_file(struct whole *w, bool shared)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        for (uintptr_t i = 0; i < SITES; i++)
            sim_wait_learn((uintptr_t)&checkpoint_parts_kept + i);
        set_all(w, shared);
        _exit(!sim_checkpoint_save(&w->control, &w->control.frontier));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

void
checkpoint_parts_kept(const struct sim_kernel *kernel, const char *file,
                      bool shared)
{
    static struct whole w;
    const uintptr_t *sites;
    uint32_t before;
    uint32_t found = 0;

    begin(&w, kernel, file, shared);
    before = sim_wait_sites(&sites);
    write_file(&w, shared);
    w.search.reduced = shared;
    assert_true(sim_checkpoint_load(&w.control));
    check_all(&w, shared);
    sim_wait_sites(&sites);
    for (uint32_t i = 0; i < before + SITES; i++)
        found += sites[i] - (uintptr_t)&checkpoint_parts_kept < SITES;
    assert_int_equal(found, SITES);
    end(&w);
    remove(file);
}

/* ---- Files of other searches ---- */

static const char *
refused(const struct sim_kernel *kernel,
        const struct sim_exhaust_options *options)
{
    static struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, options, &r);
    if (r.verdict == SIM_VERDICT_REFUSED)
        assert_int_equal(r.runs, 0);
    assert_int_equal(r.resumed, r.verdict != SIM_VERDICT_REFUSED);
    return r.verdict == SIM_VERDICT_REFUSED ? r.trouble : "";
}

void
checkpoint_parts_options(const struct sim_kernel *kernel, const char *file)
{
    const struct sim_exhaust_options options = {
        .checkpoint = file, .runs_max = 5, .shard = 1, .shards = 2};
    struct sim_exhaust_options other[14];
    struct sim_exhaust_result r;
    uint32_t count = 0;

    for (uint32_t i = 0; i < 14; i++)
        other[i] = options;
    other[count++].run.preemptions_max = 1;
    other[count++].run.bounded = true;
    other[count++].run.spurious_max = 1;
    other[count++].run.steps_max = 1000;
    other[count++].run.lazy_start = true;
    other[count++].run.silent_ms = 100;
    other[count++].run.unroll = 3;
    other[count++].no_pruning = true;
    other[count++].by_schedules = true;
    other[count++].keep_going = true;
    other[count++].portfolio = true;
    other[count++].shard = 2;
    other[count++].shards = 3;
    sim_explore_exhaust(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    for (uint32_t i = 0; i < count; i++)
        assert_non_null(strstr(refused(kernel, &other[i]), "other options"));
    other[count].seed = 7; /* not used: there are no random runs */
    other[count].runs_max = 6;
    assert_string_equal(refused(kernel, &other[count]), "");
    remove(file);
    other[10].seed = 1;
    sim_explore_exhaust(kernel, &other[10], &r);
    other[10].seed = 2;
    assert_non_null(strstr(refused(kernel, &other[10]), "other options"));
    remove(file);
}

/* ---- Damaged files ---- */

static void
put_file(const char *file, const uint8_t *bytes, size_t count)
{
    FILE *f = fopen(file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

/* The head of a file: 24 bytes of magic, 64 of the kernel's name, 8 of the
 * code's hash, 8 of the options'. All else is only in the sum. */
static const char *
message_for(size_t at)
{
    return at < 24    ? "no checkpoint of this version"
           : at < 88  ? "another kernel's"
           : at < 96  ? "another program"
           : at < 104 ? "other options"
                      : "damaged";
}

void
checkpoint_parts_damaged(const struct sim_kernel *kernel, const char *file)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 10};
    static uint8_t bytes[1 << 16];
    struct sim_exhaust_result r;
    size_t count;
    FILE *f;

    sim_explore_exhaust(kernel, &options, &r);
    f = fopen(file, "rb");
    assert_non_null(f);
    count = fread(bytes, 1, sizeof bytes, f);
    assert_int_equal(fclose(f), 0);
    assert_in_range(count, 300, sizeof bytes - 1);
    assert_string_equal(bytes, "profsim checkpoint 1\n");
    assert_string_equal(bytes + 24, kernel->name);
    for (size_t at = 0; at < count;
         at += at < 250 || at > count - 32 ? 5 : 41) {
        bytes[at] ^= 0x21;
        put_file(file, bytes, count);
        assert_non_null(strstr(refused(kernel, &options), message_for(at)));
        bytes[at] ^= 0x21;
        put_file(file, bytes, at);
        assert_non_null(strstr(refused(kernel, &options),
                               at < 200 ? "no checkpoint" : "damaged"));
    }
    put_file(file, bytes, count);
    assert_string_equal(refused(kernel, &options), "");
    remove(file);
}

/* ---- What is no file ---- */

static int
lowest_free_descriptor(void)
{
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(descriptor >= 0);
    close(descriptor);
    return descriptor;
}

/* Is the search refused, with this text and nothing left open? */
static void
check_refused(const struct sim_kernel *kernel, const char *file,
              const char *text)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 10};
    const int descriptor = lowest_free_descriptor();
    const char *said = refused(kernel, &options);

    assert_non_null(strstr(said, file));
    assert_non_null(strstr(said, text));
    assert_int_equal(lowest_free_descriptor(), descriptor);
}

/* The file cannot be written: the search says so, and leaves nothing behind. */
static void
check_unwritten(const struct sim_kernel *kernel, const char *file,
                const char *text)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 10};
    const int descriptor = lowest_free_descriptor();
    struct sim_exhaust_result r;

    sim_explore_exhaust(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    assert_non_null(strstr(r.trouble, text));
    assert_int_equal(lowest_free_descriptor(), descriptor);
}

void
checkpoint_parts_strange(const struct sim_kernel *kernel, const char *file)
{
    const struct rlimit small = {200, RLIM_INFINITY};
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = 10};
    struct sim_exhaust_result r;
    struct rlimit old;
    char other[100];
    size_t before = 0;

    snprintf(other, sizeof other, "%s.new", file);
    assert_int_equal(mkdir(file, 0700), 0);
    check_refused(kernel, file, "not a regular file");
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    check_refused(kernel, file, "not a regular file");
    remove(file);
    assert_int_equal(symlink(file, file), 0);
    check_refused(kernel, file, "symbolic links");
    remove(file);
    /* The other name: what a killed search left is replaced. */
    put_file(other, (const uint8_t *)"old", 3);
    sim_explore_exhaust(kernel, &options, &r);
    assert_string_equal(r.trouble, "");
    assert_int_not_equal(access(other, F_OK), 0);
    remove(file);
    assert_int_equal(mkdir(other, 0700), 0);
    put_file(strcat(other, "/in"), (const uint8_t *)"", 0);
    check_unwritten(kernel, file, "not empty");
    remove(other);
    *strrchr(other, '/') = '\0';
    assert_int_equal(rmdir(other), 0);
    /* No room for it. */
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    setrlimit(RLIMIT_FSIZE, &small);
    check_unwritten(kernel, file, "too large");
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_not_equal(access(other, F_OK), 0);
    assert_int_not_equal(access(file, F_OK), 0);
    /* A search that goes on often takes no more memory than at first; seven
     * freed pieces of a size are kept by libc. */
    for (uint32_t i = 0; i < 12; i++) {
        sim_explore_exhaust(kernel, &options, &r);
        before = i < 9 ? mallinfo2().uordblks : before;
    }
    assert_int_equal(mallinfo2().uordblks, before);
    remove(file);
}
