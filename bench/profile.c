/*
 * profile.c -- writes a heap profile of n stacks as a .pb.gz file in memory,
 * with a function name for every location; and only encodes it. Peers: Go's
 * WriteHeapProfile, in its own process, writes as many buckets of the same
 * depth, with the names of its own functions; protobuf-c writes the same keys
 * and compresses with libdeflate.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "bench/ours.h"
#include "bench/peers.h"
#include "prof/gzip.h"
#include "prof/pprof.h"

enum { FUNCTIONS = 8192, DEPTH = 16, LOCATIONS_MAX = 1 << 17 };

struct profile {
    struct bench_ours ours;
    struct prof_heap_record *records;
    size_t records_count;
    struct prof_output output;
    struct prof_memory memory;
    struct prof_gzip gzip;
    unsigned char *raw;
    size_t room;
    char names[FUNCTIONS][16];
};

static void
find(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    struct profile *profile = context;
    const size_t function = (pc - 0x401000) / 2048 % FUNCTIONS;

    symbol->function = profile->names[function];
    symbol->file = "program.c";
    symbol->line = pc % 1000;
    symbol->entry = pc & ~(uintptr_t)2047;
}

static double
write_profile(struct profile *profile)
{
    const uint64_t begun = bench_cpu_ns();

    if (prof_pprof_heap(&profile->output, profile->records,
                        profile->records_count, 512 * 1024,
                        PROF_VIEW_INUSE) != PROF_OK)
        return -1;
    return (double)(bench_cpu_ns() - begun) / 1e6;
}

static double
encode_once(void *context, uint32_t round)
{
    struct profile *profile = context;

    (void)round;
    profile->memory =
        (struct prof_memory){.bytes = profile->raw, .bytes_max = profile->room};
    profile->output.sink = prof_memory_sink(&profile->memory);
    return write_profile(profile);
}

static double
gzip_once(void *context, uint32_t round)
{
    struct profile *profile = context;
    static unsigned char *packing;
    const uint64_t begun = bench_cpu_ns();
    struct prof_sink to;

    (void)round;
    if (packing == NULL)
        packing = bench_pages(prof_gzip_bytes());
    profile->memory =
        (struct prof_memory){.bytes = profile->raw, .bytes_max = profile->room};
    to = prof_memory_sink(&profile->memory);
    prof_gzip_begin(&profile->gzip, &to, packing, prof_gzip_bytes());
    profile->output.sink = prof_gzip_sink(&profile->gzip);
    if (!(write_profile(profile) > 0) ||
        prof_gzip_end(&profile->gzip, PROF_OK) != PROF_OK)
        return -1;
    return (double)(bench_cpu_ns() - begun) / 1e6;
}

static void
make(struct profile *profile, const struct bench_load *load)
{
    const size_t records_max = load->n + 1;

    bench_ours_make(&profile->ours, load);
    for (int i = 0; i < 3; i++) {
        if (prof_heap_next_cycle(profile->ours.prof) != PROF_OK ||
            prof_heap_flush(profile->ours.prof) != PROF_OK)
            exit(1);
    }
    profile->records = malloc(records_max * sizeof *profile->records);
    profile->room = (size_t)load->n * 256 + (64U << 20);
    profile->raw = bench_pages(profile->room);
    profile->output.symbols =
        (struct prof_symbols){.find = find, .context = profile};
    profile->output.scratch_bytes =
        prof_pprof_scratch_bytes(load->n, LOCATIONS_MAX);
    profile->output.scratch = bench_pages(profile->output.scratch_bytes);
    for (int i = 0; i < FUNCTIONS; i++)
        snprintf(profile->names[i], sizeof profile->names[i], "function_%d", i);
    if (profile->records == NULL ||
        prof_heap_snapshot(profile->ours.prof, PROF_SELECT_ALL,
                           profile->records, records_max,
                           &profile->records_count) != PROF_OK)
        exit(1);
}

int
main(void)
{
    static struct profile profile;
    struct bench_load load;
    struct bench_peer peers[2]; /* Go, protobuf-c */
    struct bench bench;
    struct bench_command commands[] = {{&peers[0], "profile"},
                                       {&peers[1], "profile"}};
    struct bench_entrant gzipped[3] = {{"profsim", gzip_once, &profile}};
    size_t count = 1;
    const struct bench_entrant encoded[] = {{"profsim", encode_once, &profile}};
    struct bench_row row = {.operation = "pb.gz",
                            .unit = "ms",
                            .goal_peer = "go1.19",
                            .goal_ratio = 10,
                            .goal_best = 4.5,
                            .depth = DEPTH};

    bench_begin(&bench, "profile", 2);
    row.n = bench.quick ? 10000 : 100000;
    (void)bench_go_start(&peers[0]);
    (void)bench_peer_start(&peers[1], "protobuf-c",
                           "out/bench/peers/protobuf_c");
    bench_load_make(&load, BENCH_CALLS, DEPTH, row.n);
    make(&profile, &load);
    for (size_t i = 0; i < 2; i++) {
        if (peers[i].to == NULL) {
            bench_skip(&bench, peers[i].name, "not built (make bench-peers)");
            continue;
        }
        (void)bench_peer_ask(&peers[i], "load %s", load.path);
        gzipped[count++] = (struct bench_entrant){
            peers[i].name, bench_peer_once, &commands[i]};
    }
    bench_compare(&bench, &row, gzipped, count);
    row.operation = "encode";
    row.goal_ratio = row.goal_best = 0;
    bench_compare(&bench, &row, encoded, 1);
    bench_load_free(&load);
    for (size_t i = 0; i < 2; i++)
        bench_peer_stop(&peers[i]);
    return bench_end(&bench);
}
