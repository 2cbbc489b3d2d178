/*
 * assembly.c -- see assembly.h.
 *
 *      #APP                            gcc and clang: assembly begins,
 *      # 7 "prog.c" 1                  gcc: from this line of the source,
 *              lock; incl (%rdi)
 *      # 0 "" 2                        gcc: as far as here;
 *      #NO_APP                         here it ends
 *
 * clang gives the source line earlier, in the comment of a .loc.
 */
#include "explore/command/assembly.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"

enum { LOCATION_BYTES = 1024 };

struct reader {
    const char *source;
    char location[LOCATION_BYTES]; /* FILE:LINE, or "" */
    char reported[LOCATION_BYTES]; /* the location of the latest complaint */
    bool inside;
    bool between; /* gcc: two statements, with lines of its own */
    bool ok;
};

static const char ends[] = " \t\r\n;";

/* Is this instruction, or piece of one, harmless? */
static bool
is_harmless(const char *word, size_t bytes)
{
    static const char *const harmless[] = {"pause", "yield", "nop",
                                           "rep",   "isb",   NULL};

    for (uint32_t i = 0; harmless[i] != NULL; i++) {
        if (strlen(harmless[i]) == bytes &&
            strncmp(word, harmless[i], bytes) == 0)
            return true;
    }
    return false;
}

static void
take_text(struct reader *r, const char *line)
{
    size_t bytes;

    for (;;) {
        line += strspn(line, ends);
        bytes = strcspn(line, ends);
        if (!is_harmless(line, bytes))
            break;
        line += bytes;
    }
    if (*line == '\0' || (!r->ok && strcmp(r->reported, r->location) == 0))
        return;
    r->ok = cli_complain("%s: inline assembly: what it touches would not be "
                         "seen",
                         r->location[0] != '\0' ? r->location : r->source);
    memcpy(r->reported, r->location, sizeof r->reported);
}

/* Take gcc's `# 7 "prog.c" 1`. returns: false if the line is something else */
static bool
take_marker(struct reader *r, const char *line)
{
    char file[LOCATION_BYTES - 16];
    unsigned number;

    if (sscanf(line, "# %u \"%1007[^\"]\"", &number, file) == 2) {
        snprintf(r->location, sizeof r->location, "%s:%u", file, number);
        r->between = false;
        return true;
    }
    r->between |= strncmp(line, "# 0 \"\"", 6) == 0;
    return false;
}

/* Take clang's `.loc 0 3 40 # prog.c:3:40`, or gcc's without the comment. */
static void
take_location(struct reader *r, const char *line)
{
    const char *name = strchr(line, '#');
    const char *colon = name != NULL ? strrchr(name, ':') : NULL;

    if (strncmp(line + strspn(line, " \t"), ".loc", 4) != 0 || colon == NULL)
        return;
    name += 1 + strspn(name + 1, " ");
    snprintf(r->location, sizeof r->location, "%.*s", (int)(colon - name),
             name);
}

static void
take_line(struct reader *r, const char *line)
{
    const char *text = line + strspn(line, " \t");

    if (strncmp(text, "#APP", 4) == 0) {
        r->inside = true;
        r->between = false;
    } else if (strncmp(text, "#NO_APP", 7) == 0) {
        r->inside = false;
    } else if (!r->inside) {
        take_location(r, line);
    } else if (!take_marker(r, text) && !r->between) {
        take_text(r, text);
    }
}

bool
cli_assembly_check(const char *path, const char *source)
{
    struct reader r = {.source = source, .ok = true};
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    if (file == NULL)
        return cli_complain("%s: %s", path, strerror(errno));
    while (getline(&line, &room, file) > 0)
        take_line(&r, line);
    if (ferror(file))
        r.ok = cli_complain("%s: cannot be read", path);
    free(line);
    fclose(file);
    return r.ok;
}
