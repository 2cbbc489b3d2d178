/*
 * record_outputs.h -- which names `profsim record` takes for the recording.
 */
#ifndef RECORD_OUTPUTS_H
#define RECORD_OUTPUTS_H

/* A program, a link to it, a script or a program in PATH is not overwritten. */
void record_check_used(void);

/* A file that has only the name of the program may be replaced. */
void record_check_unused(void);

/* An empty name, and `-`. */
void record_check_unnamed(void);

#endif
