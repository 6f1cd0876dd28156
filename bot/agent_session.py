"""What a coding agent may do with one workload: propose, measure, look, confirm.

The agent takes the place of the search's strategy and policy; everything else is the search's own:
the boundary, the detectors that block, verification, timing, reward, judge and budget.
`bot.verification` has files that somebody wrote judged the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot import projects, run
from bot.agent_draft import Draft, Pinned, Stopwatch, apply_blocks
from optimizer.budget import Meter, SearchSettings
from optimizer.errors import ConfigError
from optimizer.expansion import Candidate
from optimizer.finals import bias, refusal, stricter
from optimizer.model import (
    Edit,
    Effort,
    Environment,
    Finding,
    Kernel,
    Launch,
    Proposal,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import Budget, Run
from optimizer.significance import Decision, decide, speedup
from optimizer.tools import Event, Stage, Tools, ignore
from optimizer.trajectory import write_trajectory
from optimizer.tree import Node
from runners.expressions import ExpressionError, count

AUTHOR, HAND = "agent", "hand"
BY = {AUTHOR: "by the agent", HAND: "as written by hand"}
MOST_BYTES = 1 << 20
# Proposals shown at once: more than an agent reads are more than it needs.
MOST_SUGGESTIONS = 12


@dataclass(frozen=True, slots=True)
class Tried:
    """A draft that became a step; `again` tells that the same candidate was tried before."""

    step: Step
    again: bool = False


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What a fresh process said of a step: whether it is faster, and why it is not offered."""

    step: Step
    verdict: Verdict
    decision: Decision
    refused: str


class AgentSession:
    """One workload in an agent's hands, from the baseline to a confirmed winner.

    `author` is whose edits these are.

    Methods raise `ConfigError` for what the agent got wrong, `BaselineError` when the unedited
    kernel fails, `RunnerError` when a machine does; a candidate's failure is a step like any other.
    """

    def __init__(
        self,
        kernel: Kernel,
        workload: Workload,
        tools: Tools,
        budget: Budget,
        settings: SearchSettings,
        environment: Environment,
        folder: Path | None = None,
        author: str = AUTHOR,
    ) -> None:
        self.kernel, self.workload, self.environment = kernel, workload, environment
        self.author = author
        self.on_step: Callable[[Step], None] = ignore
        self.on_event: Callable[[Event], None] = ignore
        self.folder = folder
        self.winner: int | None = None
        self.confirmation: Verdict | None = None
        self.confirmations_left = settings.confirmations
        self._pinned = Pinned.of(kernel, workload)
        self._watch = Stopwatch()
        self._budget, self._settings = budget, settings
        tools = replace(tools, clock=self._watch)
        self._run = Run(kernel, workload, tools, Meter(budget, self._watch), settings)
        self._run.on_step, self._run.on_event = self._heard, self._tell
        self._suggested: dict[str, tuple[int, Edit]] = {}
        self._begun = False

    @property
    def budget(self) -> Budget:
        """Return what this session may spend."""
        return self._budget

    @property
    def evaluations_left(self) -> int:
        """Return how many candidates may still be measured."""
        return self._run.meter.left

    @property
    def minutes_left(self) -> float:
        """Return how long may still be worked, the agent's own time not counted."""
        return max(0.0, self._budget.minutes - self._watch() / 60.0)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return every candidate so far; empty before the baseline was measured."""
        return tuple(node.step for node in self._run.tree.nodes) if self._begun else ()

    @property
    def best(self) -> Step | None:
        """Return the fastest correct candidate; None before there is one."""
        known = [(speedup(s.verdict.measurement) or 0.0, -s.number, s) for s in self.steps[1:]
                 if s.verdict.status is Status.CORRECT]  # fmt: skip
        fastest = max(known, default=None, key=lambda entry: entry[:2])
        return fastest[2] if fastest is not None and fastest[0] > 1.0 else None

    @property
    def trajectory(self) -> Trajectory:
        """Return the session so far."""
        return Trajectory(
            self.workload,
            replace(
                self.environment, policy=self.author, strategy=self.author,
                seed=self._settings.seed, budget=self._budget.limits,
            ),
            self.steps, self.winner, self.confirmation, self._run.baseline.aa,
            "" if self.winner is None else f"confirmed {BY.get(self.author, self.author)}",
            tuple(dict.fromkeys((*self._run.notes, *self._run.expansion.notes))),
        )  # fmt: skip

    def begin(self) -> Step:
        """Measure the unedited kernel, once, and return its step."""
        self._check_pinned()
        if not self._begun:
            with self._watch:
                self._run.begin(None)
                self._run.meter.reserve_evaluations = 0  # shortening the winner is the agent's
                self._run.expansion.find(self._run.tree.root)
            self._begun = True
            self._save()
        return self._run.tree.root.step

    def step(self, number: int) -> Step:
        """Return a step by its number."""
        return self._node(number).step

    def evaluate(self, draft: Draft) -> Tried:
        """Compile, verify and time a candidate; a known one is not measured again."""
        candidate = self._candidate(draft)
        known = self._known(candidate)
        if known is not None:
            return Tried(known, again=True)
        self._check_budget()
        self._screen([candidate])
        return Tried(self._run.tree.nodes[-1].step)

    def evaluate_all(self, drafts: Sequence[Draft]) -> None:
        """Do the same with several at once, on all machines there are; equal ones are one step."""
        found = {one.digest: one for one in map(self._candidate, drafts)}
        fresh = [one for one in found.values() if self._known(one) is None]
        if fresh:
            self._check_budget()
            self._screen(fresh)

    def profile(self, number: int) -> Step:
        """Read a candidate's hardware counters, once, and diagnose it again with them."""
        node = self._node(number)
        if node.step.verdict.status is not Status.CORRECT:
            raise ConfigError(
                f"step {number} is {node.step.verdict.status.value}", "profile a correct one"
            )
        if not node.step.verdict.counters:
            self._check_budget(evaluations=False)
            with self._watch:
                self._run.expansion.profile(node)
                self._run.expansion.find(node)
            self._save()
        return node.step

    def findings(self, number: int) -> Sequence[Finding]:
        """Return what the detectors see in a candidate."""
        node = self._node(number)
        return node.step.findings or self._run.expansion.find(node)

    def suggestions(self, number: int) -> Mapping[str, Proposal]:
        """Return rewrites that the built-in rules offer for a candidate, by name, best first."""
        node = self._node(number)
        have = {name: edit for name, (at, edit) in self._suggested.items() if at == number}
        if not have:
            step, tools = node.step, self._run.tools
            findings = self.findings(number)
            offered = list(tools.policy.propose(step, findings, MOST_SUGGESTIONS))
            room = MOST_SUGGESTIONS - len(offered)
            tuned = list(tools.tune(step.kernel, findings))[: max(room, 4)]
            offered += [Proposal(edit, self._settings.tune_prior) for edit in tuned]
            self._suggested |= {
                f"{number}.{place}": (number, one.edit) for place, one in enumerate(offered, 1)
            }
            return {f"{number}.{place}": one for place, one in enumerate(offered, 1)}
        return {name: Proposal(edit) for name, edit in have.items()}

    def confirm(self, number: int) -> str:
        """Measure a candidate in a fresh process; return why it does not hold, empty if it does.

        The confidence is corrected for as many attempts as a session has (Bonferroni).
        """
        step = self.step(number)
        if step.verdict.status is not Status.CORRECT or not number:
            raise ConfigError(f"step {number} cannot be confirmed", "name a correct candidate")
        if not self.confirmations_left:
            raise ConfigError(
                f"{self._settings.confirmations} confirmations were asked for already",
                "more of them would make luck look like speed; start a new session",
            )
        (found,) = self.confirmations([step])
        if found.verdict.status is Status.NOT_RECORDED:
            return "the recording holds no confirmation of this candidate"
        self.confirmations_left -= 1
        if not found.refused:
            self.offer(found)
        self._save()
        return found.refused

    def confirmations(self, steps: Sequence[Step]) -> Iterator[Confirmed]:
        """Yield what a fresh process says of each candidate, all asked for at once."""
        self._check_pinned()
        accept, first = self.workload.accept, self.steps[0].verdict
        strict = stricter(accept, self._settings.confirmations, bias(self._run.baseline.aa, accept))
        kernels = [step.kernel for step in steps]
        with self._watch:
            self._tell(Event(Stage.CONFIRMING, tuple(step.number for step in steps)))
            asked = self._run.tools.evaluator.evaluate(kernels, self.workload, Effort.CONFIRM)
            for place, step in enumerate(steps):
                verdict = asked[place]
                decision = decide(verdict.measurement, strict)
                yield Confirmed(step, verdict, decision, refusal(step, verdict, first, strict))

    @property
    def compares_last(self) -> bool:
        """Tell whether the original is compared with itself when there is something to confirm."""
        return self._run.baseline.compares_last

    def compare(self) -> None:
        """Compare the original with itself in full: what it differs by, a candidate has to beat."""
        with self._watch:
            self._run.baseline.compare()

    def offer(self, found: Confirmed) -> None:
        """Make a candidate that held the one that is offered."""
        self.winner, self.confirmation = found.step.number, found.verdict

    def write(self) -> dict[str, Path]:
        """Write trajectory, report and, when something was confirmed, source and patch."""
        return run.write_files(self.trajectory, self.folder) if self.folder else {}

    def launch_of(self, launch: Launch | None) -> Launch | None:
        """Return a launch as an edit takes it. Raise `ConfigError` for one that cannot be."""
        if launch is None:
            return None
        if self.kernel.launch is None or not self.kernel.launch.tunable:
            raise ConfigError(
                "the launch of this workload is the caller's and stays",
                "leave `launch` out; `tunable: true` in .optiml.yml would free it",
            )
        try:
            for case in self.workload.cases:
                threads = 1
                for text in launch.block:
                    threads *= count(text, case.values)
                sizes = [count(text, case.values) for text in launch.grid]
                count(launch.shared, case.values)
                if not 1 <= threads <= 1024 or min(sizes, default=0) < 1:
                    raise ConfigError(
                        f"{sizes} blocks of {threads} threads for {case.name}",
                        "a grid has at least one block, a block 1 to 1024 threads",
                    )
        except ExpressionError as error:
            raise ConfigError(
                f"launch: {error}", "arithmetic over the case variables: + - * / min max ceil"
            ) from error
        return replace(launch, tunable=True)

    # -- inside ----------------------------------------------------------------------------------

    def _node(self, number: int) -> Node:
        self.begin()
        nodes = self._run.tree.nodes
        if not 0 <= number < len(nodes):
            raise ConfigError(
                f"there is no step {number}", f"steps go from 0, the original, to {len(nodes) - 1}"
            )
        return nodes[number]

    def _candidate(self, draft: Draft) -> Candidate:
        self.begin()
        parent, edit = self._edit(draft)
        kernel = edit.apply(parent.step.kernel)
        return Candidate(parent, Proposal(edit), kernel, kernel.digest)

    def _known(self, candidate: Candidate) -> Step | None:
        digest = candidate.digest
        return next((step for step in self.steps if step.kernel.digest == digest), None)

    def _screen(self, candidates: Sequence[Candidate]) -> None:
        """Have candidates judged, and those that are right looked at by the detectors."""
        before = len(self._run.tree.nodes)
        with self._watch:
            self._tell(Event(Stage.SEARCHING, (), self.evaluations_left))
            self._run.evaluate(candidates)
            for node in self._run.tree.nodes[before:]:
                if node.step.verdict.status is Status.CORRECT:
                    self._run.expansion.find(node)
        self._save()

    def _edit(self, draft: Draft) -> tuple[Node, Edit]:
        given = [draft.source is not None, bool(draft.blocks), bool(draft.suggestion)]
        if sum(given) > 1:
            raise ConfigError(
                "more than one candidate is given", "give one of source, edits, suggestion"
            )
        if draft.suggestion:
            if draft.suggestion not in self._suggested:
                raise ConfigError(f"there is no suggestion {draft.suggestion!r}", "ask `suggest`")
            at, edit = self._suggested[draft.suggestion]
            return self._node(at), edit
        node = self._node(draft.base)
        before = node.step.kernel
        if draft.blocks:
            source = apply_blocks(before.source, draft.blocks)
        elif draft.source is not None:
            source = draft.source
        else:
            root = Path(self.workload.root).resolve()
            path = (root / before.path).resolve()
            if not path.is_relative_to(root):
                raise ConfigError(f"{before.path} leads out of {root}", "put the file itself there")
            source = projects.text_of(projects.checked(path))
        if len(source.encode()) > MOST_BYTES:
            raise ConfigError(f"a source of {len(source)} characters", f"{MOST_BYTES} is the most")
        launch = self.launch_of(draft.launch)
        if source == before.source and launch in {None, before.launch}:
            raise ConfigError(
                f"this is step {draft.base} unchanged", "change something, or edit the file first"
            )
        title = " ".join(draft.title.split())[:120] or f"an edit by {self.author}"
        return node, Edit(
            title, source, self.author, draft.why[:4000], draft.kind[:60], draft.predicted, launch
        )

    def _check_budget(self, *, evaluations: bool = True) -> None:
        spent = self._run.meter.exceeded()
        if evaluations and not self.evaluations_left:
            raise ConfigError(
                f"all {self._budget.evaluations} evaluations of this session are spent",
                "confirm the best, or start the server with more --evaluations",
            )
        if spent is not None and (evaluations or self._run.meter.overtime):
            raise ConfigError(
                f"the session's budget is spent: {spent.value}",
                "confirm the best, or start the server with a larger --budget",
            )

    def _check_pinned(self) -> None:
        changed = self._pinned.changed()
        if changed:
            raise ConfigError(
                f"{', '.join(changed)} changed since this session began",
                "what a candidate is measured against must stay: undo the change, or restart the "
                "server to measure the original anew",
            )

    def _tell(self, event: Event) -> None:
        self.on_event(event)

    def _heard(self, step: Step) -> None:
        self.on_step(step)

    def _save(self) -> None:
        """Keep the trajectory on disk, whole at any moment."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / run.TRAJECTORY
            if len(self.steps) == 1 and path.exists():
                path.replace(path.with_suffix(".previous.jsonl"))
            beside = self.folder / f".{run.TRAJECTORY}.new"
            write_trajectory(self.trajectory, beside)
            beside.replace(path)
        except OSError as error:
            note = f"the trajectory could not be kept in {self.folder}: {error.strerror}"
            if note not in self._run.notes:
                self._run.notes.append(note)
