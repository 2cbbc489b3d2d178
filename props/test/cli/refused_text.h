/*
 * refused_text.h -- lets a chosen request for the memory of a list or of a text
 * fail. Link with --wrap=calloc, --wrap=realloc, --wrap=open_memstream and
 * --wrap=vasprintf.
 */
#ifndef PROPS_REFUSED_TEXT_H
#define PROPS_REFUSED_TEXT_H

extern int refused_text_at; /* counted down, fails at 1; 0: off */

#endif
