/*
 * mutate.h -- damaged files: any change at all, or damage that every reader
 * must notice. The same file and seed always give the same bytes.
 */
#ifndef PROPS_FUZZ_MUTATE_H
#define PROPS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MUTATE_ROOM = 1 << 18 };

struct mutate_file {
    size_t count;
    uint8_t bytes[MUTATE_ROOM];
};

/* returns: a number below `limit`; *seed moves on */
uint64_t mutate_below(uint64_t *seed, uint64_t limit);

/* Change a few things, or nothing. in: other, to splice with; text, as lines */
void mutate_any(struct mutate_file *file, const struct mutate_file *other,
                bool text, uint64_t *seed);

/*
 * Do to a text what makes any text of ours invalid: a byte that is not text,
 * another first line, a line with an unknown word, a number beyond all ranges.
 *
 * returns: false if the text has nothing to do it to
 */
bool mutate_damage_text(struct mutate_file *file, uint64_t *seed);

/* Make a trace invalid: change its header, its last number or its end. */
bool mutate_damage_trace(struct mutate_file *file, uint64_t *seed);

/* Make a recorder's spool with one record of each kind. */
void mutate_make_spool(struct mutate_file *file);

/* Make checksums right again: of a recording's blocks, of a table's end. */
void mutate_mend_recording(struct mutate_file *file);
void mutate_mend_table(struct mutate_file *file);

#endif
