/* quote.h -- a word as a shell reads it back. */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <stdio.h>

/*
 * Print a path so that a shell makes the same word of it, on one line of
 * printable characters: as it is, 'in quotes', or $'with \033'.
 */
void cli_quote_path(FILE *file, const char *path);

/* The same for a word that may be an option. */
void cli_quote_word(FILE *file, const char *word);

#endif
