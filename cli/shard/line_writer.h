/*
 * line_writer.h -- writes the files that line_reader.h reads: lines, and a last
 * line that shows whether the file is complete.
 */
#ifndef CLI_LINE_WRITER_H
#define CLI_LINE_WRITER_H

#include <stdio.h>

/*
 * Write a file: the lines that `print` prints, and a last line, "end SUM". The
 * file appears whole or not at all.
 *
 * in:      print, called once, with the value
 * returns: NULL if the file was written; otherwise why not
 */
const char *cli_lines_write(const char *path,
                            void (*print)(FILE *file, const void *value),
                            const void *value);

#endif
