/*
 * levels.c -- explores a program at two levels of optimisation.
 *
 * The optimiser removes accesses that a race may be in: a read whose value
 * nobody uses. So a program that holds as it is compiled, at -O1 if its flags
 * say nothing else, is explored at -O0 as well:
 *
 *      explore prog.c OPTIONS -- FLAGS            what it prints is kept
 *      explore prog.c OPTIONS -- FLAGS -O0        silent; if this fails,
 *      explore prog.c OPTIONS -- FLAGS -O0        again, and this is the report
 *
 * Whether it fails at -O0 does not depend on whether that is shown, so the
 * second search needs no files, and the third one is rarely made.
 */
#include "explore/command/levels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "explore/command/build_program.h"
#include "common/command/complaint.h"

enum {
    WORDS_MAX = 4096,
    SECOND_S_MIN = 5, /* for the search at -O0, and ... */
    SECOND_TIMES = 3, /* ... as often as long as the first took */
    LEVEL_BYTES = 16
};

struct words {
    char *list[WORDS_MAX + 4];
    int count;
};

/* ---- Keeping what a search prints ---- */

struct kept {
    int file;
    int was[2];
};

static bool
keep_begin(struct kept *k)
{
    fflush(NULL);
    k->file = memfd_create("profsim", MFD_CLOEXEC);
    if (k->file < 0)
        return false;
    for (int fd = 1; fd <= 2; fd++)
        k->was[fd - 1] = dup(fd);
    dup2(k->file, STDOUT_FILENO);
    return true;
}

static void
keep_end(struct kept *k)
{
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        dup2(k->was[fd - 1], fd);
        close(k->was[fd - 1]);
    }
}

static void
keep_show(const struct kept *k)
{
    char bytes[4096];
    ssize_t got;

    lseek(k->file, 0, SEEK_SET);
    while ((got = read(k->file, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)got, stdout);
    fflush(stdout);
}

/* ---- Words ---- */

static void
add(struct words *w, const char *word)
{
    w->list[w->count++] = (char *)(uintptr_t)word;
    w->list[w->count] = NULL;
}

/* Is this option, or this option with a value behind '=', in the list? */
static bool
is_one(const char *word, const char *const *names)
{
    for (; *names != NULL; names++) {
        const size_t length = strlen(*names);

        if (strncmp(word, *names, length) == 0 &&
            (word[length] == '\0' || word[length] == '='))
            return true;
    }
    return false;
}

/* What says where a result goes is for the search that is shown. */
static const char *const files[] = {"--html",  "--data", "--json",
                                    "--junit", "--time", NULL};

/* These ask for one search, or for none. */
static const char *const single[] = {
    "--replay",  "--strategy", "--shard", "--result", "--checkpoint",
    "--mutants", "--list",     "--help",  "-h",       NULL};

/*
 * Take --opt out of the words.
 *
 * in:      level, of LEVEL_BYTES
 * out:     level, what was asked for; "" if nothing
 * returns: false, after a complaint, if the value is wrong
 */
static bool
take_level(int argc, char **argv, struct words *rest, char *level)
{
    const char *value = NULL;
    int i;

    level[0] = '\0';
    for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--opt=", 6) == 0)
            value = argv[i] + 6;
        else if (strcmp(argv[i], "--opt") == 0)
            value = i + 1 < argc ? argv[++i] : "";
        else
            add(rest, argv[i]);
    }
    for (; i < argc; i++)
        add(rest, argv[i]);
    if (value == NULL)
        return true;
    if (strlen(value) != 1 || strchr("0123sgz", *value) == NULL)
        return cli_complain("--opt takes one of 0, 1, 2, 3, s, g and z, not "
                            "'%.40s'",
                            value);
    snprintf(level, LEVEL_BYTES, "-O%s", value);
    return true;
}

static void
add_level(struct words *w, const char *level)
{
    bool flags = false;

    for (int i = 0; i < w->count; i++)
        flags |= strcmp(w->list[i], "--") == 0;
    if (!flags)
        add(w, "--");
    add(w, level);
}

/* Does one search do? out: *time_s, of --time; 0: there is none */
static bool
is_single(const struct words *w, uint64_t *time_s)
{
    int i;

    *time_s = 0;
    for (i = 1; i < w->count && strcmp(w->list[i], "--") != 0; i++) {
        if (is_one(w->list[i], single))
            return true;
        if (strcmp(w->list[i], "--time") == 0 && i + 1 < w->count)
            *time_s = strtoull(w->list[i + 1], NULL, 10);
        else if (strncmp(w->list[i], "--time=", 7) == 0)
            *time_s = strtoull(w->list[i] + 7, NULL, 10);
    }
    for (; i < w->count; i++) {
        if (strcmp(w->list[i], "-O0") == 0)
            return true;
    }
    return false;
}

/* The words of a search in silence: without files, with another limit. */
static void
make_silent(const struct words *w, const char *limit, struct words *silent)
{
    int i;

    for (i = 0; i < w->count && strcmp(w->list[i], "--") != 0; i++) {
        if (i > 0 && is_one(w->list[i], files))
            i += strchr(w->list[i], '=') == NULL;
        else
            add(silent, w->list[i]);
    }
    add(silent, "--time");
    add(silent, limit);
    for (; i < w->count; i++)
        add(silent, w->list[i]);
}

/* ---- Searches ---- */

static enum cli_exit
search_in_silence(const struct words *w, uint64_t limit_s)
{
    static struct words silent;
    char limit[24];
    struct kept kept;
    enum cli_exit code;

    snprintf(limit, sizeof limit, "%" PRIu64, limit_s);
    make_silent(w, limit, &silent);
    add_level(&silent, "-O0");
    if (!keep_begin(&kept))
        return CLI_USAGE;
    dup2(kept.file, STDERR_FILENO);
    code = cli_explore_any(silent.count, silent.list);
    keep_end(&kept);
    close(kept.file);
    return code;
}

static bool
has_failed(enum cli_exit code)
{
    return code == CLI_BROKEN || code == CLI_CRASH || code == CLI_LIVENESS ||
           code == CLI_NONDETERMINISM;
}

static enum cli_exit
search_twice(struct words *w, uint64_t time_s)
{
    const time_t begun = time(NULL);
    struct kept first;
    enum cli_exit code;
    uint64_t took_s;
    enum cli_exit second = CLI_INCOMPLETE;

    if (!keep_begin(&first))
        return cli_explore_any(w->count, w->list);
    code = cli_explore_any(w->count, w->list);
    keep_end(&first);
    took_s = (uint64_t)(time(NULL) - begun);
    if (code == CLI_OK && time_s == 0)
        second = search_in_silence(w, SECOND_S_MIN + SECOND_TIMES * took_s);
    else if (code == CLI_OK && took_s < time_s)
        second = search_in_silence(w, time_s - took_s);
    if (code == CLI_OK && has_failed(second)) {
        add_level(w, "-O0");
        code = cli_explore_any(w->count, w->list);
        printf("  found at -O0: as it is compiled otherwise, it holds\n\n");
    } else {
        keep_show(&first);
        if (code == CLI_OK && second != CLI_OK)
            printf("  not seen: the program at -O0, %s\n",
                   second == CLI_INCOMPLETE ? "for want of time"
                                            : "where it cannot be built");
    }
    close(first.file);
    return code;
}

enum cli_exit
cli_explore_levels(int argc, char **argv)
{
    static struct words w;
    static char level[LEVEL_BYTES]; /* a word of the command */
    uint64_t time_s;

    if (argc > WORDS_MAX - 8 || !cli_explore_names_source(argc, argv))
        return cli_explore_any(argc, argv);
    if (!take_level(argc, argv, &w, level))
        return CLI_USAGE;
    if (level[0] != '\0')
        add_level(&w, level);
    if (level[0] != '\0' || is_single(&w, &time_s))
        return cli_explore_any(w.count, w.list);
    return search_twice(&w, time_s);
}
