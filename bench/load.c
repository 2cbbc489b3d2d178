/*
 * load.c -- makes loads: stacks from the call graph of a made-up program, and
 * orders of access.
 *
 * The program has FUNCTIONS functions in about 16 MB of code. Each has a few
 * call sites, most with one callee, and some callees are popular. A stack is a
 * path in that call graph. A new deep stack keeps the outer frames of an
 * earlier stack and draws a few new leaf frames, so that outer frames are
 * shared as in real heap profiles. Shallow stacks (depth 4) are the leaf ends
 * of paths.
 *
 * A load is a function of its parameters, by integer arithmetic and a fixed
 * random generator; floating point only shapes distributions.
 */
#include "bench/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUNCTIONS = 8192, SITES_MAX = 32, CALLEES_MAX = 8, SHALLOW = 4 };

struct program {
    uint64_t site_pcs[FUNCTIONS][SITES_MAX];
    uint16_t callees[FUNCTIONS][SITES_MAX][CALLEES_MAX];
    uint8_t callees_count[FUNCTIONS][SITES_MAX];
    uint8_t sites_count[FUNCTIONS];
};

static uint64_t
next_word(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static double
next_unit(uint64_t *state)
{
    return ((double)(next_word(state) >> 11) + 0.5) * 0x1p-53;
}

static uint32_t
next_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(next_word(state) % bound);
}

static void
make_program(struct program *program, uint64_t *state)
{
    uint64_t at = 0x401000;

    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        const uint32_t length = 64 + 16 * next_below(state, 60);
        uint32_t sites = 1 + (uint32_t)(-log(next_unit(state)) * 6);

        if (sites > SITES_MAX)
            sites = SITES_MAX;
        program->sites_count[f] = (uint8_t)sites;
        for (uint32_t s = 0; s < sites; s++) {
            const bool direct = next_below(state, 100) < 85;
            const uint32_t callees =
                direct ? 1 : 2 + next_below(state, CALLEES_MAX - 1);

            program->site_pcs[f][s] =
                at + 5 + (uint64_t)(length - 8) * s / sites;
            program->callees_count[f][s] = (uint8_t)callees;
            for (uint32_t c = 0; c < callees; c++) {
                const double u = next_unit(state);

                program->callees[f][s][c] = (uint16_t)(FUNCTIONS * u * u);
            }
        }
        at += length + 1500;
    }
}

/* Draw a call in function f. out: *pc, its return address. returns: the callee
 */
static uint32_t
step(const struct program *program, uint64_t *state, uint32_t f, uint64_t *pc)
{
    const double u = next_unit(state);
    const uint32_t s = (uint32_t)(program->sites_count[f] * u * sqrt(u));

    *pc = program->site_pcs[f][s];
    return program
        ->callees[f][s][next_below(state, program->callees_count[f][s])];
}

/* Classes of sizes as allocators have them. */
static uint64_t
size_near(uint64_t word)
{
    const uint64_t base = UINT64_C(8) << (word % 12);

    return base + base / 8 * (word >> 32 & 7);
}

static uint64_t
hash_record(const uint64_t *record, uint32_t words)
{
    uint64_t h = 1;

    for (uint32_t i = 0; i < words; i++) {
        h = h * 0xd6e8feb86659fd93U + record[i];
        h = next_word(&h);
    }
    return h != 0 ? h : 1;
}

/* Walk one stack into `record`; `functions` are those of its frames. */
static void
walk(const struct program *program, uint64_t *state, struct bench_load *load,
     uint16_t *functions_of_all, uint32_t made)
{
    const uint32_t depth = load->depth;
    uint64_t *record = &load->words[(size_t)made * (depth + 1)];
    uint16_t *functions = &functions_of_all[(size_t)made * depth];
    uint32_t from = depth;
    uint32_t f = next_below(state, FUNCTIONS);

    if (depth > SHALLOW && made > 0) {
        const uint32_t model = next_below(state, made);

        from = 1;
        while (from < depth && next_unit(state) > 0.35)
            from++;
        memcpy(record, bench_record(load, model), (depth + 1) * sizeof *record);
        memcpy(functions, &functions_of_all[(size_t)model * depth],
               depth * sizeof *functions);
        f = functions[from - 1];
    }
    for (uint32_t i = from; i-- > 0;) {
        functions[i] = (uint16_t)f;
        f = step(program, state, f, &record[1 + i]);
    }
    record[0] = size_near(hash_record(&record[1], 1));
    if (next_below(state, 20) == 0)
        record[0] = size_near(next_word(state));
}

static void
make_calls(struct bench_load *load)
{
    uint64_t state = 12345;
    struct program *program = malloc(sizeof *program);
    uint16_t *functions =
        malloc((size_t)load->n * load->depth * sizeof *functions);
    uint64_t slots = 2;
    uint64_t *seen;

    while (slots < 4 * (uint64_t)load->n)
        slots *= 2;
    seen = calloc(slots, sizeof *seen);
    if (program == NULL || functions == NULL || seen == NULL) {
        perror("bench: load");
        exit(1);
    }
    make_program(program, &state);
    for (uint32_t made = 0; made < load->n;) {
        uint64_t hash, at;

        walk(program, &state, load, functions, made);
        hash = hash_record(bench_record(load, made), load->depth + 1);
        at = hash & (slots - 1);
        while (seen[at] != 0 && seen[at] != hash)
            at = (at + 1) & (slots - 1);
        made += seen[at] == 0;
        seen[at] = hash;
    }
    free(seen);
    free(functions);
    free(program);
}

/* 1024 return addresses, 16 bytes apart, for each of the two leaf frames. */
static void
make_grid(struct bench_load *load)
{
    for (uint32_t i = 0; i < load->n; i++) {
        uint64_t *record = &load->words[(size_t)i * (load->depth + 1)];

        record[0] = 64;
        for (uint32_t frame = 0; frame < load->depth; frame++)
            record[1 + frame] = 0x401000 + 64 * (uint64_t)frame;
        record[1] += 16 * (uint64_t)(i % 1024);
        if (load->depth > 1)
            record[2] += 16 * (uint64_t)(i / 1024);
    }
}

void
bench_load_make(struct bench_load *load, enum bench_stacks stacks,
                uint32_t depth, uint32_t n)
{
    const size_t words = (size_t)n * (depth + 1);

    *load = (struct bench_load){.n = n, .depth = depth};
    load->bytes =
        (2 + words) * sizeof *load->words + BENCH_ORDER * sizeof *load->order;
    /* A file without a name disappears, however the program ends. */
    load->descriptor = memfd_create("bench-load", MFD_CLOEXEC);
    snprintf(load->path, sizeof load->path, "/proc/%ld/fd/%d", (long)getpid(),
             load->descriptor);
    if (load->descriptor < 0 ||
        ftruncate(load->descriptor, (off_t)load->bytes) != 0) {
        perror("bench: load");
        exit(1);
    }
    load->file = mmap(NULL, load->bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, load->descriptor, 0);
    if (load->file == MAP_FAILED) {
        perror("bench: load");
        exit(1);
    }
    load->file[0] = n;
    load->file[1] = depth;
    load->words = load->file + 2;
    load->order = (uint32_t *)(load->words + words);
    if (stacks == BENCH_CALLS)
        make_calls(load);
    else
        make_grid(load);
    bench_load_order(load, BENCH_UNIFORM);
}

void
bench_load_free(struct bench_load *load)
{
    munmap(load->file, load->bytes);
    close(load->descriptor);
}

/* The rank of a Zipf draw with exponent 0.99, by its cumulated weights. */
static uint32_t
draw_rank(const double *cumulated, uint32_t n, double u)
{
    const double want = u * cumulated[n - 1];
    uint32_t low = 0;
    uint32_t high = n - 1;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (cumulated[middle] < want)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
order_zipf(struct bench_load *load, uint64_t *state)
{
    const uint32_t n = load->n;
    double *cumulated = malloc(n * sizeof *cumulated);
    uint32_t *who = malloc(n * sizeof *who);
    double sum = 0;

    if (cumulated == NULL || who == NULL) {
        perror("bench: order");
        exit(1);
    }
    for (uint32_t i = 0; i < n; i++) {
        sum += pow(i + 1, -0.99);
        cumulated[i] = sum;
        who[i] = i;
    }
    for (uint32_t i = n - 1; i > 0; i--) {
        const uint32_t other = next_below(state, i + 1);
        const uint32_t kept = who[i];

        who[i] = who[other];
        who[other] = kept;
    }
    for (uint32_t i = 0; i < BENCH_ORDER; i++)
        load->order[i] = who[draw_rank(cumulated, n, next_unit(state))];
    free(who);
    free(cumulated);
}

void
bench_load_order(struct bench_load *load, enum bench_order order)
{
    uint64_t state = 54321;

    if (order == BENCH_ZIPF) {
        order_zipf(load, &state);
        return;
    }
    for (uint32_t i = 0; i < BENCH_ORDER; i++)
        load->order[i] = next_below(&state, load->n);
}

const char *
bench_order_name(enum bench_order order)
{
    return order == BENCH_ZIPF ? "zipf" : "uniform";
}

const char *
bench_order_name_huge(enum bench_order order)
{
    return order == BENCH_ZIPF ? "zipf-huge-pages" : "uniform-huge-pages";
}

void
bench_stage_make(struct bench_stage *stage, uint32_t depth)
{
    const size_t line_bytes = 64;
    const size_t key_bytes =
        sizeof(struct bench_key) + depth * sizeof(uintptr_t);

    stage->depth = depth;
    stage->first = 0;
    stage->stride = (key_bytes + 7) / 8 * 8;
    stage->keys = aligned_alloc(line_bytes,
                                (BENCH_BATCH * stage->stride + line_bytes - 1) /
                                    line_bytes * line_bytes);
    if (stage->keys == NULL) {
        perror("bench: stage");
        exit(1);
    }
}

void
bench_stage_free(struct bench_stage *stage)
{
    free(stage->keys);
}

void
bench_stage_put(struct bench_stage *stage, uint32_t i,
                const struct bench_load *load, uint32_t index)
{
    const uint64_t *record = bench_record(load, index);
    struct bench_key *key = bench_staged(stage, i);

    stage->indexes[i] = index;
    key->words = load->depth + 2;
    key->kind = 1;
    key->size_bytes = record[0];
    memcpy(key->frames, record + 1, load->depth * sizeof *record);
}
