/* frame_lines.h -- the text lines of a stack, in columns. */
#ifndef PROF_PPROF_FRAME_LINES_H
#define PROF_PPROF_FRAME_LINES_H

#include "prof/pprof/builder.h"

/* A text that is being written, with room for the symbols of one stack. */
struct text {
    struct out out;
    struct prof_symbols names;
    struct prof_symbol *symbols; /* PROF_DEPTH_LIMIT of them */
    uintptr_t lost;
};

/* Which frames are shown. */
enum frames_shown {
    FRAMES_PROGRAM, /* without the runtime's frames at the leaf */
    FRAMES_ALL
};

/* returns: false if the arena is too small */
PROF_NODISCARD bool prof_text_begin(struct text *text,
                                    const struct prof_output *output,
                                    struct arena *arena);

/* Write a name, with control bytes replaced so that it cannot end a cell or a
 * line. */
void prof_text_name(struct out *out, const char *name);

/* Write `@` and the addresses of a stack, and end the line. */
void prof_text_addresses(struct text *text, const uintptr_t *stack,
                         uint32_t depth);

/* Write a line for each shown frame, and an empty one. */
void prof_text_frames(struct text *text, const uintptr_t *stack, uint32_t depth,
                      enum frames_shown shown);

#endif
