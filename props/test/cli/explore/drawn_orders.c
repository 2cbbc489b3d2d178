/*
 * drawn_orders.c -- see drawn_orders.h. Sites are drawn for each kernel; each
 * search against a weaker order finds what was drawn for it.
 */
#include "explore/drawn_orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "drawn.h"
#include "kernels.h"
#include "textbook.h"
#include "unit_test.h"

enum {
    CASES = 50,
    KERNELS_MAX = 160,
    POOL = 6, /* sites that a table of kernels has in all */
    CALLS_MAX = 4000,
    RUNS_MAX = 300000,
    SITES_MAX = 512,
    SECONDS = 60
};

/* Declared as in cli/explore/explore.h, whose name is also that of the
 * explorer's header. */
enum cli_exit cli_explore(int argc, char **argv);

/* A kernel, and which sites of its table it reaches. */
struct reacher {
    const struct sim_kernel_entry *entry;
    bool reaches[POOL];
    uint32_t many; /* instead: so many, from `first` on */
    uint32_t first;
};

/* A search, in the order in which they are made. */
struct call {
    const struct sim_kernel_entry *entry;
    struct sim_site is;
    enum sim_verdict verdict;
    enum sim_failure_kind kind;
    uint64_t runs;
};

static struct reacher reachers[KERNELS_MAX];
static uint32_t reachers_count;
static uint32_t first_of[3]; /* of each table, and the end */
static struct sim_site pools[2][POOL];
static struct call calls[CALLS_MAX];
static uint32_t calls_count;

static struct {
    const struct sim_kernel_entry *only; /* NULL: all */
    bool csv, bounded;
} asked;

static bool simulated;
static uint32_t collected; /* kernels whose sites were asked for */
static uint32_t called;
static struct sim_site weaker; /* site 0: none is weakened */

/* ---- What is drawn ---- */

static void
draw_pool(struct sim_site *pool)
{
    static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
                                 __ATOMIC_RELEASE, __ATOMIC_ACQ_REL,
                                 __ATOMIC_SEQ_CST};
    static const enum sim_op ops[] = {SIM_OP_LOAD, SIM_OP_STORE, SIM_OP_RMW,
                                      SIM_OP_CAS, SIM_OP_FENCE};

    for (uintptr_t i = 0; i < POOL; i++) {
        const enum sim_op op = ops[draw(5)];

        pool[i] = (struct sim_site){
            /* Addresses without a name, in neither order: 0xc to 0x11. */
            .site = 12 + i * 5 % POOL,
            .op = op,
            .order = op == SIM_OP_LOAD    ? orders[draw(2)]
                     : op == SIM_OP_STORE ? orders[draw(2) * 2]
                                          : orders[draw(5)],
            .order_failure = op == SIM_OP_CAS ? orders[draw(2)] : 0};
    }
}

static void
list_kernels(void)
{
    const struct sim_kernel_entry *const groups[] = {fixtures_textbook,
                                                     props_kernels};

    reachers_count = 0;
    for (int g = 0; g < 2; g++) {
        first_of[g] = reachers_count;
        for (const struct sim_kernel_entry *e = groups[g]; e->name != NULL;
             e++) {
            assert_in_range(reachers_count, 0, KERNELS_MAX - 1);
            reachers[reachers_count++] = (struct reacher){.entry = e};
        }
    }
    first_of[2] = reachers_count;
}

static bool
is_meant(const struct reacher *r)
{
    return asked.only == NULL || asked.only == r->entry;
}

static void
draw_case(uint64_t seed)
{
    drawn = seed;
    list_kernels();
    for (int g = 0; g < 2; g++)
        draw_pool(pools[g]);
    asked.only = seed % 12 == 0 ? NULL : reachers[draw(reachers_count)].entry;
    asked.csv = draw(3) == 0;
    asked.bounded = draw(3) == 0;
    for (uint32_t k = 0; k < reachers_count; k++) {
        for (int i = 0; i < POOL; i++)
            reachers[k].reaches[i] = draw(asked.only == NULL ? 12 : 2) == 0 &&
                                     is_meant(&reachers[k]);
    }
}

/* ---- The simulation ---- */

void __real_sim_explore_mutate(const struct sim_site *is);
void __wrap_sim_explore_mutate(const struct sim_site *is);
uint32_t __real_sim_explore_sites(const struct sim_kernel *kernel,
                                  uint32_t runs, struct sim_site *sites,
                                  uint32_t sites_max);
uint32_t __wrap_sim_explore_sites(const struct sim_kernel *kernel,
                                  uint32_t runs, struct sim_site *sites,
                                  uint32_t sites_max);

void
__wrap_sim_explore_mutate(const struct sim_site *is)
{
    if (!simulated)
        __real_sim_explore_mutate(is);
    else
        weaker = is != NULL ? *is : (struct sim_site){.site = 0};
}

uint32_t
__wrap_sim_explore_sites(const struct sim_kernel *kernel, uint32_t runs,
                         struct sim_site *sites, uint32_t sites_max)
{
    const struct reacher *r;
    uint32_t count = 0;

    if (!simulated)
        return __real_sim_explore_sites(kernel, runs, sites, sites_max);
    while (collected < reachers_count && !is_meant(&reachers[collected]))
        collected++;
    r = &reachers[collected++];
    if (runs != 500 || weaker.site != 0)
        printf("%" PRIu32 " runs of a mutant\n", runs);
    for (; count < r->many && count < sites_max; count++)
        sites[count] = (struct sim_site){.site = r->first + count};
    for (int i = 0; i < POOL && r->many == 0; i++) {
        if (r->reaches[i])
            sites[count++] = pools[r >= &reachers[first_of[1]]][i];
    }
    return count;
}

bool
orders_search(const struct sim_kernel *kernel,
              const struct sim_exhaust_options *options,
              struct sim_exhaust_result *result)
{
    const struct call *c = &calls[called];
    uint32_t most;

    if (!simulated)
        return false;
    called++;
    most = c->entry->preemptions_max < 2 ? c->entry->preemptions_max : 2;
    if (called > calls_count ||
        strcmp(kernel->about, c->entry->make()->about) != 0 ||
        memcmp(&weaker, &c->is, sizeof weaker) != 0)
        printf("another search than %s\n", c->entry->name);
    if (options->runs_max != RUNS_MAX ||
        options->run.bounded != (asked.bounded || c->entry->bounded) ||
        (options->run.bounded &&
         options->run.preemptions_max != (asked.bounded ? 7 : most)))
        printf("other limits\n");
    *result =
        (struct sim_exhaust_result){.verdict = c->verdict, .runs = c->runs};
    result->first_failure.failure.kind = c->kind;
    return true;
}

/* ---- The model ---- */

static void
draw_call(const struct sim_kernel_entry *entry, const struct sim_site *is)
{
    static const enum sim_verdict verdicts[] = {
        SIM_VERDICT_PASS, SIM_VERDICT_UNFINISHED, SIM_VERDICT_EMPTY,
        SIM_VERDICT_FAIL};

    assert_in_range(calls_count, 0, CALLS_MAX - 1);
    calls[calls_count++] =
        (struct call){.entry = entry,
                      .is = *is,
                      .verdict = verdicts[draw(4)],
                      .kind = (enum sim_failure_kind)draw(SIM_FAIL_KIND_COUNT),
                      .runs = draw(UINT64_C(1) << 34)};
}

/* The text of a report, and what is printed. */
struct told {
    FILE *text;
    FILE *report;
    uint32_t tried, found;
};

/* All that reach the site are asked, until one notices. */
static void
tell_order(struct told *told, uint32_t g, int i, const struct sim_site *is)
{
    static const char *const orders[] = {"relaxed", "consume", "acquire",
                                         "release", "acq_rel", "seq_cst"};
    const struct sim_site *was = &pools[g][i];
    const bool fails = is->order == was->order;
    const char *const before = fails ? "on failure " : "";
    const char *const from = orders[fails ? was->order_failure : was->order];
    const char *const to = orders[fails ? is->order_failure : is->order];
    const struct call *by = NULL;
    uint32_t unfinished = 0;
    uint64_t runs = 0;

    for (uint32_t k = first_of[g]; k < first_of[g + 1] && by == NULL; k++) {
        if (!reachers[k].reaches[i])
            continue;
        draw_call(reachers[k].entry, is);
        runs += calls[calls_count - 1].runs;
        unfinished += calls[calls_count - 1].verdict == SIM_VERDICT_UNFINISHED;
        if (calls[calls_count - 1].verdict == SIM_VERDICT_FAIL)
            by = &calls[calls_count - 1];
    }
    fprintf(told->text,
            asked.csv ? "\"%s\",%s%s,%s,%s,%s,%" PRIu64
                      : "%s\n    %s%s -> %s: %s, %s, %" PRIu64 " runs",
            sim_site_text(was->site), before, from, to,
            by != NULL ? by->entry->name : "SURVIVES",
            by != NULL ? sim_failure_kind_text(by->kind) : "-", runs);
    if (!asked.csv && by == NULL && unfinished > 0)
        fprintf(told->text, " (%" PRIu32 " kernels not finished)", unfinished);
    fputc('\n', told->text);
    fprintf(told->report,
            "%s    {\n      \"subject\": \"%s\",\n      \"name\": \"%s%s -> "
            "%s\",\n      \"verdict\": \"%s\"",
            told->tried > 0 ? ",\n" : "\n", sim_site_text(was->site), before,
            from, to, by != NULL ? "caught" : "unnoticed");
    if (by != NULL)
        fprintf(told->report, ",\n      \"text\": \"%s, %s\"", by->entry->name,
                sim_failure_kind_text(by->kind));
    else if (unfinished > 0)
        fprintf(told->report,
                ",\n      \"text\": \"no kernel; %" PRIu32
                " were not finished\"",
                unfinished);
    fprintf(told->report, ",\n      \"counts\": {\"runs\": %" PRIu64 "}\n    }",
            runs);
    told->tried++;
    told->found += by != NULL;
}

/* Sites are told in the order of their places, then of their addresses. */
static int
compare(const struct sim_site *a, const struct sim_site *b)
{
    const int order = strcmp(sim_site_text(a->site), sim_site_text(b->site));

    return order != 0 ? order : (a->site > b->site) - (a->site < b->site);
}

static void
tell_table(struct told *told, uint32_t g)
{
    bool is_reached[POOL] = {false};
    int order[POOL];

    for (int i = 0; i < POOL; i++) {
        int at = i;

        for (uint32_t k = first_of[g]; k < first_of[g + 1]; k++)
            is_reached[i] |= reachers[k].reaches[i];
        for (; at > 0 && compare(&pools[g][order[at - 1]], &pools[g][i]) > 0;
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int n = 0; n < POOL; n++) {
        struct sim_site is = pools[g][order[n]];

        for (uint32_t step = 0;
             is_reached[order[n]] && sim_explore_weaken(&is, step); step++) {
            tell_order(told, g, order[n], &is);
            is = pools[g][order[n]];
        }
    }
}

/* ---- The command ---- */

static enum cli_exit
run(int argc, char **argv)
{
    simulated = true;
    return cli_explore(argc, argv);
}

static void
expect_command(const char *wanted, int exit_code, const char *json)
{
    char words[6][160] = {"explore", "--mutants"};
    char *argv[7] = {words[0], words[1]};
    struct captured said;
    int count = 2;

    if (asked.only != NULL)
        snprintf(words[count++], sizeof *words, "%s", asked.only->name);
    if (asked.csv)
        snprintf(words[count++], sizeof *words, "--csv");
    if (asked.bounded)
        snprintf(words[count++], sizeof *words, "--bound=7");
    if (json != NULL)
        snprintf(words[count++], sizeof *words, "--json=%s", json);
    for (int i = 2; i < count; i++)
        argv[i] = words[i];
    assert_true(captured_run(&said, run, argv, -1, SECONDS));
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, exit_code);
    captured_free(&said);
}

static const char none[] =
    "profsim: explore: no access has an order that could "
    "be weaker, so nothing was tried\n";

static void
expect_case(const char *json)
{
    char *texts[2] = {NULL, NULL};
    size_t bytes[2];
    struct told told = {.text = open_memstream(&texts[0], &bytes[0]),
                        .report = open_memstream(&texts[1], &bytes[1])};
    char *report = NULL;
    size_t room = 0;
    FILE *file;

    calls_count = 0;
    if (asked.csv)
        fputs("site,order,weaker,noticed by,how,runs\n", told.text);
    fputs("  \"results\": [", told.report);
    for (uint32_t g = 0; g < 2; g++)
        tell_table(&told, g);
    if (told.tried == 0)
        fprintf(told.report,
                "\n    {\n      \"subject\": \"kernels\",\n      \"name\": "
                "\"%s\",\n      \"verdict\": \"incomplete\",\n      "
                "\"text\": \"no access has an order that could be weaker, so "
                "nothing was tried\",\n      \"counts\": {}\n    }",
                asked.only != NULL ? asked.only->name : "all");
    fputs("\n  ]\n}\n", told.report);
    if (told.tried == 0)
        fprintf(told.text, "%s", none);
    else if (!asked.csv)
        fprintf(told.text, "%" PRIu32 " of %" PRIu32 " weaker orders found\n",
                told.found, told.tried);
    assert_int_equal(fclose(told.text), 0);
    assert_int_equal(fclose(told.report), 0);
    expect_command(texts[0], told.tried == 0 ? CLI_INCOMPLETE : CLI_OK, json);
    file = fopen(json, "r");
    assert_non_null(file);
    assert_true(getdelim(&report, &room, EOF, file) > 0);
    fclose(file);
    assert_int_equal(unlink(json), 0);
    assert_non_null(strstr(report, "  \"results\""));
    assert_string_equal(strstr(report, "  \"results\""), texts[1]);
    free(report);
    free(texts[0]);
    free(texts[1]);
}

void
drawn_orders(const char *folder)
{
    char json[128];

    snprintf(json, sizeof json, "%s/json", folder);
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        draw_case(seed);
        expect_case(json);
    }
}

void
too_many_orders(void)
{
    static const struct {
        uint32_t first, second, third;
        bool is_wrong;
    } rows[] = {{SITES_MAX - 1, 1, 0, false}, /* of relaxed loads */
                {SITES_MAX - 1, 1, 1, true},
                {300, 300, 0, true},
                {SITES_MAX, 0, 0, true}};

    list_kernels();
    asked.only = NULL;
    asked.csv = asked.bounded = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reachers[0].many = rows[i].first;
        reachers[0].first = 1000;
        reachers[1].many = rows[i].second;
        reachers[1].first = 2000;
        reachers[2].many = rows[i].third;
        reachers[2].first = 3000;
        expect_command(
            rows[i].is_wrong ? "profsim: too many sites for a matrix\n" : none,
            CLI_INCOMPLETE, NULL);
    }
}
