/* named_places.c -- see named_places.h. */
#include "named_places.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"
#include "placed.h"
#include "rng.h"
#include "unit_test.h"

static uint32_t named[3] = {1};

/* returns: 0, or which of the checks does not hold */
static int
name_without_files(void)
{
    struct rlimit files;
    struct rlimit none;
    size_t before = 0;
    char text[24];

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 1;
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = files.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 2;
    for (uint32_t i = 0; i < 40; i++) {
        if (sim_site_address_text(text, sizeof text, (uintptr_t)named))
            return 3;
        if (i == 20)
            before = mallinfo2().uordblks;
    }
    if (mallinfo2().uordblks != before)
        return 4;
    if (strcmp(sim_site_text(placed_here()), "an unknown place") != 0)
        return 5;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        return 6;
    if (!sim_site_address_text(text, sizeof text, (uintptr_t)named))
        return 7;
    return strcmp(text, "named") == 0 ? 0 : 8;
}

TEST(nothing_has_a_name_until_the_process_may_open_files)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
        _exit(name_without_files());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

enum { KNOWN = 11 };

struct place {
    uintptr_t site;
    char text[320];
};

static void
note(struct place *place, uintptr_t site, const char *inner, int line)
{
    place->site = site;
    snprintf(place->text, sizeof place->text, "%s%s:%d", inner, __FILE__, line);
}

/* Code of which there is a name, but no line. */
__asm__(".pushsection .text.bare,\"ax\",@progbits\n"
        ".type bare_code,@function\n"
        "bare_code: nop\n nop\n ret\n"
        ".size bare_code,.-bare_code\n"
        ".popsection");
void bare_code(void);

/* Behind it is code without a name. */
__asm__(".pushsection .text.bare,\"ax\",@progbits\n"
        ".type short_code,@function\n"
        "short_code: nop\n ret\n"
        ".size short_code,.-short_code\n"
        "nop\n nop\n nop\n nop\n"
        ".popsection");
void short_code(void);

/* Nobody says how long it is. */
__asm__(".pushsection .text.bare,\"ax\",@progbits\n"
        "nop\n"
        ".type endless_code,@function\n"
        "endless_code: nop\n ret\n"
        ".popsection");
void endless_code(void);

/* returns: how many places there are whose text is known from the source */
static uint32_t
find_places(struct place *p)
{
    static const char dotted[] = "../dotted.c:9 < ";
    static const char chain[] = "/usr2/inner.c:11 < middle.c:12 < ";
    static const char beside[] = "/of/the/building/beside.c:16 < ";
    static const char around[] = "/of/any/build/user.c:13 < ";
    static const char longer[] = PLACED_LONG ":10 < user.c:14 < ";

    note(&p[0], placed_here(), "", __LINE__);
    note(&p[1], placed_in_system(), "", __LINE__);
    note(&p[2], placed_dotted(), dotted, __LINE__);
    note(&p[3], placed_middle(), chain, __LINE__);
    note(&p[4], placed_around_system(), around, __LINE__);
    note(&p[5], placed_long_around(), longer, __LINE__);
    p[5].text[159] = '\0'; /* it is cut */
    p[6] = (struct place){0, "an unknown place"};
    p[7] = (struct place){64, "an unknown place"};
    p[8] = (struct place){(uintptr_t)&bare_code + 2, "a call of bare_code"};
    note(&p[9], placed_in_folder(), "deep/in.c:15 < ", __LINE__);
    note(&p[10], placed_beside_folder(), beside, __LINE__);
    return KNOWN;
}

/* As many texts as there is room for are kept, but the last. */
TEST(a_text_stays_while_255_others_are_asked_for)
{
    enum { KEPT = 255 };
    const uintptr_t code = (uintptr_t)&name_without_files + 1;
    const char *texts[KEPT];
    static char words[KEPT][160];

    for (uint32_t i = 0; i < KEPT; i++) {
        texts[i] = sim_site_text(code + i);
        snprintf(words[i], sizeof words[i], "%s", texts[i]);
    }
    for (uint32_t i = 0; i < 3; i++)
        sim_site_text((uintptr_t)&find_places + 1 + i);
    for (uint32_t i = 0; i < KEPT; i++)
        assert_string_equal(texts[i], words[i]);
    for (uint32_t i = 0; i < KEPT; i++) {
        assert_ptr_equal(sim_site_text(code + i), texts[i]);
        assert_string_equal(texts[i], words[i]);
    }
}

/* More places than have room are asked for again and again. */
TEST(a_place_has_one_name_however_many_are_asked_for)
{
    enum { OTHERS = 400 };
    static char first[OTHERS][160];
    struct place known[KNOWN];
    const uint32_t count = find_places(known);
    struct sim_rng rng = {.state = 7};
    size_t before = 0;

    for (uint32_t i = 0; i < 1600; i++) {
        const uint32_t which = sim_rng_below(&rng, OTHERS);
        const struct place *p = &known[sim_rng_below(&rng, count)];
        const char *text = sim_site_text((uintptr_t)&find_places + 1 + which);

        if (first[which][0] == '\0')
            snprintf(first[which], sizeof first[which], "%s", text);
        assert_string_equal(text, first[which]);
        assert_string_equal(sim_site_text(p->site), p->text);
        if (i == 1000)
            before = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, before);
}

TEST(an_address_is_named_by_the_variable_that_it_is_in)
{
    const uintptr_t begin = (uintptr_t)named;
    uintptr_t begin_of;
    char text[24];

    for (uint32_t i = 0; i < sizeof named; i++) {
        char want[24] = "named";

        if (i > 0)
            snprintf(want, sizeof want, "named+%u", (unsigned)i);
        assert_true(sim_site_address_text(text, sizeof text, begin + i));
        assert_string_equal(text, want);
    }
    assert_false(sim_site_address_text(text, sizeof text, (uintptr_t)text));
    assert_true(sim_site_address_text(text, 4, begin));
    assert_string_equal(text, "nam");
    begin_of = (uintptr_t)&short_code;
    assert_true(sim_site_address_text(text, sizeof text, begin_of + 1));
    assert_string_equal(text, "short_code+1");
    assert_false(sim_site_address_text(text, sizeof text, begin_of + 2));
    begin_of = (uintptr_t)&endless_code;
    assert_false(sim_site_address_text(text, sizeof text, begin_of));
    assert_true(sim_site_address_text(text, sizeof text, (uintptr_t)getppid));
    assert_string_equal(text, "getppid"); /* of another module */
}

int
named_places_tests(void)
{
    return tests_run(NULL, NULL);
}
