/*
 * exit.h -- exit codes. They differ from those of a shell (126, 127), of
 * signals (128 and more) and of `timeout` (124). `record` is the exception: it
 * runs a program, and uses the codes of `env`.
 */
#ifndef COMMON_COMMAND_EXIT_H
#define COMMON_COMMAND_EXIT_H

enum cli_exit {
    CLI_OK = 0,
    CLI_USAGE = 1,          /* wrong words, bad input, output not written */
    CLI_BROKEN = 2,         /* a property is broken */
    CLI_CRASH = 3,          /* a run ended its process */
    CLI_LIVENESS = 4,       /* a run does not end, or makes no progress */
    CLI_NONDETERMINISM = 5, /* two runs of the same choices differed */
    CLI_INCOMPLETE = 6,     /* nothing failed, but not all was tried */

    CLI_RECORD = 125, /* `record` itself failed: no recording */
    CLI_NOT_EXECUTABLE = 126,
    CLI_NOT_FOUND = 127
};

/* The codes as `--help` prints them: for a command that judges, and for
 * others. */
#define CLI_EXIT_HELP                                           \
    "exit code:\n"                                              \
    "  0  everything asked for holds\n"                         \
    "  1  usage, bad input, or output that cannot be written\n" \
    "  2  a property is broken\n"                               \
    "  3  a run crashed\n"                                      \
    "  4  a run does not end, or makes no progress\n"           \
    "  5  a repeated run differed\n"                            \
    "  6  nothing failed, but not everything asked for was tried\n"
#define CLI_EXIT_HELP_PLAIN \
    "exit code: 0; 1 usage, bad input, or output that cannot be written\n"

/*
 * returns: the worse of two: bad input is worse than a failure, and a failure
 *          worse than an incomplete run; of two failures, the larger code
 */
enum cli_exit cli_exit_worse(enum cli_exit a, enum cli_exit b);

#endif
