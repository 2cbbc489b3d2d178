/* build_parts.c -- see build_parts.h. */
#include "explore/build_parts.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "assembly.h"
#include "build_program.h"
#include "captured.h"
#include "drawn.h"
#include "explore/build_commands.h"
#include "foreign.h"
#include "unit_test.h"

enum { SECONDS = 60, TEXT_BYTES = 1 << 14, LINES_MAX = 12, FILES_MAX = 4 };

static const char *folder;

void
build_folder(const char *in)
{
    folder = in;
}

const char *
build_path(const char *name)
{
    static char paths[FILES_MAX][128];
    static int next;
    char *path = paths[next++ % FILES_MAX];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void
build_put_file(const char *name, const void *bytes, size_t count)
{
    const int file = open(build_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0755);

    assert_true(file >= 0 && write(file, bytes, count) == (ssize_t)count);
    assert_int_equal(close(file), 0);
}

/* ---- Assembly ---- */

/* A line of assembly, and what it means. */
enum meaning { NOTHING, BEGIN, END, HARMFUL, HARMLESS, MARK, BETWEEN, PLACE };

static const struct {
    const char *text; /* %d: a line of the source */
    enum meaning meaning;
} kinds[] = {
    {"#APP", BEGIN},
    {"\t#APP", BEGIN},
    {"#APP\t# inline", BEGIN},
    {"#AP", NOTHING},
    {"#NO_APP", END},
    {"#NO_AP", NOTHING},
    {" \t#NO_APP", END},
    {"\tmovl $1, %eax", HARMFUL},
    {"lock; incl (%rdi)", HARMFUL},
    {"\tpause; nop; x", HARMFUL},
    {"pausex", HARMFUL},
    {"paus", HARMFUL},
    {"# a comment", HARMFUL},
    {"# 3 x", HARMFUL},
    {"\tpause", HARMLESS},
    {" rep; nop", HARMLESS},
    {";yield;\tisb \r", HARMLESS},
    {"", HARMLESS},
    {"# %d \"mark.c\" 1", MARK},
    {"\t# %d \"mark.c\"", MARK},
    {"# 0 \"\" 2", BETWEEN},
    {"\t.loc 0 3 40 # place.c:%d:40", PLACE},
    {" .loc 1 2   #   place.c:%d:1", PLACE},
    {"\t.loc 0 3 40", NOTHING},
    {"\t.log 0 3 40 # place.c:3:40", NOTHING},
    {"\t.loc 0 3 # place", NOTHING},
    {"main:", NOTHING},
    {"\tret", NOTHING},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Print a line. in: number, for %d */
static void
put(char *to, const char *text, int number)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (c[0] == '%' && c[1] == 'd') {
            to += sprintf(to, "%d", number);
            c++;
        } else {
            *to++ = *c;
        }
    }
    *to++ = '\n';
    *to = '\0';
}

static enum cli_exit
check_assembly(int argc, char **argv)
{
    (void)argc;
    return cli_assembly_check(argv[1], argv[2]) ? CLI_OK : CLI_BROKEN;
}

static void
expect_assembly(int exit_code, const char *wanted)
{
    char name[] = "check";
    char source[] = "prog.c";
    char path[128];
    char *argv[] = {name, path, source, NULL};
    struct captured said;

    snprintf(path, sizeof path, "%s", build_path("0.s"));
    assert_true(captured_run(&said, check_assembly, argv, -1, SECONDS));
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, exit_code);
    captured_free(&said);
}

/* What has been read so far. */
struct state {
    char place[64];
    char said[64];
    bool inside;
    bool between;
    bool bad;
};

/* returns: is this line to be complained of? */
static bool
is_told(struct state *state, enum meaning meaning, int number)
{
    if (meaning == BEGIN) {
        state->inside = true;
        state->between = false;
    } else if (meaning == END) {
        state->inside = false;
    } else if (meaning == PLACE && !state->inside) {
        sprintf(state->place, "place.c:%d", number);
    } else if (meaning == MARK && state->inside) {
        sprintf(state->place, "mark.c:%d", number);
        state->between = false;
    } else if (meaning == BETWEEN && state->inside) {
        state->between = true;
    } else if (state->inside && !state->between && meaning != HARMLESS &&
               meaning != MARK) {
        if (state->bad && strcmp(state->said, state->place) == 0)
            return false;
        state->bad = true;
        strcpy(state->said, state->place);
        return true;
    }
    return false;
}

void
assembly_that_is_refused(const char *in)
{
    folder = in;
    drawn = 3;
    for (int round = 0; round < 120; round++) {
        char text[TEXT_BYTES] = "";
        char wanted[TEXT_BYTES] = "";
        struct state state = {.place = ""};
        size_t used = 0;

        for (int i = 0; i < LINES_MAX; i++) {
            const int kind = (int)draw(KINDS);
            const int number = 1 + (int)draw(2);

            put(&text[used], kinds[kind].text, number);
            used += strlen(&text[used]);
            if (is_told(&state, kinds[kind].meaning, number))
                sprintf(&wanted[strlen(wanted)],
                        "profsim: %s: inline assembly: what it touches would "
                        "not be seen\n",
                        state.place[0] != '\0' ? state.place : "prog.c");
        }
        build_put_file("0.s", text, used);
        expect_assembly(state.bad ? CLI_BROKEN : CLI_OK, wanted);
    }
    assert_int_equal(unlink(build_path("0.s")), 0);
    {
        char line[256];

        snprintf(line, sizeof line, "profsim: %s: No such file or directory\n",
                 build_path("0.s"));
        expect_assembly(CLI_BROKEN, line);
    }
    assert_int_equal(mkdir(build_path("0.s"), 0700), 0);
    {
        char line[256];

        snprintf(line, sizeof line, "profsim: %s: cannot be read\n",
                 build_path("0.s"));
        expect_assembly(CLI_BROKEN, line);
    }
    assert_int_equal(rmdir(build_path("0.s")), 0);
}

/* ---- Objects ---- */

/* An object with a few symbols that it needs, of any binding. */
struct object {
    Elf64_Ehdr head;
    Elf64_Shdr sections[4]; /* none, text, symbols, names */
    Elf64_Sym symbols[9];
    char names[256];
};

static struct object latest; /* as it was written, to be damaged */

static void
put_object(const char *file, const char *const *names, int binding, int section)
{
    size_t bytes = 1;
    size_t count = 1;

    memset(&latest, 0, sizeof latest);
    build_object_head(&latest.head, offsetof(struct object, sections), 4);
    for (; *names != NULL; names++) {
        latest.symbols[count++] = (Elf64_Sym){
            .st_name = (Elf64_Word)bytes,
            .st_info = (unsigned char)ELF64_ST_INFO(binding, STT_NOTYPE),
            .st_shndx = (Elf64_Half)section};
        bytes += (size_t)snprintf(&latest.names[bytes],
                                  sizeof latest.names - bytes, "%s", *names) +
                 1;
    }
    latest.sections[1] =
        (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                     .sh_offset = offsetof(struct object, names),
                     .sh_size = 8,
                     .sh_addralign = 1};
    latest.sections[2] =
        (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                     .sh_offset = offsetof(struct object, symbols),
                     .sh_size = count * sizeof latest.symbols[0],
                     .sh_link = 3,
                     .sh_info = 1,
                     .sh_addralign = 8,
                     .sh_entsize = sizeof latest.symbols[0]};
    latest.sections[3] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB,
                     .sh_offset = offsetof(struct object, names),
                     .sh_size = bytes,
                     .sh_addralign = 1};
    build_put_file(file, &latest, sizeof latest);
}

static enum cli_exit
check_objects(int argc, char **argv)
{
    return cli_foreign_check(&argv[2], (uint32_t)argc - 2, argv[1])
               ? CLI_OK
               : CLI_BROKEN;
}

static void
expect_objects(const char *archive, const char *object, const char *pattern)
{
    char paths[2][128];
    char name[] = "check";
    char *argv[] = {name, paths[0], paths[1], NULL};
    struct captured said;

    snprintf(paths[0], sizeof paths[0], "%s", build_path(archive));
    snprintf(paths[1], sizeof paths[1], "%s", build_path(object));
    assert_true(captured_run(&said, check_objects, argv, -1, SECONDS));
    if (fnmatch(pattern, said.text, 0) != 0)
        fail_msg("%s %s: %s\nnot %s", archive, object, said.text, pattern);
    assert_int_equal(said.exit_code, *pattern == '\0' ? CLI_OK : CLI_BROKEN);
    captured_free(&said);
}

void
objects_that_are_refused(const char *in)
{
    static const char archive[] =
        "!<arch>\n"
        "/               0           0     0     0       12        `\n"
        "\0\0\0\1\0\0\0\120f1\0\0"
        "a.o/            0           0     0     0       0         `";
    static const char *const allowed[] = {"_GLOBAL_OFFSET_TABLE_",
                                          "stdin",
                                          "__tls_get_addr",
                                          "__cxa_any",
                                          "isalpha",
                                          "_Unwind_Resume",
                                          NULL};
    static const char *const others[] = {"stdinx", "xstdin", "__cxa",
                                         "",       "isalph", NULL};
    static const char *const first[] = {"aaa", "f1", "zzz", "aaa", NULL};

    folder = in;
    build_put_file("lib.a", archive, sizeof archive);
    build_put_file("text", "no object", 9);
    put_object("o", allowed, STB_GLOBAL, SHN_UNDEF);
    expect_objects("lib.a", "o", "");
    put_object("o", others, STB_LOCAL, SHN_UNDEF);
    expect_objects("lib.a", "o", "");
    put_object("o", others, STB_GLOBAL, SHN_ABS);
    expect_objects("lib.a", "o", "");
    put_object("o", others, STB_GLOBAL, SHN_UNDEF);
    expect_objects("lib.a", "o",
                   "profsim: the program calls __cxa, *\n"
                   "profsim: the program calls isalph, *\n"
                   "profsim: the program calls stdinx, *\n"
                   "profsim: the program calls xstdin, *\n");
    put_object("o", first, STB_WEAK, SHN_UNDEF);
    expect_objects("lib.a", "o",
                   "profsim: the program calls aaa, *\n"
                   "profsim: the program calls zzz, *\n");
    latest.symbols[1].st_name = UINT32_MAX; /* no name */
    latest.symbols[4].st_name = UINT32_MAX;
    build_put_file("o", &latest, sizeof latest);
    expect_objects("lib.a", "o", "profsim: the program calls zzz, *\n");
    expect_objects("lib.a", "text", "profsim: */text: not an object file\n");
    expect_objects("lib.a", "none", "profsim: */none: not an object file\n");
    expect_objects("lib.a", "lib.a", "profsim: */lib.a: not an object file\n");
    put_object("o", allowed, STB_GLOBAL, SHN_UNDEF);
    expect_objects("o", "o", "profsim: */o: not an archive\n");
    expect_objects("text", "o", "profsim: */text: not an archive\n");
    expect_objects("none", "o", "profsim: */none: not an archive\n");
}

/* ---- Signals ---- */

/* Who is told to end leaves behind who removes a file a little later. */
static const char waiting[] = "#!/bin/sh\n"
                              "sleep 60 &\n"
                              "child=$!\n"
                              "trap 'kill $child; echo told >>\"$TOOLS/told\"; "
                              ": >\"$TMPDIR/cc\"; "
                              "(sleep 0.1; rm \"$TMPDIR/cc\") & "
                              "exit 1' TERM HUP INT QUIT\n"
                              "echo $PPID $$ >>\"$TOOLS/pid.new\"\n"
                              "mv \"$TOOLS/pid.new\" \"$TOOLS/pid\"\n"
                              "wait\n";

static bool
has_file(const char *name)
{
    return access(build_path(name), F_OK) == 0;
}

/* Wait until the compiler runs. out: the process of the command, then it */
static void
wait_for_compiler(int *pids)
{
    const struct timespec tick = {0, 5000000};
    FILE *file = NULL;

    for (int i = 0; i < 4000 && file == NULL; i++) {
        nanosleep(&tick, NULL);
        file = fopen(build_path("pid"), "r");
    }
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d %d", &pids[0], &pids[1]), 2);
    fclose(file);
}

int
build_count(const char *path)
{
    DIR *list = opendir(path);
    int count = -2; /* . and .. */

    assert_non_null(list);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count;
}

static pid_t
begin_build(void)
{
    static char words[2][16] = {"explore", "a.c"};
    char *argv[] = {words[0], words[1], NULL};
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        const int none = open("/dev/null", O_WRONLY);

        for (int i = 0; i < 4; i++)
            signal((int[]){SIGINT, SIGQUIT, SIGTERM, SIGHUP}[i], SIG_DFL);
        dup2(none, 2);
        alarm(SECONDS);
        _exit((int)cli_explore_any(2, argv));
    }
    assert_true(child > 0);
    return child;
}

/* A signal that ends the command ends the compiler, too; one that a terminal
 * sends to both is left to the compiler. */
void
builds_that_a_signal_ends(const char *in)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

    folder = in;
    build_put_file("cc", waiting, sizeof waiting - 1);
    build_put_file("lib.a", "", 0);
    assert_int_equal(mkdir(build_path("parent"), 0700), 0);
    setenv("CC", build_path("cc"), 1);
    setenv("TOOLS", folder, 1);
    setenv("TMPDIR", build_path("parent"), 1);
    setenv("PROFSIM_EXPLORE_LIBRARY", build_path("lib.a"), 1);
    for (int i = 0; i < 4; i++) {
        const pid_t child = begin_build();
        int pids[2];
        int status;

        wait_for_compiler(pids);
        assert_int_equal(pids[0], child);
        assert_int_equal(build_count(build_path("parent")), 1);
        assert_int_equal(kill(child, signals[i]), 0);
        if (i >= 2) {
            const struct timespec some = {0, 30000000};

            nanosleep(&some, NULL);
            assert_false(has_file("told"));
            assert_int_equal(waitpid(child, &status, WNOHANG), 0);
            assert_int_equal(kill(pids[1], signals[i]), 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == CLI_USAGE);
        assert_true(has_file("told"));
        assert_int_equal(unlink(build_path("told")), 0);
        assert_int_equal(unlink(build_path("pid")), 0);
        assert_int_equal(build_count(build_path("parent")), 0);
    }
}
