"""What CUDA's own functions do to their arguments.

Source: CUDA C++ Programming Guide, appendices.
"""

from __future__ import annotations

import re
from functools import lru_cache

ATOMICS = frozenset(
    f"atomic{name}{scope}"
    for name in ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")
    for scope in ("", "_block", "_system")
)
BARRIERS = frozenset({
    "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
    "__barrier_sync",
})  # fmt: skip
FENCES = frozenset({"__threadfence", "__threadfence_block", "__threadfence_system"})
WARP = re.compile(
    r"__(shfl(_up|_down|_xor)?(_sync)?|ballot(_sync)?|any(_sync)?|all(_sync)?|activemask"
    r"|syncwarp|match_(any|all)_sync|reduce_\w+_sync)$"
)
CACHED_LOADS = frozenset({"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"})
CACHED_STORES = frozenset({"__stcg", "__stcs", "__stwb", "__stwt"})
_MATH_STEMS = frozenset({
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow",
    "sqrt", "rsqrt", "cbrt", "rcbrt", "hypot", "rhypot", "erf", "erfc", "erfcx", "erfinv",
    "erfcinv", "tgamma", "lgamma", "fma", "fmod", "remainder", "floor", "ceil", "round", "rint",
    "nearbyint", "trunc", "fabs", "fmin", "fmax", "fdim", "copysign", "ldexp", "scalbn",
    "logb", "ilogb", "lrint", "lround", "llrint", "llround", "nextafter", "sinpi", "cospi",
    "normcdf", "normcdfinv", "j0", "j1", "y0", "y1", "norm", "norm3d", "norm4d",
})  # fmt: skip
MATH = frozenset(_MATH_STEMS | {f"{stem}f" for stem in _MATH_STEMS})
_VALUES = frozenset({
    "min", "max", "abs", "labs", "llabs", "umin", "umax", "isnan", "isinf", "isfinite",
    "signbit", "mul24", "umul24", "printf", "assert", "dim3", "float", "double", "int", "bool",
    "unsigned", "char", "long", "short", "size_t", "clock", "clock64", "saturate", "clamp",
    "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "bit_cast",
})  # fmt: skip
_CAST = re.compile(r"\(\w+\)")
_BY_VALUE = re.compile(r"make_\w+|tex\w*|surf\w*|h(?:2)?[a-z]+2?|__\w+")


@lru_cache(maxsize=4096)
def by_value(name: str) -> bool:
    """Return whether a CUDA function of this name cannot change variables passed to it by name.

    `(real)(x)` looks like a call when `real` is no keyword.

    >>> by_value("sqrtf"), by_value("(real)"), by_value("sincosf"), by_value("swap")
    (True, True, True, False)
    """
    plain = name.removeprefix("std::").removeprefix("::")
    return (
        bool(_CAST.fullmatch(plain))
        or plain in _VALUES
        or plain in MATH
        or plain in ATOMICS
        or plain.startswith("sincos")
        or name.startswith("__")
        or bool(_BY_VALUE.fullmatch(plain) and plain.startswith(("make_", "tex", "__")))
        or bool(re.fullmatch(r"__?(half|float|double|int|uint|short)\w*", plain))
    )


@lru_cache(maxsize=4096)
def is_pure(name: str) -> bool:
    """Return whether a CUDA function only computes from its arguments (math, conversions).

    >>> is_pure("expf"), is_pure("__syncthreads"), is_pure("atomicAdd"), is_pure("__fmaf_rn")
    (True, False, False, True)
    """
    plain = name.removeprefix("std::").removeprefix("::")
    if plain in ("printf", "assert", "clock", "clock64"):
        return False
    if plain in BARRIERS | FENCES | ATOMICS | CACHED_LOADS | CACHED_STORES or WARP.match(plain):
        return False
    if plain.startswith(("__nanosleep", "__trap", "__prefetch", "__pipeline", "__stwt", "__tma")):
        return False
    return by_value(plain) and not plain.startswith("sincos") and not plain.startswith("surf")
