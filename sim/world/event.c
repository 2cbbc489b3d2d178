/* event.c -- names of events. */
#include "event.h"

static const struct {
    const char *word;
    const char *arguments;
} events[SIM_EV_COUNT] = {
#define X(id, word, arguments) [id] = {word, arguments},
#include "event.def"
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
