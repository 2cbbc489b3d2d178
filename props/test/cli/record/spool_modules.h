/* spool_modules.h -- checks of the modules in spools made by hand. */
#ifndef PROPS_SPOOL_MODULES_H
#define PROPS_SPOOL_MODULES_H

/* Records whose lengths contradict each other are refused. */
void spool_modules_check_lengths(void);

/* A file of two segments came where another file was. */
void spool_modules_check_segments(void);

#endif
