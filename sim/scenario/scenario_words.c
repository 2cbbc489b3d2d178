/* scenario_words.c -- words of a line; see scenario_words.h. */
#include "sim/scenario/scenario_words.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"

enum { QUOTED_BYTES = 40 };

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool
is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool
is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

struct sim_word
sim_word_skip(struct sim_word word, size_t bytes)
{
    return (struct sim_word){word.text + bytes, word.bytes - bytes};
}

struct sim_word
sim_word_trim(struct sim_word word)
{
    while (word.bytes > 0 && is_blank(word.text[0]))
        word = sim_word_skip(word, 1);
    while (word.bytes > 0 && is_blank(word.text[word.bytes - 1]))
        word.bytes--;
    return word;
}

struct sim_word
sim_word_next(struct sim_word *rest)
{
    struct sim_word word = sim_word_trim(*rest);
    size_t bytes = 0;

    while (bytes < word.bytes && !is_blank(word.text[bytes]))
        bytes++;
    *rest = sim_word_skip(word, bytes);
    word.bytes = bytes;
    return word;
}

struct sim_word
sim_word_until(struct sim_word *rest, char byte)
{
    const char *end =
        rest->bytes > 0 ? memchr(rest->text, byte, rest->bytes) : NULL;
    struct sim_word word = *rest;

    if (end == NULL) {
        *rest = sim_word_skip(word, word.bytes);
        return word;
    }
    word.bytes = (size_t)(end - word.text);
    *rest = sim_word_skip(*rest, word.bytes + 1);
    return word;
}

bool
sim_word_is(struct sim_word word, const char *text)
{
    return word.bytes == strlen(text) &&
           memcmp(word.text, text, word.bytes) == 0;
}

bool
sim_word_begins(struct sim_word word, const char *text)
{
    const size_t bytes = strlen(text);

    return word.bytes >= bytes && memcmp(word.text, text, bytes) == 0;
}

bool
sim_word_u64(struct sim_word word, uint64_t max, uint64_t *value)
{
    uint64_t number = 0;

    if (word.bytes == 0)
        return false;
    for (size_t i = 0; i < word.bytes; i++) {
        const uint64_t digit = (uint64_t)(uint8_t)word.text[i] - '0';

        if (!is_digit(word.text[i]) || number > max / 10 ||
            digit > max - number * 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

bool
sim_word_i64(struct sim_word word, int64_t max, int64_t *value)
{
    const bool minus = sim_word_begins(word, "-");
    uint64_t number;

    if (minus || sim_word_begins(word, "+"))
        word = sim_word_skip(word, 1);
    if (!sim_word_u64(word, (uint64_t)max + minus, &number))
        return false;
    if (!minus)
        *value = (int64_t)number;
    else /* INT64_MAX + 1 does not fit */
        *value = number == 0 ? 0 : -(int64_t)(number - 1) - 1;
    return true;
}

static int
hex_digit(char byte)
{
    if (is_digit(byte))
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

bool
sim_word_hex(struct sim_word word, uint64_t *value)
{
    uint64_t number = 0;

    if (!sim_word_begins(word, "0x") || word.bytes < 3 || word.bytes > 18)
        return false;
    for (size_t i = 2; i < word.bytes; i++) {
        const int digit = hex_digit(word.text[i]);

        if (digit < 0)
            return false;
        number = number << 4 | (uint64_t)digit;
    }
    *value = number;
    return true;
}

bool
sim_word_is_name(struct sim_word word, size_t max_bytes)
{
    if (word.bytes == 0 || word.bytes > max_bytes)
        return false;
    if (!is_letter(word.text[0]) && word.text[0] != '_')
        return false;
    for (size_t i = 1; i < word.bytes; i++) {
        const char byte = word.text[i];

        if (!is_letter(byte) && !is_digit(byte) && byte != '_' && byte != '-' &&
            byte != '.')
            return false;
    }
    return true;
}

const char *
sim_word_quote(struct sim_word word, char text[SIM_QUOTE_BYTES])
{
    size_t used = 0;
    size_t i = 0;

    text[used++] = '\'';
    while (i < word.bytes && used < QUOTED_BYTES) {
        const size_t bytes =
            sim_escape_printable(word.text + i, word.bytes - i);

        memcpy(text + used, word.text + i, bytes);
        used += bytes;
        i += bytes;
        if (bytes == 0)
            used += (size_t)snprintf(text + used, SIM_QUOTE_BYTES - used,
                                     "\\x%02x", (uint8_t)word.text[i++]);
    }
    (void)snprintf(text + used, SIM_QUOTE_BYTES - used,
                   i < word.bytes ? "...'" : "'");
    return text;
}

bool
sim_word_is_text(struct sim_word word, size_t *bytes)
{
    size_t at = 0;

    while (at < word.bytes) {
        const size_t length =
            word.text[at] == '\t'
                ? 1
                : sim_escape_printable(word.text + at, word.bytes - at);

        if (length == 0)
            break;
        at += length;
    }
    *bytes = at;
    return at == word.bytes;
}
