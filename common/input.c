/* input.c -- see input.h. */
#include "common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *begins;
    size_t bytes_max;
} kinds[] = {
    [SIM_INPUT_OTHER] = {"", 0},
    [SIM_INPUT_SCENARIO] = {"profsim scenario", SIM_INPUT_SCENARIO_MAX},
    [SIM_INPUT_RECORDING] = {"PROFREC\n", (size_t)1 << 30},
    [SIM_INPUT_RESULT] = {"profsim result", (size_t)1 << 19},
};

static enum sim_input_kind
kind_of(const uint8_t *bytes, size_t bytes_count)
{
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].begins);

        if (bytes_count >= length &&
            memcmp(bytes, kinds[i].begins, length) == 0)
            return (enum sim_input_kind)i;
    }
    return SIM_INPUT_OTHER;
}

static bool
fail(struct sim_input *input, const char *reason)
{
    sim_input_free(input);
    snprintf(input->reason, sizeof input->reason, "%s", reason);
    return false;
}

static bool
read_all(struct sim_input *input, FILE *file)
{
    size_t room = 4096;

    input->bytes = malloc(room);
    while (input->bytes != NULL) {
        uint8_t *larger;

        errno = 0;
        input->bytes_count += fread(input->bytes + input->bytes_count, 1,
                                    room - input->bytes_count, file);
        if (ferror(file))
            return fail(input, errno != 0 ? strerror(errno) : "cannot be read");
        input->kind = kind_of(input->bytes, input->bytes_count);
        if (input->bytes_count < room || input->kind == SIM_INPUT_OTHER)
            return true;
        if (input->bytes_count > kinds[input->kind].bytes_max) {
            char reason[64];

            snprintf(reason, sizeof reason, "the file is larger than %zu bytes",
                     kinds[input->kind].bytes_max);
            return fail(input, reason);
        }
        room *= 2;
        larger = realloc(input->bytes, room);
        if (larger == NULL)
            break;
        input->bytes = larger;
    }
    return fail(input, "not enough memory");
}

bool
sim_input_read(struct sim_input *input, const char *path)
{
    const bool is_standard = strcmp(path, "-") == 0;
    FILE *file = is_standard ? stdin : fopen(path, "rb");
    bool good;

    *input = (struct sim_input){.kind = SIM_INPUT_OTHER};
    if (file == NULL)
        return fail(input, strerror(errno));
    good = read_all(input, file);
    if (!is_standard)
        (void)fclose(file);
    return good;
}

bool
sim_input_read_regular(struct sim_input *input, const char *path)
{
    const int descriptor =
        open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    const bool is_link = descriptor < 0 && errno == ELOOP;
    struct stat like = {.st_mode = 0};
    FILE *file;
    bool good;

    *input = (struct sim_input){.kind = SIM_INPUT_OTHER};
    if (descriptor < 0)
        return fail(input, is_link ? "a link" : strerror(errno));
    if (fstat(descriptor, &like) != 0 || !S_ISREG(like.st_mode)) {
        close(descriptor);
        return fail(input, "not a regular file");
    }
    file = fdopen(descriptor, "rb");
    if (file == NULL) {
        close(descriptor);
        return fail(input, "not enough memory");
    }
    good = read_all(input, file);
    (void)fclose(file);
    return good;
}

void
sim_input_free(struct sim_input *input)
{
    free(input->bytes);
    input->bytes = NULL;
    input->bytes_count = 0;
}
