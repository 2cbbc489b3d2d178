/* subject_shown.c -- see subject_shown.h. */
#include "subject_shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "drawn.h"
#include "pprof.h"
#include "profiles.h"
#include "refused_memory.h"
#include "sanitized.h"
#include "scenario.h"
#include "subject.h"
#include "unit_test.h"

enum { RECORDS = 90, DEPTH = 3, NOT_REACHED = 99 };

/* Requests from one refusal to the next. */
enum { STEP = SANITIZED ? 13 : 3 };

/* Stacks as a scenario has them, the leaf last, and their frames. */
static const struct {
    const char *name;
    const char *text;
    uint32_t depth;
    const char *functions[DEPTH]; /* leaf first */
} stacks[] = {
    {"s0",
     "main.main>main.parse>main.read",
     3,
     {"main.read", "main.parse", "main.main"}},
    {"s1", "main.main", 1, {"main.main"}},
    {"s2", "0x401000", 1, {"0x401000"}},
    {"s3", "0x402000>0x401000", 2, {"0x401000", "0x402000"}},
    /* Of no scenario: a subject made them up. */
    {"a site that is none", NULL, 3, {"0x777000", "0x1", "0x2"}},
    {"a site that is none", NULL, 2, {"0x778000", "0x1"}},
    {"a site that is none", NULL, 0, {NULL}},
    {"a site that is none", NULL, 1, {"0x800000"}},
};
enum { SITES = sizeof stacks / sizeof *stacks, KNOWN = 4 };

static uintptr_t frames[SITES][DEPTH];

struct table {
    int sites[RECORDS];
    struct subject_record records[RECORDS];
    uintptr_t leaves[RECORDS]; /* of the last site */
    int count;
};

static struct table heap;
static struct table waits[2]; /* live has count and ticks */
static struct subject subject;
static uint32_t request_that_fails;

/* ---- The subject ---- */

static void *
begin(const struct subject_config *config)
{
    (void)config;
    return &heap;
}

static void
end(void *state)
{
    (void)state;
}

static void
alloc(void *state, uint32_t thread, const struct subject_site *site,
      const struct subject_block *block)
{
    (void)state;
    (void)thread;
    (void)site;
    (void)block;
}

static void
snapshot(void *state, subject_visit *visit, void *context)
{
    (void)state;
    for (int i = 0; i < heap.count; i++)
        visit(context, &heap.records[i]);
}

static void
hear_wait(void *state, const struct subject_wait *wait)
{
    (void)state;
    (void)wait;
}

static void
read_waits(void *state, enum subject_waits which, subject_visit_wait *visit,
           void *context)
{
    const struct table *const table = &waits[which];

    (void)state;
    for (int i = 0; i < table->count; i++) {
        const struct subject_wait_record record = {
            .site = table->records[i].site,
            .count = table->records[i].live.objects,
            .ticks = table->records[i].live.bytes};

        visit(context, &record);
    }
}

/* ---- The command ---- */

static struct sim_scenario *
parse(void)
{
    char text[1024] = "profsim scenario 2\ninstruments subject\n";
    struct sim_scenario *scenario;
    struct sim_error error;

    for (int i = 0; i < KNOWN; i++)
        snprintf(&text[strlen(text)], sizeof text - strlen(text),
                 "stack %s = %s\n", stacks[i].name, stacks[i].text);
    strcat(text, "alloc o1 s0 16\n");
    scenario = sim_scenario_parse(text, strlen(text), "x.sim", &error);
    assert_non_null(scenario);
    scenario->config.subject = &subject;
    for (int i = 0; i < SITES; i++) {
        for (uint32_t k = 0; k < stacks[i].depth; k++)
            frames[i][k] =
                i < KNOWN
                    ? scenario->config.stacks[i].frames[k]
                    : (uintptr_t)strtoul(stacks[i].functions[k], NULL, 16);
    }
    return scenario;
}

static enum cli_exit
show(int argc, char **argv)
{
    struct sim_scenario *const scenario = parse();
    bool is_reached;
    bool good;

    (void)argc;
    refused_memory_at = request_that_fails;
    good = cli_profiles_show_subject(argv[0], "x.sim", scenario);
    is_reached = refused_memory_at == 0;
    refused_memory_at = 0;
    sim_scenario_free(scenario);
    if (request_that_fails > 0 && !is_reached)
        return (enum cli_exit)NOT_REACHED;
    return good ? CLI_OK : CLI_USAGE;
}

static struct captured
run(const char *folder)
{
    char *argv[] = {strdup(folder), NULL};
    struct captured said;

    assert_true(captured_run(&said, show, argv, -1, 60));
    free(argv[0]);
    return said;
}

/* ---- Random records ---- */

static double
draw_number(void)
{
    static const double numbers[] = {
        0,     1,      0.4999, 2.5,        -3, (double)(UINT64_C(1) << 40),
        1e300, -1e300, 8.9e18, (double)NAN};

    return draw(3) > 0 ? (double)draw(100000)
                       : numbers[draw(sizeof numbers / sizeof *numbers)];
}

static void
draw_table(struct table *table)
{
    table->count = (int)draw(draw(4) == 0 ? RECORDS : 5);
    for (int i = 0; i < table->count; i++) {
        const int site = table->sites[i] = (int)draw(SITES);
        const bool is_last = site == SITES - 1;

        table->leaves[i] = 0x800000 + (uintptr_t)draw(UINT64_C(1) << 40);
        table->records[i] = (struct subject_record){
            .site = {is_last ? &table->leaves[i] : frames[site],
                     stacks[site].depth},
            .address = draw(2) * (0x5000 + draw(UINT64_C(1) << 40)),
            .live = {draw_number(), draw_number(), 1},
            .allocated = {draw_number(), draw_number(), 1},
            .freed = {draw_number(), draw_number(), 1}};
    }
}

static void
draw_subject(uint64_t seed)
{
    drawn = seed;
    subject = (struct subject){.version = SUBJECT_VERSION,
                               .can = (uint32_t)draw(8) * SUBJECT_LIVE |
                                      (uint32_t)draw(4) * SUBJECT_BLOCK |
                                      SUBJECT_ADDRESSES,
                               .name = "made up",
                               .begin = begin,
                               .end = end,
                               .alloc = alloc,
                               .snapshot = snapshot,
                               .wait = draw(4) > 0 ? hear_wait : NULL,
                               .read_waits = read_waits};
    sim_scenario_free(parse()); /* for its frames */
    draw_table(&heap);
    draw_table(&waits[0]);
    draw_table(&waits[1]);
}

static bool
has(uint32_t flag)
{
    return (subject.can & flag) != 0 &&
           (flag < SUBJECT_BLOCK || subject.wait != NULL);
}

/* ---- What must be shown ---- */

static char *
text_of(void)
{
    char *text;
    size_t bytes;
    FILE *const to = open_memstream(&text, &bytes);

    assert_non_null(to);
    for (int i = 0; i < heap.count; i++) {
        const struct subject_record *const one = &heap.records[i];

        fputs(stacks[heap.sites[i]].name, to);
        if (one->address != 0)
            fprintf(to, " at 0x%" PRIx64, one->address);
        if (has(SUBJECT_LIVE))
            fprintf(to, ", live %.15g (%.15g bytes)", one->live.objects,
                    one->live.bytes);
        if (has(SUBJECT_ALLOCATED))
            fprintf(to, ", allocated %.15g (%.15g bytes)",
                    one->allocated.objects, one->allocated.bytes);
        if (has(SUBJECT_FREED))
            fprintf(to, ", freed %.15g (%.15g bytes)", one->freed.objects,
                    one->freed.bytes);
        fputc('\n', to);
    }
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < waits[kind].count; i++)
            if (has(kind == 0 ? SUBJECT_BLOCK : SUBJECT_MUTEX))
                fprintf(to, "%s, %s %.15g (%.15g ticks)\n",
                        stacks[waits[kind].sites[i]].name,
                        kind == 0 ? "block" : "mutex",
                        waits[kind].records[i].live.objects,
                        waits[kind].records[i].live.bytes);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void
expect_whole(int64_t found, double wanted)
{
    if (isnan(wanted))
        assert_int_equal(found, 0);
    else if (fabs(wanted) > 9e18)
        assert_true(found == (wanted > 0 ? INT64_MAX : INT64_MIN));
    else
        assert_true(found == (int64_t)round(wanted));
}

/* Of a site that is none only the leaf is known. */
static void
expect_stack(const struct model_pprof *profile,
             const struct model_pprof_sample *sample, int site,
             const uintptr_t *pcs)
{
    const uint32_t depth =
        site < KNOWN || stacks[site].depth == 0 ? stacks[site].depth : 1;

    assert_int_equal(sample->locations_count, depth);
    for (uint32_t i = 0; i < depth; i++) {
        const struct model_pprof_location *const location =
            model_pprof_location(profile, sample->locations[i]);

        char name[32];

        snprintf(name, sizeof name, "0x%" PRIxPTR, pcs[i]);
        assert_int_equal(location->address, pcs[i]);
        assert_string_equal(
            model_pprof_function(profile, location->function)->name,
            site == SITES - 1 ? name : stacks[site].functions[i]);
    }
}

static void
expect_type(const struct model_pprof_type *type, const char *name,
            const char *unit)
{
    assert_string_equal(type->type, name);
    assert_string_equal(type->unit, unit);
}

/* in: offsets, of each pair of values in a record, in order; names and units of
 * the values */
static void
expect_file(const char *name, const struct table *table, const size_t *offsets,
            size_t pairs, const char *const *types)
{
    static char bytes[1 << 16];
    struct model_pprof profile;
    char command[64];
    FILE *file;
    size_t count;

    snprintf(command, sizeof command, "gzip -dc u.out/%s.pb.gz", name);
    file = popen(command, "r");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(pclose(file), 0);
    if (!model_pprof_read(&profile, bytes, count))
        fail_msg("%s: %s", name, profile.reason);
    assert_int_equal(profile.types_count, 2 * pairs);
    for (size_t i = 0; i < 2 * pairs; i++)
        expect_type(&profile.types[i], types[2 * i], types[2 * i + 1]);
    assert_int_equal(profile.samples_count, table->count);
    for (size_t i = 0; i < profile.locations_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(profile.locations[i].address !=
                        profile.locations[k].address);
    for (int i = 0; i < table->count; i++) {
        const struct model_pprof_sample *const sample = &profile.samples[i];

        expect_stack(&profile, sample, table->sites[i],
                     table->records[i].site.frames);
        for (size_t pair = 0; pair < pairs; pair++) {
            const struct subject_count *const one =
                (const void *)((const char *)&table->records[i] +
                               offsets[pair]);

            expect_whole(sample->values[2 * pair], one->objects);
            expect_whole(sample->values[2 * pair + 1], one->bytes);
        }
    }
    model_pprof_release(&profile);
}

static void
expect_files(void)
{
    static const char *const types[] = {
        "alloc_objects", "count", "alloc_space", "bytes",
        "inuse_objects", "count", "inuse_space", "bytes"};
    static const char *const delays[] = {"contentions", "count", "delay",
                                         "ticks"};
    static const size_t offsets[] = {offsetof(struct subject_record, allocated),
                                     offsetof(struct subject_record, live)};
    const size_t from = has(SUBJECT_ALLOCATED) ? 0 : 1;

    expect_file("heap", &heap, &offsets[from],
                (size_t)has(SUBJECT_ALLOCATED) + (size_t)has(SUBJECT_LIVE),
                &types[4 * from]);
    for (int kind = 0; kind < 2; kind++) {
        const char *const name = kind == 0 ? "block" : "mutex";
        char path[32];

        snprintf(path, sizeof path, "u.out/%s.pb.gz", name);
        assert_int_equal(access(path, F_OK) == 0,
                         has(kind == 0 ? SUBJECT_BLOCK : SUBJECT_MUTEX));
        if (access(path, F_OK) == 0)
            expect_file(name, &waits[kind], &offsets[1], 1, delays);
    }
}

static int
remove_files(void)
{
    static const char *const paths[] = {"u.out/heap.pb.gz", "u.out/block.pb.gz",
                                        "u.out/mutex.pb.gz"};
    int count = 0;

    for (int i = 0; i < 3; i++)
        count += remove(paths[i]) == 0;
    if (rmdir("u.out") != 0)
        assert_int_equal(access("u.out", F_OK), -1); /* nothing else */
    return count;
}

void
subject_shown_random(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct captured said;
        char *text;

        draw_subject(seed);
        text = text_of();
        said = run(seed % 4 == 0 ? "" : "u.out");
        assert_string_equal(said.text, text);
        assert_int_equal(said.exit_code, CLI_OK);
        captured_free(&said);
        free(text);
        if (seed % 4 != 0)
            expect_files();
        assert_int_equal(remove_files() > 0, seed % 4 != 0);
    }
}

/* ---- Refusals ---- */

/* One complaint. */
static void
expect_complaint(const struct captured *said, const char *why)
{
    const char *const complaint = strstr(said->text, "profsim: ");

    if (said->exit_code != CLI_USAGE || complaint == NULL ||
        strstr(complaint + 1, "profsim: ") != NULL ||
        strstr(complaint, why) == NULL)
        fail_msg("%d, signal %d, request %u: %s", said->exit_code, said->signal,
                 request_that_fails, said->text);
}

void
subject_shown_refused(void)
{
    static const char *const in_the_way[] = {
        "u.out", "u.out/heap.pb.gz", "u.out/block.pb.gz", "u.out/mutex.pb.gz"};
    struct captured said;
    char *text;

    draw_subject(1);
    subject.can |= SUBJECT_BLOCK | SUBJECT_MUTEX;
    subject.wait = hear_wait;
    heap.count = 90;
    for (int i = 0; i < heap.count; i++) {
        heap.sites[i] = i % SITES;
        heap.records[i] = heap.records[0];
        heap.records[i].site =
            (struct subject_site){frames[i % SITES], stacks[i % SITES].depth};
    }
    text = text_of();
    for (request_that_fails = 1;; request_that_fails += STEP) {
        assert_true(request_that_fails < 1000);
        said = run("u.out");
        if (said.exit_code == NOT_REACHED)
            break;
        if (said.exit_code != CLI_OK)
            expect_complaint(&said, "memory");
        else
            assert_string_equal(said.text, text);
        assert_in_range(remove_files(), said.exit_code == CLI_OK ? 3 : 0,
                        said.exit_code == CLI_OK ? 3 : 2);
        captured_free(&said);
    }
    captured_free(&said);
    request_that_fails = 0;
    assert_int_equal(remove_files(), 3);
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            assert_int_equal(mkdir("u.out", 0700), 0);
        if (i > 0)
            assert_int_equal(mkdir(in_the_way[i], 0700), 0);
        else
            fclose(fopen("u.out", "w"));
        said = run("u.out");
        expect_complaint(&said, in_the_way[i]);
        captured_free(&said);
        assert_int_equal(i > 0 ? rmdir(in_the_way[i]) : remove("u.out"), 0);
        assert_int_equal(remove_files(), i > 0 ? i - 1 : 0);
    }
    free(text);
}
