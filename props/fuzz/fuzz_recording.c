/* fuzz_recording.c -- any bytes as a recording: accepted or refused, and
 * then walked safely. */
#include <stdlib.h>
#include <string.h>

#include "props/fuzz/fuzz.h"
#include "common/recording/recording.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    struct sim_input input = {.bytes = malloc(bytes_count + 1),
                              .bytes_count = bytes_count};
    uint64_t events = 0;

    if (input.bytes == NULL)
        abort();
    memcpy(input.bytes, bytes, bytes_count);
    if (!sim_recording_take_input(&recording, &input, &error))
        return 0;
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        events++;
        if (event.kind != SIM_RECORDED_FREE &&
            event.stack >= sim_recording_totals(recording)->stacks)
            abort();
        if ((event.kind == SIM_RECORDED_FREE ||
             event.kind == SIM_RECORDED_RESIZE) &&
            event.object >= cursor.objects)
            abort();
    }
    if (events != sim_recording_events(recording))
        abort();
    sim_recording_close(recording);
    return 0;
}
