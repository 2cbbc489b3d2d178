/*
 * campaign.c -- a campaign on several processes.
 *
 * With J jobs, each job runs every J-th seed. A page shared with the parent
 * shows how far each job is. A job stops at its first failure and writes the
 * failing seed into that page; the other jobs stop when they have passed that
 * seed. So the result is the lowest failing seed, whatever the number of jobs.
 * Each job is a process: a crash of the code under test ends only its job.
 */
#include "props/campaign/campaign.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/progress_line.h"
#include "common/rng.h"
#include "props/judge/run.h"

/* If 256 runs of the library take longer than this, one of them hangs, and
 * SIGALRM ends the job. The speed of a subject is unknown, so each of its runs
 * has PROPS_SUBJECT_SECONDS. */
enum { RUNS_OF_ALARM = 256, HANG_SECONDS = 60 };

struct job {
    _Alignas(64) _Atomic uint64_t seed; /* being run */
    _Atomic uint64_t runs;
    uint64_t events;
    uint64_t hash;
    struct props_coverage cover;
    struct props_pairs pairs;
    bool failed;
    bool differed; /* failed: the seed's two runs did not do the same */
    pid_t pid;     /* the parent's */
};

struct shared_progress {
    _Atomic uint64_t failed_seed; /* the lowest so far; UINT64_MAX: none */
    struct job jobs[];
};

static double
now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void
note_failure(struct shared_progress *progress, uint64_t seed)
{
    uint64_t lowest = atomic_load(&progress->failed_seed);

    while (seed < lowest &&
           !atomic_compare_exchange_weak(&progress->failed_seed, &lowest, seed))
        ;
}

uint32_t
props_campaign_worlds(const struct props_campaign *campaign)
{
    return campaign->worlds != 0 ? campaign->worlds
                                 : (uint32_t)SIM_WORLDS_HEAPS;
}

struct props_run *
props_campaign_runner(const struct props_campaign *campaign)
{
    const uint32_t worlds = props_campaign_worlds(campaign);
    const struct sim_limits *limits = worlds == SIM_WORLDS_HEAPS
                                          ? &sim_generator_limits
                                          : &sim_generator_limits_all;
    struct props_run *run = props_run_new(
        worlds == SIM_WORLDS_SUBJECT ? &sim_generator_limits_subject : limits);

    if (run != NULL)
        run->generator.subject = campaign->subject;
    return run;
}

bool
props_campaign_try(const struct props_campaign *campaign, struct props_run *run,
                   struct sim_choices *choices)
{
    return props_run_choices(run, choices, campaign->rules,
                             props_campaign_worlds(campaign),
                             campaign->requested);
}

/* ---- the seeds ---- */

static void
set_alarm(const struct props_campaign *campaign, uint64_t runs)
{
    if (campaign->subject != NULL)
        alarm(PROPS_SUBJECT_SECONDS);
    else if (runs % RUNS_OF_ALARM == 0)
        alarm(HANG_SECONDS);
}

/* Run a seed; every 64th is run twice, and must do the same (D1). */
static bool
run_seed(const struct props_campaign *campaign, struct props_run *run,
         struct sim_choices *choices, uint64_t seed)
{
    uint64_t first;

    sim_choices_random(choices, seed);
    if (!props_campaign_try(campaign, run, choices))
        return false;
    first = run->hash;
    if (seed % 64 != 0 || (campaign->requested & PROPS_BIT(PROPS_D1)) == 0)
        return true;
    props_cover_hit(&run->cover, COVER_RUN_TWICE);
    sim_choices_random(choices, seed);
    return props_campaign_try(campaign, run, choices) && run->hash == first;
}

static uint64_t
step_of(const struct props_campaign *campaign)
{
    return campaign->seed_step != 0 ? campaign->seed_step : 1;
}

static uint64_t
seeds_after_first(const struct props_campaign *campaign)
{
    return (campaign->seed_last - campaign->seed_first) / step_of(campaign);
}

static void
work(const struct props_campaign *campaign, struct shared_progress *progress,
     uint32_t index)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct job *job = &progress->jobs[index];
    struct props_run *run = props_campaign_runner(campaign);
    const double end_seconds = now_seconds() + campaign->seconds;
    struct props_coverage before = {{0}};
    struct sim_choices choices;

    if (run == NULL)
        _exit(2);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no campaign without its parent */
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    for (uint64_t i = index; i <= seeds_after_first(campaign);
         i += campaign->jobs) {
        const uint64_t seed = campaign->seed_first + i * step_of(campaign);

        if (seed >=
            atomic_load_explicit(&progress->failed_seed, memory_order_relaxed))
            break;
        set_alarm(campaign,
                  atomic_load_explicit(&job->runs, memory_order_relaxed));
        atomic_store_explicit(&job->seed, seed, memory_order_relaxed);
        if (!run_seed(campaign, run, &choices, seed)) {
            job->failed = true;
            job->differed = run->judge.breach.property == PROPS_NONE;
            note_failure(progress, seed);
            break;
        }
        props_pairs_note(&job->pairs, &before, &run->cover);
        before = run->cover;
        job->events += run->events_count;
        job->hash += sim_mix64(run->hash ^ sim_mix64(seed));
        atomic_fetch_add_explicit(&job->runs, 1, memory_order_relaxed);
        if (campaign->seconds != 0 && i % 256 < 64 &&
            now_seconds() >= end_seconds)
            break;
    }
    job->cover = run->cover;
    props_run_delete(run);
    _exit(0);
}

/* ---- the parent ---- */

static void
say_progress(const struct props_campaign *campaign,
             const struct shared_progress *progress,
             struct props_progress_line *line, double elapsed_seconds)
{
    const uint64_t span = seeds_after_first(campaign);
    uint64_t runs = 0;
    double share;

    if (!props_progress_line_due(line, (uint64_t)(1000 * elapsed_seconds)))
        return;
    for (uint32_t i = 0; i < campaign->jobs; i++)
        runs +=
            atomic_load_explicit(&progress->jobs[i].runs, memory_order_relaxed);
    share = (double)runs / ((double)span + 1);
    if (campaign->seconds != 0 && elapsed_seconds / campaign->seconds > share)
        share = elapsed_seconds / campaign->seconds;
    if (runs == 0 || share <= 0)
        return;
    props_progress_line_show(
        line, "%" PRIu64 " runs, %.0f runs/s, %.0f %%, %.0f s left", runs,
        (double)runs / elapsed_seconds, 100 * share,
        elapsed_seconds / share * (1 - share));
}

/* Note the end of a job. returns: false if it lacked memory */
static bool
job_ended(struct shared_progress *progress, const struct job *job, int status,
          struct props_outcome *outcome)
{
    const uint64_t seed = atomic_load(&job->seed);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        note_failure(progress, seed);
        if (atomic_load(&progress->failed_seed) == seed)
            outcome->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        outcome->end = PROPS_END_CRASHED;
    }
    return true;
}

/* Wait for the jobs; note a crash. */
static bool
wait_for_jobs(const struct props_campaign *campaign,
              struct shared_progress *progress, struct props_outcome *outcome)
{
    const double start_seconds = now_seconds();
    const bool show = campaign->show_progress;
    struct props_progress_line line = {0};
    const struct timespec pause = {.tv_nsec = 20000000};
    uint32_t left = campaign->jobs;
    bool had_memory = true;

    while (left > 0) {
        for (uint32_t i = 0; i < campaign->jobs; i++) {
            struct job *job = &progress->jobs[i];
            int status;

            /* The last one has nobody to tell, and nothing to show. */
            if (job->pid == 0 ||
                waitpid(job->pid, &status, left == 1 && !show ? 0 : WNOHANG) !=
                    job->pid)
                continue;
            job->pid = 0;
            left--;
            had_memory &= job_ended(progress, job, status, outcome);
        }
        if (left > 0)
            nanosleep(&pause, NULL);
        if (show && left > 0)
            say_progress(campaign, progress, &line,
                         now_seconds() - start_seconds);
    }
    props_progress_line_hide(&line);
    return had_memory;
}

static bool
start_jobs(const struct props_campaign *campaign,
           struct shared_progress *progress)
{
    fflush(NULL); /* nothing buffered may be written twice */
    for (uint32_t i = 0; i < campaign->jobs; i++) {
        const pid_t pid = fork();

        if (pid == 0)
            work(campaign, progress, i);
        if (pid < 0) {
            for (uint32_t j = 0; j < i; j++) {
                kill(progress->jobs[j].pid, SIGKILL);
                waitpid(progress->jobs[j].pid, NULL, 0);
            }
            return false;
        }
        progress->jobs[i].pid = pid;
    }
    return true;
}

/* Note whether the lowest failing seed broke a property or crashed. */
static void
sum_up(const struct props_campaign *campaign,
       const struct shared_progress *progress, struct props_outcome *outcome)
{
    const uint64_t failed = atomic_load(&progress->failed_seed);

    for (uint32_t i = 0; i < campaign->jobs; i++) {
        const struct job *job = &progress->jobs[i];

        outcome->runs += atomic_load(&job->runs);
        outcome->events += job->events;
        outcome->hash += job->hash;
        props_coverage_add(&outcome->cover, &job->cover);
        props_pairs_add(&outcome->pairs, &job->pairs);
        if (job->failed && atomic_load(&job->seed) == failed) {
            outcome->end = PROPS_END_BROKEN;
            outcome->differed = job->differed;
        }
    }
    if (failed != UINT64_MAX)
        outcome->seed = failed;
}

bool
props_campaign_run(const struct props_campaign *campaign,
                   struct props_outcome *outcome)
{
    const size_t bytes =
        sizeof(struct shared_progress) + campaign->jobs * sizeof(struct job);
    const double start_seconds = now_seconds();
    struct shared_progress *progress = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool done;

    memset(outcome, 0, sizeof *outcome);
    if (progress == MAP_FAILED)
        return false;
    atomic_store(&progress->failed_seed, UINT64_MAX);
    done = start_jobs(campaign, progress) &&
           wait_for_jobs(campaign, progress, outcome);
    if (done)
        sum_up(campaign, progress, outcome);
    outcome->seconds = now_seconds() - start_seconds;
    munmap(progress, bytes);
    return done;
}
