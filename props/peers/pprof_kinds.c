/*
 * pprof_kinds.c -- one file of every kind of profile, for foreign readers.
 *
 * usage: pprof_kinds DIR. Writes KIND.pb, KIND.pb.gz and KIND.txt, and prints
 * what a reader must find: lines of `KIND INDEX TYPE TOTAL`, the total after
 * scaling. The totals are computed here from the records, in plain arithmetic.
 */
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/cpu.h"
#include "prof/file.h"
#include "prof/gzip.h"
#include "prof/text.h"

enum {
    RATE = 4096,
    RECORDS = 40,
    TICKS_PER_SECOND = 2000000000,
    MUTEX_PERIOD = 3
};

static const char *folder;
static alignas(64) unsigned char scratch[1 << 20];
static unsigned char packing[1 << 20];

/* ---- names ---- */

static void
find_name(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static const char *const names[] = {
        "main.main",      "main.serve", "main.handle", "store.Get",
        "store.(*T).Put", "json.parse", "lib.grow",    "lib::vector<int>::push",
    };
    const size_t number = (pc >> 8) % 8;

    (void)context;
    symbol->function = names[number];
    symbol->file = "program.go";
    symbol->line = 10 * number + (pc & 15);
    symbol->entry = pc & ~(uintptr_t)0xff;
}

static const struct prof_mapping mapping = {0x400000, 0x500000, 0,
                                            "/bin/program", ""};

static struct prof_output
output_to(const struct prof_sink *sink)
{
    return (struct prof_output){
        .sink = *sink,
        .symbols = {.find = find_name},
        .mappings = &mapping,
        .mappings_count = 1,
        .time_ns = 1700000000000000000,
        .lost = 0x400001,
        .rules = &prof_rules_go1_17, /* readers of text cut off, too */
        .scratch = scratch,
        .scratch_bytes = sizeof scratch,
    };
}

/* ---- records ---- */

static uintptr_t stacks[RECORDS][4];
static struct prof_heap_record heap[RECORDS];
static struct prof_contention_record waits[RECORDS];
static struct prof_count_record counts[RECORDS];
static const struct prof_label labels[] = {{"handler", "/index"},
                                           {"user", "\"quoted\""}};
static uint64_t cpu_words[3 + 7 * RECORDS];

static void
make_records(void)
{
    uint64_t *word = cpu_words;

    *word++ = 3;
    *word++ = 0;
    *word++ = 100;
    for (size_t i = 0; i < RECORDS; i++) {
        for (size_t j = 0; j < 4; j++)
            stacks[i][j] = 0x400011 + 0x100 * ((i + j * (1 + i % 3)) % 8);
        heap[i] = (struct prof_heap_record){.allocs = 5 + i,
                                            .frees = i % 5,
                                            .size_bytes = 16U << i % 12,
                                            .rate_bytes = RATE,
                                            .stack = stacks[i],
                                            .depth = 1 + i % 4};
        waits[i] = (struct prof_contention_record){.count = 1 + i,
                                                   .cycles = 1000 * i + 7,
                                                   .stack = stacks[i],
                                                   .depth = 1 + i % 4};
        counts[i] =
            (struct prof_count_record){.stack = stacks[i / 2],
                                       .depth = i == 0 ? 0 : 2,
                                       .labels = i % 4 == 1 ? labels : NULL,
                                       .labels_count = i % 4 == 1 ? 2 : 0};
        *word++ = 7;
        *word++ = 0;
        *word++ = 1 + i % 3;
        for (size_t j = 0; j < 4; j++)
            *word++ = stacks[i][j];
    }
}

/* ---- kinds ---- */

static enum prof_status
write_heap(const struct prof_output *output, bool text)
{
    return text ? prof_text_heap(output, heap, RECORDS, RATE, NULL)
                : prof_pprof_heap(output, heap, RECORDS, RATE, PROF_VIEW_INUSE);
}

static enum prof_status
write_allocs(const struct prof_output *output, bool text)
{
    return text
               ? prof_text_heap(output, heap, RECORDS, RATE, NULL)
               : prof_pprof_heap(output, heap, RECORDS, RATE, PROF_VIEW_ALLOCS);
}

static enum prof_status
write_block(const struct prof_output *output, bool text)
{
    return text ? prof_text_contention(output, PROF_BLOCK, waits, RECORDS,
                                       TICKS_PER_SECOND, 1)
                : prof_pprof_contention(output, waits, RECORDS,
                                        TICKS_PER_SECOND, 1);
}

/* Records at a fraction of 1/3 are not scaled: readers of the text multiply
 * them. */
static enum prof_status
write_mutex(const struct prof_output *output, bool text)
{
    return text ? prof_text_contention(output, PROF_MUTEX, waits, RECORDS,
                                       TICKS_PER_SECOND, MUTEX_PERIOD)
                : prof_pprof_contention(output, waits, RECORDS,
                                        TICKS_PER_SECOND, MUTEX_PERIOD);
}

static enum prof_status
write_goroutine(const struct prof_output *output, bool text)
{
    return (text ? prof_text_counts : prof_pprof_counts)(output, "goroutine",
                                                         counts, RECORDS);
}

/* Threads whose creation stack is unknown. */
static enum prof_status
write_threadcreate(const struct prof_output *output, bool text)
{
    static const struct prof_count_record threads[5];

    return (text ? prof_text_counts : prof_pprof_counts)(output, "threadcreate",
                                                         threads, 5);
}

static enum prof_status
write_custom(const struct prof_output *output, bool text)
{
    return (text ? prof_text_counts : prof_pprof_counts)(
        output, "open files", counts + 2, RECORDS - 2);
}

static enum prof_status
write_cpu(const struct prof_output *output, bool text)
{
    static alignas(64) unsigned char block[1 << 18];
    const struct prof_cpu_config config = {
        .ticks_max = 16, .stacks_max = 64, .depth_max = 8};
    struct prof_cpu *cpu;
    enum prof_status status = prof_cpu_init(&cpu, &config, block, sizeof block);

    (void)text;
    if (status == PROF_OK)
        status = prof_cpu_load(cpu, cpu_words,
                               sizeof cpu_words / sizeof *cpu_words, NULL, 0);
    return status == PROF_OK ? prof_cpu_write(cpu, output, 1000000000) : status;
}

static const struct {
    const char *name;
    enum prof_status (*write)(const struct prof_output *output, bool text);
    bool has_text;
} kinds[] = {
    {"heap", write_heap, true},
    {"allocs", write_allocs, true},
    {"block", write_block, true},
    {"mutex", write_mutex, true},
    {"goroutine", write_goroutine, true},
    {"threadcreate", write_threadcreate, true},
    {"custom", write_custom, true},
    {"cpu", write_cpu, false},
};

/* ---- files ---- */

static void
must(enum prof_status status, const char *what)
{
    if (status == PROF_OK)
        return;
    fprintf(stderr, "pprof_kinds: %s: %s\n", what, prof_status_text(status));
    exit(1);
}

static void
write_file(size_t kind, const char *ending, bool packed, bool text)
{
    static struct prof_file file;
    char path[PROF_PATH_MAX];
    struct prof_sink to;
    struct prof_sink sink;
    struct prof_gzip gzip;
    struct prof_output output;
    enum prof_status status;

    snprintf(path, sizeof path, "%s/%s.%s", folder, kinds[kind].name, ending);
    must(prof_file_begin(&file, path), path);
    to = prof_file_sink(&file);
    prof_gzip_begin(&gzip, &to, packing, sizeof packing);
    sink = packed ? prof_gzip_sink(&gzip) : to;
    output = output_to(&sink);
    status = kinds[kind].write(&output, text);
    if (packed)
        status = prof_gzip_end(&gzip, status);
    must(prof_file_end(&file, status), path);
}

/* ---- totals ---- */

static double
scaled(uint64_t objects, uint64_t unit, uint64_t size)
{
    return trunc((double)(objects * unit) /
                 (1 - exp(-(double)size / (double)RATE)));
}

static void
print_heap(const char *kind)
{
    double totals[4] = {0};
    static const char *const types[] = {"alloc_objects", "alloc_space",
                                        "inuse_objects", "inuse_space"};

    for (size_t i = 0; i < RECORDS; i++) {
        const uint64_t size = heap[i].size_bytes;

        totals[0] += scaled(heap[i].allocs, 1, size);
        totals[1] += scaled(heap[i].allocs, size, size);
        totals[2] += scaled(heap[i].allocs - heap[i].frees, 1, size);
        totals[3] += scaled(heap[i].allocs - heap[i].frees, size, size);
    }
    for (int i = 0; i < 4; i++)
        printf("%s %d %s %.0f\n", kind, i, types[i], totals[i]);
}

static void
print_totals(void)
{
    static const uint64_t periods[2] = {1, MUTEX_PERIOD};
    uint64_t events[2] = {0};
    uint64_t delay_ns[2] = {0};
    uint64_t ticks = 0;

    for (size_t i = 0; i < RECORDS; i++) {
        for (int j = 0; j < 2; j++) {
            events[j] += waits[i].count * periods[j];
            delay_ns[j] +=
                waits[i].cycles * periods[j] / (TICKS_PER_SECOND / 1000000000);
        }
        ticks += 1 + i % 3;
    }
    print_heap("heap");
    print_heap("allocs");
    for (int i = 0; i < 2; i++) {
        const char *kind = i == 0 ? "block" : "mutex";

        printf("%s 0 contentions %llu\n%s 1 delay %llu\n", kind,
               (unsigned long long)events[i], kind,
               (unsigned long long)delay_ns[i]);
    }
    printf("goroutine 0 goroutine %d\n", RECORDS);
    printf("threadcreate 0 threadcreate 5\n");
    printf("custom 0 open-files %d\n", RECORDS - 2);
    printf("cpu 0 samples %llu\ncpu 1 cpu %llu\n", (unsigned long long)ticks,
           (unsigned long long)ticks * 10000000);
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: pprof_kinds DIR\n");
        return 1;
    }
    folder = argv[1];
    make_records();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_file(i, "pb", false, false);
        write_file(i, "pb.gz", true, false);
        if (kinds[i].has_text)
            write_file(i, "txt", false, true);
    }
    print_totals();
    return 0;
}
