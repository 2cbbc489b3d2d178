/*
 * question_model.h -- the answers of questions (frontier.h), compared with a
 * list of them.
 */
#ifndef PROPS_QUESTION_MODEL_H
#define PROPS_QUESTION_MODEL_H

/* All questions of up to three sources and three threads. */
void question_model_try(void);

/* A thread to wait for, or that all sources are futile, is learned later. */
void question_model_late(void);

/* Which threads may be waited for. */
void question_model_threads(void);

/* A choice that is no read; a read whose sources are all futile;
 * one of many sources. */
void question_model_ordinary(void);
void question_model_futile(void);
void question_model_many(void);

#endif
