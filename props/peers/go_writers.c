/*
 * go_writers.c -- the records of go_writers/cases.go, written by our writers.
 *
 * usage: go_writers DIR. Reads DIR/cases; writes DIR/NAME.our.pb and
 * DIR/NAME.our.txt for each. It ends at the first error.
 */
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/test/pprof/heap_counters.h"
#include "prof/cpu.h"
#include "prof/text.h"

enum {
    SYMBOLS_MAX = 64,
    RECORDS_MAX = 256,
    DEPTH_MAX = 32,
    LABELS_MAX = 8,
    TEXT_MAX = 256,
    WORDS_MAX = 4096,
    OUTPUT_MAX = 1 << 20,
    TIME_NS_DURATION = 2000000000
};

#define TIME_NS INT64_C(1700000000123456789)

struct name {
    uintptr_t pc;
    uintptr_t entry;
    uint64_t line;
    char function[TEXT_MAX];
    char file[TEXT_MAX];
};

/* The records of one case. */
struct records {
    char name[TEXT_MAX];
    char kind[TEXT_MAX];
    char title[TEXT_MAX];
    int64_t rate_bytes;
    uint64_t ticks_per_second;
    uint64_t fraction;
    size_t count;
    struct prof_heap_record heap[RECORDS_MAX];
    struct prof_contention_record waits[RECORDS_MAX];
    struct prof_count_record counts[RECORDS_MAX];
    struct prof_label labels[RECORDS_MAX][LABELS_MAX];
    char texts[RECORDS_MAX][LABELS_MAX][2][TEXT_MAX];
    uintptr_t stacks[RECORDS_MAX][DEPTH_MAX];
    size_t words_count;
    uint64_t words[WORDS_MAX];
};

static struct name names[SYMBOLS_MAX];
static size_t names_count;
static uintptr_t lost;
static struct records now;
static alignas(64) unsigned char scratch[1 << 22];
static unsigned char output_bytes[OUTPUT_MAX];

static void
must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "go_writers: %s: %s\n", now.name, what);
    exit(1);
}

/* ---- reading ---- */

static uint64_t
read_number(FILE *file)
{
    char word[32];

    must(fscanf(file, "%31s", word) == 1, "a number is missing");
    return word[0] == '-' ? (uint64_t)strtoll(word, NULL, 10)
                          : strtoull(word, NULL, 10);
}

static void
read_word(FILE *file, char text[TEXT_MAX])
{
    must(fscanf(file, "%255s", text) == 1, "a word is missing");
}

/* Read a text of hexadecimal digits. A dot comes first, so that it is never
 * empty. */
static void
read_hex(FILE *file, char text[TEXT_MAX])
{
    char word[TEXT_MAX];
    const char *at = word;
    size_t count = 0;

    read_word(file, word);
    at += word[0] == '.';
    for (; at[0] != '\0' && at[1] != '\0'; at += 2) {
        const char digits[3] = {at[0], at[1], '\0'};

        text[count++] = (char)strtoul(digits, NULL, 16);
    }
    text[count] = '\0';
}

static uint32_t
read_stack(FILE *file)
{
    const uint64_t depth = read_number(file);

    must(now.count < RECORDS_MAX && depth <= DEPTH_MAX, "too many");
    for (uint64_t i = 0; i < depth; i++)
        now.stacks[now.count][i] = (uintptr_t)read_number(file);
    return (uint32_t)depth;
}

static void
read_case(FILE *file)
{
    memset(&now, 0, sizeof now);
    read_word(file, now.name);
    read_word(file, now.kind);
    now.rate_bytes = (int64_t)read_number(file);
    now.ticks_per_second = read_number(file);
    now.fraction = read_number(file);
    read_hex(file, now.title);
}

static void
read_heap(FILE *file)
{
    struct prof_heap_record *record = &now.heap[now.count];

    record->allocs = read_number(file);
    record->frees = read_number(file);
    record->size_bytes = read_number(file);
    record->rate_bytes = now.rate_bytes;
    record->depth = read_stack(file);
    record->stack = now.stacks[now.count++];
}

static void
read_wait(FILE *file)
{
    struct prof_contention_record *record = &now.waits[now.count];

    record->count = read_number(file);
    record->cycles = read_number(file);
    record->depth = read_stack(file);
    record->stack = now.stacks[now.count++];
}

static void
read_count(FILE *file)
{
    struct prof_count_record *record = &now.counts[now.count];
    struct prof_label *labels = now.labels[now.count];

    record->labels_count = (uint32_t)read_number(file);
    must(record->labels_count <= LABELS_MAX, "too many labels");
    for (uint32_t i = 0; i < record->labels_count; i++) {
        char(*texts)[TEXT_MAX] = now.texts[now.count][i];

        read_hex(file, texts[0]);
        read_hex(file, texts[1]);
        labels[i] = (struct prof_label){texts[0], texts[1]};
    }
    record->labels = labels;
    record->depth = read_stack(file);
    record->stack = now.stacks[now.count++];
}

static void
read_words(FILE *file)
{
    now.words_count = read_number(file);
    must(now.words_count <= WORDS_MAX, "too many words");
    for (size_t i = 0; i < now.words_count; i++)
        now.words[i] = read_number(file);
}

static void
read_name(FILE *file)
{
    struct name *name = &names[names_count++];

    must(names_count <= SYMBOLS_MAX, "too many names");
    name->pc = (uintptr_t)read_number(file);
    name->entry = (uintptr_t)read_number(file);
    name->line = read_number(file);
    read_word(file, name->function);
    read_word(file, name->file);
}

/* ---- writing ---- */

static void
find_name(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    for (size_t i = 0; i < names_count; i++) {
        if (names[i].pc != pc)
            continue;
        symbol->function = names[i].function;
        symbol->file = names[i].file;
        symbol->line = names[i].line;
        symbol->entry = names[i].entry;
        symbol->kind = prof_frame_kind_go(names[i].function);
        return;
    }
}

/* The counters that feed.go.in gives to Go's writer. */
static struct prof_heap_counters
heap_counters(void)
{
    static const uint64_t pauses[PROF_PAUSES] = {[1] = 26};
    static const uint64_t ends[PROF_PAUSES] = {[255] = 27};

    return (struct prof_heap_counters){
        HEAP_COUNTERS,      .gcs = 24,
        .gcs_forced = 25,   .gc_cpu_fraction = "0.25",
        .pause_ns = pauses, .pause_end = ends,
    };
}

static enum prof_status
write_cpu(const struct prof_output *output)
{
    static alignas(64) unsigned char block[1 << 20];
    const struct prof_cpu_config config = {
        .ticks_max = 16, .stacks_max = 256, .depth_max = DEPTH_MAX};
    struct prof_cpu *cpu;

    must(prof_cpu_init(&cpu, &config, block, sizeof block) == PROF_OK &&
             prof_cpu_load(cpu, now.words, now.words_count, NULL, 0) == PROF_OK,
         "the words are refused");
    return prof_cpu_write(cpu, output, TIME_NS_DURATION);
}

/* The factor that the library itself would use; after profiling was turned off,
 * the last one. */
static uint64_t
period(void)
{
    return now.fraction == 0 ? 1 : now.fraction;
}

static enum prof_status
write_now(const struct prof_output *output, bool text)
{
    const bool is_mutex = strcmp(now.kind, "mutex") == 0;
    const struct prof_heap_counters counters = heap_counters();

    if (strcmp(now.kind, "heap") == 0 || strcmp(now.kind, "allocs") == 0)
        return text ? prof_text_heap(output, now.heap, now.count,
                                     now.rate_bytes, &counters)
                    : prof_pprof_heap(output, now.heap, now.count,
                                      now.rate_bytes,
                                      now.kind[0] == 'h' ? PROF_VIEW_INUSE
                                                         : PROF_VIEW_ALLOCS);
    if (strcmp(now.kind, "block") == 0 || is_mutex)
        return text ? prof_text_contention(
                          output, is_mutex ? PROF_MUTEX : PROF_BLOCK, now.waits,
                          now.count, now.ticks_per_second, period())
                    : prof_pprof_contention(output, now.waits, now.count,
                                            now.ticks_per_second,
                                            is_mutex ? period() : 1);
    if (strcmp(now.kind, "cpu") == 0)
        return write_cpu(output);
    return (text ? prof_text_counts : prof_pprof_counts)(output, now.title,
                                                         now.counts, now.count);
}

static void
write_file(const char *folder, const char *ending, bool text)
{
    static const struct prof_mapping mapping = {0x400000, 0x10000000, 0,
                                                "/bin/program", ""};
    struct prof_memory memory = {.bytes = output_bytes,
                                 .bytes_max = sizeof output_bytes};
    const struct prof_output output = {
        .sink = prof_memory_sink(&memory),
        .symbols = {.find = find_name},
        .mappings = &mapping,
        .mappings_count = 1,
        .time_ns = TIME_NS,
        .lost = lost,
        .scratch = scratch,
        .scratch_bytes = sizeof scratch,
    };
    char path[1024];
    FILE *file;

    must(write_now(&output, text) == PROF_OK, "it is not written");
    snprintf(path, sizeof path, "%s/%s.our.%s", folder, now.name, ending);
    file = fopen(path, "wb");
    must(file != NULL && fwrite(memory.bytes, 1, memory.bytes_count, file) ==
                             memory.bytes_count,
         path);
    must(fclose(file) == 0, path);
}

int
main(int argc, char **argv)
{
    char path[1024];
    char word[TEXT_MAX];
    FILE *file;

    must(argc == 2, "usage: go_writers DIR");
    snprintf(path, sizeof path, "%s/cases", argv[1]);
    file = fopen(path, "r");
    must(file != NULL, path);
    while (fscanf(file, "%255s", word) == 1) {
        if (strcmp(word, "lost") == 0) {
            lost = (uintptr_t)read_number(file);
        } else if (strcmp(word, "sym") == 0) {
            read_name(file);
        } else if (strcmp(word, "case") == 0) {
            read_case(file);
        } else if (strcmp(word, "heap") == 0) {
            read_heap(file);
        } else if (strcmp(word, "wait") == 0) {
            read_wait(file);
        } else if (strcmp(word, "count") == 0) {
            read_count(file);
        } else if (strcmp(word, "words") == 0) {
            read_words(file);
        } else {
            must(strcmp(word, "end") == 0, "an unknown word");
            write_file(argv[1], "pb", false);
            if (strcmp(now.kind, "cpu") != 0)
                write_file(argv[1], "txt", true);
        }
    }
    fclose(file);
    return 0;
}
