/*
 * scenario_expect.c -- reads the `expect` lines.
 *
 * There are two kinds: the expected result of the event just above, and, once,
 * after everything else, the outcome of the whole scenario. The word after
 * `expect` tells them apart; it cannot be the name of a stack.
 */
#include "sim/scenario/scenario_parser.h"

#include <inttypes.h>
#include <string.h>

static const char *const expect_words[] = {"count", "short",    "nothing",
                                           "order", "property", "ok"};

bool
sim_expect_word(struct sim_word word)
{
    for (size_t i = 0; i < sizeof expect_words / sizeof *expect_words; i++) {
        if (sim_word_is(word, expect_words[i]))
            return true;
    }
    return false;
}

static bool
parse_outcome(struct sim_parser *p, struct sim_word word)
{
    struct sim_scenario *s = p->s;
    char quoted[SIM_QUOTE_BYTES];

    if (s->outcome != SIM_OUTCOME_UNSAID)
        return sim_parse_fail(
            p, "the outcome was given in line %" PRIu32 " already",
            s->outcome_line);
    s->outcome_line = p->line;
    s->outcome = SIM_OUTCOME_OK;
    if (sim_word_is(word, "ok"))
        return true;
    s->outcome = SIM_OUTCOME_BROKEN;
    if (!sim_parse_word(p, &word, "the property"))
        return false;
    if (!sim_word_is_name(word, SIM_SCENARIO_PROPERTY_MAX))
        return sim_parse_fail(p, "%s is not a property such as H2",
                              sim_word_quote(word, quoted));
    memcpy(s->property, word.text, word.bytes);
    if (!sim_parse_word(p, &word, "'broken'"))
        return false;
    if (!sim_word_is(word, "broken"))
        return sim_parse_fail(p, "expected 'broken', found %s",
                              sim_word_quote(word, quoted));
    return true;
}

/* ---- listing ---- */

static bool
is_contention(const struct sim_parser *p)
{
    const enum sim_event_kind kind = p->s->events[p->s->events_count - 1].kind;

    return kind == SIM_EV_BLOCK_SNAPSHOT || kind == SIM_EV_MUTEX_SNAPSHOT;
}

/* One place of an order: STACK:SIZE, for contention STACK. */
static bool
parse_listed(struct sim_parser *p, struct sim_word word)
{
    struct sim_listed *listed =
        sim_scenario_grow(p->s->listed, p->s->listed_count, sizeof *listed);
    struct sim_listed *entry;
    struct sim_word stack;

    if (listed == NULL)
        return sim_parse_fail(p, "not enough memory");
    p->s->listed = listed;
    entry = &listed[p->s->listed_count];
    *entry = (struct sim_listed){0};
    stack = is_contention(p) ? word : sim_word_until(&word, ':');
    if (!sim_parse_stack_name(p, stack, &entry->stack))
        return false;
    if (!is_contention(p) && !sim_parse_number(p, word, "size after ':'", 0,
                                               UINT64_MAX, &entry->size_bytes))
        return false;
    if (p->s->listed_count == SIM_SCENARIO_EXPECTS_MAX)
        return sim_parse_fail(p, "more than %d places in orders",
                              SIM_SCENARIO_EXPECTS_MAX);
    p->s->listed_count++;
    return true;
}

static bool
parse_order(struct sim_parser *p, struct sim_expect *expect)
{
    struct sim_word word;

    expect->kind = SIM_EXPECT_ORDER;
    expect->first = p->s->listed_count;
    if (!sim_parse_word(p, &word, "STACK:SIZE"))
        return false;
    while (word.bytes > 0) {
        if (!parse_listed(p, word))
            return false;
        word = sim_word_next(&p->rest);
    }
    expect->second = p->s->listed_count - expect->first;
    return true;
}

/* ---- buckets ---- */

/* STACK SIZE ALLOCS/FREES; the stack is read. */
static bool
parse_heap(struct sim_parser *p, struct sim_expect *expect)
{
    struct sim_word word;

    expect->kind = SIM_EXPECT_HEAP;
    return sim_parse_word(p, &word, "the size") &&
           sim_parse_number(p, word, "size", 0, UINT64_MAX,
                            &expect->size_bytes) &&
           sim_parse_word(p, &word, "ALLOCS/FREES") &&
           sim_parse_number(p, sim_word_until(&word, '/'), "allocs", 0,
                            UINT64_MAX, &expect->first) &&
           sim_parse_number(p, word, "frees after '/'", 0, UINT64_MAX,
                            &expect->second);
}

static bool
parse_fixed(struct sim_parser *p, const char *fixed)
{
    char quoted[SIM_QUOTE_BYTES];
    const struct sim_word word = sim_word_next(&p->rest);

    return sim_word_is(word, fixed)
               ? true
               : sim_parse_fail(p, "expected '%s', found %s", fixed,
                                sim_word_quote(word, quoted));
}

/* STACK COUNT events CYCLES cycles; the stack is read. */
static bool
parse_contention(struct sim_parser *p, struct sim_expect *expect)
{
    struct sim_word word;

    expect->kind = SIM_EXPECT_CONTENTION;
    return sim_parse_word(p, &word, "COUNT events") &&
           sim_parse_number(p, word, "count", 0, UINT64_MAX, &expect->first) &&
           parse_fixed(p, "events") &&
           sim_parse_word(p, &word, "CYCLES cycles") &&
           sim_parse_number(p, word, "cycles", 0, UINT64_MAX,
                            &expect->second) &&
           parse_fixed(p, "cycles");
}

/* A stack, or a misspelt word that may follow `expect`. */
static bool
parse_bucket(struct sim_parser *p, struct sim_word word,
             struct sim_expect *expect)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};
    char quoted[SIM_QUOTE_BYTES];

    if (!sim_parse_stack_name(p, word, &expect->stack)) {
        for (size_t i = 0; i < sizeof expect_words / sizeof *expect_words; i++)
            sim_nearest_try(&nearest, expect_words[i]);
        if (nearest.best != NULL)
            return sim_parse_unknown(p, "expectation", &nearest);
        /* Numbers would follow a stack; without them it was an outcome. */
        return sim_word_next(&p->rest).bytes > 0
                   ? false
                   : sim_parse_fail(p,
                                    "unknown outcome %s; it is 'ok' or "
                                    "'property ID broken'",
                                    sim_word_quote(word, quoted));
    }
    return is_contention(p) ? parse_contention(p, expect)
                            : parse_heap(p, expect);
}

static bool
parse_kind(struct sim_parser *p, struct sim_word word,
           struct sim_expect *expect)
{
    if (sim_word_is(word, "count")) {
        expect->kind = SIM_EXPECT_COUNT;
        return sim_parse_word(p, &word, "the count") &&
               sim_parse_number(p, word, "count", 0, UINT64_MAX,
                                &expect->first);
    }
    if (sim_word_is(word, "short")) {
        expect->kind = SIM_EXPECT_SHORT;
        return true;
    }
    if (sim_word_is(word, "nothing")) {
        expect->kind = SIM_EXPECT_NOTHING;
        return true;
    }
    if (sim_word_is(word, "order"))
        return parse_order(p, expect);
    return parse_bucket(p, word, expect);
}

bool
sim_parse_expect(struct sim_parser *p)
{
    struct sim_scenario *s = p->s;
    struct sim_expect expect = {.line = p->line};
    struct sim_expect *expects;
    struct sim_word word;

    if (!sim_parse_word(p, &word, "what to expect"))
        return false;
    if (sim_word_is(word, "ok") || sim_word_is(word, "property"))
        return parse_outcome(p, word);
    if (s->outcome != SIM_OUTCOME_UNSAID)
        return sim_parse_fail(p,
                              "an expectation after the outcome of line "
                              "%" PRIu32,
                              s->outcome_line);
    if (s->events_count == 0 ||
        !sim_event_reads(s->events[s->events_count - 1].kind))
        return sim_parse_fail(p, "'expect' must follow an event that reads, "
                                 "such as snapshot or iterate");
    if (s->expects_count == SIM_SCENARIO_EXPECTS_MAX)
        return sim_parse_fail(p, "more than %d expectations",
                              SIM_SCENARIO_EXPECTS_MAX);
    expect.event = s->events_count - 1;
    if (!parse_kind(p, word, &expect))
        return false;
    expects = sim_scenario_grow(s->expects, s->expects_count, sizeof *expects);
    if (expects == NULL)
        return sim_parse_fail(p, "not enough memory");
    s->expects = expects;
    expects[s->expects_count++] = expect;
    return true;
}
