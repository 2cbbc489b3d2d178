/*
 * bias_words.c -- a test of test_merge.c: which words `profsim bias` takes, the
 * tables that it prints for them, and what it says of sampling.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bias.h"
#include "checker.h"
#include "command.h"
#include "merge_case.h"
#include "prof/rules.h"
#include "unit_test.h"
#include "wanted.h"

enum {
    SECONDS = 60,
    NUMBERS = SANITIZED ? 60 : 600,
    VERIFIED = SANITIZED ? 4 : 12
};
enum { WORDS_MAX = 12 };

/* ---- Frequencies ---- */

/* A number of GHz: digits, a point, digits, or nearly so. */
static void
draw_number(char *text)
{
    static const char *const wholes[] = {"0",  "1",   "10", "9", "11", "",
                                         "00", "010", "3",  "7", "100"};
    static const char *const others[] = {
        "x",    "1e1", "-1",   "+1",
        " 1",   "1 ",  "1..2", "1.2.3",
        ".",    "",    "0x",   "1/2",
        "1.2:", "1./", ":",    "99999999999999999999",
        "10.",  "0.0", ",5"};
    uint32_t places = merge_below(12);

    if (merge_below(8) == 0) {
        strcpy(text, others[merge_below(sizeof others / sizeof *others)]);
        return;
    }
    strcpy(text, wholes[merge_below(sizeof wholes / sizeof *wholes)]);
    if (merge_below(4) == 0)
        return;
    strcat(text, ".");
    for (; places > 0; places--)
        strcat(text, merge_below(2) == 0
                         ? "0"
                         : (char[]){(char)('0' + merge_below(10)), '\0'});
}

/* returns: ticks in a second; 0: this is no number above 0 and up to 10, of
 * nine places at most */
static uint64_t
ticks_of(const char *text)
{
    const size_t whole = strspn(text, "0123456789");
    const bool has_point = text[whole] == '.';
    const size_t places =
        has_point ? strspn(&text[whole + 1], "0123456789") : 0;
    char digits[64];
    uint64_t ticks;

    if (text[whole + has_point + places] != '\0' || whole + places == 0 ||
        places > 9 || whole > 15)
        return 0;
    snprintf(digits, sizeof digits, "%.*s%.*s%.*s", (int)whole, text,
             (int)places, has_point ? &text[whole + 1] : "", (int)(9 - places),
             "000000000");
    ticks = strtoull(digits, NULL, 10);
    return ticks <= UINT64_C(10000000000) ? ticks : 0;
}

static void
expect_tables(const struct prof_rules *rules, uint64_t rate_ns, uint64_t ticks)
{
    static const struct prof_rules *const all[] = {
        &prof_rules_exact, &prof_rules_go1_5, &prof_rules_go1_10,
        &prof_rules_go1_17};
    struct props_bias bias;

    for (int i = 0; i < (rules != NULL ? 1 : 4); i++) {
        props_bias_make(&bias, rules != NULL ? rules : all[i], rate_ns, ticks);
        props_bias_print(wanted_text, &bias);
        if (rules == NULL)
            fputc('\n', wanted_text);
    }
}

/* Many commands in one process: what is wrong with each number is said, and a
 * table printed for some. in: run, else write what must be said */
static void
each_number(bool run)
{
    merge_seed(41);
    for (int i = 0; i < NUMBERS; i++) {
        char number[80];
        char rate[32];
        char words[3][16] = {"bias", "--ghz", "--rate"};
        char *argv[] = {words[0], words[1], number, words[2], rate, NULL, NULL};
        const bool is_table = i % 50 == 0;
        uint64_t ticks;
        uint64_t rate_ns = 1 + merge_below(1000);

        draw_number(number);
        if (i == 0)
            strcpy(number, "2.596");
        if (i % 3 == 0)
            rate_ns *= UINT64_C(10000019);
        snprintf(rate, sizeof rate, "%" PRIu64, rate_ns);
        ticks = ticks_of(number);
        if (!is_table && ticks > 0)
            argv[5] = (char[]){"--sneeze"};
        if (run) {
            printf("%d\n", (int)cli_bias(5 + (argv[5] != NULL), argv));
            continue;
        }
        if (ticks == 0)
            fprintf(wanted_text,
                    "profsim: --ghz takes a number above 0 and up to 10, not "
                    "'%s'\n",
                    number);
        else if (argv[5] != NULL)
            fputs("profsim: bias: unknown option '--sneeze'; 'profsim bias "
                  "--help' lists them\n",
                  wanted_text);
        else
            expect_tables(NULL, rate_ns, ticks);
        fprintf(wanted_text, "%d\n", ticks == 0 || argv[5] != NULL);
    }
}

static enum cli_exit
run_numbers(int argc, char **argv)
{
    FILE *report = fopen(wanted_path("a.json"), "w");

    (void)argc;
    (void)argv;
    each_number(true);
    if (report == NULL)
        return CLI_CRASH;
    fputs("\"results\": []\n}\n", report); /* no command has a report here */
    return fclose(report) == 0 ? CLI_OK : CLI_CRASH;
}

/* ---- Is sampling right? ---- */

/* The results of the properties that no check found broken. */
static void
expect_others(const char *subject, props_set left, props_set checked,
              const uint64_t *cells)
{
    for (int i = 0; i < PROPS_COUNT; i++) {
        const bool is_traced = (PROPS_OF_TRACES & PROPS_BIT(i)) != 0;
        const bool is_checked = (checked & PROPS_BIT(i)) != 0;
        char count[64] = "";

        if ((left & PROPS_BIT(i)) == 0)
            continue;
        wanted_result(is_traced ? "traces" : subject,
                      props_property_id((enum props_property)i),
                      (enum props_property)i,
                      is_checked ? "holds" : "incomplete");
        if (is_checked)
            snprintf(count, sizeof count, "\"cells\": %" PRIu64, cells[i]);
        wanted_rest(count, NULL);
    }
}

/* What is said of the properties in `asked`, all of which are named. returns:
 * the exit code */
static int
expect_verdicts(const struct prof_rules *rules, props_set asked)
{
    const struct props_question question = {rules, NULL, true};
    struct props_finding worst = {.failed = false};
    props_set checked = 0;
    props_set failed = 0;
    uint64_t cells[PROPS_COUNT];
    uint64_t sum = 0;
    char subject[64];

    snprintf(subject, sizeof subject, "rules %s", rules->name);
    for (int i = 0; i < PROPS_COUNT; i++) {
        const enum props_property property = (enum props_property)i;
        struct props_finding found;
        char count[64];
        char replay[128];

        if ((asked & PROPS_BIT(i)) == 0 ||
            !props_checker_run(property, &question, &found))
            continue;
        checked |= PROPS_BIT(i);
        cells[i] = found.cells;
        sum += found.cells;
        if (props_finding_is_worse(&found, &worst))
            worst = found;
        if (!found.failed)
            continue;
        failed |= PROPS_BIT(i);
        wanted_result(subject, props_property_id(property), property, "broken");
        wanted_member("text", "%s", found.text);
        snprintf(count, sizeof count, "\"cells\": %" PRIu64, found.cells);
        snprintf(replay, sizeof replay, "profsim bias --verify %s --rules %s",
                 props_property_id(property), rules->name);
        wanted_rest(count, replay);
    }
    expect_others(subject, asked & ~failed, checked, cells);
    if (sum > 0)
        fprintf(wanted_text, "%s: %" PRIu64 " cells enumerated or measured\n",
                subject, sum);
    if (worst.failed) {
        fprintf(wanted_text,
                "%s does not hold: sampling is right on average\n  %s\n",
                props_property_id(worst.property), worst.text);
        return 2;
    }
    fputs(checked != 0 ? "sampling is right on average\n"
                       : "none of these properties is about sampling\n",
          wanted_text);
    return checked == asked ? 0 : 6;
}

static void
expect_verified(int i)
{
    static char words[WORDS_MAX][128];
    const struct prof_rules *rules = prof_rules_all[merge_below(4)];
    char *argv[WORDS_MAX];
    props_set asked = 0;
    int exit_code;
    int argc = 0;

    for (uint32_t left = 1 + merge_below(3); left > 0; left--)
        asked |= PROPS_BIT(PROPS_S2 + merge_below(3));
    if (i % 3 == 0)
        asked |= PROPS_BIT(PROPS_T1);
    if (i % 4 == 0)
        asked = PROPS_BIT(PROPS_H1) | PROPS_BIT(PROPS_X1);
#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("bias");
    for (int k = 0; k < PROPS_COUNT; k++) {
        if ((asked & PROPS_BIT(k)) != 0)
            ADD("%s", props_property_id((enum props_property)k));
    }
    ADD("--verify");
    ADD("--json=%s", wanted_path("a.json"));
    if (rules != &prof_rules_exact || i % 2 == 0)
        ADD("--rules=%s", rules->name);
    argv[argc] = NULL;
    wanted_begin();
    exit_code = expect_verdicts(rules, asked);
    wanted_end();
    wanted_run(cli_bias, argv, -1, exit_code);
}

/* ---- Other words ---- */

static void
expect_format(const char *format)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    char words[3][16] = {"bias", "--format", ""};
    char *argv[] = {words[0], words[1], words[2], NULL};
    struct captured said;

    assert_non_null(file);
    snprintf(words[2], sizeof words[2], "%s", format);
    if (strcmp(format, "csv") == 0)
        props_bias_csv(file);
    else
        props_bias_svg(file);
    assert_int_equal(fclose(file), 0);
    assert_true(captured_run(&said, cli_bias, argv, -1, SECONDS));
    assert_string_equal(said.text, text);
    merge_expect_exit(&said, 0);
    captured_free(&said);
    free(text);
}

/* Words that do not go together, and what is said. */
static void
expect_refused(void)
{
    static const char verify[] =
        "profsim: --verify tries every rate: it goes with --rules, --json and "
        "--junit only\n";
    static const char other[] =
        "profsim: properties, --json and --junit go with --verify\n";
    static const char format[] =
        "profsim: --format takes text, csv or svg, not 'xml'\n";
    static const struct {
        const char *words[3];
        const char *said;
    } rows[] = {
        {{"--verify", "--rate=5"}, verify},
        {{"--ghz=3", "--verify"}, verify},
        {{"--format=text", "--verify", "S2"}, verify},
        {{"S2"}, other},
        {{"--json=x"}, other},
        {{"--junit=x"}, other},
        {{"--format=xml"}, format},
        {{"--rate=0"},
         "profsim: --rate takes a whole number from 1 to 9223372036854775807, "
         "not '0'\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[4][32] = {"bias"};
        char *argv[5] = {words[0]};
        struct captured said;
        int argc = 1;

        for (; argc < 4 && rows[i].words[argc - 1] != NULL; argc++) {
            argv[argc] = words[argc];
            strcpy(words[argc], rows[i].words[argc - 1]);
        }
        argv[argc] = NULL;
        assert_true(captured_run(&said, cli_bias, argv, -1, SECONDS));
        assert_string_equal(said.text, rows[i].said);
        merge_expect_exit(&said, 1);
        captured_free(&said);
    }
}

void
merge_bias(void)
{
    char word[] = "bias";
    char rule[] = "--rules=go1.10";
    char text[] = "--format=text";
    char *none[] = {word, NULL};
    char *one[] = {word, rule, text, NULL};
    struct captured said;

    wanted_begin();
    each_number(false);
    wanted_end();
    wanted_run(run_numbers, none, -1, 0);
    wanted_begin();
    expect_tables(&prof_rules_go1_10, 1000000, 1000000000);
    wanted_end();
    assert_true(captured_run(&said, cli_bias, one, -1, SECONDS));
    wanted_expect(&said);
    merge_expect_exit(&said, 0);
    captured_free(&said);
    expect_format("csv");
    expect_format("svg");
    expect_refused();
    merge_seed(42);
    for (int i = 0; i < VERIFIED; i++)
        expect_verified(i);
}
