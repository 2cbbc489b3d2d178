/* trace_script.c -- see trace_script.h. */
#include "common/test/trace_script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

#define FILL 7

static const struct word {
    const char *name;
    uint8_t byte0;
    uint8_t numbers;
} words[] = {
    {"procs", 0x84, 4},    {"procstart", 0x45, 3},  {"procstop", 0x06, 2},
    {"gcstart", 0x47, 3},  {"gcdone", 0x08, 2},     {"scanstart", 0x09, 2},
    {"scandone", 0x0a, 2}, {"sweepstart", 0x4b, 3}, {"sweepdone", 0x0c, 2},
    {"create", 0xcd, 5},   {"start", 0x4e, 3},      {"end", 0x0f, 2},
    {"stop", 0x50, 3},     {"sched", 0x51, 3},      {"preempt", 0x52, 3},
    {"sleep", 0x53, 3},    {"block", 0x54, 3},      {"unblock", 0x95, 4},
    {"send", 0x56, 3},     {"recv", 0x57, 3},       {"select", 0x58, 3},
    {"sync", 0x59, 3},     {"cond", 0x5a, 3},       {"net", 0x5b, 3},
    {"syscall", 0x5c, 3},  {"sysexit", 0xdd, 5},    {"sysblock", 0x1e, 2},
    {"waiting", 0x5f, 3},  {"insyscall", 0x60, 3},  {"heap", 0x61, 3},
    {"nextgc", 0x62, 3},   {"futile", 0x24, 2},
};

struct token {
    char name[16];
    uint64_t arg;
    bool has_seq;
    uint64_t seq;
    uint64_t later_ticks;
};

static void
put_byte(struct props_trace_script *out, unsigned byte)
{
    assert_true(out->bytes_count < PROPS_TRACE_SCRIPT_BYTES_MAX);
    out->bytes[out->bytes_count++] = (uint8_t)byte;
}

void
props_trace_put(struct props_trace_script *out, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        put_byte(out, (unsigned)(number & 0x7f) | 0x80);
    put_byte(out, (unsigned)number);
}

/* Read `name[:arg][@seq][+ticks]`. returns: what follows it */
static const char *
token_read(const char *at, struct token *token)
{
    const size_t length = strcspn(at, ":@+ ");

    *token = (struct token){0};
    assert_true(length < sizeof token->name);
    memcpy(token->name, at, length);
    at += length;
    while (*at != '\0' && *at != ' ') {
        const char mark = *at;
        char *end;
        const uint64_t number = strtoull(at + 1, &end, 0);
        assert_true(end > at + 1);
        if (mark == ':')
            token->arg = number;
        else if (mark == '+')
            token->later_ticks = number;
        else
            token->seq = number;
        token->has_seq |= mark == '@';
        at = end;
    }
    return at;
}

static void
put_batch(struct props_trace_script *out, const char *id)
{
    put_byte(out, 0x41);
    props_trace_put(out, (uint64_t)strtoll(id, NULL, 0));
    props_trace_put(out, 0);
    props_trace_put(out, out->ticks);
    out->base_seq = 0;
    out->base_ticks = out->ticks;
}

static void
put_event(struct props_trace_script *out, const struct word *word,
          const struct token *token)
{
    const uint64_t seq = token->has_seq ? token->seq : out->seq + 1;
    const bool is_exit = word->byte0 == 0xdd;
    struct props_trace_script numbers = {0};

    out->seq++;
    out->ticks += token->later_ticks;
    props_trace_put(&numbers, (is_exit ? 0 : seq) - out->base_seq);
    props_trace_put(&numbers, out->ticks - out->base_ticks);
    if (word->numbers > 2)
        props_trace_put(&numbers, token->arg);
    for (unsigned i = 3; i < word->numbers; i++)
        props_trace_put(&numbers, !is_exit ? FILL : i == 3 ? seq : out->ticks);

    put_byte(out, word->byte0);
    if (word->byte0 >> 6 == 3)
        props_trace_put(out, numbers.bytes_count);
    for (size_t i = 0; i < numbers.bytes_count; i++)
        put_byte(out, numbers.bytes[i]);
    out->base_seq = is_exit ? 0 : seq;
    out->base_ticks = out->ticks;
}

/* Read a token for a record that is not an event. returns: is it one? */
static bool
put_other(struct props_trace_script *out, const struct token *token,
          bool *has_frequency)
{
    if (token->name[0] == 'p' && strspn(token->name + 1, "-0123456789") > 0) {
        put_batch(out, token->name + 1);
    } else if (strcmp(token->name, "raw") == 0) {
        put_byte(out, (unsigned)token->arg & 0xff);
    } else if (strcmp(token->name, "freq") == 0 ||
               strcmp(token->name, "timer") == 0) {
        const bool is_timer = token->name[0] == 't';
        put_byte(out, is_timer ? 0x23 : 0x02);
        props_trace_put(out, token->arg);
        put_byte(out, 0);
        *has_frequency |= !is_timer;
    } else {
        return false;
    }
    return true;
}

static const struct word *
word_find(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    }
    fail_msg("no such word: %s", name);
    return NULL;
}

void
props_trace_script(struct props_trace_script *out, const char *text)
{
    bool has_frequency = false;
    struct token token;

    *out = (struct props_trace_script){.ticks = 1000, .bytes_count = 16};
    memcpy(out->bytes, "go 1.5 trace\0\0\0\0", 16);
    for (const char *at = text + strspn(text, " "); *at != '\0';
         at += strspn(at, " ")) {
        at = token_read(at, &token);
        if (!put_other(out, &token, &has_frequency))
            put_event(out, word_find(token.name), &token);
    }
    if (!has_frequency) {
        token = (struct token){.name = "freq", .arg = 1000000};
        (void)put_other(out, &token, &has_frequency);
    }
}

uint8_t *
props_trace_load(const char *path, size_t *bytes_count)
{
    FILE *from = fopen(path, "rb");

    if (from == NULL)
        fail_msg("%s cannot be opened", path);
    assert_int_equal(fseek(from, 0, SEEK_END), 0);

    const long size = ftell(from);
    assert_true(size >= 0);
    rewind(from);

    uint8_t *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    *bytes_count = fread(bytes, 1, (size_t)size, from);
    assert_int_equal(*bytes_count, size);
    (void)fclose(from);
    return bytes;
}
