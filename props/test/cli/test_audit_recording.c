/*
 * test_audit_recording.c -- `profsim audit --recording` gives equal results for
 * equal recordings, and those of the history that a recording tells.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_command.h"
#include "audit/audit_words.h"
#include "captured.h"
#include "drawn.h"
#include "live_variance.h"
#include "record/recfile.h"
#include "small_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/test_audit-XXXXXX";
static uint64_t rate_bytes = 4096;

/* A random event: A allocates, F frees, R resizes, W waits for a lock. */
struct drawn {
    char kind;
    uint64_t object;
    uint64_t size_bytes;
};

static void
write_drawn(const struct drawn *events, size_t count)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    struct cli_recfile file;
    FILE *to;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (size_t i = 0; i < count; i++) {
        const struct drawn *event = &events[i];

        if (event->kind == 'A')
            cli_recfile_alloc(&file, 0, 10 * i, event->size_bytes, 0);
        else if (event->kind == 'F')
            cli_recfile_free(&file, 0, 10 * i, event->object);
        else if (event->kind == 'W')
            cli_recfile_wait(&file, 0, 10 * i, 1, false, 0, 0, 0);
        else
            cli_recfile_resize(&file, 0, 10 * i, event->object,
                               event->size_bytes, 0);
    }
    cli_recfile_end(&file, none_dropped);
    to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.bytes, 1, file.bytes_count, to),
                     file.bytes_count);
    assert_int_equal(fclose(to), 0);
    cli_recfile_release(&file);
}

static enum cli_exit
audit(int argc, char **argv)
{
    char recording[128];
    char rate[64];
    char *words[] = {argv[0], recording, rate, NULL};

    snprintf(recording, sizeof recording, "--recording=%s", argv[argc - 1]);
    snprintf(rate, sizeof rate, "--rate=%" PRIu64, rate_bytes);
    if (rate_bytes > 0)
        return cli_audit(3, words);
    words[2] = NULL;
    return cli_audit(2, words);
}

static void
look_at(const struct drawn *events, size_t count, struct captured *said)
{
    char *words[] = {(char *)(uintptr_t) "audit", path, NULL};

    write_drawn(events, count);
    assert_true(captured_run(said, audit, words, -1, 60));
    assert_int_equal(said->exit_code, CLI_OK);
}

static void
expect_same(const struct drawn *one, size_t one_count,
            const struct drawn *other, size_t other_count)
{
    struct captured first;
    struct captured second;

    look_at(one, one_count, &first);
    look_at(other, other_count, &second);
    assert_string_equal(first.text, second.text);
    captured_free(&first);
    captured_free(&second);
}

#define SAME(one, other)                              \
    expect_same(one, sizeof one / sizeof *one, other, \
                sizeof other / sizeof *other)

TEST(objects_of_no_bytes_are_left_out)
{
    static const struct drawn with[] = {
        {'A', 0, 1000}, {'A', 1, 0},    {'A', 2, 3000}, {'F', 1, 0},
        {'A', 3, 0},    {'A', 4, 2000}, {'F', 3, 0},    {'A', 5, 5000},
        {'F', 2, 0},    {'A', 6, 700}};
    static const struct drawn without[] = {{'A', 0, 1000}, {'A', 1, 3000},
                                           {'A', 2, 2000}, {'A', 3, 5000},
                                           {'F', 1, 0},    {'A', 4, 700}};

    SAME(with, without);
}

TEST(a_resize_is_a_free_and_an_allocation)
{
    static const struct drawn resized[] = {{'A', 0, 1000}, {'A', 1, 3000},
                                           {'R', 0, 6000}, {'A', 2, 2000},
                                           {'F', 0, 0},    {'A', 3, 900}};
    static const struct drawn replaced[] = {
        {'A', 0, 1000}, {'A', 1, 3000}, {'F', 0, 0},  {'A', 2, 6000},
        {'A', 3, 2000}, {'F', 2, 0},    {'A', 4, 900}};

    SAME(resized, replaced);
}

/* ---- random recordings ---- */

enum { DRAWN_MAX = 60 };

/* The allocations that are not of 0 bytes, in order; time is counted in bytes
 * allocated, and a resize is a free and an allocation. */
static struct subjects_history
history_of(const struct drawn *events, size_t count,
           struct subjects_object *objects)
{
    struct subjects_history history = {.objects = objects};
    uint64_t object = 0;

    for (size_t i = 0; i < count; i++) {
        const struct drawn *const event = &events[i];
        const uint64_t named = event->kind == 'A' ? object++ : event->object;
        uint64_t now = history.bytes + event->size_bytes;
        uint64_t died = UINT64_MAX;

        if (event->size_bytes == 0)
            continue;
        for (size_t j = i + 1; j < count && died == UINT64_MAX; j++) {
            if (events[j].kind != 'A' && events[j].kind != 'W' &&
                events[j].object == named)
                died = now;
            else
                now += events[j].size_bytes;
        }
        history.bytes += event->size_bytes;
        objects[history.count++] =
            (struct subjects_object){event->size_bytes, history.bytes, died};
    }
    return history;
}

static size_t
print_line(char *text, size_t room, const char *name, double rate,
           struct subjects_live live, struct subjects_live exact, double bytes)
{
    char shown[32] = "by size";

    if (rate > 0)
        snprintf(shown, sizeof shown, "%.0f", rate);
    return (size_t)snprintf(text, room, "%-44s %9s %8.0f %7.2f %% %9.4f\n",
                            name, shown, live.samples,
                            100 * sqrt(live.variance) / bytes,
                            live.variance / exact.variance);
}

/* in: rate, 0: one that gives 1,000 samples */
static void
expect_history(const struct drawn *events, size_t count, double rate)
{
    struct subjects_object objects[DRAWN_MAX];
    const struct subjects_history history = history_of(events, count, objects);
    const double bytes = subjects_live_bytes(&history);
    const double r = rate > 0 ? rate : (double)history.bytes / 1000;
    const struct subjects_live exact = subjects_live_exact(&history, r);
    struct subjects_live strata;
    struct captured said;
    double strata_rate;
    char text[1024];
    size_t at;

    rate_bytes = (uint64_t)rate;
    look_at(events, count, &said);
    at = (size_t)snprintf(text, sizeof text,
                          "%s: %zu allocations of %ju bytes; %.0f live on "
                          "average\n%-44s %9s %8s %9s %9s\n",
                          path, history.count, (uintmax_t)history.bytes, bytes,
                          "", "R", "samples", "deviation", "variance");
    at += print_line(&text[at], sizeof text - at, "exact", r, exact, exact,
                     bytes);
    at += print_line(
        &text[at], sizeof text - at, "chances by size, the best there are", 0,
        subjects_live_best_chances(&history, exact.samples), exact, bytes);
    strata = subjects_live_strata_of(&history, exact.samples, &strata_rate);
    at += print_line(&text[at], sizeof text - at, "exact-min-variance",
                     strata_rate, strata, exact, bytes);
    print_line(
        &text[at], sizeof text - at, "exact-min-variance, the best R by class",
        0, subjects_live_best_strata(&history, exact.samples), exact, bytes);
    assert_string_equal(said.text, text);
    captured_free(&said);
}

TEST(births_and_deaths_are_counted_in_bytes)
{
    struct drawn events[DRAWN_MAX];

    drawn = 3;
    for (int tried = 0; tried < 24; tried++) {
        const size_t count = 1 + draw(DRAWN_MAX);
        uint64_t live[DRAWN_MAX];
        uint64_t objects = 0;
        size_t lives = 0;

        for (size_t i = 0; i < count; i++) {
            const uint64_t size =
                draw(3) == 0 && i > 0
                    ? 0
                    : 1 + draw(tried % 4 < 2 ? 9000 : UINT64_C(1) << 33);
            const size_t chosen = lives > 0 ? draw(lives) : 0;

            if (lives == 0 || draw(2) == 0) {
                events[i] = (struct drawn){'A', objects, size};
                live[lives++] = objects++;
            } else if (draw(4) == 0) {
                events[i] = (struct drawn){'W', 0, 0};
            } else if (draw(2) == 0) {
                events[i] = (struct drawn){'R', live[chosen], size};
            } else {
                events[i] = (struct drawn){'F', live[chosen], 0};
                live[chosen] = live[--lives];
            }
        }
        expect_history(events, count, tried % 2 == 0 ? 0 : 4096);
    }
}

TEST(a_recording_without_objects_is_refused)
{
    static const struct drawn nothing[] = {
        {'A', 0, 0}, {'R', 0, 0}, {'F', 0, 0}};
    char *words[] = {(char *)(uintptr_t) "audit", path, NULL};
    char none[] = "/tmp/no such recording";
    char line[128];
    struct captured said;

    for (size_t count = 0; count <= 3; count++) {
        write_drawn(nothing, count);
        assert_true(captured_run(&said, audit, words, -1, 60));
        snprintf(line, sizeof line, "profsim: %s: no allocations\n", path);
        assert_string_equal(said.text, line);
        assert_int_equal(said.exit_code, CLI_USAGE);
        captured_free(&said);
    }
    words[1] = none;
    assert_true(captured_run(&said, audit, words, -1, 60));
    snprintf(line, sizeof line, "profsim: %s: No such file or directory\n",
             none);
    assert_string_equal(said.text, line);
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
}

TEST(random_words_give_the_figures_of_these_rules)
{
    audit_of_random_words(path);
}

TEST(wrong_words_are_refused_and_say_why)
{
    audit_of_wrong_words(path);
}

TEST(rules_are_judged_alone_and_in_shards)
{
    audit_that_judges(path);
}

static int
make_file(void **state)
{
    const int file = mkstemp(path);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int
remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int
main(void)
{
    return tests_run(make_file, remove_file);
}
