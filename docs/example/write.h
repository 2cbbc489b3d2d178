/* write.h -- the profiles of an instance as .pb.gz files. */
#ifndef EXAMPLE_WRITE_H
#define EXAMPLE_WRITE_H

#include <prof/pprof.h>

/* in: find, names the frames. returns: false, and a line on the standard error,
 *     if there is no such file now; what was there before is left as it was */
bool write_heap(struct prof *prof, const char *path,
                void (*find)(void *context, uintptr_t pc,
                             struct prof_symbol *symbol));
bool write_mutex(struct prof *prof, const char *path,
                 void (*find)(void *context, uintptr_t pc,
                              struct prof_symbol *symbol));

#endif
