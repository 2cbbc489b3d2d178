/* gdb.h -- shows gdb the threads of an explored program. */
#ifndef EXPLORE_COMMAND_GDB_H
#define EXPLORE_COMMAND_GDB_H

#include <stdbool.h>

/*
 * Write the script that runs the program up to where it stops, shows all
 * threads' stacks, and adds the commands profsim-threads and profsim-thread.
 *
 * returns: false if it cannot be written; reported
 */
bool cli_gdb_write(const char *path);

#endif
