/*
 * recording_verdicts.c -- a test of test_merge.c: what `profsim check` says of
 * a recording, property by property, compared with what judging it says.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "merge_case.h"
#include "recorded.h"
#include "unit_test.h"
#include "wanted.h"

enum { WORDS_MAX = 12, CASES = SANITIZED ? 3 : 6 };

/* One that the library is right about, and one that the rules go1.6-late soon
 * break. */
static const char *const paths[] = {"fixtures/recordings/waits.rec",
                                    "fixtures/recordings/nm-symbols.rec"};

static struct sim_recording *recordings[2];

static void
judge(struct props_recorded *result, int which, const struct prof_rules *rules,
      props_set asked)
{
    assert_null(
        props_recorded_run(result, recordings[which], rules, asked, NULL));
}

/* Add what is said of one property. returns: its verdict */
static const char *
expect_property(const struct props_recorded *r, int i, const char *path,
                const struct prof_rules *rules, bool named)
{
    static const char nothing[] =
        "this recording has nothing that would test it";
    const enum props_property property = (enum props_property)i;
    const uint64_t tried = r->cover.hits[props_property_cover(property)];
    const char *verdict = (r->breach.broken & PROPS_BIT(i)) != 0 ? "broken"
                          : tried > 0 || property == PROPS_D1    ? "holds"
                          : named                                ? "incomplete"
                          : (PROPS_OF_TRACES & PROPS_BIT(i)) != 0
                              ? "not-applicable"
                              : "not-tried";
    char counts[128];
    char replay[256];

    wanted_result(path, props_property_id(property), property, verdict);
    if (strcmp(verdict, "broken") == 0)
        wanted_member("text", "event %" PRIu32 ": %s", r->breach.event + 1,
                      r->breach.text);
    else if (strcmp(verdict, "holds") != 0)
        wanted_member("text", "%s", nothing);
    snprintf(counts, sizeof counts,
             "\"events\": %" PRIu64 ", \"tried\": %" PRIu64, r->events,
             tried + (property == PROPS_D1));
    snprintf(replay, sizeof replay, "profsim check %s --rules %s %s",
             props_property_id(property), rules->name, path);
    wanted_rest(counts, strcmp(verdict, "broken") == 0 && strcmp(path, "-") != 0
                            ? replay
                            : NULL);
    if (strcmp(verdict, "not-applicable") != 0)
        fprintf(wanted_text, "%-4s %-10s %s\n", props_property_id(property),
                strcmp(verdict, "broken") == 0  ? "BROKEN"
                : strcmp(verdict, "holds") == 0 ? "holds"
                                                : "not tried",
                props_property_sentence(property));
    return verdict;
}

/* What is said of a recording. returns: the exit code */
static int
expect_recording(int which, const char *path, const struct prof_rules *rules,
                 props_set asked)
{
    struct props_recorded r;
    bool is_untried = false;
    bool is_incomplete = false;

    judge(&r, which, rules, asked);
    fprintf(wanted_text,
            "%s under a simulated collector: %" PRIu64 " recorded events, "
            "%" PRIu64 " world events, %" PRIu32 " collections, %" PRIu64
            " snapshots, %" PRIu64 " buckets\nrules %s, log hash %016" PRIx64
            "\n",
            path, r.recorded_events, r.events, r.collections, r.snapshots,
            r.buckets, rules->name, r.hash);
    if (r.unpaired_releases > 0)
        fprintf(wanted_text,
                "%" PRIu64 " releases not replayed: no wait that was recorded "
                "belongs to them\n",
                r.unpaired_releases);
    fputc('\n', wanted_text);
    for (int i = 0; i < PROPS_COUNT; i++) {
        const char *verdict;

        if ((asked & PROPS_BIT(i)) == 0)
            continue;
        verdict = expect_property(&r, i, path, rules, asked != PROPS_ALL);
        is_untried |= strcmp(verdict, "not-tried") == 0;
        is_incomplete |= strcmp(verdict, "incomplete") == 0;
    }
    if (is_untried || is_incomplete)
        fputs("\nnot tried: this recording has nothing that would test it\n",
              wanted_text);
    if (r.breach.property != PROPS_NONE) {
        fprintf(wanted_text, "\nverdict: %s broken at event %" PRIu32 ": %s\n",
                props_property_id(r.breach.property), r.breach.event + 1,
                r.breach.text);
        return 2;
    }
    fputs(is_incomplete ? "\nverdict: not all that was asked was tried\n"
                        : "\nverdict: every property that was tried holds\n",
          wanted_text);
    return is_incomplete ? 6 : 0;
}

/* Judge a recording by all properties, or some. in: from_input, it is standard
 * input */
static void
expect_judged(int which, bool is_late, props_set asked, bool from_input)
{
    static char words[WORDS_MAX][128];
    char *argv[WORDS_MAX];
    int argc = 0;
    int input = -1;
    int exit_code;

#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("check");
    ADD("--json=%s", wanted_path("a.json"));
    for (int i = 0; i < PROPS_COUNT && asked != PROPS_ALL; i++) {
        if ((asked & PROPS_BIT(i)) != 0)
            ADD("%s", props_property_id((enum props_property)i));
    }
    if (is_late)
        ADD("--rules=go1.6-late");
    ADD("%s", from_input ? "/dev/stdin" : paths[which]);
    argv[argc] = NULL;
    if (from_input)
        input = open(paths[which], O_RDONLY);
    wanted_begin();
    exit_code = expect_recording(
        which, from_input ? "/dev/stdin" : paths[which],
        is_late ? &prof_rules_go1_6_late : &prof_rules_exact, asked);
    wanted_end();
    wanted_run(cli_check, argv, input, exit_code);
    if (from_input)
        close(input);
}

void
merge_recording_verdicts(void)
{
    for (int i = 0; i < 2; i++) {
        struct sim_input input;
        struct sim_recording_error error;

        assert_true(sim_input_read(&input, paths[i]));
        assert_true(sim_recording_take_input(&recordings[i], &input, &error));
        sim_input_free(&input);
    }
    merge_seed(31);
    expect_judged(0, false, PROPS_ALL, false);
    expect_judged(0, true, PROPS_ALL, true);
    expect_judged(1, true, PROPS_ALL, false);
    for (int i = 0; i < CASES; i++) {
        props_set asked = 0;

        for (uint32_t left = 1 + merge_below(4); left > 0; left--)
            asked |= PROPS_BIT(merge_below(PROPS_U1 - 1));
        if (i % 3 == 1)
            asked |= PROPS_BIT(PROPS_H1);
        expect_judged(i % 3 == 1, i % 3 == 1, asked, i % 3 == 2);
    }
    for (int i = 0; i < 2; i++)
        sim_recording_close(recordings[i]);
}
