/* summed_sites.h -- a profiler that keeps sums for each site. */
#ifndef SUBJECTS_CATALOGUE_BUGS_SUMMED_SITES_H
#define SUBJECTS_CATALOGUE_BUGS_SUMMED_SITES_H

#include "subjects/catalogue/small_world.h"

static unsigned site_of[ADDRESSES + 1];
static struct shown sites[SITES];

static inline void
add(unsigned site, long objects, long bytes)
{
    sites[site].objects += objects;
    sites[site].bytes += objects * bytes;
}

static inline void
snapshot(struct shown *shown)
{
    for (unsigned i = 0; i < SITES; i++)
        shown[i] = sites[i];
}

#endif
