"""From a candidate to the next ones: counters, findings, proposals, and a batch of verdicts."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optimizer import tuning
from optimizer.errors import RunnerError
from optimizer.interfaces import LatePolicy
from optimizer.model import Edit, Effort, Finding, Kernel, Proposal, Status, Verdict
from optimizer.plugins import Guarded
from optimizer.strategies import Choose, leaders
from optimizer.tools import Event, Stage
from optimizer.tree import Node, Tree, Waiting

if TYPE_CHECKING:
    from optimizer.budget import SearchSettings
    from optimizer.model import Workload
    from optimizer.tools import Tools


TUNES_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposal about to be tried on the candidate it was made for."""

    parent: Node
    proposal: Proposal
    kernel: Kernel
    digest: str


class Expansion:
    """Asks detectors and policy about candidates and the evaluator about their edits.

    `seen` holds the digests of all candidates tried, `notes` what went wrong without stopping us.
    """

    def __init__(
        self,
        tree: Tree,
        tools: Tools,
        settings: SearchSettings,
        workload: Workload,
        on_event: Callable[[Event], None],
    ) -> None:
        self.tree, self.tools, self.settings, self.workload = tree, tools, settings, workload
        self.on_event = on_event
        self.seen = {node.step.kernel.digest for node in tree.nodes}
        self._notes: list[str] = []
        self.late = tools.policy if isinstance(tools.policy, LatePolicy) else None
        self._detectors = [
            Guarded[Finding](_name(detector), detector, self._notes) for detector in tools.detectors
        ]
        self._tune = Guarded[Edit]("tuning", tools.tune, self._notes)
        self._ahead: dict[str, Verdict] = {}
        self._late: list[tuple[Node, Waiting]] = []
        self._profiles_left = settings.profiles if settings.profile and tools.profile else 0
        self._profiled_gain = -math.inf

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what went wrong without stopping the search; policy and detectors have a say."""
        others = (self.tools.policy, *self.tools.detectors)
        return (*self._notes, *(note for other in others for note in getattr(other, "notes", ())))

    def deliver(self, wait: float = 0.0) -> bool:
        """Take in what the policy found meanwhile, waiting for it so long; tell if there was any.

        Proposals for candidates that are not built upon are dropped. Of the next batches half are
        such proposals: they were asked for where the search was then, which has gone on meanwhile.
        """
        found = self.late.arrived(wait) if self.late else ()
        for number, proposals in found:
            node = self.tree.nodes[number]
            if not node.leaf:
                fresh = self._waiting(node, proposals)
                node.queue.extend(fresh)
                self._late += [(node, waiting) for waiting in fresh]
                self.tree.revive(node)
        return bool(found)

    def chosen(self, choose: Choose, size: int) -> list[Candidate]:
        """Choose up to `size` candidates by a strategy, none of their verdicts known."""
        batch: list[Candidate] = []
        siblings: dict[int, Counter[str]] = defaultdict(Counter)
        for late in self._arrived(size // 2):
            siblings[late.parent.step.number][late.proposal.edit.kind] += 1
            self.tree.expect(late.parent, 1)
            batch.append(late)
        while len(batch) < size and (node := choose(self.tree)) is not None:
            taken = siblings[node.step.number]
            candidate = self._next(node, taken)
            if candidate is not None:
                taken[candidate.proposal.edit.kind] += 1
                self.tree.expect(node, 1)
                batch.append(candidate)
        for candidate in batch:
            self.tree.expect(candidate.parent, -1)
        return batch

    def _arrived(self, size: int) -> list[Candidate]:
        """Return up to `size` of the proposals that came late and still wait, in their order."""
        batch: list[Candidate] = []
        while len(batch) < size and self._late:
            node, waiting = self._late.pop(0)
            if waiting in node.queue and not node.pruned and waiting.digest not in self.seen:
                node.queue.remove(waiting)
                batch.append(self._candidate(node, waiting))
        return batch

    def tuned(self, size: int) -> list[Candidate]:
        """Choose up to `size` edits of constants of the best candidates."""
        batch: list[Candidate] = []
        for node in leaders(self.tree):
            if not node.asked:
                self._ask(node)
            taken: Counter[str] = Counter()
            while len(batch) < size and self._ask_tuner(node):
                waiting = self.tree.take(node.tunes, taken)
                if self._worth_trying(waiting):
                    batch.append(self._candidate(node, waiting))
        return batch

    def verdicts(
        self, batch: Sequence[Candidate], left: int
    ) -> Iterator[tuple[Candidate, Verdict]]:
        """Yield each candidate with its verdict; those that may not run never meet the GPU."""
        known = {c.digest: self._ahead.pop(c.digest, None) or self._refused(c) for c in batch}
        run = {c.digest: c.kernel for c in batch if known[c.digest] is None}
        spare = min(self.tools.width, left) - len(run)
        ahead = self._next_in_line(batch, spare) if run and spare > 0 else {}
        kernels = [*run.values(), *ahead.values()]
        evaluate = self.tools.evaluator.evaluate
        # Looked at one by one: an evaluator may still be at work on the later ones.
        fresh = evaluate(kernels, self.workload, Effort.SCREEN) if kernels else ()
        places = {digest: place for place, digest in enumerate((*run, *ahead))}
        for candidate in batch:
            verdict = known[candidate.digest]
            yield candidate, verdict or fresh[places[candidate.digest]]
        self._ahead.update((digest, fresh[places[digest]]) for digest in ahead)

    def find(self, node: Node) -> tuple[Finding, ...]:
        """Return what the detectors see in a candidate, kept in its step."""
        step = node.step
        found = tuple(
            finding
            for detector in self._detectors
            for finding in detector(step.kernel, step.verdict)
        )
        node.step = replace(step, findings=found)
        return found

    def profile(self, node: Node) -> None:
        """Read a candidate's counters and keep them in its verdict."""
        step = node.step
        self.on_event(Event(Stage.PROFILING, (step.number,)))
        self._profiles_left -= 1
        self._profiled_gain = node.gain or 0.0
        try:
            (seen,) = self.tools.evaluator.evaluate([step.kernel], self.workload, Effort.PROFILE)
        except RunnerError as error:
            seen = Verdict(Status.CRASHED, log=error.message)
        if not seen.counters:
            if seen.status is not Status.NOT_RECORDED:
                why = seen.log.strip().splitlines()
                self._notes.append(f"no counters: {why[0] if why else seen.status.value}")
            self._profiles_left = 0
            return
        node.step = replace(step, verdict=merged(step.verdict, seen))

    def explain(self, node: Node) -> None:
        """Read a winner's counters if that was not done, so that its gain can be explained."""
        known = self.tree.root.step.verdict.counters
        if known and not node.step.verdict.counters:
            with contextlib.suppress(KeyboardInterrupt):
                self.profile(node)

    def _next(self, node: Node, taken: Counter[str]) -> Candidate | None:
        if not node.asked:
            self._ask(node)
        while True:
            while node.queue:
                waiting = self.tree.take(node.queue, taken)
                if self._worth_trying(waiting):
                    return self._candidate(node, waiting)
            if not self._refill(node):
                self.tree.exhaust(node)
                return None

    def _refill(self, node: Node) -> bool:
        """Ask the policy again, then the tuner; False when neither has more to say."""
        self._ask(node)
        if not node.queue:
            self._ask_tuner(node)
            node.queue, node.tunes = node.tunes, []
        return bool(node.queue)

    def _ask_tuner(self, node: Node) -> bool:
        """Fill a candidate's list of constants to try when it is empty; False when none is left.

        A few at a time: each costs the tuner a look at the whole source, and few are ever tried.
        """
        if not self.settings.tune:
            return False
        if node.tuner is None:
            node.tuner = iter(self._tune(node.step.kernel, node.step.findings))
        while not node.tunes:
            edits = list(itertools.islice(node.tuner, TUNES_AT_ONCE))
            if not edits:
                return False
            prior = self.settings.tune_prior
            node.tunes = self._waiting(node, [Proposal(edit, prior) for edit in edits])
        return True

    def _candidate(self, node: Node, waiting: Waiting) -> Candidate:
        self.seen.add(waiting.digest)
        kernel = waiting.proposal.edit.apply(node.step.kernel)
        return Candidate(node, waiting.proposal, kernel, waiting.digest)

    def _ask(self, node: Node) -> None:
        """Fill a candidate's queue from the policy, with fresh counters where it matters."""
        if not node.asked:
            step_up = math.log(self.settings.profile_step)
            if self._profiles_left > 0 and (node.gain or 0.0) >= self._profiled_gain + step_up:
                self.profile(node)
            self.find(node)
        node.asked = True
        if node.dry:
            return
        step = node.step
        proposals = self.tools.policy.propose(step, step.findings, self.settings.limit)
        node.queue.extend(self._waiting(node, proposals))

    def _waiting(self, node: Node, proposals: Sequence[Proposal]) -> list[Waiting]:
        """Return the proposals that lead to candidates not tried yet, each once."""
        found: dict[str, Waiting] = {}
        for proposal in proposals:
            digest = proposal.edit.apply(node.step.kernel).digest
            if digest not in self.seen:
                found.setdefault(digest, Waiting(proposal, digest))
        return list(found.values())

    def _worth_trying(self, waiting: Waiting) -> bool:
        """Tell whether a proposal was not tried yet; the tuner leaves the boundary to us.

        Most of what it proposes is never taken, and looking at the boundary costs milliseconds.
        """
        if waiting.digest in self.seen:
            return False
        edit = waiting.proposal.edit
        return edit.kind != tuning.KIND or not self._outside(edit.source)

    def _outside(self, source: str) -> Sequence[str]:
        original = self.tree.root.step.kernel.source
        return self.tools.boundary(original, source, allow_host=self.workload.accept.edit_host)

    def _refused(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate that may not run: outside the boundary, or blocked."""
        outside = self._outside(candidate.kernel.source)
        if outside:
            return Verdict(Status.REJECTED, log="\n".join(outside))
        for detector in self._detectors:
            for finding in detector(candidate.kernel, None):
                if finding.blocking:
                    return Verdict(Status.REJECTED, log=f"{finding.detector}: {finding.message}")
        return None

    def _next_in_line(self, batch: Sequence[Candidate], spare: int) -> dict[str, Kernel]:
        """Return what would probably be tried next: the head of the queues just drawn from."""
        found: dict[str, Kernel] = {}
        for parent in {c.parent.step.number: c.parent for c in batch}.values():
            for waiting in self.tree.heads(parent, spare - len(found)):
                if waiting.digest not in self.seen and waiting.digest not in self._ahead:
                    kernel = waiting.proposal.edit.apply(parent.step.kernel)
                    candidate = Candidate(parent, waiting.proposal, kernel, waiting.digest)
                    if self._refused(candidate) is None:
                        found[waiting.digest] = kernel
        return found


def merged(verdict: Verdict, profiled: Verdict) -> Verdict:
    """Return a timed verdict with the counters that a profiled one adds."""
    return replace(
        verdict,
        counters={**verdict.counters, **profiled.counters},
        lines={**verdict.lines, **profiled.lines},
        resources=verdict.resources or profiled.resources,
        instructions=verdict.instructions or profiled.instructions,
        seconds={**verdict.seconds, **profiled.seconds},
    )


def _name(plugin: object) -> str:
    return str(getattr(plugin, "name", getattr(plugin, "__name__", type(plugin).__name__)))
