/*
 * lost_files.h -- turns FOLDER/PID.lost, the profiler's counts of what was lost
 * in a process, into sentences in PID.lost.txt.
 */
#ifndef RECORD_COMMAND_LOST_FILES_H
#define RECORD_COMMAND_LOST_FILES_H

/* Convert all files of a folder, and also print the sentences on stderr. A file
 * in another format is left alone. */
void cli_lost_files(const char *folder);

#endif
