/*
 * mask.c -- signal masks of a process whose probes are breakpoints. If a thread
 * blocks SIGTRAP when it meets one, the kernel ends the process. So SIGTRAP is
 * never really blocked; each thread sees the mask that it has set.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(number) (UINT64_C(1) << ((number)-1))

enum { LIBC_FIRST = 32, LIBC_SECOND = 33 }; /* signals that libc keeps free */

static __thread bool blocks_trap __attribute__((tls_model("initial-exec")));

/* returns: 0 or an error number */
static int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
    uint64_t bits = 0;
    uint64_t before = 0;
    bool has_trap;

    if (set != NULL)
        memcpy(&bits, set, sizeof bits);
    has_trap = (bits & BIT(SIGTRAP)) != 0;
    bits &= ~(BIT(SIGTRAP) | BIT(LIBC_FIRST) | BIT(LIBC_SECOND));
    if (syscall(SYS_rt_sigprocmask, how, set != NULL ? &bits : NULL, &before,
                sizeof bits) != 0)
        return errno;
    if (blocks_trap)
        before |= BIT(SIGTRAP);
    if (old != NULL)
        memcpy(old, &before, sizeof before);
    if (set != NULL && (has_trap || how == SIG_SETMASK))
        blocks_trap = has_trap && how != SIG_UNBLOCK;
    return 0;
}

__attribute__((visibility("default"))) int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    const int saved = errno;
    const int error = change_mask(how, set, old);

    errno = saved;
    return error;
}

__attribute__((visibility("default"))) int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    const int error = change_mask(how, set, old);

    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
