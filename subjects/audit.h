/*
 * audit.h -- computes the figures of a rule set for one period of sizes, and
 * shows them as a table, as JSON or as a drawing.
 */
#ifndef SUBJECTS_AUDIT_H
#define SUBJECTS_AUDIT_H

#include <stdio.h>

#include "subjects/effects.h"
#include "subjects/figures.h"

/* What is allocated: a period of sizes, for ever. */
struct subjects_pattern {
    const char *name; /* "W4"; "sizes" if they were given */
    uint64_t rate;
    uint64_t sizes[SUBJECTS_SIZES_MAX];
    size_t count;
    uint64_t classes[SUBJECTS_SIZES_MAX]; /* sizes that differ, ascending */
    size_t classes_count;
};

/* The figures of one rule set under a pattern, by size class. */
struct subjects_audit {
    const struct subjects_rules *rules;
    double mean[SUBJECTS_SIZES_MAX]; /* estimate / truth */
    double total;
    double objects_one_site; /* of a site with all sizes; NAN: not applicable */
    double variance[SUBJECTS_SIZES_MAX]; /* per sample, of one size alone */
    double live[SUBJECTS_SIZES_MAX];
    struct subjects_effects effects[SUBJECTS_SIZES_MAX];
};

/* Fill in the size classes of a pattern from its sizes. */
void subjects_pattern_classes(struct subjects_pattern *pattern);

/* out: *audit, mean and total; NAN if there is no such figure */
void subjects_audit_make(struct subjects_audit *audit,
                         const struct subjects_rules *rules,
                         const struct subjects_pattern *pattern);

/* in, out: *audit; fills in the other figures */
void subjects_audit_more(struct subjects_audit *audit,
                         const struct subjects_pattern *pattern);

/* Print the head of a table, and one line of it. */
void subjects_audit_head(FILE *file, const struct subjects_pattern *pattern);
void subjects_audit_line(FILE *file, const struct subjects_audit *audit,
                         const struct subjects_pattern *pattern);

/* The same for the table of each size allocated alone. */
void subjects_audit_details_head(FILE *file);
void subjects_audit_details(FILE *file, const struct subjects_audit *audit,
                            const struct subjects_pattern *pattern);

/* Write a JSON object: the figures of one rule set under one pattern. */
void subjects_audit_json(FILE *file, const struct subjects_audit *audit,
                         const struct subjects_pattern *pattern);

/* Write an SVG drawing: a line for each rule set, a dot for each size class. */
void subjects_audit_svg(FILE *file, const struct subjects_audit *audits,
                        size_t count, const struct subjects_pattern *pattern);

#endif
