/* run_races.h -- tests of plain accesses, and of what surrounds a run. */
#ifndef PROPS_RUN_RACES_H
#define PROPS_RUN_RACES_H

/* returns: how many failed */
int run_races_tests(void);
int run_plain_tests(void);
int run_engine_tests(void);
int run_sites_tests(void);
int run_locks_tests(void);
int run_ends_tests(void);
int run_stops_tests(void);
int run_reads_tests(void);

#endif
