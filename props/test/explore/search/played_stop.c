/* played_stop.c -- see played_stop.h. */
#include "played_stop.h"

#include <setjmp.h>

enum sim_end played_stop;

static bool played;
static jmp_buf back;

_Noreturn void __real_sim_engine_stop(enum sim_end how);
_Noreturn void __wrap_sim_engine_stop(enum sim_end how);

_Noreturn void
__wrap_sim_engine_stop(enum sim_end how)
{
    if (!played)
        __real_sim_engine_stop(how);
    played_stop = how;
    longjmp(back, 1);
}

bool
played_stops(void (*what)(void))
{
    played = true;
    if (setjmp(back) == 0) {
        what();
        played = false;
        return false;
    }
    played = false;
    return true;
}

bool
playing(void)
{
    return played;
}
