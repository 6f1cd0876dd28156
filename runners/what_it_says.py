"""What an original's text says about its workload: what may be asked of it beyond the declared.

Everything here is read off the text once, when a job is read (`runners.spec.parse`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runners import (
    asked,
    bit_sets,
    crossing,
    cuda_types,
    extremes,
    fading,
    float_sums,
    gates,
    indexing,
    named,
    other_sign,
    ranked,
)
from runners.expressions import names
from runners.promote import in_64_bits, in_doubles, in_floats

if TYPE_CHECKING:
    from runners.spec import Source, Work

# Numbers that values may be multiples of: no smaller, and no more.
LEAST_STEP, MOST_STEPS = 3, 12


def fields(original: Source, work: Work) -> dict[str, Any]:
    """Return the fields of a `Work` that an original's text fills, by their names."""
    beyond, within = _crossing(original, work)
    infinite, leaves_out = _infinite(original, work)
    asks = _asks(original, work)
    infinity = asked.INFINITY in asks
    return {
        "named": _named(work, original),
        "asks": asks,
        "tops": infinity and not float_sums.adds(original.source, work.symbol),
        "calls": asked.calls(original.source, work.symbol),
        "precise": in_doubles(original.source),
        "whole": not in_floats(original.source),
        "wide": in_64_bits(original.source),
        "beyond": beyond,
        "within": within,
        "turned": _turned(original, work),
        "infinite": infinite,
        "leaves_out": leaves_out,
        "throughout": _throughout(original, work),
        "summed": _summed(original, work),
        "ranked": _ranked(original, work),
        "steps": _steps(original),
        "odd": asked.odd_numbers(original.source),
        "marks": named.marks(original.source),
        "loops": fading.loops(original.source),
        "fades": fading.fades(original.source),
        "sets": bit_sets.taken(original.source),
        "leads": _leads(original, work),
    }


def _named(work: Work, original: Source) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return what else to try of whole numbers that size nothing: flags, ways, moduli."""
    sized = [a.shape or "" for a in work.arguments]
    for launch in (work.launch, original.launch):
        sized += [*launch.grid, *launch.block, launch.shared] if launch is not None else []
    passed = {
        at: (a.value or "").strip()
        for at, a in enumerate(work.arguments)
        if not a.type.pointer and a.type.scalar is not None and a.type.scalar.kind in "iub"
    }
    captured = any(a.init.startswith("capture:") for a in work.arguments)
    bare = set() if captured else {word for word in passed.values() if word in work.cases[0].values}
    free = bare.difference(*(names(text) for text in sized if text)) if bare else bare
    declared: dict[int, frozenset[int]] = {}
    for at, word in passed.items():
        values = [case.values.get(word, 0.5) for case in work.cases]
        if word in free and all(value.is_integer() for value in values):
            declared[at] = frozenset(int(value) for value in values)
    found: dict[str, tuple[int, ...]] = {}
    for at, more in named.undeclared(original.source, work.symbol, declared).items():
        scalar = work.arguments[at].type.scalar
        fits = [value for value in more if scalar is not None and _holds(scalar, value)]
        found[passed[at]] = tuple(dict.fromkeys([*found.get(passed[at], ()), *fits]))
    return tuple((word, every) for word, every in found.items() if every)


def _holds(scalar: cuda_types.Scalar, value: int) -> bool:
    if scalar.kind == "b":
        return value in {0, 1}
    bounds = np.iinfo(scalar.dtype)
    return bool(bounds.min <= value <= bounds.max)


def _asks(original: Source, work: Work) -> tuple[str, ...]:
    """Return what an original's text asks of floats: of elements, of scalars, to round."""
    found = asked.asked(original.source, work.symbol)
    scalars = ((a.name, a.type.scalar) for a in work.arguments if not a.type.pointer)
    floats = [name for name, scalar in scalars if scalar is not None and scalar.kind == "f"]
    if asked.zeroed(original.source, floats):
        found = (*found, asked.ZERO)
    rounds = asked.rounds(original.source, work.symbol)
    return (*found, asked.ROUNDING) if rounds else found


def _steps(original: Source) -> tuple[int, ...]:
    """Return the largest numbers of an original's text: at their multiples something begins."""
    found = gates.numbers(original.source).every
    return tuple(sorted((one for one in found if one >= LEAST_STEP), reverse=True)[:MOST_STEPS])


def _crossing(original: Source, work: Work) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which floats that are passed by value may be beyond one, and which within."""
    floats = {
        argument.name: position
        for position, argument in enumerate(work.arguments)
        if not argument.type.pointer and all(f.scalar.kind == "f" for f in argument.type.fields)
    }
    return crossing.crossing(original.source, work.symbol, floats)


def _turned(original: Source, work: Work) -> tuple[str, ...]:
    """Return which floats that are passed by value may have the other sign than declared."""
    scalars, signed = {}, []
    for position, argument in enumerate(work.arguments):
        kind = argument.type.fields[0].scalar.kind
        if not argument.type.pointer and argument.type.scalar is not None and kind == "f":
            scalars[argument.name] = position
        elif argument.type.pointer and kind == "f" and argument.role != "output":
            word, _, rest = argument.init.partition(":")
            signed += [position] * (word in {"normal", "sorted"} or rest.startswith("-"))
    return other_sign.turned(original.source, work.symbol, scalars, signed)


def _infinite(original: Source, work: Work) -> tuple[tuple[str, ...], bool]:
    """Return which arrays may hold infinities, and whether the original asks for them.

    Of floats drawn without a range: a price and a share have one. Not where whole numbers are
    results: a place among infinities that are all alike is whatever the search began with.
    """
    written = [a.type.scalar for a in work.arguments if a.written]
    if any(scalar is None or scalar.kind != "f" for scalar in written):
        return (), False
    found = extremes.infinite(original.source, work.symbol, _free_floats(work))
    return tuple(work.arguments[position].name for position in found.positions), found.asks


def _throughout(original: Source, work: Work) -> tuple[str, ...]:
    """Return which arrays may be infinite throughout."""
    found = extremes.chosen(original.source, work.symbol, _free_floats(work))
    return tuple(work.arguments[position].name for position in found)


def _summed(original: Source, work: Work) -> tuple[str, ...]:
    """Return the arrays of which nothing but sums are made."""
    found = extremes.summed(original.source, work.symbol, _free_floats(work))
    return tuple(work.arguments[position].name for position in found)


def _ranked(original: Source, work: Work) -> tuple[str, ...]:
    """Return the arrays whose elements are compared with each other."""
    found = ranked.ranked(original.source, work.symbol, _free_floats(work))
    return tuple(work.arguments[position].name for position in found)


def _leads(original: Source, work: Work) -> tuple[str, ...]:
    """Return which arrays of whole numbers with a range have something added for an index."""
    whole = [
        position
        for position, a in enumerate(work.arguments)
        if a.type.pointer and a.role == "input" and a.init.partition(":")[0] == "randint"
        if all(one.scalar.kind in "iu" for one in a.type.fields)
    ]
    found = indexing.relative(original.source, work.symbol, whole)
    return tuple(work.arguments[position].name for position in found)


def _free_floats(work: Work) -> list[int]:
    """Return the positions of arrays of floats that are only read and have no range.

    None where no results are floats.
    """
    written = [a.type.scalar for a in work.arguments if a.written]
    if not any(scalar is not None and scalar.kind == "f" for scalar in written):
        return []
    return [
        position
        for position, a in enumerate(work.arguments)
        if a.type.pointer and a.role == "input" and a.init == "normal"
        if a.type.scalar is not None and a.type.scalar.kind == "f"
    ]
