/* blocked_model.h -- which waiting threads can continue (blocked.c). */
#ifndef PROPS_BLOCKED_MODEL_H
#define PROPS_BLOCKED_MODEL_H

/* In drawn states, threads can continue as the rules in this file's source say.
 */
void blocked_model_try(void);

#endif
