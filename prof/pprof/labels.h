/* labels.h -- a label set as text: {"key":"value", "key2":"value2"}. */
#ifndef PROF_PPROF_LABELS_H
#define PROF_PPROF_LABELS_H

#include "prof/pprof/out.h"
#include "prof/pprof.h"

/* returns: bytes of the character at `s`, 0 if it is not well-formed UTF-8 */
size_t prof_utf8(const unsigned char *s, size_t left, uint32_t *character);

/* Write the set with its braces; pairs are sorted as text. */
void prof_labels_put(struct out *out, const struct prof_label *labels,
                     uint32_t count);

/*
 * Compare two sets by their texts; an empty set comes first.
 *
 * returns: below 0, 0 or above 0
 */
int prof_labels_compare(const struct prof_label *a, uint32_t a_count,
                        const struct prof_label *b, uint32_t b_count);

#endif
