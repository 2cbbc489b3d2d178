/* worker_says.h -- the messages of a worker, as its coordinator hears them. */
#ifndef PROPS_WORKER_SAYS_H
#define PROPS_WORKER_SAYS_H

struct sim_kernel;

/* A message larger than a socket's buffer; one that ends too soon. */
void worker_says_long(void);
void worker_says_cut(void);
void worker_says_slowly(void);

/* The kernel fails: the worker sends a list that fails, then that it is over.
 */
void worker_says_failed(const struct sim_kernel *kernel);

/* A kernel fails three times: only the first failure is sent. */
void worker_says_once(void);

/* A worker ends when its coordinator is killed. in: a kernel that takes long */
void worker_says_orphaned(const struct sim_kernel *kernel);

/* The kernel has a wait loop that is not known yet. */
void worker_says_again(const struct sim_kernel *kernel);

/* Two workers draw from seeds of their own. */
void worker_says_seeds(void);

#endif
