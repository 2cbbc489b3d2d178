/* blocks.h -- a guard behind each block of memory that is asked for. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

/* returns: how many blocks have not been given back */
uint32_t blocks_guarded(void);

#endif
