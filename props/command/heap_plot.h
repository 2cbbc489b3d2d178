/* heap_plot.h -- plots as text, after each event, the bytes that a world has in
 * use and the bytes in use that its heap profile has published. */
#ifndef PROPS_COMMAND_HEAP_PLOT_H
#define PROPS_COMMAND_HEAP_PLOT_H

#include <stdint.h>

#include "props/judge/run.h"
#include "sim/scenario/scenario.h"

struct cli_heap_plot;

/* returns: NULL if there is not enough memory */
struct cli_heap_plot *cli_heap_plot_new(const struct sim_scenario *scenario);
void cli_heap_plot_delete(struct cli_heap_plot *plot);

/* Record the heap after the event that has just happened. */
void cli_heap_plot_note(struct cli_heap_plot *plot,
                        const struct props_run *run);

/* Print the plot, or nothing if no bytes were ever in use. */
void cli_heap_plot_print(const struct cli_heap_plot *plot);

#endif
