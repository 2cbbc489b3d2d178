/* trace_readers.h -- readers on threads of their own (T11). */
#ifndef PROPS_JUDGE_TRACE_READERS_H
#define PROPS_JUDGE_TRACE_READERS_H

/*
 * Let one reader sleep, let a second one try to read, and stop tracing.
 *
 * returns: NULL if everything happened as it must, else what did not (static
 *          text)
 */
const char *trace_readers_try(void);

#endif
