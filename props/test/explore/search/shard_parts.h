/* shard_parts.h -- which shard has a list, and how deep shards divide. */
#ifndef SHARD_PARTS_H
#define SHARD_PARTS_H

void shard_parts_owned(void);
void shard_parts_entered(void);
void shard_parts_planned(void);

#endif
