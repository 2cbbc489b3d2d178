/*
 * scenario_parser.h -- the state of reading one scenario. Private to the
 * parser's files.
 */
#ifndef SIM_SCENARIO_SCENARIO_PARSER_H
#define SIM_SCENARIO_SCENARIO_PARSER_H

#include "sim/scenario/scenario.h"
#include "common/nearest.h"
#include "sim/scenario/scenario_store.h"
#include "sim/scenario/scenario_words.h"

enum sim_directive {
#define X(id, word) id,
#include "sim/scenario/scenario.def"
#undef X
    SIM_DIRECTIVE_COUNT
};

struct sim_parser {
    struct sim_scenario *s;
    struct sim_error *error;
    const char *name;
    uint32_t line;
    struct sim_word rest; /* of the current line, without its comment */
    uint32_t given[SIM_DIRECTIVE_COUNT];  /* line of a directive; 0: none */
    uint32_t clocks_given[SIM_PROCS_MAX]; /* the same for each clock */
    struct sim_index stack_index;
    struct sim_index object_index;
    struct sim_index frame_index;
    uint64_t frames_count;
    uint64_t now_ticks;
    size_t header_bytes;
    size_t header_room_bytes;
    bool header_ended;
};

/* Report an error in the current line. returns: false */
bool sim_parse_fail(struct sim_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for an unknown word: "unknown WHAT 'word'; did you mean ...?" */
bool sim_parse_unknown(struct sim_parser *p, const char *what,
                       const struct sim_nearest *nearest);

/* Cut the next word off the line; `what` says what was expected there. */
bool sim_parse_word(struct sim_parser *p, struct sim_word *word,
                    const char *what);

/* Read a number out of a word. */
bool sim_parse_number(struct sim_parser *p, struct sim_word word,
                      const char *what, uint64_t min, uint64_t max,
                      uint64_t *value);

/* Find a stack by its name. */
bool sim_parse_stack_name(struct sim_parser *p, struct sim_word word,
                          uint32_t *stack);

/* Find a name in an index. out: *number, if true */
bool sim_parse_find(const struct sim_index *index, char *const *names,
                    struct sim_word word, uint32_t *number);

extern const char *const sim_directive_words[SIM_DIRECTIVE_COUNT];

/* An event, whose first word is cut off already. */
bool sim_parse_event(struct sim_parser *p, struct sim_word word);

/* Read one directive or expectation; its keyword is cut off already. */
bool sim_parse_directive(struct sim_parser *p, enum sim_directive directive);
bool sim_parse_expect(struct sim_parser *p);

/* After all directives: may the world take the memory that it needs? */
bool sim_parse_check_memory(struct sim_parser *p, size_t file_bytes);

/* Is `word` one that has a meaning after `expect`? */
bool sim_expect_word(struct sim_word word);

#endif
