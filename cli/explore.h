/* explore.h -- `profsim explore`: every ordering of small programs. */
#ifndef CLI_EXPLORE_H
#define CLI_EXPLORE_H

int cli_explore(int argc, char **argv);

/* `profsim mutants --memory-order`: which kernel notices a weaker order? */
int cli_mutants(int argc, char **argv);

#endif
