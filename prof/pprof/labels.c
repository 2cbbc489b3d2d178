/*
 * labels.c -- a label set as text, produced a piece at a time. No whole text is
 * ever built, so its length is not limited by memory.
 *
 * A reader yields the pairs, sorted by their quoted texts, and then the closing
 * brace. Sets are compared byte by byte, brace included. Since '}' is greater
 * than ',', a set comes after a longer one that begins with the same pairs.
 *
 * ASCII and malformed UTF-8 are quoted as in Go. For other characters Go has
 * tables of those that are printable; here all are printable except control
 * characters, blanks, direction marks, private use and non-characters.
 */
#include "prof/pprof/labels.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/core/poison.h"

enum stage { QUOTE_OPENS, QUOTE_GOES_ON, READ_ALL };

struct reader {
    const struct prof_label *labels;
    uint32_t order[PROF_LABELS_MAX];
    uint32_t count;
    uint32_t label; /* index in `order` */
    bool in_value;
    enum stage stage;
    size_t at; /* in the key or value */
    char piece[16];
    size_t piece_bytes;
    size_t piece_at;
};

/* ---- quoting ---- */

size_t
prof_utf8(const unsigned char *s, size_t left, uint32_t *character)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t bytes = s[0] < 0x80   ? 1
                         : s[0] < 0xc0 ? 0
                         : s[0] < 0xe0 ? 2
                         : s[0] < 0xf0 ? 3
                         : s[0] < 0xf8 ? 4
                                       : 0;
    uint32_t value;

    if (bytes > left)
        return 0;
    value = bytes == 1 ? s[0] : s[0] & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (s[i] & 0x3fU);
    }
    if (value < least[bytes] || value > 0x10ffff ||
        (value >= 0xd800 && value < 0xe000))
        return 0;
    *character = value;
    return bytes;
}

static bool
is_printable(uint32_t c)
{
    static const struct {
        uint32_t first;
        uint32_t last;
    } silent[] = {
        {0x00, 0x1f},     {0x7f, 0xa0},       {0xad, 0xad},
        {0x1680, 0x1680}, {0x180e, 0x180e},   {0x2000, 0x200f},
        {0x2028, 0x202f}, {0x205f, 0x206f},   {0x3000, 0x3000},
        {0xe000, 0xf8ff}, {0xfeff, 0xfeff},   {0xfff0, 0xfffb},
        {0xfffe, 0xffff}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
    };

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        if (c >= silent[i].first && c <= silent[i].last)
            return false;
    }
    return true;
}

/* The letter of a character's backslash escape; 0 if it has none. */
static char
letter_of(uint32_t c)
{
    static const struct {
        char character;
        char letter;
    } letters[] = {
        {'\a', 'a'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'},  {'\r', 'r'},
        {'\t', 't'}, {'\v', 'v'}, {'"', '"'},  {'\\', '\\'},
    };

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (c == (uint32_t)letters[i].character)
            return letters[i].letter;
    }
    return '\0';
}

static size_t
put_escape(char *to, char letter, uint32_t value, int digits)
{
    to[0] = '\\';
    to[1] = letter;
    for (int i = 0; i < digits; i++)
        to[2 + i] = "0123456789abcdef"[value >> (4 * (digits - 1 - i)) & 15];
    return 2 + (size_t)digits;
}

/* Quote the character at `s`. out: piece. returns: bytes taken from `s`
 */
static size_t
quote(struct reader *reader, const unsigned char *s, size_t left)
{
    char *const to = reader->piece;
    uint32_t c = 0;
    const size_t bytes = prof_utf8(s, left, &c);
    char letter;

    if (bytes == 0) {
        reader->piece_bytes = put_escape(to, 'x', s[0], 2);
        return 1;
    }
    letter = letter_of(c);
    if (letter != '\0') {
        reader->piece_bytes = put_escape(to, letter, c, 0);
    } else if (is_printable(c)) {
        memcpy(to, s, bytes);
        reader->piece_bytes = bytes;
    } else if (c < 0x80) {
        reader->piece_bytes = put_escape(to, 'x', c, 2);
    } else if (c < 0x10000) {
        reader->piece_bytes = put_escape(to, 'u', c, 4);
    } else {
        reader->piece_bytes = put_escape(to, 'U', c, 8);
    }
    return bytes;
}

/* ---- reading ---- */

static void
set_piece(struct reader *reader, const char *text, size_t bytes)
{
    memcpy(reader->piece, text, bytes);
    reader->piece_bytes = bytes;
}

static void
close_quote(struct reader *reader)
{
    reader->stage = QUOTE_OPENS;
    reader->at = 0;
    if (!reader->in_value) {
        set_piece(reader, "\":", 2);
    } else if (++reader->label < reader->count) {
        set_piece(reader, "\", ", 3);
    } else {
        set_piece(reader, "\"}", 2);
        reader->stage = READ_ALL;
    }
    reader->in_value = !reader->in_value;
}

/* Make the next piece. returns: false if all is read */
static bool
next_piece(struct reader *reader)
{
    const struct prof_label *label;
    const char *text;
    size_t bytes;

    reader->piece_at = 0;
    switch (reader->stage) {
    case QUOTE_OPENS:
        set_piece(reader, "\"", 1);
        reader->stage = QUOTE_GOES_ON;
        return true;
    case QUOTE_GOES_ON:
        label = &reader->labels[reader->order[reader->label]];
        text = reader->in_value ? label->value : label->key;
        bytes = prof_text_bytes(text);
        if (reader->at < bytes) {
            reader->at +=
                quote(reader, (const unsigned char *)text + reader->at,
                      bytes - reader->at);
            return true;
        }
        close_quote(reader);
        return true;
    case READ_ALL:
        break;
    }
    return false;
}

/* returns: the next byte of the text, -1 after the last */
static int
next_byte(struct reader *reader)
{
    if (reader->piece_at == reader->piece_bytes && !next_piece(reader))
        return -1;
    return (unsigned char)reader->piece[reader->piece_at++];
}

static int
compare_readers(struct reader *a, struct reader *b)
{
    int x;
    int y;

    do {
        x = next_byte(a);
        y = next_byte(b);
    } while (x == y && x >= 0);
    return x - y;
}

static int
compare_pairs(const struct prof_label *a, const struct prof_label *b)
{
    struct reader x = {.labels = a, .count = 1};
    struct reader y = {.labels = b, .count = 1};

    return compare_readers(&x, &y);
}

/* Begin to read a non-empty set; sort its pairs by their texts. */
static void
read_set(struct reader *reader, const struct prof_label *labels, uint32_t count)
{
    PROF_ASSERT(count >= 1 && count <= PROF_LABELS_MAX);
    *reader = (struct reader){.labels = labels, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        while (at > 0 &&
               compare_pairs(&labels[i], &labels[reader->order[at - 1]]) < 0) {
            reader->order[at] = reader->order[at - 1];
            at--;
        }
        reader->order[at] = i;
    }
}

void
prof_labels_put(struct out *out, const struct prof_label *labels,
                uint32_t count)
{
    struct reader reader;

    read_set(&reader, labels, count);
    prof_out_bytes(out, "{", 1);
    while (next_piece(&reader))
        prof_out_bytes(out, reader.piece, reader.piece_bytes);
}

int
prof_labels_compare(const struct prof_label *a, uint32_t a_count,
                    const struct prof_label *b, uint32_t b_count)
{
    struct reader x;
    struct reader y;

    if (a_count == 0 || b_count == 0)
        return (a_count != 0) - (b_count != 0);
    if (a_count == b_count && a == b)
        return 0;
    read_set(&x, a, a_count);
    read_set(&y, b, b_count);
    return compare_readers(&x, &y);
}
