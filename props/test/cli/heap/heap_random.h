/*
 * heap_random.h -- `profsim run` and `profsim diff` on random recordings, in
 * the current folder: each number that they show is compared with heap_model.h.
 */
#ifndef HEAP_RANDOM_H
#define HEAP_RANDOM_H

void heap_random_run(void);
void heap_random_diff(void);

/* The heap over time, which the page of a run shows; in heap_bins.c. */
void heap_random_bins(void);

/* Each request for memory refused; files of limited size. */
void heap_random_refused(void);

#endif
