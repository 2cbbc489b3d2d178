/* played_worker.c -- see played_worker.h. */
#include "played_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 64 }; /* that are counted */

struct played *played;
static enum played_says played_says;

uint32_t
played_files(void)
{
    uint32_t count = 0;

    for (int fd = 0; fd < FILES_MAX; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

void
played_open(enum played_says what)
{
    played_says = what;
    played = mmap(NULL, sizeof *played, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (played == MAP_FAILED)
        abort();
    played->files = played_files();
    played->forks_fail_from = UINT32_MAX;
}

static uint32_t
played_bound(const struct sim_step *path, uint32_t depth)
{
    uint64_t hash = 3;

    for (uint32_t i = 0; i < depth; i++)
        hash = sim_mix64(hash * 4 + path[i].choice.value);
    return 2 + (uint32_t)(sim_mix64(hash) % 3);
}

uint32_t
played_number(const struct sim_step *path)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < PLAYED_DEPTH; i++)
        number = number * 4 + path[i].choice.value;
    return number;
}

void
played_begin(struct sim_step *path, uint32_t from)
{
    for (uint32_t i = from; i < PLAYED_DEPTH; i++)
        path[i] = (struct sim_step){.choice = {.bound = played_bound(path, i)}};
}

bool
played_next(struct sim_step *path, uint32_t base)
{
    for (uint32_t i = PLAYED_DEPTH; i-- > base;) {
        if (++path[i].choice.value < path[i].choice.bound) {
            played_begin(path, i + 1);
            return true;
        }
    }
    return false;
}

static void
tell(int fd, enum sim_message_type type, const struct sim_step *path,
     uint32_t base, uint32_t to)
{
    uint8_t data[PLAYED_DEPTH * sizeof *path + PLAYED_DEPTH] = {0};
    const size_t bytes = (to - base) * sizeof *path;

    memcpy(data, path + base, bytes);
    if (!sim_message_send(fd, type, to - base, data, bytes + base))
        _exit(0);
}

/* returns: false if the part was given back */
static bool
obey(int fd, struct sim_slot *slot, struct sim_step *path, uint32_t *base)
{
    uint32_t open = *base;
    struct sim_message m;

    switch (
        (enum sim_request)atomic_exchange(&slot->request, SIM_REQUEST_NONE)) {
    case SIM_REQUEST_SHARE:
        played->shared++;
        while (open < PLAYED_DEPTH &&
               path[open].choice.value + 1 == path[open].choice.bound)
            open++;
        open = open < PLAYED_DEPTH ? open + 1 : *base;
        tell(fd, SIM_MESSAGE_SHARED, path, *base, open);
        *base = open;
        break;
    case SIM_REQUEST_SHOW:
        tell(fd, SIM_MESSAGE_SHOWN, path, *base, PLAYED_DEPTH);
        if (played_says == PLAYED_ENDS_PAUSED || !sim_message_receive(fd, &m))
            _exit(0);
        break;
    case SIM_REQUEST_STOP:
        tell(fd, SIM_MESSAGE_GIVEN, path, *base, PLAYED_DEPTH);
        return false;
    case SIM_REQUEST_NONE:
        break;
    }
    return true;
}

void
played_sleep(uint32_t us)
{
    const struct timespec t = {.tv_nsec = (long)us * 1000};

    nanosleep(&t, NULL);
}

/* Another process has nothing to do, so this one is asked to share. */
static void
expect_request(const struct sim_slot *slot)
{
    for (uint32_t i = 0; i < 5000; i++) {
        if (atomic_load(&slot->request) != SIM_REQUEST_NONE)
            return;
        played_sleep(1000);
    }
    played->unasked++;
}

static void
play_part(int fd, struct sim_slot *slot, bool slow,
          const struct sim_message *part)
{
    struct sim_step path[PLAYED_DEPTH];
    uint32_t base = part->count;

    memcpy(path, part->data, part->bytes);
    played_begin(path, base);
    atomic_store(&slot->share,
                 SIM_SHARE_ONE / 2); /* so much is done, it says */
    played->begun++;
    if (base == 0 && !played->alone)
        expect_request(slot);
    while (obey(fd, slot, path, &base)) {
        played->visits[played_number(path)]++;
        for (uint32_t i = 0; i < SIM_COUNT_COUNT; i++)
            slot->counts[i] += 1 + i;
        played_sleep(slow ? 2000 : 20);
        if (!played_next(path, base)) {
            tell(fd, SIM_MESSAGE_DONE, path, base, base);
            return;
        }
    }
}

static void
say_failed(int fd)
{
    const struct {
        struct sim_failed failed;
        struct sim_choice list[2];
    } failure = {.failed = {.run = {.failure = {.text = "it is wrong"}},
                            .options = {.unroll = 3},
                            .by_sampling = true},
                 .list = {{.bound = 4, .value = 3}, {.bound = 3, .value = 2}}};
    const struct sim_failed next = {.run = {.failure = {.text = "so is it"}}};

    sim_message_send(fd, SIM_MESSAGE_FAILED, 2, &failure, sizeof failure);
    sim_message_send(fd, SIM_MESSAGE_FAILED, 0, &next, sizeof next);
    sim_message_send(fd, SIM_MESSAGE_OVER, 0, "two runs differ", 16);
    for (uint32_t i = 0; i < 40; i++)
        played_sleep(500000); /* it does not hear that the search is over */
    played->outlived++;
}

static void
say_at_length(int fd)
{
    const struct sim_failed failed = {.run = {.failure = {.text = "short"}}};
    char text[SIM_FAILURE_TEXT_BYTES + 100];

    memset(text, 'x', sizeof text);
    sim_message_send(fd, SIM_MESSAGE_FAILED, 0, &failed, sizeof failed);
    sim_message_send(fd, SIM_MESSAGE_OVER, 0, text, sizeof text);
}

/* No worker is heard before all have said that it is over. */
static void
say_over(int fd, uint32_t number)
{
    const char text[] = {(char)('A' + number), '\0'};

    for (uint32_t i = 0; i < 5000 && !played->heard; i++)
        played_sleep(1000);
    sim_message_send(fd, SIM_MESSAGE_OVER, 0, text, sizeof text);
    played->said++;
}

static void
say(int fd, uint32_t number)
{
    static const uintptr_t sites[] = {0x10001, 0x20002, 0x30003};

    switch (played_says) {
    case PLAYED_HAS_LEARNED:
        sim_message_send(fd, SIM_MESSAGE_AGAIN,
                         played->learned | 5 << 2 | 4096 << 8, sites,
                         sizeof sites);
        break;
    case PLAYED_HAS_FAILED:
        say_failed(fd);
        break;
    case PLAYED_HAS_NO_CHOICES:
        say_at_length(fd);
        break;
    case PLAYED_IS_OVER:
        say_over(fd, number);
        break;
    case PLAYED_SEARCHES:
    case PLAYED_ENDS:
    case PLAYED_ENDS_IDLE:
    case PLAYED_ENDS_PAUSED:
        break;
    }
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);

static void
await_end(void)
{
    siginfo_t info;

    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
}

void
played_await_end(void)
{
    if (played_says == PLAYED_ENDS_PAUSED)
        await_end();
}

pid_t
__wrap_fork(void)
{
    pid_t child;

    if (played != NULL && played->forks++ >= played->forks_fail_from) {
        errno = ENOMEM;
        return -1;
    }
    child = __real_fork();
    if (child > 0 && played != NULL && played_says == PLAYED_ENDS_IDLE)
        await_end();
    return child;
}

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

pid_t
__wrap_waitpid(pid_t pid, int *status, int options)
{
    if (played == NULL || played->interrupts == 0)
        return __real_waitpid(pid, status, options);
    played->interrupts--;
    errno = EINTR;
    return -1;
}

/* Not to a group of processes, whatever goes wrong. */
int
__wrap_kill(pid_t pid, int number)
{
    if (pid <= 0)
        abort();
    return __real_kill(pid, number);
}

_Noreturn void __real_sim_worker_main(struct sim_search *s, int fd,
                                      struct sim_shared *shared,
                                      uint32_t number);
_Noreturn void __wrap_sim_worker_main(struct sim_search *s, int fd,
                                      struct sim_shared *shared,
                                      uint32_t number);

_Noreturn void
__wrap_sim_worker_main(struct sim_search *s, int fd, struct sim_shared *shared,
                       uint32_t number)
{
    struct sim_message part;

    if (played == NULL)
        __real_sim_worker_main(s, fd, shared, number);
    played->crowded += played_files() != played->files + (fd < FILES_MAX);
    played->shared_memory = shared;
    if (played_says == PLAYED_ENDS_IDLE)
        _exit(0);
    while (sim_message_receive(fd, &part)) {
        if (played_says == PLAYED_SEARCHES || played_says == PLAYED_ENDS_PAUSED)
            play_part(fd, &shared->slots[number], number % 2 != 0, &part);
        else
            say(fd, number);
        sim_message_free(&part);
        if (played_says == PLAYED_ENDS)
            break;
    }
    _exit(0);
}

uint64_t
played_visits(uint64_t wanted)
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < 200 && sum < wanted; k++) {
        played_sleep(k != 0 ? 1000 : 0);
        sum = 0;
        for (uint32_t i = 0; i < PLAYED_LISTS; i++)
            sum += played->visits[i];
    }
    return sum;
}

bool
played_is_whole(const struct sim_frontier *f, uint64_t runs)
{
    static uint8_t left[PLAYED_LISTS];
    struct sim_step path[PLAYED_DEPTH];
    struct sim_frontier copy;
    uint64_t searched = 0;
    bool whole = true;
    uint32_t part;

    memset(left, 0, sizeof left);
    sim_frontier_copy(&copy, f);
    while ((part = sim_frontier_take(&copy)) != SIM_NO_PART) {
        const uint32_t depth = sim_frontier_depth(&copy, part);

        sim_frontier_path(&copy, part, path);
        played_begin(path, depth);
        do
            left[played_number(path)]++;
        while (played_next(path, depth));
    }
    sim_frontier_free(&copy);
    played_begin(path, 0);
    do {
        const uint32_t number = played_number(path);

        searched += played->visits[number];
        whole &= played->visits[number] + left[number] == 1;
    } while (played_next(path, 0));
    return whole && searched == runs;
}

bool
played_sums_up(const struct sim_exhaust_result *r, uint64_t lists)
{
    const uint64_t sums[SIM_COUNT_COUNT] = {
        r->runs,    r->graphs,   r->graphs_sum, r->blocked,
        r->bounded, r->failures, r->sampled,
    };
    bool right = true;

    for (uint32_t i = 0; i < SIM_COUNT_COUNT; i++)
        right &= sums[i] == (1 + i) * lists;
    return right;
}
