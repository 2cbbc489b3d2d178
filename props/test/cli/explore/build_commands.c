/* build_commands.c -- see build_commands.h. A compiler and a gdb that are shell
 * scripts write their words into a log. */
#include "build_commands.h"

#include <elf.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_program.h"
#include "captured.h"
#include "foreign.h"
#include "unit_test.h"

enum { WORDS_MAX = 16, LINES_MAX = 8, LOG_BYTES = 1 << 14, SECONDS = 60 };

static const char *folder;

static const char *
path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void
write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(path_of(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path_of(name), 0755), 0);
}

/* ---- Object files ---- */

struct object {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3]; /* none, symbols, their names */
    Elf64_Sym symbols[64];
    char names[64 * 8];
};

void
build_object_head(Elf64_Ehdr *head, Elf64_Off sections, uint16_t count)
{
    *head = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                    EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof *head,
        .e_shoff = sections,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = count,
        .e_shstrndx = (uint16_t)(count - 1),
    };
}

/* Write an object with global symbols f0, f1 ... of the numbers in two lists,
 * which end in -1. */
static void
write_object(const char *name, const int *needed, const int *had)
{
    static struct object o;
    size_t count = 1; /* the first symbol is none */
    size_t bytes = 1;

    memset(&o, 0, sizeof o);
    build_object_head(&o.head, offsetof(struct object, sections), 3);
    for (int i = 0; i < 2; i++) {
        for (const int *list = i == 0 ? needed : had; *list >= 0; list++) {
            o.symbols[count++] =
                (Elf64_Sym){.st_name = (Elf64_Word)bytes,
                            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
                            .st_shndx = i == 0 ? SHN_UNDEF : SHN_ABS};
            bytes += (size_t)snprintf(&o.names[bytes], 8, "f%d", *list) + 1;
        }
    }
    o.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_offset = offsetof(struct object, symbols),
                                 .sh_size = count * sizeof o.symbols[0],
                                 .sh_link = 2,
                                 .sh_info = 1,
                                 .sh_addralign = 8,
                                 .sh_entsize = sizeof o.symbols[0]};
    o.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct object, names),
                                 .sh_size = bytes,
                                 .sh_addralign = 1};
    write_file(name, &o, sizeof o);
}

/* Write an archive of one empty member, which has the two-letter symbol. */
static void
write_archive(const char *name, const char *symbol)
{
    char bytes[256];
    int count =
        snprintf(bytes, sizeof bytes, "!<arch>\n%-16s%-12d%-6d%-6d%-8d%-10d`\n",
                 "/", 0, 0, 0, 0, 12);

    memcpy(&bytes[count], "\0\0\0\1\0\0\0\120", 8); /* one, in byte 80 */
    snprintf(&bytes[count + 8], 4, "%s", symbol);
    bytes[count + 11] = '\0';
    count += 12;
    count += snprintf(&bytes[count], sizeof bytes - (size_t)count,
                      "%-16s%-12d%-6d%-6d%-8d%-10d`\n", "a.o/", 0, 0, 0, 0, 0);
    write_file(name, bytes, (size_t)count);
}

static enum cli_exit
check_objects(int argc, char **argv)
{
    return cli_foreign_check(&argv[2], (uint32_t)argc - 2, argv[1])
               ? CLI_OK
               : CLI_BROKEN;
}

static int
by_name(const void *a, const void *b)
{
    char names[2][16];

    snprintf(names[0], sizeof names[0], "f%d", *(const int *)a);
    snprintf(names[1], sizeof names[1], "f%d", *(const int *)b);
    return strcmp(names[0], names[1]);
}

/* Two objects need functions 1 to `last` of each other, and some more. */
static void
expect_foreign(int last, int had_one)
{
    char paths[3][128];
    char *words[] = {"check", paths[0], paths[1], paths[2], NULL};
    int needed[2][64];
    int had[] = {had_one, -1};
    int wanted[64];
    int count = 0;
    char text[4096] = "";
    struct captured said;

    for (int i = 0; i <= last; i++) {
        needed[0][i] = last - i; /* each in both, and in no order */
        needed[1][i] = i * 7 % (last + 1);
        if (i != had_one && i != 1) /* f1 is the archive's */
            wanted[count++] = i;
    }
    needed[0][last + 1] = needed[1][last + 1] = -1;
    write_object("one.o", needed[0], had);
    write_object("two.o", needed[1], &had[1]);
    write_archive("lib.a", "f1");
    qsort(wanted, (size_t)count, sizeof *wanted, by_name);
    for (int i = 0; i < count && i < 20; i++)
        snprintf(&text[strlen(text)], sizeof text - strlen(text),
                 "profsim: the program calls f%d, which is not instrumented: "
                 "what it touches would not be seen\n",
                 wanted[i]);
    if (count > 20)
        snprintf(&text[strlen(text)], sizeof text - strlen(text),
                 "profsim: ... and %d more\n", count - 20);
    snprintf(paths[0], sizeof paths[0], "%s", path_of("lib.a"));
    snprintf(paths[1], sizeof paths[1], "%s", path_of("one.o"));
    snprintf(paths[2], sizeof paths[2], "%s", path_of("two.o"));
    assert_true(captured_run(&said, check_objects, words, -1, SECONDS));
    assert_string_equal(said.text, text);
    assert_int_equal(said.exit_code, count > 0 ? CLI_BROKEN : CLI_OK);
    captured_free(&said);
}

void
functions_that_are_foreign(const char *in)
{
    folder = in;
    expect_foreign(1, 0);
    expect_foreign(2, 0);
    expect_foreign(2, 2);
    for (int last = 19; last < 24; last++)
        expect_foreign(last, last / 2);
}

/* ---- Commands ---- */

static const char tool[] =
    "#!/bin/sh\n"
    "{\n"
    "    printf %s \"${0##*/}\"\n"
    "    for word; do printf ' <%s>' \"$word\"; done\n"
    "    [ \"${0##*/}\" != program ] ||\n"
    "        printf ' NAME=%s FLAGS=%s' \"$PROFSIM_EXPLORE_NAME\" "
    "\"$PROFSIM_EXPLORE_FLAGS\"\n"
    "    printf ' STOP=%s\\n' \"$PROFSIM_EXPLORE_STOP\"\n"
    "} | sed \"s,$TMPDIR/profsim-[^/]*/,@/,g\" >>\"$TOOLS/log\"\n"
    "case ${0##*/} in\n"
    "program) eval \"$END\" ;;\n"
    "cc | cxx)\n"
    "    kind=link\n"
    "    for word; do\n"
    "        [ \"$before\" != -o ] || out=$word\n"
    "        case $word in -S | -c) kind=$word ;; esac\n"
    "        before=$word\n"
    "    done\n"
    "    [ \"$kind\" != \"$FAILS\" ] || exit 1\n"
    "    case $kind in\n"
    "    -S) echo >\"$out\" ;;\n"
    "    -c) cp \"$TOOLS/none.o\" \"$out\" ;;\n"
    "    *) cp \"$0\" \"$out\" ;;\n"
    "    esac ;;\n"
    "esac\n";

#define COMPILE " *<-g> *<-O1> *<-fno-builtin> "
#define LAST    "<-fsanitize=thread> <-fno-lto> <-S> "
#define LIBRARY " *<*/lib.a> <-l:libdw.so.1>"
#define LINKED  "<-o> <@/program> <-Wl,--wrap=main,-z,now>"

static const struct built {
    const char *words[WORDS_MAX];
    const char *lines[LINES_MAX]; /* of the log, as patterns */
    int exit_code;
    const char *said;     /* NULL: nothing */
    const char *fails;    /* the step; NULL: none */
    const char *end;      /* what the program does; NULL: it ends */
    const char *compiler; /* CC; NULL: the script */
} builds[] = {
    {.words = {"explore", "a.c"},
     .lines = {"cc" COMPILE "*" LAST "<a.c> <-o> <@/0.s> STOP=",
               "cc <-c> <@/0.s> <-o> <@/0.o> STOP=",
               "cc <@/0.o> " LINKED LIBRARY " STOP=",
               "program <--> <explore> <a.c> NAME=a.c FLAGS= STOP="}},
    {.words = {"explore", "a.c", "b.c", "--entry=go", "--jobs", "2", "--",
               "-m64", "-Wa,-q", "-I", "x y"},
     .lines = {"cc" COMPILE "*<-m64> <-Wa,-q> <-I> <x y> " LAST
               "<a.c> <-o> <@/0.s> STOP=",
               "cc <-m64> <-Wa,-q> <-c> <@/0.s> <-o> <@/0.o> STOP=",
               "cc" COMPILE "*<-m64> <-Wa,-q> <-I> <x y> " LAST
               "<b.c> <-o> <@/1.s> STOP=",
               "cc <-m64> <-Wa,-q> <-c> <@/1.s> <-o> <@/1.o> STOP=",
               "cc <@/0.o> <@/1.o> " LINKED
               " <-Wl,--defsym=profsim_entry=go>" LIBRARY
               " <-m64> <-Wa,-q> <-I> <x y> STOP=",
               "program <--jobs> <2> <--> <explore> <a.c> <b.c> <--entry=go> "
               "<--jobs> <2> <--> <-m64> <-Wa,-q> <-I> <x y> NAME=a.c b.c "
               "--entry go FLAGS=-- -m64 "
               "-Wa,-q -I 'x y' STOP="}},
    {.words = {"explore", "--entry", "a.c", "d/b.C"},
     .lines = {"cxx" COMPILE "*<-D_GLIBCXX_ASSERTIONS> " LAST
               "<d/b.C> <-o> <@/0.s> STOP=",
               "cxx <-c> <@/0.s> <-o> <@/0.o> STOP=",
               "cxx <@/0.o> " LINKED " <-Wl,--defsym=profsim_entry=a.c>" LIBRARY
               " STOP=",
               "program <--> <explore> <--entry> <a.c> <d/b.C> NAME=d/b.C "
               "--entry a.c FLAGS= STOP="}},
    {.words = {"explore", "a.c", "b.cpp"},
     .lines = {"cxx" COMPILE "*" LAST "<a.c> *", "cxx <-c> <@/0.s> *",
               "cxx" COMPILE "*" LAST "<b.cpp> *", "cxx <-c> <@/1.s> *",
               "cxx <@/0.o> <@/1.o> *", "program *"}},
    {.words = {"explore", "a.c", "--", "-Wall"}, /* not for an assembler */
     .lines = {"cc" COMPILE "*<-Wall> " LAST "*",
               "cc <-c> <@/0.s> <-o> <@/0.o> STOP=",
               "cc <@/0.o> " LINKED LIBRARY " <-Wall> STOP=",
               "program <--> <explore> <a.c> <--> <-Wall> NAME=a.c FLAGS=-- "
               "-Wall STOP="}},
    {.words = {"explore", "a.c", "--", "-i", "x"},
     .lines = {"cc*", "cc <-c> <@/0.s> <-o> <@/0.o> STOP=", "cc*",
               "program <--> <explore> <a.c> <--> <-i> <x> NAME=a.c FLAGS=-- "
               "-i x STOP="}},
    {.words = {"explore", "b.cc"},
     .lines = {"cxx *"},
     .fails = "-S",
     .exit_code = 1,
     .said = "b.cc: */cxx cannot compile it"},
    {.words = {"explore", "b.cxx"},
     .lines = {"cxx *", "cxx *"},
     .fails = "-c",
     .exit_code = 1},
    {.words = {"explore", "a.c"},
     .lines = {"cc *", "cc *", "cc *"},
     .fails = "link",
     .exit_code = 1,
     .said = "*/cc cannot link the program"},
    {.words = {"explore", "a.c", "--gdb", "4095", "--replay", "0,1"},
     .lines =
         {"cc * STOP=4095", "cc *", "cc *",
          "gdb <-q> <-x> <@/gdb> <--args> <@/program> <--replay> <0,1> "
          "<--> <explore> <a.c> <--gdb> <4095> <--replay> <0,1> STOP=4095"}},
    {.words = {"explore", "a.c", "--replay=0", "--gdb=0"},
     .lines = {"cc *", "cc *", "cc *",
               "gdb <-q> <-x> <@/gdb> <--args> <@/program> <--replay=0> "
               "<--> <explore> <a.c> <--replay=0> <--gdb=0> STOP=0"}},
    {.words = {"explore", "a.c", "--gdb=3", "--jobs=2", "--repla=0"},
     .exit_code = 1,
     .said = "--gdb needs --replay, too: *"},
    {.words = {"explore", "a.c", "--replay=0", "--gdb=4096"},
     .exit_code = 1,
     .said = "--gdb takes *"},
    {.words = {"explore", "a.c", "--gdb"},
     .exit_code = 1,
     .said = "--gdb needs an event's number"},
    {.words = {"explore", "a.c", "--entry"},
     .exit_code = 1,
     .said = "--entry needs a function's name"},
    {.words = {"explore", "a.c"},
     .lines = {"*", "*", "*", "program *"},
     .end = "exit 4",
     .exit_code = 4},
    {.words = {"explore", "a.c"},
     .lines = {"*", "*", "*", "program *"},
     .end = "kill -9 $$",
     .exit_code = 3,
     .said = "the program was ended by signal 9"},
    {.words = {"explore", "a.c"},
     .compiler = "none",
     .exit_code = 1,
     .said = "none: no such compiler (CC)"},
    {.words = {"explore", "a.c"},
     .compiler = "/none/cc",
     .exit_code = 1,
     .said = "/none/cc: no such compiler (CC)"},
    {.words = {"explore", "a.c", "--entry=main"},
     .lines = {"cc *", "cc *", "cc <@/0.o> " LINKED LIBRARY " STOP=",
               "program <--> <explore> <a.c> <--entry=main> NAME=a.c FLAGS= "
               "STOP="}},
    {.words = {"explore", "a.c", "extra"},
     .exit_code = 1,
     .said = "explore: 'extra' is neither an option nor a source file (*)"},
    {.words = {"explore", "-", "a.c", "--", "extra"},
     .exit_code = 1,
     .said = "explore: '-' is neither an option nor a source file (*)"},
    {.words = {"explore", "a.c", "--html", "b.c", "--json=x.c", "--result",
               "c.cc"},
     .lines = {"cc *<a.c> *", "cc <-c> *", "cc <@/0.o> <-o> *",
               "program <--html> <b.c> <--json=x.c> <--result> <c.cc> <--> "
               "*"}},
    {.words = {"explore", "--json", "a.c", "--jobs", "x"},
     .exit_code = 1,
     .said = "--jobs takes *"},
    {.words = {"explore", "a.c", "--json", "--", "b.c"},
     .lines = {"cc *<b.c> <-fsanitize=thread> *<a.c> *", "cc *", "cc *",
               "program <--json> <--> *"}},
    {.words = {"explore", ".c"},
     .exit_code = 1,
     .said = "there is no kernel *"},
    {.words = {"explore", "-a.c"}, .exit_code = 1, .said = "*-a.c*"},
    {.words = {"explore", "--list=", "--", "a.c"},
     .exit_code = 1,
     .said = "*--list*"},
};

static void
expect_log(const struct built *b)
{
    char log[LOG_BYTES] = "";
    FILE *file = fopen(path_of("log"), "r");
    char *rest = log;
    char *line;
    int i = 0;

    if (file != NULL) {
        log[fread(log, 1, sizeof log - 1, file)] = '\0';
        fclose(file);
        assert_int_equal(unlink(path_of("log")), 0);
    }
    for (; (line = strsep(&rest, "\n")) != NULL && *line != '\0'; i++) {
        if (b->lines[i] == NULL || fnmatch(b->lines[i], line, 0) != 0)
            fail_msg("%s, command %d: %s\nnot %s", b->words[1], i, line,
                     b->lines[i]);
    }
    assert_null(b->lines[i]);
}

static void
expect_build(const struct built *b)
{
    char words[WORDS_MAX][32];
    char *argv[WORDS_MAX + 1] = {NULL};
    char pattern[128] = "";
    struct captured said;

    for (int i = 0; b->words[i] != NULL; i++) {
        snprintf(words[i], sizeof words[i], "%s", b->words[i]);
        argv[i] = words[i];
    }
    setenv("CC", b->compiler != NULL ? b->compiler : path_of("cc"), 1);
    setenv("CXX", path_of("cxx"), 1);
    setenv("FAILS", b->fails != NULL ? b->fails : "", 1);
    setenv("END", b->end != NULL ? b->end : ":", 1);
    assert_true(captured_run(&said, cli_explore_any, argv, -1, SECONDS));
    if (b->said != NULL)
        snprintf(pattern, sizeof pattern, "profsim: %s\n", b->said);
    if (said.exit_code != b->exit_code || fnmatch(pattern, said.text, 0) != 0)
        fail_msg("%s: exit code %d:\n%s", b->words[1], said.exit_code,
                 said.text);
    captured_free(&said);
    expect_log(b);
    /* No file is left. */
    assert_int_equal(rmdir(path_of("tmp")), 0);
    assert_int_equal(mkdir(path_of("tmp"), 0700), 0);
}

void
commands_of_builds(const char *in)
{
    static const char *const tools[] = {"cc", "cxx", "gdb"};
    static const int none = -1;
    char *path = NULL;

    folder = in;
    for (int i = 0; i < 3; i++)
        write_file(tools[i], tool, sizeof tool - 1);
    write_object("none.o", &none, &none);
    write_archive("lib.a", "f1");
    assert_int_equal(mkdir(path_of("tmp"), 0700), 0);
    assert_true(asprintf(&path, "%s:%s", folder, getenv("PATH")) > 0);
    setenv("PATH", path, 1);
    setenv("TOOLS", folder, 1);
    setenv("PROFSIM_EXPLORE_NAME", "another", 1); /* of a command around it */
    setenv("PROFSIM_EXPLORE_FLAGS", "others", 1);
    setenv("TMPDIR", path_of("tmp"), 1);
    setenv("PROFSIM_EXPLORE_LIBRARY", path_of("lib.a"), 1);
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++)
        expect_build(&builds[i]);
    free(path);
}
