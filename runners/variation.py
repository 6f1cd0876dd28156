"""Gives a workload's inputs the structure of a family.

What may change is decided here: by how an argument's contents were declared, by what its values
mean, and by what may be NaN. What values then are is in `runners.float_families` and
`runners.whole_families`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import (
    all_infinite,
    at_strides,
    balanced,
    beside_ends,
    beside_means,
    binades,
    bit_masks,
    bitmaps,
    brinks,
    cancelling,
    captured,
    chains,
    close_numbers,
    colliding,
    common_offset,
    creeping,
    crowded,
    cycles,
    derivations,
    dividends,
    early_events,
    edge_paths,
    end_contents,
    far_reach,
    fillers,
    following,
    frequent,
    full_counts,
    full_piles,
    going_round,
    impulses,
    infinite_rows,
    isolated,
    last_places,
    late_ties,
    logarithms,
    long_chains,
    meeting,
    mirrored,
    nan_ends,
    nan_signs,
    near_piles,
    near_ties,
    no_floats,
    one_infinity,
    one_less,
    one_slot,
    opposite_ends,
    own_values,
    piles,
    recurring,
    scalar_ends,
    scaled_numbers,
    shaped_numbers,
    share_bands,
    share_ends,
    small_floats,
    special_numbers,
    spoilt,
    swings,
    twins,
    units,
    whole_families,
)
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.families import (
    ALIKE,
    AT_STRIDES,
    BALANCED,
    BESIDE_ENDS,
    BESIDE_MEANS,
    BESIDE_SUMS,
    BINADES,
    BIT_MASKS,
    BITMAPS,
    BRINK,
    CHAINS,
    CLUSTERED,
    COLLIDING,
    COMMON_OFFSET,
    CROWDED_INFINITIES,
    CYCLES,
    DECLARED,
    DENSITIES,
    DERIVATIONS,
    EARLY,
    ENDS,
    EQUAL,
    FAR,
    FAR_ENDS,
    FILLERS_MIXED,
    FOLLOWING,
    FREQUENT,
    FULL_ENDS,
    FULL_PILES,
    HALF_STEPS,
    IMPULSES,
    INFINITIES,
    ISOLATED,
    LAST_PLACES,
    LOGARITHMS,
    LONG_CHAINS,
    LONGEST,
    MASKS,
    MEETING,
    MIRRORED,
    MULTIPLES,
    NAN_BEHIND,
    NAN_BELOW,
    NEAR_TIES,
    NEARLY,
    NEARLY_ENDS,
    NEARLY_PILES,
    NO_FLOATS,
    NOT_FINITE,
    ONE_LESS,
    ONE_SLOT,
    OPPOSITE,
    OPPOSITE_ROWS,
    OWN_VALUES,
    PILES,
    PLAIN,
    REACHES,
    RECURRING,
    REFILLED,
    SAME,
    SCALED,
    SHAPED,
    SHARE_BANDS,
    SHARE_ENDS,
    SHUFFLED,
    SIGNED,
    SIGNED_ZEROS,
    SPECIAL_NUMBERS,
    STARTED,
    SWINGS,
    TALLIED,
    THROUGHOUT,
    TOPS,
    TWINS,
    UNITS,
    UNLIKE,
    VAST,
    adds,
    signs,
)
from runners.float_families import TRANSFORMS, Transform
from runners.inputs import FREE, Arrays, interleave, stream
from runners.places import swapped
from runners.spec import Argument, Work
from runners.whole_families import half_below_zero, whole

# Families in which shares and scales are of the same sizes, and none is below zero.
_NOT_BELOW = frozenset({"integers", FAR, VAST, HALF_STEPS, INFINITIES, NAN_BEHIND})
Values = npt.NDArray[Any]
Rows = Callable[[str, Work, Arrays, int, Mapping[str, float]], Arrays]


def _path(family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    ordered = apply(edge_paths.ORDERS[family], work, arrays, seed)
    return edge_paths.applied(work, arrays, ordered, case)


def _several_nan(
    _family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays with the NaN whose signs `nan_signs` turns, none of them turned."""
    for one in nan_signs.seeds(work, seed):
        arrays = apply(nan_signs.SINGLE, work, arrays, one, case)
    return arrays


# Families that know where rows begin, those of all arrays together, and first words of some.
_IN_ROWS: dict[str, Rows] = {
    **dict.fromkeys(TALLIED, whole_families.tallied),
    **dict.fromkeys(MASKS, infinite_rows.masked),
    **dict.fromkeys(THROUGHOUT, all_infinite.applied),
    **dict.fromkeys(nan_ends.FAMILIES, nan_ends.applied),
    **dict.fromkeys(one_infinity.FAMILIES, one_infinity.applied),
    **dict.fromkeys(SHAPED, shaped_numbers.shaped),
    **dict.fromkeys(edge_paths.ORDERS, _path),
    **dict.fromkeys((close_numbers.CLOSE, close_numbers.LONE), close_numbers.applied),
    **dict.fromkeys((SAME, UNLIKE), full_counts.applied),
    **dict.fromkeys(going_round.FAMILIES, going_round.applied),
    **dict.fromkeys((LAST_PLACES, last_places.ELSEWHERE), last_places.applied),
    **dict.fromkeys((COMMON_OFFSET, common_offset.ELSEWHERE), common_offset.applied),
    **dict.fromkeys(creeping.FAMILIES, creeping.applied),
    **dict.fromkeys((BESIDE_MEANS, BESIDE_SUMS), beside_means.applied),
    **dict.fromkeys(late_ties.FAMILIES, late_ties.applied),
    **dict.fromkeys(REACHES, far_reach.applied),
    **dict.fromkeys(IMPULSES, impulses.applied),
    **{
        one + beside: cancelling.applied
        for one in cancelling.FAMILIES
        for beside in ("", *cancelling.BESIDE)
    },
    **dict.fromkeys(LOGARITHMS, logarithms.applied),
    **dict.fromkeys(NO_FLOATS, no_floats.applied),
    NAN_BELOW: lambda _family, work, arrays, seed, case: nan_signs.turned(
        work, apply(nan_signs.ABOVE, work, arrays, seed, case)
    ),
    nan_signs.ABOVE: _several_nan,
    SHARE_ENDS: share_ends.applied,
    MIRRORED: mirrored.applied,
    BITMAPS: bitmaps.applied,
    BIT_MASKS: bit_masks.applied,
    BINADES: binades.applied,
    UNITS: units.applied,
    BESIDE_ENDS: beside_ends.applied,
    **dict.fromkeys((OPPOSITE, OPPOSITE_ROWS), opposite_ends.applied),
    EARLY: early_events.applied,
    **dict.fromkeys((FAR_ENDS, FULL_ENDS), end_contents.ends),
    DENSITIES: end_contents.densities,
    **dict.fromkeys(PILES, piles.applied),
    **dict.fromkeys(NEARLY_PILES, near_piles.applied),
    TWINS: twins.applied,
    SPECIAL_NUMBERS: special_numbers.applied,
    BALANCED: balanced.applied,
    RECURRING: recurring.applied,
    FULL_PILES: full_piles.applied,
    MULTIPLES: dividends.applied,
    scalar_ends.SCALAR_ENDS: scalar_ends.applied,
    CYCLES: cycles.applied,
    SHARE_BANDS: share_bands.applied,
    CROWDED_INFINITIES: crowded.applied,
    CHAINS: chains.applied,
    LONG_CHAINS: long_chains.applied,
    DERIVATIONS: derivations.applied,
    ONE_LESS: one_less.applied,
    SCALED: scaled_numbers.applied,
    MEETING: meeting.applied,
    SWINGS: swings.applied,
    AT_STRIDES: at_strides.applied,
    ONE_SLOT: one_slot.applied,
    OWN_VALUES: own_values.applied,
    COLLIDING: colliding.applied,
    NEAR_TIES: near_ties.applied,
    FREQUENT: frequent.applied,
    ISOLATED: isolated.applied,
}


def apply(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float] | None = None
) -> Arrays:
    """Return inputs of the same shapes with the structure of a family; of a case, if it matters.

    Contents whose values carry meaning (constants, sorted keys, data from files) stay as they are,
    but for constants in `REFILLED`.
    """
    if family in {DECLARED, PLAIN, LONGEST}:
        return arrays
    made = _IN_ROWS.get(family) or _IN_ROWS.get(family.partition(" ")[0])
    if made is not None:
        return made(family, work, arrays, seed, case or {})
    if family == FOLLOWING:
        return following.applied(work, arrays, seed, case or {})
    if family == BRINK:
        return brinks.applied(work, arrays, seed, case or {})
    if family in REFILLED:
        others = apply("mixed", work, arrays, seed) if family == FILLERS_MIXED else arrays
        return fillers.refilled(work, arrays, seed, others)
    if family == CLUSTERED:
        return whole_families.clustered(work, arrays, seed)
    if family in {ENDS, NEARLY_ENDS}:
        return whole_families.at_ends(work, arrays, seed, nearly=family == NEARLY_ENDS)
    out = dict(arrays)
    only = small_floats.alone(family)
    least = spoilt.least(work, arrays) if family in NOT_FINITE else 0
    for argument in work.arguments:
        if only not in {"", argument.name}:
            continue
        if argument.name in arrays and len(arrays[argument.name]) // argument.type.size >= least:
            out[argument.name] = _argument(family, argument, arrays[argument.name], seed)
            # Not at the start of a row either.
            for turn in range(1, 9) if family == "nan" else ():
                if not _starts_a_row(work, argument, out[argument.name]):
                    break
                again = seed + 7919 * turn
                out[argument.name] = _argument(family, argument, arrays[argument.name], again)
    return out


def _argument(
    family: str, argument: Argument, data: npt.NDArray[np.uint8], seed: int
) -> npt.NDArray[np.uint8]:
    kind = argument.type
    rng = stream(seed, family, argument.name)
    if family == STARTED:
        if not adds(argument):
            return data
        count = data.nbytes // kind.size
        some = [rng.integers(1, 4, count * field.lanes) for field in kind.fields]
        return interleave(
            [
                from_float(v.astype(np.float64), f.scalar)
                if f.scalar.kind == "f"
                else v.astype(f.scalar.dtype)
                for v, f in zip(some, kind.fields, strict=True)
            ],
            kind,
            count,
        )
    before = [values(data, kind, field) for field in kind.fields]
    parts = [
        _field(family, argument.init, own, field.scalar, rng)
        for own, field in zip(before, kind.fields, strict=True)
    ]
    if family == NEARLY:
        # Of a struct one field, the first that can be another.
        other = [not np.array_equal(a, b) for a, b in zip(before, parts, strict=True)]
        first = other.index(True) if any(other) else 0
        parts = [*before[:first], parts[first], *before[first + 1 :]]
    return interleave(parts, kind, data.nbytes // kind.size)


def _field(
    family: str, init: str, data: Values, scalar: Scalar, rng: np.random.Generator
) -> Values:
    word = init.partition(":")[0]
    if family == SIGNED:
        if not signs(init, scalar):
            return data
        return half_below_zero(data, scalar, rng)
    if word == captured.WORD:
        return _captured(family, data, scalar, rng)
    if scalar.kind == "f" and word in FREE:
        wide = data if scalar.name in {"float", "double"} else to_float(data, scalar)
        if word == "uniform" and family in {SIGNED_ZEROS, TOPS}:
            return data  # a share, a scale: no such numbers are among them
        if word == "uniform" and family in _NOT_BELOW:
            return from_float(np.abs(TRANSFORMS[family](wide, scalar, rng)), scalar)
        return from_float(_transform(family)(wide, scalar, rng), scalar)
    if word == "sorted" and family in {"integers", EQUAL, ALIKE, "mixed"}:
        return _ascending(family, data, scalar, rng)
    if word == "randint" or (scalar.kind != "f" and word in FREE):
        return whole(family, data, rng)
    if word == "permutation" and family == NEARLY:
        return swapped(data, rng)
    if word == "permutation" and family in {"sorted", EQUAL, ALIKE}:
        return np.sort(data)
    if word == "permutation" and family == "mixed":
        return data[::-1].copy()
    return data


def _transform(family: str) -> Transform:
    by = small_floats.powers(family)
    if by is None:
        return TRANSFORMS[family]
    return lambda data, scalar, _rng: small_floats.scaled(data, scalar, by)


def _captured(family: str, data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Vary real values: numbers as any others, bytes by their order; the rest may be indices.

    What is nowhere below zero may have to be so: a probability, a variance.
    """
    if family == SHUFFLED:
        free = scalar.kind == "f" or scalar.size == 1
        return np.asarray(rng.permutation(data)) if free else data
    if scalar.kind != "f":
        return whole(family, data, rng) if scalar.size == 1 else data
    wide = data if scalar.name in {"float", "double"} else to_float(data, scalar)
    varied = TRANSFORMS[family](wide, scalar, rng)
    if len(wide) and float(np.nanmin(wide)) >= 0:
        varied = np.abs(varied)
    return from_float(varied, scalar)


def _ascending(family: str, data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Sorted keys of which many are equal, within one array and between arrays."""
    if scalar.kind != "f":
        return np.asarray(np.sort(whole(family, data, rng)))
    wide = to_float(data, scalar)
    if family == "mixed":
        wide = np.where(rng.random(len(wide)) < 0.5, wide, np.rint(2 * wide) / 2)
    else:
        wide = TRANSFORMS[family](wide, scalar, rng)
    return from_float(np.sort(wide), scalar)


def _starts_a_row(work: Work, argument: Argument, data: npt.NDArray[np.uint8]) -> bool:
    """Tell whether a NaN is at a multiple of a case's size."""
    only = argument.type.scalar
    if only is None or only.kind != "f":
        return False
    where = np.flatnonzero(
        np.isnan(to_float(values(data, argument.type, argument.type.fields[0]), only))
    )
    sizes = {int(v) for case in work.cases for v in case.values.values() if v >= 2}
    return any(bool((where % size == 0).any()) for size in sizes)
