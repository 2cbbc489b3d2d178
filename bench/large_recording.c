/*
 * large_recording.c -- writes a recording of any size of a made-up program,
 * whose stacks form a tree, and whose sizes and lifetimes are typical.
 *
 * usage: large_recording FILE EVENTS STACKS [THREADS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "recfile.h"
#include "rng.h"

enum { FRAMES = 20000, DEPTH = 24, LIVE_MAX = 1 << 20 };

static void
write_tables(struct cli_recfile *file, struct sim_rng *rng, uint32_t stacks,
             uint32_t threads)
{
    static const char *const arguments[] = {"large"};
    static const struct cli_recfile_about about = {.ticks_per_second =
                                                       1000000000,
                                                   .depth_max = 32,
                                                   .arguments_count = 1,
                                                   .arguments = arguments};
    uint32_t frames[DEPTH];

    cli_recfile_about(file, &about);
    for (uint32_t i = 0; i < FRAMES / 4; i++) {
        char name[48];

        snprintf(name, sizeof name, "_ZN5large8function%05" PRIu32 "Ei", i);
        cli_recfile_string(file, name);
    }
    for (uint32_t i = 0; i < FRAMES; i++)
        cli_recfile_frame(file, &(struct cli_recfile_frame){
                                    .pc = 0x10000 + 16 * i,
                                    .function = 1 + i / 4,
                                    .function_offset = 16 * (i % 4) + 1});
    for (uint32_t i = 0; i < DEPTH; i++)
        frames[i] = sim_rng_below(rng, FRAMES);
    for (uint32_t i = 0; i < stacks; i++) {
        const uint32_t fresh = 1 + sim_rng_below(rng, DEPTH / 3);

        for (uint32_t k = 0; k < fresh; k++)
            frames[k] = sim_rng_below(rng, FRAMES);
        cli_recfile_stack(file, frames, DEPTH);
    }
    for (uint32_t i = 0; i < threads; i++)
        cli_recfile_thread(file, 1 + i, "");
}

/* Most objects die young; one in sixteen lives until others push it out. */
static void
write_events(struct cli_recfile *file, struct sim_rng *rng, uint64_t events,
             uint32_t stacks, uint32_t threads)
{
    uint64_t *live = calloc(LIVE_MAX, sizeof *live);
    uint64_t objects = 0;
    uint64_t ticks = 0;
    uint32_t count = 0;

    if (live == NULL)
        exit(1);
    for (uint64_t i = 0; i < events; i++) {
        const uint32_t thread = sim_rng_below(rng, threads);

        ticks += sim_rng_below(rng, 1000);
        if (count == LIVE_MAX || (count > 0 && sim_rng_below(rng, 32) < 15)) {
            const uint32_t young = count < 64 ? count : 64;
            const uint32_t at = sim_rng_below(rng, 16) == 0
                                    ? sim_rng_below(rng, count)
                                    : count - 1 - sim_rng_below(rng, young);

            cli_recfile_free(file, thread, ticks, live[at]);
            live[at] = live[--count];
        } else {
            cli_recfile_alloc(file, thread, ticks,
                              UINT64_C(16) << sim_rng_below(rng, 8),
                              sim_rng_below(rng, stacks));
            live[count++] = objects++;
        }
    }
    free(live);
}

int
main(int argc, char **argv)
{
    static const uint64_t dropped[CLI_RECFILE_CAUSES];
    const uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const uint32_t stacks = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    const uint32_t threads =
        argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 4;
    struct sim_rng rng = {.state = 1};
    struct cli_recfile file;
    bool written;
    FILE *to;

    if (events == 0 || stacks == 0 || threads == 0) {
        fputs("usage: large_recording FILE EVENTS STACKS [THREADS]\n", stderr);
        return 1;
    }
    cli_recfile_init(&file, 0);
    write_tables(&file, &rng, stacks, threads);
    write_events(&file, &rng, events, stacks, threads);
    cli_recfile_end(&file, dropped);
    to = file.failed ? NULL : fopen(argv[1], "wb");
    written = to != NULL &&
              fwrite(file.bytes, 1, file.bytes_count, to) == file.bytes_count;
    if (to == NULL || fclose(to) != 0 || !written) {
        fprintf(stderr, "large_recording: %s cannot be written\n", argv[1]);
        written = false;
    }
    cli_recfile_release(&file);
    return written ? 0 : 1;
}
