/* spool_heads.h -- what a spool's header says, and what is no spool. */
#ifndef PROPS_SPOOL_HEADS_H
#define PROPS_SPOOL_HEADS_H

/* A header that contradicts itself or its file is refused. */
void spool_check_headers(void);

/* What is no spool is refused with the reason, and nothing stays open. */
void spool_check_no_spool(void);

/* The command line, as long as there is room. */
void spool_check_commands(void);

/* The programs that a process executed, in order. */
void spool_check_executed(void);

#endif
