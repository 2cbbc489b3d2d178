/*
 * test_start.c -- how the recorder begins in a process, with a stub of the log.
 *
 * A process reads its settings once, so each case runs in a child. In the test
 * program itself, the constructor of start.c finds that it is inside the
 * recorder, and does nothing, unless there is a folder for spools.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frames.h"
#include "in_child.h"
#include "recorder.h"
#include "stack.h"
#include "unwind.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define MIB UINT64_C(1048576)

enum { OTHER_DEPTH = 55 };

uint32_t embed_depth_max = OTHER_DEPTH;
bool embed_by_frames;
_Atomic uint32_t embed_awaited;

static char seen[16]; /* the calls made, a letter each */
static char seen_early[16];
static bool watched;
static bool has_no_map, has_no_stacks, has_no_spool, enters_amid;
static int yields, yields_until;
static uint32_t phase_then; /* the phase that another thread sets meanwhile */
static uint64_t drops[EMBED_DROP_COUNT];
static uint64_t memory_limit; /* 0: unknown */
static const void *wiped, *unmapped;

static void
note(char what)
{
    const size_t count = strlen(seen);

    errno = 99;
    if (count < sizeof seen - 1)
        seen[count] = what;
}

/* Runs before the constructor of start.c. */
__attribute__((constructor(101))) static void
begin_inside(void)
{
    embed_inside = getenv(EMBED_ENV_SPOOL) == NULL;
}

/* ---- what start.c calls ---- */

bool
embed_stacks_start(void)
{
    note('s');
    if (enters_amid) { /* another thread does */
        embed_inside = false;
        CHECK(!embed_enter());
        CHECK(!embed_inside);
        embed_inside = true;
    }
    return !has_no_stacks;
}

void
embed_unwind_start(void)
{
    note('u');
}

void
embed_fork_start(void)
{
    note('f');
}

void
embed_fork_leave(void)
{
    CHECK(embed_inside);
    note('l');
    embed_self.orphan = false;
}

bool
embed_spool_open(void)
{
    CHECK(embed_inside);
    CHECK(atomic_load(&embed_state->phase) == EMBED_STARTING);
    note(atomic_load(&embed_generation) != 0 ? 'o' : 'O');
    return !has_no_spool;
}

void
embed_drop(enum embed_cause cause)
{
    drops[cause]++;
}

void
embed_locks_resolve(void)
{
    CHECK(embed_inside);
    note('L');
}

void
embed_heap_resolve(void)
{
    note('H');
}

void
embed_names_resolve(void)
{
    CHECK(embed_inside);
    note('N');
}

/* ---- the system ---- */

int __wrap_sched_yield(void);
int
__wrap_sched_yield(void)
{
    if (++yields == yields_until)
        atomic_store(&embed_state->phase, phase_then);
    errno = 98;
    return 0;
}

int __wrap_getrlimit(int which, struct rlimit *to);
int
__wrap_getrlimit(int which, struct rlimit *to)
{
    CHECK(which == RLIMIT_AS);
    to->rlim_cur = memory_limit;
    return memory_limit != 0 ? 0 : -1;
}

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *
__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t from)
{
    if (watched && has_no_map)
        return MAP_FAILED;
    CHECK(!watched || bytes >= sizeof(struct embed_state));
    CHECK(!watched || flags == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
    return __real_mmap(at, bytes, rights, flags, file, from);
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int
__wrap_munmap(void *at, size_t bytes)
{
    CHECK(bytes == sizeof(struct embed_state));
    unmapped = at;
    return __real_munmap(at, bytes);
}

int __wrap_madvise(void *at, size_t bytes, int advice);
int
__wrap_madvise(void *at, size_t bytes, int advice)
{
    CHECK(bytes == sizeof(struct embed_state));
    CHECK(advice == MADV_WIPEONFORK);
    wiped = at;
    return -1; /* an old kernel */
}

/* ---- settings ---- */

/* Enter the recorder, as for the first event of a process. */
static bool
enter_first(void)
{
    bool entered;

    memset(seen, 0, sizeof seen);
    watched = true;
    embed_inside = false;
    errno = 7;
    entered = embed_enter();
    CHECK(embed_inside == entered && (entered || errno == 7));
    return entered;
}

static void
leave(void)
{
    embed_leave();
    CHECK(!embed_inside);
}

static const struct setting {
    const char *name, *text;
    uint64_t want;
} settings[] = {{EMBED_ENV_LIMIT, NULL, 512 * MIB},
                {EMBED_ENV_LIMIT, "", 512 * MIB},
                {EMBED_ENV_LIMIT, "1000", 1000},
                {EMBED_ENV_LIMIT, "0012/", 512 * MIB},
                {EMBED_ENV_LIMIT, "12:", 512 * MIB},
                {EMBED_ENV_LIMIT, "-1", 512 * MIB},
                {EMBED_ENV_LIMIT, "18446744073709551615", UINT64_MAX},
                {EMBED_ENV_DEVICE, "64770", 64770},
                {EMBED_ENV_INODE, "4294967299", UINT64_C(4294967299)},
                {EMBED_ENV_INODE, NULL, 0},
                {EMBED_ENV_DEVICE, NULL, 0},
                {EMBED_ENV_DEPTH, NULL, 32},
                {EMBED_ENV_DEPTH, "0", OTHER_DEPTH},
                {EMBED_ENV_DEPTH, "1", 1},
                {EMBED_ENV_DEPTH, "128", EMBED_DEPTH_MAX},
                {EMBED_ENV_DEPTH, "129", OTHER_DEPTH},
                {EMBED_ENV_DEPTH, "4294967297", OTHER_DEPTH},
                {EMBED_ENV_USABLE, NULL, 0},
                {EMBED_ENV_USABLE, "1", 1},
                {EMBED_ENV_USABLE, "2", 0},
                {EMBED_ENV_FRAMES, NULL, 0},
                {EMBED_ENV_FRAMES, "1", EMBED_FRAMES_OFFERED},
                {EMBED_ENV_FRAMES, "2", 0}};

static const struct setting *setting;

static uint64_t
value_of(const char *name)
{
    if (strcmp(name, EMBED_ENV_LIMIT) == 0)
        return embed_config.limit_bytes;
    if (strcmp(name, EMBED_ENV_DEVICE) == 0)
        return embed_config.device;
    if (strcmp(name, EMBED_ENV_INODE) == 0)
        return embed_config.inode;
    if (strcmp(name, EMBED_ENV_DEPTH) == 0)
        return embed_depth_max;
    return strcmp(name, EMBED_ENV_USABLE) == 0 ? embed_config.asks_usable
                                               : embed_by_frames;
}

static void
read_setting(void)
{
    if (setting->text != NULL)
        setenv(setting->name, setting->text, 1);
    CHECK(enter_first() && strcmp(embed_config.directory, "/spools") == 0);
    CHECK(value_of(setting->name) == setting->want);
}

TEST(settings_are_read_from_the_environment)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setting = &settings[i];
        expect_in_child(read_setting);
    }
}

static size_t folder_bytes;

static void
name_folder(void)
{
    char name[512] = "/";

    memset(name + 1, 'x', folder_bytes - 1);
    setenv(EMBED_ENV_SPOOL, name, 1);
    CHECK(enter_first() == (folder_bytes < sizeof embed_config.directory));
    CHECK(!embed_inside || strcmp(embed_config.directory, name) == 0);
}

static void
name_no_folder(void)
{
    unsetenv(EMBED_ENV_SPOOL);
    CHECK(!enter_first());
    setenv(EMBED_ENV_SPOOL, "/spools", 1);
    CHECK(!enter_first()); /* the settings were read before */
    CHECK(seen[0] == '\0' && drops[EMBED_DROP_EARLY] == 0);
}

TEST(without_a_folder_there_is_no_log)
{
    for (folder_bytes = 398; folder_bytes < 402; folder_bytes++)
        expect_in_child(name_folder);
    expect_in_child(name_no_folder);
}

/* ---- beginning ---- */

static void
begin_once(void)
{
    CHECK(strcmp(seen_early, "LHN") == 0);
    CHECK(drops[EMBED_DROP_INSIDE] == 1); /* counted by the constructor */
    CHECK(enter_first());
    CHECK(strcmp(seen, "sufo") == 0);
    CHECK(atomic_load(&embed_generation) == 1);
    CHECK(embed_state == wiped && unmapped == NULL);
    CHECK(embed_is_on());
    CHECK(!embed_enter());
    CHECK(embed_inside && drops[EMBED_DROP_INSIDE] == 2);
    leave();
    CHECK(embed_enter());
    CHECK(strcmp(seen, "sufo") == 0 && atomic_load(&embed_generation) == 1);
    leave();
    CHECK(drops[EMBED_DROP_EARLY] == 0);
}

/* A child's log has the settings of its parent, even if the environment has
 * changed since. */
static void
begin_again(void)
{
    CHECK(enter_first());
    leave();
    setenv(EMBED_ENV_LIMIT, "5", 1);
    memset(embed_state, 0, sizeof *embed_state);
    CHECK(enter_first());
    CHECK(strcmp(seen, "o") == 0 && atomic_load(&embed_generation) == 2);
    CHECK(embed_config.limit_bytes == 512 * MIB);
    embed_self.orphan = true;
    leave();
    CHECK(strcmp(seen, "ol") == 0 && embed_enter());
    leave();
    CHECK(strcmp(seen, "ol") == 0);
}

static void
begin_amid(void)
{
    enters_amid = true;
    CHECK(enter_first() && strcmp(seen, "sufo") == 0);
}

static void
begin_in_the_constructor(void)
{
    execl("/proc/self/exe", "test_start", NULL); /* there is a folder now */
    CHECK(false);
}

static void
begin_early(void)
{
    char **const environment = environ;

    environ = NULL;
    CHECK(!enter_first());
    CHECK(drops[EMBED_DROP_EARLY] == 1);
    environ = environment;
    CHECK(enter_first() && drops[EMBED_DROP_EARLY] == 1);
}

TEST(a_log_begins_once_in_a_process)
{
    expect_in_child(begin_once);
    expect_in_child(begin_again);
    expect_in_child(begin_amid);
    expect_in_child(begin_early);
    expect_in_child(begin_in_the_constructor);
}

/* ---- resources that are short ---- */

static void
expect_no_log(const char *want)
{
    CHECK(!enter_first());
    CHECK(strcmp(seen, want) == 0);
    has_no_map = has_no_stacks = has_no_spool = false;
    CHECK(!enter_first());
    CHECK(seen[0] == '\0' && drops[EMBED_DROP_EARLY] == 0);
}

static void
be_without_map(void)
{
    has_no_map = true;
    expect_no_log("");
    CHECK(embed_state == NULL);
}

static void
be_without_stacks(void)
{
    has_no_stacks = true;
    expect_no_log("s");
    CHECK(embed_state == NULL && unmapped != NULL);
}

static void
be_without_spool(void)
{
    has_no_spool = true;
    expect_no_log("sufo");
    CHECK(atomic_load(&embed_state->phase) == EMBED_OFF);
}

static void
be_confined(void)
{
    atomic_store(&embed_confinements, 1);
    expect_no_log("suf");
    CHECK(atomic_load(&embed_state->phase) == EMBED_OFF);
}

TEST(what_cannot_begin_is_off)
{
    expect_in_child(be_without_map);
    expect_in_child(be_without_stacks);
    expect_in_child(be_without_spool);
    expect_in_child(be_confined);
}

static const struct memory {
    uint64_t limit, wanted, got; /* 0: no log */
} memories[] = {
    {0, 512 * MIB, 512 * MIB},         {RLIM_INFINITY, 512 * MIB, 512 * MIB},
    {256 * MIB - 16, MIB, 0},          {256 * MIB, 512 * MIB, 8 * MIB},
    {256 * MIB, 8 * MIB, 8 * MIB},     {256 * MIB, 7 * MIB, 7 * MIB},
    {1024 * MIB, 512 * MIB, 56 * MIB}, {1024 * MIB, 56 * MIB + 1, 56 * MIB}};
static const struct memory *memory;

/* The log gets at most a sixteenth of the memory that the process may have,
 * minus 8 MiB for the recorder's own data. */
static void
be_short_of_memory(void)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)memory->wanted);
    setenv(EMBED_ENV_LIMIT, text, 1);
    memory_limit = memory->limit;
    CHECK(enter_first() == (memory->got != 0));
    CHECK(memory->got == 0 || embed_config.limit_bytes == memory->got);
}

TEST(a_program_keeps_the_memory_it_may_have)
{
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        memory = &memories[i];
        expect_in_child(be_short_of_memory);
    }
}

/* ---- while another thread begins the recorder ---- */

static void
wait_for_another(void)
{
    CHECK(enter_first());
    leave();
    for (phase_then = EMBED_ON; phase_then <= EMBED_OFF; phase_then++) {
        atomic_store(&embed_state->phase, EMBED_STARTING);
        yields = 0;
        yields_until = 5;
        CHECK(enter_first() == (phase_then == EMBED_ON));
        CHECK(yields == 5);
        embed_inside = false;
    }
    atomic_store(&embed_state->phase, EMBED_STARTING);
    yields_until = yields = 0;
    CHECK(!enter_first()); /* it waits only a limited time */
    CHECK(yields == 1000000 && seen[0] == '\0');
}

TEST(who_comes_meanwhile_waits_for_the_first)
{
    expect_in_child(wait_for_another);
}

static int
begin(void **state)
{
    (void)state;
    memcpy(seen_early, seen, sizeof seen);
    assert_true(embed_inside); /* the constructor ran inside */
    setenv(EMBED_ENV_SPOOL, "/spools", 1);
    return 0;
}

int
main(void)
{
    if (getenv(EMBED_ENV_SPOOL) != NULL)
        _exit(strcmp(seen, "LHNsufo") != 0 || embed_inside);
    return tests_run(begin, NULL);
}
