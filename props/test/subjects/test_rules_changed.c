/*
 * test_rules_changed.c -- for each golden figure, some mistake in its rule set
 * changes it.
 *
 * A figure that no mistake changes would not prove a rule set right. The test
 * makes the mistakes below in each rule set, one after the other, until the
 * figure differs from the golden one in the digits given.
 */
#include <math.h>
#include <string.h>

#include "golden.h"
#include "law.h"
#include "unit_test.h"

/* The rule set whose functions the changed ones call. */
static const struct subjects_rules *base;

/* ---- changes of where the next point lies ---- */

static double
above_evenly(uint64_t rate, uint64_t n)
{
    return n < 2 * rate ? 1 - (double)n / (2 * (double)rate) : 0;
}

static double
above_base_2(uint64_t rate, uint64_t n)
{
    return exp2(-(double)n / (double)rate);
}

static size_t
pieces_base_2(uint64_t rate, struct subjects_piece *pieces)
{
    return base->pieces((uint64_t)((double)rate / log(2)), pieces);
}

static bool
logarithm_of_base_2(struct subjects_rules *rules)
{
    rules->above = above_base_2;
    rules->pieces = pieces_base_2;
    return rules->chain == SUBJECTS_RENEWAL || rules->chain == SUBJECTS_CARRIED;
}

/* The overshoot is dropped, as uniform2r does. */
static bool
gaps_even(struct subjects_rules *rules)
{
    rules->chain = SUBJECTS_RENEWAL;
    rules->above = above_evenly;
    return base->chain == SUBJECTS_RENEWAL || base->chain == SUBJECTS_CARRIED;
}

/* ---- changes of what an allocation takes off the countdown ---- */

static uint64_t
ticks_with_header(uint64_t rate, uint64_t size_bytes)
{
    return subjects_ticks(base, rate, size_bytes) + 16;
}

static bool
header_counts(struct subjects_rules *rules)
{
    rules->ticks = ticks_with_header;
    return rules->chain != SUBJECTS_KEPT;
}

static bool
next_block_sampled(struct subjects_rules *rules)
{
    rules->samples_next = !rules->samples_next;
    return rules->chain == SUBJECTS_RENEWAL && !rules->needs_threshold;
}

static bool
at_least_the_rate(uint64_t rate, uint64_t size_bytes)
{
    return size_bytes >= rate;
}

static bool
large_blocks_always(struct subjects_rules *rules)
{
    rules->always = rules->always == NULL ? at_least_the_rate : NULL;
    return rules->chain != SUBJECTS_KEPT;
}

/* ---- changes of what a sample counts for ---- */

static double
own_bytes(const struct subjects_sample *sample)
{
    return (double)sample->size_bytes;
}

static bool
weighs_by(struct subjects_rules *rules,
          double (*estimate)(const struct subjects_sample *))
{
    rules->estimate = estimate;
    rules->live = NULL;
    rules->needs_threshold = false;
    return true;
}

static bool
weighs_its_own_bytes(struct subjects_rules *rules)
{
    return weighs_by(rules, own_bytes);
}

static bool
weighs_the_rate(struct subjects_rules *rules)
{
    return weighs_by(rules, subjects_estimate_rate);
}

static bool
weighs_by_its_chance(struct subjects_rules *rules)
{
    return weighs_by(rules, subjects_estimate_scaled);
}

static const struct change {
    const char *name;
    bool (*make)(struct subjects_rules *rules); /* false: it does not fit */
} changes[] = {
    {"the block after is sampled", next_block_sampled},
    {"a header of 16 bytes counts", header_counts},
    {"a logarithm of base 2", logarithm_of_base_2},
    {"a sample weighs the rate", weighs_the_rate},
    {"a sample weighs S / p", weighs_by_its_chance},
    {"a sample weighs its own bytes", weighs_its_own_bytes},
    {"large blocks: always, or no longer", large_blocks_always},
    {"gaps are even up to twice the rate", gaps_even},
};
enum { CHANGES = sizeof changes / sizeof changes[0], RULES_MAX = 32 };

/* Each changed rule set is made once for the whole test, as enumerations are
 * kept by its address. */
static struct changed {
    const struct subjects_rules *base;
    struct subjects_rules rules[CHANGES];
    bool is_made[CHANGES];
    struct golden_workload workload[CHANGES];
} all[RULES_MAX];

static int noticed[CHANGES]; /* figures that it changed first */

static struct changed *
changed_of(const struct subjects_rules *rules)
{
    struct changed *changed = all;

    while (changed->base != NULL && changed->base != rules)
        changed++;
    assert_true(changed < &all[RULES_MAX - 1]);
    base = rules;
    if (changed->base == NULL) {
        changed->base = rules;
        for (size_t i = 0; i < CHANGES; i++) {
            changed->rules[i] = *rules;
            changed->is_made[i] = changes[i].make(&changed->rules[i]);
        }
    }
    return changed;
}

/* returns: does some change give another figure? The first one suffices. */
static bool
is_noticed(const struct golden *golden)
{
    struct changed *changed = changed_of(golden->rules);

    for (size_t i = 0; i < CHANGES; i++) {
        double figure;

        if (!changed->is_made[i])
            continue;
        figure =
            golden_figure(golden, &changed->rules[i], &changed->workload[i]);
        if (isfinite(figure) && !golden_is(golden, figure)) {
            noticed[i]++;
            return true;
        }
    }
    return false;
}

TEST(every_golden_number_is_changed_by_a_mistake)
{
    struct golden golden;
    int rows = 0;
    int changed = 0;
    FILE *file = golden_open();

    while (golden_next(file, &golden)) {
        rows++;
        if (is_noticed(&golden))
            changed++;
        else
            print_error("no mistake changes: %s", golden.line);
    }
    (void)fclose(file);
    print_message("%d figures, %d changed by a mistake in their rules\n", rows,
                  changed);
    for (size_t i = 0; i < CHANGES; i++)
        print_message("%s: %d\n", changes[i].name, noticed[i]);
    assert_true(rows > 600);
    assert_int_equal(changed, rows);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
