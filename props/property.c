/* property.c -- names of the properties. */
#include "property.h"

#include <string.h>

static const struct {
    const char *id;
    const char *sentence;
    enum props_cover goal;
} properties[] = {
#define X(id, goal, sentence) {#id, sentence, COVER_##goal},
#include "property.def"
#undef X
};

const char *
props_property_id(enum props_property property)
{
    return property < PROPS_COUNT ? properties[property].id : "none";
}

const char *
props_property_sentence(enum props_property property)
{
    return property < PROPS_COUNT ? properties[property].sentence
                                  : "nothing is broken";
}

enum props_cover
props_property_cover(enum props_property property)
{
    return properties[property].goal;
}

enum props_property
props_property_find(const char *id)
{
    for (int i = 0; i < PROPS_COUNT; i++) {
        if (strcmp(properties[i].id, id) == 0)
            return (enum props_property)i;
    }
    return PROPS_NONE;
}
