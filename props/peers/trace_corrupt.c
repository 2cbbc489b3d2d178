/*
 * trace_corrupt.c -- many wrong and right traces for the comparison with Go's
 * reader (trace_reader.sh).
 *
 * usage: trace_corrupt FOLDER COUNT SEED RECORDING
 *
 * The traces are, in turn: a recording with bytes changed at random; one with
 * single numbers changed, which keeps the format valid; one with records
 * deleted, repeated or exchanged; a list of events that grows word by word and
 * ends at the first event that breaks a rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/trace/trace_reader.h"
#include "common/test/trace_script.h"

#define TEXT_BYTES_MAX 1024
#define RECORDS_MAX    4096

static uint64_t random_state;

static uint64_t
draw(uint64_t bound)
{
    uint64_t mixed = random_state += 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return (mixed ^ mixed >> 31) % bound;
}

struct buffer {
    uint8_t *bytes;
    size_t count;
};

static void
change_bytes(struct buffer *file)
{
    for (uint64_t left = 1 + draw(3); left > 0; left--) {
        const size_t at = draw(file->count);
        file->bytes[at] = draw(2) == 0
                              ? (uint8_t)draw(256)
                              : file->bytes[at] ^ (uint8_t)(1u << draw(8));
    }
}

/* Find the offsets of all records, and the end. returns: how many records */
static size_t
find_records(const struct buffer *file, size_t *offsets)
{
    struct model_trace_wire wire;
    struct model_trace_record record;
    size_t count = 0;

    assert_true(model_trace_wire_open(&wire, file->bytes, file->count));
    while (count < RECORDS_MAX &&
           model_trace_wire_next(&wire, &record) == MODEL_TRACE_STEP_RECORD)
        offsets[count++] = (size_t)record.offset_bytes;
    offsets[count] = file->count;
    return count;
}

/* Change numbers of one byte to other numbers of one byte. */
static void
change_numbers(struct buffer *file)
{
    static size_t offsets[RECORDS_MAX + 1];
    const size_t count = find_records(file, offsets);

    for (uint64_t left = 1 + draw(2); left > 0; left--) {
        const size_t record = draw(count);
        const size_t start = offsets[record];
        const size_t length = offsets[record + 1] - start;
        const unsigned skip = file->bytes[start] >> 6 == 3 ? 2 : 1;
        const size_t at = start + skip + draw(length - skip);
        if (file->bytes[at] < 0x80 && file->bytes[at - 1] < 0x80)
            file->bytes[at] = (uint8_t)draw(draw(2) == 0 ? 8 : 128);
    }
}

static void
append(struct buffer *to, const uint8_t *bytes, size_t count)
{
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

/* Delete one record, repeat it, or exchange it with the next. */
static void
change_records(struct buffer *file)
{
    static size_t offsets[RECORDS_MAX + 1];
    const size_t count = find_records(file, offsets);
    const size_t at = draw(count - 1);
    const uint8_t *first = file->bytes + offsets[at];
    const size_t first_count = offsets[at + 1] - offsets[at];
    const uint8_t *second = file->bytes + offsets[at + 1];
    const size_t second_count = offsets[at + 2] - offsets[at + 1];
    struct buffer out = {malloc(file->count * 2), 0};

    assert_non_null(out.bytes);
    append(&out, file->bytes, offsets[at]);
    switch (draw(3)) {
    case 0:
        append(&out, second, second_count);
        break;
    case 1:
        append(&out, first, first_count);
        append(&out, first, first_count);
        append(&out, second, second_count);
        break;
    default:
        append(&out, second, second_count);
        append(&out, first, first_count);
        break;
    }
    append(&out, file->bytes + offsets[at + 2], file->count - offsets[at + 2]);
    free(file->bytes);
    *file = out;
}

static void
draw_word(char *word, size_t room)
{
    static const char *const plain[] = {
        "procstop",   "gcstart",   "gcdone", "scanstart", "scandone",
        "sweepstart", "sweepdone", "end",    "stop",      "sched",
        "preempt",    "sleep",     "block",  "send",      "recv",
        "select",     "sync",      "cond",   "net",       "syscall",
        "sysblock",   "futile",    "futile", "recv",
    };
    static const char *const with_g[] = {
        "create", "start",   "unblock",   "sysexit", "waiting",
        "start",  "unblock", "insyscall", "create",  "start",
    };
    const uint64_t kind = draw(10);

    if (kind < 4)
        (void)snprintf(word, room, " %s", plain[draw(24)]);
    else if (kind < 8)
        (void)snprintf(word, room, " %s:%u", with_g[draw(10)],
                       (unsigned)draw(5));
    else if (kind == 8)
        (void)snprintf(word, room, " p%d", (int)draw(4) - 1);
    else
        (void)snprintf(word, room, " %s:%u", draw(2) ? "procstart" : "heap",
                       (unsigned)draw(4));
    if (kind != 8 && draw(30) == 0)
        (void)snprintf(word + strlen(word), room - strlen(word), "@%u",
                       (unsigned)draw(30) + 1);
    if (kind != 8 && draw(4) == 0)
        (void)snprintf(word + strlen(word), room - strlen(word), "+%u",
                       (unsigned)draw(50));
}

/* Choose a word that keeps the events possible; now and then one that does
 * not. */
static void
grow_events(struct buffer *file)
{
    static struct props_trace_script script;
    char text[TEXT_BYTES_MAX] = "p0 heap:1";
    struct model_trace trace;
    size_t used = strlen(text);

    if (draw(4) == 0)
        used += (size_t)snprintf(text + used, sizeof text - used, " timer:%u",
                                 (unsigned)draw(5));
    model_trace_init(&trace);
    for (uint64_t tries = 20 + draw(200); tries > 0 && used < 800; tries--) {
        char word[48];
        draw_word(word, sizeof word);
        (void)snprintf(text + used, sizeof text - used, "%s", word);
        props_trace_script(&script, text);
        const bool is_good =
            model_trace_read(&trace, script.bytes, script.bytes_count) ==
            MODEL_TRACE_OK;
        if (!is_good && draw(40) == 0)
            break;
        if (is_good)
            used += strlen(word);
        text[used] = '\0';
    }
    model_trace_release(&trace);
    props_trace_script(&script, text);
    memcpy(file->bytes, script.bytes, script.bytes_count);
    file->count = script.bytes_count;
}

int
main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: trace_corrupt FOLDER COUNT SEED RECORDING\n", stderr);
        return 1;
    }
    random_state = strtoull(argv[3], NULL, 0);
    for (unsigned i = 0; i < strtoul(argv[2], NULL, 0); i++) {
        struct buffer file = {0};
        char path[512];
        file.bytes = props_trace_load(argv[4], &file.count);
        if (i % 4 == 0)
            change_bytes(&file);
        else if (i % 4 == 1)
            change_numbers(&file);
        else if (i % 4 == 2)
            change_records(&file);
        else
            grow_events(&file);
        (void)snprintf(path, sizeof path, "%s/%05u.trace", argv[1], i);
        FILE *to = fopen(path, "wb");
        if (to == NULL || fwrite(file.bytes, 1, file.count, to) != file.count ||
            fclose(to) != 0) {
            fprintf(stderr, "trace_corrupt: %s cannot be written\n", path);
            return 1;
        }
        free(file.bytes);
    }
    return 0;
}
