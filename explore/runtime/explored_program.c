/*
 * explored_program.c -- a program that explores itself.
 *
 * If `profsim explore prog.c` builds the program, __wrap_main runs in the place
 * of main. The linker calls the program's own main __real_main (--wrap=main),
 * and the function of --entry profsim_entry. If the program is linked by hand
 * with -lprofsim-explore, it keeps its main and calls __tsan_simulate(), as
 * LLVM proposes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "explore/command/explore_command.h"
#include "explore/runtime/only_kernel.h"
#include "explore/runtime/start.h"

enum { WORDS_MAX = 64 };

extern int __real_main(int argc, char **argv, char **environment)
    __attribute__((weak));
extern void profsim_entry(void) __attribute__((weak));
int __wrap_main(int argc, char **argv);
int __tsan_simulate(void (*callback)(void *argument), void *argument);

/* ---- Built by the command ---- */

static int
run_main(void)
{
    static char name[] = "program";
    static char *words[] = {name, NULL};

    if (profsim_entry != NULL) {
        profsim_entry();
        return 0;
    }
    return __real_main(1, words, environ);
}

static const char *
variable(const char *name, const char *otherwise)
{
    const char *given = getenv(name);

    return given != NULL ? given : otherwise;
}

/* Split the words at the first "--": options, then what the user typed.
 * returns: the number of options and the program's name */
static int
split_typed(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        argv[i] = NULL;
        cli_only_argc = argc - i - 1;
        cli_only_argv = &argv[i + 1];
        return i;
    }
    return argc;
}

int
__wrap_main(int argc, char **argv)
{
    const char *const flags = variable("PROFSIM_EXPLORE_FLAGS", "");
    const char *const name = variable("PROFSIM_EXPLORE_NAME", "program");

    cli_only_kernel_name(name);
    snprintf(cli_only_prefix, CLI_REPLAY_BYTES, "profsim explore %s ", name);
    snprintf(cli_only_suffix, CLI_REPLAY_BYTES, "%s%s",
             flags[0] != '\0' ? " " : "", flags);
    if (profsim_entry == NULL && __real_main == NULL)
        return (int)cli_usage(
            "the program has no main: name a function by --entry");
    sim_program_start(name, run_main, (char *)__builtin_frame_address(0) + 16,
                      true);
    if (*variable("PROFSIM_EXPLORE_STOP", "") != '\0')
        sim_program_stop_before(
            (uint32_t)strtoul(variable("PROFSIM_EXPLORE_STOP", ""), NULL, 10));
    argc = split_typed(argc, argv);
    _exit((int)cli_output_end(cli_explore(argc, argv)));
}

/* ---- As a library ---- */

static struct {
    void (*function)(void *argument);
    void *argument;
} callback_now;

static int
run_callback(void)
{
    callback_now.function(callback_now.argument);
    return 0;
}

/* Split PROFSIM_EXPLORE into its words, which blanks separate. */
static int
split_words(char *text, char **words)
{
    static char command[] = "explore";
    int count = 0;

    words[count++] = command;
    for (char *word = strtok(text, " \t"); word != NULL && count < WORDS_MAX;
         word = strtok(NULL, " \t"))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

/*
 * Explore a call: run callback(argument) in every order of the threads that it
 * creates.
 *
 * returns: 0 if nothing failed; else the exit code that `profsim explore` would
 * have
 */
int
__tsan_simulate(void (*callback)(void *argument), void *argument)
{
    char *words[WORDS_MAX + 1];
    static char text[4096];
    enum cli_exit code;
    int count;

    snprintf(text, sizeof text, "%s", variable("PROFSIM_EXPLORE", ""));
    cli_only_kernel_name(program_invocation_short_name);
    snprintf(cli_only_prefix, CLI_REPLAY_BYTES, "PROFSIM_EXPLORE='");
    snprintf(cli_only_suffix, CLI_REPLAY_BYTES, "' %s",
             program_invocation_name);
    callback_now.function = callback;
    callback_now.argument = argument;
    sim_program_start(program_invocation_short_name, run_callback,
                      (char *)__builtin_frame_address(0) + 16, false);
    count = split_words(text, words);
    code = cli_output_end(cli_explore(count, words));
    sim_program_end();
    return (int)code;
}
