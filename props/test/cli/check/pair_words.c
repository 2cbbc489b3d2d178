/*
 * pair_words.c -- a test of test_merge.c: what `profsim check --pairs` says of
 * pairs of coverage goals, of which some are met against pairs.def and some are
 * missed, compared with what pairs.def says.
 */
#include <inttypes.h>
#include <string.h>

#include "check_pairs.h"
#include "merge_case.h"
#include "unit_test.h"
#include "wanted.h"

enum { CASES = 12, CHANGES_MAX = 4 };

static struct props_pairs met;

static void
turn(uint32_t a, uint32_t b)
{
    met.met[a][b / 64] ^= UINT64_C(1) << b % 64;
    met.met[b][a / 64] ^= UINT64_C(1) << a % 64;
}

/* The row of a pair, whichever of the two it begins with. */
static const struct props_pairs_unmet *
row_of(uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < props_pairs_unmet_count; i++) {
        const struct props_pairs_unmet *row = &props_pairs_unmet[i];

        for (uint32_t other = row->first; other <= row->last; other++) {
            if ((row->goal == a && other == b) ||
                (row->goal == b && other == a))
                return row;
        }
    }
    return NULL;
}

/* Change pairs of any kind, and at least one that pairs.def names. */
static void
draw_changes(void)
{
    const struct props_pairs_unmet *row =
        &props_pairs_unmet[merge_below((uint32_t)props_pairs_unmet_count)];
    const uint32_t other =
        row->first + merge_below((uint32_t)(row->last - row->first) + 1);

    if (other != row->goal)
        turn(row->goal, other);
    for (uint32_t left = merge_below(CHANGES_MAX); left > 0; left--) {
        const uint32_t a = merge_below(COVER_OF_LIBRARY);
        const uint32_t b = merge_below(COVER_OF_LIBRARY);

        if (a != b)
            turn(a, b);
    }
}

static enum cli_exit
say(int argc, char **argv)
{
    struct cli_report report;
    bool complete;

    cli_report_begin(&report, argc, argv);
    complete = cli_check_pairs(&report, &met);
    for (size_t i = 0; i < report.results_count; i++) {
        const struct cli_result *r = report.results[i];

        printf("%s, %s: %s, %s\n", r->subject, r->name,
               cli_verdict_word(r->verdict), r->text);
    }
    return cli_report_drop(&report, complete ? CLI_OK : CLI_INCOMPLETE);
}

static const char *
text_of(bool is_met)
{
    return is_met ? "reached, though pairs.def says it cannot be"
                  : "never reached in one run";
}

/* out: wanted_text, what is printed or, with `results`, reported of each pair.
 * returns: how many are wrong */
static int
expect_pairs(bool results)
{
    int wrong = 0;

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
            const char *a = props_cover_id((enum props_cover)i);
            const char *b = props_cover_id((enum props_cover)j);
            const bool is_met = (met.met[i][j / 64] >> j % 64 & 1) != 0;
            const struct props_pairs_unmet *row = row_of(i, j);

            if (is_met ? row != NULL && !row->possible : row == NULL) {
                fprintf(wanted_text, "%s%s and %s: %s%s\n",
                        results ? "pairs, " : "", a, b,
                        results ? "incomplete, " : "", text_of(is_met));
                wrong++;
            } else if (is_met && row != NULL && !results) {
                fprintf(wanted_text,
                        "%s and %s: reached now, so pairs.def need not name "
                        "them\n",
                        a, b);
            }
        }
    }
    return wrong;
}

static void
expect_sums(void)
{
    uint32_t counts[4] = {0};

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
            const struct props_pairs_unmet *row = row_of(i, j);

            counts[0] += (met.met[i][j / 64] >> j % 64 & 1) != 0;
            counts[1]++;
            counts[2] += row != NULL && !row->possible;
            counts[3] += row != NULL && row->possible;
        }
    }
    fprintf(wanted_text,
            "pairs of coverage goals in one run: %" PRIu32 " reached of "
            "%" PRIu32 "; %" PRIu32 " cannot be, %" PRIu32 " are not yet\n",
            counts[0], counts[1], counts[2], counts[3]);
}

void
merge_pair_words(void)
{
    char word[] = "check";
    char *words[] = {word, NULL};

    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct captured said;
        int wrong;

        merge_seed(seed);
        memset(&met, 0, sizeof met);
        for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
            met.met[i][i / 64] |= UINT64_C(1) << i % 64;
            for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
                if (row_of(i, j) == NULL)
                    turn(i, j);
            }
        }
        if (seed > 0)
            draw_changes();
        wanted_begin();
        wrong = expect_pairs(false);
        expect_sums();
        expect_pairs(true);
        wanted_end();
        assert_true(captured_run(&said, say, words, -1, 60));
        wanted_expect(&said);
        merge_expect_exit(&said, wrong > 0 ? 6 : 0);
        captured_free(&said);
    }
}
