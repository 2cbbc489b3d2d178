/*
 * shard_campaigns.c -- tests of test_merge.c: real campaigns in shards, merged,
 * print, save and report what the campaign in one process does; shards without
 * a file, or with one that is not theirs; and checks by enumeration that fail,
 * which are simulated.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker.h"
#include "command.h"
#include "merge.h"
#include "merge_case.h"
#include "shard_result.h"
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

/* ---- One shard ---- */

static const char *const of_heaps[] = {"check",   "H2",    "--rules", "exact",
                                       "--seeds", "1..30", NULL};

/* in: option and value, or NULL; line, that is printed */
static void
expect_run(const char *const *words, const char *const *more, int exit_code,
           const char *line)
{
    struct captured said = run(cli_check, words, more);

    merge_expect_exit(&said, exit_code);
    merge_expect(&said, true, "%s", line);
    captured_free(&said);
}

/* A shard needs no file, and a file no shard. One that belongs to another
 * shard, or is no result, stays as it is. */
static void
expect_alone(void)
{
    static const char *const shard[] = {"--shard", "1/2", NULL};
    static const char *const file[] = {"--result", "@/one", NULL};
    static const char *const both[] = {"--shard", "1/2", "--result", "@/one",
                                       NULL};
    static const char *const other[] = {"--shard", "2/2", "--result", "@/one",
                                        NULL};
    struct cli_shard_result r;

    expect_run(of_heaps, shard, 0, "shard 1/2 is done\n");
    assert_int_not_equal(unlink("\1"), 0); /* as the empty path */
    expect_run(of_heaps, file, 0, "shard 1/1 is done\nevery property holds\n");
    expect_run(of_heaps, both, 1,
               "/one: it is of so many shards: '1', not '2'");
    assert_int_equal(cli_shard_result_read(&r, path_of("one")), CLI_SHARD_READ);
    assert_int_equal(r.shard.index, 1);
    assert_int_equal(r.shard.count, 1);
    assert_int_equal(r.parts[CLI_PART_HEAPS].runs, 30);
    cli_shard_result_free(&r);
    assert_int_equal(unlink(path_of("one")), 0);
    expect_run(of_heaps, both, 0, "shard 1/2 is done\n");
    expect_run(of_heaps, other, 1, "/one: it belongs to shard 1\n");
    assert_int_equal(cli_shard_result_read(&r, path_of("one")), CLI_SHARD_READ);
    assert_int_equal(r.shard.index, 1);
    assert_int_equal(r.parts[CLI_PART_HEAPS].runs, 15);
    cli_shard_result_free(&r);
    assert_int_equal(truncate(path_of("one"), 9), 0);
    expect_run(of_heaps, file, 1, "/one: it is not the result of a shard");
    assert_int_equal(cli_shard_result_read(&r, path_of("one")),
                     CLI_SHARD_WRONG);
    assert_int_equal(unlink(path_of("one")), 0);
}

/* A shard that fails at its first seed, one that was stopped before it, and one
 * with a single seed. */
static void
expect_first(void)
{
    static const char *const of_late[] = {
        "check", "H2", "--rules", "go1.6-late", "--seeds", "174..180", NULL};
    static const char *const of_one[] = {"check",   "H2",   "--rules", "exact",
                                         "--seeds", "1..1", NULL};
    static const char *const both[] = {"--shard",  "1/2",    "--result",
                                       "@/one",    "--save", "@/saved",
                                       "--jobs=1", NULL};
    struct cli_shard_result r;

    expect_run(of_late, both, 2, "seed 174 of heaps fails\n");
    expect_run(of_late, both, 2, "continues after 0 and 0 runs\n");
    assert_int_equal(unlink(path_of("one")), 0);
    free(take("saved/H2-go1.6-late-174.sim"));
    free(take("saved/H2-go1.6-late-174.html"));
    assert_int_equal(rmdir(path_of("saved")), 0);
    assert_true(cli_shard_result_begin(
        &r, "check H2 --rules exact --seeds 1..30", (struct cli_shard){1, 2}));
    assert_null(cli_shard_result_write(&r, path_of("one")));
    expect_run(of_heaps, both, 0, "shard 1/2 is done\n");
    assert_int_equal(unlink(path_of("one")), 0);
    expect_run(of_one, both, 0, "shard 1/2 is done\n");
    assert_int_equal(unlink(path_of("one")), 0);
}

/* What a shard reports of all seeds does not depend on whether it went on. */
static void
expect_reported(void)
{
    static const char *const of_s1[] = {"check", "H2",      "S1",   "--rules",
                                        "exact", "--seeds", "1..3", NULL};
    static const char *const json[] = {"--result", "@/one", "--json",
                                       "@/a.json", NULL};
    char *reports[2];

    for (int i = 0; i < 2; i++) {
        expect_run(of_s1, json, 0, "shard 1/1 is done\nevery property holds\n");
        reports[i] = take("a.json");
    }
    assert_string_equal(reports[0], reports[1]);
    assert_non_null(strstr(reports[0], "\"runs\": 3,"));
    assert_null(strstr(reports[0], "\"runs\": 0,"));
    assert_null(strstr(reports[0], "\"cells\": 0,"));
    assert_null(strstr(reports[0], "\"verdict\": \"stopped\""));
    free(reports[0]);
    free(reports[1]);
    assert_int_equal(unlink(path_of("one")), 0);
}

/* ---- A result's file ---- */

/* The lines below those that each result has, without the checksum. */
static void
expect_lines(const struct cli_shard_result *r, const char *lines)
{
    char wanted[2048];
    char *found;
    char *end;

    snprintf(wanted, sizeof wanted,
             "profsim result 1\nversion %s\nprogram %s\nasked check\n"
             "shard 2/3\nspent 9 ms\n%s",
             r->version, r->program, lines);
    assert_null(cli_shard_result_write(r, path_of("one")));
    found = take("one");
    end = strstr(found, "\nend ");
    assert_non_null(end);
    end[1] = '\0';
    assert_string_equal(found, wanted);
    free(found);
}

/* Only what was done and found has lines. */
static void
expect_written(void)
{
    static struct cli_shard_result r;
    char lines[512];

    memset(&r, 0xff, sizeof r); /* what was there before is cleared */
    assert_true(cli_shard_result_begin(&r, "check", (struct cli_shard){2, 3}));
    r.seed_step = 3;
    r.spent_ms = 9;
    expect_lines(&r, "");
    r.parts[0] =
        (struct cli_part){.seed_first = 5, .runs = 1, .events = 4, .hash = 7};
    r.parts[0].cover.hits[0] = r.parts[0].cover.hits[COVER_COUNT - 1] = 1;
    snprintf(lines, sizeof lines,
             "part heaps\nseeds 5..5 step 3\nruns 1\nevents 4\n"
             "hash 0000000000000007\ngoal %s 1\ngoal %s 1\n",
             props_cover_id((enum props_cover)0),
             props_cover_id((enum props_cover)(COVER_COUNT - 1)));
    expect_lines(&r, lines);
    memset(&r.parts[0], 0, sizeof r.parts[0]);
    r.parts[1].failure =
        (struct cli_shard_failure){CLI_CRASH, PROPS_NONE, 7, strdup("a\n")};
    r.parts[0].failure.scenario = strdup("b\n");
    r.is_checked = true;
    r.checked = PROPS_BIT(PROPS_S1);
    r.cells[PROPS_S1] = 6;
    r.checker = (struct cli_shard_failure){CLI_BROKEN, PROPS_S2, 0, NULL};
    expect_lines(&r, "enumerated\nholds S1 cells 6\n"
                     "failure S2 seed 0 exit 2 scenario 0\n"
                     "part traces\nfailure none seed 7 exit 3 scenario 2\na\n");
    assert_non_null(cli_shard_result_write(&r, path_of("none/one")));
    cli_shard_result_free(&r);
    assert_null(r.parts[0].failure.scenario);
    assert_null(r.parts[1].failure.scenario);
}

/* ---- Checks that fail ---- */

bool __real_props_checker_run(enum props_property property,
                              const struct props_question *question,
                              struct props_finding *finding);
bool __wrap_props_checker_run(enum props_property property,
                              const struct props_question *question,
                              struct props_finding *finding);

static bool fails;
static int fails_by; /* a signal, or 0 */

bool
__wrap_props_checker_run(enum props_property property,
                         const struct props_question *question,
                         struct props_finding *finding)
{
    if (!fails)
        return __real_props_checker_run(property, question, finding);
    if (property != PROPS_S1 && property != PROPS_U1)
        return false;
    *finding = (struct props_finding){.property = property,
                                      .cells = 7,
                                      .failed = true,
                                      .signal = fails_by,
                                      .text = "cell 3 is wrong"};
    return true;
}

static const struct check {
    int signal;
    int exit_code;
    const char *verdict;
} checks[] = {
    {0, 2, "broken"}, {SIGALRM, 4, "no-end"}, {SIGSEGV, 3, "crashed"}};

/* The report of a check that failed. */
static void
expect_report(const struct check *c, const char *replay)
{
    char *report = take("a.json");
    char verdict[32];
    const char *parts[] = {"\"text\": \"cell 3 is wrong\"", "\"cells\": 7",
                           replay, verdict};

    snprintf(verdict, sizeof verdict, "\"verdict\": \"%s\"", c->verdict);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(report, parts[i]) == NULL)
            fail_msg("no %s after signal %d in:\n%s", parts[i], c->signal,
                     report);
    }
    free(report);
}

/* A campaign stops at the check, and a shard keeps it: it fails again when it
 * goes on. */
static void
expect_checked(const struct check *c)
{
    static const char *const of_s1[] = {"check",   "S1",   "--rules", "exact",
                                        "--seeds", "1..2", NULL};
    static const char *const of_u1[] = {"check",   "U1",   "--subject", "own",
                                        "--seeds", "1..1", NULL};
    static const char *const json[] = {"--json", "@/a.json", NULL};
    static const char *const both[] = {"--result", "@/one", "--json",
                                       "@/a.json", NULL};
    char line[512];
    struct cli_shard_result r;

    fails = true;
    fails_by = c->signal;
    snprintf(line, sizeof line,
             "rules exact: 7 cells enumerated or measured\n"
             "S1 does not hold: %s\n  cell 3 is wrong\n",
             props_property_sentence(PROPS_S1));
    expect_run(of_s1, json, c->exit_code, line);
    expect_report(c, "\"replay\": \"profsim check S1 --rules exact\"");
    expect_run(of_s1, both, c->exit_code, line);
    expect_report(c, "\"replay\": \"profsim check S1 --rules exact\"");
    assert_int_equal(cli_shard_result_read(&r, path_of("one")), CLI_SHARD_READ);
    assert_true(r.is_checked);
    assert_int_equal(r.checked, 0);
    assert_int_equal(r.checker.exit_code, c->exit_code);
    assert_int_equal(r.checker.property, PROPS_S1);
    cli_shard_result_free(&r);
    fails = false;
    expect_run(of_s1, both, c->exit_code, "continues after 0 and 0 runs\n");
    free(take("a.json"));
    assert_int_equal(unlink(path_of("one")), 0);
    fails = true;
    expect_run(of_u1, json, c->exit_code,
               "\nreplay: profsim check --subject own U1\n");
    expect_report(c, "\"replay\": \"profsim check --subject own U1\"");
    fails = false;
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
    expect_alone();
    expect_first();
    expect_reported();
    expect_written();
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        expect_checked(&checks[i]);
}
