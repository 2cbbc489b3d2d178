/* property.c -- names of the properties. */
#include "props/property.h"

#include <string.h>

#include "subjects/subject.h"

static const struct {
    const char *id;
    const char *sentence;
    enum props_cover goal;
} properties[] = {
#define X(id, goal, sentence) {#id, sentence, COVER_##goal},
#include "props/property.def"
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

bool
props_applies(enum props_property property, const struct subject *subject)
{
    const uint32_t can = subject->can;
    const uint32_t frees = SUBJECT_FREED_EXPLICITLY | SUBJECT_SWEPT;
    const uint32_t sums = SUBJECT_LIVE | SUBJECT_ALLOCATED | SUBJECT_FREED;

    switch ((int)property) {
    case PROPS_A1:
        return (can & sums) == sums;
    case PROPS_O3:
        return (can & SUBJECT_LIVE) != 0 && subject->read_begin != NULL;
    case PROPS_W1:
    case PROPS_W2:
        return subject->wait != NULL;
    case PROPS_W3:
        return subject->wait != NULL && (can & SUBJECT_WAITS_SAMPLED) != 0;
    case PROPS_W4:
        return subject->wait != NULL && subject->set_wait_rate != NULL;
    case PROPS_U1:
    case PROPS_U2:
        return (can & SUBJECT_SAMPLING) != 0 &&
               (can & (SUBJECT_LIVE | SUBJECT_ALLOCATED)) != 0;
    case PROPS_A2:
        return (can & SUBJECT_LIVE) != 0 && (can & frees) != 0;
    case PROPS_A4:
        return (can & SUBJECT_ADDRESSES) != 0;
    case PROPS_A6:
    case PROPS_V1:
    case PROPS_E1:
        return (can & SUBJECT_LIVE) != 0;
    case PROPS_A7:
        return (can & SUBJECT_LIVE) != 0 && subject->realloc != NULL;
    case PROPS_F1:
        return (can & SUBJECT_LIVE) != 0 &&
               (subject->fork != NULL || (can & SUBJECT_FORKS) != 0);
    case PROPS_G1:
        return (can & SUBJECT_LIVE) != 0 && subject->set_rate != NULL;
    default:
        return (PROPS_OF_SUBJECTS & PROPS_BIT(property)) != 0;
    }
}
