/* conform_wait.h -- waits for what a check says. */
#ifndef SUBJECTS_COMMAND_CONFORM_WAIT_H
#define SUBJECTS_COMMAND_CONFORM_WAIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum cli_conform_end {
    CLI_CONFORM_ENDED,     /* it has closed its end */
    CLI_CONFORM_SLEEPS,    /* for the whole time all its threads slept */
    CLI_CONFORM_UNFINISHED /* it has used the time, and may need more */
};

/*
 * Read until the end of the file. The time limits what the check does, not how
 * long a busy machine makes it wait: it is compared with the CPU time of its
 * process group, and with the time in which none of its threads could run. If
 * neither ends the wait, ten times the limit does.
 *
 * out:     text, what was read, ended by '\0'
 * in:      group, of the check's processes; time_s, the limit
 */
enum cli_conform_end cli_conform_wait(int input, char *text, size_t room,
                                      pid_t group, uint64_t time_s);

#endif
