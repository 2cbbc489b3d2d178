/* property.h -- the properties by which a run is judged. */
#ifndef PROPS_PROPERTY_H
#define PROPS_PROPERTY_H

#include <stdbool.h>
#include <stdint.h>

#include "props/cover.h"

enum props_property {
#define X(id, goal, sentence) PROPS_##id,
#include "props/property.def"
#undef X
    PROPS_COUNT,
    PROPS_NONE = PROPS_COUNT
};

/* A set of properties, one bit each. */
typedef uint64_t props_set;
_Static_assert(PROPS_COUNT < 64, "a set has no bit for the last property");
#define PROPS_BIT(property) ((props_set)1 << (property))
/* The properties by which the library is judged. */
#define PROPS_ALL (PROPS_BIT(PROPS_U1) - 1)

/* The properties by which a subject is judged. */
#define PROPS_OF_SUBJECTS \
    (PROPS_BIT(PROPS_D1) | (PROPS_BIT(PROPS_COUNT) - PROPS_BIT(PROPS_U1)))

/* The properties that compare the results of several instruments. */
#define PROPS_ACROSS                                                   \
    (PROPS_BIT(PROPS_X1) | PROPS_BIT(PROPS_X2) | PROPS_BIT(PROPS_X3) | \
     PROPS_BIT(PROPS_X4) | PROPS_BIT(PROPS_X5) | PROPS_BIT(PROPS_X6))

/* The properties that are judged on the traces of a world. */
#define PROPS_OF_TRACES                                                   \
    (PROPS_ACROSS | PROPS_BIT(PROPS_T1) | PROPS_BIT(PROPS_T2) |           \
     PROPS_BIT(PROPS_T3) | PROPS_BIT(PROPS_T4) | PROPS_BIT(PROPS_T5) |    \
     PROPS_BIT(PROPS_T6) | PROPS_BIT(PROPS_T7) | PROPS_BIT(PROPS_T8) |    \
     PROPS_BIT(PROPS_T9) | PROPS_BIT(PROPS_T10) | PROPS_BIT(PROPS_T11) |  \
     PROPS_BIT(PROPS_T12) | PROPS_BIT(PROPS_T13) | PROPS_BIT(PROPS_T14) | \
     PROPS_BIT(PROPS_L2))

/* returns: does the property apply to the subject? Not if the subject lacks a
 * function that the property needs. */
struct subject;
bool props_applies(enum props_property property, const struct subject *subject);

/* returns: "H1", ...; "none" for PROPS_NONE */
const char *props_property_id(enum props_property property);

/* returns: the sentence of property.def */
const char *props_property_sentence(enum props_property property);

/* returns: the goal that shows that the property was tested */
enum props_cover props_property_cover(enum props_property property);

/* returns: the property with that id, PROPS_NONE if there is none */
enum props_property props_property_find(const char *id);

#endif
