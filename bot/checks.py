"""How a check run ends, and the buttons it ends with, from what a review found."""

from __future__ import annotations

from collections.abc import Sequence

from bot import wording
from bot.comment import identity, regression
from bot.interfaces import Button, Closing, Reviewed
from bot.markdown import code, length, phrase, plain, prose
from bot.outcome import Ratio, summarize
from optimizer.model import Trajectory

MOST_BUTTONS = 3
LABEL, DESCRIPTION, IDENTIFIER = 20, 40, 20  # characters GitHub takes of each
SUMMARY = 65_535
_TITLE = 120


def closing_of(results: Sequence[Reviewed], *, url: str = "") -> Closing:
    """Return how the check of a review ends; `url` is that of the comment.

    success: something faster is offered. neutral: nothing is, or the change is slower than its
    base, which is for people to judge. Failures of machinery are told by who ran into them.
    """
    lines, wins, slower = [], [], []
    for one in results:
        found = one.trajectory
        outcome = summarize(found) if found else None
        worse = regression(one)
        name = code(one.change.kernel.name)
        if worse is not None:
            slower.append((one, worse))
            lines.append(f"- {name}: ⚠️ {wording.times(1 / worse.value)} slower than its base")
        if found is not None and outcome is not None and outcome.ratio is not None:
            wins.append((found, outcome.ratio, one.change.kernel.name))
            can = "can take" if outcome.saves_energy_alone else "can be"
            said = outcome.gain if outcome.saves_energy_alone else f"{outcome.ratio} faster"
            lines.append(f"- {name}: {can} {said} on {prose(outcome.gpu)}")
        elif outcome is not None and worse is None:
            lines.append(f"- {prose(outcome.headline)}")
        if one.problem:
            lines.append(f"- {name}: {phrase(one.problem)}")
    wins.sort(key=lambda win: -win[1].value)
    if wins and url:
        lines.append(f"\nThe measurements and the change are in [the comment]({url}).")
    return Closing(
        "success" if wins and not slower else "neutral",
        _title(wins, slower, len(results)),
        shortened("\n".join(lines) or "No CUDA kernel changed.", SUMMARY),
        tuple(_buttons(wins)),
    )


def shortened(text: str, limit: int) -> str:
    """Return a text within a limit of UTF-16 units, cut at the end of a line."""
    if length(text) <= limit:
        return text
    cut = _first(text, limit - 40)
    return f"{cut[: cut.rfind(chr(10))] if chr(10) in cut else cut}\n\n… shortened"


def _title(
    wins: Sequence[tuple[Trajectory, Ratio, str]],
    slower: Sequence[tuple[Reviewed, Ratio]],
    count: int,
) -> str:
    parts = []
    if slower:
        one, ratio = max(slower, key=lambda pair: 1 / pair[1].value)
        parts.append(f"{one.change.kernel.name}: {wording.times(1 / ratio.value)} slower")
    if wins:
        found, _, name = wins[0]
        more = f" and {len(wins) - 1} more" if len(wins) > 1 else ""
        parts.append(f"{name}: {summarize(found).brief}{more}")
    if not parts:
        parts = ["Nothing faster found" if count else "No kernel changed"]
    return _cut(plain(" · ".join(parts)), _TITLE)


def _buttons(wins: Sequence[tuple[Trajectory, Ratio, str]]) -> list[Button]:
    """Offer to apply what was found, the best first; a single win also to squash or dismiss it."""
    buttons = []
    for found, ratio, name in wins[:MOST_BUTTONS]:
        many = len(wins) > 1
        words = _cut(f"Apply {name}" if many else f"Apply {wording.times(ratio.value)}", LABEL)
        told = _cut(f"Commit it to this branch: {wording.times(ratio.value)}", DESCRIPTION)
        buttons.append(Button(words, told, f"apply:{identity(found)}"))
    if len(wins) == 1:
        key = identity(wins[0][0])
        buttons.append(
            Button("Apply as one commit", "The same as a single commit", f"squash:{key}")
        )
        buttons.append(Button("Dismiss", "Do not offer this edit again", f"dismiss:{key}"))
    return buttons


def _cut(text: str, limit: int) -> str:
    return text if length(text) <= limit else _first(text, limit - 1).rstrip() + "…"


def _first(text: str, units: int) -> str:
    """Return the start of a text in UTF-16 units, never half a character."""
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
