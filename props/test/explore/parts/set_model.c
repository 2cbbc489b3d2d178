/* set_model.c -- see set_model.h. */
#include "set_model.h"

#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choice.h"
#include "need.h"
#include "unit_test.h"
#include "visited.h"

enum { KEYS = 25 * 36 };

static uint64_t state;

static uint32_t
below(uint32_t count)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % count;
}

/* Key i: many have the same lower half, which says where a search begins: at
 * the first slots or the last ones. The upper half chooses one of four tables.
 */
static void
key_of(uint32_t i, uint64_t key[2])
{
    static const uint64_t low[] = {0,    1,    62,         63,
                                   1023, 2047, UINT64_MAX, 1 << 9};
    static const uint64_t table[] = {0, 1, 128, 255};

    key[0] = i % 9 == 8 ? sim_mix64(i) : low[i % 9];
    key[1] = table[i / 9 % 4] << 56 | (i / 36 + (i % 9 == 0));
}

/* The number of a key, or KEYS. */
static uint32_t
number_of(const uint64_t key[2])
{
    const uint32_t row = (uint32_t)(key[1] & 0xff) - (key[0] == 0);
    uint64_t like[2];

    for (uint32_t i = row * 36; i < row * 36 + 36 && i < KEYS; i++) {
        key_of(i, like);
        if (memcmp(key, like, sizeof like) == 0)
            return i;
    }
    return KEYS;
}

struct model {
    struct sim_visited set;
    uint8_t has[KEYS];
    uint32_t count;
    uint32_t count_max;
    bool full;
    uint64_t slots_before; /* it was cleared */
};

static void
take_key(void *context, const uint64_t key[2])
{
    struct model *m = context;
    const uint32_t i = number_of(key);

    assert_in_range(i, 0, KEYS - 1);
    assert_int_equal(m->has[i], 1); /* it is in the set, and told once */
    m->has[i] = 2;
}

/* Each key is passed on once. */
static void
check_each(struct model *m)
{
    sim_visited_each(&m->set, take_key, m);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_not_equal(m->has[i], 1);
        m->has[i] = m->has[i] != 0;
    }
}

/* A table of 1,024 slots doubles when one more key comes and it is 3/4 full. */
static uint64_t
slots_for(const struct model *m)
{
    uint64_t slots = 1024;

    while (slots < m->slots_before || m->count > slots / 4 * 3)
        slots *= 2;
    return slots;
}

static void
try_calls(struct model *m, uint32_t calls)
{
    while (calls-- > 0) {
        const uint32_t i = below(KEYS);
        uint64_t key[3] = {0, 0, sim_mix64(calls)}; /* two words of it */

        key_of(i, key);
        assert_int_equal(sim_visited_contains(&m->set, key), m->has[i]);
        if (below(3) == 0)
            continue;
        assert_int_equal(sim_visited_insert(&m->set, key), m->has[i]);
        if (!m->has[i] && m->count == m->count_max)
            m->full = true;
        else if (!m->has[i])
            m->count += m->has[i] = 1;
        assert_int_equal(m->set.full, m->full);
        assert_int_equal(sim_visited_count(&m->set), m->count);
        assert_true(m->set.shared != NULL || m->set.slots == slots_for(m));
    }
}

static size_t
allocated(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Has the process no memory at this address? */
static bool
is_unmapped(void *at)
{
    uint8_t page;

    return mincore(at, 4096, &page) != 0;
}

static void
clear(struct model *m)
{
    void *at = m->set.shared;

    m->slots_before = m->set.slots;
    sim_visited_clear(&m->set);
    assert_true(at == NULL || m->set.shared == at || is_unmapped(at));
    memset(m->has, 0, sizeof m->has);
    m->count = 0;
    m->full = false;
    check_each(m);
}

void
set_model_try(bool shared, uint64_t seed)
{
    static struct model m;
    const size_t before = allocated();
    void *at;

    memset(&m, 0, sizeof m);
    state = seed;
    m.count_max = seed % 3 == 0 ? KEYS : 1 + below(KEYS);
    (shared ? sim_visited_init_shared : sim_visited_init)(&m.set, m.count_max);
    for (uint32_t i = 0; i < 2; i++) {
        try_calls(&m, 3000);
        check_each(&m);
        clear(&m);
    }
    assert_int_equal(m.set.count_max, m.count_max);
    at = m.set.shared;
    sim_visited_close(&m.set);
    assert_null(m.set.keys);
    assert_null(m.set.shared);
    assert_true(at == NULL || is_unmapped(at));
    assert_int_equal(allocated(), before);
}

/* First keys whose halves are the same, then keys that have the same lower
 * half: the table grows when one of these comes. */
void
set_model_halves(bool shared)
{
    const uint64_t half = KEYS / 2;
    struct sim_visited set;

    (shared ? sim_visited_init_shared : sim_visited_init)(&set, KEYS);
    for (uint64_t i = 0; i < KEYS; i++) {
        const uint64_t low = i % half + 1;
        const uint64_t key[3] = {low, low + i / half * KEYS, low};

        assert_false(sim_visited_insert(&set, key));
    }
    for (uint64_t i = 1; i <= half; i++) {
        assert_true(sim_visited_contains(&set, (uint64_t[]){i, i}));
        assert_true(sim_visited_contains(&set, (uint64_t[]){i, i + KEYS}));
    }
    sim_visited_close(&set);
}

/* ---- Two processes ---- */

enum { RACED = 20000, RACED_TOGETHER = 2000 };

/* All keys are in the same table. */
static void
raced_key(uint64_t i, uint64_t key[2])
{
    key[0] = sim_mix64(i + 1);
    key[1] = UINT64_C(3) << 56 | i;
}

struct race {
    _Atomic uint32_t ready;
    uint64_t found;
};

/* returns: how many keys were new */
static uint64_t
insert_raced(struct sim_visited *set, struct race *race)
{
    uint64_t key[2];
    uint64_t found = 0;

    race->ready++;
    while (race->ready < 2) /* until both are here; alarm() ends it */
        sched_yield();
    for (uint64_t i = 0; i < RACED_TOGETHER; i++) {
        raced_key(i, key);
        found += !sim_visited_insert(set, key);
        if (i % 64 == 0)
            assert_true(sim_visited_contains(set, key));
    }
    return found;
}

void
set_model_race(void)
{
    struct sim_visited set;
    struct race *race = mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t found;
    int status;
    pid_t child;

    assert_true(race != MAP_FAILED);
    sim_visited_init_shared(&set, RACED_TOGETHER);
    alarm(60); /* seconds; ends a process that waits for a lock for ever */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        race->found = insert_raced(&set, race);
        _exit(0);
    }
    found = insert_raced(&set, race);
    assert_int_equal(waitpid(child, &status, 0), child);
    alarm(0);
    assert_int_equal(status, 0);
    assert_int_equal(found + race->found, RACED_TOGETHER);
    assert_int_equal(sim_visited_count(&set), RACED_TOGETHER);
    sim_visited_close(&set);
    munmap(race, sizeof *race);
}

/* ---- Memory ---- */

/* How many bytes of the mapping from `at` on are in memory? */
static size_t
resident(void *at, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = malloc(bytes / page);
    size_t count = 0;

    assert_non_null(pages);
    assert_int_equal(mincore(at, bytes, pages), 0);
    for (size_t i = 0; i < bytes / page; i++)
        count += pages[i] & 1;
    free(pages);
    return count * page;
}

/* After n keys of one table it has 4 / 3 n to 8 / 3 n slots of 16 bytes. All
 * rooms that it has had would be twice as much. */
void
set_model_memory(void)
{
    const size_t mapped = (size_t)1 << 24;
    struct sim_visited set;
    size_t slots = 1;
    uint64_t key[2];

    sim_visited_init_shared(&set, RACED);
    assert_true(resident(set.shared, mapped) <= 1 << 16);
    for (uint64_t i = 0; i < RACED; i++) {
        raced_key(i, key);
        assert_false(sim_visited_insert(&set, key));
    }
    while (slots * 3 / 4 < RACED)
        slots *= 2;
    assert_true(resident(set.shared, mapped) <= slots * 16 + (1 << 16));
    sim_visited_close(&set);
}

/* The process may take no more memory: the exit code says what was wrong. */
static int
fill(struct sim_visited *set)
{
    const struct rlimit none = {1 << 20, 1 << 20};
    uint64_t key[2];
    uint64_t count = 0;

    setrlimit(RLIMIT_AS, &none);
    while (count < 1 << 21 && !set->full) {
        raced_key(count, key);
        if (sim_visited_insert(set, key))
            return 1;
        count += !set->full;
    }
    if (!set->full || sim_visited_count(set) != count || count == 0)
        return 2;
    raced_key(count, key);
    if (sim_visited_contains(set, key) || sim_visited_insert(set, key))
        return 3;
    for (uint64_t i = 0; i < count; i++) {
        raced_key(i, key);
        if (!sim_visited_contains(set, key) || !sim_visited_insert(set, key))
            return 4;
    }
    return 0;
}

static void
refuse_a_set(void)
{
    struct sim_visited set;
    int status;
    pid_t child;

    sim_visited_init(&set, 1 << 22);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(fill(&set));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    sim_visited_close(&set);
}

/* Need it in a child whose standard error is a pipe, or is closed.
 * out: text, what the child wrote. returns: its exit code */
static int
code_of_need(void *memory, bool with_stderr, char *text, size_t text_bytes)
{
    int ends[2];
    int status;
    ssize_t bytes;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        if (with_stderr)
            dup2(ends[1], STDERR_FILENO);
        sim_need(memory);
        _exit(0);
    }
    close(ends[1]);
    bytes = read(ends[0], text, text_bytes - 1);
    assert_true(bytes >= 0);
    text[bytes] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void
set_model_refused(void)
{
    char text[64];

    refuse_a_set();
    assert_ptr_equal(sim_need(text), text);
    for (int open = 0; open < 2; open++) {
        const char *want = open ? "profsim: not enough memory\n" : "";

        assert_int_equal(code_of_need(NULL, open, text, sizeof text), 1);
        assert_string_equal(text, want);
        assert_int_equal(code_of_need(MAP_FAILED, open, text, sizeof text), 1);
        assert_string_equal(text, want);
    }
}

/* A table has at most 8/3 slots of 16 bytes for a key, and the rooms that it
 * has left took as much. */
void
set_model_room(void)
{
    const uint64_t most = UINT64_C(1) << 26;
    const uint64_t bytes = most * 16 * 16 / 3;
    struct sim_visited set;
    void *last;

    sim_visited_init_shared(&set, most);
    last = (char *)set.shared + (bytes - 1) / 4096 * 4096;
    assert_int_equal(msync(last, 1, MS_ASYNC), 0); /* it is mapped */
    sim_visited_close(&set);
}
