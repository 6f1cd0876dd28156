"""Every answer the service writes by itself, word for word.

`python -m tests.bot.test_answers` writes the file anew; look at the difference before committing.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bot import answers, commands, ending
from bot.commands import Mistake
from bot.ending import End
from bot.github_errors import Denied, Missing, RateLimited, Unreachable
from bot.job import Job, JobState, job_from, row_of
from bot.orders import BundleError
from bot.outcomes import Kept
from bot.terms import Terms
from optimizer.errors import BaselineError, ConfigError, RunnerError
from tests.bot import ordered

SNAPSHOT = Path(__file__).resolve().parents[1] / "data" / "answers.md"
TERMS = Terms(page="https://optiml.example")
ERRORS: tuple[Exception, ...] = (
    ConfigError(".optiml.yml:7: `shape` is `n*m`, m is no variable", "name one of: n"),
    BaselineError("`transpose` does not compile: 3 errors", "fix it in the pull request"),
    BundleError("the bundle starts from a text that is not the pull request's"),
    RunnerError("no runner took the job within 60 minutes", "is one online?"),
    RateLimited("GitHub's limit is used up", "it is tried again later", retry_after=60),
    Unreachable("GitHub did not answer GET /repos: 502", "it is tried again later"),
    Denied("the App may not write checks", "grant it checks: write"),
    Missing("there is no such commit"),
    ValueError("@everyone <script>"),
)
MISTAKES = (
    "/optiml optimise",
    "/optiml optimize --budgte 5m",
    "/optiml optimize --budget soon",
    "/optiml optimize a b",
    "/optiml optimize ../x",
    "/optiml apply",
    "/optiml apply xyz",
    "/optiml approve abc",
    "/optiml optimize --objective speed",
    "/optiml optimize --min-speedup 0.5",
    '/optiml optimize "unclosed',
    "/optiml @everyone",
)


def job(state: JobState, title: str, wish: str = "") -> Job:
    row = row_of("review", "o/r", 7, "dev", "{}", 1_790_000_000.0) | {"id": "1" * 32, "seq": 1}
    return dataclasses.replace(job_from(row), state=state, title=title, wish=wish, head="a" * 40)


def written() -> str:
    """Return all answers as one text."""
    found = ordered.trajectory()
    kept = Kept("1" * 32, ordered.HEAD, "deadbeef", ordered.reviewed())
    parts = [("help", answers.usage()), ("status, nothing yet", answers.status([], TERMS))]
    reviews = [
        job(JobState.RUNNING, ""),
        job(JobState.RUNNING, "", "dev asked for it"),
        job(JobState.DONE, "transpose: 3.39× faster"),
        job(JobState.CANCELLED, "Cancelled: superseded by abc1234"),
    ]
    parts += [
        ("status", answers.status(reviews, TERMS)),
        ("status without an address", answers.status(reviews[2:3], Terms())),
        ("explain", answers.explanation(kept, TERMS)),
    ]
    assert found.steps
    for number, body in enumerate(MISTAKES, 1):
        mistake = commands.parse(body)
        assert isinstance(mistake, Mistake), body
        parts.append((f"mistake {number}", answers.mistake(mistake)))
    for error in ERRORS:
        end = ending.failed(error)
        parts.append((f"{type(error).__name__}", end.say))
        closing = ending.closing(end, [], TERMS.page_of("1" * 32))
        parts.append(
            (f"{type(error).__name__} on the check: {closing.conclusion}", closing.summary)
        )
    done = ending.closing(End(JobState.DONE, ""), [ordered.reviewed()], "", "https://c.example")
    parts.append((f"check of a win: {done.conclusion}, {done.title}", done.summary))
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts) + "\n"


def test_every_answer_is_as_it_was_when_somebody_looked() -> None:
    assert written() == SNAPSHOT.read_text(encoding="utf-8")


def test_no_answer_mentions_anybody_or_holds_live_html() -> None:
    text = written()
    assert "@everyone" not in text
    assert "<script" not in text.replace("\\<script", "")


if __name__ == "__main__":
    SNAPSHOT.write_text(written(), encoding="utf-8")
