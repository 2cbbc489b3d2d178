/* quote.h -- quotes a word for a shell. */
#ifndef COMMON_COMMAND_QUOTE_H
#define COMMON_COMMAND_QUOTE_H

#include <stdio.h>

/*
 * Print a path as a word that a shell reads as that path, in printable
 * characters on one line: unquoted, 'in quotes', or $'with \033'.
 */
void cli_quote_path(FILE *file, const char *path);

/* The same for a word that may be an option, which is printed without "./". */
void cli_quote_word(FILE *file, const char *word);

#endif
