/*
 * subject_file.c -- see subject_file.h. A source is compiled in a folder of its
 * own, together with subject.h. The folder is removed at once: a loaded object
 * needs no file.
 */
#include "props/command/subject_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "props/page/failure_page.h"
#include "common/command/quote.h"
#include "sim/scenario/scenario.h"
#include "common/command/color.h"

/* The header as it was when this program was built. */
__asm__(".pushsection .rodata\n"
        "cli_subject_header:\n"
        ".incbin \"subjects/subject.h\"\n"
        "cli_subject_header_end:\n"
        ".popsection\n");
extern const char cli_subject_header[];
extern const char cli_subject_header_end[];

/* ---- Compiling ---- */

struct workshop {
    char folder[PATH_MAX];
    char header[PATH_MAX + 16];
    char library[PATH_MAX + 16];
};

static void
close_workshop(const struct workshop *workshop)
{
    unlink(workshop->header);
    unlink(workshop->library);
    rmdir(workshop->folder);
}

static bool
open_workshop(struct workshop *workshop)
{
    const size_t bytes = (size_t)(cli_subject_header_end - cli_subject_header);
    const char *parent = getenv("TMPDIR");
    FILE *file;
    bool done;

    if ((size_t)snprintf(workshop->folder, sizeof workshop->folder,
                         "%s/profsim-subject-XXXXXX",
                         parent != NULL && *parent != '\0' ? parent : "/tmp") >=
        sizeof workshop->folder)
        return cli_complain("TMPDIR: its path is too long");
    if (mkdtemp(workshop->folder) == NULL)
        return cli_complain("%s: %s", workshop->folder, strerror(errno));
    snprintf(workshop->header, sizeof workshop->header, "%s/subject.h",
             workshop->folder);
    snprintf(workshop->library, sizeof workshop->library, "%s/subject.so",
             workshop->folder);
    file = fopen(workshop->header, "w");
    done = file != NULL && fwrite(cli_subject_header, 1, bytes, file) == bytes;
    if (file != NULL)
        done &= fclose(file) == 0;
    if (!done)
        close_workshop(workshop);
    return done || cli_complain("%s: cannot be written", workshop->header);
}

static void
try_compiler(const struct workshop *workshop, const char *source,
             const char *include, const char *compiler)
{
    execlp(compiler, compiler, "-g", "-O1", "-fPIC", "-shared", include, "-o",
           workshop->library, source, "-lm", (char *)NULL);
}

/* $CC, which may be several words: "ccache gcc". */
static void
try_given(const struct workshop *workshop, const char *source,
          const char *include)
{
    execl("/bin/sh", "sh", "-c", "exec $CC \"$@\"", "CC", "-g", "-O1", "-fPIC",
          "-shared", include, "-o", workshop->library, source, "-lm",
          (char *)NULL);
}

static bool
compile(const struct workshop *workshop, const char *source)
{
    const char *given = getenv("CC");
    const bool named = given != NULL && *given != '\0';
    static const char *const compilers[] = {"cc", "gcc", "clang"};
    char include[PATH_MAX + 16];
    char at[PATH_MAX + 16];
    int status = -1;
    pid_t child;

    snprintf(include, sizeof include, "-I%s", workshop->folder);
    snprintf(at, sizeof at, "%s%s", source[0] == '-' ? "./" : "", source);
    child = fork();
    if (child == 0) {
        if (named)
            try_given(workshop, at, include);
        for (int i = 0; !named && i < 3; i++)
            try_compiler(workshop, at, include, compilers[i]);
        cli_usage("no compiler: %s", strerror(errno));
        _exit(127);
    }
    if (child > 0)
        waitpid(child, &status, 0); /* no signal has a handler here */
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           cli_complain("%s: %s cannot compile it", source,
                        named ? given : "the C compiler");
}

/* ---- Loading ---- */

/* A subject's name is part of file names, and names a folder. */
enum { NAME_MAX_BYTES = 40 };

static const char *
missing(const struct subject *subject)
{
    const uint32_t frees = SUBJECT_FREED_EXPLICITLY | SUBJECT_SWEPT;

    if (subject == NULL)
        return "profsim_subject() returns NULL";
    if (subject->version != SUBJECT_VERSION)
        return "it was made for another version of subject.h";
    if (subject->name == NULL || subject->name[0] == '\0' ||
        subject->name[strspn(
            subject->name, "abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] != '\0')
        return "its name must be letters, digits, '_', '.' and '-'";
    if (strlen(subject->name) > NAME_MAX_BYTES || subject->name[0] == '.')
        return "its name must have 40 characters at most, the first no '.'";
    if (subject->begin == NULL || subject->alloc == NULL ||
        subject->snapshot == NULL)
        return "it needs begin(), alloc() and snapshot()";
    if ((subject->can & frees) != 0 && subject->free == NULL)
        return "it says that blocks are freed, and has no free()";
    if ((subject->read_begin == NULL) != (subject->read_next == NULL))
        return "it needs both of read_begin() and read_next(), or neither";
    if ((subject->wait == NULL) != (subject->read_waits == NULL) ||
        (subject->wait == NULL) !=
            ((subject->can & (SUBJECT_BLOCK | SUBJECT_MUTEX)) == 0))
        return "waits need wait(), read_waits(), and SUBJECT_BLOCK or "
               "SUBJECT_MUTEX";
    return NULL;
}

/* Complain that a subject cannot be loaded. in: error, dlopen()'s message,
 * which begins with the path; source, the file that was compiled, or NULL */
static void
complain_of_load(const char *path, const char *source, const char *error)
{
    const size_t length = strlen(path);

    if (strncmp(error, path, length) == 0 && error[length] == ':')
        error += length + 1 + (error[length + 1] == ' ');
    if (source == NULL && (strstr(error, "invalid ELF header") != NULL ||
                           strstr(error, "file too short") != NULL))
        cli_usage("%s: it must be a shared object, or a C source (.c)", path);
    else if (source == NULL)
        cli_usage("%s: %s", path, error);
    else
        cli_usage("%s: %s; a source is compiled alone: to link others, build a "
                  "shared object",
                  source, error);
}

/* in: source, from which the library was compiled; NULL: not known */
static const struct subject *
load(const char *path, const char *source)
{
    const struct subject *(*give)(void) = NULL;
    const struct subject *subject = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *shown = source != NULL ? source : path;
    const char *why;

    if (library == NULL) {
        complain_of_load(path, source, dlerror());
        return NULL;
    }
    *(void **)&give = dlsym(library, "profsim_subject");
    if (give == NULL) {
        cli_usage("%s: it has no function profsim_subject()", shown);
        return NULL;
    }
    subject = give();
    why = missing(subject);
    if (why == NULL)
        return subject;
    cli_usage("%s: %s", shown, why);
    return NULL;
}

const struct subject *
cli_subject_load(const char *path)
{
    const char *suffix = strrchr(path, '.');
    const struct subject *subject = NULL;
    struct workshop workshop;
    char at[PATH_MAX];

    if (strcmp(path, "own") == 0)
        return cli_subject_own();
    if (suffix == NULL || strcmp(suffix, ".c") != 0) {
        /* A name without a slash also means a file, not a library of the
         * system. */
        snprintf(at, sizeof at, "%s%s", strchr(path, '/') != NULL ? "" : "./",
                 path);
        return load(at, NULL);
    }
    if (!open_workshop(&workshop))
        return NULL;
    if (compile(&workshop, path))
        subject = load(workshop.library, path);
    close_workshop(&workshop);
    return subject;
}

props_set
cli_subject_give(struct sim_scenario *scenario, const struct subject *subject)
{
    if ((scenario->config.instruments & SIM_INSTRUMENT_BIT(SIM_SUBJECT)) == 0)
        return PROPS_ALL;
    scenario->config.subject = subject;
    return PROPS_OF_SUBJECTS;
}

bool
cli_subject_take(const struct subject **subject, const char **path,
                 const char *value)
{
    if (*subject != NULL)
        return cli_complain("--subject names one profiler; '%s' is one more",
                            value);
    *path = value;
    *subject = cli_subject_load(value);
    return *subject != NULL;
}

const struct cli_option cli_subject_options[] = {
    {1, 0, "subject", "FILE", "the profiler that the file is about"},
    CLI_PAGE_OPTIONS,
    {0},
};

const struct cli_option cli_subject_color_options[] = {
    {1, 0, "subject", "FILE", "the profiler that the file is about"},
    CLI_TONE_OPTION,
    CLI_PAGE_OPTIONS,
    {0},
};

bool
cli_subject_words(struct cli_options *words, char **argv, int *count,
                  const struct subject **subject, const char **path,
                  struct cli_page_paths *pages)
{
    int id;

    *count = 0;
    *subject = NULL;
    *path = NULL;
    *pages = (struct cli_page_paths){0};
    while ((id = cli_options_next(words)) != CLI_OPTIONS_END) {
        if (id == CLI_OPTIONS_WORD) {
            argv[++*count] = argv[words->index - 1];
            continue;
        }
        if (id != 1) {
            if (!(id == CLI_TONE_COLOR
                      ? cli_color_take(words->value)
                      : cli_page_take(pages, id, words->value)))
                return false;
            continue;
        }
        if (!cli_subject_take(subject, path, words->value))
            return false;
    }
    return !words->ended;
}

void
cli_subject_command_on(char *text, size_t text_bytes, const char *verb,
                       const char *path, const char *file)
{
    FILE *to = fmemopen(text, text_bytes, "w");

    text[0] = '\0';
    if (to == NULL)
        return;
    fprintf(to, "profsim %s", verb);
    if (path != NULL) {
        fputs(" --subject ", to);
        cli_quote_path(to, path);
    }
    if (file != NULL) {
        fputc(' ', to);
        cli_quote_path(to, file);
    }
    fclose(to);
    text[text_bytes - 1] = '\0';
}

void
cli_subject_command(char *text, size_t text_bytes, const char *verb,
                    const char *path)
{
    cli_subject_command_on(text, text_bytes, verb, path, NULL);
}
