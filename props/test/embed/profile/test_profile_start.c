/*
 * test_profile_start.c -- how the malloc profiler begins, forks and ends, with
 * stubs of all its other parts. start_stubs.h explains the letters.
 *
 * The profiler begins once in a process, so each case runs in a child. In the
 * test program itself the constructor of start.c finds a profiler that is off;
 * with $BEGIN_EARLY, one that is on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in_child.h"
#include "stack.h"
#include "start_stubs.h"
#include "table.h"

#define STUBS start_stubs

static char seen_early[64];
static bool must_end, must_not_end;

/* Runs before the constructor of start.c. */
__attribute__((constructor(101))) static void
begin_off(void)
{
    if (getenv("BEGIN_EARLY") == NULL)
        atomic_store(&profile.phase, PROFILE_OFF);
}

/* ---- beginning ---- */

static const char all[] = "SmiutfRc";

static bool
begin(void)
{
    bool begun;

    memset(STUBS.seen, 0, sizeof STUBS.seen);
    errno = 5;
    begun = profile_begin();
    CHECK(errno == 5);
    CHECK(begun == profile_is_on());
    return begun;
}

/* Begin, as in a process where the profiler has not begun. */
static bool
begin_first(void)
{
    atomic_store(&profile.phase, PROFILE_FRESH);
    return begin();
}

static void
begin_once(void)
{
    CHECK(strcmp(seen_early, "LHT") == 0); /* by the constructor */
    STUBS.begins_amid = true;
    CHECK(begin_first());
    CHECK(!embed_inside);
    CHECK(strcmp(STUBS.seen, all) == 0);
    CHECK(profile.process == STUBS.own);
    CHECK(embed_depth_max == PROFILE_DEPTH_MAX);
    CHECK(begin() && STUBS.seen[0] == '\0');
    CHECK(STUBS.config.buckets_max == 32768 &&
          STUBS.config.frames_max == 655360);
    CHECK(STUBS.config.depth_max == PROFILE_DEPTH_MAX &&
          STUBS.config.procs_max == START_PROCS);
    CHECK(STUBS.config.world == PROF_WORLD_RUNNING);
    CHECK(STUBS.rules.waiters == PROF_WAITERS_ALL &&
          STUBS.rules.sizing_consumes_first);
    CHECK(STUBS.in_parent == table_after_fork &&
          STUBS.before_fork == table_before_fork);
}

static void
begin_inside(void)
{
    embed_inside = true;
    CHECK(begin_first());
    CHECK(embed_inside);
}

static void
begin_without_environment(void)
{
    char **const environment = environ;

    environ = NULL;
    CHECK(!begin_first() && STUBS.seen[0] == '\0');
    environ = environment;
    CHECK(begin());
}

static void
begin_in_the_constructor(void)
{
    setenv("BEGIN_EARLY", "1", 1);
    execl("/proc/self/exe", "test_profile_start", NULL);
    CHECK(false);
}

TEST(a_profiler_begins_once)
{
    expect_in_child(begin_once);
    expect_in_child(begin_inside);
    expect_in_child(begin_without_environment);
    expect_in_child(begin_in_the_constructor);
}

static const char *refused_calls; /* the calls up to the one that is refused */

static void
be_refused(void)
{
    STUBS.fails_at = refused_calls[strlen(refused_calls) - 1];
    CHECK(!begin_first());
    CHECK(strcmp(STUBS.seen, refused_calls) == 0);
    CHECK(atomic_load(&profile.phase) == PROFILE_OFF && !embed_inside);
    CHECK(!begin() && STUBS.seen[0] == '\0');
}

TEST(what_cannot_begin_is_off)
{
    static const char *const rows[] = {"S", "Sm", "Smi"};

    for (size_t i = 0; i < 3; i++) {
        refused_calls = rows[i];
        expect_in_child(be_refused);
    }
}

/* ---- settings ---- */

static const struct setting {
    const char *name, *text;
    int64_t want;
} settings[] = {{PROFILE_ENV_HEAP, NULL, PROF_HEAP_RATE_DEFAULT},
                {PROFILE_ENV_HEAP, "", PROF_HEAP_RATE_DEFAULT},
                {PROFILE_ENV_HEAP, "0", 0},
                {PROFILE_ENV_HEAP, "1", 1},
                {PROFILE_ENV_HEAP, "5000000000", INT64_C(5000000000)},
                {PROFILE_ENV_HEAP, "12x", PROF_HEAP_RATE_DEFAULT},
                {PROFILE_ENV_HEAP, "010", 10},
                {PROFILE_ENV_HEAP, "0x10", PROF_HEAP_RATE_DEFAULT},
                {PROFILE_ENV_HEAP, "-1", PROF_HEAP_RATE_DEFAULT},
                {PROFILE_ENV_MUTEX, NULL, 1},
                {PROFILE_ENV_MUTEX, "6", 6},
                {PROFILE_ENV_BLOCK, NULL, 0},
                {PROFILE_ENV_BLOCK, "10000000000", INT64_C(10000000000)},
                {PROFILE_ENV_CPU, NULL, 0},
                {PROFILE_ENV_CPU, "100", 100},
                {PROFILE_ENV_CPU, "100000", 100000},
                {PROFILE_ENV_EVERY, NULL, 0},
                {PROFILE_ENV_EVERY, "60", 60},
                {PROFILE_ENV_EVERY, "100000", 100000},
                {PROFILE_ENV_NO_AGENT, NULL, 1},
                {PROFILE_ENV_NO_AGENT, "0", 1},
                {PROFILE_ENV_NO_AGENT, "1", 0}};
static const struct setting *setting;

static int64_t
value_of(const char *name)
{
    if (strcmp(name, PROFILE_ENV_HEAP) == 0)
        return profile.config.heap_rate_bytes;
    if (strcmp(name, PROFILE_ENV_MUTEX) == 0)
        return profile.config.mutex_fraction;
    if (strcmp(name, PROFILE_ENV_BLOCK) == 0)
        return profile.config.block_rate_ns;
    if (strcmp(name, PROFILE_ENV_CPU) == 0)
        return profile.config.cpu_hz;
    return strcmp(name, PROFILE_ENV_EVERY) == 0 ? profile.config.every_s
                                                : profile.config.has_agent;
}

static void
read_setting(void)
{
    if (setting->text != NULL)
        setenv(setting->name, setting->text, 1);
    CHECK(begin_first());
    CHECK(value_of(setting->name) == setting->want);
    CHECK(STUBS.heap_rate == profile.config.heap_rate_bytes);
    CHECK(STUBS.mutex_fraction == profile.config.mutex_fraction);
    CHECK(STUBS.block_rate == profile.config.block_rate_ns);
    CHECK(strcmp(profile.config.folder, "") == 0);
}

static size_t folder_bytes;

static void
name_folder(void)
{
    char name[512] = "";

    memset(name, 'x', folder_bytes);
    setenv(PROFILE_ENV_FOLDER, name, 1);
    CHECK(begin_first() == (folder_bytes < PROFILE_FOLDER_MAX));
    CHECK(!profile_is_on() || strcmp(profile.config.folder, name) == 0);
}

TEST(settings_are_read_from_the_environment)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setting = &settings[i];
        expect_in_child(read_setting);
    }
    for (folder_bytes = 398; folder_bytes < 402; folder_bytes++)
        expect_in_child(name_folder);
}

/* ---- forks ---- */

pid_t _Fork(void); /* newer than some headers */

static void
go_on(const char *want)
{
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    profile.cpu = (struct prof_cpu *)(void *)&STUBS.the_prof;
    STUBS.in_child();
    CHECK(strcmp(STUBS.seen, want) == 0);
    CHECK(profile.cpu == NULL); /* timers are not inherited */
}

/* In a child each processor gets a seed that neither it nor another processor
 * had before, in any process. */
static void
expect_other_seeds(void)
{
    static uint64_t before[START_PROCS];

    memcpy(before, STUBS.seeds, sizeof before);
    go_on(")wdsrgphax");
    for (size_t i = 0; i < START_PROCS; i++) {
        CHECK(i == 0 || STUBS.seeds[i] != STUBS.seeds[i - 1]);
        for (size_t k = 0; k < START_PROCS; k++)
            CHECK(STUBS.seeds[i] != before[k]);
    }
}

static void
fork_outside(void)
{
    CHECK(begin_first());
    STUBS.seeds[0] = STUBS.config.seed;
    STUBS.own++; /* another process, forked at the same time */
    expect_other_seeds();
    STUBS.own++;
    expect_other_seeds();
    CHECK(!embed_inside && profile_is_on());
    CHECK(atomic_load(&profile.is_idle_child));
    STUBS.clock_ns += 1000; /* later, a process with the same number */
    expect_other_seeds();
    STUBS.clock_ns += 1000000000;
    expect_other_seeds();
    STUBS.had_others = true;
    go_on(")wdsrgphnx"); /* a lock of theirs may be held */
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    STUBS.in_child(); /* without a CPU profile */
    CHECK(strcmp(STUBS.seen, ")wdsrgphn") == 0);
}

static void
fork_inside(void)
{
    CHECK(begin_first());
    embed_inside = true;
    go_on(")wdsrhn");
    CHECK(embed_inside);
    CHECK(atomic_load(&profile.phase) == PROFILE_OFF);
    embed_inside = false;
    go_on(")wdsr");
}

/* Fork in a signal handler, before and after the profiler began. */
static void
fork_in_a_handler(void)
{
    CHECK(_Fork() == 1);
    CHECK(strcmp(STUBS.seen + strlen("LHT"), "R(F)") == 0);
    CHECK(begin_first());
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    CHECK(_Fork() == 1);
    CHECK(strcmp(STUBS.seen, "(F)") == 0);
    STUBS.forked = -1;
    CHECK(_Fork() == -1);
    CHECK(strcmp(STUBS.seen, "(F)(F)") == 0);
    STUBS.forked = 0;
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    CHECK(_Fork() == 0);
    CHECK(strcmp(STUBS.seen, "(F)wdsrgpha") == 0);
}

TEST(a_child_goes_on_with_numbers_of_its_own)
{
    expect_in_child(fork_outside);
}

TEST(a_child_of_an_interrupted_profiler_has_none)
{
    expect_in_child(fork_inside);
    expect_in_child(fork_in_a_handler);
}

/* ---- ending ---- */

/* Runs after the destructor of start.c. */
__attribute__((destructor(101))) static void
look_at_end(void)
{
    int cancelling;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancelling);
    if (must_end)
        _exit(strcmp(STUBS.seen, "E") != 0 ||
              cancelling != PTHREAD_CANCEL_ENABLE);
    if (must_not_end)
        _exit(STUBS.seen[0] != '\0');
}

static const char *end_folder;

static void
end_with_files(void)
{
    CHECK(begin_first());
    strcpy(profile.config.folder, end_folder);
    must_end = end_folder[0] == '/';
    must_not_end = !must_end;
    embed_inside = end_folder[0] == '!';
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    exit(2);
}

static void
end_off(void)
{
    strcpy(profile.config.folder, "!");
    must_not_end = true;
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    exit(2);
}

TEST(who_ends_writes_files_where_there_is_a_folder)
{
    end_folder = "/";
    expect_in_child(end_with_files);
    end_folder = "!"; /* in a handler that interrupted the profiler */
    expect_in_child(end_with_files);
    end_folder = ""; /* there is nowhere to write to */
    expect_in_child(end_with_files);
    expect_in_child(end_off);
}

static int
keep_early(void **state)
{
    (void)state;
    memcpy(seen_early, STUBS.seen, sizeof STUBS.seen);
    return 0;
}

int
main(void)
{
    if (getenv("BEGIN_EARLY") != NULL)
        _exit(strcmp(STUBS.seen, "LHTSmiutfRcWA") != 0 || embed_inside);
    return tests_run(keep_early, NULL);
}
