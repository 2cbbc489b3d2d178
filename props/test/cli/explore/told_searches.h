/* told_searches.h -- what `profsim explore` says of a search, whatever the
 * search has found. */
#ifndef TOLD_SEARCHES_H
#define TOLD_SEARCHES_H

/* in: folder, for files */
void told_searches(const char *folder);

/* What it says of a run that is replayed. in: folder, for files */
void told_replays(const char *folder);

/* A result is replaced only by one of the same search. */
void replaced_results(const char *folder);

#endif
