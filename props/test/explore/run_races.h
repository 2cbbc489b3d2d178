/* run_races.h -- tests of plain accesses. */
#ifndef PROPS_RUN_RACES_H
#define PROPS_RUN_RACES_H

/* returns: how many failed */
int run_races_tests(void);
int run_plain_tests(void);

#endif
