"""What is shown of a synthesis while it runs and at its end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bot import console, settings, synth, wording
from bot.progress import Progress
from bot.wiring import Workshop
from optimizer.model import Status
from optimizer.synthesis.mixture import Attempt


@dataclass(frozen=True, slots=True)
class Order:
    """What the command line asked for."""

    description: str
    project: Path
    workload: str
    flags: Mapping[str, object]
    replay: Path | None
    record: Path | None
    command: str
    unverified: bool
    own_folder: bool


def synthesized(order: Order, shown: Console) -> synth.Made:
    """Write, verify and optimize, and show how it goes."""
    asked = synth.wish(
        order.description, order.project, order.workload, unverified=order.unverified
    )
    chosen = settings.load(order.flags, asked.config.given())
    folder = Path(chosen.out)
    folder = folder / asked.workload.name if order.own_folder else folder
    began = time.monotonic()

    def told(attempt: Attempt) -> None:
        spent = wording.seconds(time.monotonic() - began)
        shown.print(Text(f"[{spent}] {line(attempt)}"), soft_wrap=True)

    with ExitStack() as stack:
        workshop = stack.enter_context(
            Workshop(
                chosen, replay=order.replay, record=order.record, command=order.command,
                say=shown.print,
            )
        )  # fmt: skip
        voice = synth.voice_of(chosen, folder)
        stack.callback(voice.close)
        for note in voice.notes:
            shown.print(Text(note, style="yellow"), soft_wrap=True)

        @contextmanager
        def watching() -> Iterator[synth.Watcher]:
            with Progress(shown, asked.workload.name, workshop.budget) as progress:
                yield _Watcher(progress)

        if asked.workload.reference is None:
            shown.print(Text(synth.UNVERIFIED, style="bold yellow"), soft_wrap=True)
        shown.print(Text(f"{voice.model.name} writes {asked.workload.name}", style="bold"))
        made = synth.make(asked, workshop, voice.model, folder, told, watching)
    show(shown, made)
    return made


def line(attempt: Attempt) -> str:
    """Say an attempt in a line, with the first thing that was wrong with it."""
    place = f", mended {attempt.repair}×" if attempt.repair else ""
    words = f"{attempt.thought}{place}: {attempt.verdict.status.value}"
    if attempt.speedup is not None:
        return f"{words}, {wording.times(attempt.speedup)} the first correct one"
    if attempt.verdict.status is not Status.CORRECT:
        log = attempt.verdict.log.strip().splitlines()
        words += f": {log[0][:160]}" if log else ""
    return words


def show(shown: Console, made: synth.Made) -> None:
    """Print what came of it."""
    written = made.synthesis
    right = sum(attempt.works for attempt in written.attempts)
    words = f"{right} of {wording.count(len(written.attempts), 'answer')} correct"
    best = written.best
    words += f"; the search began at {best.thought}'s" if best else ""
    used = written.usage
    cost = f"{used.tokens:,} tokens, {used.usd:.4f} USD in {wording.count(used.calls, 'call')}"
    shown.print(Text(f"{words}; {cost}"), soft_wrap=True)
    console.show(shown, made.finished.outcome, list(made.finished.files.values()))
    if made.launch is not None:
        at = made.launch
        text = (
            f"launch: {{grid: {_list(at.grid)}, block: {_list(at.block)}, shared: {at.shared!r}}}"
        )
        shown.print(Text(f"it is launched so: {text}"), soft_wrap=True)
    if made.unverified:
        shown.print(Text(synth.UNVERIFIED, style="bold yellow"), soft_wrap=True)


def as_json(made: synth.Made) -> dict[str, object]:
    """Return a synthesis for machines."""
    outcome, files = made.finished.outcome, made.finished.files
    return {
        "verified": not made.unverified,
        "attempts": [
            {
                "thought": one.thought,
                "repair": one.repair,
                "status": one.verdict.status.value,
                "speedup": one.speedup,
                "author": one.author,
            }
            for one in made.synthesis.attempts
        ],
        "usd": made.synthesis.usage.usd,
        "tokens": made.synthesis.usage.tokens,
        "result": console.as_json(outcome, files),
    }


class _Watcher(synth.Watcher):
    def __init__(self, progress: Progress) -> None:
        self.on_step = progress.on_step  # type: ignore[method-assign]
        self.on_event = progress.on_event  # type: ignore[method-assign]


def _list(words: tuple[str, ...]) -> str:
    quoted = ", ".join(f'"{word}"' for word in words)
    return f"[{quoted}]"
