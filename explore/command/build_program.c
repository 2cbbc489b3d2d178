/*
 * build_program.c -- see build_program.h.
 *
 *      prog.c --cc -fsanitize=thread--> prog.s --as--> prog.o --\
 *                                       libprofsim-explore.a ----> program
 *
 * The explorer, with its own main, is linked to it, in a temporary folder.
 */
#include "explore/command/build_program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore/command/assembly.h"
#include "explore/command/child.h"
#include "common/command/complaint.h"
#include "explore/command/explore_command.h"
#include "explore/command/foreign.h"
#include "explore/command/gdb.h"
#include "common/command/options.h"
#include "common/command/preload.h"
#include "common/command/quote.h"

enum { GIVEN_MAX = 3000, WORDS_MAX = 8192 };

struct words {
    char *list[WORDS_MAX + 1]; /* ends in NULL, as all is zero at first */
    uint32_t count;
};

struct build {
    struct words sources;
    struct words flags;   /* after --, for the compiler */
    struct words options; /* for the explorer */
    struct words typed;   /* all of them, for its report */
    struct words objects;
    const char *entry; /* NULL: main */
    const char *stop;  /* the event that --gdb stops before; or NULL */
    bool cplusplus;
    const char *compiler;
    char runtime[PATH_MAX];
    char folder[PATH_MAX];
    char program[PATH_MAX + 16];
    char script[PATH_MAX + 16]; /* for gdb */
};

/* The word is not copied. */
static void
add(struct words *words, const char *word)
{
    words->list[words->count++] = (char *)(uintptr_t)word;
}

static void
add_all(struct words *words, const struct words *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        add(words, more->list[i]);
}

/* ---- Words ---- */

static bool
ends_in(const char *word, const char *const *endings)
{
    const char *dot = strrchr(word, '.');

    for (; dot != NULL && dot != word && *endings != NULL; endings++) {
        if (strcmp(dot, *endings) == 0)
            return true;
    }
    return false;
}

static bool
is_cplusplus(const char *word)
{
    static const char *const endings[] = {".cc", ".cpp", ".cxx", ".C", NULL};

    return ends_in(word, endings);
}

static bool
is_source(const char *word)
{
    static const char *const endings[] = {".c", NULL};

    return word[0] != '-' && (is_cplusplus(word) || ends_in(word, endings));
}

/* Is word i an option whose value is the next word? */
static bool
takes_next(int argc, char **argv, int i)
{
    if (i + 1 == argc || strcmp(argv[i + 1], "--") == 0)
        return false;
    return strcmp(argv[i], "--entry") == 0 || strcmp(argv[i], "--gdb") == 0 ||
           cli_options_takes_next(&cli_explore_syntax, argv[i]);
}

bool
cli_explore_names_source(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_source(argv[i]))
            return true;
        i += takes_next(argc, argv, i);
    }
    return false;
}

/* Complain of a word that is nothing at all. What comes after an option may be
 * its value: the explorer, which knows all options, says what is wrong. */
static bool
check_word(char **argv, int i)
{
    const bool is_plain = argv[i][0] != '-' || argv[i][1] == '\0';

    return !is_plain || argv[i - 1][0] == '-' ||
           cli_complain("explore: '%s' is neither an option nor a source file "
                        "(.c, .cc, .cpp, .cxx or .C)",
                        argv[i]);
}

/* Is a file that an option names to be written a source? */
static bool
check_output(const struct build *b, const char *path)
{
    for (uint32_t i = 0; i < b->sources.count; i++) {
        struct stat source;
        struct stat output;

        if (stat(b->sources.list[i], &source) == 0 &&
            stat(path, &output) == 0 && source.st_dev == output.st_dev &&
            source.st_ino == output.st_ino)
            return cli_complain("%s: it is an input; write another file", path);
    }
    return true;
}

/* Check the value of each option, as "--NAME=VALUE" or in a word of its own. */
static bool
check_outputs(const struct build *b)
{
    for (uint32_t i = 0; i < b->options.count; i++) {
        const char *equals = strchr(b->options.list[i], '=');

        if (!check_output(b, equals != NULL ? equals + 1 : b->options.list[i]))
            return false;
    }
    return true;
}

static bool
is_command(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0;
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");

        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static bool
take_words(struct build *b, int argc, char **argv)
{
    bool replays = false;
    uint64_t event;
    int i;

    unsetenv("PROFSIM_EXPLORE_STOP");
    for (i = 0; i < argc; i++)
        add(&b->typed, argv[i]);
    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_source(argv[i])) {
            add(&b->sources, argv[i]);
            b->cplusplus |= is_cplusplus(argv[i]);
        } else if (strncmp(argv[i], "--entry=", 8) == 0) {
            b->entry = argv[i] + 8;
        } else if (strcmp(argv[i], "--entry") == 0) {
            if (i + 1 == argc)
                return cli_complain("--entry needs a function's name");
            b->entry = argv[++i];
        } else if (strncmp(argv[i], "--gdb=", 6) == 0) {
            b->stop = argv[i] + 6;
        } else if (strcmp(argv[i], "--gdb") == 0) {
            if (i + 1 == argc)
                return cli_complain("--gdb needs an event's number");
            b->stop = argv[++i];
        } else {
            if (!check_word(argv, i))
                return false;
            replays |= strncmp(argv[i], "--replay", 8) == 0;
            add(&b->options, argv[i]);
            if (takes_next(argc, argv, i))
                add(&b->options, argv[++i]);
        }
    }
    for (i++; i < argc; i++)
        add(&b->flags, argv[i]);
    if (b->entry != NULL && strcmp(b->entry, "main") == 0)
        b->entry = NULL; /* it is wrapped, so its name leads to the explorer */
    if (!check_outputs(b))
        return false;
    if (b->stop == NULL)
        return true;
    if (!replays)
        return cli_complain("--gdb needs --replay, too: a failure prints it");
    if (!cli_number("--gdb", b->stop, 0, 4095, &event))
        return false;
    if (!is_command("gdb"))
        return cli_complain("--gdb: gdb is not installed");
    setenv("PROFSIM_EXPLORE_STOP", b->stop, 1);
    return true;
}

/* ---- Commands ---- */

static bool
find_compiler(struct build *b)
{
    const char *variable = b->cplusplus ? "CXX" : "CC";
    const char *first = b->cplusplus ? "g++" : "gcc";
    const char *second = b->cplusplus ? "clang++" : "clang";
    const char *given = getenv(variable);

    if (given != NULL && *given != '\0') {
        b->compiler = given;
        return is_command(given) ||
               cli_complain("%s: no such compiler (%s)", given, variable);
    }
    b->compiler = is_command(first) ? first : second;
    return is_command(b->compiler) ||
           cli_complain("no compiler: neither %s nor %s is installed; if you "
                        "have another, name it in %s",
                        first, second, variable);
}

/* ---- Building ---- */

static void
add_flags(struct words *command, const struct build *b)
{
    static const char *const flags[] = {
        "-g",
        "-O1",
        "-pthread",
        "-fno-builtin",
        "-Wno-tsan",
        "-U_FORTIFY_SOURCE",
        /* What asks not to be instrumented is instrumented all the same. */
        "-Dno_sanitize(...)=__unused__",
        "-D__no_sanitize__(...)=__unused__",
        "-Dno_sanitize_thread=__unused__",
        "-D__no_sanitize_thread__=__unused__",
        "-Ddisable_sanitizer_instrumentation=__unused__",
        NULL,
    };
    const char *slash = strrchr(b->compiler, '/');

    for (uint32_t i = 0; flags[i] != NULL; i++)
        add(command, flags[i]);
    if (strstr(slash != NULL ? slash : b->compiler, "clang") != NULL)
        add(command, "-Wno-unknown-warning-option"); /* gcc's -Wno-tsan */
    if (b->cplusplus) /* templates of the library, too, are instrumented */
        add(command, "-D_GLIBCXX_ASSERTIONS");
    add_all(command, &b->flags);
    add(command, "-fsanitize=thread");
    add(command, "-fno-omit-frame-pointer"); /* tells where a frame ends */
    add(command, "-fno-lto");                /* link exactly what was checked */
}

static bool
succeeds(struct words *command)
{
    const int status = cli_child_run(command->list);

    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Pass on only flags for an assembler: the machine's, and its own. */
static bool
assemble(const struct build *b, const char *text, const char *object)
{
    struct words command = {.count = 0};

    add(&command, b->compiler);
    for (uint32_t i = 0; i < b->flags.count; i++) {
        if (strncmp(b->flags.list[i], "-Wa,", 4) == 0 ||
            strncmp(b->flags.list[i], "-m", 2) == 0)
            add(&command, b->flags.list[i]);
    }
    add(&command, "-c");
    add(&command, text);
    add(&command, "-o");
    add(&command, object);
    return succeeds(&command);
}

static bool
compile(struct build *b, uint32_t source)
{
    const char *name = b->sources.list[source];
    struct words command = {.count = 0};
    char text[PATH_MAX + 32];
    char object[PATH_MAX + 32];
    bool compiled;
    bool ok;

    snprintf(text, sizeof text, "%s/%u.s", b->folder, (unsigned)source);
    snprintf(object, sizeof object, "%s/%u.o", b->folder, (unsigned)source);
    add(&command, b->compiler);
    add_flags(&command, b);
    add(&command, "-S");
    add(&command, name);
    add(&command, "-o");
    add(&command, text);
    add(&b->objects, cli_need(strdup(object)));
    compiled = succeeds(&command);
    ok =
        compiled && cli_assembly_check(text, name) && assemble(b, text, object);
    unlink(text);
    return compiled
               ? ok
               : cli_complain("%s: %s cannot compile it", name, b->compiler);
}

static bool
link_program(struct build *b)
{
    struct words command = {.count = 0};
    char entry[PATH_MAX];

    snprintf(b->program, sizeof b->program, "%s/program", b->folder);
    snprintf(b->script, sizeof b->script, "%s/gdb", b->folder);
    add(&command, b->compiler);
    add_all(&command, &b->objects);
    add(&command, "-o");
    add(&command, b->program);
    add(&command, "-Wl,--wrap=main,-z,now");
    if (b->entry != NULL) {
        snprintf(entry, sizeof entry, "-Wl,--defsym=profsim_entry=%s",
                 b->entry);
        add(&command, entry);
    }
    add(&command, b->runtime);
    add(&command, "-l:libdw.so.1");
    add_all(&command, &b->flags);
    return succeeds(&command) ||
           cli_complain("%s cannot link the program", b->compiler);
}

static bool
build(struct build *b)
{
    static const struct cli_preload runtime = {
        .verb = "explore",
        .library = "libprofsim-explore.a",
        .variable = "PROFSIM_EXPLORE_LIBRARY",
    };

    if (!cli_preload_find(b->runtime, sizeof b->runtime, &runtime) ||
        !find_compiler(b))
        return false;
    for (uint32_t i = 0; i < b->sources.count; i++) {
        if (!compile(b, i))
            return false;
    }
    return cli_foreign_check(b->objects.list, b->objects.count, b->runtime) &&
           link_program(b);
}

/* ---- Running ---- */

/* Set a variable to words, quoted for a shell. */
static void
set_words(const char *variable, const struct words *words)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = cli_need(open_memstream(&text, &bytes));

    for (uint32_t i = 0; i < words->count; i++) {
        if (i > 0)
            fputc(' ', file);
        cli_quote_word(file, words->list[i]);
    }
    cli_need(fclose(file) == 0 ? text : NULL);
    setenv(variable, text, 1);
    free(text);
}

/* Set what comes before and after the options in the command that replays. */
static void
set_environment(const struct build *b)
{
    struct words before = {.count = 0};
    struct words after = {.count = 0};

    add_all(&before, &b->sources);
    if (b->entry != NULL) {
        add(&before, "--entry");
        add(&before, b->entry);
    }
    set_words("PROFSIM_EXPLORE_NAME", &before);
    if (b->flags.count > 0)
        add(&after, "--");
    add_all(&after, &b->flags);
    set_words("PROFSIM_EXPLORE_FLAGS", &after);
}

static enum cli_exit
explore_program(struct build *b)
{
    struct words command = {.count = 0};
    int status;

    set_environment(b);
    if (b->stop != NULL) {
        if (!cli_gdb_write(b->script))
            return CLI_USAGE;
        add(&command, "gdb");
        add(&command, "-q");
        add(&command, "-x");
        add(&command, b->script);
        add(&command, "--args");
    }
    add(&command, b->program);
    add_all(&command, &b->options);
    add(&command, "--");
    add_all(&command, &b->typed);
    status = cli_child_run(command.list);
    if (WIFEXITED(status))
        return (enum cli_exit)WEXITSTATUS(status);
    cli_usage("the program was ended by signal %d", WTERMSIG(status));
    return CLI_CRASH;
}

static bool
open_folder(struct build *b)
{
    const char *parent = getenv("TMPDIR");
    const int length =
        snprintf(b->folder, sizeof b->folder - 32, "%s/profsim-XXXXXX",
                 parent != NULL && *parent != '\0' ? parent : "/tmp");
    if ((size_t)length >= sizeof b->folder - 32)
        return cli_complain("TMPDIR: its path is too long");
    return mkdtemp(b->folder) != NULL ||
           cli_complain("%s: %s", b->folder, strerror(errno));
}

static void
close_folder(const struct build *b)
{
    for (uint32_t i = 0; i < b->objects.count; i++)
        unlink(b->objects.list[i]);
    unlink(b->program); /* the last two may not be there */
    unlink(b->script);
    rmdir(b->folder);
}

enum cli_exit
cli_explore_any(int argc, char **argv)
{
    static struct build b;
    enum cli_exit code = CLI_USAGE;

    if (!cli_explore_names_source(argc, argv))
        return cli_explore(argc, argv);
    if (argc > GIVEN_MAX)
        return cli_usage("explore: more than %d words", GIVEN_MAX);
    memset(&b, 0, sizeof b);
    if (take_words(&b, argc, argv) && open_folder(&b)) {
        if (build(&b))
            code = explore_program(&b);
        close_folder(&b);
    }
    return code;
}
