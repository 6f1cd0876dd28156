"""What a shuffle brings from a lane that does not take part is undefined: here it is a NaN.

Not what happened to be in that lane's register. And what a warp is asked by a lane that the mask
does not name is answered wrongly.
"""

from __future__ import annotations

import re

_SHUFFLE = re.compile(
    r"^\s*shfl\.sync\.(?P<mode>\w+)\.b32\s+(?P<to>%\w+)(?:\|%\w+)?,\s*[^,;]+(?P<rest>,[^;]+);"
)
# What a lane may ask of its warp only if the mask, the last operand, has its bit.
_ASKED = re.compile(
    r"^\s*(?:@(?P<guard>!?%p\w+)\s+)?(?P<name>(?:vote|match|redux)\.[.\w]*\bsync\b[.\w]*)"
    r"\s+(?P<to>%\w+)(?:\|(?P<also>%\w+))?,[^;]*,\s*(?P<mask>[^,;\s]+)\s*;"
)
ZERO = "optiml_shaking_zero"
# Zero in every lane, as far as anybody knows, until it takes part in a shuffle.
SHUFFLES = [".reg .b32 %optiml_m;", f"ld.volatile.global.u32 %optiml_m, [{ZERO}];"]


def told(line: str) -> list[str] | None:
    """Return what stands for a line in which a lane asks others of its warp; None for others."""
    for pattern, altered in ((_SHUFFLE, _shuffled), (_ASKED, _answered)):
        found = pattern.match(line)
        if found is not None:
            return altered(line, found)
    return None


def _shuffled(line: str, found: re.Match[str]) -> list[str]:
    """Put a NaN where a shuffle reads from a lane that is not there, or has no bit in the mask."""
    to, mode, rest = found["to"], found["mode"], found["rest"]
    mask = rest.rpartition(",")[2].strip()
    return [
        "{",
        ".reg .b32 %optiml_n, %optiml_x;",
        ".reg .pred %optiml_p;",
        "or.b32 %optiml_m, %optiml_m, 1;",
        f"shfl.sync.{mode}.b32 %optiml_n, %optiml_m{rest};",
        line,
        "setp.ne.u32 %optiml_p, %optiml_n, 1;",
        "mov.u32 %optiml_x, %lanemask_eq;",
        f"and.b32 %optiml_x, %optiml_x, {mask};",
        "setp.eq.or.u32 %optiml_p, %optiml_x, 0, %optiml_p;",
        "mov.b32 %optiml_x, 0x7FFFBAAD;",
        f"@%optiml_p mov.b32 {to}, %optiml_x;",
        "}",
    ]


def _answered(line: str, found: re.Match[str]) -> list[str]:
    """Have a lane that the mask does not name get another answer than its warp gives."""
    to, also, guard = found["to"], found["also"], found["guard"] or ""
    wrong = [f"@%optiml_p xor.b32 {to}, {to}, 0x7FFFBAAD;"]
    if found["name"].endswith(".pred"):
        wrong = [f"@%optiml_p not.pred {to}, {to};"]
    if also:
        wrong.append(f"@%optiml_p not.pred {also}, {also};")
    given = f"not.pred %optiml_q, {guard[1:]};" if guard.startswith("!") else ""
    given = given or f"mov.pred %optiml_q, {guard or 1};"
    # What the answer is put into may hold the mask, or whether there is to be one.
    return [
        "{",
        ".reg .b32 %optiml_a;",
        ".reg .pred %optiml_p, %optiml_q;",
        given,
        "mov.u32 %optiml_a, %lanemask_eq;",
        f"and.b32 %optiml_a, %optiml_a, {found['mask']};",
        "setp.eq.and.u32 %optiml_p, %optiml_a, 0, %optiml_q;",
        line,
        *wrong,
        "}",
    ]
