/* expect: holds for the values tried. A number from outside is small or great.
 * BROKEN: exit. One of them is five. */
#include <assert.h>

int __VERIFIER_nondet_int(void);

int
main(void)
{
    const int amount = __VERIFIER_nondet_int();

#ifdef BROKEN
    assert(amount != 5);
#endif
    return amount > 7;
}
