/* write.h -- the profiles of an instance as .pb.gz files. */
#ifndef EXAMPLE_WRITE_H
#define EXAMPLE_WRITE_H

#include <prof/pprof.h>

/* in: find, names the frames. returns: false, and a line on standard error, if
 *     the file was not written; then an older file of that name is unchanged */
bool write_heap(struct prof *prof, const char *path,
                void (*find)(void *context, uintptr_t pc,
                             struct prof_symbol *symbol));
bool write_mutex(struct prof *prof, const char *path,
                 void (*find)(void *context, uintptr_t pc,
                              struct prof_symbol *symbol));

#endif
