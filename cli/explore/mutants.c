/*
 * mutants.c -- `profsim mutants`: prints the table that `make mutants FULL=1`
 * has written, as a matrix: for each file, which tests caught its mutants.
 *
 *      name,kind,verdict,by,runs
 *      "prof/pprof/arena.c f: a + b -> -",arithmetic,failed,"test_bounds t",
 *      end,ROWS,CHECKSUM          of all bytes before it, by cksum(1)
 *
 * A table with a changed byte would give wrong scores, so it is refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "explore_mutants.h"
#include "input.h"
#include "mutants.h"
#include "options.h"
#include "result_path.h"
#include "rows.h"
#include "scenario_words.h"

enum { ROWS_MAX = 128, NAME_MAX_BYTES = 40, FIELD_MAX_BYTES = 1023 };

struct row {
    char name[NAME_MAX_BYTES];
    uint32_t mutants;
    uint32_t caught;
    uint32_t no_mistake;
};

struct table {
    struct row rows[ROWS_MAX];
    size_t count;
};

enum field { NAME, KIND, VERDICT, BY, RUNS, FIELD_COUNT };

struct reader {
    const char *path;
    struct sim_word rest; /* the lines that are left */
    uint32_t line;
    struct table files;
    struct table judges;
    struct table all;
};

/* returns: false */
static bool
fail(const struct reader *reader, const char *what)
{
    cli_usage("%s:%" PRIu32 ": %s", reader->path, reader->line, what);
    return false;
}

/* ---- Rows ---- */

/* returns: the row of this name, NULL if there is no room for one */
static struct row *
row_of(struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    }
    if (table->count == ROWS_MAX || strlen(name) >= NAME_MAX_BYTES)
        return NULL;
    memcpy(table->rows[table->count].name, name, strlen(name) + 1);
    return &table->rows[table->count++];
}

/* Take a field, which quotation marks may enclose, off the front of a line. */
static bool
take_field(struct sim_word *line, char *field)
{
    const bool quoted = sim_word_begins(*line, "\"");
    size_t used = 0;
    size_t i = quoted;

    for (; i < line->bytes; i++) {
        if (line->text[i] == (quoted ? '"' : ',')) {
            if (!quoted || line->text[i + 1] != '"') /* '\n' at the end */
                break;
            i++;
        }
        if (used == FIELD_MAX_BYTES - 1)
            return false;
        field[used++] = line->text[i];
    }
    field[used] = '\0';
    if (quoted && i == line->bytes)
        return false;
    *line = sim_word_skip(*line, i + quoted);
    return true;
}

static bool
take_fields(struct sim_word line, char fields[][FIELD_MAX_BYTES])
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (i > 0) {
            if (!sim_word_begins(line, ","))
                return false;
            line = sim_word_skip(line, 1);
        }
        if (!take_field(&line, fields[i]))
            return false;
    }
    return line.bytes == 0;
}

static bool
is_one_of(const char *text, const char *const *words)
{
    while (*words != NULL && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

static bool
add(struct reader *reader, struct table *table, const char *name, bool caught,
    bool no_mistake)
{
    struct row *row = row_of(table, name);

    if (row == NULL)
        return fail(reader, "one name too many, or too long a name");
    row->mutants++;
    row->caught += caught;
    row->no_mistake += no_mistake;
    return true;
}

static bool
take_row(struct reader *reader, struct sim_word line)
{
    static const char *const catching[] = {"failed", "crashed", "hangs", NULL};
    static const char *const harmless[] = {"equivalent", "same object code",
                                           NULL};
    static const char *const missing[] = {"survives", "unmet", NULL};
    char fields[FIELD_COUNT][FIELD_MAX_BYTES];
    bool caught;
    bool no_mistake;

    if (!take_fields(line, fields))
        return fail(reader, "not a row of five fields");
    caught = is_one_of(fields[VERDICT], catching);
    no_mistake = is_one_of(fields[VERDICT], harmless);
    if (!caught && !no_mistake && !is_one_of(fields[VERDICT], missing))
        return fail(reader, "not a verdict on a mutant");
    fields[NAME][strcspn(fields[NAME], " ")] = '\0';
    fields[BY][strcspn(fields[BY], " ")] = '\0';
    return add(reader, &reader->files, fields[NAME], caught, no_mistake) &&
           add(reader, &reader->all, "all", caught, no_mistake) &&
           (!caught || add(reader, &reader->judges, fields[BY], true, false));
}

/* ---- The table ---- */

/* The checksum of POSIX cksum. */
static uint32_t
checksum_of(const char *bytes, size_t count)
{
    uint32_t sum = 0;
    size_t left = count;

    for (size_t i = 0; i < count || left > 0; i++) {
        const uint32_t byte =
            i < count ? (uint8_t)bytes[i] : (uint8_t)(left & 0xff);

        if (i >= count)
            left >>= 8;
        sum ^= byte << 24;
        for (int bit = 0; bit < 8; bit++)
            sum = sum << 1 ^ (0x04c11db7u & (0 - (sum >> 31)));
    }
    return ~sum;
}

/* The last line: how many rows, and the checksum of what is before it. */
static bool
is_whole(struct sim_word all, struct sim_word last, uint32_t rows)
{
    struct sim_word rest = last;
    const struct sim_word end = sim_word_until(&rest, ',');
    const struct sim_word count = sim_word_until(&rest, ',');
    uint64_t said_rows;
    uint64_t said_sum;

    return sim_word_is(end, "end") &&
           sim_word_u64(count, UINT32_MAX, &said_rows) && said_rows == rows &&
           sim_word_u64(rest, UINT32_MAX, &said_sum) &&
           said_sum == checksum_of(all.text, (size_t)(last.text - all.text)) &&
           last.text + last.bytes + 1 == all.text + all.bytes &&
           all.text[all.bytes - 1] == '\n';
}

static bool
read_table(struct reader *reader)
{
    const struct sim_word all = reader->rest;
    struct sim_word last = {"", 0};

    for (; reader->rest.bytes > 0; reader->line++) {
        const struct sim_word line = sim_word_until(&reader->rest, '\n');
        size_t column;

        if (!sim_word_is_text(line, &column))
            return fail(reader, "not a text file");
        if (reader->rest.bytes == 0)
            last = line;
        else if (reader->line > 1 && !take_row(reader, line))
            return false;
    }
    /* First comes the line of the names, then the rows, then the last line. */
    reader->line--;
    if (reader->line < 3)
        return fail(reader, "the table has no mutants");
    if (is_whole(all, last, reader->line - 2))
        return true;
    return fail(reader, "the table is damaged: its last line is not 'end', its "
                        "rows and its checksum");
}

/* ---- Printing ---- */

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static void
print_table(struct table *table, const char *title)
{
    qsort(table->rows, table->count, sizeof *table->rows, by_name);
    printf("%-24s mutants  caught  no mistake  survive   score\n", title);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const uint32_t wrong = row->mutants - row->no_mistake;

        printf("%-24s %7" PRIu32 " %7" PRIu32 " %11" PRIu32 " %8" PRIu32,
               row->name, row->mutants, row->caught, row->no_mistake,
               wrong - row->caught);
        if (wrong > 0)
            printf(" %6" PRIu64 ".%" PRIu64,
                   (uint64_t)row->caught * 100 / wrong,
                   (uint64_t)row->caught * 1000 / wrong % 10);
        printf("\n");
    }
    printf("\n");
}

static void
print_judges(struct table *judges)
{
    qsort(judges->rows, judges->count, sizeof *judges->rows, by_name);
    printf("%-24s  caught\n", "first to notice");
    for (size_t i = 0; i < judges->count; i++)
        printf("%-24s %7" PRIu32 "\n", judges->rows[i].name,
               judges->rows[i].caught);
}

static enum cli_verdict
verdict_of(const struct row *row)
{
    if (row->mutants > row->no_mistake + row->caught)
        return CLI_VERDICT_SURVIVES;
    return row->caught > 0 ? CLI_VERDICT_CAUGHT : CLI_VERDICT_NOT_APPLICABLE;
}

/* A source file passes if all its mutants were caught. */
static enum cli_exit
add_results(const struct table *files, const char *path,
            struct cli_report *report)
{
    enum cli_exit worst = CLI_OK;

    for (size_t i = 0; i < files->count; i++) {
        const struct row *row = &files->rows[i];
        const uint32_t survive = row->mutants - row->no_mistake - row->caught;
        const enum cli_verdict verdict = verdict_of(row);
        struct cli_result *result =
            cli_report_add(report, path, row->name, verdict);

        cli_result_count(result, "mutants", row->mutants);
        cli_result_count(result, "caught", row->caught);
        cli_result_count(result, "no_mistake", row->no_mistake);
        cli_result_count(result, "survive", survive);
        if (survive > 0)
            cli_result_text(report, &result->text,
                            "%" PRIu32 " of %" PRIu32 " mutants survive",
                            survive, row->mutants);
        else if (verdict == CLI_VERDICT_NOT_APPLICABLE)
            cli_result_text(report, &result->text,
                            "none of its changes is a mistake");
        worst = cli_exit_worse(worst, cli_verdict_exit(verdict));
    }
    return worst;
}

static enum cli_exit
show_table(const char *path, struct cli_report *report)
{
    struct reader reader = {.path = path, .line = 1};
    struct sim_input input;
    bool good = false;

    if (!sim_input_read(&input, path))
        return cli_usage("%s: %s", path, input.reason);
    if (input.kind != SIM_INPUT_MUTANTS) {
        cli_usage("%s: this is no table of mutants", path);
    } else {
        reader.rest =
            (struct sim_word){(const char *)input.bytes, input.bytes_count};
        good = read_table(&reader);
    }
    sim_input_free(&input);
    if (!good)
        return CLI_USAGE;
    print_table(&reader.files, "file");
    print_table(&reader.all, "");
    print_judges(&reader.judges);
    return add_results(&reader.files, path, report);
}

/* ---- The command ---- */

enum { MEMORY_ORDER = 1, CSV, SHARD, RESULT };

static const struct cli_option options_table[] = {
    {MEMORY_ORDER, 0, "memory-order", NULL,
     "weaken each memory order by one step, and report which\nkernel notices; "
     "takes a minute; with KERNEL, try only\nthat kernel"},
    {CSV, 0, "csv", NULL, "the weaker orders as a table"},
    {SHARD, 0, "shard", CLI_SHARD_WORDS, CLI_SHARD_HELP},
    {RESULT, 0, "result", "FILE", CLI_ROWS_HELP},
    CLI_REPORT_OPTIONS,
    {0},
};

static const struct cli_syntax syntax = {
    .command = "mutants",
    .words = "[OPTION...] [TABLE]\n"
             "       profsim mutants --memory-order [OPTION...] [KERNEL]",
    .about =
        "Show what 'make mutants FULL=1' found out about every line "
        "of the\nlibrary, file by file (reports/mutation.csv). A "
        "mutant that\nsurvives is a failure. A weaker order that no kernel "
        "notices is only\nlisted, because it need not be wrong.\n",
    .options = options_table,
    .exits = CLI_EXIT_HELP,
};

struct words {
    struct cli_mutant_options orders;
    bool memory_order;
    const char *word;
};

static bool
take(struct words *words, int id, const char *value)
{
    switch (id) {
    case MEMORY_ORDER:
        return words->memory_order = true;
    case CSV:
        return words->orders.csv = true;
    case SHARD:
        return cli_shard_parse(&words->orders.shard, value);
    case RESULT:
        return cli_result_take(&words->orders.result, value);
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(words->orders.report, id, value);
    default:
        if (words->word != NULL)
            return cli_complain("mutants: one at a time: '%s' or '%s'?",
                                words->word, value);
        words->word = value;
        return true;
    }
}

static enum cli_exit
mutants(int argc, char **argv, struct cli_report *report)
{
    struct words words = {.orders = {.report = report}};
    struct cli_options options;
    int id;

    cli_options_begin(&options, &syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (!take(&words, id, options.value))
            return cli_report_drop(report, CLI_USAGE);
    }
    if (options.ended)
        return cli_report_drop(report, options.exit_code);
    if (words.orders.csv && !words.memory_order)
        return cli_report_drop(report,
                               cli_usage("--csv is for --memory-order"));
    if ((words.orders.shard.count != 0 || words.orders.result != NULL) &&
        (words.orders.csv || !words.memory_order))
        return cli_report_drop(
            report, cli_usage("--shard and --result are for --memory-order, "
                              "without --csv"));
    words.orders.only = words.word;
    if (words.memory_order)
        return cli_explore_mutants(&words.orders);
    return show_table(words.word != NULL ? words.word : "reports/mutation.csv",
                      report);
}

enum cli_exit
cli_mutants(int argc, char **argv)
{
    struct cli_report report;

    cli_report_begin(&report, argc, argv);
    return cli_report_end(&report, mutants(argc, argv, &report));
}
