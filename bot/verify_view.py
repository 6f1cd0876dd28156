"""What `optiml verify` says: a line for each thing that is known, a table, and why not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import agent_words, wording
from bot.console import cases_json, launch_change, ratio_json
from bot.markdown import visible
from bot.outcome import worst_error
from bot.verification import Answer, State, Verified
from optimizer.model import Status

_STYLES = {
    State.VERIFIED: "bold green",
    State.REFUSED: "bold red",
    State.UNCHANGED: "dim",
    State.NOT_RECORDED: "yellow",
    State.NOT_JUDGED: "yellow",
}
_HINTS = {
    **agent_words.NEXT,
    Status.REJECTED: "device code and launch geometry may change, and host code only where "
    "`.optiml.yml` says `edit: host`",
    Status.DOES_NOT_COMPILE: "it is built in the place of the original, with its flags and folders "
    "of headers: mend the lines named",
    Status.NOT_RECORDED: "verdicts come from a recording: leave --replay out on a machine with a "
    "GPU, and --record keeps what is seen there",
}


class Telling:
    """Says what is known as soon as it is, a line each; on a terminal, what is done now as well."""

    def __init__(
        self, console: Console, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._name, self._clock = console, name, clock
        self._began = clock()
        self._status = console.status(Text(visible(name))) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def stage(self, words: str) -> None:
        """Say what is done from now on."""
        if self._status is not None:
            self._status.update(Text(visible(f"{self._name}: {words}")))
        else:
            self.found(words)

    def found(self, words: str) -> None:
        """Say what is known of a candidate."""
        spent = wording.seconds(self._clock() - self._began)
        line = Text(visible(f"[{spent}] {self._name}: {words}"))
        self._console.print(line, soft_wrap=True)


def show(console: Console, seen: Verified) -> None:
    """Print the table, then what there is to say of each candidate, and the files written."""
    workload, environment = seen.order.workload, seen.trajectory.environment
    right = sum(one.state is State.VERIFIED for one in seen.answers)
    faster = sum(one.faster for one in seen.answers)
    title = f"{workload.name}: {right} of {wording.count(len(seen.answers), 'candidate')} verified"
    title += f", {faster} faster, on {environment.gpu or 'an unnamed GPU'}"
    console.print(Text(visible(title), style="bold"), soft_wrap=True)
    if environment.recorded:
        console.print(Text(visible(environment.recorded), style="cyan"))
    console.print(_table(seen))
    for one in seen.answers:
        for text in _details(one):
            console.print(text, soft_wrap=True)
    change = launch_change(seen.order.kernel.launch, seen.order.launch)
    if change:
        console.print(Text(change, style="bold"), soft_wrap=True)
    for note in seen.trajectory.notes:
        console.print(Text(visible(f"note: {note}"), style="yellow"), soft_wrap=True)
    for path in seen.files.values():
        console.print(Text.assemble(("wrote ", "dim"), str(path)), soft_wrap=True)


def _table(seen: Verified) -> Table:
    level = f"{seen.order.workload.accept.confidence * 100:g} % interval"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("candidate", overflow="fold")
    table.add_column("verdict")
    table.add_column("speedup", justify="right")
    table.add_column(level, justify="right")
    table.add_column("why", overflow="fold")
    for one in seen.answers:
        ratio = one.ratio
        table.add_row(
            Text(visible(one.name)),
            Text(_verdict(one), style=_STYLES[one.state]),
            Text(wording.times(ratio.value) if ratio else "–", style="bold" if one.faster else ""),
            ratio.span if ratio else "–",
            Text(visible(f"{one.layer}: {one.why}" if one.layer else one.why)),
        )
    return table


def _verdict(one: Answer) -> str:
    if one.state is not State.VERIFIED:
        return one.state.value
    return "verified, faster" if one.faster else "verified"


def _details(one: Answer) -> Iterator[Text]:
    """Yield what the table has no room for: cases, limits and notes, or a failure in full."""
    step, name = one.judged, visible(one.name)
    if step is None or one.state not in {State.VERIFIED, State.REFUSED, State.NOT_RECORDED}:
        return
    if one.state is State.VERIFIED:
        said = _checked(one)
        yield Text.assemble((name, "bold"), f": {visible(said)}")
        for case in one.cases:
            before, after = wording.micros(case.before_us), wording.micros(case.after_us)
            yield Text(visible(f"  {case.name}: {before} → {after}, {case.ratio}"))
        for words in one.limits:
            yield Text(visible(f"  its limit: {words}"), style="yellow")
        for words in one.notes:
            yield Text(visible(f"  note: {words}"), style="yellow")
        return
    where = f" in the {one.stage}" if one.stage else ""
    yield Text.assemble((name, "bold"), f": {step.verdict.status.value}{where}")
    for line in agent_words.failure(step) if one.state is State.REFUSED else ():
        yield Text(visible(line))
    yield Text(f"  → {_HINTS[step.verdict.status]}", style="dim")


def _checked(one: Answer) -> str:
    """Say what was checked of a verified candidate, in the screening and in the fresh process."""
    checks = [check for found in (one.step, one.judged) if found for check in found.verdict.checks]
    worst = worst_error(checks)
    said = f"{wording.count(len(checks), 'check')} passed"
    if worst is not None and worst.bound:
        said += f", {wording.closest(worst)} ({wording.place(worst)})"
    return said


def as_json(seen: Verified) -> dict[str, object]:
    """Return what was found for machines: times in µs, ratios with bounds."""
    trajectory, workload = seen.trajectory, seen.order.workload
    return {
        "kernel": seen.order.kernel.name,
        "file": seen.order.kernel.path,
        "gpu": trajectory.environment.gpu,
        "recorded": trajectory.environment.recorded or None,
        "confidence": workload.accept.confidence,
        "seed": trajectory.environment.seed,
        "launch": launch_change(seen.order.kernel.launch, seen.order.launch) or None,
        "candidates": [_candidate(one) for one in seen.answers],
        "notes": list(trajectory.notes),
        "files": {name: str(path) for name, path in seen.files.items()},
    }


def _candidate(one: Answer) -> dict[str, object]:
    verdict = one.verdict
    refused = one.state is State.REFUSED
    return {
        "file": one.name,
        "state": one.state.value,
        "faster": one.faster,
        "status": verdict.status.value if verdict else None,
        "stage": one.stage or None,
        "layer": one.layer or None,
        "why": one.why or None,
        "log": verdict.log if verdict is not None and refused else None,
        "speedup": ratio_json(one.ratio),
        "cases": cases_json(one.cases),
        "limits": list(one.limits),
        "notes": list(one.notes),
    }
