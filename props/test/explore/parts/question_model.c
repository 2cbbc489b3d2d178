/* question_model.c -- see question_model.h. */
#include "question_model.h"

#include "engine.h"
#include "frontier.h"
#include "unit_test.h"

/* The choices that a load has: sources that may lead on, then threads to wait
 * for. If no source leads on, its only choice is to stay blocked. */
static uint32_t
answers_of(const struct sim_question *q, uint32_t *answers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < q->sources; i++) {
        if ((q->futile >> i & 1) == 0)
            answers[count++] = i;
    }
    if (count == 0) {
        answers[0] = q->sources + SIM_THREADS_MAX;
        return 1;
    }
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if ((q->enabled & q->allowed & 1U << i) != 0)
            answers[count++] = q->sources + i;
    }
    return count;
}

static void
check_question(struct sim_question q)
{
    struct sim_choice choice = {.bound = q.sources + SIM_THREADS_MAX + 1};
    uint32_t answers[16];
    const uint32_t count = answers_of(&q, answers);

    choice.value = sim_question_first(&q);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(choice.value, answers[i]);
        assert_int_equal(sim_question_answers(&q, &choice), count);
        assert_int_equal(sim_question_passed(&q, &choice), i);
        assert_int_equal(sim_question_has_next(&q, &choice), i + 1 < count);
        assert_int_equal(sim_question_next(&q, &choice), i + 1 < count);
    }
}

void
question_model_try(void)
{
    for (uint32_t sources = 1; sources <= 3; sources++) {
        for (uint32_t futile = 0; futile < 1U << sources; futile++) {
            for (uint32_t allowed = 0; allowed < 8; allowed++) {
                for (uint32_t enabled = 0; enabled < 8; enabled++)
                    check_question(
                        (struct sim_question){.sources = sources,
                                              .futile = futile,
                                              .allowed = (uint8_t)allowed,
                                              .enabled = (uint8_t)enabled});
            }
        }
    }
    check_question((struct sim_question){
        .sources = 2, .allowed = 0x80, .enabled = 0x80}); /* the last thread */
}

void
question_model_late(void)
{
    struct sim_question q = {.sources = 2, .allowed = 7, .enabled = 2};
    struct sim_choice choice = {.bound = 2 + SIM_THREADS_MAX + 1, .value = 1};

    assert_true(sim_question_next(&q, &choice));
    assert_int_equal(choice.value, 2 + 1);
    assert_int_equal(sim_question_passed(&q, &choice), 2);
    q.enabled |= 1;
    assert_int_equal(sim_question_answers(&q, &choice), 4);
    assert_true(sim_question_next(&q, &choice));
    assert_int_equal(choice.value, 2);
    assert_int_equal(sim_question_passed(&q, &choice), 3);
    assert_false(sim_question_has_next(&q, &choice));
    /* Its sources turn out to be futile: what is left is to stay blocked. */
    q = (struct sim_question){.sources = 2, .allowed = 7, .futile = 3};
    choice.value = 1;
    assert_int_equal(sim_question_answers(&q, &choice), 1);
    assert_int_equal(sim_question_passed(&q, &choice), 0);
    assert_true(sim_question_next(&q, &choice));
    assert_int_equal(choice.value, 2 + SIM_THREADS_MAX);
    assert_int_equal(sim_question_answers(&q, &choice), 1);
}

void
question_model_threads(void)
{
    struct engine *e = &sim_engine;

    for (uint32_t i = 0; i < 64; i++) {
        uint32_t want = 0;

        e->threads_count = i % 4;
        e->threads_known = i / 4 % 4;
        for (uint32_t k = 0; k < 4; k++) {
            e->threads[k].finished = k == i / 16;
            if (k != i / 16 && (k < e->threads_count || k < e->threads_known))
                want |= 1U << k;
        }
        assert_int_equal(sim_question_threads(), want);
    }
    e->threads_count = SIM_THREADS_MAX;
    e->threads_known = 0;
    for (uint32_t k = 0; k < SIM_THREADS_MAX; k++)
        e->threads[k].finished = false;
    assert_int_equal(sim_question_threads(), 0xff);
    e->threads_count = 0;
}

void
question_model_ordinary(void)
{
    struct sim_question q = {.sources = 0};

    for (uint32_t bound = 1; bound <= 4; bound++) {
        struct sim_choice choice = {.bound = bound};

        for (uint32_t i = 0; i < bound; i++) {
            assert_int_equal(choice.value, i);
            assert_int_equal(sim_question_answers(&q, &choice), bound);
            assert_int_equal(sim_question_passed(&q, &choice), i);
            assert_int_equal(sim_question_next(&q, &choice), i + 1 < bound);
        }
    }
}

/* All sources lead round a loop: the only choice left is to stay in it. */
void
question_model_futile(void)
{
    struct sim_question q = {.sources = 2, .allowed = 2, .enabled = 2};
    struct sim_choice choice = {.bound = 2 + SIM_THREADS_MAX + 1};

    choice.value = sim_question_first(&q);
    assert_int_equal(choice.value, 0);
    q.futile = 3;
    assert_true(sim_question_next(&q, &choice));
    assert_int_equal(choice.value, 2 + SIM_THREADS_MAX);
    assert_int_equal(sim_question_answers(&q, &choice), 1);
    assert_int_equal(sim_question_passed(&q, &choice), 0);
    assert_false(sim_question_has_next(&q, &choice));
}

/* Only the first 64 sources can be marked as futile. */
void
question_model_many(void)
{
    struct sim_question q = {.sources = 70, .futile = UINT64_MAX};
    struct sim_choice choice = {.bound = 70 + SIM_THREADS_MAX + 1};

    choice.value = sim_question_first(&q);
    assert_int_equal(choice.value, 64);
    assert_int_equal(sim_question_answers(&q, &choice), 6);
    for (uint32_t i = 65; i < 70; i++) {
        assert_true(sim_question_next(&q, &choice));
        assert_int_equal(choice.value, i);
        assert_int_equal(sim_question_passed(&q, &choice), i - 64);
    }
    assert_false(sim_question_next(&q, &choice));
}
