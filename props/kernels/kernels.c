/* kernels.c -- the kernels over the production core, by name. */
#include "props/kernels/kernels.h"

#define ALL UINT32_MAX

#define X(id, name, preemptions)                    \
    static const struct sim_kernel *make_##id(void) \
    {                                               \
        return &props_kernel_##id;                  \
    }
#include "props/kernels/kernel.def"
#undef X

const struct sim_kernel_entry props_kernels[] = {
#define X(id, name, preemptions) \
    {name, make_##id, preemptions, (preemptions) != ALL},
#include "props/kernels/kernel.def"
#undef X
    {NULL, NULL, 0, false},
};
