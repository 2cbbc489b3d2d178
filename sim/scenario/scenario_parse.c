/*
 * scenario_parse.c -- reading a scenario: files, lines and events.
 *
 * Each line is read once, from left to right, without a copy, and names are
 * found by hash, so the time is linear in the size of the file. The first error
 * ends the reading, and names the line and the word. The grammar is in
 * docs/scenarios.md. scenario_directive.c reads directives, scenario_expect.c
 * expect lines.
 */
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/locks.h"
#include "sim/scenario/scenario_parser.h"

#define FIRST_WORDS "profsim scenario"

/* ---- errors ---- */

/* ---- names ---- */

/* ---- lines ---- */

static bool
parse_words(struct sim_parser *p)
{
    char quoted[SIM_QUOTE_BYTES];
    struct sim_word word = sim_word_next(&p->rest);
    uint32_t directive = 0;
    bool good;

    if (word.bytes == 0)
        return true;
    while (directive < SIM_DIRECTIVE_COUNT &&
           !sim_word_is(word, sim_directive_words[directive]))
        directive++;
    if (directive < SIM_DIRECTIVE_COUNT) {
        if (p->s->events_count > 0)
            return sim_parse_fail(p, "'%s' must come before the first event",
                                  sim_directive_words[directive]);
        good = sim_parse_directive(p, (enum sim_directive)directive);
    } else if (sim_word_is(word, "expect")) {
        good = sim_parse_expect(p);
    } else {
        good = sim_parse_event(p, word);
    }
    if (!good)
        return false;
    word = sim_word_next(&p->rest);
    if (word.bytes > 0)
        return sim_parse_fail(p, "unexpected %s at the end of the line",
                              sim_word_quote(word, quoted));
    return true;
}

static bool
parse_first_line(struct sim_parser *p)
{
    char quoted[SIM_QUOTE_BYTES];
    const struct sim_word line = p->rest;
    struct sim_word version;

    if (!sim_word_begins(line, FIRST_WORDS " "))
        return sim_parse_fail(p, "not a scenario: the first line is not '%s 2'",
                              FIRST_WORDS);
    version = sim_word_trim(sim_word_skip(line, strlen(FIRST_WORDS)));
    p->rest = sim_word_skip(line, line.bytes);
    if (!sim_word_is(version, "2"))
        return sim_parse_fail(p, "version %s is unknown; this is version 2",
                              sim_word_quote(version, quoted));
    return true;
}

/* Keep a comment line that directly follows the first line. */
static bool
header_add(struct sim_parser *p, struct sim_word comment)
{
    const size_t need_bytes = p->header_bytes + comment.bytes + 2;
    char *header = p->s->header;

    if (need_bytes > p->header_room_bytes) {
        header = realloc(header, 2 * need_bytes);
        if (header == NULL)
            return sim_parse_fail(p, "not enough memory");
        p->s->header = header;
        p->header_room_bytes = 2 * need_bytes;
    }
    memcpy(header + p->header_bytes, comment.text, comment.bytes);
    p->header_bytes = need_bytes - 1;
    header[p->header_bytes - 1] = '\n';
    header[p->header_bytes] = '\0';
    return true;
}

static struct sim_word
without_last_blanks(struct sim_word word)
{
    while (word.bytes > 0 && (word.text[word.bytes - 1] == ' ' ||
                              word.text[word.bytes - 1] == '\t'))
        word.bytes--;
    return word;
}

/* Refuse what is not text. */
static bool
check_bytes(struct sim_parser *p, struct sim_word line)
{
    size_t column;

    if (line.bytes > SIM_SCENARIO_LINE_MAX)
        return sim_parse_fail(p, "the line is longer than %d bytes",
                              SIM_SCENARIO_LINE_MAX);
    return sim_word_is_text(line, &column) ||
           sim_parse_fail(p, "not a text file: byte 0x%02x in column %zu",
                          (uint8_t)line.text[column], column + 1);
}

static bool
parse_line(struct sim_parser *p, struct sim_word line)
{
    struct sim_word comment;
    bool is_comment;

    p->line++;
    if (line.bytes > 0 && line.text[line.bytes - 1] == '\r')
        line.bytes--;
    if (!check_bytes(p, line))
        return false;
    comment = line;
    p->rest = sim_word_trim(sim_word_until(&comment, '#'));
    is_comment = comment.text > line.text && comment.text[-1] == '#';
    if (p->line == 1)
        return parse_first_line(p);
    if (!p->header_ended && p->rest.bytes == 0 && is_comment) {
        if (sim_word_begins(comment, " "))
            comment = sim_word_skip(comment, 1);
        return header_add(p, without_last_blanks(comment));
    }
    p->header_ended = true;
    return parse_words(p);
}

static bool
parse_all(struct sim_parser *p, const char *text, size_t bytes)
{
    struct sim_word rest = {text, bytes};

    if (bytes > SIM_SCENARIO_FILE_MAX)
        return sim_parse_fail(p, "the file is larger than %d bytes",
                              SIM_SCENARIO_FILE_MAX);
    do {
        if (!parse_line(p, sim_word_until(&rest, '\n')))
            return false;
    } while (rest.bytes > 0);
    sim_scenario_sort_frame_names(p->s);
    return sim_parse_check_memory(p, bytes);
}

struct sim_scenario *
sim_scenario_parse(const char *text, size_t bytes, const char *name,
                   struct sim_error *error)
{
    struct sim_parser p = {.error = error, .name = name};

    p.s = sim_scenario_new(name);
    if (p.s == NULL) {
        (void)sim_parse_fail(&p, "not enough memory");
    } else if (!parse_all(&p, bytes == 0 ? "" : text, bytes)) {
        sim_scenario_free(p.s);
        p.s = NULL;
    }
    sim_index_free(&p.stack_index);
    sim_index_free(&p.object_index);
    sim_index_free(&p.frame_index);
    return p.s;
}
