/*
 * corpus_folders.c -- a test of test_merge.c: what `profsim corpus` sends,
 * takes and ignores between random folders, compared with a model that knows
 * each file by its place in lists.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "corpus.h"
#include "merge_case.h"
#include "unit_test.h"

enum { CASES = SANITIZED ? 20 : 45, FILES_MAX = 40, SMALL = 9, LARGE = 3 };
enum { CONTENTS = SMALL + LARGE, NOT_REGULAR = CONTENTS };
enum { NAME_BYTES = 256, SECONDS = 60 };

/* Contents of a few bytes, and three about as large as a file may be. */
static struct {
    char *bytes;
    size_t count;
    char digits[33];
} contents[CONTENTS];

struct file {
    char name[NAME_BYTES];
    uint32_t content; /* or NOT_REGULAR */
};

struct folder {
    const char *name;
    struct file files[FILES_MAX];
    uint32_t count;
};

static struct folder shared;
static struct folder local;
static const char *suffix;

static const char *
path_of(const struct folder *of, const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s%s%s", merge_folder(), of->name,
             *name != '\0' ? "/" : "", name);
    return path;
}

static void
make_contents(void)
{
    static const size_t large[LARGE] = {(1 << 20) - 1, 1 << 20, (1 << 20) + 1};

    for (uint32_t i = 0; i < CONTENTS; i++) {
        XXH128_hash_t hash;

        contents[i].count = i < SMALL ? i * i : large[i - SMALL];
        contents[i].bytes = calloc(1, contents[i].count + 1);
        assert_non_null(contents[i].bytes);
        memset(contents[i].bytes, (int)('a' + i), contents[i].count);
        hash = XXH3_128bits(contents[i].bytes, contents[i].count);
        snprintf(contents[i].digits, sizeof contents[i].digits,
                 "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    }
}

/* ---- Folders ---- */

static struct file *
find(struct folder *in, const char *name)
{
    for (uint32_t i = 0; i < in->count; i++) {
        if (strcmp(in->files[i].name, name) == 0)
            return &in->files[i];
    }
    return NULL;
}

static void
put(struct folder *in, const char *name, uint32_t content)
{
    struct file *file = find(in, name);

    if (file == NULL) {
        assert_in_range(in->count, 0, FILES_MAX - 1);
        file = &in->files[in->count++];
        snprintf(file->name, sizeof file->name, "%s", name);
    }
    file->content = content;
}

/* Make the files of a folder as they are in the list. */
static void
make(const struct folder *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        const struct file *file = &of->files[i];
        const char *path = path_of(of, file->name);
        FILE *to;

        if (file->content == NOT_REGULAR) {
            switch (i % 4) {
            case 0:
                assert_int_equal(symlink("/etc/passwd", path), 0);
                break;
            case 1:
                assert_int_equal(mkfifo(path, 0600), 0);
                break;
            case 2:
                assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
                break;
            default:
                assert_int_equal(mkdir(path, 0700), 0);
            }
            continue;
        }
        to = fopen(path, "w");
        assert_non_null(to);
        assert_int_equal(fwrite(contents[file->content].bytes, 1,
                                contents[file->content].count, to),
                         contents[file->content].count);
        assert_int_equal(fclose(to), 0);
        assert_int_equal(chmod(path, 0600), 0);
    }
}

/* Check a file; one that was written may be read by all. */
static void
expect_file(const struct folder *of, const struct file *file, bool is_new)
{
    static char bytes[(1 << 20) + 2];
    const char *path = path_of(of, file->name);
    struct stat like;
    FILE *from;

    assert_int_equal(lstat(path, &like), 0);
    assert_int_equal(S_ISREG(like.st_mode), file->content != NOT_REGULAR);
    if (file->content == NOT_REGULAR)
        return;
    assert_int_equal(like.st_mode & 0777, is_new ? 0644 : 0600);
    from = fopen(path, "r");
    assert_non_null(from);
    assert_int_equal(fread(bytes, 1, sizeof bytes, from),
                     contents[file->content].count);
    assert_int_equal(fclose(from), 0);
    assert_memory_equal(bytes, contents[file->content].bytes,
                        contents[file->content].count);
}

/* Check that a folder has its files and no others, and remove them. in: old,
 * what it had before */
static void
expect_folder(struct folder *of, struct folder *old)
{
    DIR *list = opendir(path_of(of, ""));
    uint32_t count = 0;

    assert_non_null(list);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    assert_int_equal(count, 2 + of->count); /* with "." and ".." */
    for (uint32_t i = 0; i < of->count; i++) {
        const struct file *before = find(old, of->files[i].name);

        expect_file(of, &of->files[i],
                    before == NULL || before->content != of->files[i].content);
        assert_int_equal(remove(path_of(of, of->files[i].name)), 0);
    }
}

/* ---- Random files ---- */

static uint32_t
draw_content(void)
{
    if (merge_below(8) == 0)
        return NOT_REGULAR;
    return merge_below(25) == 0 ? SMALL + merge_below(LARGE)
                                : merge_below(SMALL);
}

/* A name as the exchange gives it, or one that is a little wrong. */
static void
draw_name(char *name, uint32_t content)
{
    const uint32_t of = content < CONTENTS && merge_below(3) > 0
                            ? content
                            : merge_below(CONTENTS);
    char digits[34];
    const uint32_t at = merge_below(32);

    snprintf(digits, sizeof digits, "%s", contents[of].digits);
    switch (merge_below(12)) {
    case 0:
        digits[at] = "gG`:@ABF-"[merge_below(9)];
        break;
    case 1:
        digits[at] = digits[at] == '0' ? '1' : '0';
        break;
    case 2:
        digits[31] = '\0';
        break;
    case 3:
        strcat(digits, "0");
        break;
    case 4:
        digits[0] = '.';
        break;
    default:
        break;
    }
    snprintf(name, NAME_BYTES, "%s%s", digits,
             merge_below(10) > 0  ? suffix
             : merge_below(2) > 0 ? ".si"
                                  : ".sim");
}

/* A folder of random files. */
static void
draw(struct folder *of, const char *name, bool is_local)
{
    const uint32_t count = merge_below(9);

    of->name = name;
    of->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t content = draw_content();
        char word[NAME_BYTES];

        if (is_local && merge_below(2) > 0)
            snprintf(word, sizeof word, "%s%c%s",
                     merge_below(9) == 0 ? "." : "",
                     (char)('a' + merge_below(9)),
                     merge_below(8) > 0 ? suffix : "sim");
        else
            draw_name(word, content);
        put(of, word, content);
    }
    if (is_local && merge_below(4) == 0)
        put(of, suffix[0] != '\0' ? suffix : ".sim", 1);
    if (is_local && merge_below(4) == 0) {
        char word[NAME_BYTES];

        memset(word, 'n', 255 - strlen(suffix));
        strcpy(&word[255 - strlen(suffix)], suffix);
        put(of, word, 2);
    }
}

/* ---- The model ---- */

static bool
is_exchanged(const char *name)
{
    const size_t bytes = strlen(name);
    const size_t end = strlen(suffix);

    return name[0] != '.' && bytes > end &&
           strcmp(&name[bytes - end], suffix) == 0;
}

static bool
is_hash(const char *name)
{
    uint32_t digits = 0;

    while (digits < 32 && name[digits] != '\0' &&
           strchr("0123456789abcdef", name[digits]) != NULL)
        digits++;
    return digits == 32 && strcmp(&name[32], suffix) == 0;
}

static bool
has_content(uint32_t content)
{
    return content < CONTENTS && contents[content].count <= 1 << 20;
}

/* What the exchange does: the lists become those of after it. returns: false if
 * a folder stands where a file is to be written */
static bool
exchange(struct cli_corpus_counts *counts)
{
    static struct folder listed;
    bool known[CONTENTS] = {false};
    char name[NAME_BYTES];

    listed = shared;
    for (uint32_t i = 0; i < local.count; i++) {
        const uint32_t content = local.files[i].content;
        const struct file *there;

        if (!is_exchanged(local.files[i].name) || !has_content(content))
            continue;
        known[content] = true;
        snprintf(name, sizeof name, "%s%s", contents[content].digits, suffix);
        there = find(&shared, name);
        if (there != NULL && there->content == content)
            continue;
        if (there != NULL && there->content == NOT_REGULAR &&
            (there - shared.files) % 4 == 3)
            return false;
        put(&shared, name, content);
        counts->sent++;
    }
    for (uint32_t i = 0; i < listed.count; i++) {
        const uint32_t content = listed.files[i].content;
        bool is_known = false;

        snprintf(name, sizeof name, "%s", listed.files[i].name);
        if (!is_exchanged(name))
            continue;
        for (uint32_t k = 0; k < CONTENTS && is_hash(name); k++)
            is_known |= known[k] && strncmp(name, contents[k].digits, 32) == 0;
        if (is_known)
            continue;
        if (!is_hash(name) || !has_content(content) ||
            strncmp(name, contents[content].digits, 32) != 0) {
            counts->ignored++;
            continue;
        }
        put(&local, name, content);
        counts->taken++;
    }
    return true;
}

static enum cli_exit
run_exchange(int argc, char **argv)
{
    struct cli_corpus_counts counts = {9, 9, 9};
    char paths[2][128];
    const int next = dup(STDIN_FILENO);
    const struct rlimit few = {(rlim_t)next + 4, (rlim_t)next + 4};

    if (close(next) != 0 || setrlimit(RLIMIT_NOFILE, &few) != 0)
        return CLI_CRASH;
    if (suffix[0] == '\0')
        return cli_corpus(argc, argv);
    snprintf(paths[0], sizeof paths[0], "%s", argv[1]);
    snprintf(paths[1], sizeof paths[1], "%s", argv[2]);
    if (!cli_corpus_exchange(paths[0], paths[1], suffix, &counts))
        return CLI_USAGE;
    printf("%" PRIu32 " sent, %" PRIu32 " taken, %" PRIu32 " ignored\n",
           counts.sent, counts.taken, counts.ignored);
    return CLI_OK;
}

static void
run(struct captured *said)
{
    char paths[2][128];
    char word[] = "corpus";
    char *words[] = {word, paths[0], paths[1], NULL};

    snprintf(paths[0], sizeof paths[0], "%s", path_of(&shared, ""));
    snprintf(paths[1], sizeof paths[1], "%s", path_of(&local, ""));
    assert_true(captured_run(said, run_exchange, words, -1, SECONDS));
}

static void
make_folder(const struct folder *of)
{
    if (of->count > 0 || merge_below(2) > 0)
        assert_int_equal(mkdir(path_of(of, ""), 0700), 0);
    make(of);
}

static int
mkdir_private(const char *path)
{
    return mkdir(path, 0700);
}

/* Make or remove both folders. */
static void
change_both(int (*change)(const char *path))
{
    assert_int_equal(change(path_of(&shared, "")), 0);
    assert_int_equal(change(path_of(&local, "")), 0);
}

static void
expect_exchange(void)
{
    static struct folder before[2];
    struct cli_corpus_counts counts = {0, 0, 0};
    struct captured said;
    char wanted[64];

    suffix = merge_below(2) > 0 ? "" : ".sim";
    draw(&shared, "shared", false);
    draw(&local, "local", true);
    before[0] = shared;
    before[1] = local;
    if (!exchange(&counts))
        return;
    make_folder(&before[0]);
    make_folder(&before[1]);
    run(&said);
    snprintf(wanted, sizeof wanted,
             "%" PRIu32 " sent, %" PRIu32 " taken, %" PRIu32 " ignored\n",
             counts.sent, counts.taken, counts.ignored);
    assert_string_equal(said.text, wanted);
    merge_expect_exit(&said, 0);
    captured_free(&said);
    expect_folder(&shared, &before[0]);
    expect_folder(&local, &before[1]);
    change_both(rmdir);
}

/* A file, or nothing that can be made, in the place of a folder. */
static void
expect_no_folder(void)
{
    struct captured said;

    suffix = "";
    for (int i = 0; i < 2; i++) {
        const struct folder *bad = i == 0 ? &shared : &local;
        FILE *file = fopen(path_of(bad, ""), "w");

        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        run(&said);
        merge_expect_exit(&said, 1);
        merge_expect(&said, true, "profsim: %s: ", path_of(bad, ""));
        captured_free(&said);
        assert_int_equal(unlink(path_of(bad, "")), 0);
        assert_int_equal(rmdir(path_of(&shared, "")), i == 0 ? -1 : 0);
    }
    /* A folder stands where the file is to be. */
    assert_int_equal(mkdir(path_of(&shared, ""), 0700), 0);
    assert_int_equal(mkdir(path_of(&shared, contents[1].digits), 0700), 0);
    assert_int_equal(mkdir(path_of(&local, ""), 0700), 0);
    local.count = 0;
    put(&local, "x", 1);
    make(&local);
    run(&said);
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "profsim: %s: Is a directory\n",
                 path_of(&shared, contents[1].digits));
    captured_free(&said);
    assert_int_equal(unlink(path_of(&local, "x")), 0);
    assert_int_equal(rmdir(path_of(&local, "")), 0);
    assert_int_equal(rmdir(path_of(&shared, contents[1].digits)), 0);
    assert_int_equal(rmdir(path_of(&shared, "")), 0); /* no part is left */
}

/* The name of a part is random, so that of another machine is not in its way;
 * and a name that stands for another content gets its own again, of the largest
 * size. */
static void
expect_part(void)
{
    static struct folder before[2];
    struct captured said;

    shared.count = local.count = 0;
    put(&shared, ".part-0000000000000000", 1);
    put(&shared, contents[SMALL + 1].digits, SMALL);
    put(&local, "x", SMALL + 1);
    before[0] = shared;
    before[1] = local;
    change_both(mkdir_private);
    make(&shared);
    make(&local);
    run(&said);
    assert_string_equal(said.text, "1 sent, 0 taken, 0 ignored\n");
    captured_free(&said);
    put(&shared, contents[SMALL + 1].digits, SMALL + 1);
    expect_folder(&shared, &before[0]);
    expect_folder(&local, &before[1]);
    change_both(rmdir);
}

void
merge_corpus(void)
{
    const mode_t mask = umask(022);

    make_contents();
    merge_seed(11);
    for (int i = 0; i < CASES; i++)
        expect_exchange();
    expect_no_folder();
    expect_part();
    for (uint32_t i = 0; i < CONTENTS; i++)
        free(contents[i].bytes);
    umask(mask);
}
