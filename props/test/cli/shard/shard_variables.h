/* shard_variables.h -- tests of test_shard.c: which shard a task is, by its
 * words and by the variables of a scheduler. */
#ifndef PROPS_SHARD_VARIABLES_H
#define PROPS_SHARD_VARIABLES_H

void shard_variables_said(void);
void shard_variables_refused(void);

#endif
