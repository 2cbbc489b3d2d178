/* barriers.h -- programs with barriers on all threads (fence.c). */
#ifndef PROPS_BARRIERS_H
#define PROPS_BARRIERS_H

/* Each place of the barriers among other threads' operations is one graph. */
void barriers_count(void);

/* What a barrier tells, and whom. */
void barriers_tell(void);

#endif
