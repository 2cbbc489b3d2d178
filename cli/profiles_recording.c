/*
 * profiles_recording.c -- the profile files of a recording: its names, and the
 * files that its code came from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles.h"

bool
cli_is_telling(const char *function)
{
    static const char *const plumbing[] = {"malloc", "calloc", "realloc",
                                           "reallocarray"};

    for (size_t i = 0; i < sizeof plumbing / sizeof *plumbing; i++) {
        if (strcmp(function, plumbing[i]) == 0)
            return false;
    }
    return true;
}

static void
find_recorded(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct sim_recording *recording = context;
    struct sim_recorded_frame frame;

    if (pc == CLI_PROFILES_LOST) {
        symbol->function = "(no stack)";
        symbol->entry = CLI_PROFILES_LOST;
        return;
    }
    if (!sim_recording_find(recording, pc, &frame))
        return;
    symbol->function = frame.function;
    symbol->file = frame.file;
    symbol->line = frame.line;
    symbol->entry = frame.function_offset != 0 ? pc - frame.function_offset : 0;
    symbol->kind = cli_is_telling(frame.function) ? PROF_FRAME_PROGRAM
                                                  : PROF_FRAME_RUNTIME;
}

/* Stretch the mapping of this frame's module over it. */
static void
cover_frame(struct prof_mapping *mappings, uint32_t *count,
            const struct sim_recorded_frame *frame)
{
    uint32_t i = 0;

    while (i < *count && strcmp(mappings[i].file, frame->module) != 0)
        i++;
    if (i == *count) {
        mappings[(*count)++] = (struct prof_mapping){.start = frame->pc - 1,
                                                     .limit = frame->pc + 1,
                                                     .file = frame->module};
        return;
    }
    if (frame->pc - 1 < mappings[i].start)
        mappings[i].start = frame->pc - 1;
    if (frame->pc + 1 > mappings[i].limit)
        mappings[i].limit = frame->pc + 1;
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* How much speaks for this frame's module being the program itself? */
static int
program_signs(const struct sim_recording *recording,
              const struct sim_recorded_frame *frame)
{
    const char *const name = base_name(frame->module);

    if (sim_recording_totals(recording)->arguments > 0 &&
        strcmp(name, base_name(sim_recording_argument(recording, 0))) == 0)
        return 3;
    if (strcmp(frame->function, "main") == 0)
        return 2;
    return strstr(name, ".so") == NULL;
}

/* Readers take the first mapping for the program; the others keep their order.
 */
static void
program_first(struct prof_mapping *mappings, uint32_t count,
              const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct sim_recorded_frame program = {.module = ""};
    struct prof_mapping first;
    uint32_t at = 0;
    int most = 0;

    for (uint32_t i = 0; i < totals->frames; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, i);
        const int signs =
            frame.module[0] == '\0' ? 0 : program_signs(recording, &frame);

        if (signs > most) {
            most = signs;
            program = frame;
        }
    }
    if (most == 0)
        return;
    while (at + 1 < count && strcmp(mappings[at].file, program.module) != 0)
        at++;
    first = mappings[at];
    memmove(&mappings[1], &mappings[0], at * sizeof *mappings);
    mappings[0] = first;
}

bool
cli_profiles_write_recording(struct cli_profiles *profiles,
                             const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct prof_mapping *mappings =
        calloc((size_t)totals->frames + 1, sizeof *mappings);
    union {
        const struct sim_recording *in;
        void *out;
    } context = {.in = recording};
    bool good;

    if (mappings == NULL) {
        fprintf(stderr, "profsim: %s: not enough memory\n", profiles->folder);
        return false;
    }
    profiles->mappings_count = 0;
    for (uint32_t i = 0; i < totals->frames; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, i);

        if (frame.module[0] != '\0')
            cover_frame(mappings, &profiles->mappings_count, &frame);
    }
    program_first(mappings, profiles->mappings_count, recording);
    profiles->mappings = mappings;
    profiles->symbols =
        (struct prof_symbols){.find = find_recorded, .context = context.out};
    profiles->rate_bytes = 1;
    profiles->ticks_per_second =
        totals->ticks_per_second > 0 ? totals->ticks_per_second : 1000000000;
    good = cli_profiles_write(profiles);
    free(mappings);
    return good;
}
