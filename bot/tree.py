"""The search tree as inline SVG: one row a candidate, the winning path first and in colour.

Failing leaves are folded into one row a parent, and slower ones too when the tree is large, so
that a search of thousands of steps stays one readable drawing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from bot import wording
from bot.charts import Canvas
from bot.outcome import outcome_words, speedup_of
from optimizer.model import Status, Step, Trajectory

_ROW = 24.0
_INDENT = 20.0
_WIDTH = 900.0
_DEEPEST = 14  # levels that are indented; deeper ones are drawn at this level


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the drawing: a step, or a fold of leaves below `parent`."""

    depth: int
    above: int | None
    step: Step | None = None
    folded: str = ""


def draw(trajectory: Trajectory, most: int = 90) -> Markup:
    """Draw the tree in at most about `most` rows."""
    rows = layout(trajectory, most)
    path = {step.number for step in trajectory.path(trajectory.best.number)}
    height = _ROW * len(rows) + 12
    canvas = Canvas(_WIDTH, height, "Search tree")
    values = [speedup_of(row.step) or 1.0 for row in rows if row.step]
    top = max([*values, 1.2])
    place = [
        (14 + _INDENT * min(row.depth, _DEEPEST), 18 + _ROW * at) for at, row in enumerate(rows)
    ]
    for at, row in enumerate(rows):
        if row.above is not None:
            on_path = row.step is not None and row.step.number in path
            (x1, y1), (x2, y2) = place[row.above], place[at]
            css = "branch won" if on_path and trajectory.winner else "branch"
            canvas.path([(x1, y1), (x1, y2), (x2, y2)], css)
    for at, row in enumerate(rows):
        _row(
            canvas,
            row,
            *place[at],
            top=top,
            on_path=row.step is not None and row.step.number in path,
        )
    return canvas.svg()


def layout(trajectory: Trajectory, most: int) -> list[Row]:
    """Choose and order rows: children by what their subtree reached, failing leaves folded."""
    children: dict[int, list[Step]] = {}
    reach: dict[int, float] = {}
    for step in reversed(trajectory.steps):
        reach[step.number] = max(reach.get(step.number, 0.0), speedup_of(step) or 0.0)
        if step.parent is not None:
            children.setdefault(step.parent, []).append(step)
            reach[step.parent] = max(reach.get(step.parent, 0.0), reach[step.number])
    path = {step.number for step in trajectory.path(trajectory.best.number)}
    shown = _shown(trajectory, path, most)
    rows: list[Row] = []
    stack: list[tuple[Step, int, int | None]] = [(trajectory.steps[0], 0, None)]
    while stack:
        step, depth, above = stack.pop()
        rows.append(Row(depth, above, step))
        here = len(rows) - 1
        below = children.get(step.number, [])
        hidden = [child for child in below if child.number not in shown]
        if hidden:
            rows.append(Row(depth + 1, here, folded=_fold(hidden)))
        visible = [child for child in below if child.number in shown]
        visible.sort(key=lambda child: (child.number in path, reach[child.number], -child.number))
        stack.extend((child, depth + 1, here) for child in visible)
    return rows


def _shown(trajectory: Trajectory, path: set[int], most: int) -> set[int]:
    parents = {step.parent for step in trajectory.steps}
    failing = {
        step.number
        for step in trajectory.steps
        if speedup_of(step) is None and step.number not in parents
    }
    small = len(trajectory.steps) <= 40
    keep = [s for s in trajectory.steps if small or s.number not in failing]
    keep.sort(key=lambda step: (step.number not in path, -(speedup_of(step) or 0.0), step.number))
    shown = set(path)
    for step in keep:
        line = list(_line(step, trajectory, shown))
        if len(shown) + len(line) <= most:
            shown.update(line)
    return shown


def _line(step: Step, trajectory: Trajectory, shown: set[int]) -> Iterator[int]:
    at: int | None = step.number
    while at is not None and at not in shown:
        yield at
        at = trajectory.steps[at].parent


def _fold(hidden: list[Step]) -> str:
    kinds = Counter(
        step.verdict.status.value if speedup_of(step) is None else "slower" for step in hidden
    )
    if kinds.get(Status.CORRECT.value):
        kinds["not timed"] = kinds.pop(Status.CORRECT.value)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())


def _row(canvas: Canvas, row: Row, x: float, y: float, *, top: float, on_path: bool) -> None:
    if row.step is None:
        canvas.dot(x, y, 3, "dot fold", row.folded)
        canvas.text(x + 11, y + 4, row.folded, "label")
        return
    step = row.step
    value = speedup_of(step)
    won = on_path
    css = (
        "dot won" if won else "dot failed" if value is None else "dot" if value > 1 else "dot slow"
    )
    title = wording.unticked(step.edit.title) if step.edit else "the original"
    canvas.dot(x, y, 6 if won else 4, css, f"{step.number}: {title}", f"step-{step.number}")
    room = int((610 - x) / 7.2)
    short = title if len(title) <= room else title[: room - 1] + "…"
    canvas.text(x + 12, y + 4, short, "label strong" if won else "label row")
    if value is None:
        canvas.text(_WIDTH - 8, y + 4, outcome_words(step), "label bad", "end")
        return
    unit = 150 / max(math.log(top), 0.05)
    start = 660.0
    length = math.log(value) * unit if value > 1 else 0.0
    canvas.box(
        start, y - 6, max(length, 1.5), 12, "bar" if won else "bar faint", wording.times(value)
    )
    canvas.text(_WIDTH - 8, y + 4, wording.times(value), "label strong" if won else "label", "end")
