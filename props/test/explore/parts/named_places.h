/* named_places.h -- tests of the names of code and variables. */
#ifndef PROPS_NAMED_PLACES_H
#define PROPS_NAMED_PLACES_H

/* The process must not have named any place before. returns: how many failed */
int named_places_tests(void);

#endif
