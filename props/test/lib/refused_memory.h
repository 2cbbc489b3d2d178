/*
 * refused_memory.h -- lets a chosen request for memory fail. Link with
 * --wrap=malloc, --wrap=calloc and --wrap=realloc.
 */
#ifndef PROPS_REFUSED_MEMORY_H
#define PROPS_REFUSED_MEMORY_H

#include <stdint.h>

extern uint32_t refused_memory_at; /* counted down; at 1 it fails; 0: never */
extern uint32_t refused_memory_callocs; /* so many calls of calloc() */

#endif
