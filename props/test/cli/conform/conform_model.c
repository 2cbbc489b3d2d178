/* conform_model.c -- see conform_model.h. */
#include "conform_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "unit_test.h"

const struct conform_check conform_checks[CHECKS] = {
#define X(sentence, name, about) {#sentence, #name, about},
#include "conform/sentences.def"
#undef X
};

static const struct {
    const char *word;
    int exit_code; /* with only such checks */
    int rank;      /* the worst counts */
    int kind; /* of the last line's numbers: holds, broken, other, skipped */
} ends[] = {
    {"holds", 0, 0, 0},          {"not-tried", 6, 1, 3},
    {"not-applicable", 0, 0, 3}, {"incomplete", 6, 1, 2},
    {"broken", 2, 2, 1},         {"crashed", 3, 3, 2},
    {"no-end", 4, 4, 1},
};

void
conform_put(struct text *text, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = vsnprintf(&text->bytes[text->used], TEXT_BYTES - text->used, format,
                      arguments);
    va_end(arguments);
    assert_true(count >= 0 && (size_t)count < TEXT_BYTES - text->used);
    text->used += (size_t)count;
}

const char *
conform_dashed(const char *name)
{
    static char text[64];

    snprintf(text, sizeof text, "%s", name);
    for (char *c = text; *c != '\0'; c++)
        *c = (char)(*c == '_' ? '-' : *c);
    return text;
}

int
conform_text(struct text *text, const struct asked *asked)
{
    int kinds[4] = {0};
    int worst = 0;
    int number = 0;

    for (int i = 0; i < CHECKS; i++)
        number += asked->acts[i] != NULL;
    conform_put(text, "%sTAP version 13\n1..%d\n", asked->before, number);
    number = 0;
    for (int i = 0; i < CHECKS; i++) {
        const struct act *act = asked->acts[i];
        const char *name = conform_dashed(conform_checks[i].name);

        if (act == NULL)
            continue;
        kinds[ends[act->end].kind]++;
        if (ends[act->end].rank > ends[worst].rank)
            worst = (int)act->end;
        conform_put(text, "%s %d - %s %s",
                    act->end <= NOT_APPLICABLE ? "ok" : "not ok", ++number,
                    conform_checks[i].sentence, name);
        if (act->end == HOLDS)
            conform_put(text, "\n# %s\n", act->text);
        else if (act->end <= NOT_APPLICABLE)
            conform_put(text, " # SKIP %s: %s\n", ends[act->end].word,
                        act->text);
        else
            conform_put(
                text,
                "\n  ---\n  contract: %s\n  %s: %s\n  replay: profsim conform "
                "--only %s %s\n  ...\n",
                conform_checks[i].about, ends[act->end].word, act->text, name,
                asked->words);
    }
    conform_put(
        text,
        "# %d hold, %d are broken, %d did not end well, %d were not tried or "
        "do not apply\n",
        kinds[0], kinds[1], kinds[2], kinds[3]);
    return ends[worst].exit_code;
}

void
conform_results(struct text *text, const struct asked *asked)
{
    const char *comma = "";

    conform_put(text, "  \"results\": [");
    for (int i = 0; i < CHECKS; i++) {
        const struct act *act = asked->acts[i];
        const char *name = conform_dashed(conform_checks[i].name);

        if (act == NULL)
            continue;
        conform_put(
            text,
            "%s\n    {\n      \"subject\": \"%s\",\n      \"name\": \"%s\",\n"
            "      \"about\": \"%s: %s\",\n      \"verdict\": \"%s\",\n"
            "      \"text\": \"%s\",\n      \"counts\": {},\n"
            "      \"replay\": \"profsim conform --only %s %s\"\n    }",
            comma, asked->subject, name, conform_checks[i].sentence,
            conform_checks[i].about, ends[act->end].word,
            act->reported != NULL ? act->reported : act->text, name,
            asked->words);
        comma = ",";
    }
    conform_put(text, "\n  ]\n}\n");
}
