/*
 * explore_all.c -- `profsim explore` alone, so that the check of the kernels is
 * made anew only when something that is explored has changed.
 */
#include "explore.h"

int
main(int argc, char **argv)
{
    return (int)cli_explore(argc, argv);
}
