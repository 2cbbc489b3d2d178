/* sched_campaign.h -- campaigns of traced worlds. */
#ifndef PROPS_SCHED_CAMPAIGN_H
#define PROPS_SCHED_CAMPAIGN_H

#include "campaign.h"

extern const struct props_kind props_traced;

#endif
