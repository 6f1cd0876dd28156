"""What commits and stacked pull requests say: the edit, what it gained, how that was measured.

GitHub reads commit messages, too: `fixes #1` closes an issue, `@name` calls somebody, `[skip ci]`
skips checks, and lines at the end are trailers. Titles and rationales may be a language model's,
so they are put in as one line of words that mean nothing to GitHub.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot import wording
from bot.consumption import memory_words
from bot.markdown import code, plain, prose
from bot.outcome import Kept, Outcome

_SUBJECT, _WIDTH = 72, 72
_JOINT = "\u200b"
_LONGEST = 600  # characters of a rationale


@dataclass(frozen=True, slots=True)
class Credit:
    """The winner's ID, the commit that was measured, and a trailer for who asked."""

    ident: str
    head: str
    trailer: str = ""


def message(outcome: Outcome, edits: Sequence[Kept], place: int, credit: Credit) -> str:
    """Return the message of one edit's commit; `place` counts from 0."""
    kept = edits[place]
    edit = kept.step.edit
    title = edit.title if edit else "faster"
    gain = f"{wording.times(kept.gain)} faster by itself, {wording.times(kept.total)} in all so far"
    parts = [
        neutral(edit.rationale)[:_LONGEST] if edit else "",
        f"Measured {gain}, on {neutral(outcome.gpu)}.",
    ]
    if place == len(edits) - 1:
        parts += _total(outcome)
    parts.append(_evidence(outcome, credit))
    number = f" {place + 1}/{len(edits)}"
    return _laid_out(_subject(outcome.name, title, kept.gain), parts, credit, number)


def squashed(outcome: Outcome, edits: Sequence[Kept], credit: Credit) -> str:
    """Return the message of all edits as one commit."""
    ratio = outcome.ratio.value if outcome.ratio else 1.0
    lines = [
        f"- {neutral(one.step.edit.title if one.step.edit else '')}: {wording.times(one.gain)}"
        for one in edits
    ]
    title = edits[-1].step.edit.title if len(edits) == 1 and edits[-1].step.edit else ""
    words = title or wording.count(len(edits), "edit")
    parts = ["\n".join(lines), *_total(outcome), _evidence(outcome, credit)]
    return _laid_out(_subject(outcome.name, words, ratio), parts, credit, "")


def stacked_words(outcome: Outcome, number: int, why: str) -> tuple[str, str]:
    """Return title and body of a pull request onto another's branch."""
    title = f"{neutral(outcome.name)}: {outcome.brief}"
    body = (
        f"The commits that `/optiml apply` was asked for in #{number}, one for each edit with what "
        f"it gained. They are here because the branch takes no push: {prose(why)}\n\n"
        f"Measured on {prose(outcome.gpu)}; {code(outcome.name)} "
        f"{'takes ' + outcome.gain if outcome.saves_energy_alone else f'is {outcome.ratio} faster'}"
        ".\n"
    )
    return title, body


def neutral(text: str) -> str:
    r"""Return a phrase as one line that GitHub does nothing with.

    >>> neutral("fixes #1\n\n[skip ci] @octocat") == "fixes #\u200b1 (skip ci) @\u200boctocat"
    True
    """
    flat = " ".join(plain(text).split())
    flat = re.sub(r"([@#])(?=\S)", rf"\1{_JOINT}", flat)
    flat = re.sub(r"(?i)\b(gh)-(?=\d)", rf"\1{_JOINT}-", flat)
    flat = re.sub(r"(?i)(https?|ftp):(?=/)", rf"\1{_JOINT}:", flat)
    flat = re.sub(r"(?i)(skip-checks|co-authored-by|signed-off-by)(?=\s*:)", rf"\1{_JOINT}", flat)
    return flat.replace("[", "(").replace("]", ")")


def _subject(name: str, title: str, gain: float) -> str:
    end = f" ({wording.times(gain)})"
    words = neutral(f"{name}: {title}")
    room = _SUBJECT - len(end)
    return (words if len(words) <= room else words[: room - 1].rstrip() + "…") + end


def _total(outcome: Outcome) -> list[str]:
    ratio = outcome.ratio
    if ratio is None:
        return []
    found = outcome.trajectory
    confirmed = "Confirmed in a fresh process with fresh seeds" if found.confirmation else "In all"
    lines = [f"{confirmed}: {outcome.gain}."]
    taken = [outcome.energy.words] if outcome.energy and not outcome.saves_energy_alone else []
    taken.append(memory_words(*outcome.memory))
    if any(taken):
        lines.append(neutral(f"{'; '.join(words for words in taken if words)}."))
    cases = [f"- {neutral(one.name)}: {one.ratio}" for one in outcome.cases[:12]]
    before, after = found.baseline.kernel.launch, found.best.kernel.launch
    if after is not None and after != before:
        grid, block = ", ".join(after.grid), ", ".join(after.block)
        cases.append("")
        cases.append(
            f"Measured with another launch, which callers need too: grid ({neutral(grid)}), "
            f"block ({neutral(block)}), shared {neutral(after.shared)}."
        )
    return [*lines, "\n".join(cases)]


def _evidence(outcome: Outcome, credit: Credit) -> str:
    environment = outcome.trajectory.environment
    facts = [f"commit {credit.head[:12]}", f"seed {environment.seed}"]
    if environment.driver:
        facts.append(f"driver {neutral(environment.driver)}")
    if environment.toolkit:
        facts.append(f"CUDA {neutral(environment.toolkit)}")
    if outcome.provenance:
        facts.append(neutral(outcome.provenance))
    return f"Measured at {', '.join(facts)}."


def _laid_out(subject: str, parts: Iterable[str], credit: Credit, number: str) -> str:
    paragraphs = ["\n".join(_wrapped(part)) for part in parts if part]
    trailers = [f"OptiML-Edit: {credit.ident}{number}"]
    if credit.trailer:
        trailers.append(credit.trailer)
    return "\n\n".join([subject, *paragraphs, "\n".join(trailers)]) + "\n"


def _wrapped(part: str) -> list[str]:
    lines: list[str] = []
    for line in part.split("\n"):
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(line, _WIDTH, subsequent_indent=indent) or [""]
    return lines
