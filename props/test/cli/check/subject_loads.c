/*
 * subject_loads.c -- a test of test_merge.c: which files are subjects, how a
 * source is compiled, and what is said of the others. A compiler that is a
 * shell script writes down its words, and copies a library made before; that
 * library makes its table from what the environment says.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge_case.h"
#include "subject_file.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, TABLES = SANITIZED ? 300 : 1500, TEXT_BYTES = 1 << 19 };

/* The functions of a table, as bits of what the environment asks for. */
enum {
    BEGIN = 1,
    ALLOC = 2,
    FREE = 4,
    SNAPSHOT = 8,
    READ_BEGIN = 16,
    READ_NEXT = 32,
    WAIT = 64,
    READ_WAITS = 128,
    NO_TABLE = 256
};

static const char made_source[] =
    "#include \"subject.h\"\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "static void *some(void) { return NULL; }\n"
    "#define GIVE(bit, f) if (has & bit) *(void **)&s.f = (void *)some\n"
    "const struct subject *profsim_subject(void)\n"
    "{\n"
    "    static struct subject s;\n"
    "    static char name[64];\n"
    "    unsigned has = 0;\n"
    "    s = (struct subject){.name = name};\n"
    "    name[0] = 0;\n"
    "    if (sscanf(getenv(\"MADE\"), \"%u %u %u %63s\", &has, &s.version,\n"
    "               &s.can, name) < 3) s.name = NULL;\n"
    "    GIVE(1, begin); GIVE(2, alloc); GIVE(4, free); GIVE(8, snapshot);\n"
    "    GIVE(16, read_begin); GIVE(32, read_next); GIVE(64, wait);\n"
    "    GIVE(128, read_waits);\n"
    "    if (name[0] == '!') s.name = NULL;\n"
    "    return has & 256 ? NULL : &s;\n"
    "}\n";

static char root[PATH_MAX]; /* where the tests run */

static void
write_file(const char *name, mode_t mode, const char *format, ...)
{
    FILE *file = fopen(wanted_path(name), "w");
    va_list values;

    assert_non_null(file);
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(wanted_path(name), mode), 0);
}

static void
make_libraries(void)
{
    char command[2 * PATH_MAX];

    write_file("table.c", 0644, "%s", made_source);
    write_file("other.c", 0644,
               "int nowhere(void);\n"
               "int somewhere(void) { return nowhere(); }\n");
    snprintf(command, sizeof command,
             "cd %s && cc -shared -fPIC -w -iquote %s/subjects -o table.so "
             "table.c && cc -shared -fPIC -o other.so other.c",
             merge_folder(), root);
    assert_int_equal(system(command), 0);
}

/* A compiler named `name`, in the folder bin; `then` is what it does at the
 * end. The library it makes is that of $MADE_OF. */
static void
write_compiler(const char *name, const char *then)
{
    char path[32];

    snprintf(path, sizeof path, "bin/%s", name);
    write_file(path, 0755,
               "#!/bin/sh\n"
               "for include; do case $include in -I*) break;; esac; done\n"
               "/usr/bin/cmp \"${include#-I}/subject.h\" "
               "%s/subjects/subject.h || exit 9\n"
               "for word in \"${0##*/}\" \"$@\"; do\n"
               "    echo \"$word\"\n"
               "done >%s\n"
               "/bin/cp \"$MADE_OF\" \"${include#-I}/subject.so\"\n%s\n",
               root, wanted_path("words"), then);
}

/* ---- Tables ---- */

/* What subject.h demands of a table. returns: NULL: nothing is missing */
static const char *
fault_of(uint32_t has, uint32_t version, uint32_t can, const char *name)
{
    const bool waits = (can & (SUBJECT_BLOCK | SUBJECT_MUTEX)) != 0;

    if ((has & NO_TABLE) != 0)
        return "profsim_subject() returns NULL";
    if (version != 2)
        return "it was made for another version of subject.h";
    if (name[0] == '\0' || name[0] == '!' || strpbrk(name, "/,@[`{~:") != NULL)
        return "its name must be letters, digits, '_', '.' and '-'";
    if (name[0] == '.' || strlen(name) > 40)
        return "its name must have 40 characters at most, the first no '.'";
    if ((~has & (BEGIN | ALLOC | SNAPSHOT)) != 0)
        return "it needs begin(), alloc() and snapshot()";
    if ((can & 3) != 0 && (has & FREE) == 0)
        return "it says that blocks are freed, and has no free()";
    if ((has & READ_BEGIN) / READ_BEGIN != (has & READ_NEXT) / READ_NEXT)
        return "it needs both of read_begin() and read_next(), or neither";
    if (((has & WAIT) != 0) != waits || ((has & READ_WAITS) != 0) != waits)
        return "waits need wait(), read_waits(), and SUBJECT_BLOCK or "
               "SUBJECT_MUTEX";
    return NULL;
}

static void
draw_name(char *name)
{
    static const char sign[] = "abz.AZ-09_mM5/,@[`{~:!.";
    const uint32_t bytes =
        merge_below(4) > 0 ? merge_below(5) : 38 + merge_below(5);

    for (uint32_t i = 0; i < bytes; i++)
        name[i] = sign[merge_below(merge_below(8) > 0 ? 12 : 22)];
    name[bytes] = '\0';
    if (strchr(name, '!') != NULL)
        snprintf(name, 64, "!");
}

/* Draw tables that lack little. in: expected, NULL: load them; or where to
 * write what is said of them */
static void
each_table(FILE *expected)
{
    const char *path = wanted_path("table.so");

    merge_seed(7);
    for (int i = 0; i < TABLES; i++) {
        uint32_t has = 255 & ~(1u << merge_below(16) | 1u << merge_below(16));
        const uint32_t version =
            merge_below(15) > 0 ? 2 : 1 + 2 * merge_below(2);
        uint32_t can = 1u << merge_below(15);
        const char *why;
        char name[64];
        char made[128];

        has |= merge_below(40) == 0 ? NO_TABLE : 0;
        has &= merge_below(3) == 0 ? ~0u : ~(uint32_t)(WAIT | READ_WAITS);
        can |=
            (has & WAIT) != 0 ? (uint32_t)SUBJECT_BLOCK << merge_below(2) : 0;
        draw_name(name);
        if (expected == NULL) {
            snprintf(made, sizeof made, "%u %u %u %s", has, version, can, name);
            setenv("MADE", made, 1);
            printf("%d %s\n", i, cli_subject_load(path) != NULL ? name : "-");
            continue;
        }
        why = fault_of(has, version, can, name);
        if (why != NULL)
            fprintf(expected, "profsim: %s: %s\n", path, why);
        fprintf(expected, "%d %s\n", i, why == NULL ? name : "-");
    }
}

static enum cli_exit
load_tables(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0); /* output and errors in order */
    each_table(NULL);
    return CLI_OK;
}

static void
expect_tables(void)
{
    static char text[TEXT_BYTES];
    FILE *expected = fmemopen(text, sizeof text, "w");
    char *none[] = {NULL};
    struct captured said;

    assert_non_null(expected);
    each_table(expected);
    assert_int_equal(fclose(expected), 0);
    assert_true(captured_run(&said, load_tables, none, -1, SECONDS));
    assert_string_equal(said.text, text);
    merge_expect_exit(&said, 0);
    captured_free(&said);
}

/* ---- Files ---- */

/* One load, in the folder: its path, and what the environment says. */
static struct load {
    const char *path;
    const char *library; /* that the compiler copies, in the folder */
    const char *cc;      /* NULL: not set */
    const char *only;    /* the only compiler in PATH; NULL: $PATH as it is */
    const char *tmpdir;  /* NULL: not set */
} now;

static void
set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static enum cli_exit
load_one(int argc, char **argv)
{
    const struct subject *subject;

    (void)argc;
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (chdir(merge_folder()) != 0)
        return CLI_CRASH;
    set("MADE", "15 2 0 some");
    set("MADE_OF", wanted_path(now.library != NULL ? now.library : "table.so"));
    set("CC", now.cc);
    set("TMPDIR", now.tmpdir);
    if (now.only != NULL) {
        set("PATH", wanted_path("only"));
        if (*now.only != '\0' &&
            symlink(wanted_path("bin/all"), wanted_path(now.only)) != 0)
            return CLI_CRASH;
    }
    subject = cli_subject_load(now.path);
    if (subject != NULL)
        printf("is %s\n", subject->name);
    if (now.only != NULL && *now.only != '\0')
        unlink(wanted_path(now.only));
    return subject != NULL ? CLI_OK : CLI_USAGE;
}

/* Load a file. in: wanted, what is said of it, a pattern for a path in the
 * folder of the compiler being @ */
static void
expect_load(const char *wanted)
{
    char *none[] = {NULL};
    struct captured said;

    assert_true(captured_run(&said, load_one, none, -1, SECONDS));
    if (strcmp(said.text, wanted) != 0)
        fail_msg("%s:\n%snot:\n%s", now.path, said.text, wanted);
    merge_expect_exit(&said, strncmp(wanted, "is ", 3) != 0);
    captured_free(&said);
    /* The compiler's folder is gone. */
    assert_int_equal(rmdir(wanted_path("tmp")), 0);
    assert_int_equal(mkdir(wanted_path("tmp"), 0700), 0);
}

static void
expect_shared(const char *path, const char *wanted, ...)
{
    char text[512];
    va_list values;

    va_start(values, wanted);
    vsnprintf(text, sizeof text, wanted, values);
    va_end(values);
    now = (struct load){.path = path};
    expect_load(text);
}

static void
expect_shared_objects(void)
{
    Dl_info libc;

    expect_shared("own", "is own\n");
    expect_shared("table.so", "is some\n");
    expect_shared(wanted_path("table.so"), "is some\n");
    write_file("own.so", 0644,
               "not an object, but as long as the head of one, "
               "which has 64 bytes\n");
    expect_shared("own.so",
                  "profsim: ./own.so: it must be a shared object, or a C "
                  "source (.c)\n");
    write_file("own.so", 0644, "x");
    expect_shared("./own.so",
                  "profsim: ./own.so: it must be a shared object, or a C "
                  "source (.c)\n");
    assert_int_equal(unlink(wanted_path("own.so")), 0);
    expect_shared("c", "profsim: ./c: cannot open shared object file: No such "
                       "file or directory\n");
    expect_shared("other.so", "profsim: ./other.so: undefined symbol: "
                              "nowhere\n");
    assert_true(dladdr((void *)(uintptr_t)getenv, &libc) != 0);
    expect_shared(libc.dli_fname,
                  "profsim: %s: it has no function profsim_subject()\n",
                  libc.dli_fname);
}

/* ---- Sources ---- */

/* The words that the compiler noted: its name, and the others. */
static void
expect_words(const char *tmpdir, const char *compiler, const char *source)
{
    char text[4096];
    char wanted[4096];
    char at[512];
    char *begin;

    wanted_take_file("words", text, sizeof text);
    begin = strstr(text, "\n-I");
    assert_non_null(begin);
    snprintf(at, sizeof at, "%.*s", (int)strcspn(begin + 3, "\n"), begin + 3);
    snprintf(wanted, sizeof wanted, "%s/profsim-subject-", tmpdir);
    assert_memory_equal(at, wanted, strlen(wanted));
    assert_int_equal(strlen(at), strlen(wanted) + 6);
    snprintf(wanted, sizeof wanted,
             "%s\n-g\n-O1\n-fPIC\n-shared\n-I%s\n-o\n%s/subject.so\n%s\n-lm\n",
             compiler, at, at, source);
    assert_string_equal(text, wanted);
}

static void
expect_compilers(void)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    char given[128];
    char tmp[64];

    snprintf(tmp, sizeof tmp, "%s", wanted_path("tmp"));
    for (int i = 0; i < 6; i++) {
        char only[32];

        snprintf(only, sizeof only, "only/%s", names[i / 2]);
        now = (struct load){.path = "table.c",
                            .cc = i % 2 == 0 ? NULL : "",
                            .only = only,
                            .tmpdir = tmp};
        expect_load("is some\n");
        expect_words(tmp, names[i / 2], "table.c");
    }
    now = (struct load){.path = "table.c", .only = "", .tmpdir = tmp};
    expect_load("profsim: no compiler: No such file or directory\n"
                "profsim: table.c: the C compiler cannot compile it\n");
    snprintf(given, sizeof given, "%s -pipe", wanted_path("bin/all"));
    now = (struct load){.path = "-table.c", .cc = given, .tmpdir = tmp};
    expect_load("is some\n");
    expect_words(tmp, "all\n-pipe", "./-table.c");
}

static void
expect_failed_compilers(void)
{
    static const char *const ends[] = {"exit 1", "kill -9 $$"};
    char given[64];
    char text[256];
    char tmp[64];

    snprintf(tmp, sizeof tmp, "%s", wanted_path("tmp"));
    snprintf(given, sizeof given, "%s", wanted_path("bin/bad"));
    for (int i = 0; i < 2; i++) {
        write_compiler("bad", ends[i]);
        snprintf(text, sizeof text, "profsim: table.c: %s cannot compile it\n",
                 given);
        now = (struct load){.path = "table.c", .cc = given, .tmpdir = tmp};
        expect_load(text);
        assert_int_equal(unlink(wanted_path("words")), 0);
    }
    snprintf(given, sizeof given, "%s", wanted_path("bin/all"));
    now = (struct load){
        .path = "other.c", .library = "other.so", .cc = given, .tmpdir = tmp};
    expect_load("profsim: other.c: undefined symbol: nowhere; a source is "
                "compiled alone: to link others, build a shared object\n");
    now.path = ".c"; /* a name that is nothing else */
    now.library = "words";
    expect_load(
        "profsim: .c: invalid ELF header; a source is compiled alone: to "
        "link others, build a shared object\n");
    assert_int_equal(unlink(wanted_path("words")), 0);
}

/* $TMPDIR of `bytes` bytes, which is the folder tmp. */
static const char *
long_folder(size_t bytes)
{
    static char path[2 * PATH_MAX];
    const char *end = wanted_path("tmp");

    memset(path, '/', bytes - strlen(end));
    strcpy(&path[bytes - strlen(end)], end);
    return path;
}

static void
expect_folders(void)
{
    static char text[2 * PATH_MAX];
    const size_t rest = strlen("/profsim-subject-XXXXXX");
    struct captured said;
    char *none[] = {NULL};
    char given[64];

    snprintf(given, sizeof given, "%s", wanted_path("bin/all"));
    now = (struct load){.path = "table.c", .cc = given};
    for (int i = 0; i < 2; i++) {
        expect_load("is some\n");
        expect_words("/tmp", "all", "table.c");
        now.tmpdir = "";
    }
    now.tmpdir = long_folder(PATH_MAX - 1 - rest + 1);
    expect_load("profsim: TMPDIR: its path is too long\n");
    /* The folder's path is as long as can be, so that of the header is not. */
    now.tmpdir = long_folder(PATH_MAX - 1 - rest);
    assert_true(captured_run(&said, load_one, none, -1, SECONDS));
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "profsim: /////"); /* a complaint is cut */
    assert_int_equal(rmdir(wanted_path("tmp")), 0);
    assert_int_equal(mkdir(wanted_path("tmp"), 0700), 0);
    captured_free(&said);
    now.tmpdir = wanted_path("nowhere");
    snprintf(text, sizeof text, "profsim: %s/profsim-subject-", now.tmpdir);
    assert_true(captured_run(&said, load_one, none, -1, SECONDS));
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "%s", text);
    merge_expect(&said, true, ": No such file or directory\n");
    captured_free(&said);
}

void
merge_subject_loads(void)
{
    static const char *const files[] = {"bin/all",  "bin/bad", "bin",
                                        "only",     "tmp",     "table.c",
                                        "table.so", "other.c", "other.so"};

    assert_non_null(realpath(".", root));
    assert_int_equal(mkdir(wanted_path("bin"), 0700), 0);
    assert_int_equal(mkdir(wanted_path("only"), 0700), 0);
    assert_int_equal(mkdir(wanted_path("tmp"), 0700), 0);
    make_libraries();
    write_compiler("all", "");
    expect_tables();
    expect_shared_objects();
    expect_compilers();
    expect_failed_compilers();
    expect_folders();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(remove(wanted_path(files[i])), 0);
}
