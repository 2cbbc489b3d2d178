/* audit.c -- the figures of a rule set, and how they are shown. */
#include "subjects/audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int
ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void
subjects_pattern_classes(struct subjects_pattern *pattern)
{
    uint64_t sorted[SUBJECTS_SIZES_MAX];

    for (size_t i = 0; i < pattern->count; i++)
        sorted[i] = pattern->sizes[i];
    qsort(sorted, pattern->count, sizeof *sorted, ascending);
    pattern->classes_count = 0;
    for (size_t i = 0; i < pattern->count; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1])
            pattern->classes[pattern->classes_count++] = sorted[i];
    }
}

void
subjects_audit_make(struct subjects_audit *audit,
                    const struct subjects_rules *rules,
                    const struct subjects_pattern *pattern)
{
    double mean[SUBJECTS_SIZES_MAX];
    double estimated = 0;
    double truth = 0;

    *audit = (struct subjects_audit){.rules = rules, .objects_one_site = NAN};
    subjects_mean(rules, pattern->rate, pattern->sizes, pattern->count, mean);
    for (size_t c = 0; c < pattern->classes_count; c++) {
        double sum = 0;
        double bytes = 0;

        for (size_t i = 0; i < pattern->count; i++) {
            if (pattern->sizes[i] == pattern->classes[c]) {
                sum += mean[i];
                bytes += (double)pattern->sizes[i];
            }
        }
        audit->mean[c] = sum / bytes;
        estimated += sum;
        truth += bytes;
    }
    audit->total = estimated / truth;
}

void
subjects_audit_more(struct subjects_audit *audit,
                    const struct subjects_pattern *pattern)
{
    const struct subjects_rules *rules = audit->rules;

    if (rules->manners.scales_by_site && pattern->classes_count > 1)
        audit->objects_one_site =
            subjects_mixed_site(rules, pattern->rate, pattern->sizes,
                                pattern->count)
                .objects;
    for (size_t c = 0; c < pattern->classes_count; c++) {
        const uint64_t size = pattern->classes[c];

        audit->variance[c] = subjects_variance(rules, pattern->rate, size);
        audit->live[c] = subjects_live(rules, pattern->rate, size);
        audit->effects[c] = subjects_effects(rules, pattern->rate, size);
    }
}

/* ---- a table ---- */

enum { NAME_WIDTH = 19 };

/* Print a figure in seven columns, or "-" if there is none. */
static void
print_figure(FILE *file, double value)
{
    if (isnan(value))
        fputs("        -", file);
    else if (value < 9999.99)
        fprintf(file, " %8.4f", value);
    else
        fprintf(file, " %8.0f", value);
}

void
subjects_audit_head(FILE *file, const struct subjects_pattern *pattern)
{
    fprintf(file, "%s, R = %" PRIu64 ": expected estimate / truth\n\n%-*s",
            pattern->name, pattern->rate, NAME_WIDTH, "bytes");
    for (size_t c = 0; c < pattern->classes_count; c++)
        fprintf(file, " %8" PRIu64, pattern->classes[c]);
    fprintf(file, "%9s\n", "total");
}

void
subjects_audit_line(FILE *file, const struct subjects_audit *audit,
                    const struct subjects_pattern *pattern)
{
    fprintf(file, "%-*s", NAME_WIDTH, audit->rules->name);
    for (size_t c = 0; c < pattern->classes_count; c++)
        print_figure(file, audit->mean[c]);
    print_figure(file, audit->total);
    fputc('\n', file);
}

void
subjects_audit_details_head(FILE *file)
{
    fprintf(
        file,
        "\nEach size alone. v: variance per sample; live: as shown;\nfirst, "
        "ten: a thread's first allocation, its first ten;\n64, 4096: "
        "aligned to that; moved, place: a realloc;\nnew, old: after and "
        "before R doubles; fork: correlation with the child;\nfull: once "
        "the table is full; site: objects, all sizes at one site;\nzero: "
        "bytes that a size of 0 counts\n\n%-*s %9s",
        NAME_WIDTH, "", "bytes");
    for (int i = 0; i < 13; i++) {
        static const char *const names[] = {
            "v",     "live", "first", "ten",  "64",   "4096", "moved",
            "place", "new",  "old",   "fork", "full", "site"};

        fprintf(file, "%9s", names[i]);
    }
    fputs(" zero\n", file);
}

void
subjects_audit_details(FILE *file, const struct subjects_audit *audit,
                       const struct subjects_pattern *pattern)
{
    for (size_t c = 0; c < pattern->classes_count; c++) {
        const struct subjects_effects *e = &audit->effects[c];
        const double figures[] = {audit->variance[c],
                                  audit->live[c],
                                  e->first,
                                  e->ten,
                                  e->aligned_64,
                                  e->aligned_4096,
                                  e->realloc_moved,
                                  e->realloc_place,
                                  e->doubled_new,
                                  e->doubled_old,
                                  e->fork,
                                  e->full,
                                  audit->objects_one_site};

        fprintf(file, "%-*s %9" PRIu64, NAME_WIDTH,
                c == 0 ? audit->rules->name : "", pattern->classes[c]);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            print_figure(file, figures[i]);
        fprintf(file, " %4" PRIu64 "\n", e->zero_ticks);
    }
}

/* ---- JSON ---- */

static void
json_member(FILE *file, const char *name, double value)
{
    if (isnan(value))
        fprintf(file, ", \"%s\": null", name);
    else
        fprintf(file, ", \"%s\": %.9g", name, value);
}

static void
json_class(FILE *file, const struct subjects_audit *audit, size_t c)
{
    const struct subjects_effects *e = &audit->effects[c];

    json_member(file, "mean", audit->mean[c]);
    json_member(file, "variance", audit->variance[c]);
    json_member(file, "live", audit->live[c]);
    json_member(file, "first_allocation", e->first);
    json_member(file, "ten_allocations", e->ten);
    json_member(file, "aligned_64", e->aligned_64);
    json_member(file, "aligned_4096", e->aligned_4096);
    json_member(file, "realloc_moved", e->realloc_moved);
    json_member(file, "realloc_in_place", e->realloc_place);
    json_member(file, "rate_doubled_next", e->doubled_new);
    json_member(file, "rate_doubled_before", e->doubled_old);
    json_member(file, "fork_correlation", e->fork);
    json_member(file, "table_full", e->full);
    fprintf(file, ", \"zero_size_counts\": %" PRIu64, e->zero_ticks);
}

void
subjects_audit_json(FILE *file, const struct subjects_audit *audit,
                    const struct subjects_pattern *pattern)
{
    fprintf(file,
            "  {\"rules\": \"%s\", \"source\": \"%s\", \"workload\": \"%s\","
            " \"rate\": %" PRIu64 ",\n   \"sizes\": [\n",
            audit->rules->name, audit->rules->source, pattern->name,
            pattern->rate);
    for (size_t c = 0; c < pattern->classes_count; c++) {
        fprintf(file, "    {\"bytes\": %" PRIu64, pattern->classes[c]);
        json_class(file, audit, c);
        fprintf(file, "}%s\n", c + 1 < pattern->classes_count ? "," : "");
    }
    fputs("   ]", file);
    json_member(file, "total", audit->total);
    json_member(file, "objects_one_site", audit->objects_one_site);
    fputc('}', file);
}

/* ---- drawing ---- */

/* The axis shows ratios from 1/4 to 4, logarithmically. A ratio outside is
 * drawn at the edge, with its figure. */
enum { LEFT = 160, TOP = 70, WIDTH = 560, LINE = 22, MOST = 4 };

static double
x_of(double ratio)
{
    const double most = log2(MOST);
    const double at = log2(ratio < 1e-9 ? 1e-9 : ratio);

    return LEFT + WIDTH / 2.0 +
           WIDTH / 2.0 *
               (at > most    ? most
                : at < -most ? -most
                             : at) /
               most;
}

static void
svg_axis(FILE *file, int bottom)
{
    static const char *const labels[] = {"1/4", "1/2", "1", "2", "4"};

    for (int i = 0; i < 5; i++) {
        const double x = x_of(pow(2, i - 2));

        fprintf(file,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='%s'/>\n"
                "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n",
                x, TOP, x, bottom, i == 2 ? "#444" : "#ddd", x, TOP - 6,
                labels[i]);
    }
}

static const char *
colour_of(size_t c)
{
    static const char *const colours[] = {"#1b6ca8", "#e76f51", "#2a9d8f",
                                          "#8e44ad", "#b8860b", "#444444"};

    return colours[c % (sizeof colours / sizeof *colours)];
}

static void
svg_legend(FILE *file, const struct subjects_pattern *pattern)
{
    fprintf(file,
            "<text x='10' y='20' font-size='16'>Expected estimate / truth, "
            "%s, R = %" PRIu64 " (1 is right)</text>\n",
            pattern->name, pattern->rate);
    for (size_t c = 0; c < pattern->classes_count && c < 6; c++)
        fprintf(file,
                "<circle cx='%zu' cy='38' r='5' fill='%s'/>"
                "<text x='%zu' y='42'>%" PRIu64 "</text>\n",
                LEFT + 90 * c, colour_of(c), LEFT + 90 * c + 10,
                pattern->classes[c]);
}

void
subjects_audit_svg(FILE *file, const struct subjects_audit *audits,
                   size_t count, const struct subjects_pattern *pattern)
{
    const int bottom = TOP + LINE * (int)count + 6;

    fprintf(file,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n",
            LEFT + WIDTH + 90, bottom + 20);
    svg_legend(file, pattern);
    svg_axis(file, bottom);
    for (size_t i = 0; i < count; i++) {
        const int y = TOP + LINE * (int)i + LINE / 2 + 4;

        fprintf(file, "<text x='10' y='%d'>%s</text>\n", y + 4,
                audits[i].rules->name);
        for (size_t c = 0; c < pattern->classes_count; c++)
            fprintf(file,
                    "<circle cx='%.1f' cy='%d' r='5' fill='%s' "
                    "fill-opacity='0.8'><title>%" PRIu64
                    " bytes: %.4f</title></circle>\n",
                    x_of(audits[i].mean[c]), y, colour_of(c),
                    pattern->classes[c], audits[i].mean[c]);
    }
    fputs("</svg>\n", file);
}
