/* spool_modules.c -- see spool_modules.h. */
#include "spool_modules.h"

#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "recording.h"
#include "spool_case.h"
#include "unit_test.h"

/* Convert a spool with one module. in: left, words of its record */
static void
expect_module(uint64_t id_bytes, uint64_t path_bytes, uint32_t left)
{
    uint64_t words[40] = {0x5000, 0x5000, 0x6000, 0x200,
                          id_bytes | path_bytes << 32};
    const bool is_sound = id_bytes <= 64 && id_bytes + path_bytes <= 8 * left;
    struct sim_recording *recording;
    struct sim_recorded_frame frame;
    struct cli_converted what;
    char error[200] = "";

    memset(&words[5], 'x', sizeof words - 40);
    spool_begin();
    spool_append_alloc(1, 0xa000, 1, spool_append_stack(0x5010, 1));
    spool_append(EMBED_MODULE, 0, 0, words, 5 + left);
    assert_int_equal(spool_convert(&what, error, sizeof error), is_sound);
    if (!is_sound) {
        assert_non_null(strstr(error, "a module of another length"));
        return;
    }
    recording = spool_open_result();
    assert_true(sim_recording_find(recording, 0x5010, &frame));
    assert_int_equal(strlen(frame.module), path_bytes);
    sim_recording_close(recording);
}

void
spool_modules_check_lengths(void)
{
    static const uint64_t ids[] = {0, 1, 8, 63, 64, 65, UINT32_MAX};
    static const uint64_t paths[] = {0, 1, 7, 64, 100};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
            const uint64_t words = (ids[i] + paths[k] + 7) / 8;
            const uint32_t left = words < 30 ? (uint32_t)words : 30;

            expect_module(ids[i], paths[k], left);
            if (left > 0)
                expect_module(ids[i], paths[k], left - 1);
        }
}

/* A file of two segments came where another was: also the segment at a place of
 * its own is moved up. */
void
spool_modules_check_segments(void)
{
    static const uint64_t places[] = {0x5000, 0x7000};
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct cli_converted what;
    struct sim_recorded event;
    char error[200];
    uint64_t pcs[3];

    spool_begin();
    spool_append_alloc(1, 0xa000, 1, spool_append_stack(0x5010, 1));
    spool_append_module_of("/no/a");
    spool_append(EMBED_UNLOAD, 0, 0, &(uint64_t){START + 1}, 1);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t words[7] = {0x5000, places[i], places[i] + 0x1000, 0x2000 * i,
                             1 | UINT64_C(5) << 32};

        memcpy(&words[5], "\1/no/b", 6);
        spool_append_alloc(2 + i, 0xb000 + 16 * i, 1,
                           spool_append_stack(places[i] + 16, 1));
        spool_append(EMBED_MODULE, 0, 0, words, 6);
    }
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (size_t i = 0; i < 3; i++) {
        uint32_t number;

        assert_true(sim_recording_next(&cursor, &event));
        assert_true(sim_recording_stack(recording, event.stack, &number, 1));
        pcs[i] = sim_recording_frame(recording, number).pc;
    }
    sim_recording_close(recording);
    assert_int_equal(pcs[0], 0x5010);
    assert_in_range(pcs[1], UINT64_C(1) << 48, UINT64_MAX);
    assert_int_equal(pcs[2] - pcs[1], 0x2000);
}
