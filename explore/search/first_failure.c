/* first_failure.c -- keeps the first of several failures. */
#include "explore/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

void
sim_search_keep_failure(struct sim_exhaust_result *result,
                        const struct sim_run *run,
                        const struct sim_choice *list, uint32_t count,
                        const struct sim_run_options *options)
{
    const size_t bytes = count * sizeof *list;

    if (result->failures++ != 0)
        return;
    result->first_failure = *run;
    result->options = *options;
    result->choices_count = count;
    result->choices = sim_need(malloc(bytes > 0 ? bytes : 1));
    memcpy(result->choices, list, bytes);
}
