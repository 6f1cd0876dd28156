"""Whether files that somebody wrote as faster versions are right, and how much faster they are.

They are asked what a search asks before it offers anything: edit boundary, detectors that block, a
screening, then a confirmation in a fresh process; by the session that serves coding agents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Protocol

from bot import projects, wording
from bot.agent_draft import Draft
from bot.agent_session import HAND, AgentSession, Confirmed
from bot.outcome import CaseOutcome, Ratio, cases_of, ratio_of
from bot.wiring import Workshop
from optimizer.budget import Budget
from optimizer.errors import ConfigError, OptimlError
from optimizer.model import (
    Acceptance,
    Edit,
    Finding,
    Kernel,
    Launch,
    Measurement,
    Proposal,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.significance import Decision, slower_cases, speedup
from optimizer.tools import no_constants
from runners import joined, limit, lone_program

# What a detector says of a candidate that it keeps from the GPU begins with its name.
_DETECTOR = re.compile(r"([a-z]+(?:-[a-z]+)+): ")
_LAYERS = {
    Status.REJECTED: "edit boundary",
    Status.DOES_NOT_COMPILE: "compiler",
    Status.CRASHED: "crashed",
    Status.TIMED_OUT: "timed out",
}
_SPEEDS = {Decision.SAME: "as fast as the original", Decision.SLOWER: "slower than the original"}


class State(StrEnum):
    """What is known of a candidate at the end."""

    VERIFIED = "verified"
    REFUSED = "refused"
    UNCHANGED = "unchanged"
    NOT_RECORDED = "not recorded"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Given:
    """A candidate: its file as it was named, and the text that stands for the kernel's source."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Order:
    """What is verified: candidates for one kernel on one workload; files go to `folder`, if any.

    `launch` is the geometry of all candidates where it is not that of the original.
    """

    kernel: Kernel
    workload: Workload
    candidates: Sequence[Given]
    launch: Launch | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one candidate.

    `step` holds the screening, `confirmed` what a fresh process said of it. `told` is why there is
    no answer.
    """

    name: str
    state: State
    accept: Acceptance
    step: Step | None = None
    confirmed: Confirmed | None = None
    told: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that decided."""
        if self.confirmed is not None:
            return self.confirmed.verdict
        return self.step.verdict if self.step is not None else None

    @property
    def judged(self) -> Step | None:
        """Return the step with the verdict that decided."""
        step, verdict = self.step, self.verdict
        return None if step is None or verdict is None else replace(step, verdict=verdict)

    @property
    def faster(self) -> bool:
        """Tell whether a search would offer it."""
        return self.state is State.VERIFIED and not (self.confirmed and self.confirmed.refused)

    @property
    def stage(self) -> str:
        """Say what it was judged by: `screening` or `confirmation`; empty where it was not run."""
        if self.confirmed is not None:
            return "confirmation"
        unrun = {Status.REJECTED, Status.DOES_NOT_COMPILE, Status.NOT_RECORDED}
        return "screening" if self.verdict and self.verdict.status not in unrun else ""

    @property
    def layer(self) -> str:
        """Name the layer that refused it; empty when none did."""
        verdict = self.verdict
        if self.state is not State.REFUSED or verdict is None:
            return ""
        failed = [check for check in verdict.checks if not check.passed]
        if failed:
            return wording.layer(failed[-1].layer)
        if verdict.status is Status.REJECTED and (named := _DETECTOR.match(verdict.log)):
            return named[1]
        return _LAYERS.get(verdict.status, verdict.status.value)

    @property
    def why(self) -> str:
        """Say in one line why it was refused, is not known, or would not be offered."""
        if self.state is State.REFUSED and self.verdict is not None:
            return _reason(self.verdict)
        found = self.confirmed
        if self.state is State.VERIFIED and found is not None and found.refused:
            if found.decision is Decision.AMBIGUOUS:
                return f"not certainly {self.accept.min_speedup:g}× as fast"
            beyond = found.refused.removeprefix(f"step {found.step.number} ")
            return _SPEEDS.get(found.decision, beyond)
        return self.told

    @property
    def ratio(self) -> Ratio | None:
        """Return its speedup in the fresh process; None where it is not verified or not timed."""
        return ratio_of(self._measured, self.accept.confidence)

    @property
    def cases(self) -> list[CaseOutcome]:
        """Return the timed cases of a verified candidate."""
        return cases_of(self._measured, self.accept.confidence)

    @property
    def limits(self) -> tuple[str, ...]:
        """Say where it fails and the original does not."""
        return limit.apart(self._noted)[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what else there is to know of a verified candidate."""
        found = list(limit.apart(self._noted)[1])
        if self.state is not State.VERIFIED:
            return ()
        if self._measured is not None:
            slower = slower_cases(self._measured, self.accept.confidence)
            found += [f"slower for {', '.join(slower)}"] if slower else []
        if self.step is not None and self.step.same_as is not None:
            other = "an earlier candidate" if self.step.same_as else "the original"
            found.append(f"compiles to the same machine code as {other}")
        return tuple(found)

    @property
    def _measured(self) -> Measurement | None:
        """Return what was measured of a verified candidate."""
        verdict = self.verdict if self.state is State.VERIFIED else None
        return verdict.measurement if verdict is not None else None

    @property
    def _noted(self) -> tuple[str, ...]:
        return self._measured.notes if self._measured is not None else ()


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of an order. `failure` is what ended it early, `interrupted` that Ctrl-C did."""

    order: Order
    trajectory: Trajectory
    answers: tuple[Answer, ...]
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    failure: OptimlError | None = None
    interrupted: bool = False

    @property
    def all_right(self) -> bool:
        """Tell whether every candidate is known to be right, faster or not."""
        return all(one.state in {State.VERIFIED, State.UNCHANGED} for one in self.answers)


class Watch(Protocol):
    """Hears how it goes."""

    def stage(self, words: str) -> None:
        """Hear what is done from now on."""
        ...

    def found(self, words: str) -> None:
        """Hear what is known of a candidate."""
        ...


@dataclass(frozen=True, slots=True)
class _Written:
    """The candidates in a policy's place: compiled while the original is measured, no others."""

    edits: Sequence[Edit]

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        del step, findings, limit
        return ()

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        del findings
        return [] if step.number else [Proposal(edit) for edit in self.edits[:limit]]


def given(kernel: Kernel, workload: Workload, file: Path, path: Path) -> Given:
    """Read a candidate as it takes the place of `file`, the one that holds `kernel`.

    Where kernels of a program stand in its headers or in sources beside it, a candidate that is
    named as one of these takes that one's place. Raise `ConfigError` for one that takes none.
    """
    text = projects.text_of(projects.checked(path))
    if workload.program is None:
        return Given(str(path), text)
    root = Path(workload.root).resolve()
    own = Path(os.path.relpath(file.resolve(), root)).as_posix()
    parts = joined.split(kernel.source, kernel.path)
    others = [place for place in parts if PurePosixPath(place).name == path.name and place != own]
    if path.name != file.name and others:
        if len(others) > 1:
            raise ConfigError(
                f"{path} may stand for {' or '.join(others)}", f"name a version of {file} itself"
            )
        return Given(str(path), _replaced(kernel, others[0], text, path))
    if own != kernel.path:
        named = ", ".join(PurePosixPath(place).name for place in parts)
        raise ConfigError(
            f"{file} holds no kernel, so {path} cannot be a faster version of it",
            f"what is edited is in {named}: name each candidate as the file it stands for",
        )
    if len(parts) > 1:
        stands = lone_program.with_headers(replace(kernel, source=text), workload, file.resolve())
        text = stands[0].source
    return Given(str(path), text)


def _replaced(kernel: Kernel, place: str, text: str, path: Path) -> str:
    """Return a program's text with another version of one of the files that stand in it."""
    before = joined.split(kernel.source, kernel.path)
    found = kernel.source.replace(before[place], text, 1)
    if joined.split(found, kernel.path) != {**before, place: text}:
        raise ConfigError(
            f"{path} cannot be put in the place of {place}",
            "it includes headers that are edited, too, or ends without a line feed",
        )
    return found


def verify(order: Order, workshop: Workshop, watch: Watch) -> Verified:
    """Judge every candidate, telling `watch` of each as it comes.

    Raise `BaselineError` when the original fails, `RunnerError` when there is no machine for it; of
    what fails later the answers until then are kept.
    """
    changed = [one for one in order.candidates if _differs(order, one)]
    if not changed:
        raise ConfigError(
            f"no candidate differs from {order.kernel.path or order.kernel.name}",
            "name files that hold other versions of it",
        )
    names = {one.source: one.name for one in reversed(changed)}
    session = _session(order, workshop, changed)
    session.launch_of(order.launch)
    accept, told = order.workload.accept, ""
    failure: OptimlError | None = None
    held: dict[int, Confirmed] = {}
    watch.stage("measuring the original")
    session.begin()

    def screened(step: Step) -> None:
        answer = Answer(names[step.kernel.source], _state(step.verdict), accept, step)
        if answer.state is not State.VERIFIED:
            watch.found(f"{answer.name}: {_words(answer)}")
            return
        about = speedup(step.verdict.measurement)
        watch.found(f"{answer.name}: right so far" + (f", {wording.times(about)}" if about else ""))

    session.on_step = screened
    try:
        watch.stage(f"screening {wording.count(len(names), 'candidate')}")
        session.evaluate_all(
            [Draft(source=one.source, title=one.name, launch=order.launch) for one in changed]
        )
        right = [step for step in session.steps[1:] if step.verdict.status is Status.CORRECT]
        if right:
            if session.compares_last:
                watch.stage("comparing the original with itself")
                session.compare()
            watch.stage("confirming in a fresh process")
        for found in session.confirmations(right) if right else ():
            held[found.step.number] = found
            name = names[found.step.kernel.source]
            answer = Answer(name, _state(found.verdict), accept, found.step, found)
            watch.found(f"{name}: {_words(answer)}")
    except KeyboardInterrupt:
        told = "interrupted before it was judged"
    except OptimlError as error:
        told, failure = error.message, error
    return _verified(order, session, held, told, failure)


def _session(order: Order, workshop: Workshop, changed: Sequence[Given]) -> AgentSession:
    kernel, workload = order.kernel, order.workload
    edits = [Edit(one.name, one.source, HAND, launch=order.launch) for one in changed]
    tools = replace(
        workshop.tools(kernel, workload), policy=_Written(edits), tune=no_constants, profile=False
    )
    settings = replace(
        workshop.search_settings,
        # How sure is sure enough is corrected for so many attempts (Bonferroni).
        confirmations=max(1, len({one.source for one in changed})),
        tune=False,
        shorten=False,
        profile=False,
    )
    return AgentSession(
        kernel, workload, tools, Budget(evaluations=len(changed) + 1), settings,
        workshop.environment, order.folder, HAND,
    )  # fmt: skip


def _verified(
    order: Order,
    session: AgentSession,
    held: dict[int, Confirmed],
    told: str,
    failure: OptimlError | None,
) -> Verified:
    steps = {step.kernel.source: step for step in session.steps[1:]}
    answers = [
        _answer(order, one, step, held.get(step.number) if step else None, told)
        for one in order.candidates
        for step in [steps.get(one.source)]
    ]
    faster = [one for one in answers if one.faster and one.confirmed is not None]
    best = max(faster, key=lambda one: one.ratio.low if one.ratio else 0.0, default=None)
    if best is not None and best.confirmed is not None:
        session.offer(best.confirmed)
    files, stopped = dict[str, Path](), bool(told) and failure is None
    try:
        files = session.write()
    except OptimlError as error:
        failure = failure or error
    return Verified(order, session.trajectory, tuple(answers), files, failure, stopped)


def _answer(
    order: Order, one: Given, step: Step | None, found: Confirmed | None, told: str
) -> Answer:
    accept = order.workload.accept
    if not _differs(order, one):
        same = f"its text is that of {order.kernel.path or order.kernel.name}"
        return Answer(one.name, State.UNCHANGED, accept, told=same)
    if step is None:
        return Answer(one.name, State.NOT_JUDGED, accept, told=told)
    state = _state(found.verdict if found is not None else step.verdict)
    if state is State.VERIFIED and found is None:
        return Answer(one.name, State.NOT_JUDGED, accept, step, told=f"not confirmed: {told}")
    lacks = "a confirmation of it" if found is not None else "it"
    missing = f"the recording has not got {lacks}" if state is State.NOT_RECORDED else ""
    return Answer(one.name, state, accept, step, found, missing)


def _differs(order: Order, one: Given) -> bool:
    other_launch = order.launch is not None and order.launch != order.kernel.launch
    return one.source != order.kernel.source or other_launch


def _state(verdict: Verdict) -> State:
    if verdict.status is Status.CORRECT:
        return State.VERIFIED
    return State.NOT_RECORDED if verdict.status is Status.NOT_RECORDED else State.REFUSED


def _words(answer: Answer) -> str:
    """Say what is known of a candidate as soon as it is."""
    if answer.state is State.VERIFIED:
        return f"verified, {answer.ratio}" if answer.ratio else "verified, not timed"
    if answer.state is State.REFUSED:
        return f"refused by {answer.layer}"
    return answer.state.value


def _reason(verdict: Verdict) -> str:
    """Return the first line of what is said of a failure, or which check it was."""
    lines = [line.strip() for line in verdict.log.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b", line)]
    compiled = verdict.status is Status.DOES_NOT_COMPILE
    if lines:
        return errors[0] if compiled and errors else lines[0]
    failed = [check for check in verdict.checks if not check.passed]
    return wording.place(failed[-1]) if failed else verdict.status.value
