/*
 * lost_files.h -- what processes under the profiler lost: FOLDER/PID.lost, in
 * the profiler's words, becomes PID.lost.txt, in sentences.
 */
#ifndef CLI_LOST_FILES_H
#define CLI_LOST_FILES_H

/* Print the sentences, too, on stderr; a file that is no such list is left. */
void cli_lost_files(const char *folder);

#endif
