/* repeated.h -- runs that are made twice, and compared (repeat.c). */
#ifndef PROPS_REPEATED_H
#define PROPS_REPEATED_H

/* The first run and one in a hundred are made twice, and no other. */
void repeated_count(void);

/* The first access that differs is named, and how it does. */
void repeated_differs(void);

#endif
