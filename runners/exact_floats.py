"""Originals that make something of the bits of floats and have to be met bit by bit.

Who rounds by the bits of a float, as bfloat16 are rounded at random, may be replaced by arithmetic
that does the same: so many units of the last place, made of the exponent, are added as a float.
Below the normal numbers there is none, and a unit made of it is zero. So where equality is asked
and the original's text takes bits, exponents or whole numbers of floats, they are such numbers,
too. Not with `fast_math`, which may take them for zero.
"""

from __future__ import annotations

from runners import asked, small_floats
from runners.spec import Work

# What is declared near one then is below the least normal float, and most of its bits are left: of
# a bfloat16 some.
BELOW = small_floats.named(128)


def below_normal(work: Work) -> bool:
    """Tell whether an original is asked about floats below the normal ones, for equality.

    Of whole numbers equality is always asked, by any tolerance: nobody means such floats by it.
    """
    equal = work.rtol == 0 == work.atol and not work.loose
    floats = any(
        one.scalar.kind == "f"
        for argument in work.arguments
        if argument.written
        for one in argument.type.fields
    )
    return equal and floats and asked.ROUNDING in work.asks
