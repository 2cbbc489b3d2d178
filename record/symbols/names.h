/*
 * names.h -- names for the addresses of this process, for its own profiles.
 */
#ifndef RECORD_SYMBOLS_NAMES_H
#define RECORD_SYMBOLS_NAMES_H

#include "prof/symbol.h"

struct cli_names; /* opaque */

/* in: mappings, of this process (prof_process_mappings()) */
struct cli_names *cli_names_open(const struct prof_mapping *mappings,
                                 size_t mappings_count);

/* Frees all texts. */
void cli_names_close(struct cli_names *names);

/* returns: the symbols for a profile's writer; valid until cli_names_close() */
struct prof_symbols cli_names_symbols(struct cli_names *names);

#endif
