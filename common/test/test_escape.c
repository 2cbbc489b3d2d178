/*
 * test_escape.c -- escape.h prints any bytes as harmless text. The C library
 * decides independently what is valid UTF-8.
 */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/escape.h"
#include "common/test/unit_test.h"

static char *
escaped(const char *text)
{
    char *result = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&result, &bytes);

    assert_non_null(file);
    sim_escape_text(file, text);
    assert_int_equal(fclose(file), 0);
    return result;
}

static void
check(const char *text, const char *want)
{
    char *once = escaped(text);
    char *twice = escaped(once);

    assert_string_equal(once, want);
    assert_string_equal(twice, want);
    free(once);
    free(twice);
}

TEST(what_ends_lines_or_steers_a_terminal_is_escaped)
{
    check("", "");
    check("main.work", "main.work");
    check("a\nverdict: ok", "a\\nverdict: ok");
    check("\ta\rb", "\\ta\\rb");
    check("\x1b[31mred\x7f", "\\x1b[31mred\\x7f");
    check("C:\\new", "C:\\new");
    check("\xff\xc3", "\\xff\\xc3");
    check("na\xc3\xafve \xe2\x86\x92 \xf0\x9f\x99\x82",
          "na\xc3\xafve \xe2\x86\x92 \xf0\x9f\x99\x82");
    check("\xc2\x9b"
          "2J",
          "\\xc2\\x9b2J");
    check("\xe2\x80\xae"
          "txt",
          "\\xe2\\x80\\xaetxt");
    check("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
    check("\xef\xbf\xbe\xef\xbf\xbd\xef\xbf\xbf",
          "\\xef\\xbf\\xbe\xef\xbf\xbd\\xef\\xbf\\xbf");
    check("\xc0\x8a\xe0\x80\x8a", "\\xc0\\x8a\\xe0\\x80\\x8a");
}

/* Tries every character of Unicode, and every pair of bytes. */
TEST(only_well_formed_utf_8_is_printable)
{
    const char *locale = setlocale(LC_CTYPE, "C.UTF-8");
    uint32_t kept = 0;

    assert_non_null(locale);
    for (uint32_t c = 0xa0; c < 0x110000; c++) {
        char bytes[MB_LEN_MAX];
        mbstate_t shift = {0};
        const size_t length = wcrtomb(bytes, (wchar_t)c, &shift);

        if (length == (size_t)-1)
            continue;
        const size_t got = sim_escape_printable(bytes, length);
        assert_true(got == length || got == 0);
        kept += got != 0;
        /* A truncated character is not printable. */
        assert_int_equal(sim_escape_printable(bytes, length - 1), 0);
    }
    /* All are kept but surrogates, and 163 that are escaped (see escape.c). */
    assert_int_equal(kept, 0x110000 - 0xa0 - 0x800 - 163);
    for (uint32_t pair = 0; pair < 0x10000; pair++) {
        const char bytes[] = {(char)(pair >> 8), (char)pair};
        wchar_t c;
        mbstate_t shift = {0};
        const size_t length = mbrtowc(&c, bytes, 2, &shift);
        const size_t got = sim_escape_printable(bytes, 2);

        assert_true(got == 0 || got == length);
    }
    (void)setlocale(LC_CTYPE, "C");
}

TEST(a_line_has_one_end)
{
    static char name[5000];
    static char want[5100];
    char *result = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&result, &bytes);

    memset(name, 'n', sizeof name - 2);
    name[4000] = '\n';
    assert_non_null(file);
    sim_escape_line(file, "%s: %d%s", "a\nb", 7, "\x1b");
    sim_escape_line(file, "%s", name);
    assert_int_equal(fclose(file), 0);
    snprintf(want, sizeof want, "a\\nb: 7\\x1b\n%.4000s\\n%s\n", name,
             name + 4001);
    assert_string_equal(result, want);
    free(result);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
