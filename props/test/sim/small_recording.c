/* small_recording.c -- see small_recording.h. */
#include "small_recording.h"

void
props_small_recording_tables(struct cli_recfile *file)
{
    static const char *const arguments[] = {"prog", "", "a b"};
    static const uint8_t id[3] = {9, 0, 255};
    struct cli_recfile_about about = {.ticks_per_second = 1000000000,
                                      .start_ticks = 77,
                                      .forked_ticks = 70,
                                      .process = 12,
                                      .parent = 11,
                                      .depth_max = 4,
                                      .arguments_count = 3,
                                      .arguments = arguments};
    struct cli_recfile_module module = {.start = 0x1000,
                                        .length_bytes = 0x500,
                                        .offset = 64,
                                        .path = 2,
                                        .id = id,
                                        .id_bytes = 3};
    struct cli_recfile_frame frames[3] = {
        {.pc = 0x1010, .module = 1, .function = 1, .function_offset = 7},
        {.pc = UINT64_MAX, .file = 3, .line = UINT32_MAX},
        {.pc = 0x1001, .module = 1},
    };
    static const uint32_t stacks[3][4] = {{0, 1}, {2, 1}, {2, 0, 2, 1}};
    int i;

    cli_recfile_about(file, &about);
    cli_recfile_string(file, "work");
    cli_recfile_string(file, "/bin/prog");
    cli_recfile_string(file, "prog.c");
    cli_recfile_module(file, &module);
    for (i = 0; i < 3; i++)
        cli_recfile_frame(file, &frames[i]);
    cli_recfile_stack(file, stacks[0], 2);
    cli_recfile_stack(file, stacks[1], 2);
    cli_recfile_stack(file, stacks[0], 0);
    cli_recfile_stack(file, stacks[2], 4);
    cli_recfile_thread(file, 12, "");
    cli_recfile_thread(file, 900, "io worker");
}
