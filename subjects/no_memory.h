/* no_memory.h -- the end of a process that has no memory for its figures. */
#ifndef SUBJECTS_NO_MEMORY_H
#define SUBJECTS_NO_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

/* Say so, and exit with 1, the exit code of bad input and of the system's
 * refusals. */
static inline _Noreturn void
subjects_no_memory(void)
{
    fputs("profsim: not enough memory\n", stderr);
    exit(1);
}

#endif
