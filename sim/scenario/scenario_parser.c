/* scenario_parser.c -- reads the words, numbers and names of a line, and
 * reports wrong ones. */
#include "sim/scenario/scenario_parser.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *const sim_directive_words[SIM_DIRECTIVE_COUNT] = {
#define X(id, word) [id] = word,
#include "sim/scenario/scenario.def"
#undef X
};

bool
sim_parse_fail(struct sim_parser *p, const char *format, ...)
{
    char *text = p->error->text;
    const size_t room = sizeof p->error->text;
    va_list arguments;
    int used;

    used = snprintf(text, room, "%.120s:%" PRIu32 ": ", p->name, p->line);
    va_start(arguments, format);
    (void)vsnprintf(text + used, room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

bool
sim_parse_number(struct sim_parser *p, struct sim_word word, const char *what,
                 uint64_t min, uint64_t max, uint64_t *value)
{
    char quoted[SIM_QUOTE_BYTES];

    if (sim_word_u64(word, max, value) && *value >= min)
        return true;
    return sim_parse_fail(
        p, "%s %s is not a whole number from %" PRIu64 " to %" PRIu64, what,
        sim_word_quote(word, quoted), min, max);
}

bool
sim_parse_unknown(struct sim_parser *p, const char *what,
                  const struct sim_nearest *nearest)
{
    char quoted[SIM_QUOTE_BYTES];

    (void)sim_word_quote(
        (struct sim_word){nearest->wrong, nearest->wrong_bytes}, quoted);
    if (nearest->best == NULL)
        return sim_parse_fail(p, "unknown %s %s", what, quoted);
    return sim_parse_fail(p, "unknown %s %s; did you mean '%s'?", what, quoted,
                          nearest->best);
}

bool
sim_parse_word(struct sim_parser *p, struct sim_word *word, const char *what)
{
    *word = sim_word_next(&p->rest);
    if (word->bytes > 0)
        return true;
    return sim_parse_fail(p, "%s is missing at the end of the line", what);
}

bool
sim_parse_find(const struct sim_index *index, char *const *names,
               struct sim_word word, uint32_t *number)
{
    const uint64_t hash = sim_text_hash(word.text, word.bytes);
    uint32_t probe = 0;

    for (;;) {
        *number = sim_index_next(index, hash, &probe);
        if (*number == SIM_INDEX_NONE)
            return false;
        if (sim_word_is(word, names[*number]))
            return true;
    }
}

bool
sim_parse_stack_name(struct sim_parser *p, struct sim_word word,
                     uint32_t *stack)
{
    struct sim_nearest nearest = {.wrong = word.text,
                                  .wrong_bytes = word.bytes};

    if (sim_parse_find(&p->stack_index, p->s->stack_names, word, stack))
        return true;
    for (uint32_t i = 0; i < p->s->config.stacks_count && i < 1000; i++)
        sim_nearest_try(&nearest, p->s->stack_names[i]);
    return sim_parse_unknown(p, "stack", &nearest);
}
