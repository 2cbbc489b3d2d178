/* color.h -- colour on standard output: on a terminal, unless NO_COLOR is set
 * or
 * --color says otherwise. No information is shown by colour alone. */
#ifndef COMMON_COMMAND_COLOR_H
#define COMMON_COMMAND_COLOR_H

#include <stdbool.h>

enum cli_color {
    CLI_TONE_PLAIN, /* ends another tone */
    CLI_TONE_BAD,
    CLI_TONE_GOOD,
    CLI_TONE_SOFT,
    CLI_TONE_STRONG
};

/* The option for a command's table, and its number for the switch. */
enum { CLI_TONE_COLOR = 121 };
/* clang-format off */
#define CLI_TONE_OPTION                                                       \
    {CLI_TONE_COLOR, 0, "color", "WHEN",                                      \
     "auto (the default: on a terminal, unless NO_COLOR is\nset), always, never"}
/* clang-format on */

/* Take --color. returns: false, and a complaint, if there is no such word */
bool cli_color_take(const char *when);

/* returns: the sequence that changes the colour; "" for none */
const char *cli_color(enum cli_color color);

#endif
