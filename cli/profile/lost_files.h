/*
 * lost_files.h -- what processes under the profiler lost: turns
 * FOLDER/PID.lost, in the profiler's terms, into PID.lost.txt, in sentences.
 */
#ifndef CLI_LOST_FILES_H
#define CLI_LOST_FILES_H

/* Also print the sentences on stderr. A file that is not such a list is left
 * alone. */
void cli_lost_files(const char *folder);

#endif
