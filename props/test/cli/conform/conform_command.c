/*
 * conform_command.c -- see conform_command.h. A check is a shell script here,
 * which does what a variable with the check's name says; a model says what must
 * be printed of it.
 */
#include "conform_command.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "conform.h"
#include "conform/stream.h"
#include "conform_model.h"
#include "drawn.h"
#include "unit_test.h"

enum { WORDS_MAX = 16, SECONDS = 20 };

static const char *folder;

/* returns: a path in the folder; four are kept */
static const char *
path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void
write_file(const char *name, const void *bytes, size_t count)
{
    const int file =
        open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), count);
    assert_int_equal(close(file), 0);
}

/* ---- Libraries ---- */

struct probe {
    Elf64_Nhdr head;
    char owner[8];
    uint32_t addresses[6]; /* three, of 64 bits */
    char texts[40];        /* the provider, the name, the arguments */
};

struct library {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3]; /* none, notes, names */
    struct probe probes[2];
    char names[32];
};

/* Write a file that has two probes of a provider. */
static void
write_library(const char *name, const char *provider, const char *first,
              const char *second)
{
    struct library l = {.names = "\0.note.stapsdt"};
    const char *const probes[] = {first, second};

    memcpy(l.head.e_ident, ELFMAG, SELFMAG);
    l.head.e_ident[EI_CLASS] = ELFCLASS64;
    l.head.e_ident[EI_DATA] = ELFDATA2LSB;
    l.head.e_shoff = offsetof(struct library, sections);
    l.head.e_shentsize = sizeof l.sections[0];
    l.head.e_shnum = 3;
    l.head.e_shstrndx = 2;
    l.sections[1] = (Elf64_Shdr){.sh_name = 1,
                                 .sh_offset = offsetof(struct library, probes),
                                 .sh_size = sizeof l.probes};
    l.sections[2] = (Elf64_Shdr){.sh_offset = offsetof(struct library, names),
                                 .sh_size = sizeof l.names};
    for (int i = 0; i < 2; i++) {
        struct probe *probe = &l.probes[i];

        probe->head =
            (Elf64_Nhdr){sizeof probe->owner,
                         sizeof *probe - offsetof(struct probe, addresses), 3};
        memcpy(probe->owner, "stapsdt", 8);
        snprintf(probe->texts, sizeof probe->texts, "%s%c%s", provider, 0,
                 probes[i]);
    }
    write_file(name, &l, sizeof l);
}

#define SILENT "the check said nothing"

static const struct act acts[] = {
    {"echo 'holds all of it'", HOLDS, "all of it", NULL},
    {"echo 'holds  '", HOLDS, " ", NULL},
    {"echo 'holds '", HOLDS, "", NULL},
    {"echo 'broken 3 of 4'; exit 9", BROKEN, "3 of 4", NULL},
    {"echo 'not-tried why'; kill -9 $$", NOT_TRIED, "why", NULL},
    {"echo 'not-applicable a # b'", NOT_APPLICABLE, "a # b", NULL},
    {"printf 'holds one\\nbroken two\\n'", HOLDS, "one", NULL},
    {"printf 'bro'; exec >&1; printf 'ken in parts'", BROKEN, "in parts", NULL},
    {"printf 'broken a\\tb\\n'", BROKEN, "a\\tb", "a\\\\tb"},
    {"echo crashed by hand", INCOMPLETE, SILENT, NULL},
    {"echo 'Holds all'", INCOMPLETE, SILENT, NULL},
    {"echo 'hold all'", INCOMPLETE, SILENT, NULL},
    {"echo holds", INCOMPLETE, SILENT, NULL},
    {"echo", INCOMPLETE, SILENT, NULL},
    {":", CRASHED, "it ended by itself, with code 0", NULL},
    {"exit 41", CRASHED, "it ended by itself, with code 41", NULL},
    {"kill -6 $$", CRASHED, "it was ended by signal 6", NULL},
    {"kill -9 $$", CRASHED, "it was ended by signal 9", NULL},
};

enum { ACTS = sizeof acts / sizeof *acts };

static const struct act slow = {"exec sleep 60", NO_END,
                                "it did not end within 1 s", NULL};

/* A text that is cut, and a process that is left and holds the pipe. */
static char long_text[1023 - 6 + 1];
static const struct act endless = {
    "trap '' FPE USR1; sleep 60 & echo $! >$LEFT; printf 'holds %0100d' 0; "
    "sleep 0.05; printf '%01200d' 0",
    HOLDS, long_text, NULL};

/* ---- The command ---- */

/* The words of a command line, of a test's own. */
struct line {
    char words[CHECKS * 2 + WORDS_MAX][160];
    char *argv[CHECKS * 2 + WORDS_MAX + 1];
    int count;
};

static void
add(struct line *line, const char *word)
{
    snprintf(line->words[line->count], sizeof line->words[0], "%s", word);
    line->argv[line->count] = line->words[line->count];
    line->argv[++line->count] = NULL;
}

/* Leave out what the system's linker says of a library that is none. */
static void
remove_noise(char *text)
{
    char *to = text;

    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n") + 1;
        const size_t kept = bytes - (text[bytes - 1] == '\0');

        if (strncmp(text, "ERROR: ld.so", 12) != 0) {
            memmove(to, text, kept);
            to += kept;
        }
        text += kept;
    }
    *to = '\0';
}

static void
expect_report(const struct asked *asked)
{
    static struct text got;
    static struct text wanted;
    FILE *file = fopen(path_of("json"), "r");
    char *results;

    assert_non_null(file);
    got.bytes[fread(got.bytes, 1, TEXT_BYTES - 1, file)] = '\0';
    fclose(file);
    results = strstr(got.bytes, "  \"results\"");
    assert_non_null(results);
    wanted.used = 0;
    conform_results(&wanted, asked);
    assert_string_equal(results, wanted.bytes);
}

static void
expect_outcome(struct line *line, const struct asked *asked)
{
    static struct text wanted;
    struct captured said;
    int exit_code;

    wanted.used = 0;
    exit_code = conform_text(&wanted, asked);
    assert_true(captured_run(&said, cli_conform, line->argv, -1, SECONDS));
    remove_noise(said.text);
    assert_string_equal(said.text, wanted.bytes);
    assert_int_equal(said.exit_code, exit_code);
    captured_free(&said);
}

static void
do_act(int check, const struct act *act)
{
    char variable[64];

    snprintf(variable, sizeof variable, "DO_%s", conform_checks[check].name);
    setenv(variable, act->script, 1);
}

static const char checking[] =
    "#!/bin/sh\n"
    "case $LD_PRELOAD in\n"
    "\"$LIBRARY\"|\"$LIBRARY\":*) ;;\n"
    "*) echo \"broken the library is not preloaded\"; exit;;\n"
    "esac\n"
    "[ $# -eq 1 ] || exit 77\n"
    "eval \"eval \\\"\\$DO_$1\\\"\"\n";

static bool
is_gone(void)
{
    char path[64];
    char state;
    unsigned process;
    FILE *file = fopen(path_of("left"), "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%u", &process), 1);
    fclose(file);
    snprintf(path, sizeof path, "/proc/%u/stat", process);
    file = fopen(path, "r");
    if (file == NULL)
        return true;
    if (fscanf(file, "%*u (%*[^)]) %c", &state) != 1)
        state = 'X';
    fclose(file);
    return state == 'Z' || state == 'X';
}

static void
write_files(void)
{
    write_library("lib.so", "otel_memory", "free", "alloc");
    write_file("check", checking, sizeof checking - 1);
    setenv("LIBRARY", path_of("lib.so"), 1);
    setenv("LEFT", path_of("left"), 1);
    setenv("PROFSIM_CONFORM", path_of("check"), 1);
    setenv("PROFSIM_OBSERVE", path_of("lib.so"), 1);
    memset(long_text, '0', sizeof long_text - 1);
}

/* Each act alone, all checks at once, some of them, and two that take a second.
 * returns: what a check does; NULL: it is not asked for */
static const struct act *
act_of(int round, int only, int check)
{
    if (round < ACTS)
        return check == only ? &acts[round] : NULL;
    if (round < ACTS + 2)
        return round == ACTS || check % 8 == 1 ? &acts[draw(ACTS)] : NULL;
    return check == 3 ? &endless : check == 17 ? &slow : NULL;
}

void
conform_of_libraries(const char *in)
{
    struct asked asked = {.before = ""};
    char library[128];

    folder = in;
    write_files();
    snprintf(library, sizeof library, "%s", path_of("lib.so"));
    asked.subject = asked.words = library;
    drawn = 7;
    for (int round = 0; round < ACTS + 3; round++) {
        const int only = (int)draw(CHECKS);
        struct line line = {.count = 0};

        add(&line, "conform");
        for (int i = CHECKS - 1; i >= 0; i--) {
            asked.acts[i] = act_of(round, only, i);
            if (asked.acts[i] == NULL)
                continue;
            do_act(i, asked.acts[i]);
            if (round == ACTS)
                continue;
            add(&line, i % 2 == 0 ? "--only" : "-o");
            add(&line, conform_dashed(conform_checks[i].name));
        }
        add(&line, "--json");
        add(&line, path_of("json"));
        if (round > ACTS)
            add(&line, "-t1");
        add(&line, library);
        expect_outcome(&line, &asked);
        expect_report(&asked);
    }
    assert_true(is_gone());
}

/* A command whose events are in a file. */
void
conform_of_a_command(const char *in)
{
    static const struct {
        const char *check;
        struct act act;
    } judged[] = {
        {"weights",
         {"", NOT_TRIED, "of 1 sampled blocks no two have one size", NULL}},
        {"frees",
         {"", BROKEN, "process 5: 0x10 has two frees after each other", NULL}},
        {"nothing", {"", HOLDS, "none of 3 events is of NULL", NULL}},
        {"size_zero", {"", NOT_TRIED, "no block of no size was sampled", NULL}},
    };
    static struct stream events = {
        .magic = STREAM_MAGIC,
        .count = 3,
        .sites = 1,
        .events = {{0, 5, 16, 8, 8}, {1, 5, 16, 0, 0}, {1, 5, 16, 0, 0}}};
    static const char *const script =
        "cat \"$1\" | dd conv=notrunc of=\"$PROFSIM_CONFORM_STREAM\" "
        "2>\"$2\"";

    folder = in;
    write_files();
    write_file("events", &events, offsetof(struct stream, events[3]));
    for (int round = 0; round < 6; round++) {
        struct asked asked = {.subject = "sh", .before = "# 3 events\n"};
        struct line line = {.count = 0};
        char words[512];

        add(&line, "conform");
        for (int i = 0; i < CHECKS; i++) {
            for (int j = 0; j < 4; j++) {
                if (strcmp(conform_checks[i].name, judged[j].check) == 0 &&
                    (round == 4 || round == j))
                    asked.acts[i] = &judged[j].act;
            }
            if (round == 5 ? i % 8 == 3 : round < 4 && asked.acts[i] != NULL) {
                add(&line, "--only");
                add(&line, conform_dashed(conform_checks[i].name));
            }
        }
        add(&line, "--");
        for (int i = 0; i < 6; i++)
            add(&line, i == 0   ? "sh"
                       : i == 1 ? "-c"
                       : i == 2 ? script
                       : i == 3 ? "x y"
                       : i == 4 ? path_of("events")
                                : path_of("log"));
        snprintf(words, sizeof words, "-- sh -c '%s' 'x y' %s %s", script,
                 path_of("events"), path_of("log"));
        asked.words = words;
        if (round == 5 && asked.acts[0] == NULL)
            asked.words = "";
        expect_outcome(&line, &asked);
    }
}

static void
expect_words(const char *const *words, int exit_code, const char *pattern)
{
    struct line line = {.count = 0};
    struct captured said;

    add(&line, "conform");
    for (; *words != NULL; words++)
        add(&line, **words == '@' ? path_of(*words + 1) : *words);
    assert_true(captured_run(&said, cli_conform, line.argv, -1, SECONDS));
    remove_noise(said.text);
    if (said.exit_code != exit_code || fnmatch(pattern, said.text, 0) != 0)
        fail_msg("%s: exit code %d:\n%s", line.words[line.count - 1],
                 said.exit_code, said.text);
    captured_free(&said);
}

void
conform_of_wrong_words(const char *in)
{
    static const struct {
        const char *words[6];
        const char *pattern;
    } rows[] = {
        {{NULL}, "profsim: conform: needs a LIBRARY; *\n"},
        {{"--"}, "profsim: conform: needs a LIBRARY; *\n"},
        {{"@lib.so", "b"},
         "profsim: conform: one LIBRARY, or -- before a COMMAND, not 'b'\n"},
        {{"@lib.so", "--", "b"},
         "profsim: conform: one LIBRARY, or -- before a COMMAND, not '--'\n"},
        {{"@none"}, "profsim: */none: No such file or directory\n"},
        {{"@check"}, "profsim: */check: it has no probe otel_memory:alloc\n"},
        {{"@free.so"},
         "profsim: */free.so: it has no probe otel_memory:alloc\n"},
        {{"@other.so"},
         "profsim: */other.so: it has no probe otel_memory:alloc\n"},
        {{"@empty"}, "profsim: */empty: it is no plain file\n"},
        {{"@a b.so"},
         "profsim: */a b.so: a path with a space or a colon cannot be "
         "preloaded\n"},
        {{"@a:b.so"}, "profsim: */a:b.so: a path with a space or *\n"},
        {{"--only", "size_zero", "@lib.so"},
         "profsim: *'size_zero'*did you mean 'size-zero'?*\n"},
        {{"--only", "size-zeros", "@lib.so"},
         "profsim: *'size-zeros'*did you mean 'size-zero'?*\n"},
        {{"--only", "qqqqqqqq", "@lib.so"},
         "profsim: *'qqqqqqqq'*'profsim conform --list' names them*\n"},
        {{"--time", "0", "@lib.so"}, "profsim: --time takes *3600*\n"},
        {{"--time", "3601", "@lib.so"}, "profsim: --time takes *3600*\n"},
        {{"--json", "", "@lib.so"}, "profsim: *--json*\n"},
        {{"--nonsense", "@lib.so"}, "profsim: *--nonsense*\n"},
    };
    static struct text list;

    folder = in;
    write_files();
    write_library("free.so", "otel_memory", "free", "allocs");
    write_library("other.so", "otel_memorys", "free", "alloc");
    write_library("a b.so", "otel_memory", "alloc", "free");
    write_library("a:b.so", "otel_memory", "alloc", "free");
    write_file("empty", "", 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_words(rows[i].words, 1, rows[i].pattern);
    setenv("DO_frees", "echo holds x", 1);
    expect_words((const char *[]){"-t3600", "-ofrees", "@lib.so", NULL}, 0,
                 "TAP version 13\n1..1\nok 1 - C7 frees\n# x\n# 1 hold, *\n");
    setenv("PROFSIM_CONFORM", path_of("none"), 1);
    expect_words((const char *[]){"@lib.so", NULL}, 1,
                 "profsim conform: */none: the library is not there\n");
    expect_words((const char *[]){"--", path_of("none"), NULL}, 127,
                 "profsim conform: */none: No such file or directory\n");
    for (int i = 0; i < CHECKS; i++)
        conform_put(&list, "%-4s %-22s %s\n", conform_checks[i].sentence,
                    conform_dashed(conform_checks[i].name),
                    conform_checks[i].about);
    expect_words((const char *[]){"--list", "@none", NULL}, 0, list.bytes);
}
