/*
 * refused_commands.c -- tests of test_merge.c: commands of which one request to
 * the system fails, the n-th, for many n. Then either nothing changes, or the
 * command ends with exit code 1 and one complaint, and each of its files is the
 * old one, the new one or not there. A second try ends as the first should
 * have.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_command.h"
#include "command.h"
#include "corpus.h"
#include "explore.h"
#include "list_command.h"
#include "merge.h"
#include "merge_case.h"
#include "refused_calls.h"
#include "unit_test.h"

enum {
    WORDS_MAX = 12,
    FILES_MAX = 16,
    FILE_BYTES = 1 << 16,
    TRIES = SANITIZED ? 6 : 20, /* of a command */
    SECONDS = 60
};

struct refused {
    enum cli_exit (*command)(int argc, char **argv);
    const char *words[WORDS_MAX]; /* @ at the beginning stands for the folder */
    void (*prepare)(void);        /* writes what the command reads */
    const char *input;            /* standard input; NULL: empty */
    const char *page;             /* is then in the file "page" */
    int exit_code;                /* if nothing fails */
    bool goes_on; /* a second try goes on, and so prints something else */
};

struct file {
    char name[256];
    char *text; /* without times */
};

struct files {
    struct file list[FILES_MAX];
    int count;
};

/* What a command does if nothing fails. */
struct reference {
    struct captured said;
    struct files before;
    struct files after;
};

/* ---- Files ---- */

/* Drop lines with times, and with checksums over them; of a time within a line,
 * the digits: "0.002 s". */
static void
drop_times(char *text)
{
    char *to = text;

    for (char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        const size_t bytes =
            end != NULL ? (size_t)(end - line) + 1 : strlen(line);
        const bool is_time =
            strncmp(line, "spent ", 6) == 0 || strncmp(line, "end ", 4) == 0;

        for (size_t i = 0; i + 3 < bytes; i++) {
            if (line[i] == '.' && strncmp(&line[i + 4], " s ", 3) == 0)
                memcpy(&line[i], ".000", 4);
        }
        memmove(to, line, bytes);
        to += is_time ? 0 : bytes;
        line += bytes;
    }
    *to = '\0';
}

static void
read_file(struct files *files, const char *path, const char *name)
{
    struct file *file = &files->list[files->count++];
    FILE *from = fopen(path, "r");

    assert_in_range(files->count, 1, FILES_MAX);
    assert_non_null(from);
    snprintf(file->name, sizeof file->name, "%s", name);
    file->text = calloc(1, FILE_BYTES);
    assert_non_null(file->text);
    assert_true(fread(file->text, 1, FILE_BYTES - 1, from) < FILE_BYTES - 1);
    assert_int_equal(fclose(from), 0);
    drop_times(file->text);
}

/* Read all files of a folder, and of those in it; or remove them. in: files,
 * NULL to remove them */
static void
walk(struct files *files, const char *path)
{
    DIR *list = opendir(path);
    struct dirent *entry;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        char inner[512];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            walk(files, inner);
        else if (files != NULL)
            read_file(files, inner, &inner[strlen(merge_folder())]);
        if (files == NULL)
            assert_int_equal(remove(inner), 0);
    }
    closedir(list);
}

static void
free_files(struct files *files)
{
    while (files->count > 0)
        free(files->list[--files->count].text);
}

static const struct file *
find(const struct files *files, const char *name)
{
    for (int i = 0; i < files->count; i++) {
        if (strcmp(files->list[i].name, name) == 0)
            return &files->list[i];
    }
    return NULL;
}

static bool
has(const struct files *files, const struct file *file)
{
    const struct file *found = find(files, file->name);

    return found != NULL && strcmp(found->text, file->text) == 0;
}

/* May a command leave this file after a failure? The old or the new one; a
 * report of the failure; what a second try goes on from. */
static bool
may_be_left(const struct refused *r, const struct reference *whole,
            const struct file *file)
{
    return has(&whole->before, file) || has(&whole->after, file) ||
           (find(&whole->after, file->name) != NULL &&
            (r->goes_on || strstr(file->text, "\"exit\": 1,") != NULL));
}

/* ---- One try ---- */

static void
run(const struct refused *r, uint32_t n, struct captured *said,
    struct files *files)
{
    char *words[WORDS_MAX];
    char paths[WORDS_MAX][64];
    FILE *const input = tmpfile();
    int i = 0;

    for (; r->words[i] != NULL; i++) {
        words[i] = paths[i];
        snprintf(paths[i], sizeof paths[i], "%s%s",
                 r->words[i][0] == '@' ? merge_folder() : "",
                 r->words[i] + (r->words[i][0] == '@'));
    }
    words[i] = NULL;
    assert_non_null(input);
    fputs(r->input != NULL ? r->input : "", input);
    assert_int_equal(fflush(input), 0);
    rewind(input);
    refused_calls_at(n);
    assert_true(captured_run(said, r->command, words, fileno(input), SECONDS));
    drop_times(said->text);
    files->count = 0;
    walk(files, merge_folder());
    fclose(input);
}

static void
prepare(const struct refused *r)
{
    walk(NULL, merge_folder());
    if (r->prepare != NULL)
        r->prepare();
}

static int
complaints(const char *text)
{
    int count = 0;

    while ((text = strstr(text, "profsim: ")) != NULL) {
        count++;
        text += strlen("profsim: ");
    }
    return count;
}

/* Does a command name the failure, in one complaint? */
static bool
complains(const struct captured *said, const struct captured *whole)
{
    const int most = complaints(whole->text) + 1;

    return said->signal == 0 && said->exit_code == CLI_USAGE &&
           complaints(said->text) <= most &&
           (strstr(said->text, "memory") != NULL ||
            strstr(said->text, strerror(EIO)) != NULL);
}

static bool
is_as(const struct refused *r, const struct reference *whole,
      const struct captured *said, const struct files *files, bool again)
{
    bool same =
        said->signal == 0 && said->exit_code == whole->said.exit_code &&
        files->count == whole->after.count &&
        ((again && r->goes_on) || strcmp(said->text, whole->said.text) == 0);

    for (int i = 0; same && i < files->count; i++)
        same = has(&whole->after, &files->list[i]);
    return same;
}

/* returns: how many requests there are */
static uint32_t
refuse(const struct refused *r, const struct reference *whole, uint32_t n)
{
    struct captured said;
    struct files files;
    uint32_t made;
    char what[64];

    prepare(r);
    run(r, n, &said, &files);
    made = refused_calls_made();
    snprintf(what, sizeof what, "%s, request %" PRIu32 " (%s)", r->words[0], n,
             refused_calls_which() != NULL ? refused_calls_which() : "none");
    if (!is_as(r, whole, &said, &files, false)) {
        if (!complains(&said, &whole->said))
            fail_msg("%s: exit code %d, signal %d:\n%s\ninstead of:\n%s", what,
                     said.exit_code, said.signal, said.text, whole->said.text);
        for (int i = 0; i < files.count; i++) {
            if (!may_be_left(r, whole, &files.list[i]))
                fail_msg("%s leaves %s:\n%s", what, files.list[i].name,
                         files.list[i].text);
        }
    }
    captured_free(&said);
    free_files(&files);
    run(r, 0, &said, &files);
    if (!is_as(r, whole, &said, &files, true))
        fail_msg("%s, and again: exit code %d:\n%s\ninstead of:\n%s", what,
                 said.exit_code, said.text, whole->said.text);
    captured_free(&said);
    free_files(&files);
    return made;
}

static void
refuse_each(const struct refused *r)
{
    struct reference whole = {.before = {.count = 0}};
    uint32_t made;
    uint32_t step;

    prepare(r);
    walk(&whole.before, merge_folder());
    run(r, 0, &whole.said, &whole.after);
    merge_expect_exit(&whole.said, r->exit_code);
    if (r->page != NULL)
        assert_non_null(strstr(find(&whole.after, "/page")->text, r->page));
    made = refused_calls_made();
    step = made / TRIES + 1;
    assert_in_range(made, 3, 100000);
    for (uint32_t n = 1; n <= made; n += step)
        refuse(r, &whole, n);
    walk(NULL, merge_folder());
    captured_free(&whole.said);
    free_files(&whole.before);
    free_files(&whole.after);
}

/* ---- The commands ---- */

static void
write_text(const char *name, const char *text)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", merge_folder(), name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void
write_scenario(void)
{
    write_text("a.sim", "profsim scenario 2\nrules go1.6-late\nbuckets 64\n"
                        "stack s1 = 0x401010>0x401000\n\nalloc o1 s1 16\n"
                        "drop o1\ngc-mark\ngc-terminate\ngc-sweep o1\n"
                        "gc-flush\nsnapshot-all\n\n"
                        "expect property H2 broken\n");
}

static void
write_old_page(void)
{
    write_scenario();
    write_text("page", "an older page\n");
}

static void
write_corpus(void)
{
    static const char *const names[] = {"local/one", "local/two", "local/three",
                                        "shared/none"};

    for (int i = 0; i < 2; i++) {
        char path[64];

        snprintf(path, sizeof path, "%s/%s", merge_folder(),
                 i == 0 ? "local" : "shared");
        (void)mkdir(path, 0700);
    }
    for (int i = 0; i < 4; i++)
        write_text(names[i], names[i]);
}

/* Write the results of two shards of four. */
static void
write_results(const char *first, const char *asked, const char *rest)
{
    for (uint32_t i = 0; i < 2; i++) {
        FILE *file = merge_begin_file(first, asked, i, 4);

        fputs(rest, file);
        merge_end_file(file);
    }
    merge_forget_files();
}

static void
write_rows(void)
{
    write_results("profsim result 1 rows", "make mutants",
                  "spent 5\nlist 0000000000000007\nitems 2\n");
}

static void
write_campaign(void)
{
    write_results("profsim result 1", "check H1 --rules exact --seeds 1..4",
                  "spent 5 ms\n");
}

static void
write_orderings(void)
{
    write_results("profsim result 1 explore", "explore mine",
                  "spent 5\ndepth 3\nloops 1\nloop 0000000000000009\n"
                  "runs 5\ngraphs 4\nhash 0000000000000003\nbounded 0\n"
                  "exit 0\n");
}

static const struct refused commands[] = {
    {.command = cli_explain,
     .words = {"explain", "@/a.sim", "--data", "@/page"},
     .exit_code = 2,
     .prepare = write_old_page},
    {.command = cli_replay,
     .words = {"replay", "@/a.sim", "--data", "@/page"},
     .exit_code = 2,
     .prepare = write_old_page},
    {.command = cli_run,
     .words = {"run", "@/a.sim", "--json", "@/page"},
     .page = "broken, as it must be",
     .prepare = write_old_page},
    {.command = cli_shrink,
     .words = {"shrink", "@/a.sim"},
     .prepare = write_scenario},
    {.command = cli_check,
     .words = {"check", "--seeds", "1..2", "--shard", "2/2", "--result",
               "@/b.result", "--jobs", "1"},
     .goes_on = true},
    {.command = cli_list_shard,
     .words = {"shard", "--asked", "make mutants", "--result", "@/c.result",
               "echo"},
     .input = "one\ntwo\n",
     .goes_on = true},
    {.command = cli_explore,
     .words = {"explore", "sb-relaxed", "--result", "@/d.result", "--json",
               "@/page"},
     .goes_on = true},
    {.command = cli_audit,
     .words = {"audit", "--rules", "exact", "--sizes", "500", "--rate", "4k",
               "--svg", "@/page"},
     .prepare = write_old_page},
    {.command = cli_corpus,
     .words = {"corpus", "@/shared", "@/local"},
     .prepare = write_corpus,
     .goes_on = true},
    {.command = cli_merge,
     .words = {"merge", "@", "--json", "@/page"},
     .prepare = write_rows,
     .exit_code = 6},
    {.command = cli_merge,
     .words = {"merge", "@", "--json", "@/page"},
     .prepare = write_campaign,
     .exit_code = 6},
    {.command = cli_merge,
     .words = {"merge", "@", "--json", "@/page"},
     .prepare = write_orderings,
     .exit_code = 6},
};

void
merge_refused(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        /* The sanitizer prints numbers of processes beside fibers. */
        if (!SANITIZED || commands[i].command != cli_explore)
            refuse_each(&commands[i]);
    }
}
