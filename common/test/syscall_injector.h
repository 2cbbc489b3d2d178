/*
 * syscall_injector.h -- run a command and let one of its system calls fail: the
 * k-th write, fsync, close, rename or open of a file that it creates. It works
 * with the command as shipped.
 */
#ifndef COMMON_TEST_SYSCALL_INJECTOR_H
#define COMMON_TEST_SYSCALL_INJECTOR_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define PROPS_SUPERVISES 1
#else
#define PROPS_SUPERVISES 0 /* registers have other names here */
#endif

enum props_call {
    PROPS_CALL_OPEN, /* for writing */
    PROPS_CALL_WRITE,
    PROPS_CALL_FSYNC,
    PROPS_CALL_CLOSE,
    PROPS_CALL_RENAME,
    PROPS_CALL_COUNT
};

#define PROPS_CALL_SHORT (-1) /* half the bytes are written */

struct props_fault {
    enum props_call call; /* PROPS_CALL_COUNT: no fault */
    uint32_t nth;         /* from 1 */
    int error;            /* errno, or PROPS_CALL_SHORT */
};

struct props_injectd {
    bool ran;    /* false: the system does not allow tracing */
    int status;  /* as waitpid() gives it */
    bool struck; /* the fault was injected */
    uint32_t calls[PROPS_CALL_COUNT];
};

/*
 * Run a command to its end; its output is discarded.
 *
 * in:      argv, ends in NULL; argv[0] is a path
 */
struct props_injectd props_inject(char *const *argv,
                                  const struct props_fault *fault);

#endif
