/*
 * json.h -- foreign text as a JSON string, which may also stand inside the
 * <script> of a page.
 */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdio.h>

/*
 * Print a string with its quotes. Escapes what sim_escape_text() escapes,
 * except the ends of lines and tabs, which JSON can express; `<` is printed as
 * \u003c, so that no text ends a script. Errors are those of `file`.
 *
 * in: text; NULL prints null
 */
void sim_json_string(FILE *file, const char *text);

#endif
