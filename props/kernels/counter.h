/* counter.h -- the processor's counter of cycles, in an explored run. */
#ifndef PROPS_KERNELS_COUNTER_H
#define PROPS_KERNELS_COUNTER_H

/* All processors are new, and nothing was read. */
void counter_new(void);

#endif
