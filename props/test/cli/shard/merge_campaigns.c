/*
 * merge_campaigns.c -- tests of test_merge.c: results of campaigns. Their
 * failures are forged, so the command refuses them; but it must refuse the
 * right one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge_case.h"
#include "unit_test.h"

enum { SEEDS = 40, PARTS = 2 };

/* What shard i has done of a part. If it failed, it failed at the seed after
 * those. */
struct part {
    uint64_t runs;
    bool failed;
    bool lies; /* its results for these seeds are false */
};

static uint64_t
events_of(uint32_t shard, int part, uint64_t runs)
{
    return runs * (UINT64_C(1) << 31) + shard + (uint64_t)part;
}

static uint64_t
hash_of(uint32_t shard, int part, uint64_t runs)
{
    return runs * UINT64_C(0x9e3779b97f4a7c15) + shard * 3 + (uint64_t)part;
}

static void
write_campaign(uint32_t shard, uint32_t shards, const struct part *parts)
{
    static const char *const names[] = {"heaps", "traces"};
    static const char *const goals[] = {"SNAPSHOT_JUDGED_BY_HEAP",
                                        "TRACE_SKEW"};
    char asked[64];
    FILE *file;

    snprintf(asked, sizeof asked, "check H1 T1 --rules exact --seeds 1..%d",
             SEEDS);
    file = merge_begin_file("profsim result 1", asked, shard, shards);
    fputs(shard == 0 ? "spent 5 ms\nenumerated\n" : "spent 5 ms\n", file);
    for (int i = 0; i < PARTS; i++) {
        const uint64_t runs = parts[i].runs;

        if (runs == 0 && !parts[i].failed)
            continue;
        fprintf(file, "part %s\n", names[i]);
        if (runs > 0)
            fprintf(file,
                    "seeds %" PRIu32 "..%" PRIu64 " step %" PRIu32
                    "\nruns %" PRIu64 "\nevents %" PRIu64 "\nhash %016" PRIx64
                    "\ngoal %s %" PRIu64 "\n",
                    shard + 1, shard + 1 + (runs - 1) * shards, shards, runs,
                    events_of(shard, i, runs),
                    hash_of(shard, i, runs) + parts[i].lies, goals[i], runs);
        if (parts[i].failed)
            fprintf(file, "failure %s seed %" PRIu64 " exit 2 scenario 0\n",
                    i == 0 ? "H1" : "T1", shard + 1 + runs * shards);
    }
    merge_end_file(file);
}

/* The most that any file of each shard has done. */
struct done {
    uint64_t most[PARTS][MERGE_SHARDS_MAX];
    bool is_missing[MERGE_SHARDS_MAX]; /* no file has done the whole shard */
};

static void
write_some(struct done *done, uint32_t shard, uint32_t shards)
{
    const uint64_t all = (SEEDS - shard - 1) / shards + 1;
    struct part parts[PARTS] = {{0}};

    for (int k = 0; k < PARTS; k++) {
        parts[k].runs =
            merge_below(2) == 0 ? all : merge_below((uint32_t)all + 1);
        if (parts[k].runs > done->most[k][shard])
            done->most[k][shard] = parts[k].runs;
    }
    if (parts[0].runs == all && parts[1].runs == all)
        done->is_missing[shard] = false;
    write_campaign(shard, shards, parts);
}

static void
expect_sums(const struct done *done, uint32_t shards,
            const struct captured *said)
{
    bool is_missing = false;

    for (uint32_t i = 0; i < shards; i++)
        is_missing |= done->is_missing[i];
    for (int k = 0; k < PARTS; k++) {
        uint64_t runs = 0;
        uint64_t events = 0;
        uint64_t hash = 0;

        for (uint32_t i = 0; i < shards; i++) {
            const uint64_t most = done->most[k][i];

            runs += most;
            events += most > 0 ? events_of(i, k, most) : 0;
            hash += most > 0 ? hash_of(i, k, most) : 0;
        }
        merge_expect(said, true,
                     "%s: %" PRIu64 " runs, %" PRIu64
                     " events, log hash %016" PRIx64 "\n",
                     k == 0 ? "rules exact" : "traces", runs, events, hash);
        merge_expect(said, true,
                     "\"verdict\": \"%s\",\n      \"seeds\": {\"first\": 1, "
                     "\"last\": %d},\n      \"counts\": {\"runs\": %" PRIu64
                     ", \"events\": %" PRIu64 ", \"tried\": %" PRIu64 "}",
                     is_missing || runs == 0 ? "incomplete" : "holds", SEEDS,
                     runs, events, runs);
    }
    merge_expect(said, false, "did different things");
}

/* If a shard has several files, the one with most runs counts, for each
 * part. */
void
merge_campaigns(void)
{
    for (uint64_t seed = 1; seed <= MERGE_CASES; seed++) {
        struct done done = {.is_missing = {true, true, true, true}};
        uint32_t shards;
        struct captured said;
        int exit_code = 0;

        merge_seed(seed);
        shards = 1 + merge_below(MERGE_SHARDS_MAX);
        for (uint32_t i = 0; i < shards; i++) {
            for (uint32_t left = i == 0 ? 1 + merge_below(2) : merge_below(3);
                 left > 0; left--)
                write_some(&done, i, shards);
            exit_code = done.is_missing[i] ? 6 : exit_code;
        }
        said = merge_files();
        merge_expect_exit(&said, exit_code);
        expect_sums(&done, shards, &said);
        merge_expect_missing(
            &said, done.is_missing, shards,
            "; do profsim check H1 T1 --rules exact --seeds 1..40 ");
        captured_free(&said);
    }
}

/* Do two files have different results for the same seeds? */
static bool
differ(const struct part *a, const struct part *b)
{
    if (a->runs == b->runs)
        return a->lies != b->lies && a->runs > 0;
    return (a->failed && a->runs < b->runs) || (b->failed && b->runs < a->runs);
}

/* Write two files of one shard. For one part, one of them has done at least as
 * much as the other, has failed or not, and says the same as the other or
 * not. */
void
merge_two_of_a_shard(void)
{
    for (uint32_t which = 0; which < 3 * 3 * 8; which++) {
        const uint32_t k = (which / 9 + which) % 2;
        const struct part a = {.runs = 3 + which % 3,
                               .failed = which / 9 % 2,
                               .lies = which / 18 % 2};
        const struct part b = {.runs = 3 + which / 3 % 3, .failed = which / 36};
        struct part parts[PARTS] = {{.runs = 2}, {.runs = 2}};
        struct captured said;

        parts[k] = a;
        write_campaign(0, 4, parts);
        parts[k] = b;
        write_campaign(0, 4, parts);
        said = merge_files();
        merge_expect(&said, differ(&a, &b),
                     "the same seeds did different things");
        if (differ(&a, &b) && !a.failed && !b.failed)
            merge_expect_exit(&said, 5);
        captured_free(&said);
    }
}

/* Write three files of one shard, each with more runs than the one before. */
void
merge_three_of_a_shard(void)
{
    struct done done = {.most = {{5}, {7}},
                        .is_missing = {true, true, true, true}};
    struct captured said;

    for (uint64_t runs = 3; runs <= 5; runs++) {
        const struct part parts[PARTS] = {{.runs = runs}, {.runs = runs + 2}};

        write_campaign(0, 4, parts);
    }
    said = merge_files();
    merge_expect_exit(&said, 6);
    expect_sums(&done, 4, &said);
    captured_free(&said);
}

/* The failure that counts is the one with the first seed, with its file. */
void
merge_first_failure(void)
{
    for (uint64_t seed = 1; seed <= MERGE_CASES / 4; seed++) {
        const uint32_t shards = MERGE_SHARDS_MAX;
        uint64_t first = UINT64_MAX;
        int where = 0;
        struct captured said;
        uint32_t k;

        merge_seed(seed);
        k = merge_below(2);
        for (uint32_t i = 0; i < shards; i++) {
            struct part parts[PARTS] = {{.runs = 2}, {.runs = 2}};

            parts[k] = (struct part){.runs = merge_below(9),
                                     .failed = merge_below(3) > 0};
            if (parts[k].failed && parts[k].runs * shards + i + 1 < first) {
                first = parts[k].runs * shards + i + 1;
                where = merge_files_count();
            }
            write_campaign(i, shards, parts);
        }
        said = merge_files();
        merge_expect(&said, first != UINT64_MAX,
                     "%s: seed %" PRIu64 " of %s does not fail\n",
                     merge_path(where), first, k == 0 ? "heaps" : "traces");
        merge_expect_exit(&said, first != UINT64_MAX ? 1 : 6);
        captured_free(&said);
    }
}
