/* recording_input.c -- see recording_input.h. */
#include "common/command/recording_input.h"

#include <inttypes.h>

#include "common/monotonic.h"
#include "common/command/complaint.h"
#include "common/progress_line.h"

/* One recording is read at a time. */
static struct props_progress_line progress_line;
static uint64_t began_ms;
static uint64_t done_before = UINT64_MAX; /* so a reading begins */

void
cli_show_progress(uint64_t done, uint64_t total)
{
    const uint64_t now = cli_now_ms();
    double seconds;

    if (done < done_before) /* also as a second pass begins */
        began_ms = now;
    done_before = done;
    if (done == 0 || !props_progress_line_due(&progress_line, now - began_ms))
        return;
    seconds = (double)(now - began_ms) / 1000;
    props_progress_line_show(&progress_line,
                             "%" PRIu64 " of %" PRIu64
                             " events, %.0f %%, %.0f s left",
                             done, total, 100.0 * (double)done / (double)total,
                             seconds / (double)done * (double)(total - done));
}

void
cli_hide_progress(void)
{
    props_progress_line_hide(&progress_line);
    progress_line = (struct props_progress_line){0};
    done_before = UINT64_MAX;
}

struct sim_recording *
cli_take_recording(struct sim_input *input, const char *path)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    char line[1024];

    if (!sim_recording_take_input(&recording, input, &error)) {
        sim_recording_explain(&error, path, line, sizeof line);
        cli_usage("%s", line);
    }
    return recording;
}
