/*
 * heap_case.h -- writes a recording of a few events, so small that its sums can
 * be computed by hand.
 *
 *      stack 0   malloc < work < main     two objects of 1,000 bytes
 *      stack 1   malloc < main            one of 24, resized to 3,000
 *      stack 2   none                     one of no bytes
 */
#ifndef HEAP_CASE_H
#define HEAP_CASE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Write the recording.
 *
 * in:      more, whether work() also allocates 500,000 bytes that stay live
 */
void heap_case_write(const char *path, bool more);

/* Write a recording with one object for each of the functions f0, f1, ...;
 * sizes_bytes has their sizes, UINT64_MAX for no object. */
void heap_case_write_sites(const char *path, const uint64_t *sizes_bytes,
                           uint32_t count);

#endif
