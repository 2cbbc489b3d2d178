/*
 * scenario_event.c -- reads an event: its time, its task or processor, its kind
 * and its arguments.
 */
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

#include "sim/world/locks.h"
#include "sim/scenario/scenario_parser.h"

static bool
parse_object(struct sim_parser *p, enum sim_event_kind kind, uint32_t *object)
{
    char quoted[SIM_QUOTE_BYTES];
    struct sim_word word;
    bool found;
    char *name;

    if (!sim_parse_word(p, &word, "the object"))
        return false;
    (void)sim_word_quote(word, quoted);
    found = sim_parse_find(&p->object_index, p->s->object_names, word, object);
    if (kind != SIM_EV_ALLOC)
        return found ? true
                     : sim_parse_fail(p, "object %s has not been allocated",
                                      quoted);
    if (found)
        return sim_parse_fail(
            p, "object %s was allocated before; a name is for one object",
            quoted);
    if (!sim_word_is_name(word, SIM_SCENARIO_NAME_MAX))
        return sim_parse_fail(p, "%s cannot be the name of an object", quoted);
    *object = p->s->objects_count;
    name = sim_scenario_text(p->s, word.text, word.bytes);
    if (name == NULL || !sim_scenario_add_object(p->s, name) ||
        !sim_index_add(&p->object_index, sim_text_hash(word.text, word.bytes),
                       *object))
        return sim_parse_fail(p, "not enough memory");
    return true;
}

/* ---- events ---- */

/* `tN:` or `pN:`. out: *letter, which of the two */
static bool
parse_who(struct sim_parser *p, struct sim_word word, char *letter,
          uint32_t *number)
{
    const struct sim_word digits = {word.text + 1, word.bytes - 2};
    char quoted[SIM_QUOTE_BYTES];
    uint64_t value;

    *letter = word.text[0];
    if (word.bytes >= 3 &&
        ((*letter == 't' && sim_word_u64(digits, SIM_TASKS_MAX - 1, &value)) ||
         (*letter == 'p' && sim_word_u64(digits, SIM_PROCS_MAX - 1, &value)))) {
        *number = (uint32_t)value;
        return true;
    }
    return sim_parse_fail(
        p, "%s is not a task or a processor; write t0: to t%d:, p0: to p%d:",
        sim_word_quote(word, quoted), SIM_TASKS_MAX - 1, SIM_PROCS_MAX - 1);
}

/*
 * Read `@+TICKS` and the task or processor, if they are there; then take the
 * next word.
 *
 * out:     *by, 't' or 'p', and *number, if a task or processor is given
 */
static bool
parse_prefixes(struct sim_parser *p, struct sim_word *word,
               struct sim_event *event, char *by, uint32_t *number)
{
    char quoted[SIM_QUOTE_BYTES];

    if (sim_word_begins(*word, "@")) {
        if (!sim_word_begins(*word, "@+"))
            return sim_parse_fail(p, "%s is not a delay; write @+TICKS",
                                  sim_word_quote(*word, quoted));
        if (!sim_parse_number(p, sim_word_skip(*word, 2), "delay", 0,
                              SIM_SCENARIO_TICKS_LIMIT - 1,
                              &event->delay_ticks) ||
            !sim_parse_word(p, word, "the event"))
            return false;
    }
    if (word->text[word->bytes - 1] == ':' &&
        (!parse_who(p, *word, by, number) ||
         !sim_parse_word(p, word, "the event")))
        return false;
    p->now_ticks += event->delay_ticks;
    if (p->now_ticks >= SIM_SCENARIO_TICKS_LIMIT)
        return sim_parse_fail(p, "the delays add up to 2^43 ticks or more");
    return true;
}

/* Check that a task or a processor is given, as the kind of event requires. */
static bool
take_who(struct sim_parser *p, struct sim_event *event, char by,
         uint32_t number)
{
    const bool scheduled = p->s->config.scheduled;
    const char *word = sim_event_word(event->kind);
    char wanted = sim_event_by(event->kind);

    if (wanted == 'b')
        wanted = scheduled ? 'p' : 't';
    if (wanted == 'p' && !scheduled)
        return sim_parse_fail(p,
                              "'%s' is for processors that take tasks; say "
                              "'scheduled' before",
                              word);
    if (by != '\0' && by != wanted)
        return sim_parse_fail(p, "'%s' is done by a %s: write %c%" PRIu32 ":",
                              word, wanted == 'p' ? "processor" : "task",
                              wanted, number);
    *(wanted == 'p' ? &event->proc : &event->task) = number;
    return true;
}

static bool
parse_event_kind(struct sim_parser *p, struct sim_word word,
                 struct sim_event *event)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};
    const char *best_event;

    for (uint32_t kind = 0; kind < SIM_EV_COUNT; kind++) {
        const char *known = sim_event_word((enum sim_event_kind)kind);

        if (sim_word_is(word, known)) {
            event->kind = (enum sim_event_kind)kind;
            return true;
        }
        sim_nearest_try(&nearest, known);
    }
    best_event = nearest.best;
    sim_nearest_try(&nearest, "expect");
    for (uint32_t i = 0; i < SIM_DIRECTIVE_COUNT; i++)
        sim_nearest_try(&nearest, sim_directive_words[i]);
    return sim_parse_unknown(p, nearest.best == best_event ? "event" : "word",
                             &nearest);
}

static bool
parse_cycles(struct sim_parser *p, struct sim_word word, int64_t *cycles)
{
    char quoted[SIM_QUOTE_BYTES];

    if (sim_word_i64(word, INT64_MAX, cycles))
        return true;
    return sim_parse_fail(
        p, "cycles %s is not a whole number from %" PRId64 " to %" PRId64,
        sim_word_quote(word, quoted), INT64_MIN, INT64_MAX);
}

static bool
parse_room(struct sim_parser *p, uint32_t *room)
{
    char quoted[SIM_QUOTE_BYTES];
    struct sim_word word = sim_word_next(&p->rest);
    uint64_t value;

    *room = SIM_ROOM_ENOUGH;
    if (word.bytes == 0)
        return true;
    if (!sim_word_begins(word, "room="))
        return sim_parse_fail(p, "expected room=N, found %s",
                              sim_word_quote(word, quoted));
    if (!sim_parse_number(p, sim_word_skip(word, 5), "room", 0,
                          SIM_ROOM_ENOUGH - 1, &value))
        return false;
    *room = (uint32_t)value;
    return true;
}

static bool
parse_lock(struct sim_parser *p, struct sim_word word, uint32_t *lock)
{
    uint64_t value;

    if (!sim_parse_number(p, word, "lock", 0, SIM_LOCKS_MAX - 1, &value))
        return false;
    *lock = (uint32_t)value;
    return true;
}

/* Read how long a stall lasts; if that is absent, it lasts until go-on. */
static bool
parse_while(struct sim_parser *p, int64_t *cycles)
{
    const struct sim_word word = sim_word_next(&p->rest);

    *cycles = SIM_UNTIL_GO_ON;
    return word.bytes == 0 || parse_cycles(p, word, cycles);
}

/* [align=N] [zeroed] */
static bool
parse_block(struct sim_parser *p, struct sim_event *event)
{
    char quoted[SIM_QUOTE_BYTES];
    struct sim_word word = sim_word_next(&p->rest);
    uint64_t value = 0;

    if (sim_word_begins(word, "align=")) {
        if (!sim_parse_number(p, sim_word_skip(word, 6), "alignment", 1,
                              SIM_ALIGN_MAX, &value))
            return false;
        if ((value & (value - 1)) != 0)
            return sim_parse_fail(p, "the alignment is no power of two");
        event->cycles = (int64_t)value;
        word = sim_word_next(&p->rest);
    }
    if (word.bytes == 0)
        return true;
    if (!sim_word_is(word, "zeroed"))
        return sim_parse_fail(p, "expected align=N or zeroed, found %s",
                              sim_word_quote(word, quoted));
    event->room = 1;
    return true;
}

/* A stack or `-`, where processors take tasks. */
static bool
parse_place(struct sim_parser *p, uint32_t *stack)
{
    struct sim_word word;

    if (!p->s->config.scheduled)
        return true;
    if (!sim_parse_word(p, &word, "the stack or '-'"))
        return false;
    return sim_word_is(word, "-") || sim_parse_stack_name(p, word, stack);
}

/* `tN` */
static bool
parse_task(struct sim_parser *p, struct sim_word word, uint32_t *task)
{
    char quoted[SIM_QUOTE_BYTES];
    uint64_t value;

    if (!sim_word_begins(word, "t") ||
        !sim_word_u64(sim_word_skip(word, 1), SIM_TASKS_MAX - 1, &value))
        return sim_parse_fail(p, "%s is not a task; write t0 to t%d",
                              sim_word_quote(word, quoted), SIM_TASKS_MAX - 1);
    *task = (uint32_t)value;
    return true;
}

/* One argument, by its letter in event.def. */
static bool
parse_argument(struct sim_parser *p, char letter, struct sim_event *event)
{
    struct sim_word word;

    switch (letter) {
    case 'o':
        return parse_object(p, event->kind, &event->object);
    case 's':
        return sim_parse_word(p, &word, "the stack") &&
               sim_parse_stack_name(p, word, &event->stack);
    case 'b':
        return sim_parse_word(p, &word, "the size") &&
               sim_parse_number(p, word, "size", 0, UINT64_MAX,
                                &event->size_bytes);
    case 'c':
        return sim_parse_word(p, &word, "the number of cycles") &&
               parse_cycles(p, word, &event->cycles);
    case 'a':
        return parse_block(p, event);
    case 'l':
        return sim_parse_word(p, &word, "the lock") &&
               parse_lock(p, word, &event->lock);
    case 'r':
        return parse_room(p, &event->room);
    case 'w':
        return parse_while(p, &event->cycles);
    case 'S':
        return parse_place(p, &event->stack);
    case 't':
        return sim_parse_word(p, &word, "the task") &&
               parse_task(p, word, &event->object);
    case 'h':
        return sim_parse_word(p, &word, "the stack of who held the lock") &&
               sim_parse_stack_name(p, word, &event->lock);
    case 'n':
        return sim_parse_word(p, &word, "the number") &&
               sim_parse_number(p, word, "number", 0, UINT64_MAX,
                                &event->size_bytes);
    default:
        return sim_parse_fail(p, "event.def has an unknown argument '%c'",
                              letter);
    }
}

bool
sim_parse_event(struct sim_parser *p, struct sim_word word)
{
    struct sim_event event = {.stack =
                                  p->s->config.scheduled ? TRUTH_NO_STACK : 0};
    uint32_t number = 0;
    char by = '\0';

    if (!parse_prefixes(p, &word, &event, &by, &number) ||
        !parse_event_kind(p, word, &event) || !take_who(p, &event, by, number))
        return false;
    if (p->s->outcome != SIM_OUTCOME_UNSAID)
        return sim_parse_fail(p, "an event after the outcome of line %" PRIu32,
                              p->s->outcome_line);
    if (p->s->events_count == SIM_SCENARIO_EVENTS_MAX)
        return sim_parse_fail(p, "more than %d events",
                              SIM_SCENARIO_EVENTS_MAX);
    for (const char *letter = sim_event_arguments(event.kind); *letter != '\0';
         letter++) {
        if (!parse_argument(p, *letter, &event))
            return false;
    }
    if (!sim_scenario_add_event(p->s, &event, p->line))
        return sim_parse_fail(p, "not enough memory");
    return true;
}
