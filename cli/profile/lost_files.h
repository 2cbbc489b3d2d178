/*
 * lost_files.h -- what processes under the profiler lost: turns
 * FOLDER/PID.lost, in the profiler's terms, into PID.lost.txt, in sentences.
 */
#ifndef CLI_LOST_FILES_H
#define CLI_LOST_FILES_H

/* Print the sentences on stderr, too. A file that is no such list is left
 * alone. */
void cli_lost_files(const char *folder);

#endif
