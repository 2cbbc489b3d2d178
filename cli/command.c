/* command.c -- words on the command line. */
#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *
cli_option(int argc, char **argv, int *index, const char *name)
{
    const char *word = argv[*index];
    const size_t length = strlen(name);

    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return &word[length + 1];
    if (word[length] != '\0')
        return NULL;
    if (*index + 1 >= argc)
        exit(cli_usage("%s needs a value", name));
    return argv[++*index];
}

bool
cli_property(const char *word, props_set *set)
{
    const enum props_property property = props_property_find(word);

    for (int i = 0; i < PROPS_COUNT && property == PROPS_NONE; i++) {
        const char *const id = props_property_id((enum props_property)i);

        if (strcasecmp(word, id) == 0) {
            cli_usage("there is no property '%s'; did you mean '%s'?", word,
                      id);
            return false;
        }
    }
    if (property == PROPS_NONE) {
        cli_usage("there is no property '%s'; 'profsim list' names them", word);
        return false;
    }
    *set |= PROPS_BIT(property);
    return true;
}

const struct prof_rules *
cli_rules(const char *name)
{
    const struct prof_rules *rules = prof_rules_find(name);

    if (rules == NULL)
        cli_usage("there are no rules '%s'; 'profsim list' names them", name);
    return rules;
}

enum cli_exit
cli_crash(const char *path, int signal)
{
    if (signal == SIGALRM) {
        printf("%s: the run does not end\n", path);
        return CLI_LIVENESS;
    }
    if (signal != 0)
        printf("%s: the run was ended by signal %d (%s)\n", path, signal,
               strsignal(signal));
    else
        printf("%s: the run ended its process\n", path);
    return CLI_CRASH;
}

enum cli_exit
cli_exit_of(enum props_property property)
{
    if (property == PROPS_NONE)
        return CLI_OK;
    if (property == PROPS_L1 || property == PROPS_L2)
        return CLI_LIVENESS;
    return property == PROPS_D1 ? CLI_NONDETERMINISM : CLI_BROKEN;
}
