/*
 * test_thread_names.c -- what the recorder notes when names and rights of
 * threads change; with a stub of the log.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "in_child.h"
#include "recorder.h"

_Atomic uint32_t embed_awaited;
static struct embed_state the_state;
static long prctl_words[5];
static int prctl_status;
static int name_status;
static int resolved;
static uint32_t names_in_call; /* a thread that looks now finds the old name */

static int
real_set_name(pthread_t thread, const char *name)
{
    CHECK(thread == pthread_self());
    CHECK(strcmp(name, "name") == 0);
    names_in_call = atomic_load(&embed_names);
    return name_status;
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    int (*const real)(pthread_t, const char *) = real_set_name;

    CHECK(embed_inside); /* dlsym() may allocate */
    CHECK(version == NULL && strcmp(name, "pthread_setname_np") == 0);
    memcpy(function, &real, sizeof real);
    resolved++;
}

/* Another thread may fork while the call confines the process. */
static uint32_t confinements_in_call;

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    va_list list;

    CHECK(number == SYS_prctl);
    names_in_call = atomic_load(&embed_names);
    confinements_in_call = atomic_load(&embed_confinements);
    va_start(list, number);
    prctl_words[0] = va_arg(list, int);
    for (int i = 1; i < 5; i++)
        prctl_words[i] = va_arg(list, long);
    va_end(list);
    return prctl_status;
}

static void
name_threads(void)
{
    CHECK(pthread_setname_np(pthread_self(), "name") == 0);
    CHECK(!embed_inside && resolved == 1);
    CHECK(names_in_call == 0 && atomic_load(&embed_names) == 1);
    name_status = ERANGE;
    CHECK(pthread_setname_np(pthread_self(), "name") == ERANGE);
    CHECK(resolved == 1);
    CHECK(atomic_load(&embed_names) == 1);
    CHECK(prctl(PR_SET_NAME, "x", 2L, 3L, 4L) == 0);
    CHECK(names_in_call == 1 && atomic_load(&embed_names) == 2);
    CHECK(prctl_words[0] == PR_SET_NAME && prctl_words[2] == 2 &&
          prctl_words[3] == 3 && prctl_words[4] == 4);
    CHECK(prctl(PR_GET_NAME, 1L, 0L, 0L, 0L) == 0);
    prctl_status = -1;
    CHECK(prctl(PR_SET_NAME, 1L, 0L, 0L, 0L) == -1);
    CHECK(atomic_load(&embed_names) == 2);
    CHECK(atomic_load(&embed_confinements) == 0);
}

TEST(a_name_that_was_given_is_counted)
{
    expect_in_child(name_threads);
}

static uint32_t
confine(int option)
{
    const uint32_t before = atomic_load(&embed_confinements);

    (void)prctl(option, 1L, 0L, 0L, 0L);
    return atomic_load(&embed_confinements) - before;
}

static void
confine_oneself(void)
{
    static const int options[] = {PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP};
    static union {
        struct embed_spool_header header;
        uint8_t bytes[EMBED_SPOOL_FIRST];
    } log;

    for (size_t i = 0; i < 2; i++) {
        CHECK(confine(options[i]) == 1); /* there was no log yet */
        CHECK(confinements_in_call == atomic_load(&embed_confinements));
        prctl_status = -1;
        CHECK(confine(options[i]) == 0);
        prctl_status = 0;
    }
    CHECK(confine(PR_GET_SECCOMP) == 0 && confine(PR_SET_DUMPABLE) == 0);
    atomic_store(&embed_confinements, 0);
    embed_state = &the_state;
    embed_state->log = log.bytes;
    CHECK(confine(PR_SET_SECCOMP) == 1); /* the log is being opened */
    atomic_store(&embed_state->phase, EMBED_ON);
    for (size_t i = 0; i < 2; i++) {
        log.header.process = (uint32_t)getpid();
        CHECK(confine(options[i]) == 1);
        log.header.process = (uint32_t)getppid(); /* a vfork()ed child's */
        CHECK(confine(options[i]) == 0);
        log.header.process = 0; /* as if its log were being opened */
        CHECK(confine(options[i]) == 1);
    }
}

TEST(a_process_that_confines_itself_is_known)
{
    expect_in_child(confine_oneself);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
