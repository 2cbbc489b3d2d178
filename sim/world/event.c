/* event.c -- names of events. */
#include "sim/world/event.h"

static const struct {
    const char *word;
    const char *arguments;
    char by;
} events[SIM_EV_COUNT] = {
#define X(id, word, arguments, by, rule) [id] = {word, arguments, by},
#include "sim/world/event.def"
#undef X
};

const char *
sim_event_word(enum sim_event_kind kind)
{
    return events[kind].word;
}

const char *
sim_event_arguments(enum sim_event_kind kind)
{
    return events[kind].arguments;
}

char
sim_event_by(enum sim_event_kind kind)
{
    return events[kind].by;
}
