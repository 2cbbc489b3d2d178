/*
 * notes.h -- the static probes of an ELF file, read without a library and
 * without malloc: this runs inside programs whose malloc is watched.
 */
#ifndef SUBJECTS_NOTES_H
#define SUBJECTS_NOTES_H

#include <stddef.h>
#include <stdint.h>

enum { NOTES_TEXT_MAX = 128 };

/* Addresses are those of the file: add the base at which it is mapped. */
struct note {
    char provider[NOTES_TEXT_MAX];
    char name[NOTES_TEXT_MAX];
    char arguments[NOTES_TEXT_MAX]; /* "8@%rdi 8@%rsi" */
    uint64_t address;               /* of the nop */
    uint64_t semaphore;             /* 0: none */
};

/*
 * Read the notes of .note.stapsdt that belong to a provider, up to `room` of
 * them. A damaged file, or one that is not an ELF file of this machine, has
 * none.
 *
 * out:     notes[0 .. *count - 1]
 * returns: NULL, or why the file cannot be read
 */
const char *notes_read(const char *path, const char *provider,
                       struct note *notes, size_t room, size_t *count);

#endif
