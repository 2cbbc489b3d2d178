/* losses.c -- see losses.h. */
#include "record/convert/losses.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/escape.h"
#include "record/preload/spool.h"

static const struct {
    const char *one; /* behind the number 1 */
    const char *many;
    const char *where;
    const char *remedy;
    bool is_whole; /* the recording has all that the program did, even so */
} losses[CLI_RECFILE_CAUSES] = {
    [EMBED_DROP_LIMIT] = {"event", "events", " after the log was full",
                          "what is here is exact up to then; record again "
                          "with a larger --limit",
                          false},
    [EMBED_DROP_DISK] = {"event", "events", " after the disk was full",
                         "what is here is exact up to then; record again "
                         "with TMPDIR on a larger disk",
                         false},
    [EMBED_DROP_INSIDE] = {"event", "events", " inside the recorder",
                           "its own, or of signal handlers that interrupted "
                           "it; not in any number here",
                           false},
    [EMBED_DROP_EARLY] = {"allocation", "allocations",
                          " before the recorder could start",
                          "made by the dynamic linker and constructors; not in "
                          "any number here",
                          false},
    [EMBED_DROP_UNKNOWN] =
        {"free of an object that was never seen",
         "frees of objects that were never seen", "",
         "allocated before the start, before a fork, or by a "
         "library that calls another malloc "
         "(RTLD_DEEPBIND); not in any number here",
         true},
    [EMBED_DROP_MISSED] = {"free", "frees", " that nobody saw",
                           "put in where the address was allocated again; "
                           "these objects look longer-lived than they were",
                           true},
    [EMBED_DROP_WAITERS] = {"wait for a lock", "waits for locks",
                            " beyond the recorder's table",
                            "their releases are missing", false},
    [EMBED_DROP_CHILDREN] = {"child", "children",
                             ", forked by a process that confined itself",
                             "opening a log might have ended them "
                             "(no_new_privs, seccomp); a fork() that failed is "
                             "counted, too",
                             false},
    [EMBED_DROP_CONFINED] = {"event", "events",
                             " after the process confined itself",
                             "what is here is exact up to then; to make more "
                             "room might have ended it (no_new_privs, seccomp)",
                             false},
    [EMBED_DROP_CUT] = {"stack", "stacks", " deeper than --depth",
                        "their outermost callers are missing; record again "
                        "with a larger --depth",
                        true},
    [EMBED_DROP_OWN] = {"malloc", "mallocs", " of the program's own",
                        "what it gave could not be seen, and is in no number "
                        "here",
                        false},
    [EMBED_DROP_MAPPED] = {"byte", "bytes",
                           " that the program mapped itself (mmap, sbrk)",
                           "also those that it unmapped; not in any number "
                           "here",
                           false},
};

void
cli_losses_text(char *text, size_t bytes, size_t cause, uint64_t count)
{
    snprintf(text, bytes, "%" PRIu64 " %s%s: %s", count,
             count == 1 ? losses[cause].one : losses[cause].many,
             losses[cause].where, losses[cause].remedy);
}

static bool
is_reported(const uint64_t dropped[CLI_RECFILE_CAUSES], size_t cause)
{
    return dropped[cause] > 0 && !losses[cause].is_whole;
}

bool
cli_losses_any(const uint64_t dropped[CLI_RECFILE_CAUSES])
{
    bool any = false;

    for (size_t i = 0; i < CLI_RECFILE_CAUSES; i++)
        any = any || is_reported(dropped, i);
    return any;
}

void
cli_losses_report(const char *who, const char *path,
                  const uint64_t dropped[CLI_RECFILE_CAUSES])
{
    char text[256];

    for (size_t i = 0; i < CLI_RECFILE_CAUSES; i++) {
        if (!is_reported(dropped, i))
            continue;
        cli_losses_text(text, sizeof text, i, dropped[i]);
        sim_escape_line(stderr, "%s: %s: not recorded %s", who, path, text);
    }
}
