/* waits.h -- wait loops whose runs are known in advance (wait.c). */
#ifndef PROPS_WAITS_H
#define PROPS_WAITS_H

/* A sampled run does not read a value again that it has found to be old. */
void waits_go_on(void);

/* A loop may pause as often as a run may have steps. */
void waits_pause(void);

/* A round that is repeated to find out whether it waits races with nothing that
 * its reads do not race with. */
void waits_race(void);

/* A loop of a program that no call marks waits from its third round on. */
void waits_rounds(void);

/* A loop that counts in a register has another state each time; one that writes
 * makes progress, whatever its state. */
void waits_count(void);

/* A loop of exchanges that comes back to its state waits: it has no rounds. */
void waits_changes(void);

/* What tells the states of a loop apart, and how many loops are known. No loop
 * may be met afterwards. */
void waits_state(void);

/* All of these, in an order in which none hides what another one tries. */
void waits_try(void);

#endif
