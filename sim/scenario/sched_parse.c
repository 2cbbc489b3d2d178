/*
 * sched_parse.c -- schedules out of text. Any bytes get an answer; the first
 * thing that is wrong is told with its line.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "scenario_words.h"
#include "sched_text.h"

static const char first_line[] = "profsim schedule 1";

enum { LINE_BYTES = 8192 };

struct parser {
    struct sim_schedule *schedule;
    const char *path;
    uint32_t line;
    struct sim_error *error;
    bool has_events;
};

static bool __attribute__((format(printf, 2, 3)))
fail(struct parser *p, const char *format, ...)
{
    char *text = p->error->text;
    const size_t room = sizeof p->error->text;
    va_list arguments;
    int used = snprintf(text, room, "%.100s:%" PRIu32 ": ", p->path, p->line);

    va_start(arguments, format);
    (void)vsnprintf(text + used, room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool
fail_word(struct parser *p, const char *what, struct sim_word word)
{
    char quoted[SIM_QUOTE_BYTES];

    return fail(p, "%s %s", what, sim_word_quote(word, quoted));
}

/* A number of a word, or of what follows `letter` in it. */
static bool
take_number(struct parser *p, struct sim_word word, const char *letter,
            uint64_t max, uint64_t *value)
{
    const size_t skip = strlen(letter);

    if (sim_word_begins(word, letter) &&
        sim_word_u64(sim_word_skip(word, skip), max, value))
        return true;
    return fail_word(p, "not a number in range:", word);
}

/* ----------------------------------------------------------------- directives
 */

static bool
take_clock(struct parser *p, struct sim_word rest)
{
    struct sim_word word = sim_word_next(&rest);
    struct sim_clock clock = {0, 0};
    uint64_t proc;

    if (!take_number(p, word, "", SIM_SCHED_PROCS_MAX - 1, &proc))
        return false;
    for (word = sim_word_next(&rest); word.bytes > 0;
         word = sim_word_next(&rest)) {
        const bool is_offset = sim_word_begins(word, "offset=");
        struct sim_word value = sim_word_skip(word, is_offset ? 7 : 6);

        if (is_offset) {
            if (!sim_word_i64(value, INT64_MAX / 2, &clock.offset_ticks))
                return fail_word(p, "not an offset:", word);
            continue;
        }
        if (!sim_word_begins(word, "drift=") || value.bytes < 3 ||
            memcmp(value.text + value.bytes - 3, "ppm", 3) != 0)
            return fail_word(p, "neither offset= nor drift=..ppm:", word);
        value.bytes -= 3;
        if (!sim_word_i64(value, 1000000000, &clock.drift_ppm))
            return fail_word(p, "not a drift:", word);
    }
    p->schedule->config.clocks[proc] = clock;
    return true;
}

static uint32_t
find_stack(const struct sim_schedule *schedule, struct sim_word name)
{
    for (uint32_t i = 0; i < schedule->config.stacks_count; i++) {
        if (sim_word_is(name, schedule->names[i]))
            return i;
    }
    return TRUTH_NO_STACK;
}

/* The frames that follow, root first, into leaf first. */
static bool
take_frames(struct parser *p, struct sim_word rest, struct truth_stack *stack)
{
    uintptr_t frames[SIM_SCHEDULE_FRAMES_MAX];
    uintptr_t *kept;
    uint32_t depth = 0;

    for (struct sim_word word = sim_word_next(&rest); word.bytes > 0;
         word = sim_word_next(&rest)) {
        uint64_t pc;

        if (!sim_word_hex(word, &pc))
            return fail_word(p, "not an address:", word);
        if (depth == SIM_SCHEDULE_FRAMES_MAX)
            return fail(p, "more than %d frames", SIM_SCHEDULE_FRAMES_MAX);
        frames[depth++] = (uintptr_t)pc;
    }
    kept = calloc((size_t)depth + 1, sizeof *kept);
    if (kept == NULL)
        return fail(p, "not enough memory");
    for (uint32_t i = 0; i < depth; i++)
        kept[i] = frames[depth - 1 - i];
    stack->frames = kept;
    stack->depth = depth;
    return true;
}

static bool
take_stack(struct parser *p, struct sim_word rest)
{
    struct sim_schedule *schedule = p->schedule;
    const struct sim_word name = sim_word_next(&rest);
    const uint32_t index = schedule->config.stacks_count;

    if (!sim_word_is_name(name, sizeof schedule->names[0] - 1))
        return fail_word(p, "not a name:", name);
    if (find_stack(schedule, name) != TRUTH_NO_STACK)
        return fail_word(p, "there is a stack", name);
    if (index == SIM_SCHEDULE_STACKS_MAX)
        return fail(p, "more than %d stacks", SIM_SCHEDULE_STACKS_MAX);
    if (!sim_word_is(sim_word_next(&rest), "="))
        return fail(p, "a stack needs '=' after its name");
    if (!take_frames(p, rest, &schedule->stacks[index]))
        return false;
    memcpy(schedule->names[index], name.text, name.bytes);
    schedule->config.stacks_count = index + 1;
    return true;
}

static bool
at_end(struct parser *p, struct sim_word rest)
{
    const struct sim_word word = sim_word_next(&rest);

    return word.bytes == 0 || fail_word(p, "too many words:", word);
}

static bool
take_switch(struct parser *p, struct sim_word rest, bool *on)
{
    *on = true;
    return at_end(p, rest);
}

/* returns: whether the word is a directive; *done, whether it is right */
static bool
take_directive(struct parser *p, struct sim_word word, struct sim_word rest,
               bool *done)
{
    struct sim_sched_config *config = &p->schedule->config;
    const struct {
        const char *word;
        uint64_t max;
        uint32_t *to;
    } numbers[] = {
        {"procs", SIM_SCHED_PROCS_MAX, &config->procs},
        {"buffers", SIM_SCHED_BUFFERS_MAX, &config->buffers},
        {"buffer-bytes", SIM_SCHED_BUFFER_BYTES_MAX, &config->buffer_bytes},
        {"tick-divisor", UINT32_MAX, &config->tick_divisor},
        {"stacks-room", SIM_SCHED_STACKS_MAX, &config->stacks_room},
    };
    uint64_t value;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!sim_word_is(word, numbers[i].word))
            continue;
        *done = take_number(p, sim_word_trim(rest), "", numbers[i].max, &value);
        if (*done)
            *numbers[i].to = (uint32_t)value;
        return true;
    }
    *done = true;
    if (sim_word_is(word, "ticks-per-us"))
        *done = take_number(p, sim_word_trim(rest), "", 1000000,
                            &config->ticks_per_us);
    else if (sim_word_is(word, "eager-reader"))
        *done = take_switch(p, rest, &config->is_eager);
    else if (sim_word_is(word, "order-by-clock"))
        *done = take_switch(p, rest, &config->is_by_clock);
    else if (sim_word_is(word, "two-readers"))
        *done = take_switch(p, rest, &config->has_two_readers);
    else if (sim_word_is(word, "clock"))
        *done = take_clock(p, rest);
    else if (sim_word_is(word, "stack"))
        *done = take_stack(p, rest);
    else
        return false;
    return true;
}

/* --------------------------------------------------------------------- events
 */

static bool
take_arguments(struct parser *p, struct sim_sched_event *event,
               struct sim_word rest)
{
    uint64_t value;

    for (const char *c = sim_sched_arguments(event->kind); *c != '\0'; c++) {
        const struct sim_word word = sim_word_next(&rest);

        if (*c == 't' || *c == 'n') {
            if (!take_number(p, word, *c == 't' ? "t" : "", UINT64_MAX, &value))
                return false;
            *(*c == 't' ? &event->task : &event->number) = value;
        } else if (!sim_word_is(word, "-")) {
            event->stack = find_stack(p->schedule, word);
            if (event->stack == TRUTH_NO_STACK)
                return fail_word(p, "there is no stack", word);
        }
    }
    if (sim_word_next(&rest).bytes > 0)
        return fail(p, "too many arguments");
    return true;
}

static bool
take_event(struct parser *p, struct sim_word word, struct sim_word rest)
{
    struct sim_schedule *schedule = p->schedule;
    struct sim_sched_event event = {.kind = SIM_SCHED_KIND_COUNT,
                                    .stack = TRUTH_NO_STACK};
    uint64_t proc;

    if (sim_word_begins(word, "@+")) {
        if (!take_number(p, word, "@+", UINT64_MAX, &event.delay_ticks))
            return false;
        word = sim_word_next(&rest);
    }
    if (word.bytes == 0 || word.text[word.bytes - 1] != ':')
        return fail_word(p, "neither a directive nor an event:", word);
    word.bytes--;
    if (!take_number(p, word, "p", SIM_SCHED_PROCS_MAX - 1, &proc))
        return false;
    event.proc = (uint32_t)proc;
    word = sim_word_next(&rest);
    for (int i = 0; i < SIM_SCHED_KIND_COUNT; i++) {
        if (sim_word_is(word, sim_sched_word((enum sim_sched_kind)i)))
            event.kind = (enum sim_sched_kind)i;
    }
    if (event.kind == SIM_SCHED_KIND_COUNT)
        return fail_word(p, "unknown event", word);
    if (schedule->events_count == SIM_SCHEDULE_EVENTS_MAX)
        return fail(p, "more than %d events", SIM_SCHEDULE_EVENTS_MAX);
    if (!take_arguments(p, &event, rest))
        return false;
    schedule->events[schedule->events_count++] = event;
    p->has_events = true;
    return true;
}

static bool
take_expect(struct parser *p, struct sim_word rest)
{
    struct sim_word word = sim_word_next(&rest);

    if (sim_word_is(word, "ok"))
        return at_end(p, rest);
    if (!sim_word_is(word, "property"))
        return fail_word(p, "neither 'ok' nor 'property':", word);
    word = sim_word_next(&rest);
    if (word.bytes == 0 || word.bytes >= sizeof p->schedule->broken ||
        !sim_word_is(sim_word_next(&rest), "broken"))
        return fail(p, "it is: expect property ID broken");
    memcpy(p->schedule->broken, word.text, word.bytes);
    p->schedule->broken[word.bytes] = '\0';
    p->schedule->broken_line = p->line;
    return at_end(p, rest);
}

static bool
take_line(struct parser *p, struct sim_word line)
{
    struct sim_word rest = sim_word_until(&line, '#');
    struct sim_word word = sim_word_next(&rest);
    bool done;

    if (word.bytes == 0)
        return true;
    if (sim_word_is(word, "expect"))
        return take_expect(p, rest);
    if (!take_directive(p, word, rest, &done))
        return take_event(p, word, rest);
    if (done && p->has_events)
        return fail_word(p, "a directive after the first event:", word);
    return done;
}

/* ------------------------------------------------------------------ the file
 */

static bool
is_first(struct sim_word line)
{
    return sim_word_begins(line, first_line) &&
           sim_word_is(sim_word_trim(line), first_line);
}

static bool
take_text(struct parser *p, struct sim_word text)
{
    while (text.bytes > 0) {
        struct sim_word line = sim_word_until(&text, '\n');
        size_t column;

        p->line++;
        if (line.bytes > 0 && line.text[line.bytes - 1] == '\r')
            line.bytes--;
        if (line.bytes > LINE_BYTES)
            return fail(p, "the line is too long");
        if (p->line == 1 && !is_first(line))
            return fail(p, "a schedule begins '%s'", first_line);
        if (!sim_word_is_text(line, &column))
            return fail(p, "not a text file: byte 0x%02x in column %zu",
                        (uint8_t)line.text[column], column + 1);
        if (p->line > 1 && !take_line(p, line))
            return false;
    }
    return p->line > 0 ? true : fail(p, "the file is empty");
}

void
sim_schedule_free(struct sim_schedule *schedule)
{
    if (schedule == NULL)
        return;
    for (uint32_t i = 0; i < SIM_SCHEDULE_STACKS_MAX; i++)
        free((void *)(uintptr_t)schedule->stacks[i].frames);
    free(schedule->events);
    free(schedule);
}

struct sim_schedule *
sim_schedule_parse(const char *text, size_t bytes, const char *name,
                   struct sim_error *error)
{
    struct sim_schedule *schedule = calloc(1, sizeof *schedule);
    struct parser parser = {.schedule = schedule, .path = name, .error = error};
    bool done = false;

    snprintf(error->text, sizeof error->text, "%.200s: not enough memory",
             name);
    if (schedule != NULL) {
        schedule->config = (struct sim_sched_config){
            .procs = 1,
            .buffers = SIM_SCHED_BUFFERS_MAX,
            .buffer_bytes = SIM_SCHED_BUFFER_BYTES_MAX,
            .tick_divisor = 64,
            .stacks_room = SIM_SCHED_STACKS_MAX,
            .ticks_per_us = 1000,
            .stacks = schedule->stacks,
        };
        schedule->events =
            calloc(SIM_SCHEDULE_EVENTS_MAX, sizeof *schedule->events);
    }
    if (schedule != NULL && schedule->events != NULL)
        done = take_text(&parser, (struct sim_word){text, bytes});
    if (done)
        return schedule;
    sim_schedule_free(schedule);
    return NULL;
}

struct sim_schedule *
sim_schedule_read(const char *path, struct sim_error *error)
{
    struct sim_schedule *schedule = NULL;
    struct sim_input input;

    if (sim_input_read(&input, path))
        schedule = sim_schedule_parse((const char *)input.bytes,
                                      input.bytes_count, path, error);
    else
        snprintf(error->text, sizeof error->text, "%.120s: %s", path,
                 input.reason);
    sim_input_free(&input);
    return schedule;
}
