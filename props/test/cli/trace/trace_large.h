/* trace_large.h -- a trace that is read in several pieces, and one that does
 * not end. */
#ifndef PROPS_TRACE_LARGE_H
#define PROPS_TRACE_LARGE_H

enum { TRACE_LARGE_STACKS = 40000 };

/* Write a trace of three events and many stacks. */
void trace_large_write(const char *path);

#endif
