/* result.c -- the name of a mutant, and the line of its result. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/name.h"

char *
trial_name(const struct mutant *mutant)
{
    return name_of_mutant(mutant->file, mutant->function, mutant->text,
                          mutant->instead, mutant->ordinal);
}

/* Join the names of a pair: both are of one function, which is named once. */
static char *
name_of_pair(const struct mutant *pair)
{
    char *one = trial_name(pair);
    char *other = trial_name(pair->other);
    char *both = NULL;

    if (asprintf(&both, "%s, and %s", one, strchr(other, ':') + 2) < 0)
        abort();
    free(one);
    free(other);
    return both;
}

void
trial_write(const struct trial *trial, const struct mutant *m)
{
    static const char *const verdicts[] = {
        [VERDICT_UNMET] = "unmet",   [VERDICT_SURVIVES] = "survives",
        [VERDICT_FAILED] = "failed", [VERDICT_CRASHED] = "crashed",
        [VERDICT_HANGS] = "hangs",
    };
    char *name = m->other != NULL ? name_of_pair(m) : trial_name(m);

    fprintf(trial->results, "%u\t%s\t%s\t%u\t%s\t%s\t%s\t%s\t%s\t%u\t%u\n",
            m->id, m->file, m->function, m->line, m->kind, name,
            verdicts[m->verdict], m->by != NULL ? m->by->name : "", m->property,
            m->runs, m->tried);
    free(name);
}
