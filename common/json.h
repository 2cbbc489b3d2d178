/*
 * json.h -- prints untrusted text as a JSON string, safe inside the <script> of
 * a page too.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdio.h>

/*
 * Print a string with its quotes. Escapes what sim_escape_text() escapes,
 * except newlines and tabs, which JSON can express. `<` is printed as \u003c,
 * so that no text ends a script. Errors show in ferror(file).
 *
 * in: text; NULL prints null
 */
void sim_json_string(FILE *file, const char *text);

#endif
