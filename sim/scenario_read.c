/* scenario_read.c -- a scenario from a file: any file, pipes included. */
#include "scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All bytes of a file, at most one more than SIM_SCENARIO_FILE_MAX. */
static char *
read_all(FILE *file, size_t *bytes)
{
    size_t room = 65536;
    char *text = malloc(room);

    *bytes = 0;
    while (text != NULL) {
        const size_t got = fread(text + *bytes, 1, room - *bytes, file);
        char *larger;

        *bytes += got;
        if (*bytes < room || room > SIM_SCENARIO_FILE_MAX)
            break;
        room *= 2;
        larger = realloc(text, room);
        if (larger == NULL)
            free(text);
        text = larger;
    }
    return text;
}

struct sim_scenario *
sim_scenario_read(const char *path, struct sim_error *error)
{
    struct sim_scenario *scenario = NULL;
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t bytes;

    if (file == NULL) {
        (void)snprintf(error->text, sizeof error->text, "%.120s: %s", path,
                       strerror(errno));
        return NULL;
    }
    errno = 0;
    text = read_all(file, &bytes);
    if (text == NULL || ferror(file))
        (void)snprintf(error->text, sizeof error->text, "%.120s: %s", path,
                       errno != 0 ? strerror(errno) : "cannot be read");
    else
        scenario = sim_scenario_parse(text, bytes, path, error);
    free(text);
    (void)fclose(file);
    return scenario;
}
