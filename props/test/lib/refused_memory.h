/*
 * refused_memory.h -- lets a chosen request for memory fail. Link with
 * --wrap=malloc, --wrap=calloc and --wrap=realloc.
 */
#ifndef PROPS_REFUSED_MEMORY_H
#define PROPS_REFUSED_MEMORY_H

#include <stdint.h>

extern uint32_t refused_memory_at;      /* counted down, fails at 1; 0: off */
extern uint32_t refused_memory_callocs; /* how often calloc() was called */

#endif
