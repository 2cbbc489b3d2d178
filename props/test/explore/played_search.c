/* played_search.c -- see played_search.h. */
#include "played_search.h"
#include "cases.h"
#include "textbook.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

void
played_search_begin(struct played_search *p, enum played_says what)
{
    memset(p, 0, sizeof *p);
    p->options.jobs = 3;
    p->options.alone_ms = 1;
    p->search = (struct sim_search){.kernel = fixtures_counter(4),
                                    .options = &p->options,
                                    .result = &p->result,
                                    .reduced = true};
    sim_search_begin(&p->search);
    sim_control_begin(&p->control, &p->search);
    played_open(what);
}

void
played_search_end(struct played_search *p)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    if (played->shared_memory != NULL) {
        assert_int_equal(msync(played->shared_memory, 1, MS_ASYNC), -1);
        assert_int_equal(errno, ENOMEM);
    }
    assert_int_equal(played_files(), played->files);
    assert_int_equal(played->crowded, 0);
    sim_frontier_free(&p->control.frontier);
    sim_search_end(&p->search);
    munmap(played, sizeof *played);
    played = NULL;
}

/* Its parent ignores the signals next to SIGKILL, and does not wait for its
 * children. */
void
played_search_fails(void)
{
    FILE *file = tmpfile();
    struct played_search p;

    assert_non_null(file);
    assert_int_equal(fputs("once", file) < 0, 0);
    played_search_begin(&p, PLAYED_HAS_FAILED);
    p.result.failures = 3; /* counted before */
    signal(SIGKILL + 1, SIG_IGN);
    signal(SIGKILL - 1, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
    signal(SIGKILL + 1, SIG_DFL);
    signal(SIGKILL - 1, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(played->outlived, 0);
    assert_string_equal(p.result.difference, "two runs differ");
    assert_string_equal(p.result.first_failure.failure.text, "it is wrong");
    assert_int_equal(p.result.failures, 3);
    assert_int_equal(p.result.options.unroll, 3);
    assert_true(p.result.found_by_sampling);
    assert_true(p.search.reduced);
    assert_int_equal(p.result.choices_count, 2);
    assert_int_equal(p.result.choices[0].value, 3);
    assert_int_equal(p.result.choices[1].value, 2);
    free(p.result.choices);
    played_search_end(&p);
    fflush(file);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), strlen("once"));
    fclose(file);
    played_search_begin(&p, PLAYED_HAS_NO_CHOICES);
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
    assert_string_equal(p.result.first_failure.failure.text, "short");
    assert_non_null(p.result.choices);
    for (uint32_t i = 0; i < sizeof p.result.difference; i++)
        assert_int_equal(p.result.difference[i], 'x');
    assert_string_equal(p.result.trouble, "");
    free(p.result.choices);
    played_search_end(&p);
}

/* Called when each worker has a part. */
static void
hear_all(void *context, const struct sim_progress *progress)
{
    (void)context;
    (void)progress;
    played->heard = true;
    for (uint32_t i = 0; i < 5000 && played->said < 3; i++)
        played_sleep(1000);
}

void
played_search_is_over(void)
{
    struct played_search p;
    struct sim_step step = {.choice = {.bound = 3}};
    uint32_t part;

    played_search_begin(&p, PLAYED_IS_OVER);
    part = sim_frontier_take(&p.control.frontier);
    sim_frontier_split(&p.control.frontier, part, &step, 1);
    sim_frontier_return(&p.control.frontier, part);
    p.options.progress = hear_all;
    p.control.look_us = 0;
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
    assert_int_equal(played->said, 3);
    assert_string_equal(p.result.difference, "A");
    played_search_end(&p);
}

/* It waits for its own processes alone. */
void
played_search_starts(void)
{
    const pid_t other = fork();
    struct played_search p;
    struct rlimit files;

    assert_true(other >= 0);
    if (other == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    played_search_begin(&p, PLAYED_SEARCHES);
    played->alone = true;
    played->forks_fail_from = 1;
    played->interrupts = 2;
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_DONE);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_string_equal(p.result.trouble, "");
    played_search_end(&p);
    played_search_begin(&p, PLAYED_SEARCHES);
    played->forks_fail_from = 0;
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
    assert_string_equal(p.result.trouble,
                        "no process could be started: Cannot allocate memory");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, files.rlim_max}), 0);
    assert_int_equal(sim_jobs_run(&p.control), SIM_SEARCH_OVER);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_string_equal(p.result.trouble,
                        "no process could be started: Too many open files");
    played_search_end(&p);
}
