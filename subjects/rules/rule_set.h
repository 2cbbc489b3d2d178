/*
 * rule_set.h -- the sampling rules of other heap profilers, as data and
 * functions small enough to enumerate.
 *
 * Every rule set counts something down, its *ticks* (mostly bytes), from a
 * *threshold* that is drawn at random. Rule sets differ in the distribution of
 * the threshold, what an allocation subtracts from it, what happens to the
 * overshoot, and how many bytes a sample represents.
 *
 *      ticks    3      4         2     6           3
 *             |---|----.|------|--|-.-.-.--|------|----
 *                      ^             ^ ^ ^            threshold reached
 *      RENEWAL         the overshoot is dropped: the next threshold counts from
 *                      the end of the allocation
 *      CARRIED         the next threshold counts from this one, so a long
 *                      allocation may reach several
 *
 * A rule set never draws random numbers itself. Its caller passes a random
 * number, or an enumerator asks it for the distribution (`above`). So machine.c
 * and the enumerators share only these functions, and each checks the other.
 */
#ifndef SUBJECTS_RULES_RULE_SET_H
#define SUBJECTS_RULES_RULE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum subjects_chain {
    SUBJECTS_RENEWAL,  /* renewal.c */
    SUBJECTS_CARRIED,  /* carried.c */
    SUBJECTS_KEPT,     /* seastar.c: what a large block took is given back */
    SUBJECTS_BUFFERED, /* jfr.c: no random number at all; no `estimate`: bytes
                          since the last event */
    SUBJECTS_STRATA    /* strata.c: a point in each block of a size class */
};

/* A sample, as its rule set sees it when it computes the estimate. */
struct subjects_sample {
    uint64_t rate;
    uint64_t size_bytes; /* as the rule set counts it */
    uint64_t sum_ticks;  /* RENEWAL: since the threshold was drawn */
    double threshold;    /* RENEWAL: the one that was reached */
};

/*
 * A piece of a CARRIED rule set's distribution: the threshold is n with chance
 * first * ratio^(n - from), for `length` numbers n from `from` on (0: without
 * end).
 */
struct subjects_piece {
    uint64_t from;
    uint64_t length;
    double first;
    double ratio;
};
enum { SUBJECTS_PIECES_MAX = 2 };

/* What a rule set does with realloc, fork, a change of the rate and the start
 * of a thread. */
enum subjects_realloc {
    SUBJECTS_REALLOC_COUNTS,  /* an allocation of the whole new size */
    SUBJECTS_REALLOC_PLACE,   /* the same if it moves; in place, nothing */
    SUBJECTS_REALLOC_NOTHING, /* never counted */
    SUBJECTS_REALLOC_NONE     /* a managed heap has none */
};
enum subjects_fork {
    SUBJECTS_FORK_COPIES, /* the child draws the parent's numbers */
    SUBJECTS_FORK_STOPS,  /* the child does not sample */
    SUBJECTS_FORK_NONE    /* the runtime's processes do not fork */
};
enum subjects_rate {
    SUBJECTS_RATE_NEXT,    /* from the next threshold on */
    SUBJECTS_RATE_DRAWS,   /* a new threshold is drawn at once */
    SUBJECTS_RATE_SAMPLES, /* the next allocation is sampled, whatever it is */
    SUBJECTS_RATE_FIXED    /* it cannot change while samples are kept */
};
enum subjects_start {
    SUBJECTS_START_DRAWN, /* a thread's first threshold is like any other */
    SUBJECTS_START_RATE,  /* it is the rate itself */
    SUBJECTS_START_FIRST  /* the first allocation is sampled */
};

struct subjects_manners {
    enum subjects_realloc realloc;
    enum subjects_fork fork;
    enum subjects_rate rate;
    enum subjects_start start;
    bool weight_is_recorded;       /* with the sample; else the reader computes
                                      it from the rate when it reads */
    uint64_t alignment_most_bytes; /* above it a due sample is lost; 0: none */
    uint64_t table_entries;        /* 0: not bounded */
    bool scales_by_site;           /* the reader divides by the mean size's
                                      chance, all sizes of a site together */
};

struct subjects_rules {
    const char *name;
    const char *of;     /* which tool, in words */
    const char *source; /* repository and commit whose formulas these are */
    enum subjects_chain chain;
    struct subjects_manners manners;

    /* returns: what is wrong with a rate for these rules; NULL: nothing */
    const char *(*rate_error)(uint64_t rate);

    /* returns: bytes as the rules count a request; NULL: what was asked for */
    uint64_t (*counted)(uint64_t size_bytes, uint64_t alignment_bytes);

    /* returns: what an allocation takes off the countdown; NULL: its bytes */
    uint64_t (*ticks)(uint64_t rate, uint64_t size_bytes);

    /* returns: the threshold for a number below 2^number_bits. It never
     *          grows with the number or, if `number_grows`, never falls.
     *          RENEWAL: it is reached by the allocation that brings the sum of
     *          ticks to it. CARRIED: it is the distance in ticks from one point
     *          to the next. For the first point, 1 means the first tick. */
    uint64_t (*threshold)(uint64_t rate, uint64_t number);
    unsigned number_bits;
    bool number_grows;

    /* returns: P(threshold > n), RENEWAL */
    double (*above)(uint64_t rate, uint64_t n);

    /* CARRIED. out: the distribution of the threshold. returns: how many
     * pieces */
    size_t (*pieces)(uint64_t rate, struct subjects_piece *pieces);

    /* returns: whether a size is always sampled, once, whatever the countdown
     * says. After such a sample RENEWAL draws a new threshold; CARRIED leaves
     * the countdown as it was, unless `always_ticks`. NULL: no size is always
     * sampled */
    bool (*always)(uint64_t rate, uint64_t size_bytes);
    bool always_ticks;

    /* returns: the bytes that a sample stands for, as the tool's own reader
     * computes them; if `by_points`, those of each point. Linear in
     * `threshold`. */
    double (*estimate)(const struct subjects_sample *sample);
    bool by_points; /* CARRIED, STRATA: times how many points were reached */
    bool needs_threshold; /* RENEWAL: `threshold` is read */
    bool draws_once;      /* CARRIED: one point at most, the next at least 0 */
    bool shortcut;        /* CARRIED: each whole rate of overshoot counts one */

    bool samples_next; /* RENEWAL: the sample is the allocation after that which
                          reached the threshold */

    /* returns: the same for objects in use; NULL: `estimate` is used */
    double (*live)(const struct subjects_sample *sample);
};

/* Every rule set, NULL at the end. */
extern const struct subjects_rules *const subjects_rules_all[];

/* Rule sets with a mistake that has since been fixed; NULL at the end. */
extern const struct subjects_rules *const subjects_rules_mistakes[];

/* returns: the rule set of that name, of both lists; NULL if there is none */
const struct subjects_rules *subjects_rules_find(const char *name);

/* The fields of the same name, as functions that also handle NULL. */
uint64_t subjects_counted(const struct subjects_rules *rules,
                          uint64_t size_bytes, uint64_t alignment_bytes);
uint64_t subjects_ticks(const struct subjects_rules *rules, uint64_t rate,
                        uint64_t size_bytes);
bool subjects_always(const struct subjects_rules *rules, uint64_t rate,
                     uint64_t size_bytes);

#endif
