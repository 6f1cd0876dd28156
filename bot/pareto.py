"""Candidates by time, energy and memory, and those that nobody beats in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot import wording
from bot.charts import Canvas
from bot.consumption import less
from optimizer.energy import energy_of, saving
from optimizer.finals import memory
from optimizer.model import Measurement, Status, Step, Trajectory
from optimizer.significance import speedup

MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A correct candidate: time and energy as shares of the original's, device memory in bytes.

    `energy` and `memory` are None where they were not measured. `is_best` marks the winner,
    `is_front` one that no other is at least as good as in all that is known of both.
    """

    step: Step
    title: str
    time: float
    energy: float | None
    memory: int | None
    is_best: bool
    is_front: bool = False

    @property
    def words(self) -> str:
        """Say it in a line."""
        parts = [f"{wording.times(1 / self.time)} as fast"]
        if self.energy is not None:
            parts.append(f"{less(1 / self.energy)} energy")
        if self.memory is not None:
            parts.append(wording.amount(self.memory, "bytes"))
        return ", ".join(parts)


def candidates(trajectory: Trajectory) -> list[Candidate]:
    """Return the original and every correct candidate whose energy is known, in their order.

    The winner's figures are those of its confirmation.
    """
    found = []
    root = trajectory.baseline.verdict.measurement
    for step in trajectory.steps:
        is_best = bool(trajectory.winner) and step.number == trajectory.winner
        measured = step.verdict.measurement
        if is_best and trajectory.confirmation and trajectory.confirmation.measurement:
            measured = trajectory.confirmation.measurement
        one = _candidate(step, measured, root, is_best=is_best)
        if one is not None:
            found.append(one)
    return [_marked(one, found) for one in found]


def _candidate(
    step: Step, measured: Measurement | None, root: Measurement | None, *, is_best: bool
) -> Candidate | None:
    fast = speedup(measured) if step.parent is not None else 1.0
    if fast is None or step.verdict.status is not Status.CORRECT:
        return None
    if step.parent is None:
        return Candidate(step, "the original", 1.0, 1.0, memory(root, root)[0], is_best=False)
    gain = saving(energy_of(measured))
    if gain is None:
        return None
    title = step.edit.title if step.edit else ""
    return Candidate(step, title, 1 / fast, 1 / gain, memory(measured, root)[1], is_best)


def _marked(one: Candidate, every: Sequence[Candidate]) -> Candidate:
    beaten = any(_beats(other, one) for other in every)
    return Candidate(one.step, one.title, one.time, one.energy, one.memory, one.is_best, not beaten)


def _beats(one: Candidate, other: Candidate) -> bool:
    """Tell whether one is at least as good in all that is known of both, and better in some."""
    pairs = [(one.time, other.time)]
    pairs += [(a, b) for a, b in ((one.energy, other.energy),) if a is not None and b is not None]
    pairs += [(a, b) for a, b in ((one.memory, other.memory),) if a is not None and b is not None]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def front(found: Sequence[Candidate]) -> list[Candidate]:
    """Return those that nobody beats, fastest first."""
    return sorted((one for one in found if one.is_front), key=lambda one: one.time)[:MOST_LISTED]


def draw(found: Sequence[Candidate]) -> Markup | None:
    """Draw candidates by time and energy, larger dots for more memory; None without energies."""
    shown = [one for one in found if one.energy is not None]
    if len(shown) < 2:
        return None
    width, height, left, bottom = 760.0, 380.0, 66.0, 46.0
    canvas = Canvas(width, height, "Time and energy of candidates, as shares of the original's")
    right, top = width - 24, 18.0
    x_top = max(one.time for one in shown) * 1.08
    y_top = max(one.energy or 0.0 for one in shown) * 1.08

    def x(time: float) -> float:
        return left + (right - left) * time / x_top

    def y(energy: float) -> float:
        return height - bottom - (height - bottom - top) * energy / y_top

    for tick in _ticks(x_top):
        canvas.line(x(tick), top, x(tick), height - bottom, "grid strong" if tick == 1 else "grid")
        canvas.text(x(tick), height - bottom + 17, f"{100 * tick:g} %", anchor="middle")
    for tick in _ticks(y_top):
        canvas.line(left, y(tick), right, y(tick), "grid strong" if tick == 1 else "grid")
        canvas.text(left - 8, y(tick) + 4, f"{100 * tick:g} %", anchor="end")
    canvas.text(right, height - 8, "time →", anchor="end")
    canvas.text(left, top - 6, "↑ energy")
    # With the same time share as energy share, power is that of the original.
    equal = min(x_top, y_top)
    canvas.line(x(0), y(0), x(equal), y(equal), "grid strong")
    canvas.text(x(0.72 * equal) + 8, y(0.72 * equal) + 14, "the original's power")
    canvas.path([(x(time), y(energy)) for time, energy in _descent(shown)], "best")
    sizes = [one.memory for one in shown if one.memory]
    least, span = min(sizes, default=0), max(sizes, default=0) - min(sizes, default=0)
    for one in sorted(shown, key=lambda one: (one.is_best, one.is_front)):
        kind = "won" if one.is_best else "front" if one.is_front else ""
        css = "dot origin" if one.step.parent is None else f"dot {kind}".rstrip()
        radius = 4.0 + (5.0 * ((one.memory or least) - least) / span if span else 0.0)
        at = (x(one.time), y(one.energy or 0.0))
        tip = f"{one.step.number}: {wording.unticked(one.title)}: {one.words}"
        link = f"step-{one.step.number}" if one.step.parent is not None else ""
        canvas.dot(*at, radius + 2 * (one.is_best or one.step.parent is None), css, tip, link)
    _named(canvas, shown, x, y)
    return canvas.svg()


def _descent(shown: Sequence[Candidate]) -> list[tuple[float, float]]:
    """Return time and energy of those that nobody beats in both, fastest first."""
    found: list[tuple[float, float]] = []
    for one in sorted(shown, key=lambda one: (one.time, one.energy or 0.0)):
        if not found or (one.energy or 0.0) < found[-1][1]:
            found.append((one.time, one.energy or 0.0))
    return found


def _named(canvas: Canvas, shown: Sequence[Candidate], x: object, y: object) -> None:
    """Write beside the original and the winner what they are."""
    if not callable(x) or not callable(y):
        return
    for one in shown:
        if one.step.parent is not None and not one.is_best:
            continue
        words = "original" if one.step.parent is None else "winner"
        at = float(x(one.time))
        anchor, shift = ("end", -12) if at > canvas.width / 2 else ("start", 12)
        canvas.text(at + shift, float(y(one.energy or 0.0)) - 10, words, "label strong", anchor)


def _ticks(top: float) -> list[float]:
    step = next(n for n in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 1e9) if top / n <= 7)
    return [step * n for n in range(int(top / step) + 1)]
