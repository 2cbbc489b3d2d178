/* played_worker.c -- see played_worker.h. */
#include "played_worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct played *played;
static enum played_says played_says;

void
played_open(enum played_says what)
{
    played_says = what;
    played = mmap(NULL, sizeof *played, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (played == MAP_FAILED)
        abort();
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
        while (open < PLAYED_DEPTH &&
               path[open].choice.value + 1 == path[open].choice.bound)
            open++;
        open = open < PLAYED_DEPTH ? open + 1 : *base;
        tell(fd, SIM_MESSAGE_SHARED, path, *base, open);
        *base = open;
        break;
    case SIM_REQUEST_SHOW:
        tell(fd, SIM_MESSAGE_SHOWN, path, *base, PLAYED_DEPTH);
        if (!sim_message_receive(fd, &m))
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

static void
sleep_us(uint32_t us)
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
        sleep_us(1000);
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
    if (base == 0)
        expect_request(slot);
    while (obey(fd, slot, path, &base)) {
        played->visits[played_number(path)]++;
        for (uint32_t i = 0; i < SIM_COUNT_COUNT; i++)
            slot->counts[i] += 1 + i;
        sleep_us(slow ? 2000 : 20);
        if (!played_next(path, base)) {
            tell(fd, SIM_MESSAGE_DONE, path, base, base);
            return;
        }
    }
}

static void
say(int fd)
{
    static const uintptr_t sites[] = {0x10001, 0x20002, 0x30003};
    const struct {
        struct sim_failed failed;
        struct sim_choice list[2];
    } failure = {.failed = {.run = {.failure = {.text = "it is wrong"}},
                            .options = {.unroll = 3},
                            .by_sampling = true},
                 .list = {{.bound = 4, .value = 3}, {.bound = 3, .value = 2}}};

    if (played_says == PLAYED_HAS_LEARNED)
        sim_message_send(fd, SIM_MESSAGE_AGAIN,
                         played->learned | 5 << 2 | 4096 << 8, sites,
                         sizeof sites);
    if (played_says == PLAYED_HAS_FAILED) {
        sim_message_send(fd, SIM_MESSAGE_FAILED, 2, &failure, sizeof failure);
        sim_message_send(fd, SIM_MESSAGE_OVER, 0, "two runs differ", 16);
        for (uint32_t i = 0; i < 4; i++)
            sleep_us(500000); /* it does not hear that the search is over */
        played->outlived++;
    }
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
    while (sim_message_receive(fd, &part)) {
        if (played_says == PLAYED_SEARCHES)
            play_part(fd, &shared->slots[number], number % 2 != 0, &part);
        else
            say(fd);
        sim_message_free(&part);
        if (played_says == PLAYED_ENDS)
            break;
    }
    _exit(0);
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
