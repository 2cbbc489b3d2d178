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

/* returns: a random number below `limit`; *seed advances */
uint64_t mutate_below(uint64_t *seed, uint64_t limit);

/* Make a few changes, or none. in: other, from which pieces are taken; text,
 * whether the file has lines */
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

/* Correct the checksums: of a recording's blocks, or at the end of a shard's
 * result. */
void mutate_mend_recording(struct mutate_file *file);
void mutate_mend_result(struct mutate_file *file);

#endif
