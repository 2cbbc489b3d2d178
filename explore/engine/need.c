/* need.c -- see need.h. */
#include "explore/engine/need.h"

#include <sys/mman.h>
#include <unistd.h>

void *
sim_need(void *memory)
{
    static const char text[] = "profsim: not enough memory\n";

    if (memory != NULL && memory != MAP_FAILED)
        return memory;
    /* Neither stdio nor exit(): the caller may be a fiber of an explored
     * program, or a process that shares files with others. */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    _exit(1);
}
