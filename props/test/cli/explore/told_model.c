/* told_model.c -- see told_model.h. */
#include "explore/told_model.h"

#include <inttypes.h>
#include <string.h>

#include "explore/drawn_searches.h"

enum cli_verdict
told_verdict(const struct search *s)
{
    static const enum cli_verdict others[] = {
        [SIM_VERDICT_PASS] = CLI_VERDICT_HOLDS,
        [SIM_VERDICT_UNFINISHED] = CLI_VERDICT_INCOMPLETE,
        [SIM_VERDICT_EMPTY] = CLI_VERDICT_INCOMPLETE,
        [SIM_VERDICT_NONDETERMINISTIC] = CLI_VERDICT_NONDETERMINISTIC,
        [SIM_VERDICT_REFUSED] = CLI_VERDICT_WRONG_INPUT};

    const enum sim_failure_kind kind = s->found.first_failure.failure.kind;

    if (s->found.verdict == SIM_VERDICT_FAIL && kind == SIM_FAIL_CRASH)
        return CLI_VERDICT_CRASHED;
    if (s->found.verdict == SIM_VERDICT_FAIL)
        return kind == SIM_FAIL_DEADLOCK || kind == SIM_FAIL_LIVELOCK
                   ? CLI_VERDICT_NO_END
                   : CLI_VERDICT_BROKEN;
    if (asked.random)
        return CLI_VERDICT_SAMPLED;
    if (s->found.verdict == SIM_VERDICT_PASS &&
        (asked.shards > 1 || asked.bounded || s->entry->bounded ||
         s->found.bounded > 0))
        return CLI_VERDICT_BOUNDED;
    return others[s->found.verdict];
}

/* The end of the line. */
static const char *
said_of(const struct search *s)
{
    static const char *const texts[CLI_VERDICT_COUNT] = {
        [CLI_VERDICT_HOLDS] = "holds",
        [CLI_VERDICT_SAMPLED] = "no failure",
        [CLI_VERDICT_NONDETERMINISTIC] = "not deterministic",
        [CLI_VERDICT_WRONG_INPUT] = "refused",
        [CLI_VERDICT_INCOMPLETE] = "not finished"};
    static char text[64];
    const enum cli_verdict verdict = told_verdict(s);

    if (s->found.verdict == SIM_VERDICT_FAIL)
        return sim_failure_kind_text(s->found.first_failure.failure.kind);
    if (s->found.verdict == SIM_VERDICT_EMPTY)
        return "no run comes to its end";
    if (verdict != CLI_VERDICT_BOUNDED)
        return texts[verdict];
    if (asked.shards > 1)
        return "no failure in this shard";
    if (!asked.bounded && !s->entry->bounded)
        return "holds, waits to a bound";
    snprintf(text, sizeof text, "holds to %" PRIu32 " preemptions",
             asked.bounded ? asked.bound : s->entry->preemptions_max);
    return text;
}

void
told_choices(FILE *to, const struct search *s)
{
    fputs(s->found.options.reduced ? "g" : "", to);
    for (uint32_t i = 0; i < s->choices; i++)
        fprintf(to, "%s%" PRIu32, i > 0 ? "," : "", searches_choice(i));
}

/* The command that runs a failure again. */
void
told_replay(FILE *to, const struct search *s)
{
    const struct sim_run_options *o = &s->found.options;

    fprintf(to, "profsim explore %s", s->entry->name);
    if (asked.random || s->found.found_by_sampling)
        fprintf(to, " --strategy %s", sim_strategy_text(o->strategy));
    if (o->bounded)
        fprintf(to, " --bound %" PRIu32, o->preemptions_max);
    if (asked.unroll > 0)
        fprintf(to, " --unroll %" PRIu32, asked.unroll);
    if (asked.spurious > 0)
        fprintf(to, " --spurious %" PRIu32, asked.spurious);
    fputs(" --replay ", to);
    told_choices(to, s);
    fputs(s->choices == 0 ? "0" : "", to);
}

/* A blank takes the place of a plural's s. */
static void
put_count(FILE *to, int width, uint64_t count, const char *what)
{
    fprintf(to, " %*" PRIu64 " %s%c", width, count, what,
            count == 1 ? ' ' : 's');
}

static void
put_kernel(FILE *to, const struct search *s)
{
    const struct sim_exhaust_result *f = &s->found;
    char line[200];

    if (s->tells && !asked.random) {
        snprintf(line, sizeof line,
                 "%s: %" PRIu64 " runs, 0 graphs, 0.0 %%, 0:01:00",
                 s->entry->name, f->runs);
        fprintf(to, asked.terminal ? "\r%-79s\r%79s\r" : "%s%s\n", line, "");
    }
    fprintf(to, "%-20s", s->entry->name);
    put_count(to, 10, f->runs, "run");
    put_count(to, 9, asked.random ? f->states : f->graphs, "graph");
    put_count(to, 9, asked.random ? 0 : f->states, "state");
    fprintf(to, " %6" PRIu64 ".%03" PRIu64 " s  %s\n", s->took_us / 1000000,
            s->took_us % 1000000 / 1000, said_of(s));
    if (f->difference[0] != '\0')
        fprintf(to, "\n  %s\n\n", f->difference);
    if (f->trouble[0] != '\0')
        fprintf(to, "\n  %s\n\n", f->trouble);
    if (f->failures == 0) {
        if (asked.html || asked.data)
            fprintf(to, "%s: no failure, so no page\n", s->entry->name);
        return;
    }
    if (searches_mixed())
        fprintf(to, "\n  found by %s\n",
                f->found_by_sampling ? sim_strategy_text(f->options.strategy)
                                     : "exhaustive search");
    fprintf(to, "\nreport of %s\n\n  replay: ", s->entry->make()->about);
    told_replay(to, s);
    fputs("\n\n", to);
}

static void
put_reason(FILE *to, const struct search *s)
{
    const struct sim_exhaust_result *f = &s->found;
    const char *const before = ",\n      \"text\": \"";

    if (f->difference[0] != '\0')
        fprintf(to, "%s%s\"", before, f->difference);
    else if (f->failures > 0)
        fprintf(to, "%s%s: %s\"", before,
                sim_failure_kind_text(f->first_failure.failure.kind),
                f->first_failure.failure.text);
    else if (f->trouble[0] != '\0')
        fprintf(to, "%s%s\"", before, f->trouble);
    else if (told_verdict(s) == CLI_VERDICT_BOUNDED)
        fprintf(to, "%s%s\"", before, said_of(s));
    else if (told_verdict(s) == CLI_VERDICT_SAMPLED)
        fprintf(to, "%s%" PRIu64 " runs, %s, from seed %" PRIu64 "\"", before,
                f->runs, sim_strategy_text(asked.strategy), asked.seed);
    else if (told_verdict(s) == CLI_VERDICT_INCOMPLETE)
        fprintf(to, "%snot every ordering within %" PRIu64 " runs\"", before,
                f->runs);
}

void
told_result(FILE *to, const struct search *s)
{
    const struct sim_exhaust_result *f = &s->found;

    fprintf(to,
            "    {\n      \"subject\": \"kernels\",\n      \"name\": "
            "\"%s\",\n      \"about\": \"%s\",\n      \"verdict\": \"%s\"",
            s->entry->name, s->entry->make()->about,
            cli_verdict_word(told_verdict(s)));
    put_reason(to, s);
    fprintf(to, ",\n      \"counts\": {\"runs\": %" PRIu64, f->runs);
    if (!asked.random)
        fprintf(to, ", \"graphs\": %" PRIu64, f->graphs);
    fprintf(to, ", \"states\": %" PRIu64 "}", f->states);
    if (f->failures > 0) {
        fputs(",\n      \"replay\": \"", to);
        told_replay(to, s);
        fputs("\"", to);
    }
    fputs("\n    }", to);
}

enum cli_exit
told_all(FILE *to)
{
    enum cli_exit worst = CLI_OK;
    uint32_t counts[CLI_VERDICT_COUNT] = {0};
    uint32_t failed = 0;

    for (uint32_t i = 0; i < searches_count; i++) {
        const enum cli_verdict verdict = told_verdict(&searches[i]);

        put_kernel(to, &searches[i]);
        worst = cli_exit_worse(worst, cli_verdict_exit(verdict));
        counts[verdict]++;
        failed += cli_verdict_exit(verdict) != CLI_OK;
    }
    if (asked.kernel != NULL)
        return worst;
    if (counts[CLI_VERDICT_BOUNDED] > 0)
        fprintf(to, "explore: %" PRIu32 " of them up to a bound\n",
                counts[CLI_VERDICT_BOUNDED]);
    if (counts[CLI_VERDICT_SAMPLED] > 0)
        fprintf(to, "explore: %" PRIu32 " of them by random runs\n",
                counts[CLI_VERDICT_SAMPLED]);
    fprintf(to, "explore: %" PRIu32 " passed, %" PRIu32 " failed\n",
            searches_count - failed, failed);
    return worst;
}
