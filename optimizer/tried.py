"""What was tried above, beside and elsewhere in the tree, as lines for a prompt."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from optimizer.model import Kernel, Measurement, Status, Step
from optimizer.significance import speedup

MOST_REASON = 160
# What a model may be told of a log comes from its beginning; recordings keep as much of it.
LONGEST_LOG = 6_000


def above(steps: Mapping[int, Step], step: Step) -> list[str]:
    """Return the edits on the way to a candidate, the first one first."""
    found: list[str] = []
    at: Step | None = step
    while at is not None and at.parent is not None:
        found.append(line(steps, at))
        at = steps.get(at.parent)
    return found[::-1]


def beside(steps: Mapping[int, Step], step: Step, *, reasons: bool) -> list[str]:
    """Return the edits tried on a candidate already, with what came of them."""
    children = (other for other in steps.values() if other.parent == step.number)
    return [line(steps, child, reasons=reasons) for child in children]


def untried(steps: Mapping[int, Step], step: Step, titles: Sequence[str]) -> list[str]:
    """Return the titles of edits that were not tried on a candidate yet."""
    done = {
        other.edit.title for other in steps.values() if other.parent == step.number and other.edit
    }
    return [title for title in titles if title not in done]


def elsewhere(steps: Mapping[int, Step], step: Step, most: int) -> list[str]:
    """Return edits tried in other branches, each title once, the newest kept."""
    line_up = {step.number}
    at: Step | None = step
    while at is not None and at.parent is not None:
        line_up.add(at.parent)
        at = steps.get(at.parent)
    known = {_name(other) for other in steps.values() if other.parent == step.number}
    known |= {_name(steps[number]) for number in line_up if number in steps}
    found: dict[str, str] = {}
    for other in sorted(steps.values(), key=lambda s: -s.number):
        name = _name(other)
        if other.edit is None or name in known or other.number in line_up:
            continue
        found.setdefault(name, line(steps, other))
        if len(found) == most:
            break
    return list(found.values())[::-1]


def known(steps: Mapping[int, Step], kernel: Kernel) -> str:
    """Return what came of this very candidate before; empty when it was not tried."""
    digest = kernel.digest
    same = next((step for step in steps.values() if step.kernel.digest == digest), None)
    if same is None:
        return ""
    return line(steps, same) if same.edit else "it is the original"


def line(steps: Mapping[int, Step], step: Step, *, reasons: bool = True) -> str:
    """Return one tried edit: kind, title, what was promised and what came of it."""
    edit = step.edit
    if edit is None:
        return "the original"
    promised = f", predicted {figure(edit.predicted)}x" if edit.predicted else ""
    return f"{edit.kind or 'edit'}: {edit.title}{promised}: {outcome(steps, step, reasons=reasons)}"


def outcome(steps: Mapping[int, Step], step: Step, *, reasons: bool = True) -> str:
    """Say what came of an edit: its own speedup, or how it failed.

    Figures are rounded to two places, so that a run made again asks the same questions.
    """
    verdict, parent = step.verdict, steps.get(step.parent or 0)
    if verdict.status is Status.CORRECT:
        now = _speed(_This(verdict.measurement))
        before = _speed(_This(parent.verdict.measurement)) if parent else None
        if step.same_as is not None:
            return "same machine code as another"
        return f"{figure(now / before)}x" if now and before else "correct, not timed"
    words = verdict.status.value
    reason = next(iter(_telling(verdict.log)), "") if reasons else ""
    return f"{words} ({reason[:MOST_REASON]})" if reason else words


class _This:
    """A measurement as itself: its identity is its hash, since its parts have none."""

    __slots__ = ("measurement",)

    def __init__(self, measurement: Measurement | None) -> None:
        self.measurement = measurement

    def __hash__(self) -> int:
        return id(self.measurement)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and other.measurement is self.measurement


@functools.lru_cache(maxsize=4096)  # each prompt tells of the same candidates again
def _speed(this: _This) -> float | None:
    return speedup(this.measurement)


def figure(value: float) -> str:
    """Return a number with two digits that count, and no exponent.

    >>> figure(183.4), figure(0.0123), figure(1.5)
    ('180', '0.012', '1.5')
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    places = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):.{max(0, places)}f}"


def _telling(log: str) -> Iterable[str]:
    shown = log[:LONGEST_LOG].splitlines()
    lines: Sequence[str] = [" ".join(one.split()) for one in shown if one.strip()]
    errors = [one for one in lines if "error" in one.lower()]
    return errors or lines


def _name(step: Step) -> str:
    return f"{step.edit.kind}\0{step.edit.title}" if step.edit else ""
