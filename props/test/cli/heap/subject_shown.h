/*
 * subject_shown.h -- what is printed and written of a subject that shows random
 * records, in the current folder.
 */
#ifndef SUBJECT_SHOWN_H
#define SUBJECT_SHOWN_H

/* Each number, in text and in files. */
void subject_shown_random(void);

/* Each request for memory refused, and each file. */
void subject_shown_refused(void);

#endif
