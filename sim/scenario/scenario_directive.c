/*
 * scenario_directive.c -- reads the directives. Each sets one field of the
 * world's configuration and may occur once; but each processor may have a
 * clock, and there may be any number of stacks.
 */
#include "sim/scenario/scenario_parser.h"

#include <inttypes.h>
#include <string.h>

#include "sim/instruments/instrument_trace.h"
#include "common/memory.h"

static bool
parse_rules(struct sim_parser *p, struct sim_word word)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};

    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        if (sim_word_is(word, prof_rules_all[i]->name)) {
            p->s->config.rules = prof_rules_all[i];
            return true;
        }
        sim_nearest_try(&nearest, prof_rules_all[i]->name);
    }
    return sim_parse_unknown(p, "rules", &nearest);
}

static bool
parse_hash(struct sim_parser *p, struct sim_word word)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};

    for (uint32_t i = 0; i < PROF_HASH_COUNT; i++) {
        if (sim_word_is(word, sim_hash_words[i])) {
            p->s->config.hash = (enum prof_hash)i;
            return true;
        }
        sim_nearest_try(&nearest, sim_hash_words[i]);
    }
    return sim_parse_unknown(p, "hash", &nearest);
}

static bool
parse_waiters(struct sim_parser *p, struct sim_word word)
{
    char quoted[SIM_QUOTE_BYTES];

    p->s->config.waiters_all = sim_word_is(word, "all");
    if (p->s->config.waiters_all || sim_word_is(word, "first"))
        return true;
    return sim_parse_fail(p, "expected 'first' or 'all', found %s",
                          sim_word_quote(word, quoted));
}

static bool
parse_u32(struct sim_parser *p, struct sim_word word, const char *what,
          uint64_t min, uint64_t max, uint32_t *field)
{
    uint64_t value;

    if (!sim_parse_number(p, word, what, min, max, &value))
        return false;
    *field = (uint32_t)value;
    return true;
}

/* ---- clocks ---- */

/* `offset=TICKS` or `drift=Nppm` */
static bool
parse_clock_part(struct sim_parser *p, struct sim_word word,
                 struct sim_clock *clock)
{
    char quoted[SIM_QUOTE_BYTES];
    struct sim_word number;

    if (sim_word_begins(word, "offset=")) {
        number = sim_word_skip(word, strlen("offset="));
        if (sim_word_i64(number, SIM_SCENARIO_OFFSET_MAX,
                         &clock->offset_ticks) &&
            clock->offset_ticks >= -SIM_SCENARIO_OFFSET_MAX)
            return true;
        return sim_parse_fail(p,
                              "offset %s is not a whole number, 2^62 at most",
                              sim_word_quote(number, quoted));
    }
    if (sim_word_begins(word, "drift=")) {
        number = sim_word_skip(word, strlen("drift="));
        if (number.bytes > 3 &&
            memcmp(number.text + number.bytes - 3, "ppm", 3) == 0 &&
            sim_word_i64((struct sim_word){number.text, number.bytes - 3},
                         SIM_SCENARIO_DRIFT_MAX, &clock->drift_ppm) &&
            clock->drift_ppm >= -SIM_SCENARIO_DRIFT_MAX)
            return true;
        return sim_parse_fail(p, "drift %s is not Nppm, %d at most",
                              sim_word_quote(number, quoted),
                              SIM_SCENARIO_DRIFT_MAX);
    }
    return sim_parse_fail(p, "expected offset=TICKS or drift=Nppm, found %s",
                          sim_word_quote(word, quoted));
}

static bool
parse_clock(struct sim_parser *p, struct sim_word word)
{
    uint32_t proc;

    if (!parse_u32(p, word, "processor", 0, SIM_PROCS_MAX - 1, &proc))
        return false;
    if (proc >= p->s->config.procs && !p->s->config.scheduled)
        return sim_parse_fail(
            p, "there is no processor %" PRIu32 "; give 'procs' first", proc);
    if (p->clocks_given[proc] != 0)
        return sim_parse_fail(
            p, "clock %" PRIu32 " was given in line %" PRIu32 " already", proc,
            p->clocks_given[proc]);
    p->clocks_given[proc] = p->line;
    if (!sim_parse_word(p, &word, "offset=TICKS or drift=Nppm"))
        return false;
    while (word.bytes > 0) {
        if (!parse_clock_part(p, word, &p->s->config.clocks[proc]))
            return false;
        word = sim_word_next(&p->rest);
    }
    return true;
}

/* ---- stacks ---- */

/* Remember a frame's function, and that each address has only one. */
static bool
name_frame(struct sim_parser *p, uint64_t frame, struct sim_word function)
{
    char quoted[SIM_QUOTE_BYTES];
    uint32_t probe = 0;
    const uint32_t known = sim_index_next(&p->frame_index, frame, &probe);
    const char *name;

    if (known != SIM_INDEX_NONE) {
        name = p->s->frame_names[known].name;
        if (sim_word_is(function, name))
            return true;
        return sim_parse_fail(p,
                              "0x%" PRIx64 " is in '%.80s' already, not in %s",
                              frame, name, sim_word_quote(function, quoted));
    }
    name = sim_scenario_text(p->s, function.text, function.bytes);
    if (name == NULL ||
        !sim_scenario_add_frame_name(p->s, (uintptr_t)frame, name) ||
        !sim_index_add(&p->frame_index, frame, p->s->frame_names_count - 1))
        return sim_parse_fail(p, "not enough memory");
    return true;
}

/* Where the `@0x...` at the end of a frame begins; its length if absent. */
static size_t
address_at(struct sim_word word)
{
    for (size_t i = word.bytes; i-- > 0;) {
        if (word.text[i] == '@')
            return sim_word_begins(sim_word_skip(word, i), "@0x") ? i
                                                                  : word.bytes;
    }
    return word.bytes;
}

/* `0xADDRESS`, `function` or `function@0xADDRESS` */
static bool
parse_frame(struct sim_parser *p, struct sim_word word, uintptr_t *frame)
{
    char quoted[SIM_QUOTE_BYTES];
    const size_t at = address_at(word);
    const struct sim_word function = {word.text, at};
    uint64_t address;

    (void)sim_word_quote(word, quoted);
    if (sim_word_begins(word, "0x")) {
        if (!sim_word_hex(word, &address))
            return sim_parse_fail(p, "frame %s is not a 64-bit address",
                                  quoted);
        *frame = (uintptr_t)address;
        return true;
    }
    if (at == 0 || at > SIM_SCENARIO_FUNCTION_MAX ||
        (word.text[0] >= '0' && word.text[0] <= '9'))
        return sim_parse_fail(p, "frame %s is no address and no function name",
                              quoted);
    for (size_t i = 0; i < at; i++) {
        if (!sim_function_byte(word.text[i]) ||
            (i + 3 <= at && memcmp(word.text + i, "@0x", 3) == 0))
            return sim_parse_fail(
                p, "frame %s has a byte that no name may have", quoted);
    }
    if (at == word.bytes)
        address = sim_text_address(function.text, function.bytes);
    else if (!sim_word_hex(sim_word_skip(word, at + 1), &address))
        return sim_parse_fail(p, "frame %s is not NAME@0xADDRESS", quoted);
    *frame = (uintptr_t)address;
    return name_frame(p, address, function);
}

/* `root>...>leaf` into `frames`, leaf first; `-` is the empty stack. */
static bool
parse_frames(struct sim_parser *p, uintptr_t **frames, uint32_t *depth)
{
    struct sim_word text = sim_word_trim(p->rest);
    uint32_t count = 1;

    p->rest = sim_word_skip(p->rest, p->rest.bytes);
    *depth = 0;
    *frames = NULL;
    if (text.bytes == 0)
        return sim_parse_fail(p, "the frames are missing; '-' stands for none");
    if (sim_word_is(text, "-"))
        return true;
    for (size_t i = 0; i < text.bytes; i++)
        count += text.text[i] == '>';
    if (count > SIM_SCENARIO_DEPTH_MAX)
        return sim_parse_fail(p, "the stack is deeper than %d frames",
                              SIM_SCENARIO_DEPTH_MAX);
    p->frames_count += count;
    if (p->frames_count > SIM_SCENARIO_FRAMES_MAX)
        return sim_parse_fail(p, "the stacks have more than %d frames together",
                              SIM_SCENARIO_FRAMES_MAX);
    *frames = sim_scenario_take(p->s, count * sizeof **frames);
    if (*frames == NULL)
        return sim_parse_fail(p, "not enough memory");
    *depth = count;
    while (count-- > 0) {
        if (!parse_frame(p, sim_word_trim(sim_word_until(&text, '>')),
                         &(*frames)[count]))
            return false;
    }
    return true;
}

static bool
parse_stack(struct sim_parser *p, struct sim_word word)
{
    char quoted[SIM_QUOTE_BYTES];
    const uint64_t hash = sim_text_hash(word.text, word.bytes);
    const uint32_t number = p->s->config.stacks_count;
    struct sim_word equals;
    uintptr_t *frames;
    uint32_t probe = 0;
    uint32_t other;
    uint32_t depth;
    char *name;

    (void)sim_word_quote(word, quoted);
    if (!sim_word_is_name(word, SIM_SCENARIO_NAME_MAX) || sim_expect_word(word))
        return sim_parse_fail(p, "%s cannot be the name of a stack", quoted);
    while ((other = sim_index_next(&p->stack_index, hash, &probe)) !=
           SIM_INDEX_NONE) {
        if (sim_word_is(word, p->s->stack_names[other]))
            return sim_parse_fail(p, "stack %s was given before", quoted);
    }
    if (number == SIM_SCENARIO_STACKS_MAX)
        return sim_parse_fail(p, "more than %d stacks",
                              SIM_SCENARIO_STACKS_MAX);
    if (!sim_parse_word(p, &equals, "'='"))
        return false;
    if (!sim_word_is(equals, "="))
        return sim_parse_fail(p, "expected '=' after %s", quoted);
    if (!parse_frames(p, &frames, &depth))
        return false;
    name = sim_scenario_text(p->s, word.text, word.bytes);
    if (name == NULL || !sim_scenario_add_stack(p->s, name, frames, depth) ||
        !sim_index_add(&p->stack_index, hash, number))
        return sim_parse_fail(p, "not enough memory");
    return true;
}

/* ---- memory ---- */

bool
sim_parse_check_memory(struct sim_parser *p, size_t file_bytes)
{
    const struct sim_config *config = &p->s->config;
    const uint64_t most = sim_memory_ceiling(file_bytes);
    const uint64_t bytes = sim_memory_of_run(config->buckets_max,
                                             config->frames_max, config->procs);
    const bool is_frames =
        config->frames_max != 0 &&
        bytes - sim_memory_of_run(1, config->frames_max, config->procs) <
            bytes - sim_memory_of_run(config->buckets_max, 1, config->procs);

    if (bytes <= most)
        return true;
    p->line =
        p->given[is_frames ? SIM_DIRECTIVE_FRAMES : SIM_DIRECTIVE_BUCKETS];
    return sim_parse_fail(p,
                          "'%s %" PRIu64 "' asks for %" PRIu64
                          " MiB of memory; the "
                          "directives of this file may take %" PRIu64 " MiB",
                          is_frames ? "frames" : "buckets",
                          is_frames ? config->frames_max : config->buckets_max,
                          bytes >> 20, most >> 20);
}

/* ---- instruments ---- */

static bool
add_instrument(struct sim_parser *p, struct sim_word word)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};

    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        const char *known = sim_instrument_word((enum sim_instrument_id)i);

        if (sim_word_is(word, known)) {
            p->s->config.instruments |= SIM_INSTRUMENT_BIT(i);
            return true;
        }
        sim_nearest_try(&nearest, known);
    }
    return sim_parse_unknown(p, "instrument", &nearest);
}

static bool
parse_instruments(struct sim_parser *p, struct sim_word word)
{
    p->s->config.instruments = 0;
    while (word.bytes > 0) {
        if (!add_instrument(p, word))
            return false;
        word = sim_word_next(&p->rest);
    }
    return true;
}

/* How the world is traced. */
static bool
parse_trace(struct sim_parser *p, enum sim_directive directive,
            struct sim_word word)
{
    struct sim_trace_config *trace = &p->s->config.trace;

    switch ((int)directive) {
    case SIM_DIRECTIVE_BUFFERS:
        return parse_u32(p, word, "buffers", 1, SIM_TRACE_BUFFERS_MAX,
                         &trace->buffers);
    case SIM_DIRECTIVE_BUFFER_BYTES:
        return parse_u32(p, word, "buffer-bytes", 1, SIM_TRACE_BUFFER_BYTES_MAX,
                         &trace->buffer_bytes);
    case SIM_DIRECTIVE_TICK_DIVISOR:
        return parse_u32(p, word, "tick-divisor", 1, UINT32_MAX,
                         &trace->tick_divisor);
    case SIM_DIRECTIVE_STACKS_ROOM:
        return parse_u32(p, word, "stacks-room", 1, SIM_TRACE_STACKS_MAX,
                         &trace->stacks_room);
    default:
        return sim_parse_number(p, word, "ticks-per-us", 1, 1000000,
                                &trace->ticks_per_us);
    }
}

/* Directives without a value. returns: is it one? */
static bool
is_switch(struct sim_parser *p, enum sim_directive directive)
{
    struct sim_config *config = &p->s->config;

    if (directive == SIM_DIRECTIVE_SCHEDULED)
        config->scheduled = true;
    else if (directive == SIM_DIRECTIVE_ORDER_BY_CLOCK)
        config->trace.by_clock = true;
    else if (directive == SIM_DIRECTIVE_EAGER_READER)
        config->trace.eager = true;
    else if (directive == SIM_DIRECTIVE_TWO_READERS)
        config->trace.two_readers = true;
    else
        return false;
    return true;
}

/* ---- directives ---- */

bool
sim_parse_directive(struct sim_parser *p, enum sim_directive directive)
{
    struct sim_config *config = &p->s->config;
    const bool many =
        directive == SIM_DIRECTIVE_CLOCK || directive == SIM_DIRECTIVE_STACK;
    struct sim_word word;

    if (p->given[directive] != 0 && !many)
        return sim_parse_fail(p, "this was given in line %" PRIu32 " already",
                              p->given[directive]);
    p->given[directive] = p->line;
    if (is_switch(p, directive))
        return true;
    if (!sim_parse_word(p, &word, "the value"))
        return false;
    switch ((int)directive) {
    case SIM_DIRECTIVE_RULES:
        return parse_rules(p, word);
    case SIM_DIRECTIVE_HASH:
        return parse_hash(p, word);
    case SIM_DIRECTIVE_BUCKETS:
        return parse_u32(p, word, "buckets", 1, PROF_BUCKETS_LIMIT,
                         &config->buckets_max);
    case SIM_DIRECTIVE_DEPTH:
        return parse_u32(p, word, "depth", 1, PROF_DEPTH_LIMIT,
                         &config->depth_max);
    case SIM_DIRECTIVE_FRAMES:
        return sim_parse_number(p, word, "frames", 0, UINT32_MAX,
                                &config->frames_max);
    case SIM_DIRECTIVE_CYCLE:
        return parse_u32(p, word, "cycle", 0, PROF_CYCLE_WRAP - 1,
                         &config->cycle_first);
    case SIM_DIRECTIVE_PROCS:
        return parse_u32(p, word, "procs", 1, SIM_PROCS_MAX, &config->procs);
    case SIM_DIRECTIVE_SEED:
        return sim_parse_number(p, word, "seed", 0, UINT64_MAX, &config->seed);
    case SIM_DIRECTIVE_WAITERS:
        return parse_waiters(p, word);
    case SIM_DIRECTIVE_INSTRUMENTS:
        return parse_instruments(p, word);
    case SIM_DIRECTIVE_CLOCK:
        return parse_clock(p, word);
    case SIM_DIRECTIVE_STACK:
        return parse_stack(p, word);
    default:
        return parse_trace(p, directive, word);
    }
}
