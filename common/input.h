/*
 * input.h -- reads a command's input file whole into memory. The file may be a
 * pipe; `-` is standard input. Its first bytes, not its name, decide its kind.
 * If the kind is unknown, nothing more is read, because the file may have no
 * end.
 */
#ifndef COMMON_INPUT_H
#define COMMON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_INPUT_SCENARIO_MAX = 1 << 28 /* bytes */ };

enum sim_input_kind {
    SIM_INPUT_OTHER,
    SIM_INPUT_SCENARIO,
    SIM_INPUT_RECORDING,
    SIM_INPUT_RESULT, /* of a shard */
};

struct sim_input {
    enum sim_input_kind kind;
    uint8_t *bytes; /* malloc'd; if the kind is OTHER, only the first few */
    size_t bytes_count;
    char reason[112]; /* why it could not be read */
};

/*
 * Read a file.
 *
 * out:     *input, to be freed with sim_input_free()
 * returns: false, and input->reason: it cannot be read, or is too large
 */
bool sim_input_read(struct sim_input *input, const char *path);

/*
 * Read a regular file; refuse anything else, without following a link or
 * waiting for a pipe. For folders to which anybody can write.
 */
bool sim_input_read_regular(struct sim_input *input, const char *path);

/* in: input, whose bytes may be NULL */
void sim_input_free(struct sim_input *input);

#endif
