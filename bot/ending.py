"""How a job ends: what is kept of it, shown on its page, and said on its check run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pydantic
import structlog
from pydantic import TypeAdapter

from bot.checks import SUMMARY, closing_of, shortened
from bot.github_errors import Denied, GithubError, Missing, RateLimited, Stale, Unreachable
from bot.interfaces import Closing, Reviewed
from bot.job import JobState
from bot.markdown import phrase, prose
from bot.orders import BundleError
from optimizer.errors import BaselineError, ConfigError, OptimlError, RunnerError

_LOG = structlog.get_logger("optiml")
_NOTHING_SAID = (
    "This says nothing about the kernels. Press Re-run, or write `/optiml optimize`, to try again."
)


@dataclass(frozen=True, slots=True)
class End:
    """What came of a job. `title` is plain text, `detail` Markdown.

    `conclusion` of the check run follows from what was found when empty. `head` opens a check
    run where none was opened yet. `say` is answered to whoever asked, in Markdown.
    """

    state: JobState
    title: str
    detail: str = ""
    conclusion: str = ""
    head: str = ""
    say: str = ""


_END: TypeAdapter[End] = TypeAdapter(End)


def to_json(end: End) -> str:
    """Write an end as one line of JSON."""
    return _END.dump_json(end).decode()


def from_json(text: str) -> End:
    """Read an end that was written by `to_json`."""
    return _END.validate_json(text)


def closing(end: End, results: Sequence[Reviewed], page: str = "", comment: str = "") -> Closing:
    """Return how the check run of a job closes; `page` and `comment` are addresses."""
    found = closing_of(results, url=comment)
    parts = [end.detail] if end.detail else []
    is_open = end.state is JobState.DONE and not end.conclusion
    if results or is_open:
        parts.append(found.summary)
    if page:
        parts.append(f"[How it went]({page})")
    summary = shortened("\n\n".join(parts) or prose(end.title), SUMMARY)
    if is_open:
        return Closing(found.conclusion, end.title or found.title, summary, found.actions)
    conclusion = end.conclusion or ("cancelled" if end.state is JobState.CANCELLED else "failure")
    return Closing(conclusion, end.title[:120], summary)


def failed(error: Exception) -> End:
    """Say what went wrong and whose turn it is: the project's, the machinery's, or ours."""
    title = _title(error)
    parts = []
    if isinstance(error, OptimlError):
        again = isinstance(error, (Unreachable, RateLimited))  # their remedy was tried
        parts = [_sentence(error.message), "" if again else _sentence(error.remedy)]
    else:
        _LOG.error("unexpected", exc_info=error)
        parts = [f"It is a {type(error).__name__}; the service's log has the details."]
    if not isinstance(error, (ConfigError, BaselineError)):
        parts.append(_NOTHING_SAID)
    detail = "\n\n".join(part for part in parts if part)
    words = f"**{title}.** {detail}"
    return End(JobState.FAILED, title, detail, say=words)


def _sentence(text: str) -> str:
    """Return a phrase of ours or of others as a sentence, with nothing in it obeyed."""
    shown = phrase(text)
    return (
        f"{shown[:1].upper()}{shown[1:]}{'' if shown.endswith(('?', '.')) else '.'}"
        if shown
        else ""
    )


def _title(error: Exception) -> str:
    for kind, words in (
        (ConfigError, "The project's configuration does not fit"),
        (BaselineError, "A kernel fails before anything is changed"),
        (BundleError, "What came back from the GPU was refused"),
        (RunnerError, "The GPU job could not be carried out"),
        (RateLimited, "GitHub's rate limit is used up"),
        (Unreachable, "GitHub could not be reached"),
        (Denied, "GitHub did not permit it"),
        (Missing, "GitHub does not have it any more"),
        (Stale, "The branch has moved on"),
        (GithubError, "GitHub refused what was asked"),
        (pydantic.ValidationError, "Something that was kept cannot be read"),
    ):
        if isinstance(error, kind):
            return words
    return "Something unexpected went wrong in OptiML"
