/*
 * scenario_store.h -- what reading and building a scenario share: its memory,
 * and an index from names to numbers. Private to the scenario files.
 */
#ifndef SIM_SCENARIO_SCENARIO_STORE_H
#define SIM_SCENARIO_SCENARIO_STORE_H

#include "sim/scenario/scenario.h"

#define SIM_INDEX_NONE UINT32_MAX

/* A set of numbers by hash; the caller compares. */
struct sim_index {
    struct sim_index_slot *slots;
    uint32_t slots_count; /* 0 or a power of two */
    uint32_t used;        /* at most half of the slots */
};

/* returns: a scenario with the default configuration; NULL: no memory */
struct sim_scenario *sim_scenario_new(const char *name);

/*
 * Make room for one more item; arrays double.
 *
 * returns: the array, maybe moved; NULL if there is no memory (`array` stays)
 */
void *sim_scenario_grow(void *array, uint32_t count, size_t item_bytes);

/* returns: memory that lives as long as the scenario, NULL if there is none */
void *sim_scenario_take(struct sim_scenario *scenario, size_t bytes);

/* returns: a copy that ends in NUL and lives as long as the scenario */
char *sim_scenario_text(struct sim_scenario *scenario, const char *text,
                        size_t bytes);

/*
 * Find the next of the numbers stored under `hash`.
 *
 * in, out: *probe, 0 to begin
 * returns: the next number, SIM_INDEX_NONE after the last
 */
uint32_t sim_index_next(const struct sim_index *index, uint64_t hash,
                        uint32_t *probe);

/* returns: false if there is no memory */
bool sim_index_add(struct sim_index *index, uint64_t hash, uint32_t number);

void sim_index_free(struct sim_index *index);

uint64_t sim_text_hash(const char *text, size_t bytes);

uintptr_t sim_text_address(const char *function, size_t bytes);

/* How a world is traced if its scenario does not say. */
extern const struct sim_trace_config sim_trace_plain;

/* The words of the language. */
extern const char *const sim_hash_words[PROF_HASH_COUNT];

/* Is this byte allowed in the name of a function? */
bool sim_function_byte(char byte);

/* Add an event at the end; fields that its kind does not use become 0 (I3). */
bool sim_scenario_add_event(struct sim_scenario *scenario,
                            const struct sim_event *event, uint32_t line);

/* Add a stack; `frames` and `name` live as long as the scenario. */
bool sim_scenario_add_stack(struct sim_scenario *scenario, char *name,
                            const uintptr_t *frames, uint32_t depth);

/* Add an object; `name` lives as long as the scenario. */
bool sim_scenario_add_object(struct sim_scenario *scenario, char *name);

/* Add a frame's name, which lives as long as the scenario. */
bool sim_scenario_add_frame_name(struct sim_scenario *scenario, uintptr_t frame,
                                 const char *name);

/* Call once all frame names are there, before the first look-up. */
void sim_scenario_sort_frame_names(struct sim_scenario *scenario);

#endif
