/* conform_wait.c -- see conform_wait.h. What processes do is read in /proc. */
#include "subjects/command/conform_wait.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/monotonic.h"

enum { LOOK_MS = 1000, STAT_BYTES = 1024, WALL_FACTOR = 10 };

/* What a group of processes did. */
struct group {
    pid_t id;
    uint64_t ticks; /* of CPU, children that ended included */
    bool can_run;   /* a thread runs, or waits for a processor or a disk */
};

/* out: fields, from the state on. returns: false if the process is gone */
static bool
read_stat(const char *path, char *state, long *group, uint64_t *ticks)
{
    char text[STAT_BYTES];
    unsigned long times[4] = {0};
    FILE *const file = fopen(path, "re");
    const char *from;
    bool read;

    if (file == NULL)
        return false;
    read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    from = read ? strrchr(text, ')') : NULL; /* names have any characters */
    if (from == NULL ||
        sscanf(from,
               ") %c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
               state, group, &times[0], &times[1], &times[2], &times[3]) != 6)
        return false;
    *ticks = times[0] + times[1] + times[2] + times[3];
    return true;
}

static void
look_at_threads(struct group *group, const char *process)
{
    char path[64 + sizeof((struct dirent *)NULL)->d_name];
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%.20s/task", process);
    threads = opendir(path);
    for (struct dirent *entry = NULL;
         threads != NULL && (entry = readdir(threads)) != NULL;) {
        char state = 'S';
        uint64_t ticks;
        long id;

        snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/stat", process,
                 entry->d_name);
        if (entry->d_name[0] != '.' && read_stat(path, &state, &id, &ticks))
            group->can_run |= state == 'R' || state == 'D';
    }
    if (threads != NULL)
        closedir(threads);
}

static void
look(struct group *group)
{
    DIR *const all = opendir("/proc");

    group->ticks = 0;
    group->can_run = all == NULL; /* then nobody is said to sleep */
    for (struct dirent *entry = NULL;
         all != NULL && (entry = readdir(all)) != NULL;) {
        char path[64];
        char state;
        uint64_t ticks;
        long id;

        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
        if (!read_stat(path, &state, &id, &ticks) || id != group->id)
            continue;
        group->ticks += ticks;
        look_at_threads(group, entry->d_name);
    }
    if (all != NULL)
        closedir(all);
}

/* Read what there is. returns: false at the end of the file */
static bool
read_more(int input, char *text, size_t room, size_t *used)
{
    const ssize_t got = read(input, text + *used, room - 1 - *used);

    if (got < 0)
        return errno == EINTR;
    *used += (size_t)got;
    text[*used] = '\0';
    return got > 0 && *used < room - 1;
}

enum cli_conform_end
cli_conform_wait(int input, char *text, size_t room, pid_t id, uint64_t time_s)
{
    const uint64_t ticks_max = time_s * (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t begin_ms = cli_now_ms();
    uint64_t look_ms = begin_ms;
    uint64_t ran_ms = begin_ms;
    struct group group = {.id = id};
    size_t used = 0;

    text[0] = '\0';
    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        const uint64_t ticks_before = group.ticks;
        const bool is_ready = poll(&ready, 1, LOOK_MS) > 0;
        const uint64_t now_ms = cli_now_ms();

        if (is_ready && !read_more(input, text, room, &used))
            return CLI_CONFORM_ENDED;
        if (now_ms - look_ms < LOOK_MS)
            continue;
        look_ms = now_ms;
        look(&group);
        if (group.can_run || group.ticks != ticks_before)
            ran_ms = now_ms;
        if (now_ms - ran_ms >= time_s * 1000)
            return CLI_CONFORM_SLEEPS;
        if (group.ticks >= ticks_max ||
            now_ms - begin_ms >= WALL_FACTOR * time_s * 1000)
            return CLI_CONFORM_UNFINISHED;
    }
}
