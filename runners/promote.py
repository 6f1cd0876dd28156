"""The original in double precision, where that is mechanical: an oracle nobody had to write.

The text gets macros that turn float into double behind its last `#include`. Whether the result
compiles, runs, and agrees with the original is for the caller to find out; if not, it is not used.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from runners.text import LONGEST, Text

Json = dict[str, Any]

MIXING = "--expt-relaxed-constexpr"
_NAMES = """
acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10
exp2 expm1 fabs floor lgamma log log10 log1p log2 logb nearbyint normcdf rcbrt rint round rsqrt sin
sinh sinpi sqrt tan tanh tgamma trunc atan2 copysign fdim fma fmax fmin fmod frexp hypot ldexp modf
norm3d norm4d pow remainder rhypot rnorm3d sincos sincospi
"""
_FAST = ("cos", "exp", "exp10", "log", "log10", "log2", "pow", "sin", "tan")
_ROUNDED = {
    "__fadd_rn": "__dadd_rn",
    "__fsub_rn": "__dsub_rn",
    "__fmul_rn": "__dmul_rn",
    "__fmaf_rn": "__fma_rn",
    "__fdiv_rn": "__ddiv_rn",
    "__frcp_rn": "__drcp_rn",
    "__fsqrt_rn": "__dsqrt_rn",
    "__frsqrt_rn": "rsqrt",
}
# A number that is a float: it would keep what it is added to in single precision.
_LITERAL = re.compile(r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fF]\b")
# Words of memory that are taken for the bits of floats: of a double they are one half.
_WORDS = r"(?:unsigned(?:\s+int)?|u?int(?:32_t)?)"
_HELD = r"(?:(?:const|volatile)\s+)*"
_CAST = re.compile(
    rf"\(\s*{_HELD}{_WORDS}\s*(?:volatile\s*|const\s*)*\*\s*\)"
    rf"|reinterpret_cast\s*<\s*{_HELD}{_WORDS}\b[^>;]*\*\s*>"
)
# Whole numbers of 64 bits, but for sizes of memory.
_64_BITS = frozenset({"long", "int64_t", "uint64_t", "longlong2", "ulonglong2"})
# Floats, doubles and halves, what makes some of others, and literals; `1e9` may be a whole number.
_FLOATS = re.compile(
    r"\w*(?:float|double|__half|bfloat16)\w*|(?:\.\d|\d+\.).*|\d+[eE](?:-\d+[fF]?|\+?\d+[fF])",
    re.ASCII,
)
_BITS = re.compile(r"\b__(?:float_as_u?int|u?int_as_float)\b")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)


def _macros() -> str:
    """Return the definitions, one a line."""
    lines = ["#define float double"]
    lines += [f"#define float{n} double{n}" for n in (1, 2, 3, 4)]
    lines += [f"#define make_float{n} make_double{n}" for n in (1, 2, 3, 4)]
    lines += [f"#define {name}f {name}" for name in _NAMES.split()]
    lines += [f"#define __{name}f {name}" for name in _FAST]
    lines += [f"#define {name} {other}" for name, other in _ROUNDED.items()]
    lines += [
        "#define __fdividef(a, b) ((a) / (b))",
        "#define __saturatef(a) fmin(fmax((a), 0.0), 1.0)",
        "#define FLT_MAX 1.7976931348623157e308",
        "#define FLT_MIN 2.2250738585072014e-308",
        "#define FLT_EPSILON 2.2204460492503131e-16",
    ]
    return "\n".join(f"#undef {line.split()[1].split('(')[0]}\n{line}" for line in lines)


def promoted(text: str) -> str | None:
    """Return the text with every float a double; None when it holds no float.

    Nor where floats in memory are read or exchanged as their bits, which of doubles are others:
    what comes of it may differ from the original so seldom that it is taken for the better answer.

    >>> promoted("__global__ void f(int* p) {}") is None
    True
    """
    if not re.search(r"\bfloat[1-4]?\b", text) or (_BITS.search(text) and _CAST.search(text)):
        return None
    found = list(_INCLUDE.finditer(text))
    at = found[-1].end() if found else 0
    rest = _LITERAL.sub(r"((double)\1f)", text[at:])
    return f"{text[:at]}\n{_macros()}\n{rest}"


def mixing(job: Json) -> Json:
    """Return a job by which a promoted text is compiled: functions of doubles take floats, too.

    Halves become floats, not doubles, and `fmaf(sum, __half2float(x), 1)` of three kinds of numbers
    is the C++ library's template then, which device code may call with this switch alone.
    """
    work = job["workload"]
    build = work.get("build") or {}
    flags = [*(build.get("flags") or ()), MIXING]
    return {**job, "workload": {**work, "build": {**build, "flags": flags}}}


@lru_cache(maxsize=64)
def in_floats(text: str) -> bool:
    """Tell whether a text may work anything out in floats, of any size.

    >>> in_floats("int half = n / 2;  // no float"), in_floats("int k = 0.5 * n;")
    (False, True)
    >>> in_floats("y[i] = __int2float_rn(x[i]);"), in_floats("int most = 1e9; a.x = 0x1e5;")
    (True, False)
    """
    return len(text) > LONGEST or any(map(_FLOATS.fullmatch, Text(text, macros=True).tokens))


@lru_cache(maxsize=64)
def in_64_bits(text: str) -> bool:
    """Tell whether a text has whole numbers of 64 bits that are no sizes of memory.

    >>> in_64_bits("long long sum = 0;"), in_64_bits("size_t at = (size_t)i * n;  // int64_t")
    (True, False)
    """
    return len(text) <= LONGEST and bool(_64_BITS & {*Text(text).tokens})


@lru_cache(maxsize=64)
def in_doubles(text: str) -> bool:
    """Tell whether a text works anything out in doubles, as its author wanted it.

    >>> in_doubles("double hour = first + i;"), in_doubles("float x; // no double")
    (True, False)
    """
    return len(text) <= LONGEST and "double" in Text(text).tokens
