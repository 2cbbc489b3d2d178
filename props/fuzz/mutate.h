/*
 * mutate.h -- change files at random: in any way, or so that every reader must
 * notice the damage. The same file and seed always give the same bytes.
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
 * Make a text invalid, whatever its format: insert a byte that is not text, a
 * line with an unknown word or a number beyond all ranges, or change the first
 * line.
 *
 * returns: false if the text has no place for that
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
