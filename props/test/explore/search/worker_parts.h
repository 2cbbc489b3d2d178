/* worker_parts.h -- a worker whose other side, and whose system, is played. */
#ifndef WORKER_PARTS_H
#define WORKER_PARTS_H

void worker_parts_sent(void);
void worker_parts_received(void);
void worker_parts_counted(void);
void worker_parts_asked(void);
void worker_parts_told(void);
void worker_parts_left(void);

#endif
