/* mutate.c -- see mutate.h. */
#include "props/fuzz/mutate.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/recording/recording.h"
#include "common/rng.h"
#include "record/preload/spool.h"

uint64_t
mutate_below(uint64_t *seed, uint64_t limit)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    return sim_mix64(*seed) % limit;
}

/* Put `count` bytes in place of `old_count` at `at`. */
static bool
replace(struct mutate_file *file, size_t at, size_t old_count,
        const void *bytes, size_t count)
{
    if (file->count - old_count > MUTATE_ROOM - count)
        return false;
    memmove(file->bytes + at + count, file->bytes + at + old_count,
            file->count - at - old_count);
    memcpy(file->bytes + at, bytes, count);
    file->count += count - old_count;
    return true;
}

/* ---- any change ---- */

static const char *const words[] = {
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "t1023:",
    "@+8796093022207",
    "p7:",
    "room=0",
    "0xffffffffffffffff",
    "main>main@0x1>f",
    "offset=-4611686018427387904",
    "drift=1000000000ppm",
    "stack",
    "expect",
    "property",
    "ok",
    "\xc3\xa9",
    "#",
    "=",
    "\"",
    ",",
};

/* The word around `at`: from a blank or line end to the next. */
static void
find_word(const struct mutate_file *file, size_t at, size_t *from, size_t *to)
{
    for (*from = at; *from > 0 && file->bytes[*from - 1] > ' '; --*from)
        continue;
    for (*to = at; *to < file->count && file->bytes[*to] > ' '; ++*to)
        continue;
}

static void
find_line(const struct mutate_file *file, size_t at, size_t *from, size_t *to)
{
    for (*from = at; *from > 0 && file->bytes[*from - 1] != '\n'; --*from)
        continue;
    for (*to = at; *to < file->count && file->bytes[*to] != '\n'; ++*to)
        continue;
    *to += *to < file->count;
}

static void
change_text(struct mutate_file *file, uint64_t *seed)
{
    const size_t at = mutate_below(seed, file->count);
    const char *word = words[mutate_below(seed, sizeof words / sizeof *words)];
    char line[512];
    size_t elsewhere;
    size_t line_end;
    size_t from;
    size_t to;

    switch (mutate_below(seed, 4)) {
    case 0: /* replace a word */
        find_word(file, at, &from, &to);
        (void)replace(file, from, to - from, word, strlen(word));
        break;
    case 1: /* delete a line */
        find_line(file, at, &from, &to);
        (void)replace(file, from, to - from, "", 0);
        break;
    default: /* copy a line elsewhere */
        find_line(file, at, &from, &to);
        if (to - from > sizeof line)
            break;
        memcpy(line, file->bytes + from, to - from);
        find_line(file, mutate_below(seed, file->count), &elsewhere, &line_end);
        (void)replace(file, elsewhere, 0, line, to - from);
        break;
    }
}

static void
change_bytes(struct mutate_file *file, const struct mutate_file *other,
             uint64_t *seed)
{
    static const uint8_t extremes[][10] = {
        {0},
        {0xff},
        {0x7f},
        {0x80, 0x80, 0x80, 0x80, 1},
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
        {0xff, 0xff, 0xff, 0xff, 0x0f},
        {0xff, 0xff, 0xff, 0xff},
    };
    static const size_t lengths[] = {1, 1, 1, 5, 10, 5, 4};
    const size_t at = mutate_below(seed, file->count);
    const size_t left = file->count - at;
    const size_t few =
        left == 0 ? 0 : 1 + mutate_below(seed, left < 32 ? left : 32);
    const size_t which = mutate_below(seed, sizeof lengths / sizeof *lengths);
    uint8_t bytes[32];
    size_t from;

    switch (mutate_below(seed, 7)) {
    case 0:
    case 1:
        file->bytes[at] ^= (uint8_t)(1u << mutate_below(seed, 8));
        break;
    case 2: /* an extreme number, in place of what is there or before it */
        (void)replace(
            file, at,
            lengths[which] <= left ? mutate_below(seed, 2) * lengths[which] : 0,
            extremes[which], lengths[which]);
        break;
    case 3:
        (void)replace(file, at, few, "", 0);
        break;
    case 4: /* duplicate a piece */
        memcpy(bytes, file->bytes + at, few);
        (void)replace(file, at, 0, bytes, few);
        break;
    case 5:
        file->count = at;
        break;
    default: /* a piece of another file */
        from = mutate_below(seed, other->count);
        (void)replace(file, at, few, other->bytes + from,
                      other->count - from < few ? other->count - from : few);
        break;
    }
}

void
mutate_any(struct mutate_file *file, const struct mutate_file *other, bool text,
           uint64_t *seed)
{
    for (uint64_t i = mutate_below(seed, 5); i > 0 && file->count > 0; i--) {
        if (text && mutate_below(seed, 4) != 0)
            change_text(file, seed);
        else
            change_bytes(file, other, seed);
    }
}

/* ---- damage ---- */

/* Is there a word of digits only, outside comments and the first line? */
static bool
find_number(const struct mutate_file *file, uint64_t *seed, size_t *from,
            size_t *to)
{
    for (int tries = 0; tries < 32; tries++) {
        const size_t at = mutate_below(seed, file->count);
        size_t line;
        size_t line_end;
        size_t i;

        find_line(file, at, &line, &line_end);
        find_word(file, at, from, to);
        for (i = *from; i < *to; i++) {
            if (file->bytes[i] < '0' || file->bytes[i] > '9')
                break;
        }
        if (*from < *to && i == *to &&
            memchr(file->bytes + line, '#', *from - line) == NULL)
            return true;
    }
    return false;
}

bool
mutate_damage_text(struct mutate_file *file, uint64_t *seed)
{
    static const char *const no_text[] = {"\1",   "\x1b[2J",  "\x7f",
                                          "\xff", "\xc2\x9b", "\xe2\x80\xae"};
    const char *bad = no_text[mutate_below(seed, 6)];
    const size_t at = mutate_below(seed, file->count);
    size_t from;
    size_t to;

    switch (mutate_below(seed, 5)) {
    case 0:
        return replace(file, at, 0, bad, strlen(bad));
    case 1:
        return replace(file, at, 0, "", 1);
    case 2: /* change the first line; every file has at least 10 bytes */
        file->bytes[mutate_below(seed, 10)] ^= 2;
        return true;
    case 3:
        find_line(file, at, &from, &to);
        return replace(file, to, 0, "\nno-such-word 1\n", 16);
    default:
        return find_number(file, seed, &from, &to) &&
               replace(file, from, to - from, "18446744073709551616", 20);
    }
}

bool
mutate_damage_trace(struct mutate_file *file, uint64_t *seed)
{
    switch (mutate_below(seed, 3)) {
    case 0:
        file->bytes[mutate_below(seed, 16)] ^= 1;
        return true;
    case 1: /* the last byte of a number, which ends a record */
        file->count--;
        return true;
    default: /* types of events end below 37 */
        return replace(file, file->count, 0, "\x3f\0\0", 3);
    }
}

/* ---- checksums ---- */

void
mutate_mend_recording(struct mutate_file *file)
{
    uint32_t crc = 0;
    size_t at = 12;

    while (at + 9 < file->count) {
        uint8_t *head = file->bytes + at;
        const size_t length = head[1] | (size_t)head[2] << 8 |
                              (size_t)head[3] << 16 | (size_t)head[4] << 24;

        if (length > file->count - at - 9)
            return;
        crc = sim_recording_crc(crc, head, 5);
        crc = sim_recording_crc(crc, head + 9, length);
        for (int i = 0; i < 4; i++)
            head[5 + i] = (uint8_t)(crc >> 8 * i);
        at += 9 + length;
    }
}

void
mutate_mend_result(struct mutate_file *file)
{
    char line[64];
    size_t end = file->count;

    if (end > 0 && file->bytes[end - 1] == '\n')
        end--;
    while (end > 0 && file->bytes[end - 1] != '\n')
        end--;
    file->count = end;
    snprintf(line, sizeof line, "end %016" PRIx64 "\n",
             (uint64_t)XXH3_64bits(file->bytes, end));
    (void)replace(file, end, 0, line, strlen(line));
}

/* ---- Spools ---- */

void
mutate_make_spool(struct mutate_file *file)
{
    static const uint64_t records[][9] = {
        {EMBED_THREAD | 2u << 16, 77},
        {EMBED_MODULE | 8u << 16, 0x5000, 0x5000, 0x6000, 0x200,
         4 | UINT64_C(8) << 32, 0x6f6e2f0004030201, 0x656c69662f},
        {EMBED_STACK | 4u << 16 | UINT64_C(2) << 32, 1, 0x5010, 0x5020},
        {EMBED_ALLOC | 5u << 16, 10, 0xa000, 64, EMBED_SPOOL_FIRST + 80},
        {EMBED_FREE | 3u << 16, 11, 0xa000},
        {EMBED_WAIT | 5u << 16, 12, 0xb000, 11, EMBED_SPOOL_FIRST + 80},
        {EMBED_RELEASE | 4u << 16, 13, 0xb000, EMBED_SPOOL_FIRST + 80},
        {EMBED_SHORT_ALLOC | UINT64_C(0xc00) << 20,
         64 | 1u << 14 | (uint64_t)(EMBED_SPOOL_FIRST / 8 + 10) << 38},
        {EMBED_SHORT_FREE | UINT64_C(0xc00) << 20},
    };
    struct embed_spool_header *header = (void *)file->bytes;

    header->magic = EMBED_SPOOL_MAGIC;
    header->version = EMBED_SPOOL_VERSION;
    header->depth_max = 8;
    header->command_bytes = 4;
    memcpy(header->command, "run", 4);
    file->count = EMBED_SPOOL_FIRST;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        const uint32_t kind = records[i][0] & 0xff;
        const size_t bytes = kind == EMBED_SHORT_ALLOC ? 16
                             : kind == EMBED_SHORT_FREE
                                 ? 8
                                 : 8 * (records[i][0] >> 16 & 0xffff);

        memcpy(file->bytes + file->count, records[i], bytes);
        file->count += bytes;
    }
    atomic_store(&header->used_bytes, file->count);
}
