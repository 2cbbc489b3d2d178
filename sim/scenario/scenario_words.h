/*
 * scenario_words.h -- lines, words and numbers of a text file, and error
 * messages about them. Private to the scenario files.
 */
#ifndef SIM_SCENARIO_SCENARIO_WORDS_H
#define SIM_SCENARIO_SCENARIO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run of bytes in the caller's memory; bytes 0: nothing. */
struct sim_word {
    const char *text;
    size_t bytes;
};

enum { SIM_QUOTE_BYTES = 96 };

/* Cut the next word (no blanks or tabs in it) off the front of `rest`. */
struct sim_word sim_word_next(struct sim_word *rest);

/* Drop blanks and tabs at both ends. */
struct sim_word sim_word_trim(struct sim_word word);

/* Cut `rest` at the first `byte`; all of it if there is none. */
struct sim_word sim_word_until(struct sim_word *rest, char byte);

bool sim_word_is(struct sim_word word, const char *text);
bool sim_word_begins(struct sim_word word, const char *text);

/* returns: the word without its first `bytes` bytes */
struct sim_word sim_word_skip(struct sim_word word, size_t bytes);

/*
 * Read a whole word as a decimal number.
 *
 * out:     *value, if true
 * returns: false: not digits only, or above `max`
 */
bool sim_word_u64(struct sim_word word, uint64_t max, uint64_t *value);

/* The same with an optional sign, between -max - 1 and max. */
bool sim_word_i64(struct sim_word word, int64_t max, int64_t *value);

/* The same for `0x` and 1 to 16 hexadecimal digits. */
bool sim_word_hex(struct sim_word word, uint64_t *value);

/* Is it a name: a letter or `_`, then letters, digits, `_`, `-`, `.`? */
bool sim_word_is_name(struct sim_word word, size_t max_bytes);

/* Is it printable text and tabs? out: *bytes, of what is, from its front */
bool sim_word_is_text(struct sim_word word, size_t *bytes);

/* Write the word in quotes, cut if long, escaped as escape.h does. */
const char *sim_word_quote(struct sim_word word, char text[SIM_QUOTE_BYTES]);

#endif
