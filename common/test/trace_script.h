/*
 * trace_script.h -- makes "go 1.5 trace" files from a line of text, for tests.
 *
 *      "p0 create:1 start:1 heap:4096 end"
 *
 * Words are separated by spaces. `pN` begins a batch of processor N; any other
 * word is an event with an optional argument. Sequence numbers count from 1 in
 * the order of the text; a word that ends in @N has number N instead. A word
 * that ends in +N happens N ticks after the word before it (else 0). A SysExit
 * is written at number 0, with this number and tick as its real ones.
 *
 *      freq:N     the frequency; without it the script ends in freq:1000000
 *      timer:G    goroutine G runs timers
 *      raw:N      the byte N
 *
 * The table of words is written from the description of the format: the event's
 * first byte, and how many numbers follow it. These are the differences of the
 * sequence number and of the tick, the argument, and 7 for each further one.
 */
#ifndef COMMON_TEST_TRACE_SCRIPT_H
#define COMMON_TEST_TRACE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#define PROPS_TRACE_SCRIPT_BYTES_MAX 4096

struct props_trace_script {
    uint8_t bytes[PROPS_TRACE_SCRIPT_BYTES_MAX];
    size_t bytes_count;
    uint64_t seq;        /* of the last event in the text */
    uint64_t ticks;      /* of the last event */
    uint64_t base_seq;   /* from which the next difference is taken */
    uint64_t base_ticks; /* the same for ticks */
};

/* Translate a script; an unknown word fails the running test. */
void props_trace_script(struct props_trace_script *out, const char *text);

/* Append one number as LEB128. */
void props_trace_put(struct props_trace_script *out, uint64_t number);

/*
 * Read a whole file of the project, path relative to its root.
 *
 * returns: its bytes, to be freed; a file that cannot be read fails the test
 */
uint8_t *props_trace_load(const char *path, size_t *bytes_count);

#endif
