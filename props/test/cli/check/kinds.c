/* kinds.c -- see kinds.h. */
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge_case.h"
#include "subject_file.h"
#include "unit_test.h"
#include "wanted.h"

static const char subject_source[] =
    "#include <stdlib.h>\n"
    "#include \"subject.h\"\n"
    "static struct subject_record kept[99];\n"
    "static int count;\n"
    "static void *begin(const struct subject_config *c)\n"
    "{ count = 0; return (void *)c; }\n"
    "static void alloc(void *s, uint32_t t, const struct subject_site *site,\n"
    "                  const struct subject_block *b)\n"
    "{\n"
    "    if (b->size_bytes == 13 || getenv(\"MADE_ABORTS\")) abort();\n"
    "    if (b->size_bytes != 14 && !getenv(\"MADE_HIDES\")) kept[count++] = "
    "(struct subject_record){\n"
    "        .site = *site, .live = {1, b->size_bytes, 1}};\n"
    "}\n"
    "static void snapshot(void *s, subject_visit *visit, void *context)\n"
    "{ for (int i = 0; i < count; i++) visit(context, &kept[i]); }\n"
    "const struct subject *profsim_subject(void)\n"
    "{\n"
    "    static const struct subject made = {.version = 2,\n"
    "        .can = SUBJECT_LIVE, .name = \"made\", .memory_bytes = 8,\n"
    "        .begin = begin, .alloc = alloc, .snapshot = snapshot};\n"
    "    return &made;\n"
    "}\n";

#define OF_SUBJECT(size)                                          \
    "profsim scenario 2\ninstruments subject\nstack s = main\n\n" \
    "alloc a s " size "\nsnapshot\n"
#define OF_LIBRARY(outcome)                                           \
    "profsim scenario 2\nrules go1.6-late\nstack leak = main>parse\n" \
    "alloc a leak 64\ndrop a\ngc-mark\ngc-terminate\ngc-sweep a\n"    \
    "gc-flush\nsnapshot-all\n" outcome
#define GOOD(more)                                        \
    "profsim scenario 2\nbuckets 8\nstack s = main>one\n" \
    "alloc a s 16\nsnapshot\n" more

const struct kind kinds[KINDS] = {
    {"good.sim", GOOD("")},
    {"held.sim", GOOD("  expect order s:16\n\nexpect ok\n")},
    {"wrong.sim", GOOD("  expect count 2\n")},
    {"whole.sim", GOOD("\nexpect property H2 broken\n")},
    {"refused.sim", GOOD("gc-sweep a\n")},
    {"late.sim", OF_LIBRARY("\nexpect property H2 broken\n")},
    {"late-unsaid.sim", OF_LIBRARY("")},
    {"late-ok.sim", OF_LIBRARY("\nexpect ok\n")},
    {"late-other.sim", OF_LIBRARY("\nexpect property H8 broken\n")},
    {"empty.sim", "profsim scenario 2\nrules exact\n"},
    {"typo.sim", GOOD("gc-swep a\n")},
    {"nothing.sim", ""},
    {"text.sim", "nothing known\n"},
    {"missing.sim", NULL},
    {"subject.sim", OF_SUBJECT("12")},
    {"subject-13.sim", OF_SUBJECT("13")},
    {"subject-14.sim", OF_SUBJECT("14")},
};

const struct subject *made;

void
kind_write(const char *name, const char *text)
{
    FILE *file = fopen(wanted_path(name), "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *
verdict_of(int exit_code)
{
    static const char *const words[] = {
        "holds",  "wrong-input",      "broken",    "crashed",
        "no-end", "nondeterministic", "incomplete"};

    return words[exit_code];
}

int
kind_result(const char *subject, const char *path, int exit_code,
            enum props_property property, const char *text, const char *replay)
{
    const bool is_skipped = replay == NULL;
    char again[512];

    snprintf(again, sizeof again, "%s %s", is_skipped ? "" : replay, path);
    wanted_result(subject, path, property,
                  is_skipped ? "not-applicable" : verdict_of(exit_code));
    if (property != PROPS_NONE)
        wanted_member("property", "%s", props_property_id(property));
    if (text[0] != '\0')
        wanted_member("text", "%s", text);
    wanted_rest("", is_skipped || exit_code == 1 ? NULL : again);
    return exit_code;
}

const char *
kind_replay(const struct asked *asked, const char *command)
{
    static char text[256];

    snprintf(text, sizeof text, "profsim %s%s%s", command,
             asked->subject != NULL ? " --subject " : "",
             asked->subject != NULL ? wanted_path("made.so") : "");
    return text;
}

struct sim_scenario *
kind_parse(const char *path, const char *text, struct sim_error *error)
{
    return sim_scenario_parse(text, strlen(text), path, error);
}

void
merge_make_subject(void)
{
    char command[512];

    if (made != NULL)
        return;
    kind_write("made.c", subject_source);
    snprintf(command, sizeof command,
             "cc -shared -fPIC -w -iquote subjects -o %s %s",
             wanted_path("made.so"), wanted_path("made.c"));
    assert_int_equal(system(command), 0);
    assert_int_equal(unlink(wanted_path("made.c")), 0);
    made = cli_subject_load(wanted_path("made.so"));
    assert_non_null(made);
}
