/* tone.h -- colour on standard output for a person: on a terminal, unless
 * NO_COLOR is set or --color says otherwise. Colour never carries
 * information alone. */
#ifndef CLI_TONE_H
#define CLI_TONE_H

#include <stdbool.h>

enum cli_tone {
    CLI_TONE_PLAIN, /* ends what another one began */
    CLI_TONE_BAD,
    CLI_TONE_GOOD,
    CLI_TONE_SOFT,
    CLI_TONE_STRONG
};

/* For a command's table of options, and its switch. */
enum { CLI_TONE_COLOR = 121 };
/* clang-format off */
#define CLI_TONE_OPTION                                                       \
    {CLI_TONE_COLOR, 0, "color", "WHEN",                                      \
     "auto (the default: on a terminal, unless NO_COLOR is set),\nalways, never"}
/* clang-format on */

/* Take --color. returns: false, and a complaint, if there is no such word */
bool cli_tone_take(const char *when);

/* returns: the sequence that changes the colour; "" for none */
const char *cli_tone(enum cli_tone tone);

#endif
