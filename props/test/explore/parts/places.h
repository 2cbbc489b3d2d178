/* places.h -- atomic and plain accesses to the same memory (location.c). */
#ifndef PROPS_PLACES_H
#define PROPS_PLACES_H

/* Two atomics of any size and place: refused, or they read what is there. */
void places_pairs(void);

/* Random accesses of one thread, compared with bytes. */
void places_bytes(void);

/* An old value that a plain write made may still be read. Stores that it came
 * over leave no order behind. */
void places_old_values(void);

/* Which accesses of two threads race, and where the report says they are. */
void places_races(void);

#endif
