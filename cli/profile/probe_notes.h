/*
 * probe_notes.h -- static probes of an ELF file, as its .note.stapsdt has them.
 */
#ifndef CLI_PROBE_NOTES_H
#define CLI_PROBE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses are the file's; where it is mapped, its base comes on top. */
struct cli_probe {
    char provider[64];
    char name[64];
    char arguments[192]; /* "8@%rdi 8@%rsi": bytes and operand of each */
    uint64_t address;    /* of the nop */
    uint64_t semaphore;  /* 0: none */
};

/*
 * Read all probes.
 *
 * out:     *probes, *count; free(*probes), also on failure
 * returns: NULL, or why not. A file without probes has none: that is no failure
 */
const char *cli_probe_notes_read(const char *path, struct cli_probe **probes,
                                 size_t *count);

/* returns: how many arguments it has */
size_t cli_probe_arguments(const struct cli_probe *probe);

#endif
