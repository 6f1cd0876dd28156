"""The last part of a search for energy: who takes least, without giving up what else is certain.

`time-then-energy` begins where a search for time ends. A rival takes the winner's place when the
speedup that is certain of it is no smaller, and its energy certainly is. `energy` offers what takes
least and is certainly no slower than the original. Nothing is offered on an energy that was not
measured, or that a few seconds' weighing alone speaks for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from optimizer.energy import energy_of, saving, saving_interval, uses_less
from optimizer.errors import BaselineError, RunnerError
from optimizer.finals import CLOSE, Final, bias, may_be_offered, refusal, stricter
from optimizer.model import Effort, Objective, Status, Step, Verdict
from optimizer.significance import NOISE_FLOOR, interval, slower_cases, speedup
from optimizer.tools import Event, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from optimizer.finals import Finals
    from optimizer.model import Acceptance, Energy, Kernel, Measurement
    from optimizer.tree import Tree

# So many are weighed, some 5 s each: more of them are rarely as fast as the winner.
WEIGHED = 5
# A weighing of two pairs of 0.8 s is good to about a per cent.
WORTH = 1.01
# Energies of so many rivals are read for certain, 40 s a case each.
RIVALS = 2
# Not recorded says nothing against a candidate, and nothing for it.
UNKNOWN = (Status.CORRECT, Status.NOT_RECORDED)


def thriftiest(finals: Finals, final: Final, aa: Measurement | None, *, hurry: bool) -> Final:
    """Return who is offered by the objective; `final` is what time alone would offer.

    Nothing is measured in a hurry. What ends the measuring ends no more than that.
    """
    thrift = Thrift(finals, aa)
    why = "interrupted"
    if not hurry:
        try:
            energy = finals.settings.objective is Objective.ENERGY
            return thrift.least() if energy else thrift.settled(final)
        except KeyboardInterrupt:
            pass
        except (RunnerError, BaselineError) as error:
            why = error.message
    if thrift.found is not None:
        notes = (*thrift.notes, f"what weighed less was not confirmed: {why}")
        return replace(thrift.found, notes=notes)
    notes = (*final.notes, *thrift.notes, f"energy was not measured: {why}")
    return replace(final, notes=notes)


def weighed(
    tree: Tree,
    judge: Callable[[Kernel, Effort], Verdict],
    kernel: Kernel,
    verdict: Verdict,
    *,
    known: bool,
) -> Verdict:
    """Return a candidate's verdict with its energy, where it is close to the fastest or above.

    Of others, and of machine code that is `known`, energy is guessed from the time: reading the
    counter takes seconds.
    """
    fast = speedup(verdict.measurement) if verdict.status is Status.CORRECT else None
    best = max(node.gain for node in tree.nodes if node.gain is not None)
    if known or fast is None or fast * CLOSE < math.exp(best):
        return verdict
    seen = judge(kernel, Effort.WEIGH)
    # What is wrong only when it is repeated is wrong.
    return joined(verdict, seen) if seen.status in UNKNOWN else seen


class Thrift:
    """Weighs what `finals` know of. `aa` is the baseline timed against itself."""

    def __init__(self, finals: Finals, aa: Measurement | None) -> None:
        self.finals, self.tree = finals, finals.tree
        self.accept, self.off = finals.accept, bias(aa, finals.accept)
        self.notes: list[str] = []
        self.found: Final | None = None

    def settled(self, final: Final) -> Final:
        """Return the winner for time, or what is as fast for less energy, its energy measured."""
        winner = self.tree.nodes[final.winner].step if final.winner else None
        rivals = self.rivals(winner)
        found = self.weighed([*([winner] if winner else []), *rivals])
        if winner and winner.number not in found:
            return replace(final, notes=(*final.notes, *self.notes))
        own = saving(found[winner.number]) or 1.0 if winner else 1.0
        better = [step for step in rivals if (saving(found.get(step.number)) or 0.0) > own * WORTH]
        better.sort(key=lambda step: -(saving(found[step.number]) or 0.0))
        mine: Verdict | None = None
        if winner and final.confirmation:
            mine = self.read(winner)
            if mine.status not in UNKNOWN:
                self.notes.append(f"step {winner.number} failed in the end: {mine.status.value}")
                return Final(notes=(*final.notes, *self.notes))
            final = replace(final, confirmation=joined(final.confirmation, mine))
        for step in better[:RIVALS]:
            if self.finals.meter.overtime:
                break
            taken = self.instead(step, final, len(better[:RIVALS]) + 1)
            if taken is not None:
                return replace(taken, notes=(*final.notes, *self.notes))
        return replace(final, notes=(*final.notes, *self.notes))

    def instead(self, step: Step, final: Final, attempts: int) -> Final | None:
        """Return a rival confirmed in the winner's place; None when it does not hold."""
        accept = stricter(self.accept, attempts, self.off)
        verdict = self.confirmed(step)
        baseline = self.tree.root.step.verdict
        if final.winner:
            refused = refusal(step, verdict, baseline, accept)
        else:
            refused = self.slower(step, verdict, baseline, accept)
        if refused:
            self.notes.append(refused)
            return None
        certain = least(verdict, self.accept)
        kept = least(final.confirmation, self.accept) if final.winner else 1.0
        if certain < kept:
            self.notes.append(
                f"step {step.number} takes less energy, but {certain:.3f}× is certain of its speed"
                f" and {kept:.3f}× was before"
            )
            return None
        seen = self.read(step)
        energy = energy_of(seen.measurement) if seen.status is Status.CORRECT else None
        before = final.confirmation.measurement if final.winner and final.confirmation else None
        if final.winner:
            holds = uses_less(energy, energy_of(before), accept.confidence)
        else:
            holds = enough(energy, accept)
        if not holds:
            self.notes.append(f"step {step.number} was not confirmed to take less energy")
            return None
        if final.winner:
            share = (saving(energy_of(before)) or 1.0) / (saving(energy) or 1.0)
            self.notes.append(
                f"step {final.winner} was the fastest; step {step.number} is as fast and takes "
                f"{100 * (1 - share):.1f} % less energy"
            )
        return Final(step.number, joined(verdict, seen))

    def least(self) -> Final:
        """Return what takes least energy and is certainly no slower than the original."""
        pool = self.rivals(None, most=2 * WEIGHED)
        known = {s.number: e for s in pool if (e := energy_of(s.verdict.measurement)) is not None}
        fresh = [step for step in pool if step.number not in known][:WEIGHED]
        known |= self.weighed(fresh) if fresh else {}
        ranked = [s for s in pool if (saving(known.get(s.number)) or 0.0) > self.accept.min_speedup]
        ranked.sort(key=lambda step: -(saving(known[step.number]) or 0.0))
        raced = ranked[: self.finals.settings.confirmations]
        accept = stricter(self.accept, max(1, len(raced)), self.off)
        least_so_far = 0.0
        for step in raced:
            # A weighing that was off puts one first that falls short of what others weighed.
            if (saving(known[step.number]) or 0.0) <= least_so_far * WORTH:
                break
            verdict = self.confirmed(step)
            refused = self.slower(step, verdict, self.tree.root.step.verdict, accept)
            if not refused:
                seen = self.read(step)
                energy = energy_of(seen.measurement) if seen.status is Status.CORRECT else None
                own = saving(energy) or 0.0
                if not enough(energy, accept):
                    refused = f"step {step.number} was not confirmed to take less energy"
                elif own > least_so_far:
                    self.found, least_so_far = Final(step.number, joined(verdict, seen)), own
            if refused:
                self.notes.append(refused)
            if self.finals.meter.overtime:
                break
        return replace(self.found or Final(), notes=tuple(self.notes))

    def rivals(self, winner: Step | None, most: int = WEIGHED) -> list[Step]:
        """Return candidates about as fast as the winner, or at least as the original; best first.

        Under `energy` those come first that are known to take least.
        """
        root = self.tree.root.step.verdict
        fast = speedup(winner.verdict.measurement) if winner else None
        floor = (fast or 1.0) / CLOSE if winner else 1.0 - NOISE_FLOOR
        found = []
        for node in self.tree.nodes[1:]:
            step = node.step
            gain = speedup(step.verdict.measurement)
            same = winner is not None and step.verdict.machine_code == winner.verdict.machine_code
            if gain is None or gain < floor or step.same_as is not None or step is winner or same:
                continue
            if may_be_offered(step.verdict, root, self.accept):
                known = saving(energy_of(step.verdict.measurement))
                found.append((known if known is not None and not winner else gain, step))
        found.sort(key=lambda pair: (-pair[0], pair[1].number))
        return [step for _, step in found[:most]]

    def weighed(self, steps: Sequence[Step]) -> dict[int, Energy]:
        """Return what is known of some candidates' energy after a few seconds each."""
        if not steps:
            return {}
        self.finals.on_event(Event(Stage.WEIGHING, tuple(step.number for step in steps)))
        kernels = [step.kernel for step in steps]
        verdicts = self.finals.evaluator.evaluate(kernels, self.finals.workload, Effort.WEIGH)
        found: dict[int, Energy] = {}
        for step, verdict in zip(steps, verdicts, strict=True):
            node = self.tree.nodes[step.number]
            node.step = replace(node.step, verdict=joined(node.step.verdict, verdict))
            energy = energy_of(verdict.measurement) if verdict.status is Status.CORRECT else None
            if energy is not None:
                found[step.number] = energy
            else:
                self._not_measured(verdict)
        return found

    def confirmed(self, step: Step) -> Verdict:
        """Return a verdict in a fresh process."""
        self.finals.on_event(Event(Stage.CONFIRMING, (step.number,)))
        evaluate = self.finals.evaluator.evaluate
        (verdict,) = evaluate([step.kernel], self.finals.workload, Effort.CONFIRM)
        return verdict

    def read(self, step: Step) -> Verdict:
        """Return a verdict with the energy that may be claimed."""
        self.finals.on_event(Event(Stage.WEIGHING, (step.number,)))
        evaluate = self.finals.evaluator.evaluate
        (verdict,) = evaluate([step.kernel], self.finals.workload, Effort.ENERGY)
        if energy_of(verdict.measurement) is None:
            self._not_measured(verdict)
        return verdict

    @staticmethod
    def slower(step: Step, verdict: Verdict, baseline: Verdict, accept: Acceptance) -> str:
        """Return why a confirmation does not show that nothing got slower; empty when it does."""
        name = f"step {step.number}"
        if verdict.status is not Status.CORRECT or verdict.measurement is None:
            return f"{name} did not hold in a fresh process: {verdict.status.value}"
        if not may_be_offered(verdict, baseline, accept):
            return f"{name} exceeds the limit on registers or memory, or its memory is not known"
        seen = interval(verdict.measurement, accept.confidence)
        worse = slower_cases(verdict.measurement, accept.confidence)
        if seen is None or seen.low < 1.0 - NOISE_FLOOR or worse:
            return f"{name} is not certainly as fast as the original: {seen or 'not timed'}"
        return ""

    def _not_measured(self, verdict: Verdict) -> None:
        found = verdict.measurement.energy if verdict.measurement else None
        why = found.unavailable if found else verdict.status.value
        note = f"energy was not measured: {why or 'the runner does not say why'}"
        if note not in self.notes:
            self.notes.append(note)


def enough(energy: Energy | None, accept: Acceptance) -> bool:
    """Tell whether a saving is certainly as large as what is accepted as a speedup."""
    found = saving_interval(energy, accept.confidence)
    return found is not None and found.low > accept.min_speedup


def least(verdict: Verdict | None, accept: Acceptance) -> float:
    """Return the speedup that is certain of a verdict; 0 of none."""
    seen = interval(verdict.measurement if verdict else None, accept.confidence)
    return seen.low if seen is not None else 0.0


def joined(verdict: Verdict, weighed: Verdict) -> Verdict:
    """Return a verdict with the energy that another one of the same candidate measured."""
    found = weighed.measurement.energy if weighed.measurement else None
    if verdict.measurement is None or found is None:
        return verdict
    return replace(verdict, measurement=replace(verdict.measurement, energy=found))
