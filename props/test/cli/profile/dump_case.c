/* dump_case.c -- see dump_case.h. */
#include "dump_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.h"
#include "unit_test.h"
#include "varint.h"

enum { LINES_MAX = 64, TABLE_MAX = 64, LINE_MAX_BYTES = 512, STACKS = 6 };

/* ---- Two functions of one name ---- */

static volatile int seen;

static __attribute__((noinline)) void
shared_name(void)
{
    seen += 3;
}

uintptr_t
dump_there(void)
{
    return (uintptr_t)shared_name;
}

/* ---- A profile ---- */

static void
put_varint(struct dump_profile *to, uint64_t value)
{
    assert_true(to->count + 10 < DUMP_BYTES_MAX);
    for (; value > 127; value /= 128)
        to->bytes[to->count++] = (uint8_t)(value % 128 + 128);
    to->bytes[to->count++] = (uint8_t)value;
}

static void
put_number(struct dump_profile *to, uint64_t field, uint64_t value)
{
    put_varint(to, field * 8);
    put_varint(to, value);
}

static void
put_bytes(struct dump_profile *to, uint64_t field, const void *from,
          size_t count)
{
    put_varint(to, field * 8 + 2);
    put_varint(to, count);
    assert_true(to->count + count < DUMP_BYTES_MAX);
    memcpy(&to->bytes[to->count], from, count);
    to->count += count;
}

/* Write the fields of a message. in: numbers, of the fields from 1 on; 0: left
 * out */
static void
put_message(struct dump_profile *to, uint64_t field, const uint64_t *numbers,
            uint64_t count)
{
    static struct dump_profile inner;

    inner.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (numbers[i] != 0)
            put_number(&inner, i + 1, numbers[i]);
    }
    put_bytes(to, field, inner.bytes, inner.count);
}

static const char *const strings[] = {
    "",    "inuse_objects", "count", "inuse_space", "bytes", "known",
    "k.c", "/no/such.so",   "space", "label",       "text",  "known_raw"};

/* Ids have gaps, and are not in order. */
static const uint64_t stacks[STACKS][4] = {{5, 9, 0, 0},     {9, 8, 6, 0},
                                           {70000, 0, 0, 0}, {6, 0, 0, 0},
                                           {8, 8, 70000, 5}, {5, 0, 0, 0}};

static void
put_sample(struct dump_profile *to, const uint64_t *stack,
           const uint64_t *values)
{
    static struct dump_profile sample;
    const uint64_t label[] = {9, 10};

    sample.count = 0;
    for (int i = 0; i < 4 && stack[i] != 0; i++)
        put_number(&sample, 1, stack[i]);
    for (int i = 0; i < 2; i++)
        put_number(&sample, 2, values[i]);
    put_message(&sample, 3, label, 2);
    put_bytes(to, 2, sample.bytes, sample.count);
}

/* Find the mapping of this program's code. */
static void
put_code(struct dump_profile *to)
{
    static struct dump_profile mapping;
    unsigned long long start = 0;
    unsigned long long limit = 0;
    unsigned long long offset = 0;
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%llx-%llx r-xp %llx", &start, &limit, &offset) == 3 &&
            start <= dump_here() && dump_here() < limit)
            break;
    fclose(maps);
    assert_true(start <= dump_there() && dump_there() < limit);
    mapping.count = 0;
    put_number(&mapping, 1, 300);
    put_number(&mapping, 2, start);
    put_number(&mapping, 3, limit);
    if (offset != 0)
        put_number(&mapping, 4, offset);
    put_number(&mapping, 5, sizeof strings / sizeof *strings); /* behind them */
    put_bytes(to, 3, mapping.bytes, mapping.count);
}

static void
put_locations(struct dump_profile *to, uint64_t function, enum dump_names names)
{
    const bool named = names == DUMP_OF_CODE;
    static struct dump_profile one;
    const uint64_t line[] = {function, 77};
    const uint64_t places[][3] = {
        {70000, named ? 300 : 7, named ? dump_here() + 1 : 0x1100},
        {5, named ? 300 : 7, named ? dump_here() : 0x1200},
        {9, named ? 300 : 7, named ? dump_there() : 0x1300},
        {6, 7, 0x1400},
        {8, 7, 0x1500}};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        one.count = 0;
        for (uint64_t k = 0; k < 3; k++)
            put_number(&one, k + 1, places[i][k]);
        if (names >= DUMP_ALL || places[i][0] == 8)
            put_message(&one, 4, line, 2);
        put_bytes(to, 4, one.bytes, one.count);
    }
}

void
dump_make(struct dump_profile *to, uint64_t seed, enum dump_names names)
{
    const bool named = names == DUMP_OF_CODE;
    const uint64_t types[][2] = {{1, 2}, {3, 4}};
    const uint64_t library[] = {7, 0x1000, 0x2000, 0x3000, 7};
    /* It is not the first number that a new one could have. */
    const uint64_t function[] = {seed % 2 == 0 ? 11 : 2, 5, 11, 6};
    char self[4096];

    to->count = 0;
    for (int i = 0; i < 2; i++)
        put_message(to, 1, types[i], 2);
    for (uint64_t i = 0; i < 3 * STACKS; i++) {
        const uint64_t drawn = (i + seed) * UINT64_C(0x9e3779b97f4a7c15);
        const uint64_t values[] = {drawn >> 61,
                                   i % 5 == 0 ? drawn >> 27 : drawn >> 45};

        if (names == DUMP_HEAP)
            put_sample(to,
                       (const uint64_t[]){5 + i % 2, 5 + i / 2 % 2,
                                          8 + i / 4 % 2, 8 + i / 8 % 2},
                       (const uint64_t[]){values[1] + 1, drawn >> 50});
        else
            put_sample(
                to, stacks[drawn >> 40 & 0xffff ? (drawn >> 40) % STACKS : 0],
                values);
    }
    put_message(to, 3, library, 5);
    if (named)
        put_code(to);
    put_locations(to, function[0], names);
    put_message(to, 5, function, 4);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (i == 1 && names == DUMP_HEAP)
            put_bytes(to, 6, "alloc_space", strlen("alloc_space"));
        else
            put_bytes(to, 6, strings[i], strlen(strings[i]));
    if (named) {
        assert_non_null(realpath("/proc/self/exe", self));
        put_bytes(to, 6, self, strlen(self));
    }
    put_number(to, 9, UINT64_C(1700000000000000000) + seed);
    put_number(to, 10, UINT64_C(5000000000) + seed);
    put_message(to, 11, (const uint64_t[]){8, 4}, 2);
    put_number(to, 12, UINT64_C(6000000000));
}

/* ---- Lines ---- */

struct lines {
    char text[LINES_MAX][LINE_MAX_BYTES];
    int64_t sum[LINES_MAX];
    size_t count;
};

static void
add_line(struct lines *lines, const char *text, int64_t value)
{
    size_t i = 0;

    while (i < lines->count && strcmp(lines->text[i], text) != 0)
        i++;
    if (i == lines->count) {
        assert_true(++lines->count <= LINES_MAX);
        snprintf(lines->text[i], LINE_MAX_BYTES, "%s", text);
        lines->sum[i] = 0;
    }
    lines->sum[i] += value;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Print the lines sorted; those that add up to 0 are left out. */
static char *
print_lines(const struct lines *lines)
{
    char *sorted[LINES_MAX];
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    for (size_t i = 0; i < lines->count; i++)
        assert_true(asprintf(&sorted[i], "%s = %" PRId64, lines->text[i],
                             lines->sum[i]) > 0);
    qsort(sorted, lines->count, sizeof *sorted, by_text);
    for (size_t i = 0; i < lines->count; i++) {
        const size_t length = strlen(sorted[i]);

        if (strcmp(&sorted[i][length - 4], " = 0") != 0)
            fprintf(to, "%s\n", sorted[i]);
        free(sorted[i]);
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

static const struct model_pprof_mapping *
mapping_of(const struct model_pprof *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->mappings_count; i++) {
        if (profile->mappings[i].id == id)
            return &profile->mappings[i];
    }
    fail_msg("no mapping %" PRIu64, id);
    return NULL;
}

/* A location without a name is shown as the address to which its call
 * returns. */
static size_t
print_call(char *to, size_t room, const struct model_pprof *profile,
           uint64_t id)
{
    const struct model_pprof_location *at = model_pprof_location(profile, id);
    const struct model_pprof_function *function =
        model_pprof_function(profile, at->function);
    const struct model_pprof_mapping *mapping =
        mapping_of(profile, at->mapping);
    char place[32];

    snprintf(place, sizeof place, "0x%" PRIx64, at->address + 1);
    return (size_t)snprintf(to, room,
                            "; %" PRIx64 " of %" PRIx64 "-%" PRIx64 "+%" PRIx64
                            " %s: %s %s %s %" PRId64,
                            at->address, mapping->start, mapping->limit,
                            mapping->offset, mapping->file,
                            function != NULL ? function->name : place,
                            function != NULL ? function->system_name : place,
                            function != NULL ? function->file : "", at->line);
}

char *
dump_lines_of_pprof(const void *bytes, size_t count)
{
    static struct lines lines;
    struct model_pprof profile;
    char *text;

    lines.count = 0;
    if (!model_pprof_read(&profile, bytes, count))
        fail_msg("%s", profile.reason);
    for (size_t t = 0; t < profile.types_count; t++) {
        for (size_t i = 0; i < profile.samples_count; i++) {
            const struct model_pprof_sample *sample = &profile.samples[i];
            char line[LINE_MAX_BYTES];
            size_t end = (size_t)snprintf(
                line, sizeof line,
                "%s %s by %" PRId64 " %s %s at %" PRId64 " for %" PRId64,
                profile.types[t].type, profile.types[t].unit, profile.period,
                profile.period_type.type, profile.period_type.unit,
                profile.time_ns, profile.duration_ns);

            for (size_t k = 0; k < sample->locations_count; k++)
                end += print_call(&line[end], sizeof line - end, &profile,
                                  sample->locations[k]);
            assert_true(end < sizeof line);
            add_line(&lines, line, sample->values[t]);
        }
    }
    text = print_lines(&lines);
    model_pprof_release(&profile);
    return text;
}

/* ---- OTLP ---- */

struct part {
    const uint8_t *at;
    const uint8_t *end;
};

/* The fields of a message: for each number all such fields, in order. */
struct field {
    uint64_t number;
    uint64_t value;
    struct part inner;
};

static bool
next(struct part *from, struct field *field)
{
    uint64_t tag;

    if (from->at == from->end)
        return false;
    tag = varint_take(&from->at, from->end);
    *field = (struct field){.number = tag / 8};
    if (tag % 8 == 1) {
        assert_true(from->end - from->at >= 8);
        for (int i = 7; i >= 0; i--)
            field->value = field->value << 8 | from->at[i];
        from->at += 8;
        return true;
    }
    field->value = varint_take(&from->at, from->end);
    if (tag % 8 == 0)
        return true;
    assert_int_equal(tag % 8, 2);
    assert_true(field->value <= (uint64_t)(from->end - from->at));
    field->inner = (struct part){from->at, from->at + field->value};
    from->at = field->inner.end;
    return true;
}

/* returns: the last field with this number; 0: there is none */
static struct field
last(struct part from, uint64_t number)
{
    struct field found = {.number = 0};
    struct field field;

    while (next(&from, &field)) {
        if (field.number == number)
            found = field;
    }
    return found;
}

/* The dictionary's tables, by field number. */
static struct {
    struct part entries[TABLE_MAX];
    size_t count;
} tables[8];

static struct part
entry(uint64_t table, uint64_t number)
{
    assert_true(number < tables[table].count);
    return tables[table].entries[number];
}

static void
read_tables(struct part dictionary)
{
    struct field field;

    memset(tables, 0, sizeof tables);
    while (next(&dictionary, &field)) {
        assert_in_range(field.number, 1, 7);
        assert_true(tables[field.number].count < TABLE_MAX);
        tables[field.number].entries[tables[field.number].count++] =
            field.inner;
    }
    for (uint64_t i = 1; i < 8; i++) /* the first entry is empty */
        assert_ptr_equal(entry(i, 0).at, entry(i, 0).end);
}

static int
print_string(char *to, size_t room, uint64_t number)
{
    const struct part text = entry(5, number);

    return snprintf(to, room, "%.*s", (int)(text.end - text.at),
                    (const char *)text.at);
}

static size_t
print_otlp_call(char *to, size_t room, uint64_t number)
{
    const struct part location = entry(2, number);
    const struct part mapping = entry(1, last(location, 1).value);
    const struct part line = last(location, 3).inner;
    const struct part function = entry(3, last(line, 1).value);
    char file[256];
    char texts[3][256];

    print_string(file, sizeof file, last(mapping, 4).value);
    for (uint64_t i = 0; i < 3; i++)
        print_string(texts[i], sizeof texts[i], last(function, i + 1).value);
    return (size_t)snprintf(
        to, room,
        "; %" PRIx64 " of %" PRIx64 "-%" PRIx64 "+%" PRIx64 " %s: %s "
        "%s %s %" PRId64,
        last(location, 2).value, last(mapping, 1).value, last(mapping, 2).value,
        last(mapping, 3).value, file, texts[0], texts[1], texts[2],
        (int64_t)last(line, 2).value);
}

static void
read_sample(struct lines *lines, const char *head, struct part sample)
{
    struct part stack = last(entry(7, last(sample, 1).value), 1).inner;
    struct part values = last(sample, 4).inner;
    char line[LINE_MAX_BYTES];
    size_t end = (size_t)snprintf(line, sizeof line, "%s", head);
    const size_t before = lines->count;

    while (stack.at != stack.end)
        end += print_otlp_call(&line[end], sizeof line - end,
                               varint_take(&stack.at, stack.end));
    assert_true(end < sizeof line);
    add_line(lines, line, (int64_t)varint_take(&values.at, values.end));
    assert_ptr_equal(values.at, values.end);
    assert_int_equal(lines->count, before + 1); /* one sample a stack */
}

static void
read_profile(struct lines *lines, struct part profile)
{
    const struct part type = last(profile, 1).inner;
    const struct part period = last(profile, 5).inner;
    struct field field;
    char texts[4][64];
    char head[LINE_MAX_BYTES];

    for (uint64_t i = 0; i < 2; i++) {
        print_string(texts[i], sizeof texts[i], last(type, i + 1).value);
        print_string(texts[2 + i], sizeof texts[i], last(period, i + 1).value);
    }
    snprintf(head, sizeof head,
             "%s %s by %" PRId64 " %s %s at %" PRId64 " for %" PRId64, texts[0],
             texts[1], (int64_t)last(profile, 6).value, texts[2], texts[3],
             (int64_t)last(profile, 3).value, (int64_t)last(profile, 4).value);
    while (next(&profile, &field)) {
        if (field.number == 2)
            read_sample(lines, head, field.inner);
    }
}

char *
dump_lines_of_otlp(const void *bytes, size_t count)
{
    static struct lines lines;
    const struct part all = {bytes, (const uint8_t *)bytes + count};
    struct part scope = last(last(all, 1).inner, 2).inner;
    struct field field;

    lines.count = 0;
    read_tables(last(all, 2).inner);
    while (next(&scope, &field)) {
        if (field.number == 2)
            read_profile(&lines, field.inner);
    }
    return print_lines(&lines);
}
