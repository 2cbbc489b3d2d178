/*
 * lost_files.h -- turns FOLDER/PID.lost, the profiler's counts of what was lost
 * in a process, into sentences in PID.lost.txt.
 */
#ifndef RECORD_COMMAND_LOST_FILES_H
#define RECORD_COMMAND_LOST_FILES_H

#include <stdbool.h>

/* Convert all files of a folder, and also print the sentences on stderr. A file
 * in another format is left alone. */
void cli_lost_files(const char *folder);

/* Do the counts of a process, as text, say that blocks are missing in its heap
 * profile? */
bool cli_lost_blocks(const char *text);

#endif
