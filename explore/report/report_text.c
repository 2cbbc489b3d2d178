/* report_text.c -- events and choices of a failing run, as text. */
#include "explore/report/failing_run.h"

const char *
sim_failure_kind_text(enum sim_failure_kind kind)
{
    static const char *const texts[SIM_FAIL_KIND_COUNT] = {
        "no failure",
        "check",
        "data race",
        "deadlock",
        "lock rank",
        "lock misuse",
        "livelock",
        "refused: mixed sizes",
        "refused: stack shared",
        "crash",
        "limit of the explorer",
        "unsound pruning",
        "heap",
        "leak",
        "exit",
        "refused",
        "use of memory that is gone",
    };

    return texts[kind];
}

void
sim_report_location(struct report_locations *locations, char *text,
                    uintptr_t address)
{
    uint32_t i = 0;

    if (address == 0) { /* a fence has no location */
        text[0] = '\0';
        return;
    }
    if (sim_site_address_text(text, LOCATION_BYTES, address))
        return;
    while (i < locations->count && locations->address[i] != address)
        i++;
    if (i == locations->count && i < REPORT_LOCATIONS_MAX)
        locations->address[locations->count++] = address;
    snprintf(text, LOCATION_BYTES, "place%u", (unsigned)i);
}

static const char *
order_text(int order)
{
    static const char *const texts[] = {"rlx", "con", "acq",
                                        "rel", "a/r", "sc"};

    return texts[order];
}

/* Does the value point near something that the run has touched? */
static bool
is_pointer(const struct replay *replay, uint64_t value)
{
    const uint64_t near = 1 << 20;

    for (uint32_t i = 0; i < replay->trace_count; i++) {
        const uint64_t address = replay->trace[i].address;

        if (address != 0 && value - (address - near) < 2 * near)
            return true;
    }
    return false;
}

/* Pointers differ from process to process, so print a name instead. */
void
sim_report_value(const struct replay *replay,
                 struct report_locations *locations, char *text, uint64_t value)
{
    if (value < 1U << 20)
        snprintf(text, LOCATION_BYTES, "%u", (unsigned)value);
    else if (is_pointer(replay, value))
        sim_report_location(locations, text, (uintptr_t)value);
    else
        snprintf(text, LOCATION_BYTES, "0x%llx", (unsigned long long)value);
}

void
sim_report_event(const struct replay *replay,
                 struct report_locations *locations, char *text, size_t bytes,
                 const struct trace_event *v)
{
    char where[LOCATION_BYTES];
    char value[LOCATION_BYTES];
    char written[LOCATION_BYTES];
    const char *const order = order_text(v->order);

    sim_report_location(locations, where, v->address);
    sim_report_value(replay, locations, value, v->value);
    sim_report_value(replay, locations, written, v->written);
    switch (v->op) {
    case SIM_OP_LOAD:
        snprintf(text, bytes, "%s is %s (%s)", where, value, order);
        break;
    case SIM_OP_STORE:
        snprintf(text, bytes, "%s = %s (%s)", where, value, order);
        break;
    case SIM_OP_RMW:
        snprintf(text, bytes, "%s %s -> %s (%s)", where, value, written, order);
        break;
    case SIM_OP_CAS:
        if (v->ok)
            snprintf(text, bytes, "%s cas %s -> %s (%s)", where, value, written,
                     order);
        else
            snprintf(text, bytes, "%s cas fails: %s (%s)", where, value, order);
        break;
    case SIM_OP_FENCE:
        snprintf(text, bytes, "fence (%s)", order);
        break;
    case SIM_OP_LOCK:
        snprintf(text, bytes, "%s %s", v->ok ? "lock" : "try fails:", where);
        break;
    case SIM_OP_UNLOCK:
        snprintf(text, bytes, "unlock %s", where);
        break;
    case SIM_OP_BARRIER:
        snprintf(text, bytes, "barrier on all threads");
        break;
    case SIM_OP_CALL:
        snprintf(text, bytes, "%s %s%s", v->what, where, v->ok ? "" : " fails");
        break;
    case SIM_OP_THREAD:
        snprintf(text, bytes, "%s thread %u", v->what, (unsigned)v->value);
        break;
    case SIM_OP_WAIT:
        snprintf(text, bytes, "%s %s", v->ok ? "sleep on" : "no sleep on",
                 where);
        break;
    case SIM_OP_WAKE:
        snprintf(text, bytes, "wake %s", where);
        break;
    case SIM_OP_MARK: /* not traced */
    case SIM_OP_COUNT:
        break;
    }
}

/* ---- Choices ---- */

static const char *
choice_text(const struct sim_choice *choice)
{
    static const char *const texts[SIM_KIND_COUNT] = {
        "features",       "one more item", "operation", "argument",
        "another thread", "a stale read",  "clock",     "a fault",
    };

    if (choice->kind == SIM_STALE && (choice->label & SIM_LABEL_STORE) != 0)
        return "an early store";
    return texts[choice->kind];
}

bool
sim_report_waits(const struct sim_exhaust_result *result,
                 const struct sim_choice *c)
{
    return result->options.reduced && c->kind == SIM_STALE &&
           (c->label & SIM_LABEL_STORE) == 0;
}

void
sim_report_choice(const struct sim_exhaust_result *result,
                  const struct sim_choice *c, char *text, size_t bytes)
{
    const uint32_t bound =
        sim_report_waits(result, c) ? c->bound - SIM_THREADS_MAX - 1 : c->bound;

    if (c->value < bound)
        snprintf(text, bytes, "%s (%u of %u)", choice_text(c),
                 (unsigned)c->value, (unsigned)bound);
    else if (c->value == bound + SIM_THREADS_MAX)
        snprintf(text, bytes, "thread %u stays blocked", (unsigned)c->label);
    else
        snprintf(text, bytes, "thread %u waits for thread %u",
                 (unsigned)c->label, (unsigned)(c->value - bound));
}
