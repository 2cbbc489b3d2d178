/*
 * test_model_heap.c -- the oracle on logs written by hand, of correct
 * collectors and of faulty ones. The results follow from docs/semantics.md,
 * "Which events a snapshot shows".
 *
 *      A .. H      allocate 8 bytes at this stack
 *      -A  ~A  !A  the newest object there is found dead; is swept; is freed by
 *                  the program
 *      t  n  f  p  termination of marking (t' with the world stopped), next
 *                  cycle, flush, post-sweep; g for t n, c for t n f
 *      [A 2/1|k=1] a snapshot publishes two allocations of A and one free, and
 *                  so was the heap at the first termination; [A 2/1|k=1: A 2/0]
 *                  says how it was instead, [A 2/1|?] that nobody can know
 *      {A 2/1}     this is published, without a snapshot
 */
#include <stdio.h>
#include <string.h>

#include "model/heap/heap.h"
#include "sim/truth/truth.h"
#include "common/test/unit_test.h"
#include "model/heap/waits.h"

#define ROOM TRUTH_ROOM_ENOUGH

enum {
    LOG_STACKS = 8,
    LOG_DEPTH = 3,
    LOG_OBJECTS_MAX = 256,
    LOG_BUCKETS_MAX = 64,
    LOG_ENTRIES_MAX = 1024,
    LOG_TEXT_BYTES = 1024
};

static struct {
    struct truth_log log;
    struct truth_entry entries[LOG_ENTRIES_MAX];
    struct truth_stack stacks[LOG_STACKS];
    uintptr_t frames[LOG_STACKS][LOG_DEPTH];
    uint32_t objects;
    struct model_limits limits;
    struct model_heap *model;
    char text[LOG_TEXT_BYTES];
} made;

/* ---- Writing a log ---- */

static void
log_again(void)
{
    made.log.entries_count = 0;
    made.objects = 0;
    model_heap_reset(made.model, &made.limits, &made.log);
}

static void
log_begin(enum model_scheme scheme)
{
    memset(&made, 0, sizeof made);
    for (uint32_t i = 0; i < LOG_STACKS; i++) {
        /* Stacks differ in the leaf, and have the same callers. */
        made.frames[i][0] = 'A' + (uintptr_t)i;
        made.frames[i][1] = 1000;
        made.frames[i][2] = 2000;
        made.stacks[i].frames = made.frames[i];
        made.stacks[i].depth = LOG_DEPTH;
    }
    made.log.entries = made.entries;
    made.log.entries_max = LOG_ENTRIES_MAX;
    made.log.stacks = made.stacks;
    made.log.stacks_count = LOG_STACKS;
    made.limits = (struct model_limits){
        .scheme = scheme,
        .depth_max = 32,
        .buckets_max = LOG_BUCKETS_MAX,
        .frames_max = 1000,
    };
    made.model =
        model_heap_new(LOG_OBJECTS_MAX, LOG_BUCKETS_MAX, LOG_ENTRIES_MAX);
    assert_non_null(made.model);
    log_again();
}

static void
log_end(void)
{
    model_heap_delete(made.model);
}

static void
log_report(const struct truth_entry *entry)
{
    assert_true(made.log.entries_count < LOG_ENTRIES_MAX);
    made.entries[made.log.entries_count++] = *entry;
    model_heap_feed(made.model);
}

static void
log_call(enum truth_kind kind)
{
    log_report(&(struct truth_entry){.kind = kind});
}

static uint32_t
log_alloc(char stack, uint64_t size_bytes)
{
    log_report(&(struct truth_entry){
        .kind = TRUTH_ALLOC,
        .object = made.objects,
        .stack = (uint32_t)(stack - 'A'),
        .size_bytes = size_bytes,
    });
    return made.objects++;
}

static void
log_object(enum truth_kind kind, uint32_t object)
{
    log_report(&(struct truth_entry){.kind = kind, .object = object});
}

static struct model_answer
log_snapshot(bool all, uint32_t room)
{
    log_report(&(struct truth_entry){
        .kind = TRUTH_SNAPSHOT, .flag = all, .room = room});
    return model_heap_answer(made.model);
}

static void
text_add(char name, uint64_t allocs, uint64_t frees)
{
    const size_t used = strlen(made.text);

    if (allocs == 0 && frees == 0)
        return;
    snprintf(made.text + used, LOG_TEXT_BYTES - used, "%s%c %llu/%llu",
             used == 0 || made.text[used - 1] == ' ' ? "" : " ", name,
             (unsigned long long)allocs, (unsigned long long)frees);
}

static const char *
log_published(void)
{
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(made.model, &count);

    made.text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add((char)b[i].frames[0], b[i].allocs, b[i].frees);
    return made.text;
}

static const char *
log_heap(void)
{
    uint32_t k;
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(made.model, &count);

    if (!model_heap_at(made.model, &k))
        return "unknown";
    snprintf(made.text, LOG_TEXT_BYTES, "k=%u: ", k);
    for (uint32_t i = 0; i < count; i++)
        if (b[i].kind == MODEL_HEAP)
            text_add((char)b[i].frames[0], b[i].allocs_then, b[i].frees_then);
    return made.text;
}

/* ---- Logs as text ---- */

static uint32_t newest[128]; /* object of each stack */

/* Check what stands between brackets. returns: the text behind them */
static const char *
check(const char *at)
{
    const char *end = strpbrk(at, "]}");
    char published[200];
    char heap[LOG_TEXT_BYTES];
    char *bar;

    assert_non_null(end);
    (void)snprintf(published, sizeof published, "%.*s", (int)(end - at - 1),
                   at + 1);
    if (*at == '[')
        log_snapshot(true, ROOM);
    bar = strchr(published, '|');
    if (bar != NULL) {
        *bar = '\0';
        (void)snprintf(heap, sizeof heap, "%s%s%s",
                       strcmp(bar + 1, "?") == 0 ? "unknown" : bar + 1,
                       bar[1] == 'k' && !strchr(bar + 1, ':') ? ": " : "",
                       bar[1] == 'k' && !strchr(bar + 1, ':') ? published : "");
        assert_string_equal(log_heap(), heap);
    }
    assert_string_equal(log_published(), published);
    return end + 1;
}

static void
collect(char step)
{
    if (strchr("tgc", step) != NULL)
        log_call(TRUTH_TERMINATE);
    if (strchr("ngc", step) != NULL)
        log_call(TRUTH_NEXT_CYCLE);
    if (strchr("fc", step) != NULL)
        log_call(TRUTH_FLUSH);
    if (step == 'p')
        log_call(TRUTH_POST_SWEEP);
}

/* Make the events of a text. */
static void
report(const char *at)
{
    while (*at != '\0') {
        if (*at == '[' || *at == '{') {
            at = check(at);
            continue;
        }
        if (strchr("-~!", *at) != NULL) {
            log_object(*at == '-'   ? TRUTH_DEAD
                       : *at == '~' ? TRUTH_SWEEP
                                    : TRUTH_FREE_EXPLICIT,
                       newest[(int)at[1]]);
            at++;
        } else if (at[0] == 't' && at[1] == '\'') {
            log_report(
                &(struct truth_entry){.kind = TRUTH_TERMINATE, .flag = true});
            at++;
        } else if (*at >= 'A' && *at <= 'H') {
            newest[(int)*at] = log_alloc(*at, 8);
        } else if (*at != ' ') {
            collect(*at);
        }
        at++;
    }
}

/* A sweep in the stopped world: the second next_cycle is the one that every
 * collection makes. */
#define STOPPED(object) " -" object " t' ~" object " n f n "

static const struct {
    const char *what;
    const char *schemes; /* r ring, s stages; x: explicit frees have no path */
    const char *log;
} logs[] = {
    /* clang-format off */
    {"a collection is seen phase by phase", "r",
     "H [H 1/0|k=0] A B -A g [H 1/0|k=0] f C [H 1/0|k=0] ~A [H 1/0|k=0] p [H 1/0 A 1/1 B 1/0|k=1]"
     "D [H 1/0 A 1/1 B 1/0|k=1] -B g [H 1/0 A 1/1 B 1/0|k=1] f ~B [H 1/0 A 1/1 B 1/0|k=1]"
     "g [H 1/0 A 1/1 B 1/1 C 1/0 D 1/0|k=2]"},
    {"before the first collection one snapshot shows all", "r",
     "[|k=0] A !A B [A 1/1 B 1/0|k=0] C [A 1/1 B 1/0|k=0] c [A 1/1 B 1/0|k=0] c [A 1/1 B 1/0 C 1/0|k=1]"},
    /* At no termination was the heap as the first snapshot shows it. */
    {"a first snapshot may be torn and heals", "rs",
     "A B -A -B g ~A [A 1/1 B 1/0|k=0] ~B [A 1/1 B 1/0|k=0] g [A 1/1 B 1/1|k=1]"},
    {"post-sweep leaves the data of its own cycle to the flush", "r",
     "H [H 1/0|k=0] A c B g p {H 1/0 B 1/0} f {H 1/0 A 1/0 B 1/0}"},
    {"a sweep in the stopped world shows at once", "rs",
     "A B" STOPPED("A") "[A 1/1 B 1/0|k=1] C [A 1/1 B 1/0|k=1] c [A 1/1 B 1/0|k=1] c [A 1/1 B 1/0 C 1/0|k=2]"},
    {"an explicit free comes with its allocation", "r",
     "H [H 1/0|k=0] A !A c B !B [H 1/0|k=0] c [H 1/0 A 1/1|k=1] p [H 1/0 A 1/1 B 1/1|k=2]"},
    {"explicit frees may have no path", "xy", "A !A [A 1/0|k=0] c c [A 1/0|k=1]"},
    {"stages show what a ring shows without post-sweep", "s",
     "H [H 1/0|k=0] A -A g C ~A p [H 1/0|k=0] g [H 1/0 A 1/1|k=1] g [H 1/0 A 1/1 C 1/0|k=2] D"
     STOPPED("D") "[H 1/0 A 1/1 C 1/0 D 1/1|k=4]"},
    {"stages need no flush", "s", "A g g g g g {A 1/0|k=4}"},
    {"a ring has post-sweep and shows no more", "r",
     "B c A c G p [B 1/0 A 1/0|k=2] -G g [B 1/0 A 1/0|k=2]"},

    /* Collectors that break a rule. */
    {"what a missed flush left comes three cycles later", "r",
     "H [H 1/0|k=0] A c B g C c [H 1/0 B 1/0|?] c [H 1/0 B 1/0 C 1/0|?] c [H 1/0 A 1/0 B 1/0 C 1/0|k=4]"},
    {"a post-sweep pays what the next cycle owes", "r",
     "H [H 1/0|k=0] A c g c c [H 1/0|?] p [H 1/0 A 1/0|k=4]"},
    {"a flush missed twice costs six cycles", "r",
     "H [H 1/0|k=0] A c g c c g c [H 1/0|?] c c [H 1/0 A 1/0|k=7]"},
    {"a flush missed with nothing to publish breaks nothing", "r",
     "H [H 1/0|k=0] c A g c [H 1/0 A 1/0|k=2] B c p g c [H 1/0 A 1/0 B 1/0|k=5]"},
    {"a free after post-sweep is missing until the next collection", "r",
     "A B -A -B c ~A p [A 1/1 B 1/0|?] ~B [A 1/1 B 1/0|?] g [A 1/1 B 1/1|k=1]"},
    {"a second post-sweep after the late free heals at once", "r",
     "A -A c p ~A [A 1/0|?] p [A 1/1|k=1]"},
    {"an object swept a collection late is missing for a cycle", "rs",
     "A -A c c [A 1/0|?] ~A [A 1/0|?] c [A 1/1|k=2]"},
    {"an object swept two collections late is missing for two cycles", "r",
     "A B -A c -B c ~B c [A 1/0 B 1/1|?] ~A p [A 1/1 B 1/1|k=3]"},
    {"a first snapshot settles all debts", "r",
     "A -A g g g B ~A [A 1/1 B 1/0|k=2] c c [A 1/1 B 1/0|k=4]"},
    {"a first snapshot shows no free that is still to come", "r",
     "A -A g g g [A 1/0|?] ~A [A 1/0|?] g [A 1/1|k=3]"},
    /* Here the two halves of the oracle must disagree. */
    {"stages turned after the restart free too early", "s",
     "B g g [B 1/0|k=1] A -A t ~A n [B 1/0 A 0/1|k=2: B 1/0] g [B 1/0 A 1/1|k=3]"},
    {"stages turned once more instead of post-sweep show too much", "s",
     "B g A g G n {B 1/0 A 1/0} -G g [B 1/0 A 1/0 G 1/0|k=2: B 1/0 A 1/0]"},
    /* clang-format on */
};

TEST(logs_by_hand_show_what_the_rules_say)
{
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        for (const char *s = logs[i].schemes; *s != '\0'; s++) {
            log_begin(strchr("sy", *s) != NULL ? MODEL_STAGES : MODEL_RING);
            made.limits.explicit_free_dropped = *s == 'x' || *s == 'y';
            log_again();
            print_message("%s (%c)\n", logs[i].what, *s);
            report(logs[i].log);
            log_end();
        }
    }
}

/* ---- What does not fit, and what is dropped ---- */

static int
a_ring(void **state)
{
    (void)state;
    log_begin(MODEL_RING);
    return 0;
}

static int
the_end(void **state)
{
    (void)state;
    log_end();
    return 0;
}

TEST_WITH(a_ring, the_end,
          a_short_first_snapshot_counts_all_and_publishes_nothing)
{
    struct model_answer answer;

    for (int consumes = 0; consumes < 2; consumes++) {
        made.limits.sizing_consumes_first = consumes != 0;
        log_again();
        report("A B");
        answer = log_snapshot(false, 0);
        assert_int_equal(answer.count, 2);
        assert_false(answer.fits);
        assert_int_equal(answer.first, consumes);
        report(consumes ? "C [A 1/0 B 1/0|k=0]"
                        : "{|k=0} C [A 1/0 B 1/0 C 1/0|k=0]");
        assert_int_equal(model_heap_answer(made.model).first, !consumes);
    }
}

TEST_WITH(a_ring, the_end, a_bucket_is_one_kind_one_size_and_one_stack)
{
    const struct model_bucket *b;
    uint32_t count;

    made.frames[1][0] = 'A'; /* B is a copy of A under another number */
    made.frames[3][2] = 7;   /* D and C differ in the frame that is cut */
    made.frames[3][0] = 'C';
    made.stacks[4].depth = 0;
    made.limits.depth_max = 2;
    log_again();
    report("A B C D E");
    log_alloc('A', 16);
    log_report(&(struct truth_entry){.kind = TRUTH_BLOCK, .cycles = -5});
    log_report(&(struct truth_entry){.kind = TRUTH_MUTEX, .cycles = -5});
    b = model_heap_buckets(made.model, &count);
    assert_int_equal(count, 6); /* in order of birth */
    assert_int_equal(b[0].allocs_pending, 2);
    assert_int_equal(b[1].allocs_pending, 2);
    assert_int_equal(b[2].depth, 0);
    assert_int_equal(b[3].size_bytes, 16);
    assert_int_equal(b[4].cycles, 1); /* a wait of no time is one tick ... */
    assert_int_equal(b[5].cycles, 0); /* ... of blocking */
}

TEST_WITH(a_ring, the_end, what_finds_no_room_is_counted)
{
    struct model_drops drops;

    made.limits.buckets_max = 3;
    made.limits.frames_max = 2 * LOG_DEPTH - 1;
    made.stacks[2].depth = 2; /* C and D fit where B does not */
    made.stacks[3].depth = 0;
    log_again();
    report("A B C B D B A");
    drops = model_heap_drops(made.model);
    assert_int_equal(drops.no_frames, 2);
    assert_int_equal(drops.no_bucket, 1);
    report(
        "-B c p [A 2/0 C 1/0 D 1/0|k=1]"); /* what was dropped is not freed */
}

/* Of three waits the first is charged from when it began or was charged before,
 * and the mean of the first and the last for each of the others. */
TEST(a_release_is_charged_for_those_who_stay)
{
    const int64_t now = INT64_C(3) << 40;
    struct model_waits waits = {.count = 0};
    bool on = false;

    for (uint32_t task = 1; task <= 4; task++) {
        const int64_t since = (task < 4 ? task : 9) * (INT64_C(1) << 36);

        model_waits_begin(&waits, &(struct model_wait){
                                      .task = task,
                                      .lock = task < 4 ? 5 : 6,
                                      .began = since,
                                      .charged = since,
                                      .mutex_on = task == 1,
                                  });
    }
    /* 47 + (47 + 45) / 2 * 2, in units of 2^36 */
    assert_int_equal(model_waits_released(&waits, 1, now, true, &on),
                     INT64_C(139) << 36);
    assert_true(on);
    assert_int_equal(model_waits_released(&waits, 1, now, false, &on),
                     INT64_C(47) << 36);
    assert_int_equal(model_waits_released(&waits, 4, now, true, &on),
                     INT64_C(39) << 36);
    assert_false(on);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
