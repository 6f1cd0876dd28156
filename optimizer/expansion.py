"""From a candidate to the next ones: counters, findings, proposals, and a batch of verdicts."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optimizer import tuning
from optimizer.budget import Strategy
from optimizer.errors import RunnerError
from optimizer.interfaces import Expectant, Foresighted, LatePolicy, Punctual
from optimizer.lookahead import Asked, Lookahead
from optimizer.model import Edit, Effort, Finding, Kernel, Proposal, Status, Verdict
from optimizer.openings import EDITS, Openings
from optimizer.plugins import Guarded
from optimizer.strategies import Choose, leaders
from optimizer.tools import Event, Stage
from optimizer.tree import Node, Tree, Waiting

if TYPE_CHECKING:
    from optimizer.budget import Meter, SearchSettings
    from optimizer.model import Workload
    from optimizer.tools import Tools


TUNES_AT_ONCE = 8
TUNE_DECAY = 0.9


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
        meter: Meter,
    ) -> None:
        self.meter = meter
        self.tree, self.tools, self.settings, self.workload = tree, tools, settings, workload
        self.on_event = on_event
        self.seen = {node.step.kernel.digest for node in tree.nodes}
        self._notes: list[str] = []
        self.late = tools.policy if isinstance(tools.policy, LatePolicy) else None
        self._detectors = [
            Guarded[Finding](_name(detector), detector, self._notes) for detector in tools.detectors
        ]
        self._tune = Guarded[Edit]("tuning", tools.tune, self._notes)
        self._refusals: dict[str, Verdict | None] = {}
        self._ahead = Lookahead(
            tree, self._width, self._screen, self._fit, self._foreseen, self._tunes, self._begin
        )
        self._late: list[tuple[Node, Waiting]] = []
        self._openings = Openings(tree, self._told)
        self._profiles_left = settings.profiles if settings.profile and tools.profile else 0
        self._profiled_gain = -math.inf
        self._unprofiled: Node | None = None
        # What reading counters took the last time, and counters that were read with another's.
        self._profile_seconds = tools.profile_seconds
        self._counted: dict[str, Verdict] = {}
        self._can_begin: bool | None = None

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
        self._look_again()
        batch: list[Candidate] = []
        siblings: dict[int, Counter[str]] = defaultdict(Counter)
        for late in self._arrived(size // 2):
            siblings[late.parent.step.number][late.proposal.edit.kind] += 1
            self.tree.expect(late.parent, 1)
            batch.append(late)
        while len(batch) < size and (node := self._opening(len(batch)) or choose(self.tree)):
            taken = siblings[node.step.number]
            candidate = self._next(node, taken)
            if candidate is not None:
                taken[candidate.proposal.edit.kind] += 1
                self.tree.expect(node, 1)
                batch.append(candidate)
        for candidate in batch:
            self.tree.expect(candidate.parent, -1)
        return batch

    def one(
        self,
        choose: Choose,
        siblings: Mapping[int, Counter[str]],
        *,
        tuning: bool,
        late: bool,
    ) -> Candidate | None:
        """Choose the next candidate; `siblings` counts the kinds under evaluation, by parent."""
        self._look_again()
        found = self._arrived(1) if late else []
        if tuning and not found:
            found = self.tuned(1)
        while not found and (node := self._opening(0) or choose(self.tree)):
            candidate = self._next(node, siblings[node.step.number])
            found = [candidate] if candidate is not None else []
        return found[0] if found else None

    def _opening(self, chosen: int) -> Node | None:
        """Return a candidate that opens the way to a promising edit, for the first of a batch."""
        wanted = self.settings.openings and self.settings.strategy is Strategy.MCTS
        return self._openings.next() if wanted and chosen < EDITS else None

    def _told(self, node: Node) -> Sequence[Proposal]:
        """Return what the policy would say of a candidate, without asking for counters."""
        policy, step = self.tools.policy, node.step
        if not isinstance(policy, Foresighted):
            return ()
        seen = [f for detector in self._detectors for f in detector(step.kernel, step.verdict)]
        return policy.foresee(step, seen, self.settings.limit)

    def sent(self, candidate: Candidate) -> Asked | Verdict:
        """Send a candidate to the evaluator without waiting, or return why it may not run."""
        refused = self._refused(candidate.digest, candidate.kernel)
        return refused or Asked(self._screen([candidate.kernel]), 0)

    def follow(self, under: Sequence[Candidate]) -> None:
        """Have what comes behind the candidates of a window compiled."""
        told = [(one.parent, one.proposal.edit.kind) for one in under]
        self._ahead.follow(told, self._width() // 2)

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
        self._ahead.tuning = True
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
    ) -> Generator[tuple[Candidate, Verdict]]:
        """Yield each candidate with its verdict; those that may not run never meet the GPU.

        What is not looked at until this is closed is not run, unless that has begun.
        """
        refused = {c.digest: self._refused(c.digest, c.kernel) for c in batch}
        asked = {c.digest: self._ahead.take(c.digest) for c in batch}
        run = {c.digest: c.kernel for c in batch if not (refused[c.digest] or asked[c.digest])}
        fresh = self._screen(list(run.values())) if run else ()
        asked.update((digest, Asked(fresh, place)) for place, digest in enumerate(run))
        looked = set[str]()
        try:
            for done, candidate in enumerate(batch):
                rest = [one for c in batch[done:] if (one := asked[c.digest])]
                soon = sum(not one.ready for one in rest)
                late = self._late[: self.settings.batch // 2]
                self._ahead.fill(soon, left - len(batch), late)
                if self._begins:
                    self._ahead.prepare(late, min(self.settings.batch, left - len(batch)))
                looked.add(candidate.digest)
                known = asked[candidate.digest]
                verdict = refused[candidate.digest] or (known.verdict if known else None)
                if verdict is not None:
                    yield candidate, verdict
        finally:
            for digest, one in asked.items():
                if one is not None and digest not in looked:
                    one.cancel()

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

    def profile(self, node: Node, also: Node | None = None) -> None:
        """Read a candidate's counters and keep them in its verdict.

        Those of `also` are read along with it where a GPU reads them, since each session takes
        seconds to begin, and kept until they are asked for.
        """
        # What counters lead to has to be confirmed, too.
        left = self.meter.seconds_spare
        if self._in_time(node, left):
            both = 2 * self._profile_seconds <= left
            self._profiled(node, also if both else None, left)

    def _in_time(self, node: Node, left: float) -> bool:
        """Tell whether counters can be read in the seconds that are left; else say so, once."""
        known = node.step.kernel.digest in self._counted
        if known or self._profile_seconds <= left:
            return True
        if self._profiles_left > 0:
            self._notes.append(
                f"counters of step {node.step.number} were not read: {left:.0f} s were left, and "
                f"reading them takes about {self._profile_seconds:.0f} s"
            )
        self._profiles_left = 0
        return False

    def _profiled(self, node: Node, also: Node | None, left: float) -> None:
        step = node.step
        self._profiles_left -= 1
        self._profiled_gain = node.gain or 0.0
        seen = self._counted.pop(step.kernel.digest, None)
        if seen is None:
            self.on_event(Event(Stage.PROFILING, (step.number,)))
            seen = self._read(node, also, left)
        if not seen.counters:
            if seen.status is not Status.NOT_RECORDED:
                why = seen.log.strip().splitlines()
                self._notes.append(f"no counters: {why[0] if why else seen.status.value}")
            self._profiles_left = 0
            return
        node.step = replace(step, verdict=merged(step.verdict, seen))

    def _read(self, node: Node, also: Node | None, left: float) -> Verdict:
        """Ask for counters; have what will probably be tried next compiled meanwhile."""
        evaluator, began = self.tools.evaluator, self.meter.seconds
        nodes = [node]
        if self._begin_next([node, also] if also is not None else nodes) and also is not None:
            nodes.append(also)
        kernels = [one.step.kernel for one in nodes]
        if isinstance(evaluator, Punctual):
            evaluator.within(left)
        try:
            seen, *more = evaluator.evaluate(kernels, self.workload, Effort.PROFILE)
        except RunnerError as error:
            return Verdict(Status.CRASHED, log=error.message)
        self._profile_seconds = (self.meter.seconds - began) / len(nodes)
        self._counted.update(zip((kernel.digest for kernel in kernels[1:]), more, strict=True))
        return seen

    def _begin_next(self, nodes: Sequence[Node]) -> bool:
        """Have what will probably be tried next compiled: reading counters takes seconds.

        False where nothing can be begun ahead: no compiler and no GPU are behind it then.
        """
        if not self._begins:
            return False
        likely = [
            waiting.proposal.edit.apply(node.step.kernel)
            for node in nodes
            for waiting in self._foreseen(node)[: self.settings.batch]
        ]
        self._begin([kernel for kernel in likely if self._fit(kernel.digest, kernel)])
        return True

    @property
    def _begins(self) -> bool:
        """Tell whether something can be begun ahead; asked once."""
        if self._can_begin is None:
            evaluator, known = self.tools.evaluator, [self.tree.root.step.kernel]
            begun = isinstance(evaluator, Expectant) and evaluator.expect(known, self.workload)
            self._can_begin = begun
        return self._can_begin

    def explain(self, node: Node) -> None:
        """Read a winner's counters if that was not done, so that its gain can be explained."""
        known = self.tree.root.step.verdict.counters
        left = self.meter.until_overdue
        if known and left > 0 and not node.step.verdict.counters and self._in_time(node, left):
            with contextlib.suppress(KeyboardInterrupt):
                self._profiled(node, None, left)

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
        while not node.tunes:
            if not node.upcoming and not self._draw(node):
                return False
            node.tunes = [one for one in node.upcoming if one.digest not in self.seen]
            node.upcoming = []
        return True

    def _draw(self, node: Node) -> bool:
        """Draw the next constants to try from a candidate's tuner; False when none is left."""
        if node.tuner is None:
            node.tuner = iter(self._tune(node.step.kernel, node.step.findings))
        edits = list(itertools.islice(node.tuner, TUNES_AT_ONCE))
        prior = self.settings.tune_prior
        # The tuner names the most likely first: a block's shape before a loop's unroll factor.
        ordered = [Proposal(edit, prior * TUNE_DECAY**rank) for rank, edit in enumerate(edits)]
        node.upcoming = self._waiting(node, ordered)
        return bool(edits)

    def _foreseen(self, node: Node) -> Sequence[Waiting]:
        """Return from what the next edit of a candidate will be taken, as far as is known ahead.

        Nothing that the search does later depends on whether this was asked.
        """
        if node.queue:
            return node.queue
        policy = self.tools.policy
        if not node.asked and isinstance(policy, Foresighted) and not node.dry:
            return self._waiting(node, self._told(node))
        if node.asked and not node.tunes and not node.upcoming:
            self._draw_ahead(node)
        return node.tunes or node.upcoming

    def _draw_ahead(self, node: Node) -> None:
        """Draw constants before they are asked for; not while counters may still order them."""
        if self.settings.tune and node is not self._unprofiled:
            self._draw(node)

    def _tunes(self, node: Node) -> Iterator[Sequence[Waiting]]:
        """Yield the constants to try next at a candidate, those that are drawn and the next ones.

        Nothing that the search does later depends on whether this was asked.
        """
        yield node.tunes
        if not node.upcoming:
            self._draw_ahead(node)
        yield node.upcoming

    def _candidate(self, node: Node, waiting: Waiting) -> Candidate:
        self.seen.add(waiting.digest)
        kernel = waiting.proposal.edit.apply(node.step.kernel)
        return Candidate(node, waiting.proposal, kernel, waiting.digest)

    def _ask(self, node: Node) -> None:
        """Fill a candidate's queue from the policy, with fresh counters where it matters."""
        if not node.asked:
            step_up = math.log(self.settings.profile_step)
            if self._profiles_left > 0 and (node.gain or 0.0) >= self._profiled_gain + step_up:
                if self._can_wait(node):
                    self._unprofiled = node
                else:
                    self.profile(node)
            self.find(node)
        node.asked = True
        if node.dry:
            return
        step, policy, limit = node.step, self.tools.policy, self.settings.limit
        if self._unprofiled is node and isinstance(policy, Foresighted):
            # What is said for good, and asked of a model, is so when the counters are known.
            proposals = policy.foresee(step, step.findings, limit)
        else:
            proposals = policy.propose(step, step.findings, limit)
        node.queue.extend(self._waiting(node, proposals))

    def _can_wait(self, node: Node) -> bool:
        """Tell whether counters come after the first batch.

        Reading them takes longer than the first candidate does, and what is tried first mostly
        follows from the source, resources and SASS.
        """
        alone = node is self.tree.root and len(self.tree.nodes) == 1
        return alone and isinstance(self.tools.policy, Foresighted)

    def _next_profiled(self) -> Node | None:
        """Return the candidate whose counters will be wanted right behind the unedited kernel's."""
        top = self.tree.top
        if self._profiles_left < 2 or top.asked or top.leaf:
            return None
        return top if (top.gain or 0.0) >= math.log(self.settings.profile_step) else None

    def _look_again(self) -> None:
        """Read the counters that had to wait, and weigh anew what waits at that candidate."""
        node, policy = self._unprofiled, self.tools.policy
        if node is None or len(self.tree.nodes) == 1:
            return
        self.profile(node, self._next_profiled())
        found = self.find(node)
        self._unprofiled = None
        if not node.leaf:
            late = {waiting.digest for _, waiting in self._late}
            kept = [waiting for waiting in node.queue if waiting.digest in late]
            anew = self._waiting(node, policy.propose(node.step, found, self.settings.limit))
            node.queue = [*kept, *(waiting for waiting in anew if waiting.digest not in late)]
            if node.queue:
                self.tree.revive(node)  # it may have been done with what was seen without them

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

    def _refused(self, digest: str, kernel: Kernel) -> Verdict | None:
        """Return the verdict on a candidate that may not run: outside the boundary, or blocked."""
        if digest not in self._refusals:
            self._refusals[digest] = self._looked_at(kernel)
        return self._refusals[digest]

    def _fit(self, digest: str, kernel: Kernel) -> bool:
        return digest not in self.seen and self._refused(digest, kernel) is None

    def _looked_at(self, kernel: Kernel) -> Verdict | None:
        outside = self._outside(kernel.source)
        if outside:
            return Verdict(Status.REJECTED, log="\n".join(outside))
        for detector in self._detectors:
            for finding in detector(kernel, None):
                if finding.blocking:
                    return Verdict(Status.REJECTED, log=f"{finding.detector}: {finding.message}")
        return None

    def _screen(self, kernels: Sequence[Kernel]) -> Sequence[Verdict]:
        return self.tools.evaluator.evaluate(kernels, self.workload, Effort.SCREEN)

    def _begin(self, kernels: Sequence[Kernel]) -> None:
        evaluator = self.tools.evaluator
        if isinstance(evaluator, Expectant):
            evaluator.expect(kernels, self.workload)

    def _width(self) -> int:
        width = self.tools.width
        return width if isinstance(width, int) else width()


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
