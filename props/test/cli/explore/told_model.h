/* told_model.h -- what `profsim explore` says of the searches of
 * drawn_searches.h. */
#ifndef TOLD_MODEL_H
#define TOLD_MODEL_H

#include <stdio.h>

#include "explore/drawn_searches.h"
#include "report.h"

enum cli_verdict told_verdict(const struct search *s);

/* Print what the command prints. returns: its exit code */
enum cli_exit told_all(FILE *to);

/* Print a result of its report. */
void told_result(FILE *to, const struct search *s);

/* Print the choices of a failure, and the command that makes them. */
void told_choices(FILE *to, const struct search *s);
void told_replay(FILE *to, const struct search *s);

#endif
