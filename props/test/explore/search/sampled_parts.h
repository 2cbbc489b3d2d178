/* sampled_parts.h -- random runs, alone and between the others; what fails. */
#ifndef SAMPLED_PARTS_H
#define SAMPLED_PARTS_H

void sampled_parts_sliced(void);
void sampled_parts_failed(void);
void sampled_parts_detours(void);
void sampled_parts_sampled(void);
void sampled_parts_run(void);
void sampled_parts_blocked(void);

#endif
