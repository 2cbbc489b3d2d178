/* quote.h -- quotes a word for a shell. */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <stdio.h>

/*
 * Print a path so that a shell reads the same word, on one line of printable
 * characters: unquoted, 'in quotes', or $'with \033'.
 */
void cli_quote_path(FILE *file, const char *path);

/* The same for a word that may be an option. */
void cli_quote_word(FILE *file, const char *word);

#endif
