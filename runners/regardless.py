"""Results that are the same whatever stands in the place of a NaN among the inputs.

Zero times NaN is NaN: an original that multiplies by zeros makes one of results that no number in
that place would change, and right code that leaves work on zeros out gives the number. To tell such
results, the original is run with numbers for the NaN (`runners.stand_ins`). What is too little to
show in a sum shows in double precision, and in a result of few digits with a far number. The
largest of what is made of several elements each, as of how far a sweep moves them, may be another
one though the NaN counts: that shows with a number farther off than anything made of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from runners import cuda_types
from runners.cuda_types import CudaType, Storage, to_float, values
from runners.expectation import FLOAT, Floats, stability
from runners.gathered import Gathered, Marks, left_alone
from runners.run import Run
from runners.spec import Argument, Work

NAN = "nan"  # the one family that this is about
# What costs next to nothing: elements written and elements of all buffers, seconds of a run.
MOST_WRITTEN, MOST_HELD, MOST_SECONDS = 1 << 22, 1 << 24, 0.5


def worth(work: Work, family: str, case: Mapping[str, float], seconds: float) -> bool:
    """Tell whether an original is asked: of one NaN, where that costs little."""
    if family != NAN or seconds > MOST_SECONDS:
        return False
    counts = [(a.elements(case), a.written) for a in work.arguments if a.type.pointer]
    written = sum(count for count, out in counts if out)
    return written <= MOST_WRITTEN and sum(count for count, _ in counts) <= MOST_HELD


def nowhere_a_number(work: Work, runs: list[Run]) -> dict[str, Marks]:
    """Mark what is NaN in every run, by output; outputs without any are left out."""
    found = {}
    for argument in _floats(work):
        marks = np.logical_and.reduce(
            [np.isnan(_wide(run, argument, argument.type)) for run in runs]
        )
        if marks.any():
            found[argument.name] = marks
    return found


def few_digits(work: Work, marks: Mapping[str, Marks]) -> bool:
    """Tell whether results of few digits are marked, in which an ordinary number may not show."""
    return any(
        argument.name in marks and argument.type.fields[0].scalar.roundoff > FLOAT
        for argument in _floats(work)
    )


def alike(
    work: Work,
    marks: Mapping[str, Marks],
    one: Run,
    other: Run,
    *,
    promoted: bool = False,
) -> dict[str, Marks]:
    """Keep the marks where two runs hold the same number, to the last bit."""
    found = {}
    for argument in _floats(work):
        if argument.name not in marks:
            continue
        kind = cuda_types.promote(argument.type) if promoted else argument.type
        left, right = (_wide(run, argument, kind) for run in (one, other))
        # Zero times a number below zero is zero, too.
        kept = marks[argument.name] & np.isfinite(left) & (left == right)
        if kept.any():
            found[argument.name] = kept
    return found


def unmoved(work: Work, marks: Mapping[str, Marks], one: Run, other: Run) -> dict[str, Marks]:
    """Keep the marks of what is not another number with a number that is far off.

    What is none there says nothing: zero times what overflows on its way is NaN, too.
    """
    found = {}
    for argument in _floats(work):
        if argument.name not in marks:
            continue
        left, right = (_wide(run, argument, argument.type) for run in (one, other))
        kept = marks[argument.name] & ((left == right) | ~np.isfinite(right))
        if kept.any():
            found[argument.name] = kept
    return found


def settled(
    work: Work,
    gathered: Gathered,
    wanted: Mapping[str, Floats],
    moved: list[tuple[Run, dict[str, Floats]]],
    told: tuple[Mapping[str, Floats], list[dict[str, Floats]]],
) -> tuple[Gathered, dict[str, Floats], list[tuple[Run, dict[str, Floats]]]]:
    """Return runs and better answers with numbers where a NaN does not matter.

    `told` are the better answers with a number for the NaN: as it is, and with inputs moved. Where
    the better answers for the NaN are numbers, they stay.
    """
    asked = gathered.regardless
    if asked is None:
        return gathered, dict(wanted), moved
    better, others = told
    runs = [_with(work, run, asked.run, asked.marks) for run in gathered.runs]
    near = [
        (_with(work, run, other, asked.marks), _better(work, truth, told, other, asked.marks))
        for (run, truth), (_, other, _), told in zip(moved, asked.moved, others, strict=True)
    ]
    want = _better(work, wanted, better, asked.run, asked.marks)
    return replace(gathered, runs=runs), want, near


def ordered(work: Work, gathered: Gathered) -> Gathered:
    """Return what was gathered without the marks of free outputs, and of what is left alone.

    Elements that come in any order are not the same ones in another run.
    """
    asked = gathered.regardless
    if asked is None:
        return gathered
    marks = {}
    for argument in _floats(work):
        own, name = asked.marks.get(argument.name), argument.name
        if own is None:
            continue
        left = left_alone(work, argument, gathered.combination, gathered.runs)
        if stability(name, argument.type, [run.outputs[name] for run in gathered.runs], left):
            continue
        if left is not None:
            own = own & ~np.repeat(left, argument.type.fields[0].lanes)
        if own.any():
            marks[name] = own
    return replace(gathered, regardless=replace(asked, marks=marks) if marks else None)


def marked(gathered: Gathered, name: str, others: Marks | None = None) -> Marks | None:
    """Return the marks of an output, and other marks; None where there are none of both."""
    own = None if gathered.regardless is None else gathered.regardless.marks.get(name)
    if own is None or others is None:
        return others if own is None else own
    return own | others


def _floats(work: Work) -> Iterator[Argument]:
    """Yield the outputs that hold floats and nothing else."""
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.written and only is not None and only.kind == "f":
            yield argument


def _wide(run: Run, argument: Argument, kind: CudaType) -> Floats:
    one = kind.fields[0]
    return to_float(values(run.outputs[argument.name], kind, one), one.scalar)


def _with(work: Work, run: Run, other: Run, marks: Mapping[str, Marks]) -> Run:
    """Return a run with what another one gave, where that is marked."""
    outputs: dict[str, Storage] = dict(run.outputs)
    for argument in _floats(work):
        where = marks.get(argument.name)
        if where is None:
            continue
        one = argument.type.fields[0]
        data = values(run.outputs[argument.name], argument.type, one).copy()
        data[where] = values(other.outputs[argument.name], argument.type, one)[where]
        outputs[argument.name] = data.view(np.uint8).reshape(-1)
    return replace(run, outputs=outputs)


def _better(
    work: Work,
    wanted: Mapping[str, Floats],
    told: Mapping[str, Floats],
    run: Run,
    marks: Mapping[str, Marks],
) -> dict[str, Floats]:
    """Return better answers with numbers where that is marked: the best ones there are."""
    out = dict(wanted)
    for argument in _floats(work):
        where, name = marks.get(argument.name), argument.name
        if where is None or name not in wanted or len(wanted[name]) != len(where):
            continue
        own = _wide(run, argument, argument.type)
        number = np.asarray(told[name], np.float64) if name in told else own
        number = np.where(np.isfinite(number), number, own) if len(number) == len(own) else own
        want = np.array(wanted[name], np.float64)
        out[name] = np.where(where & ~np.isfinite(want), number, want)
    return out
