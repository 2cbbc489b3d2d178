/* counter.h -- the processor's cycle counter in an explored run. */
#ifndef PROPS_KERNELS_COUNTER_H
#define PROPS_KERNELS_COUNTER_H

/* Begin a run: no processor has read the counter. */
void counter_new(void);

#endif
