/*
 * audit_words.c -- see audit_words.h. What must be printed is put together here
 * from the figures of subjects/.
 */
#include "audit_words.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "audit_command.h"
#include "captured.h"
#include "drawn.h"
#include "unit_test.h"
#include "workloads.h"

enum { RULES_MAX = 8 };

/* ---- Figures ---- */

/* What is asked for. */
struct asked {
    const struct subjects_rules *rules[RULES_MAX];
    size_t count;
    uint64_t rate;
    int first; /* workloads, or 0: sizes */
    int last;
    struct subjects_pattern sizes;
    bool json;
};

static const char *const names[] = {"exact",    "go1.5",      "jemalloc",
                                    "max-rate", "since-last", "own-size",
                                    "v8-nodes", "gperftools"};

enum { NAMES = sizeof names / sizeof *names };

static struct subjects_pattern
pattern_of(const struct asked *asked, int workload)
{
    static char name[16];
    struct subjects_pattern pattern = asked->sizes;

    pattern.rate = asked->rate;
    pattern.name = "sizes";
    if (workload > 0) {
        snprintf(name, sizeof name, "W%d", workload);
        pattern.name = name;
        pattern.count = subjects_workload(workload, asked->rate, pattern.sizes);
    }
    subjects_pattern_classes(&pattern);
    return pattern;
}

static void
print_figures(FILE *file, const struct asked *asked,
              struct subjects_audit *audits, int workload)
{
    const struct subjects_pattern pattern = pattern_of(asked, workload);

    if (!asked->json)
        subjects_audit_head(file, &pattern);
    for (size_t i = 0; i < asked->count; i++) {
        subjects_audit_make(&audits[i], asked->rules[i], &pattern);
        if (isnan(audits[i].total))
            fprintf(file,
                    "profsim: %s: what it reports does not settle at these "
                    "sizes; no figure\n",
                    asked->rules[i]->name);
        if (!asked->json) {
            subjects_audit_line(file, &audits[i], &pattern);
            continue;
        }
        subjects_audit_more(&audits[i], &pattern);
        if (i > 0 || (asked->first != asked->last && workload > 1))
            fputs(",\n", file);
        subjects_audit_json(file, &audits[i], &pattern);
    }
    if (!asked->json && asked->first != asked->last)
        fputs("\n", file);
    if (asked->json || asked->first != asked->last)
        return;
    subjects_audit_details_head(file);
    for (size_t i = 0; i < asked->count; i++) {
        subjects_audit_more(&audits[i], &pattern);
        subjects_audit_details(file, &audits[i], &pattern);
    }
}

/* Leave out what does not take the rate. */
static void
leave_out(FILE *file, struct asked *asked)
{
    struct asked all = *asked;
    const char *error = NULL;
    const char *by = NULL;
    int refused = 0;

    asked->count = 0;
    for (size_t i = 0; i < all.count; i++) {
        const struct subjects_rules *rules = all.rules[i];
        const char *why =
            rules->rate_error != NULL ? rules->rate_error(asked->rate) : NULL;

        if (why == NULL) {
            asked->rules[asked->count++] = rules;
            continue;
        }
        if (refused++ == 0) {
            error = why;
            by = rules->name;
        }
    }
    if (asked->count == 0) {
        fprintf(file, "profsim: --rate %" PRIu64 ": %s %s%s\n", asked->rate, by,
                error, refused > 1 ? "; no rule set takes it" : "");
        return;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (all.rules[i]->rate_error != NULL &&
            all.rules[i]->rate_error(asked->rate) != NULL)
            fprintf(file, "profsim: left out: %s %s\n", all.rules[i]->name,
                    all.rules[i]->rate_error(asked->rate));
    }
}

static void
expect_drawing(const char *path, const struct asked *asked,
               const struct subjects_audit *audits)
{
    const struct subjects_pattern pattern = pattern_of(asked, asked->last);
    char *wanted = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&wanted, &bytes);
    char *got;

    assert_non_null(file);
    subjects_audit_svg(file, audits, asked->count, &pattern);
    assert_int_equal(fclose(file), 0);
    got = calloc(1, bytes + 2);
    file = fopen(path, "r");
    assert_true(got != NULL && file != NULL);
    assert_int_equal(fread(got, 1, bytes + 1, file), bytes);
    fclose(file);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
}

static void
expect_figures(struct audit_line *line, struct asked *asked, const char *svg)
{
    static struct subjects_audit audits[RULES_MAX];
    char *wanted = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&wanted, &bytes);

    assert_non_null(file);
    leave_out(file, asked);
    if (asked->count > 0) {
        memset(audits, 0, sizeof audits);
        fputs(asked->json ? "[\n" : "", file);
        for (int w = asked->first; w <= asked->last; w++)
            print_figures(file, asked, audits, w);
        fputs(asked->json ? "\n]\n" : "", file);
    }
    assert_int_equal(fclose(file), 0);
    audit_expect(line, asked->count > 0 ? 0 : 1, wanted);
    free(wanted);
    if (svg != NULL && asked->count > 0)
        expect_drawing(svg, asked, audits);
}

/* ---- Words ---- */

static void
draw_rules(struct audit_line *line, struct asked *asked)
{
    char word[WORD_BYTES] = "--rules=";

    for (uint64_t left = 1 + draw(3); left > 0; left--) {
        const struct subjects_rules *rules =
            subjects_rules_find(names[draw(NAMES)]);
        size_t i = 0;

        assert_non_null(rules);
        strcat(word, rules->name);
        strcat(word, left > 1 ? "," : "");
        while (i < asked->count && asked->rules[i] != rules)
            i++;
        asked->rules[i] = rules;
        asked->count += i == asked->count;
    }
    audit_add(line, word);
}

static void
draw_sizes(struct audit_line *line, struct asked *asked)
{
    char word[WORD_BYTES] = "";

    for (uint64_t left = 1 + draw(3); left > 0; left--) {
        const bool kilo = draw(3) == 0;
        const uint64_t size = 1 + draw(kilo ? 8 : 600);

        asked->sizes.sizes[asked->sizes.count++] = kilo ? size << 10 : size;
        snprintf(&word[strlen(word)], WORD_BYTES - strlen(word),
                 "%" PRIu64 "%s%s", size, kilo ? "k" : "", left > 1 ? "," : "");
    }
    audit_add(line, "--sizes");
    audit_add(line, word);
}

static void
draw_line(struct audit_line *line, struct asked *asked, const char **svg)
{
    const int workload = draw(2) == 0 ? 1 + (int)draw(10) : 0;
    char word[WORD_BYTES];

    *asked = (struct asked){.first = workload, .last = workload};
    *line = (struct audit_line){.count = 0};
    audit_add(line, "audit");
    draw_rules(line, asked);
    asked->rate = draw(4) == 0 ? 1 + draw(300) : UINT64_C(1) << (5 + draw(4));
    snprintf(word, sizeof word, "--rate=%" PRIu64, asked->rate);
    audit_add(line, word);
    if (workload > 0) {
        snprintf(word, sizeof word, "%c%d", draw(2) == 0 ? 'w' : 'W', workload);
        audit_add(line, "--workload");
        audit_add(line, word);
    } else {
        draw_sizes(line, asked);
        if (draw(4) == 0)
            draw_sizes(line, asked);
    }
    asked->json = draw(2) == 0;
    if (asked->json)
        audit_add(line, "--json");
    if (draw(3) > 0) {
        *svg = NULL;
        return;
    }
    audit_add(line, "--svg");
    audit_add(line, *svg);
}

/* Rule sets that take no rate of 5 bytes, one without a figure, and the limits
 * of the workloads. */
static const struct {
    const char *rules[3];
    uint64_t rate;
    int first;
    int last;
    bool json;
} chosen[] = {
    {{"jemalloc", "exact", "statmemprof"}, 5, 0, 0, false},
    {{"statmemprof", "jemalloc"}, 5, 0, 0, false},
    {{"jemalloc", "statmemprof"}, 4, 0, 0, true},
    {{"exact", "libdatadog"}, 2, 0, 0, false},
    {{"exact"}, 64, SUBJECTS_WORKLOADS, SUBJECTS_WORKLOADS, false},
    {{"exact"}, 64, 1, SUBJECTS_WORKLOADS, false},
    {{"go1.5", "exact"}, 64, 1, SUBJECTS_WORKLOADS, true},
};

static void
expect_chosen(void)
{
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const int last = chosen[i].last;
        struct audit_line line = {.count = 0};
        struct asked asked = {.rate = chosen[i].rate,
                              .first = chosen[i].first,
                              .last = last,
                              .sizes = {.sizes = {8}, .count = last == 0},
                              .json = chosen[i].json};
        char word[WORD_BYTES] = "--rules=";

        for (; asked.count < 3 && chosen[i].rules[asked.count] != NULL;
             asked.count++) {
            const char *name = chosen[i].rules[asked.count];

            asked.rules[asked.count] = subjects_rules_find(name);
            strcat(word, asked.count > 0 ? "," : "");
            strcat(word, name);
        }
        audit_add(&line, "audit");
        audit_add(&line, word);
        snprintf(word, sizeof word, "--rate=%" PRIu64, chosen[i].rate);
        audit_add(&line, word);
        snprintf(word, sizeof word, "--workload=W%d", last);
        audit_add(&line, last == 0                ? "--sizes=8"
                         : chosen[i].first < last ? "--workload=all"
                                                  : word);
        if (chosen[i].json)
            audit_add(&line, "--json");
        expect_figures(&line, &asked, NULL);
    }
}

void
audit_of_random_words(const char *path)
{
    struct asked asked;
    struct audit_line line;

    drawn = 11;
    for (int i = 0; i < 12; i++) {
        const char *svg = path;

        draw_line(&line, &asked, &svg);
        expect_figures(&line, &asked, svg);
    }
    expect_chosen();
    for (int i = 0; i < 2; i++) { /* without sizes, without a rate */
        asked =
            (struct asked){.rules = {subjects_rules_find("exact")},
                           .count = 1,
                           .rate = i == 0 ? 4096 : 524288,
                           .sizes = {.sizes = {i == 0 ? 16 : 524288, 524288},
                                     .count = i == 0 ? 2 : 1}};
        line.count = 1;
        audit_add(&line, "--rules=exact");
        audit_add(&line, i == 0 ? "--rate=4k" : "--sizes=512k");
        expect_figures(&line, &asked, NULL);
    }
}

/* Every rule set, in order; and the list of them. */
static void
expect_all(void)
{
    struct audit_line line = {.count = 0};
    char *wanted = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&wanted, &bytes);
    struct captured said;
    const char *at;

    assert_non_null(file);
    for (size_t i = 0; subjects_rules_all[i] != NULL; i++)
        fprintf(file, "%-19s %s (%s)\n", subjects_rules_all[i]->name,
                subjects_rules_all[i]->of, subjects_rules_all[i]->source);
    fprintf(file, "\nmistakes of the past:\n");
    for (size_t i = 0; subjects_rules_mistakes[i] != NULL; i++)
        fprintf(file, "%-19s %s (%s)\n", subjects_rules_mistakes[i]->name,
                subjects_rules_mistakes[i]->of,
                subjects_rules_mistakes[i]->source);
    assert_int_equal(fclose(file), 0);
    audit_add(&line, "audit");
    audit_add(&line, "--rules=list");
    audit_expect(&line, 0, wanted);
    free(wanted);
    line.count = 1;
    audit_add(&line, "--rate=4k");
    audit_add(&line, "--sizes=16");
    assert_true(captured_run(&said, cli_audit, line.argv, -1, SECONDS));
    assert_int_equal(said.exit_code, 0);
    at = said.text;
    for (size_t i = 0; subjects_rules_all[i] != NULL; i++) {
        char name[64];

        snprintf(name, sizeof name, "\n%s ", subjects_rules_all[i]->name);
        at = strstr(at, name);
        assert_non_null(at);
    }
    assert_null(strstr(said.text, "own-size"));
    captured_free(&said);
}

#define FIFTEEN "1,2,3,1,2,3,1,2,3,1,2,3,1,2,3"
#define LONG    "0123456789012345678901234567890123456789012345678901234567890123"

static const struct {
    const char *words[6];
    const char *pattern;
} wrong[] = {
    {{"--rules=exact,"}, "audit: a word is missing, or too long, at ''"},
    {{"--rules=,exact"}, "audit: a word is missing, or too long, at ',exact'"},
    {{"--sizes=1," LONG},
     "audit: a word is missing, or too long, at '" LONG "'"},
    {{"--sizes=" FIFTEEN, "--sizes=" FIFTEEN, "--sizes=" FIFTEEN,
      "--sizes=" FIFTEEN, "--sizes=1,1,1,1,1"},
     "--sizes takes up to 64 sizes"},
    {{"--sizes=1,2,0x3"}, "--sizes takes bytes from 1 to 1073741824 *0x3'"},
    {{"--sizes=0"}, "--sizes takes bytes from 1 to 1073741824 *'0'"},
    {{"--sizes=1073741825"}, "--sizes takes bytes from 1 to *"},
    {{"--sizes=2g"}, "--sizes takes bytes from 1 to *"},
    {{"--rate=0"}, "--rate takes bytes from 1 to 1073741824 *'0'"},
    {{"--rate=1073741825"}, "--rate takes bytes from 1 to *"},
    {{"--rules=exakt"}, "there is no rule set 'exakt'; did you mean *"},
    {{"--rules=exact,alle"}, "there is no rule set 'alle'; *"},
    {{"--workload=W0"}, "--workload takes W1 to W12 or all, not 'W0'"},
    {{"--workload=W13"}, "--workload takes W1 to W12 or all, not 'W13'"},
    {{"--workload=w"}, "--workload takes W1 to W12 or all, not 'w'"},
    {{"--workload=w1x"}, "--workload takes W1 to W12 or all, not 'w1x'"},
    {{"--workload=1"}, "--workload takes W1 to W12 or all, not '1'"},
    {{"--workload=V1"}, "--workload takes W1 to W12 or all, not 'V1'"},
    {{"--workload=W0x5"}, "--workload takes W1 to W12 or all, not 'W0x5'"},
    {{"--workload=a1"}, "--workload takes W1 to W12 or all, not 'a1'"},
    {{"--workload=All"}, "--workload takes W1 to W12 or all, not 'All'"},
    {{"x"}, "audit: takes no words, not 'x'"},
    {{"--live", "--json"}, "--live goes with nothing else"},
    {{"--live"}, "--live works in the source tree alone, *"},
    {{"--svg=@", "--workload=all"}, "--svg draws one workload, not all"},
    {{"--sizes=8", "--workload=w1"}, "either --sizes or --workload"},
    {{"--sizes=8", "--workload=all"}, "either --sizes or --workload"},
    {{"--shard=1/2"}, "--shard and --result go with --judge"},
    {{"--result=@"}, "--shard and --result go with --judge"},
    {{"--judge", "--sizes=8"}, "--judge goes with --rules, --rate, *"},
    {{"--judge", "--workload=w1"}, "--judge goes with *"},
    {{"--judge", "--workload=all"}, "--judge goes with *"},
    {{"--judge", "--json"}, "--judge goes with *"},
    {{"--judge", "--svg=@"}, "--judge goes with *"},
    {{"--judge", "--rules=jemalloc", "--rate=1000"},
     "--rate 1000: jemalloc takes powers of two only"},
    {{"--recording=none", "--rules=exact"}, "--recording goes with *"},
    {{"--recording=none", "--rules=exact", "--sizes=8"},
     "--recording goes with *"},
    {{"--recording=none", "--sizes=8"}, "--recording goes with *"},
    {{"--recording=none", "--workload=w1"}, "--recording goes with *"},
    {{"--recording=none", "--workload=all"}, "--recording goes with *"},
    {{"--recording=none", "--json"}, "--recording goes with *"},
    {{"--recording=none", "--svg=@"}, "--recording goes with *"},
    {{"--recording=none", "--rate=4k"}, "none: No such file or directory"},
    {{"--rules=exact", "--rate=4k", "--sizes=8", "--svg=/none/a.svg"},
     "*\nprofsim: /none/a.svg: No such file or directory"},
    {{"--nonsense"}, "*--nonsense*"},
};

void
audit_of_wrong_words(const char *path)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct audit_line line = {.count = 0};
        struct captured said;
        char pattern[256];

        audit_add(&line, "audit");
        for (int k = 0; wrong[i].words[k] != NULL; k++) {
            const char *word = wrong[i].words[k];
            const size_t bytes = strcspn(word, "@");
            char text[WORD_BYTES];

            snprintf(text, sizeof text, "%.*s%s", (int)bytes, word,
                     word[bytes] == '@' ? path : "");
            audit_add(&line, text);
        }
        snprintf(
            pattern, sizeof pattern, "%s%s\n",
            wrong[i].pattern[0] == '*' ? "" : "profsim: ", wrong[i].pattern);
        assert_true(captured_run(&said, cli_audit, line.argv, -1, SECONDS));
        if (said.exit_code != 1 || fnmatch(pattern, said.text, 0) != 0)
            fail_msg("%s: exit code %d:\n%s", line.words[1], said.exit_code,
                     said.text);
        captured_free(&said);
    }
    expect_all();
}
