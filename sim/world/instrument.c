/* instrument.c -- the list of instruments. */
#include "sim/world/instrument.h"

static const struct {
    const char *word;
    const struct sim_instrument_kind *kind;
} instruments[] = {
#define X(id, word, kind, needs) {word, &kind},
#include "sim/world/instrument.def"
#undef X
};

const char *
sim_instrument_word(enum sim_instrument_id id)
{
    return instruments[id].word;
}

const struct sim_instrument_kind *
sim_instrument_kind(enum sim_instrument_id id)
{
    return instruments[id].kind;
}
