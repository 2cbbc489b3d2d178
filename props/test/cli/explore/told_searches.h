/* told_searches.h -- what `profsim explore` says of a search, whatever the
 * search has found. */
#ifndef TOLD_SEARCHES_H
#define TOLD_SEARCHES_H

struct captured;

/* in: folder, for files */
void told_searches(const char *folder);

/* What it says of a run that is replayed. in: folder, for files */
void told_replays(const char *folder);

/* A result is replaced only by one of the same search. */
void replaced_results(const char *folder);

/* ---- The command that is drawn ---- */

/* Make its words, and run it. out: *said, to be freed */
void told_say(void);
void told_run(struct captured *said);

/* Run it: it says what the model says. */
void told_expect(void);

/* Check the report and the result of a shard, and remove them. */
void told_expect_report(void);
void told_expect_explored(void);

/* Read and remove a file. returns: to be freed; NULL: there is none */
char *told_file(const char *path);

#endif
