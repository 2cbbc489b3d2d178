/* trace_shown.c -- see trace_shown.h. */
#include "trace_shown.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"
#include "varint.h"

enum { TRACKS_MAX = 256, NAME_MAX_BYTES = 64 };

/* ---- What is wanted ---- */

/* For each event, by name: on which track it is shown, and how. */
static const struct look {
    const char *type;
    char kind;
    const char *track; /* " ...": on the processor's track */
} looks[] = {
    {"GoStart", 'B', " "},
    {"GoEnd", 'E', " "},
    {"GoStop", 'E', " "},
    {"GoSched", 'E', " "},
    {"GoPreempt", 'E', " "},
    {"GoSleep", 'E', " "},
    {"GoBlock", 'E', " "},
    {"GoBlockSend", 'E', " "},
    {"GoBlockRecv", 'E', " "},
    {"GoBlockSelect", 'E', " "},
    {"GoBlockSync", 'E', " "},
    {"GoBlockCond", 'E', " "},
    {"GoBlockNet", 'E', " "},
    {"GoSysBlock", 'E', " "},
    {"ProcStart", 'B', " thread"},
    {"ProcStop", 'E', " thread"},
    {"GCStart", 'B', "GC"},
    {"GCDone", 'E', "GC"},
    {"GCScanStart", 'B', " scan"},
    {"GCScanDone", 'E', " scan"},
    {"GCSweepStart", 'B', " sweep"},
    {"GCSweepDone", 'E', " sweep"},
    {"HeapAlloc", 'C', "HeapAlloc"},
    {"NextGC", 'C', "NextGC"},
    {"Gomaxprocs", 'C', "Gomaxprocs"},
};

/* Slices that are open, by track. All of them end with the trace. */
struct open {
    bool gc;
    bool of_proc[TRACKS_MAX][4];
};

static const char *const of_proc[] = {" ", " thread", " scan", " sweep"};

static struct look
look_of(const struct model_trace_event *event)
{
    static const char *const tracks[] = {" ", "timers", "network", "syscalls",
                                         " "};
    const char *type =
        model_trace_type_name((enum model_trace_type)event->type);

    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        if (strcmp(looks[i].type, type) == 0)
            return looks[i];
    }
    return (struct look){type, 'i', tracks[event->track]};
}

static uint64_t
ns_of(const struct model_trace *trace, int64_t ticks)
{
    const uint64_t span = (uint64_t)ticks - (uint64_t)trace->first_ticks;
    const uint64_t rate = (uint64_t)trace->ticks_per_second;

    return span / rate * 1000000000 + span % rate * 1000000000 / rate;
}

static void
put_track(FILE *to, const struct model_trace *trace, uint32_t proc,
          const char *track)
{
    if (track[0] == ' ')
        fprintf(to, "P %" PRId64 "%s", (int64_t)trace->procs.nodes[proc].key,
                track[1] != '\0' ? track : "");
    else
        fputs(track, to);
}

static void
put_event(FILE *to, const struct model_trace *trace,
          const struct model_trace_event *event)
{
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    const uint32_t frames = model_trace_stack(trace, event->stack, pcs);

    fprintf(to,
            "%s g=%" PRIu64 " arg=%" PRIu64 " seq=%" PRId64 " offset=%" PRIu64,
            model_trace_type_name((enum model_trace_type)event->type), event->g,
            event->arg, event->seq, event->offset_bytes);
    if (event->pc != 0)
        fprintf(to, " pc=0x%" PRIx64, event->pc);
    for (uint32_t i = 0; i < frames; i++)
        fprintf(to, "%s0x%" PRIx64, i == 0 ? " stack=" : " ", pcs[i]);
}

static void
note_open(struct open *open, const struct look *look, uint32_t proc)
{
    assert_true(proc < TRACKS_MAX);
    if (look->kind != 'B' && look->kind != 'E')
        return;
    if (look->track[0] != ' ')
        open->gc = look->kind == 'B';
    for (int i = 0; i < 4; i++) {
        if (strcmp(look->track, of_proc[i]) == 0)
            open->of_proc[proc][i] = look->kind == 'B';
    }
}

static void
put_item(FILE *to, const struct model_trace *trace,
         const struct model_trace_event *event, struct open *open)
{
    const struct look look = look_of(event);

    note_open(open, &look, event->proc);
    fprintf(to, "%c ", look.kind);
    put_track(to, trace, event->proc, look.track);
    fprintf(to, "|%" PRIu64 "|", ns_of(trace, event->ticks));
    if (look.kind == 'B' && strcmp(look.track, " ") == 0)
        fprintf(to, "g %" PRIu64, event->g);
    else if (look.kind == 'B' && strcmp(look.track, " thread") == 0)
        fprintf(to, "thread %" PRIu64, event->arg);
    else if (look.kind == 'B')
        fputs(&look.track[look.track[0] == ' '], to);
    else if (look.kind == 'i')
        fputs(look.type, to);
    fputc('|', to);
    if (look.kind == 'C')
        fprintf(to, "%" PRIu64, event->arg);
    else
        put_event(to, trace, event);
    fputc('\n', to);
}

char *
trace_shown_wanted(const struct model_trace *trace)
{
    static struct open open;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    uint64_t last_ns = 0;

    assert_non_null(to);
    memset(&open, 0, sizeof open);
    for (uint32_t i = 0; i < trace->order_count; i++) {
        const struct model_trace_event *event = &trace->events[trace->order[i]];

        put_item(to, trace, event, &open);
        last_ns = ns_of(trace, event->ticks);
    }
    if (open.gc)
        fprintf(to, "E GC|%" PRIu64 "||\n", last_ns);
    for (uint32_t proc = 0; proc < trace->procs.count; proc++) {
        for (int i = 0; i < 4; i++) {
            if (!open.of_proc[proc][i])
                continue;
            fputs("E ", to);
            put_track(to, trace, proc, of_proc[i]);
            fprintf(to, "|%" PRIu64 "||\n", last_ns);
        }
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

/* ---- An item, as it was read ---- */

struct item {
    char kind;
    uint64_t track;
    uint64_t time_ns;
    char name[NAME_MAX_BYTES];
    bool has_event;
    char type[NAME_MAX_BYTES];
    uint64_t g, arg, offset, value;
    int64_t seq;
    char pc[NAME_MAX_BYTES];
    char *stack; /* NULL: none; freed by the caller */
};

static char track_names[TRACKS_MAX][NAME_MAX_BYTES];
static bool track_counts[TRACKS_MAX]; /* Perfetto: it shows counters only */

static void
put_read(FILE *to, const struct item *item)
{
    assert_true(item->track < TRACKS_MAX);
    fprintf(to, "%c %s|%" PRIu64 "|%s|", item->kind,
            item->kind == 'C' ? item->name : track_names[item->track],
            item->time_ns, item->kind == 'C' ? "" : item->name);
    if (item->kind == 'C')
        fprintf(to, "%" PRIu64, item->value);
    else if (item->has_event)
        fprintf(to,
                "%s g=%" PRIu64 " arg=%" PRIu64 " seq=%" PRId64
                " offset=%" PRIu64 "%s%s%s%s",
                item->type, item->g, item->arg, item->seq, item->offset,
                item->pc[0] != '\0' ? " pc=" : "", item->pc,
                item->stack != NULL ? " stack=" : "",
                item->stack != NULL ? item->stack : "");
    fputc('\n', to);
}

/* ---- Chrome's JSON: one item a line ---- */

static uint64_t
number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);

    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* out: text, the quoted value behind the key, "" if the key is missing */
static void
text_of(const char *line, const char *key, char *text, size_t room)
{
    const char *at = strstr(line, key);
    size_t length = 0;

    if (at != NULL) {
        at += strlen(key);
        length = strcspn(at, "\"");
    }
    assert_true(length < room);
    memcpy(text, at != NULL ? at : "", length);
    text[length] = '\0';
}

static struct item
item_of_line(const char *line)
{
    struct item item = {.kind = line[7],
                        .track = number_of(line, "\"tid\":"),
                        .value = number_of(line, "\"value\":"),
                        .g = number_of(line, "\"g\":"),
                        .arg = number_of(line, "\"arg\":"),
                        .offset = number_of(line, "\"offset\":")};
    char *point;
    const char *time = strstr(line, "\"ts\":");

    assert_non_null(time);
    item.time_ns = strtoull(time + 5, &point, 10) * 1000;
    assert_int_equal(*point, '.');
    assert_int_equal(strspn(point + 1, "0123456789"), 3);
    item.time_ns += strtoull(point + 1, NULL, 10);
    item.seq = (int64_t)number_of(line, "\"seq\":");
    text_of(line, "\"name\":\"", item.name, sizeof item.name);
    text_of(line, "\"event\":\"", item.type, sizeof item.type);
    text_of(line, "\"pc\":\"", item.pc, sizeof item.pc);
    item.has_event = item.type[0] != '\0';
    if (strstr(line, "\"stack\":\"") != NULL) {
        item.stack = malloc(strlen(line) + 1);
        assert_non_null(item.stack);
        text_of(line, "\"stack\":\"", item.stack, strlen(line) + 1);
    }
    return item;
}

static void
take_line(const char *line, FILE *to)
{
    struct item item;

    if (strncmp(line, "{\"ph\":\"", 7) != 0)
        return;
    assert_non_null(strstr(line, "\"pid\":1,"));
    if (line[7] == 'M') {
        const uint64_t track = number_of(line, "\"tid\":");

        assert_true(track < TRACKS_MAX);
        if (strstr(line, "\"thread_name\"") != NULL)
            text_of(line, "\"args\":{\"name\":\"", track_names[track],
                    NAME_MAX_BYTES);
        return;
    }
    item = item_of_line(line);
    put_read(to, &item);
    free(item.stack);
}

char *
trace_shown_chrome(const char *json)
{
    char *copy = strdup(json);
    char *text = NULL;
    char *rest;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_true(copy != NULL && to != NULL);
    memset(track_names, 0, sizeof track_names);
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        take_line(line, to);
    free(copy);
    assert_int_equal(fclose(to), 0);
    return text;
}

/* ---- Perfetto's protobuf ---- */

struct bytes {
    const uint8_t *at;
    const uint8_t *end;
};

struct field {
    uint64_t number;
    uint64_t value;     /* if it is a varint */
    struct bytes inner; /* if it is a message or text */
};

static bool
take_field(struct bytes *from, struct field *field)
{
    uint64_t tag;

    if (from->at == from->end)
        return false;
    tag = varint_take(&from->at, from->end);
    *field = (struct field){.number = tag / 8,
                            .value = varint_take(&from->at, from->end)};
    if (tag % 8 == 0)
        return true;
    assert_int_equal(tag % 8, 2);
    assert_true(field->value <= (uint64_t)(from->end - from->at));
    field->inner = (struct bytes){from->at, from->at + field->value};
    from->at = field->inner.end;
    return true;
}

static void
copy_text(struct bytes from, char *text)
{
    const size_t length = (size_t)(from.end - from.at);

    assert_true(length < NAME_MAX_BYTES);
    memcpy(text, from.at, length);
    text[length] = '\0';
}

static void
take_annotation(struct bytes from, struct item *item)
{
    char name[NAME_MAX_BYTES] = "";
    struct field value = {.number = 0};
    struct field field;

    while (take_field(&from, &field)) {
        if (field.number == 10)
            copy_text(field.inner, name);
        else
            value = field;
    }
    if (strcmp(name, "event") == 0)
        copy_text(value.inner, item->type);
    else if (strcmp(name, "pc") == 0)
        copy_text(value.inner, item->pc);
    else if (strcmp(name, "g") == 0 && value.number == 3)
        item->g = value.value;
    else if (strcmp(name, "arg") == 0 && value.number == 3)
        item->arg = value.value;
    else if (strcmp(name, "offset") == 0 && value.number == 3)
        item->offset = value.value;
    else if (strcmp(name, "seq") == 0 && value.number == 4)
        item->seq = (int64_t)value.value;
    else if (strcmp(name, "stack") == 0)
        item->stack = strndup((const char *)value.inner.at,
                              (size_t)(value.inner.end - value.inner.at));
    else
        fail_msg("an annotation '%s'", name);
    item->has_event = true;
}

static void
take_event(struct bytes from, struct item *item)
{
    struct field field;

    while (take_field(&from, &field)) {
        if (field.number == 9)
            item->kind = "?BEiC"[field.value < 5 ? field.value : 0];
        else if (field.number == 11)
            item->track = field.value;
        else if (field.number == 23)
            copy_text(field.inner, item->name);
        else if (field.number == 30)
            item->value = field.value;
        else if (field.number == 4)
            take_annotation(field.inner, item);
    }
    assert_true(item->track < TRACKS_MAX);
    assert_int_equal(item->kind == 'C', track_counts[item->track]);
    if (item->kind == 'C')
        memcpy(item->name, track_names[item->track], sizeof item->name);
}

static void
take_descriptor(struct bytes from)
{
    char name[NAME_MAX_BYTES] = "";
    struct field field;
    uint64_t track = 0;
    bool counts = false;

    while (take_field(&from, &field)) {
        if (field.number == 1)
            track = field.value;
        if (field.number == 2)
            copy_text(field.inner, name);
        counts |= field.number == 8;
    }
    assert_in_range(track, 1, TRACKS_MAX - 1);
    assert_string_equal(track_names[track], "");
    memcpy(track_names[track], name, sizeof name);
    track_counts[track] = counts;
}

char *
trace_shown_perfetto(const uint8_t *bytes, size_t bytes_count)
{
    struct bytes all = {bytes, bytes + bytes_count};
    char *text = NULL;
    size_t text_bytes;
    FILE *to = open_memstream(&text, &text_bytes);
    struct field packet;
    int cleared = 0;

    assert_non_null(to);
    memset(track_names, 0, sizeof track_names);
    while (take_field(&all, &packet)) {
        struct item item = {.kind = '?'};
        struct field field;

        while (take_field(&packet.inner, &field)) {
            if (field.number == 8)
                item.time_ns = field.value;
            else if (field.number == 11)
                take_event(field.inner, &item);
            else if (field.number == 60)
                take_descriptor(field.inner);
            cleared += field.number == 13;
        }
        assert_int_equal(cleared, 1); /* the first packet clears the state */
        if (item.kind != '?')
            put_read(to, &item);
        free(item.stack);
    }
    assert_int_equal(fclose(to), 0);
    return text;
}
