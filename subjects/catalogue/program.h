/* program.h -- what a program does, as the plans put it together. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "judge.h"

/* A block of a site; its end; another size, and the site that asks for it. */
unsigned make(unsigned site);
void drop(unsigned address, unsigned site);
unsigned change(unsigned address, unsigned old_site, unsigned site);

void turn(bool on);

/* Thread 0 or 1 does it, beside main. */
void start(unsigned thread, void (*work)(void));
void join(unsigned thread);

#endif
