"""The search tree as a Mermaid flow chart that GitHub renders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot import wording
from bot.outcome import outcome_words, speedup_of
from optimizer.model import Status, Step, Trajectory

_TITLE = 48  # characters of an edit's title in a node
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:+-/=×·→÷")


def render(trajectory: Trajectory, limit: int = 30) -> str:
    """Return Mermaid text of at most `limit` nodes: the winning path, then the best of the rest.

    A node that is left out is counted in a dashed note below its parent. What a replay's recording
    has not got says nothing, and is left to the words beside the chart.
    """
    shown = _chosen(trajectory, limit)
    path = {step.number for step in trajectory.path(trajectory.best.number)}
    lines = ["flowchart LR"]
    hidden: dict[int, int] = {}
    for step in trajectory.steps:
        if step.number in shown:
            lines.extend(_node(step, trajectory))
            if step.parent is not None:
                arrow = "==>" if step.number in path else "-->"
                lines.append(f"  s{step.parent} {arrow} s{step.number}")
        elif step.verdict.status is not Status.NOT_RECORDED:
            parent = _visible_parent(step, trajectory, shown)
            hidden[parent] = hidden.get(parent, 0) + 1
    for parent, number in hidden.items():
        lines.append(f'  s{parent} -.- h{parent}(["{number} more"])')
    lines.extend(_classes(trajectory, shown, path, hidden))
    return "\n".join(lines)


def label(text: str) -> str:
    """Escape text for a quoted Mermaid label: all but plain characters become character codes.

    >>> label('a "b" #1')
    'a #34;b#34; #35;1'
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = flat if len(flat) <= _TITLE else flat[: _TITLE - 1].rstrip() + "…"
    return "".join(c if c in _PLAIN else f"#{ord(c)};" for c in short)


def _chosen(trajectory: Trajectory, limit: int) -> set[int]:
    shown = {step.number for step in trajectory.path(trajectory.best.number)}
    judged = [one for one in trajectory.steps if one.verdict.status is not Status.NOT_RECORDED]
    for step in sorted(judged, key=lambda step: (-(speedup_of(step) or 0.0), step.number)):
        missing = []
        at: int | None = step.number
        while at is not None and at not in shown:
            missing.append(at)
            at = trajectory.steps[at].parent
        if len(shown) + len(missing) <= limit:
            shown.update(missing)
    return shown


def _visible_parent(step: Step, trajectory: Trajectory, shown: set[int]) -> int:
    at = step.parent or 0
    while at not in shown:
        at = trajectory.steps[at].parent or 0
    return at


def _node(step: Step, trajectory: Trajectory) -> Iterable[str]:
    name = trajectory.baseline.kernel.name if step.edit is None else step.edit.title
    words = label(outcome_words(step))
    yield f'  s{step.number}["{step.number}: {label(wording.unticked(name))}<br/>{words}"]'


def _classes(
    trajectory: Trajectory, shown: Iterable[int], path: set[int], hidden: Iterable[int]
) -> list[str]:
    kinds: dict[str, list[str]] = {"won": [], "faster": [], "slower": [], "failed": []}
    for number in sorted(shown):
        value = speedup_of(trajectory.steps[number])
        if number in path and trajectory.winner:
            kind = "won"
        elif value is None:
            kind = "failed"
        else:
            kind = "faster" if value > 1 else "slower"
        kinds[kind].append(f"s{number}")
    kinds["more"] = [f"h{number}" for number in hidden]
    return [*_palette(kinds)]


def _palette(kinds: dict[str, list[str]]) -> Sequence[str]:
    # Fill and text are both given, so that the chart reads on a light and a dark page.
    styles = {
        "won": "fill:#1a7f37,stroke:#1a7f37,color:#ffffff",
        "faster": "fill:#dafbe1,stroke:#4ac26b,color:#1f2328",
        "slower": "fill:#f6f8fa,stroke:#8c959f,color:#1f2328",
        "failed": "fill:#ffebe9,stroke:#ff8182,color:#1f2328",
        "more": "fill:#ffffff,stroke:#8c959f,color:#57606a,stroke-dasharray:3",
    }
    lines = []
    for kind, nodes in kinds.items():
        if nodes:
            lines.append(f"  classDef {kind} {styles[kind]}")
            lines.append(f"  class {','.join(nodes)} {kind}")
    return lines
