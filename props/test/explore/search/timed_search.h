/* timed_search.h -- whole searches in which each run takes the same time. */
#ifndef TIMED_SEARCH_H
#define TIMED_SEARCH_H

#include <stdint.h>

/* What clock_gettime() says; 0: the time. */
extern uint64_t timed_clock_us;

void timed_search_tells(void);
void timed_search_begins_again(void);
void timed_search_is_late(void);
void timed_search_is_saved(void);
void timed_search_leaves_file(void);
void timed_search_is_reduced(void);

#endif
