/* sched_model.h -- what a guided strategy draws and wishes for (sched.c). */
#ifndef PROPS_SCHED_MODEL_H
#define PROPS_SCHED_MODEL_H

/* In drawn states of a run each strategy draws and wishes for what the rules in
 * this file's source say. */
void sched_model_try(void);

#endif
