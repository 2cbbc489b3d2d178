/*
 * line_writer.h -- writes the files that line_reader.h reads: lines, and a last
 * line that shows whether the file is complete.
 */
#ifndef CLI_LINE_WRITER_H
#define CLI_LINE_WRITER_H

#include <stdio.h>

/*
 * Print all lines but the last, "end SUM", which is added. The file appears
 * whole or not at all.
 *
 * in:      print, which prints the lines; called once, with the value
 * returns: NULL; why it is not written
 */
const char *cli_lines_write(const char *path,
                            void (*print)(FILE *file, const void *value),
                            const void *value);

#endif
