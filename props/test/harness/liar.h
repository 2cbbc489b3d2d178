/*
 * liar.h -- a library that lies on demand, to see who notices.
 *
 * A program that links liar.o with the words of liar.wrap gets the library's
 * answers through it. Every lie is told in a place that one property watches.
 */
#ifndef PROPS_LIAR_H
#define PROPS_LIAR_H

#include <stdbool.h>

enum liar_lie {
#define X(id, property, text) LIE_##id,
#include "liar.def"
#undef X
    LIE_COUNT
};

/* Tell these lies from now on, LIE_NONE for none. */
void liar_tell(enum liar_lie lie, enum liar_lie another);

#endif
