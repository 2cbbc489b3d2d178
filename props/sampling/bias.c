/* bias.c -- see bias.h. */
#include "props/sampling/bias.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "props/sampling/sampling_fixture.h"

#define TICKS_PER_NS UINT64_C(1000000000) /* per second */

/* ---- the table ---- */

/* Keep the row's length, in order, unless it is there. */
static void
add_length(struct props_bias *bias, uint64_t cycles)
{
    uint32_t at = bias->rows_count;

    for (uint32_t i = 0; i < bias->rows_count; i++) {
        if (bias->rows[i].cycles == cycles)
            return;
    }
    if (cycles == 0 || bias->rows_count == PROPS_BIAS_ROWS)
        return;
    for (; at > 0 && bias->rows[at - 1].cycles > cycles; at--)
        bias->rows[at] = bias->rows[at - 1];
    bias->rows[at].cycles = cycles;
    bias->rows_count++;
}

void
props_bias_make(struct props_bias *bias, const struct prof_rules *rules,
                uint64_t rate_ns, uint64_t ticks_per_second)
{
    const enum model_era era = props_era_of(rules);
    struct model_contention model;
    uint64_t rate;

    memset(bias, 0, sizeof *bias);
    model_contention_reset(&model, era, 0, ticks_per_second);
    model_contention_block_rate(&model, (int64_t)rate_ns);
    bias->rules = rules;
    bias->rate_ns = rate_ns;
    bias->ticks_per_second = ticks_per_second;
    bias->rate_ticks = model.block_rate_ticks;
    if (bias->rate_ticks < 1)
        return;
    rate = (uint64_t)bias->rate_ticks;
    for (uint64_t cycles = 1; cycles < rate && cycles <= UINT64_MAX / 10;
         cycles *= 10)
        add_length(bias, cycles);
    add_length(bias, 2);
    add_length(bias, rate / 10);
    add_length(bias, rate / 2);
    add_length(bias, rate - 1);
    add_length(bias, rate);
    add_length(bias, rate <= INT64_MAX / 10 ? 10 * rate : 0);
    for (uint32_t i = 0; i < bias->rows_count; i++) {
        const uint64_t cycles = bias->rows[i].cycles;
        const struct model_sums sums =
            model_block_sums(era, model_era_draws(era), cycles, rate);

        bias->rows[i].factors = model_factors_of(&sums, cycles);
    }
}

void
props_bias_print(FILE *file, const struct props_bias *bias)
{
    fprintf(file, "rules %s: a block rate of %" PRIu64 " ns is ",
            bias->rules->name, bias->rate_ns);
    if (bias->rate_ticks < 1) {
        fputs("too large, and turns profiling off\n", file);
        return;
    }
    fprintf(file, "%" PRId64 " ticks at %.10g GHz\n", bias->rate_ticks,
            (double)bias->ticks_per_second / 1e9);
    fprintf(file, "%20s %11s %11s %9s %9s\n", "wait, ticks", "of the rate",
            "kept", "count", "time");
    for (uint32_t i = 0; i < bias->rows_count; i++) {
        const struct props_bias_row *row = &bias->rows[i];

        fprintf(file, "%20" PRIu64 " %11.4g %11.4g %9.4g %9.4g\n", row->cycles,
                (double)row->cycles / (double)bias->rate_ticks,
                row->factors.kept, row->factors.count, row->factors.cycles);
    }
}

/* ---- reports ---- */

static const struct prof_rules *const all_rules[] = {
    &prof_rules_go1_5, &prof_rules_go1_10, &prof_rules_go1_17,
    &prof_rules_exact};
static const uint64_t all_rates[] = {
    10, 1000, 1000000, 3000000000, UINT64_C(1) << 34, UINT64_C(1) << 40};

enum {
    RULES = sizeof all_rules / sizeof *all_rules,
    RATES = sizeof all_rates / sizeof *all_rates
};

void
props_bias_csv(FILE *file)
{
    fputs("rules,rate_ticks,wait_ticks,wait_per_rate,kept,count_error,"
          "time_error\n",
          file);
    for (int i = 0; i < RULES; i++) {
        for (int j = 0; j < RATES; j++) {
            struct props_bias bias;

            props_bias_make(&bias, all_rules[i], all_rates[j], TICKS_PER_NS);
            for (uint32_t k = 0; k < bias.rows_count; k++) {
                const struct props_bias_row *row = &bias.rows[k];

                fprintf(file,
                        "%s,%" PRId64 ",%" PRIu64 ",%.6g,%.6g,%.6g,%.6g\n",
                        bias.rules->name, bias.rate_ticks, row->cycles,
                        (double)row->cycles / (double)bias.rate_ticks,
                        row->factors.kept, row->factors.count - 1,
                        row->factors.cycles - 1);
            }
        }
    }
}

/* The ranges of a panel: waits of 10^-12 to 10 times the rate, factors of
 * 10^-10 to 10^3. */
enum {
    LEFT = 70,
    TOP = 50,
    WIDTH = 360,
    HEIGHT = 260,
    GAP = 60,
    DECADES_X = 13,
    DECADES_Y = 13
};

static double
x_of(double wait_per_rate)
{
    return LEFT + WIDTH * (log10(wait_per_rate) + 12) / DECADES_X;
}

static double
y_of(double factor)
{
    return TOP + HEIGHT * (3 - log10(factor)) / DECADES_Y;
}

static void
svg_axes(FILE *file)
{
    for (int decade = -12; decade <= 1; decade++) {
        const double x = x_of(pow(10, decade));

        fprintf(file, "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' class='g'/>\n",
                x, TOP, x, TOP + HEIGHT);
        if (decade % 3 == 0)
            fprintf(file,
                    "<text x='%.1f' y='%d' text-anchor='middle'>1e%d</text>\n",
                    x, TOP + HEIGHT + 16, decade);
    }
    for (int decade = -10; decade <= 3; decade++) {
        const double y = y_of(pow(10, decade));

        fprintf(file,
                "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' class='%s'/>\n",
                LEFT, y, LEFT + WIDTH, y, decade == 0 ? "one" : "g");
        if (decade % 2 == 0)
            fprintf(file,
                    "<text x='%d' y='%.1f' text-anchor='end'>1e%d</text>\n",
                    LEFT - 6, y + 4, decade);
    }
}

static void
svg_panel(FILE *file, const struct prof_rules *rules)
{
    static const char *const colours[RATES] = {"#1b6ca8", "#2a9d8f", "#8ab17d",
                                               "#e9c46a", "#f4a261", "#e76f51"};

    fprintf(file, "<text x='%d' y='%d' class='h'>%s</text>\n", LEFT, TOP - 12,
            rules->name);
    svg_axes(file);
    for (int j = 0; j < RATES; j++) {
        struct props_bias bias;

        props_bias_make(&bias, rules, all_rates[j], TICKS_PER_NS);
        fprintf(file,
                "<polyline fill='none' stroke='%s' stroke-width='2' "
                "points='",
                colours[j]);
        for (uint32_t k = 0; k < bias.rows_count; k++)
            fprintf(file, "%s%.1f,%.1f", k == 0 ? "" : " ",
                    x_of((double)bias.rows[k].cycles / (double)bias.rate_ticks),
                    y_of(bias.rows[k].factors.cycles));
        fputs("'/>\n", file);
        fprintf(file, "<text x='%d' y='%d' fill='%s'>rate %" PRIu64 "</text>\n",
                LEFT + WIDTH - 130, TOP + HEIGHT - 12 - 15 * (RATES - 1 - j),
                colours[j], all_rates[j]);
    }
}

void
props_bias_svg(FILE *file)
{
    const int across = LEFT + WIDTH + 20;
    const int down = TOP + HEIGHT + GAP;

    fprintf(file,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='11'>\n"
            "<style>.g{stroke:#ddd}.one{stroke:#444}.h{font-size:15px;"
            "font-weight:bold}</style>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n"
            "<text x='%d' y='20' font-size='16'>Time recorded in a block "
            "profile, divided by time waited (1 is right), by wait / rate"
            "</text>\n",
            2 * across, 2 * down + 30, LEFT);
    for (int i = 0; i < RULES; i++) {
        fprintf(file, "<g transform='translate(%d,%d)'>\n", i % 2 * across,
                25 + i / 2 * down);
        svg_panel(file, all_rules[i]);
        fputs("</g>\n", file);
    }
    fputs("</svg>\n", file);
}
