"""What follows from a webhook: reviews to begin and to end, and answers to commands.

Each happening is a job of its own that may be repeated: what it asks for has an id made of the
job's, and a reply is known again by it. Who may do what is asked of GitHub at that moment.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from bot import answers, commands, ending, merge_queue
from bot.commands import (
    COMMAND,
    Apply,
    Approve,
    Cancel,
    Command,
    Dismiss,
    Explain,
    Help,
    Mistake,
    Optimize,
    Status,
)
from bot.dismissals import fingerprint
from bot.ending import End
from bot.events import (
    HAPPENING,
    AccessLost,
    CheckClicked,
    CommentWritten,
    Happening,
    PullChanged,
    QueueEntered,
    RunCompleted,
)
from bot.github_errors import Denied, GithubError, Missing, Stale
from bot.interfaces import Hub, PullState
from bot.job import Job, JobState
from bot.markdown import code, phrase, prose
from bot.outcomes import Kept
from bot.patience import DATABASE_AWAY, Patience
from bot.review_job import Records
from bot.terms import Terms, may
from optimizer.errors import OptimlError

T = TypeVar("T")
_LOG = structlog.get_logger("optiml")
_HOUR = 3600.0
# What each command needs on the repository. To be told how things stand, one must see them.
NEEDS: Mapping[str, str] = {
    "optimize": "triage",
    "cancel": "triage",
    "dismiss": "triage",
    "explain": "read",
    "status": "read",
    "help": "read",
    "apply": "write",
    "approve": "write",
}
# A button's word, and the command it stands for.
_BUTTONS: Mapping[str, Callable[[str], Command]] = {
    "apply": Apply,
    "squash": lambda id_: Apply(id_, squash=True),
    "dismiss": Dismiss,
}


@dataclass(frozen=True, slots=True)
class Request:
    """A command with who gave it, where, and by which job."""

    job: Job
    number: int
    actor: str
    command: Command


class Service:
    """Decides with a hub, what is remembered, and what the operator allows."""

    def __init__(self, hub: Hub, records: Records, terms: Terms, patience: Patience) -> None:
        self._hub, self._terms, self._patience = hub, terms, patience
        self._store, self._ledger = records.store, records.ledger
        self._outcomes = records.outcomes
        self._acts: Mapping[type[Command], Callable[[Any, Request], str]] = {
            Optimize: self._optimize,
            Cancel: self._cancel,
            Status: self._status,
            Apply: self._apply,
            Dismiss: self._dismiss,
            Explain: self._explain,
            Approve: self._approve,
            Help: lambda _command, _request: answers.usage(),
        }

    def handle(self, job_id: str) -> End:
        """Do what a happening asks for; may be repeated. Raise `Stopped` when the process ends."""
        job = self._store.job(job_id)
        if job is None:
            raise OptimlError("a job is gone from the database while it runs")
        try:
            return self._handled(HAPPENING.validate_json(job.intent), job)
        except Missing as error:
            return End(JobState.DONE, "It is gone, or we may not see it", phrase(error.message))
        except DATABASE_AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - told on the job's page, and to who asked
            return ending.failed(error)

    def _handled(self, what: Happening, job: Job) -> End:
        if isinstance(what, CommentWritten):
            return self._comment(what, job)
        if isinstance(what, CheckClicked):
            return self._check(what, job)
        if isinstance(what, PullChanged):
            return self._pull(what)
        if isinstance(what, RunCompleted):
            self._store.nudge(what.repository)
            return End(JobState.DONE, "Whoever waits for a workflow run asks now")
        if isinstance(what, QueueEntered):
            return self._queue(what, job)
        return self._access(what)

    # -- events ------------------------------------------------------------------------------------

    def _pull(self, what: PullChanged) -> End:
        """End reviews when the pull request is closed now, or has the label that forbids them."""
        state = self._ask(lambda: self._hub.pull(what.repository, what.number))
        why = ""
        if state.state != "open":
            why = "the pull request was closed"
        elif self._terms.skip_label in state.labels:
            why = f"the label {self._terms.skip_label} was set"
        if not why:
            return End(JobState.DONE, "It is open, and no label forbids a review")
        ended = self._store.end_reviews(what.repository, what.number, why)
        return End(JobState.DONE, f"{len(ended)} reviews end: {why}")

    def _queue(self, what: QueueEntered, job: Job) -> End:
        """Answer for a merge group with what was found for its pull request's head."""
        number = merge_queue.number_of(what.ref)
        review, state = None, None
        if number is not None:
            with contextlib.suppress(Missing):
                state = self._ask(lambda: self._hub.pull(what.repository, number))
        if number is not None and state is not None:
            known = self._store.reviews(what.repository, number, limit=50)
            review = merge_queue.reviewed_at(known, state.head)
        results = tuple(one.reviewed for one in self._outcomes.of_job(review.id)) if review else ()
        page = self._terms.page_of(review.id) if review else ""
        closing = merge_queue.answer(number, review, results, page)
        own = self._terms.page_of(job.id)

        def answer() -> None:
            words = "Looking for the review of the pull request."
            check = self._hub.open_check(what.repository, what.head, job.id, words, url=own)
            self._hub.close_check(what.repository, check, closing)

        self._ask(answer)
        return End(JobState.DONE, f"Answered for the merge group: {closing.conclusion}")

    def _access(self, what: AccessLost) -> End:
        ended = 0
        for repository in what.repositories:
            ended += len(self._store.end_reviews(repository, None, "the App was removed"))
        return End(JobState.DONE, f"The App was removed; {ended} reviews end")

    # -- commands and buttons ----------------------------------------------------------------------

    def _comment(self, what: CommentWritten, job: Job) -> End:
        command = commands.parse(what.body)
        if command is None:
            return End(JobState.DONE, "The comment holds no command")
        if self._store.asked_by(what.author, time.time() - _HOUR) > self._terms.commands_an_hour:
            # Answering would let anybody make us write without end.
            return End(JobState.DONE, f"{what.author} gave too many commands within an hour")
        self._react(what, "eyes")
        if isinstance(command, Mistake):
            words = answers.mistake(command)
            return self._answered(job, what.number, End(JobState.DONE, "Not understood", say=words))
        request = Request(job, what.number, what.author, command)
        return self._answered(job, what.number, self._obeyed(request))

    def _check(self, what: CheckClicked, job: Job) -> End:
        """Obey a button of one of our check runs, or "Re-run"."""
        review = self._store.of_check(what.repository, what.check_id)
        word, _, ident = what.button.partition(":")
        if review is not None and review.number is not None:
            numbers: tuple[int, ...] = (review.number,)
        else:
            numbers = self._ask(lambda: self._hub.pulls_of(what.repository, what.head))
        if not numbers:
            return End(JobState.DONE, "The commit is the head of no open pull request")
        command: Command = Optimize()
        if what.button:
            if word not in _BUTTONS:
                return End(JobState.DONE, "There is no such button")
            parsed = commands.parse(f"{commands.WORD} {_BUTTONS[word]('0' * 8).verb} {ident}")
            if parsed is None or isinstance(parsed, Mistake):
                return End(JobState.DONE, "The button's identifier does not fit")
            command = _BUTTONS[word](ident.lower())
        found = End(JobState.DONE, "Nothing to do")
        for number in numbers:
            request = Request(job, number, what.sender, command)
            found = self._answered(job, number, self._obeyed(request))
        return found

    def _obeyed(self, request: Request) -> End:
        """Do as asked, or say why not. The words are what is answered; empty is silence."""
        verb = request.command.verb
        try:
            denied = self._denied(request)
            if denied:
                return End(JobState.DONE, f"{verb} denied to {request.actor}", say=denied)
            words = self._acts[type(request.command)](request.command, request)
        except (Denied, Stale) as error:
            say = f"`{verb}` was not done: {phrase(error.message)}. {phrase(error.remedy)}".strip()
            return End(JobState.DONE, f"{verb} was refused", say=say)
        except DATABASE_AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - whoever asked is told, whatever it was
            return ending.failed(error)
        return End(JobState.DONE, f"{verb} by {request.actor}", say=words)

    def _denied(self, request: Request) -> str:
        """Say why a command is denied; empty when it is not."""
        repository, verb = request.job.repository, request.command.verb
        needed = NEEDS[verb]
        has = self._ask(lambda: self._hub.permission(repository, request.actor))
        if not may(has, needed):
            return (
                f"`{verb}` needs {needed} access to this repository, and "
                f"{code(request.actor)} has {prose(has)}."
            )
        paused = self._ledger.paused(repository)
        if paused and verb in {"optimize", "apply", "approve"}:
            return f"OptiML is switched off here: {prose(paused)}."
        return ""

    def _answered(self, job: Job, number: int, end: End) -> End:
        if end.say:
            self._ask(lambda: self._hub.reply(job.repository, number, end.say, job.id))
        return end

    def _react(self, what: CommentWritten, content: str) -> None:
        """Show that a command was seen; one whose comment is gone is obeyed all the same."""
        try:
            self._hub.react(what.repository, what.comment_id, content)
        except GithubError as error:
            _LOG.info("no reaction", repository=what.repository, why=error.message)

    # -- one by one --------------------------------------------------------------------------------

    def _optimize(self, command: Optimize, request: Request) -> str:
        """Begin a review. Its check run is the answer; what keeps it from running is replied."""
        self._review(command, request)
        return ""

    def _cancel(self, _: Cancel, request: Request) -> str:
        repository, number = request.job.repository, request.number
        why = f"{request.actor} asked for it"
        if self._store.end_reviews(repository, number, why):
            return ""
        ending_now = any(
            one.state in {JobState.WAITING, JobState.RUNNING}
            for one in self._store.reviews(repository, number)
        )
        return "" if ending_now else "Nothing runs for this pull request."

    def _status(self, _: Status, request: Request) -> str:
        found = self._store.reviews(request.job.repository, request.number)
        return answers.status(found, self._terms)

    def _apply(self, command: Apply, request: Request) -> str:
        repository, number = request.job.repository, request.number
        kept = self._found(command.id, request)
        if isinstance(kept, str):
            return kept
        state = self._ask(lambda: self._hub.pull(repository, number))
        if state.state != "open":
            return "`apply` commits to open pull requests, and this one is closed."
        url = self._ask(
            lambda: self._hub.apply(
                repository,
                number,
                kept.reviewed,
                head=kept.head,
                squash=command.squash,
                by=request.actor,
            )
        )
        return f"Applied {code(command.id)} for {code(request.actor)}: {url}"

    def _dismiss(self, command: Dismiss, request: Request) -> str:
        kept = self._found(command.id, request)
        if isinstance(kept, str):
            return kept
        key = fingerprint(kept.reviewed)
        if not key:
            return f"{code(command.id)} offers nothing that could be dismissed."
        self._ledger.dismiss(request.job.repository, key, request.actor)
        name = code(kept.reviewed.change.kernel.name)
        return f"This edit of {name} will not be offered again."

    def _explain(self, command: Explain, request: Request) -> str:
        kept = self._found(command.id, request)
        if isinstance(kept, str):
            return kept
        return answers.explanation(kept, self._terms)

    def _approve(self, command: Approve, request: Request) -> str:
        repository, number = request.job.repository, request.number
        state: PullState = self._ask(lambda: self._hub.pull(repository, number))
        if state.state != "open":
            return "This pull request is closed."
        if not state.fork:
            return "This is no fork's pull request, so it needs no approval."
        if state.head != command.sha:
            return (
                f"The head is {code(state.head)} now, not what you approved. "
                "Look at that commit, and approve it by its whole id."
            )
        self._ledger.approve(repository, number, command.sha, request.actor)
        self._review(Optimize(), request)
        return ""

    def _review(self, command: Optimize, request: Request) -> None:
        text = COMMAND.dump_json(command).decode()
        new = hashlib.sha256(f"{request.job.id}:{request.number}".encode()).hexdigest()[:32]
        self._store.add_review(new, (request.job.repository, request.number), request.actor, text)

    def _found(self, ident: str, request: Request) -> Kept | str:
        """Return a result by its ID, or words that say which there are."""
        found = self._outcomes.find(request.job.repository, request.number, ident)
        if found is not None:
            return found
        known = self._outcomes.idents(request.job.repository, request.number)
        if not known:
            return f"There is no {code(ident)}: nothing was found on this pull request yet."
        return f"There is no {code(ident)} here. There is {', '.join(map(code, known))}."

    def _ask(self, question: Callable[[], T]) -> T:
        return self._patience.ask(question)
