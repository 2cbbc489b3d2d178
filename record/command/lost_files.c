/* lost_files.c -- see lost_files.h. A process may have put anything there. */
#include "record/command/lost_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/output.h"
#include "record/sampler/profile_env.h"

static const struct {
    const char *name;
    const char *sentence; /* behind the count, if it has one */
    bool counts;
    bool of_blocks;
} losses[] = {
    {"dropped_no_bucket",
     "samples of more stacks and sizes than there is room "
     "for",
     true, true},
    {"dropped_no_frames", "samples of more frames than there is room for", true,
     true},
    {"early", "allocations before the profiler was up", true, true},
    {"untracked",
     "samples beyond those it can follow: in the totals, not in "
     "use",
     true, true},
    {"unseen_frees", "frees behind the profiler's back", true, true},
    {"uncharged_waits", "waits beside another lock in the table", true, false},
    {"timer_taken",
     "ticks of the CPU profile: the program took SIGPROF or ITIMER_PROF for "
     "itself",
     false, false},
    {"own_malloc",
     "what the program's own malloc gave, which comes before the profiler's",
     false, true},
    {"confined",
     "children forked later, and without an agent what came later: the "
     "process confined itself (no_new_privs, seccomp)",
     false, false},
};

/* returns: false if the line has no known form */
static bool
explain(const char *line, char *to, size_t bytes)
{
    char name[32];
    uint64_t count;

    if (sscanf(line, "%31[a-z_] %" SCNu64, name, &count) != 2 || count == 0)
        return false;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (strcmp(losses[i].name, name) != 0)
            continue;
        if (losses[i].counts)
            snprintf(to, bytes, "%" PRIu64 " %s", count, losses[i].sentence);
        else
            snprintf(to, bytes, "%s", losses[i].sentence);
        return true;
    }
    return false;
}

bool
cli_lost_blocks(const char *text)
{
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        char name[32];
        uint64_t count;

        for (size_t i = 0;
             sscanf(text, "%31[a-z_] %" SCNu64, name, &count) == 2 &&
             i < sizeof losses / sizeof *losses;
             i++)
            if (losses[i].of_blocks && count != 0 &&
                strcmp(losses[i].name, name) == 0)
                return true;
    }
    return false;
}

enum { LINES_MAX = 100 }; /* more than a process writes; the file is anyone's */

/* returns: NULL if it cannot be opened. A link is not followed. */
static FILE *
open_list(const char *path)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return file >= 0 ? fdopen(file, "r") : NULL;
}

static void
explain_file(const char *folder, const char *name)
{
    char path[PROFILE_FOLDER_MAX + NAME_MAX + 2];
    char to[sizeof path + 4];
    char line[256];
    char sentence[256];
    char text[sizeof losses / sizeof *losses * sizeof sentence];
    size_t used = 0;
    FILE *list;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(to, sizeof to, "%s.txt", path);
    list = open_list(path);
    if (list == NULL)
        return;
    for (int i = 0; i < LINES_MAX && used + sizeof sentence < sizeof text &&
                    fgets(line, sizeof line, list) != NULL;
         i++) {
        if (!explain(line, sentence, sizeof sentence))
            continue;
        sim_escape_line(stderr,
                        "profsim profile: process %.*s: not in its profiles: "
                        "%s",
                        (int)strcspn(name, "."), name, sentence);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "not in the profiles: %s\n", sentence);
    }
    fclose(list);
    if (used > 0 && props_output_write(&(struct props_output){.path = to}, text,
                                       used) == NULL)
        unlink(path);
}

static int
is_list(const struct dirent *entry)
{
    const char *const end = strrchr(entry->d_name, '.');

    return end != NULL && strcmp(end, PROFILE_LOST_END) == 0;
}

void
cli_lost_files(const char *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, is_list, alphasort);

    for (int i = 0; i < count; i++) {
        explain_file(folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}
