/*
 * fuzz_scenario.c -- any bytes as a scenario file: accepted or refused, never a
 * crash; and a scenario that was read and printed is read back unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/fuzz/fuzz.h"
#include "sim/scenario/scenario.h"

static char *
print(const struct sim_scenario *scenario, size_t *bytes_count)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes_count);

    if (file == NULL || !sim_scenario_print(file, scenario) ||
        fclose(file) != 0)
        abort();
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    struct sim_error error;
    size_t first_bytes;
    size_t second_bytes;
    struct sim_scenario *scenario =
        sim_scenario_parse((const char *)bytes, bytes_count, "fuzz", &error);
    char *first;
    char *second;

    if (scenario == NULL)
        return 0;
    first = print(scenario, &first_bytes);
    sim_scenario_free(scenario);
    scenario = sim_scenario_parse(first, first_bytes, "fuzz", &error);
    if (scenario == NULL)
        abort();
    second = print(scenario, &second_bytes);
    sim_scenario_free(scenario);
    if (first_bytes != second_bytes || memcmp(first, second, first_bytes) != 0)
        abort();
    free(first);
    free(second);
    return 0;
}
