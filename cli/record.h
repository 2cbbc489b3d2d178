/*
 * record.h -- `profsim record`: run a command under the recorder.
 */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

/*
 * in:      argv[0] is "record"
 * returns: the command's exit status, 128 + the signal that killed it, or 1
 *          with one line on stderr: a usage error, or the recording failed
 */
int cli_record(int argc, char **argv);

#endif
