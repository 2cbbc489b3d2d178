/* rule_sets.h -- the rule sets, for those that name one. */
#ifndef SUBJECTS_RULE_SETS_H
#define SUBJECTS_RULE_SETS_H

#include "rules.h"

extern const struct subjects_rules subjects_after_refill;
extern const struct subjects_rules subjects_buffer_size;
extern const struct subjects_rules subjects_count_and_force;
extern const struct subjects_rules subjects_exact;
extern const struct subjects_rules subjects_go1_5;
extern const struct subjects_rules subjects_go1_10;
extern const struct subjects_rules subjects_go1_17;
extern const struct subjects_rules subjects_go1_23;
extern const struct subjects_rules subjects_go1_24;
extern const struct subjects_rules subjects_gperftools;
extern const struct subjects_rules subjects_heapprofd;
extern const struct subjects_rules subjects_jemalloc;
extern const struct subjects_rules subjects_jep331;
extern const struct subjects_rules subjects_jfr;
extern const struct subjects_rules subjects_libdatadog;
extern const struct subjects_rules subjects_max_rate;
extern const struct subjects_rules subjects_min_variance;
extern const struct subjects_rules subjects_otel;
extern const struct subjects_rules subjects_own_size;
extern const struct subjects_rules subjects_raw_live;
extern const struct subjects_rules subjects_seastar;
extern const struct subjects_rules subjects_since_last;
extern const struct subjects_rules subjects_site_mean;
extern const struct subjects_rules subjects_statmemprof;
extern const struct subjects_rules subjects_tcmalloc;
extern const struct subjects_rules subjects_uniform2r;
extern const struct subjects_rules subjects_v8_nodes;
extern const struct subjects_rules subjects_v8_samples;
extern const struct subjects_rules subjects_wrapping_weight;

#endif
