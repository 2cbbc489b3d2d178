/* bias_command.c -- `profsim bias`: how far sampled waits and bytes are off. */
#include "props/sampling/bias.h"

#include <string.h>

#include "props/command/check_command.h"
#include "props/command/commands.h"
#include "common/command/options.h"

#define GHZ UINT64_C(1000000000)

enum { RULES = 1, RATE, FREQUENCY, FORMAT, VERIFY };

static const struct cli_option table[] = {
    {RULES, 0, "rules", "NAME", "rule sets (all)"},
    {RATE, 0, "rate", "NS", "the block rate, in ns (1000000)"},
    {FREQUENCY, 0, "ghz", "F", "ticks of the clock in a ns (1)"},
    {FORMAT, 0, "format", "F",
     "text; csv: all rule sets at several rates, relative\nerrors; svg: the "
     "same as a plot"},
    {VERIFY, 0, "verify", NULL,
     "instead: is sampling right on average? Enumerates all\nsampling "
     "properties, or those named (rule set: exact)"},
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "bias",
    .words = "[OPTION...] [--verify [PROPERTY...]]",
    .about = "What a block profile records of waits of one length, divided by "
             "what\nthey were: 1 is right.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

enum format { TEXT, CSV, SVG };

struct options {
    const struct prof_rules *rules; /* NULL: all */
    uint64_t rate_ns;
    uint64_t ticks_per_second;
    enum format format;
    bool table; /* an option of the tables was given */
    bool verify;
    props_set requested; /* by --verify; 0: all */
    struct cli_report report;
};

/* Parse a decimal number of up to 9 places, above 0 and at most 10. out: the
 * number times 10^9 */
static bool
parse_ghz(const char *text, uint64_t *ticks_per_second)
{
    const char *at = text;
    uint64_t unit = GHZ;
    uint64_t value = 0;

    for (; *at >= '0' && *at <= '9' && value <= 10 * GHZ; at++)
        value = value * 10 + (uint64_t)(*at - '0') * GHZ;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            value += (uint64_t)(*at - '0') * unit;
        }
    }
    *ticks_per_second = value;
    if (*at == '\0' && value > 0 && value <= 10 * GHZ)
        return true;
    return cli_complain("--ghz takes a number above 0 and up to 10, not '%s'",
                        text);
}

static bool
parse_format(const char *text, enum format *format)
{
    static const char *const words[] = {"text", "csv", "svg"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
    }
    return cli_complain("--format takes text, csv or svg, not '%s'", text);
}

static bool
take(struct options *options, int id, const char *value)
{
    options->table |= id == RATE || id == FREQUENCY || id == FORMAT;
    switch (id) {
    case RULES:
        return (options->rules = cli_rules(value)) != NULL;
    case RATE:
        return cli_number("--rate", value, 1, INT64_MAX, &options->rate_ns);
    case FREQUENCY:
        return parse_ghz(value, &options->ticks_per_second);
    case FORMAT:
        return parse_format(value, &options->format);
    case VERIFY:
        options->verify = true;
        return true;
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(&options->report, id, value);
    default:
        return cli_property(value, &options->requested);
    }
}

static void
print_tables(const struct options *options)
{
    static const struct prof_rules *const all[] = {
        &prof_rules_exact, &prof_rules_go1_5, &prof_rules_go1_10,
        &prof_rules_go1_17};
    struct props_bias bias;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct prof_rules *rules =
            options->rules != NULL ? options->rules : all[i];

        props_bias_make(&bias, rules, options->rate_ns,
                        options->ticks_per_second);
        props_bias_print(stdout, &bias);
        if (options->rules != NULL)
            return;
        putchar('\n');
    }
}

/* returns: may these options be combined? */
static bool
is_sound(const struct options *options)
{
    const bool reports =
        options->report.json != NULL || options->report.junit != NULL;

    if (options->verify)
        return !options->table ||
               cli_complain("--verify tries every rate: it goes with --rules, "
                            "--json and --junit only");
    return (options->requested == 0 && !reports) ||
           cli_complain("properties, --json and --junit go with --verify");
}

static enum cli_exit
verify(struct options *options)
{
    const struct prof_rules *const rules =
        options->rules != NULL ? options->rules : &prof_rules_exact;

    return cli_report_end(
        &options->report,
        cli_check_unbiased(rules, options->requested, &options->report));
}

enum cli_exit
cli_bias(int argc, char **argv)
{
    struct options options = {.rate_ns = 1000000, .ticks_per_second = GHZ};
    struct cli_options words;
    int id;

    cli_report_begin(&options.report, argc, argv);
    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (!take(&options, id, words.value))
            return cli_report_drop(&options.report, CLI_USAGE);
    }
    if (words.ended)
        return cli_report_drop(&options.report, words.exit_code);
    if (!is_sound(&options))
        return cli_report_drop(&options.report, CLI_USAGE);
    if (options.verify)
        return verify(&options);
    if (options.format == CSV)
        props_bias_csv(stdout);
    else if (options.format == SVG)
        props_bias_svg(stdout);
    else
        print_tables(&options);
    return cli_report_drop(&options.report, CLI_OK);
}
