/*
 * escape.h -- escapes untrusted bytes: what a file, a program or a path
 * contains can then neither end a line nor control a terminal.
 *
 *      newline   \n      escape sequence   \x1b[31m      invalid UTF-8   \xff
 *
 * Printable ASCII and well-formed UTF-8 stay as they are, a backslash too, so
 * escaping twice changes nothing. Characters that are invisible, reorder a line
 * or end one (C1 controls, zero-width and bidirectional marks, U+2028), and the
 * two that XML does not allow (U+FFFE, U+FFFF), are escaped byte by byte.
 */
#ifndef COMMON_ESCAPE_H
#define COMMON_ESCAPE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* returns: bytes of the printable character at `text`; 0 if it has none */
size_t sim_escape_printable(const char *text, size_t bytes);

/* returns: bytes of the UTF-8 character at `text`; 0 if it is malformed */
size_t sim_escape_utf8(const char *text, size_t bytes);

/* Print a text, escaped. Errors are those of `file` (ferror). */
void sim_escape_text(FILE *file, const char *text);

/* Print one line: formatted, then escaped as a whole, then ended. */
void sim_escape_line(FILE *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_escape_line_of(FILE *file, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
