"""Find a case with more elements in a buffer than an `int` can count, and who has to run on it.

A case is derived from the largest declared one by making one of its variables larger, as far as
the types of arguments, the limits of a launch and the device's memory let it. Where a buffer holds
several of something in an element (numbers of a few bits in words, places of whole blocks), those
are counted, too: their number is computed before it is divided.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from runners.expressions import LARGEST, ExpressionError, evaluate
from runners.gpu import LaunchError
from runners.inputs import rotatable
from runners.launchable import geometry
from runners.sizes import least_above
from runners.spec import Argument, CaseSpec, Launch, Work, scalar_values

Measure = Callable[[Argument, Mapping[str, float]], int]
LIMIT = 2**31
MORE = 0.01  # of the limit that is gone beyond it
SEVERAL = 2  # places to an element of the largest buffer
_COUNTED = 64  # bytes: what is multiplied by less may be the size of an element
_PRODUCT = re.compile(
    r"^[ \t]*(?:@!?%p\d+[ \t]+)?"
    r"(?P<what>(?:mul|mad)\.(?:wide\.[su]32|lo\.[su]64|lo\.[su]32)|shl\.b64)"
    r"[ \t]+%\w+,[ \t]*%\w+,[ \t]*(?P<by>[^,;\s]+)",
    re.MULTILINE,
)
# What may make a distance of a place, and an address of that: multiplied, made wide, added to.
_STEP = re.compile(
    r"^[ \t]*(?:@!?%p\d+[ \t]+)?(?:(?P<what>shl\.b32|(?:mul|mad)\.lo\.[su]32|cvt\.[su]64\.[su]32"
    r"|(?:add|sub)\.[su](?:32|64)|(?:or|mov)\.b(?:32|64)|mov\.[su](?:32|64)|cvta\S*)"
    r"[ \t]+(?P<to>%\w+),(?P<by>[^;\n]+)"
    r"|(?:ld|st|atom|red)\.[^\[;\n]*\[(?P<at>%\w+))",
    re.MULTILINE,
)
_NAME, _WHOLE = re.compile(r"%\w+"), re.compile(r"-?(?:0[xX][0-9a-fA-F]{1,8}|\d{1,10})$")


def narrowed(mine: str, theirs: str) -> bool:
    r"""Tell whether a candidate may compute in 32 bits an index that its original has in 64.

    By products in their PTX. It only decides whether to look deeper, so it says yes too often.

    >>> narrowed("mul.lo.s32 %r3, %r1, %r2;", "mul.wide.s32 %rd3, %r1, %r2;")
    True
    >>> narrowed("mul.lo.s32 %r3, %r1, 3;", "mul.wide.s32 %rd3, %r1, 12;")
    True
    """
    (wide, short), (wide_before, short_before) = _products(mine), _products(theirs)
    if wide_before > 0 and (wide < wide_before or short > short_before):
        return True
    # A place that is a multiple by itself: three floats of a point.
    mine_64, mine_32 = _multiples(mine)
    theirs_64, theirs_32 = _multiples(theirs)
    return mine_64 < theirs_64 and mine_32 > theirs_32


def in_bytes(mine: str, theirs: str) -> bool:
    r"""Tell whether a candidate may find places by distances in bytes that have 32 bits.

    Where its original has fewer of them: multiples of an element's size that are made 64 bits wide
    behind that, and added to an address. It only decides whether to look deeper, too.

    >>> in_bytes("shl.b32 %r2, %r1, 2;\n cvt.u64.u32 %rd1, %r2;\n ld.f32 %f1, [%rd1];", "")
    True
    """
    return _distances(mine) > _distances(theirs)


def _distances(ptx: str) -> int:
    """Count accesses by multiples of an element's size that have 32 bits until they are added."""
    multiples: set[str] = set()
    widened: set[str] = set()
    accesses = 0
    for found in _STEP.finditer(ptx):
        if found["at"]:
            accesses += found["at"] in widened
            continue
        what, values = found["what"], _NAME.findall(found["by"])
        if what.startswith("cvt."):
            widened |= {found["to"]} if values and values[0] in multiples else set()
        elif what.startswith(("shl", "mul", "mad")):
            by = _WHOLE.match(found["by"].partition(",")[2].split(",")[0].strip())
            size = int(by[0], 0) if by else 0
            size = 1 << min(size, 64) if what.startswith("shl") and size else size
            multiples |= {found["to"]} if 1 < size <= _COUNTED else set()
        else:
            multiples |= set() if multiples.isdisjoint(values) else {found["to"]}
            widened |= set() if widened.isdisjoint(values) else {found["to"]}
    return accesses


def _products(ptx: str) -> tuple[int, int]:
    """Count products of 64 bits, but for those with an element's size, and of 32 bits."""
    wide = short = 0
    for found in _PRODUCT.finditer(ptx):
        what, by = found["what"], found["by"]
        register = by.startswith("%")
        if what.endswith("32") and "wide" not in what:
            short += register
        elif register:
            wide += 1
        else:
            size = abs(int(by, 0))
            wide += (1 << min(size, 64) if what == "shl.b64" else size) > _COUNTED
    return wide, short


def _multiples(ptx: str) -> tuple[int, int]:
    """Count products of 64 bits and of 32 bits with numbers that are no power of two."""
    wide = short = 0
    for found in _PRODUCT.finditer(ptx):
        what, by = found["what"], found["by"]
        if by.startswith("%") or what.startswith("shl"):
            continue
        size = abs(int(by, 0))
        if size & (size - 1):
            narrow = what.endswith("32") and "wide" not in what
            wide, short = wide + (not narrow), short + narrow
    return wide, short


def nbytes(argument: Argument, case: Mapping[str, float]) -> int:
    """Return how many bytes a buffer has."""
    return argument.elements(case) * argument.type.size


def longest(work: Work, case: Mapping[str, float]) -> int:
    """Return the bytes of the largest buffer."""
    return max((nbytes(a, case) for a in work.arguments if a.type.pointer), default=0)


def tiled(work: Work) -> bool:
    """Tell whether contents may be repeated: elements are drawn one by one, or all the same."""
    return all(
        argument.role == "output"
        or argument.init in {"zeros", "ones"}
        or (rotatable(argument) and argument.init != "permutation")
        for argument in work.arguments
        if argument.type.pointer
    )


def largest(work: Work) -> CaseSpec:
    """Return the declared case with most elements."""
    return max(work.cases, key=lambda one: work.elements(one.values))


def counts(work: Work, case: Mapping[str, float]) -> dict[str, int]:
    """Return how many elements each buffer of a case has."""
    return {a.name: a.elements(case) for a in work.arguments if a.type.pointer}


class _Undivided(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Leave out what is divided by."""
        self.generic_visit(node)
        return node.left if isinstance(node.op, ast.Div | ast.FloorDiv) else node


@lru_cache(maxsize=4096)
def undivided(text: str) -> str:
    """Return a size without its divisions: of what an element holds several of, how many there are.

    None where nothing is divided.

    >>> undivided("(n*bits+31)/32"), undivided("n*m")
    ('n*bits+31', '0')
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:  # a name that Python keeps for itself
        return "0"
    divided = any(isinstance(node, ast.Div | ast.FloorDiv) for node in ast.walk(tree))
    return ast.unparse(_Undivided().visit(tree)).replace(" ", "") if divided else "0"


def places(argument: Argument, case: Mapping[str, float]) -> int:
    """Return how many parts of elements a buffer holds, as bits of words; none if none are told."""
    try:
        return math.floor(evaluate(undivided(argument.shape or "1"), case))
    except ExpressionError:
        return LARGEST


def parted(work: Work, case: Mapping[str, float]) -> int:
    """Return the most places of a buffer, where they are several to an element; else 0.

    What only rounds a count up adds a few.
    """
    most = max((places(a, case) for a in work.arguments if a.type.pointer), default=0)
    return most if most >= SEVERAL * max(counts(work, case).values(), default=1) else 0


def case(
    work: Work,
    launches: Sequence[Launch],
    limit: int = LIMIT,
    most_bytes: float = math.inf,
    measure: Measure = Argument.elements,
) -> Mapping[str, float] | None:
    """Return the largest declared case with one variable so large that a buffer exceeds the limit.

    By its elements, or its `places`. The first variable that can is taken, which often counts
    rows, and most such buffers. Outputs have to grow with it, or to be exact: what only lengthens a
    sum changes its rounding. None where arguments, the launch or memory forbid it.
    """
    base = largest(work).values
    for name in (k for k in base if k in work.variables and base[k] >= 1):
        found: list[tuple[int, int, dict[str, float]]] = []
        for argument in (a for a in work.arguments if a.type.pointer):
            value = _least(work, base, name, limit, partial(measure, argument))
            changed = {**base, name: float(value or 0)}
            if value is None or not _valid(work, launches, changed):
                continue
            many = counts(work, changed)
            size = sum(many[a.name] * a.type.size for a in work.arguments if a.type.pointer)
            if size <= most_bytes and grown(work, changed):
                above = sum(measure(a, changed) > limit for a in work.arguments if a.type.pointer)
                found.append((-above, size, changed))
        if found:
            return min(found, key=lambda one: one[:2])[2]
    return None


def _least(
    work: Work,
    base: Mapping[str, float],
    name: str,
    limit: int,
    measure: Callable[[Mapping[str, float]], int],
) -> int | None:
    """Return the least odd multiple of what a variable is a multiple of that goes far enough."""

    def enough(value: int) -> bool:
        try:
            return measure({**base, name: float(value)}) > limit * (1 + MORE)
        except ExpressionError:
            return True  # beyond all numbers

    declared = [int(one.values[name]) for one in work.cases if one.values.get(name, 0) >= 1]
    step = min([256, *(value & -value for value in declared)])
    low, high = int(base[name]), 2**31 - 1
    if enough(low) or not enough(high):
        return None
    return (-(-least_above(low, high, enough) // step) | 1) * step


def _valid(work: Work, launches: Sequence[Launch], changed: Mapping[str, float]) -> bool:
    """Tell whether every whole number fits its type, and the launches are within CUDA's limits."""
    try:
        for launch in launches:
            geometry(launch, changed)
        counts(work, changed)
        for argument in work.arguments:
            if argument.type.pointer:
                continue
            kinds = [one.scalar for one in argument.type.fields for _ in range(one.lanes)]
            numbers = scalar_values(argument, changed)
            kinds += kinds[-1:] * len(numbers)
            for number, kind in zip(numbers, kinds, strict=False):
                if kind.kind in "iu":
                    bounds = np.iinfo(kind.dtype)
                    if not bounds.min <= number <= bounds.max:
                        return False
    except (LaunchError, ExpressionError):
        return False
    return max(changed.values()) < 2**31


def grown(work: Work, changed: Mapping[str, float]) -> frozenset[str]:
    """Return the outputs that grow at least half as much as the variable that was made larger.

    All of them where they have to be equal at any length: a largest, its place, how many there are.
    """
    if work.rtol == work.atol == 0:
        return frozenset(a.name for a in work.arguments if a.written)
    base = largest(work).values
    factor = max(value / base[name] for name, value in changed.items() if base[name] > 0)
    before, after = counts(work, base), counts(work, changed)
    return frozenset(
        a.name for a in work.arguments if a.written and after[a.name] * 2 >= factor * before[a.name]
    )


def growth(work: Work, changed: Mapping[str, float], base: Mapping[str, float]) -> float:
    """Return how many times as much data as in another case there is."""
    return work.elements(changed) / max(1, work.elements(base))
