/*
 * recfile_exact.h -- the writer of recordings (cli/record/recfile.h) against a
 * second one: the same bytes but for checksums, which the reader's tests check.
 */
#ifndef PROPS_RECFILE_EXACT_H
#define PROPS_RECFILE_EXACT_H

/* Random stacks and events, in blocks of several lengths. */
void recfile_check_bytes(void);

/* After a failed request for memory nothing more is written. */
void recfile_check_refused(void);

#endif
