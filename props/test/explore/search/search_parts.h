/* search_parts.h -- the state of a search. */
#ifndef SEARCH_PARTS_H
#define SEARCH_PARTS_H

void search_parts_fresh(void);
void search_parts_begun(void);
void search_parts_loaded(void);
void search_parts_open(void);
void search_parts_verdict(void);
void search_parts_prefixes(void);
void search_parts_shards(void);

#endif
