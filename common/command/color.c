/* color.c -- see color.h. */
#include "common/command/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command/complaint.h"

static enum { AUTO, ALWAYS, NEVER } when_coloured;

bool
cli_color_take(const char *when)
{
    if (strcmp(when, "auto") == 0)
        when_coloured = AUTO;
    else if (strcmp(when, "always") == 0)
        when_coloured = ALWAYS;
    else if (strcmp(when, "never") == 0)
        when_coloured = NEVER;
    else
        return cli_complain("--color is auto, always or never, not '%s'", when);
    return true;
}

static bool
is_coloured(void)
{
    const char *off = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (when_coloured != AUTO)
        return when_coloured == ALWAYS;
    return isatty(STDOUT_FILENO) != 0 && (off == NULL || off[0] == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}

const char *
cli_color(enum cli_color color)
{
    static const char *const codes[] = {"\033[0m", "\033[1;31m", "\033[32m",
                                        "\033[2m", "\033[1m"};

    return is_coloured() ? codes[color] : "";
}
