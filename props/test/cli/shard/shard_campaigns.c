/*
 * shard_campaigns.c -- tests of test_merge.c: real campaigns in shards, merged,
 * print, save and report what the campaign in one process does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "merge.h"
#include "merge_case.h"
#include "unit_test.h"

enum { WORDS = 8, MORE = 8, SECONDS = 60, REPORT_MAX = 1 << 16 };

static const struct campaign {
    const char *words[WORDS];
    uint32_t shards;
    int exit_code;
    const char *saved; /* the name of the failure's file; NULL: none fails */
} campaigns[] = {
    {{"check", "H1", "T1", "--seeds", "5..16"}, 3, 0, NULL},
    {{"check", "B1", "S2", "T3", "X1", "--seeds", "1..9"}, 4, 6, NULL},
    {{"check", "H2", "--rules", "go1.6-late", "--seeds", "170..180"},
     3,
     2,
     "H2-go1.6-late-174"},
};

static const char *
path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", merge_folder(), name);
    return path;
}

/* Run a command with the words of a campaign, and more; @ stands for the
 * folder. */
static struct captured
run(enum cli_exit (*command)(int, char **), const char *const *words,
    const char *const *more)
{
    static char text[WORDS + MORE][128];
    char *argv[WORDS + MORE + 1];
    struct captured said;
    int argc = 0;

    for (int i = 0; i < 2; i++) {
        const char *const *list = i == 0 ? words : more;

        for (int k = 0; list[k] != NULL; k++, argc++) {
            snprintf(text[argc], sizeof text[argc], "%s%s",
                     list[k][0] == '@' ? merge_folder() : "",
                     &list[k][list[k][0] == '@']);
            argv[argc] = text[argc];
        }
    }
    argv[argc] = NULL;
    assert_true(captured_run(&said, command, argv, -1, SECONDS));
    return said;
}

/* Remove lines that contain one of the words, which end in NULL. */
static void
drop_lines(char *text, const char *const *words)
{
    char *to = text;

    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
        bool dropped = false;
        char *line = strndup(text, bytes);

        assert_non_null(line);
        for (int i = 0; words[i] != NULL; i++)
            dropped |= strstr(line, words[i]) != NULL;
        free(line);
        memmove(to, text, bytes);
        to += dropped ? 0 : bytes;
        text += bytes;
    }
    *to = '\0';
}

/* Read a file, and remove it. in: name, may end in ".json" */
static char *
take(const char *name)
{
    static const char *const lines[] = {"\"command\"", "\"arguments\"", NULL};
    FILE *file = fopen(path_of(name), "r");
    char *text = calloc(1, REPORT_MAX);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, REPORT_MAX - 1, file) < REPORT_MAX - 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(path_of(name)), 0);
    if (strstr(name, ".json") != NULL)
        drop_lines(text, lines);
    return text;
}

/* What a campaign leaves. */
struct result {
    char *said;
    char *report;
    char *saved; /* NULL: nothing failed */
};

static struct result
take_result(const struct campaign *c, struct captured *said)
{
    /* Speeds; and sums, which after a failure depend on the shards. */
    static const char *const speeds[] = {"million events/s", NULL};
    static const char *const sums[] = {"million events/s", "log hash", NULL};
    struct result result = {.said = said->text};
    char name[64];

    merge_expect_exit(said, c->exit_code);
    drop_lines(said->text, c->saved != NULL ? sums : speeds);
    result.report = take("a.json");
    if (c->saved == NULL)
        return result;
    snprintf(name, sizeof name, "saved/%s.html", c->saved);
    free(take(name));
    snprintf(name, sizeof name, "saved/%s.sim", c->saved);
    result.saved = take(name);
    assert_int_equal(rmdir(path_of("saved")), 0);
    return result;
}

static void
free_result(struct result *result)
{
    free(result->said);
    free(result->report);
    free(result->saved);
}

/* Run each shard, in an order drawn, and then once more: it has nothing left to
 * do. */
static void
run_shards(const struct campaign *c)
{
    uint32_t order[MERGE_SHARDS_MAX] = {1, 2, 3, 4};
    bool fails = false;

    for (uint32_t i = c->shards - 1; i > 0; i--) {
        const uint32_t k = merge_below(i + 1);
        const uint32_t kept = order[i];

        order[i] = order[k];
        order[k] = kept;
    }
    for (uint32_t i = 0; i < 2 * c->shards; i++) {
        char shard[32];
        const char *const more[] = {"--shard", shard,    "--result",
                                    "@/",      "--save", "@/saved",
                                    "--jobs",  "1",      NULL};
        struct captured said;

        snprintf(shard, sizeof shard, "%" PRIu32 "/%" PRIu32, order[i / 2],
                 c->shards);
        said = run(cli_check, c->words, more);
        if (said.exit_code != 0)
            merge_expect_exit(&said, c->saved != NULL ? 2 : 0);
        fails |= said.exit_code != 0;
        merge_expect(&said, i % 2 == 1, "continues after ");
        merge_expect(&said, said.exit_code == 0, "shard %s is done\n", shard);
        captured_free(&said);
    }
    assert_int_equal(fails, c->saved != NULL);
}

static void
remove_shards(const struct campaign *c)
{
    char name[64];

    for (uint32_t i = 1; i <= c->shards; i++) {
        snprintf(name, sizeof name, "shard-%" PRIu32 "-of-%" PRIu32 ".result",
                 i, c->shards);
        assert_int_equal(unlink(path_of(name)), 0);
    }
}

void
merge_real_campaigns(void)
{
    static const char *const options[] = {"--save", "@/saved", "--json",
                                          "@/a.json", NULL};
    static const char *const jobs[] = {"--jobs", "1", NULL};
    static const char *const merge[] = {"merge", "@", NULL};

    for (size_t i = 0; i < sizeof campaigns / sizeof *campaigns; i++) {
        const struct campaign *c = &campaigns[i];
        const char *words[WORDS + 2] = {NULL};
        struct captured said;
        struct result whole;
        struct result merged;
        int count = 0;

        merge_seed(i);
        for (; c->words[count] != NULL; count++)
            words[count] = c->words[count];
        words[count] = jobs[0];
        words[count + 1] = jobs[1];
        said = run(cli_check, words, options);
        whole = take_result(c, &said);
        run_shards(c);
        said = run(cli_merge, merge, options);
        merged = take_result(c, &said);
        assert_string_equal(merged.said, whole.said);
        assert_string_equal(merged.report, whole.report);
        if (c->saved != NULL)
            assert_string_equal(merged.saved, whole.saved);
        free_result(&whole);
        free_result(&merged);
        remove_shards(c);
    }
}
