/*
 * rc11.h -- which outcomes C11 allows to a small program of atomics.
 *
 * The checker enumerates all execution graphs of the program, and keeps those
 * that the axioms of repaired C11 allow (RC11, with the release sequences of
 * C++20). It is written from the axioms and runs no threads.
 */
#ifndef EXPLORE_TEST_RC11_H
#define EXPLORE_TEST_RC11_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PROPS_RC11_THREADS_MAX = 3,
    PROPS_RC11_STEPS_MAX = 3,
    PROPS_RC11_LOCATIONS = 3,
    PROPS_RC11_OUTCOMES_MAX = 4096,
};

enum props_rc11_op {
    PROPS_RC11_LOAD,
    PROPS_RC11_STORE,
    PROPS_RC11_EXCHANGE,
    PROPS_RC11_FENCE,
    PROPS_RC11_CAS
};

struct props_rc11_step {
    enum props_rc11_op op;
    uint32_t location;
    int order;
    uint32_t value; /* that is stored */
    uint32_t expected;
    int order_failure; /* of a compare-exchange */
    /* This many steps, up to this one, are the rounds of a loop that waits: it
     * ends when each load and compare-exchange in it reads what is expected,
     * and each exchange reads another value than it stores. */
    uint32_t loop;
};

struct props_rc11_program {
    struct props_rc11_step steps[PROPS_RC11_THREADS_MAX][PROPS_RC11_STEPS_MAX];
    uint32_t threads;
    uint32_t length; /* number of steps of each thread */
};

struct props_rc11_outcomes {
    uint64_t seen[PROPS_RC11_OUTCOMES_MAX];
    uint32_t count;
};

void props_rc11_add(struct props_rc11_outcomes *outcomes, uint64_t outcome);
bool props_rc11_has(const struct props_rc11_outcomes *outcomes,
                    uint64_t outcome);

/* An outcome is what each step read, four bits each. */
uint64_t props_rc11_put(uint64_t outcome, uint32_t thread, uint32_t step,
                        uint32_t value);

/* out: *allowed, all outcomes of the program */
void props_rc11_allowed(const struct props_rc11_program *program,
                        struct props_rc11_outcomes *allowed);

/* May threads wait in a loop for ever? */
bool props_rc11_may_wait(const struct props_rc11_program *program);

#endif
