/*
 * eh_table.h -- where functions begin, in files without symbols.
 */
#ifndef RECORD_SYMBOLS_EH_TABLE_H
#define RECORD_SYMBOLS_EH_TABLE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The sorted table of .eh_frame_hdr; points into the file's data. */
struct cli_eh_table {
    const uint8_t *rows;
    uint32_t count;
    uint64_t address; /* of the section, in the file */
};

/* in: table, zeroed; it stays empty if the file has none of the usual layout */
void cli_eh_table_find(struct cli_eh_table *table, Elf *elf);

/*
 * in:      address, in the file
 * out:     *start, the first byte of the function around it
 * returns: false if it lies before all functions
 */
bool cli_eh_table_start(const struct cli_eh_table *table, uint64_t address,
                        uint64_t *start);

#endif
