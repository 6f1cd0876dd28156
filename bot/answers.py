"""What is answered to commands, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.commands import USAGE, WORD, Mistake
from bot.job import Job, JobState
from bot.markdown import code, phrase, prose, table
from bot.outcome import outcome_words, summarize
from bot.outcomes import Kept
from bot.terms import Terms
from optimizer.model import Status, Trajectory

_TRIED = 15


def usage() -> str:
    """List the commands."""
    rows = [(f"`{WORD} {how}`", what) for how, what in USAGE.values()]
    return table(("command", "does"), rows)


def mistake(found: Mistake) -> str:
    """Say what was not understood, and what was meant."""
    # Both texts are the parser's own; what it quotes of the comment, it has cleaned.
    return f"{found.message[:1].upper()}{found.message[1:]}: {found.remedy}"


def status(reviews: Sequence[Job], terms: Terms) -> str:
    """Say what runs and what came of the latest reviews, newest first."""
    if not reviews:
        return f"Nothing was reviewed on this pull request yet. `{WORD} optimize` does it."
    rows = []
    for one in reviews:
        page = terms.page_of(one.id)
        state = one.state.value
        if one.wish and one.state in {JobState.WAITING, JobState.RUNNING}:
            state = "ending"
        shown = f"[{state}]({page})" if page else state
        when = datetime.fromtimestamp(one.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
        rows.append((code(one.head[:7]) if one.head else "", shown, phrase(one.title), when))
    return table(("commit", "review", "result", "asked"), rows)


def explanation(kept: Kept, terms: Terms) -> str:
    """Say how a change was found: each kept edit, what else was tried, where to look."""
    found = kept.reviewed.trajectory
    if found is None:
        return f"{code(kept.ident)} has no trajectory."
    outcome = summarize(found)
    parts = [f"**{prose(outcome.headline)}**"]
    if outcome.provenance:
        parts.append(prose(outcome.provenance))
    lines = []
    for step in found.path(found.winner or 0)[1:]:
        edit = step.edit
        title = phrase(edit.title) if edit else "an edit"
        why = f": {phrase(edit.rationale)}" if edit and edit.rationale else ""
        by = f" (by {code(edit.author)})" if edit else ""
        lines.append(f"1. {title}{by}, {outcome_words(step)}{why}")
    parts.append("\n".join(lines))
    parts.append(_tried(found))
    page = terms.page_of(kept.job)
    if page:
        parts.append(f"[The whole search, its measurements and the diff]({page})")
    return "\n\n".join(part for part in parts if part)


def _tried(found: Trajectory) -> str:
    path = {step.number for step in found.path(found.winner or 0)}
    others = [
        step
        for step in found.steps
        if step.number not in path
        and step.edit
        and step.verdict.status is not Status.NOT_RECORDED  # a replay met it, nobody tried it
    ]
    if not others:
        return ""
    rows = [
        (phrase(step.edit.title) if step.edit else "", outcome_words(step))
        for step in others[:_TRIED]
    ]
    more = f"\n\n… and {len(others) - _TRIED} more." if len(others) > _TRIED else ""
    return "Also tried:\n\n" + table(("edit", "came of it"), rows) + more
