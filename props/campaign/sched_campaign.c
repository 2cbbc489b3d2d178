/* sched_campaign.c -- how the runs of traced worlds are made. */
#include "sched_campaign.h"

#include "hunt.h"
#include "sched_run.h"

static void *
begin_traced(void)
{
    return sched_run_new(SIM_SCHED_EVENTS_MAX);
}

static void
end_traced(void *runner)
{
    sched_run_delete(runner);
}

static bool
run_traced(void *runner, struct sim_choices *choices,
           const struct props_campaign *campaign)
{
    return sched_run_choices(runner, choices, campaign->asked);
}

static struct props_ran
ran_traced(void *runner)
{
    struct sched_run *run = runner;

    return (struct props_ran){run->trail->count, run->hash, &run->marks,
                              &run->judge.breach};
}

const struct props_kind props_traced = {begin_traced, end_traced, run_traced,
                                        ran_traced, sched_failure_tell};
