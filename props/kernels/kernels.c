/* kernels.c -- the kernels over the production core, by name. */
#include "kernels.h"

#define MAKE(id)                                    \
    static const struct sim_kernel *make_##id(void) \
    {                                               \
        return &props_kernel_##id;                  \
    }

MAKE(same_stack)
MAKE(other_stacks)
MAKE(three_inserters)
MAKE(own_event_is_listed)
MAKE(no_room)
MAKE(record_and_publish)
MAKE(first_snapshot)
MAKE(busy)
MAKE(turn_alloc)
MAKE(turn_free)
MAKE(turn_in_signal)
MAKE(turn_stalled)
MAKE(contention)

const struct sim_kernel_entry props_kernels[] = {
    {"table-same-stack", make_same_stack, 0, false},
    {"table-collision", make_other_stacks, 0, false},
    {"table-three", make_three_inserters, 2, true},
    {"table-own-event", make_own_event_is_listed, 0, false},
    {"table-no-room", make_no_room, 0, false},
    {"heap-publish", make_record_and_publish, 0, false},
    {"heap-first-snapshot", make_first_snapshot, 0, false},
    {"heap-busy", make_busy, 0, false},
    {"turn-alloc", make_turn_alloc, 0, false},
    {"turn-free", make_turn_free, 3, true},
    {"turn-signal", make_turn_in_signal, 3, true},
    {"turn-stalled", make_turn_stalled, 0, false},
    {"contention", make_contention, 2, true},
    {NULL, NULL, 0, false},
};
