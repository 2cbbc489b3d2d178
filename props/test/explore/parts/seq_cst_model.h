/*
 * seq_cst_model.h -- what the order of seq_cst operations allows (seq_cst.c),
 * compared with psc of RC11, computed from its definition.
 */
#ifndef PROPS_SEQ_CST_MODEL_H
#define PROPS_SEQ_CST_MODEL_H

/* Random executions of up to 16 operations. */
void seq_cst_model_try(void);

/* Two or three operations among as many as a run may have. */
void seq_cst_model_many(void);

#endif
