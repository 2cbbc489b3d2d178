/*
 * frontier.h -- what is left of a search, divided into parts for processes.
 *
 * A search is a tree: its nodes are questions, the edges below a node are the
 * question's answers. A searching process has one part of the tree: all lists
 * that begin with a certain path. It stores only its current list. When it
 * shares work, the questions on the way to that list become nodes here, and
 * their other answers become parts for other processes.
 *
 *      part 1: [0 1 | 2 0 1 ...]     path | the questions it may move
 *
 * In a search graph by graph, a run below a question may show that the question
 * has more answers, whichever process makes that run (reduce.c). So a node is
 * kept until the last part below it is done.
 */
#ifndef EXPLORE_SEARCH_FRONTIER_H
#define EXPLORE_SEARCH_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/choice.h"

struct engine;

/* What is known of each question, indexed as the list of choices. */
struct sim_question {
    uint32_t sources; /* of a read (reduce.c); 0: an ordinary choice */
    uint8_t allowed;  /* threads that it may wait for, a bit each */
    uint8_t enabled;  /* those for which waiting may lead somewhere */
    uint8_t tried;
    uint8_t waits;   /* it stays blocked, and has no other answer */
    uint64_t futile; /* sources that lead round a wait loop, a bit each */
};

struct sim_step {
    struct sim_choice choice;
    struct sim_question question;
};

struct sim_node;
struct sim_part;

struct sim_frontier {
    struct sim_node *nodes;
    uint32_t nodes_count;
    uint32_t nodes_room;
    struct sim_part *parts;
    uint32_t parts_count;
    uint32_t parts_room;
};

#define SIM_NO_PART UINT32_MAX

/* Begin with one part, the whole tree. */
void sim_frontier_begin(struct sim_frontier *f);
void sim_frontier_free(struct sim_frontier *f);
void sim_frontier_copy(struct sim_frontier *to, const struct sim_frontier *f);

/* Take the largest part on which no process works; SIM_NO_PART: none */
uint32_t sim_frontier_take(struct sim_frontier *f);

/* returns: the length of the part's path */
uint32_t sim_frontier_depth(const struct sim_frontier *f, uint32_t part);

/* out: steps[0 .. depth), the part's path */
void sim_frontier_path(const struct sim_frontier *f, uint32_t part,
                       struct sim_step *steps);

/*
 * Split the part: it keeps only what is below steps[count - 1], and new parts
 * get the other answers of these steps.
 */
void sim_frontier_split(struct sim_frontier *f, uint32_t part,
                        const struct sim_step *steps, uint32_t count);

/* in: enabled[i], what was learned about the i-th question of the part's path
 */
void sim_frontier_enable(struct sim_frontier *f, uint32_t part,
                         const uint8_t *enabled, uint32_t count);

/* The part has been searched. */
void sim_frontier_done(struct sim_frontier *f, uint32_t part);

/* Give a part back that is not done: no process works on it any more. */
void sim_frontier_return(struct sim_frontier *f, uint32_t part);

/* Nothing is left. */
bool sim_frontier_is_empty(const struct sim_frontier *f);

/*
 * Estimate the share of the tree that is done, as if all answers of a question
 * led to subtrees of the same size.
 *
 * in:      done[part], the share of each part that is done; NULL: none of any
 * returns: in [0, 1]
 */
double sim_frontier_share(const struct sim_frontier *f, const double *done);

/* How many answers has the question, as far as is known? */
uint32_t sim_question_answers(const struct sim_question *q,
                              const struct sim_choice *choice);

/* How many of them come before the current one? */
uint32_t sim_question_passed(const struct sim_question *q,
                             const struct sim_choice *choice);

/* A new question's first answer that is not futile. */
uint32_t sim_question_first(struct sim_question *q);

/* Move the choice to its next answer. returns: false if there is none */
bool sim_question_next(struct sim_question *q, struct sim_choice *choice);

/* Threads that may be waited for; those not created yet are among them. */
uint8_t sim_question_threads(struct engine *e);

/* ---- The questions of a run ---- */

#define SIM_QUESTIONS_MAX (1U << 16)

struct sim_question *sim_question_at(struct engine *e, uint32_t i);

/* Note a choice that is not a read: its answers are fixed. */
void sim_question_plain(struct engine *e, const struct sim_choices *choices);

/* A repeated run must not change what the search has learned. */
bool sim_question_is_new(const struct sim_choices *choices);

/* returns: the threads that wait for another one's write, a bit each */
uint32_t sim_question_waiting(struct engine *e);

/* A run ends early: of its questions from `from` on all answers are tried. */
void sim_question_open(struct engine *e, uint32_t from);

/* returns: true if sim_question_next() would find one */
bool sim_question_has_next(const struct sim_question *q,
                           const struct sim_choice *choice);

/* ---- In a file ---- */

/* Write a frontier; parts that are being searched are written as free.
 * returns: false if writing failed */
bool sim_frontier_write(const struct sim_frontier *f,
                        bool (*put)(void *file, const void *data, size_t bytes),
                        void *file);

/* returns: false, with *f empty, if the file has no valid frontier */
bool sim_frontier_read(struct sim_frontier *f,
                       bool (*get)(void *file, void *data, size_t bytes),
                       void *file);

#endif
