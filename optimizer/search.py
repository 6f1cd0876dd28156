"""Monte Carlo tree search over edits: select, propose, evaluate, back up; then race and confirm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from optimizer import headstart
from optimizer.baseline import Baseline
from optimizer.budget import (
    DEFAULT_BUDGET,
    DEFAULT_SETTINGS,
    Budget,
    Meter,
    SearchSettings,
    Stopped,
)
from optimizer.dialogue import NOTHING_USED
from optimizer.ending import ending
from optimizer.errors import BaselineError, RunnerError
from optimizer.expansion import Candidate, Expansion
from optimizer.finals import Final, Finals
from optimizer.judge import LateJudge
from optimizer.ledger import Ledger
from optimizer.model import (
    Effort,
    Environment,
    Kernel,
    Kind,
    Objective,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.reward import CompositeReward, changed_lines, judged, reading
from optimizer.rolling import Rolling
from optimizer.shortening import Shortening
from optimizer.significance import speedup
from optimizer.strategies import chooser
from optimizer.sweeps import fewer_sweeps
from optimizer.thrift import thriftiest, weighed
from optimizer.tools import Event, Stage, Tools, ignore
from optimizer.tree import Node, Tree

if TYPE_CHECKING:
    pass

__all__ = ["Budget", "Event", "SearchSettings", "Stage", "Stopped", "Tools", "search"]

# These never reached a GPU and cost no evaluation.
FREE = (Status.REJECTED, Status.NOT_RECORDED)
_NOWHERE = Environment()
LOOKED_ONCE = (
    "no time was left to compare the original with itself in full: what its first runs say stands"
)


def search(
    kernel: Kernel,
    workload: Workload,
    tools: Tools,
    budget: Budget = DEFAULT_BUDGET,
    on_step: Callable[[Step], None] = ignore,
    *,
    on_event: Callable[[Event], None] = ignore,
    settings: SearchSettings = DEFAULT_SETTINGS,
    environment: Environment = _NOWHERE,
    resume: Trajectory | None = None,
) -> Trajectory:
    """Return every candidate tried, the unedited kernel first, and the one that is offered.

    `on_step` hears of each new step as soon as its verdict is in, `on_event` of each stage.
    `resume` takes up an earlier trajectory of the same kernel, whose evaluations count. Races and
    confirmations measure known candidates again and do not count. Deterministic for a seed and a
    recording: the clock decides nothing but the minutes rule. Ctrl-C and a runner that fails end
    the search, not the result. Raises `BaselineError` when the unedited kernel fails.
    """
    meter = Meter(budget, tools.clock, lambda: tools.used().usd)
    run = Run(kernel, workload, tools, meter, settings)
    run.on_step, run.on_event = on_step, on_event
    run.begin(resume)
    try:
        with fewer_sweeps():
            stopped = run.loop()
    except KeyboardInterrupt:
        stopped = Stopped.INTERRUPTED
    except RunnerError as error:
        stopped = Stopped.RUNNER
        run.notes.append(f"the runner failed: {error.message}")
    finally:
        tools.done()
    final = run.finish(stopped)
    return Trajectory(
        workload=workload,
        environment=replace(
            environment,
            seed=settings.seed,
            strategy=settings.strategy.value,
            objective=settings.objective.value,
            window=settings.window,
            budget=budget.limits,
        ),
        steps=tuple(node.step for node in run.tree.nodes),
        winner=final.winner,
        confirmation=final.confirmation,
        aa=run.baseline.aa,
        stopped=stopped.value,
        notes=tuple(dict.fromkeys((*run.notes, *run.expansion.notes, *final.notes))),
        spent=run.spent_before + tools.used(),
    )


class Run:
    """One search under way. The steps live in the tree's nodes, by number.

    `bot.agent_session` drives one by hand.
    """

    on_step: Callable[[Step], None]
    on_event: Callable[[Event], None]
    tree: Tree
    expansion: Expansion

    def __init__(
        self, kernel: Kernel, workload: Workload, tools: Tools, meter: Meter, cfg: SearchSettings
    ) -> None:
        # A kernel object of our own: policies tell one search from the next by it.
        self.kernel, self.workload, self.tools = replace(kernel), workload, tools
        self.meter, self.settings, self.ledger = meter, cfg, Ledger(cfg)
        self.reward = tools.reward or CompositeReward(
            workload.accept, tools.headroom, cfg.objective
        )
        self.codes: dict[str, int] = {}
        self.notes: list[str] = []
        self.baseline = Baseline(self.kernel, workload, self.one, self.notes)
        self.usd_booked = 0.0
        self.spent_before = NOTHING_USED

    def begin(self, resume: Trajectory | None) -> None:
        """Measure the unedited kernel against itself, or take up an earlier search."""
        if resume is None:
            self.on_event(Event(Stage.BASELINE, (0,), self.meter.left))
            headstart.begin(self.kernel, self.workload, self.tools, self.settings)
            verdict = self.baseline.measure()
            self.meter.keep_for_confirming(self.meter.seconds)
            first = Step(0, None, None, self.kernel, verdict, at_seconds=self.meter.seconds)
            self.on_step(first)
        else:
            first = replace(resume.baseline, kernel=self.kernel)
            self.baseline.aa = resume.aa
            self.notes += resume.notes
            self.spent_before = resume.spending
            self.meter.already_usd -= self.spent_before.usd
            self.usd_booked = self.spent_before.usd
        self.meter.evaluations += 1
        if self.workload.kind is Kind.PROGRAM:
            self.meter.keep(ending(first.verdict, self.workload.kind).reserve)
        if self.settings.objective is not Objective.TIME:
            self.meter.hopeful = True  # what is no faster may take less energy
            self.meter.keep_for_weighing(sum(case.time for case in self.workload.cases))
        if self.settings.shorten:
            self.meter.keep_for_shortening()
        self.tree = Tree(first, self.settings, self.ledger)
        self.expansion = Expansion(
            self.tree, self.tools, self.settings, self.workload, self.on_event, self.meter
        )
        self.codes[first.verdict.machine_code] = 0
        if self.expansion.late:
            self.expansion.late.observe(first)
        for step in resume.steps[1:] if resume else ():
            self.grow(step)

    def loop(self) -> Stopped:
        """Select, propose, evaluate, back up until a rule says stop."""
        choose = chooser(self.settings.strategy, self.settings.seed)
        if self.settings.window:
            return self.roll(Rolling(self.tree, self.expansion, choose))
        while (stopped := self.stop()) is None:
            self.expansion.deliver()
            self.revise()
            tuning = self.settings.tune and self.meter.share_left <= self.settings.tune_share
            self.on_event(Event(Stage.TUNING if tuning else Stage.SEARCHING, (), self.meter.left))
            size = min(self.settings.batch, self.meter.left)
            batch = self.expansion.tuned(size) if tuning else []
            batch += self.expansion.chosen(choose, size - len(batch))
            if batch:
                self.evaluate(batch)
            elif not self.expansion.deliver(self.meter.seconds_left):
                return Stopped.MONEY if self.tools.broke() else Stopped.EXHAUSTED
        return stopped

    def roll(self, window: Rolling) -> Stopped:
        """Keep a window full: judge the oldest candidate, back up, choose the next one."""
        settings, meter = self.settings, self.meter
        while (stopped := self.stop()) is None:
            while len(window) < min(settings.window, meter.left):
                self.expansion.deliver()
                self.revise()
                rest = (meter.left - len(window)) / max(1, meter.budget.evaluations)
                tuning = settings.tune and min(meter.share_left, rest) <= settings.tune_share
                stage = Stage.TUNING if tuning else Stage.SEARCHING
                if not window.add(tuning=tuning):
                    break
                self.on_event(Event(stage, (), meter.left))
            if window:
                candidate, verdict = window.next()
                self.judge(candidate, candidate.parent.step, verdict)
            elif not self.expansion.deliver(meter.seconds_left):
                return Stopped.MONEY if self.tools.broke() else Stopped.EXHAUSTED
        return stopped

    def stop(self) -> Stopped | None:
        """Return the rule that says stop: no headroom above the best, or the budget."""
        headroom = self.tools.headroom(self.tree.top.step.verdict)
        if headroom is not None and headroom < self.settings.least_headroom:
            return Stopped.HEADROOM
        return self.meter.exceeded()

    def evaluate(self, batch: Sequence[Candidate]) -> None:
        """Get the verdicts of a batch, judge and reward them, and grow the tree by them.

        When the minutes are over the rest of it is not waited for.
        """
        with closing(self.expansion.verdicts(batch, self.meter.left)) as verdicts:
            for candidate, verdict in verdicts:
                self.judge(candidate, candidate.parent.step, verdict)
                if self.meter.late:
                    return

    def judge(self, candidate: Candidate, parent: Step, verdict: Verdict) -> Node:
        """Judge and reward one verdict and grow the tree by it, below `parent`."""
        baseline, edit = self.tree.root.step, candidate.proposal.edit
        if self.settings.objective is Objective.ENERGY:
            known = self.twin(verdict) is not None
            verdict = weighed(self.tree, self.one, candidate.kernel, verdict, known=known)
        opinion = self.tools.judge(parent, parent.findings, edit, verdict)
        reward = self.reward(verdict, baseline.verdict)
        effect = judged(opinion.score) if verdict.status is Status.CORRECT else 0.0
        if verdict.status is Status.CORRECT:
            reward += effect - reading(changed_lines(baseline.kernel, candidate.kernel))
        step = Step(
            number=len(self.tree.nodes),
            parent=parent.number,
            edit=edit,
            kernel=candidate.kernel,
            verdict=verdict,
            reward=reward,
            prior=candidate.proposal.prior,
            judge=opinion.score,
            judge_reason=opinion.reason,
            judge_author=opinion.author,
            judge_effect=effect,
            same_as=self.twin(verdict),
            at_seconds=self.meter.seconds,
            usd=self.meter.usd - self.usd_booked,
        )
        self.usd_booked += step.usd
        node = self.grow(step)
        self.on_step(step)
        if isinstance(self.tools.judge, LateJudge):
            self.tools.judge.watch(step, parent)
        return node

    def revise(self) -> None:
        """Put opinions that came later in the place of the first ones."""
        if not isinstance(self.tools.judge, LateJudge):
            return
        for number, opinion in self.tools.judge.revised():
            node = self.tree.nodes[number]
            effect = judged(opinion.score)
            reward = node.step.reward - node.step.judge_effect + effect
            revised = replace(
                node.step,
                reward=reward,
                judge=opinion.score,
                judge_reason=opinion.reason,
                judge_author=opinion.author,
                judge_effect=effect,
            )
            self.tree.revalue(node, revised)

    def twin(self, verdict: Verdict) -> int | None:
        """Return the first step with the same machine code."""
        known = verdict.status is Status.CORRECT and verdict.machine_code
        return self.codes.get(verdict.machine_code) if known else None

    def grow(self, step: Step) -> Node:
        """Hang a step into the tree and learn from it."""
        parent, verdict = self.tree.nodes[step.parent or 0], step.verdict
        fast = speedup(verdict.measurement) if verdict.status is Status.CORRECT else None
        gain = math.log(fast) if fast else None
        headroom = self.tools.headroom(verdict) if gain is not None else None
        spent = headroom is not None and headroom < self.settings.least_headroom
        node = self.tree.add(parent, step, gain, leaf=spent and self.settings.prune)
        self.expansion.seen.add(step.kernel.digest)
        self.meter.evaluations += verdict.status not in FREE
        if gain is not None and gain > math.log(self.workload.accept.min_speedup):
            self.meter.hopeful = True
        if gain is not None and verdict.machine_code:
            self.codes.setdefault(verdict.machine_code, step.number)
        if step.edit is not None and verdict.status is not Status.NOT_RECORDED:
            self.ledger.note(step.edit, None if gain is None else gain - (parent.gain or 0.0))
        if self.expansion.late:
            self.expansion.late.observe(step)
        return node

    def finish(self, stopped: Stopped) -> Final:
        """Race, shorten, confirm; after Ctrl-C confirm the best alone, unless there is a second."""
        last = Finals(self.tree, self.tools.evaluator, self.workload, self.meter, self.settings)
        last.on_event = self.on_event
        hurry = stopped is Stopped.INTERRUPTED
        try:
            final = self.fastest(last, hurry=hurry)
        except KeyboardInterrupt:
            return Final(notes=("the best candidate was not confirmed: interrupted",))
        except (RunnerError, BaselineError) as error:
            return Final(notes=(f"the best candidate was not confirmed: {error.message}",))
        if self.settings.objective is not Objective.TIME:
            final = thriftiest(last, final, self.baseline.aa, hurry=hurry)
        if final.winner is not None:
            winner = self.tree.nodes[final.winner]
            if self.settings.profile and self.tools.profile and not hurry:
                self.expansion.explain(winner)
            self.expansion.find(winner)
        return final

    def fastest(self, last: Finals, *, hurry: bool) -> Final:
        """Return the fastest that holds; under `energy` only make the best shorter."""
        energy = self.settings.objective is Objective.ENERGY
        ranked = last.ranked(hurry=hurry or energy)
        if ranked and self.settings.shorten and not hurry:
            shortening = Shortening(
                self.tree, self.expansion, self.meter, self.judge, last.ending.confirm
            )
            ranked = shortening.shortened(ranked)
        if ranked and self.baseline.compares_last:
            if last.has_time_to_compare:
                self.baseline.compare()
            else:
                self.notes.append(LOOKED_ONCE)
        return Final() if energy else last.confirm(ranked, self.baseline.aa)

    def one(self, kernel: Kernel, effort: Effort) -> Verdict:
        """Return the verdict on one kernel."""
        (verdict,) = self.tools.evaluator.evaluate([kernel], self.workload, effort)
        return verdict
