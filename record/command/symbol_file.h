/*
 * symbol_file.h -- the tables of a file of code, read once: many images of
 * processes need the same libraries.
 */
#ifndef RECORD_COMMAND_SYMBOL_FILE_H
#define RECORD_COMMAND_SYMBOL_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/symbols/debug_info.h"
#include "record/symbols/eh_table.h"
#include "record/symbols/symbol_table.h"

/* Addresses are those in the file. */
struct cli_symbol_file {
    char *path;
    uint8_t *id; /* its build id */
    uint32_t id_bytes;
    Dwfl *dwfl; /* NULL: the file is gone, or has another build id by now */
    bool is_read;
    struct cli_symbol_table symbols;
    struct cli_eh_table unwind;
    struct cli_debug_info *debug_info; /* NULL: none */
};

struct cli_symbol_files; /* opaque */

struct cli_symbol_files *cli_symbol_files_open(void);
void cli_symbol_files_close(struct cli_symbol_files *files);

/* in: id, which the file must have; none if id_bytes is 0. returns: valid as
 * long as the files */
struct cli_symbol_file *cli_symbol_file_of(struct cli_symbol_files *files,
                                           const char *path, const uint8_t *id,
                                           uint32_t id_bytes);

/* Read the tables of a file, unless that was done. */
void cli_symbol_file_read(struct cli_symbol_file *file);

/*
 * Open a path that a log or profile names. The path may now be anything:
 * opening a pipe would wait for its other end, and opening a device may have
 * side effects.
 *
 * returns: a descriptor of a regular file, or -1
 */
int cli_symbol_file_open(const char *path);

#endif
