/*
 * test_demangle.c -- demangled names are as in the source; mangled names that
 * would expand to gigabytes do no harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "unit_test.h"

static void
expect(const char *symbol, const char *want)
{
    char *got = cli_demangle(symbol);

    if (want == NULL)
        assert_null(got);
    else
        assert_string_equal(got, want);
    free(got);
}

TEST(names_are_those_of_the_source)
{
    expect("_ZN4shop4cart5outerEmPKc", "shop::cart::outer(unsigned long, "
                                       "char const*)");
    expect("_Znwm", "operator new(unsigned long)");
    expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
           "core::fmt::Formatter::pad");
    expect("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example");
}

TEST(what_is_not_mangled_stays)
{
    expect("main", NULL);
    expect("", NULL);
    expect("_start", NULL);
    expect("_Z", NULL);
    expect("_ZN4shop", NULL);
    expect("libc.so.6+0x1234", NULL);
}

/* f(A, T<A, A>, T<T<A, A>, T<A, A>>, ...): each argument is twice as long. */
TEST(a_name_that_would_fill_the_memory_is_left_as_it_is)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char symbol[8192] = "_Z1f1A1TIS_S_E";

    expect(symbol, "f(A, T<A, A>)");
    for (int i = 1; i < 35; i++) {
        const size_t length = strlen(symbol);

        snprintf(symbol + length, sizeof symbol - length, "S0_IS%c_S%c_E",
                 digits[i], digits[i]);
        if (i == 1)
            expect(symbol, "f(A, T<A, A>, T<T<A, A>, T<A, A> >)");
    }
    expect(symbol, NULL);
    /* A symbol longer than compilers write. */
    memset(symbol, 'x', sizeof symbol - 1);
    memcpy(symbol, "_Z8180", 6);
    symbol[sizeof symbol - 1] = '\0';
    free(cli_demangle(symbol));
    /* A symbol nested more deeply than a stack allows. */
    memset(symbol, 'P', sizeof symbol - 1);
    memcpy(symbol, "_Z1f", 4);
    symbol[sizeof symbol - 2] = 'i';
    free(cli_demangle(symbol));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
