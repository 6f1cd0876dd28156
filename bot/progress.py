"""What is shown while a search runs: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from bot import wording
from bot.markdown import visible
from bot.outcome import Ratio, outcome_words, ratio_of, speedup_of
from optimizer.budget import Budget
from optimizer.model import Step
from optimizer.tools import Event, Stage

_QUIET_SECONDS = 15.0  # a plain log says at least this often that the search is alive


class Progress:
    """Follows one search: stage, evaluations done and left, best so far, edits that led there.

    A context manager; give `on_step` and `on_event` to the search. On a terminal it redraws a few
    lines in place; elsewhere it prints one line for each stage and each new best.
    """

    def __init__(
        self,
        console: Console,
        name: str,
        budget: Budget,
        confidence: float = 0.99,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._name, self._budget = console, name, budget
        self._confidence, self._clock = confidence, clock
        self._began = self._said = clock()
        self._steps: list[Step] = []
        self._best: Step | None = None
        self._ratio: Ratio | None = None
        self._stage: Stage | None = None
        self._stages: set[Stage] = set()
        self._left = budget.evaluations
        self._spinner = Spinner("dots", style="cyan")
        self._live = (
            Live(self, console=console, refresh_per_second=8, transient=True)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def on_event(self, event: Event) -> None:
        """Take note of a stage that begins."""
        self._stage = event.stage
        self._left = event.left or self._left  # stages that spend none do not say what is left
        if not self._live and event.stage not in self._stages:
            self._line(event.stage.value)
        self._stages.add(event.stage)

    def on_step(self, step: Step) -> None:
        """Take note of a candidate that was judged."""
        self._steps.append(step)
        value = speedup_of(step)
        is_best = value is not None and value > (speedup_of(self._best) or 0 if self._best else 0)
        if is_best:
            self._best = step
            self._ratio = ratio_of(step.verdict.measurement, self._confidence)
        if self._live:
            return
        if is_best and step.edit is not None and self._ratio is not None:
            self._line(f"candidate {step.number}: {step.edit.title}: {self._ratio}")
        elif self._clock() - self._said > _QUIET_SECONDS:
            best = outcome_words(self._best) if self._best is not None else "none yet"
            self._line(f"candidate {step.number}: {outcome_words(step)}; the best so far: {best}")

    def __rich__(self) -> RenderableType:
        """Return the panel as it is now."""
        stage = self._stage.value if self._stage else "starting"
        self._spinner.update(text=Text.assemble(" ", (self._name, "bold"), f" · {stage}"))
        done = max(0, len(self._steps) - 1)
        facts = [f"{done} tried", f"{self._left} evaluations left"]
        spent = self._clock() - self._began
        facts.append(f"{wording.seconds(math.floor(spent))} spent")
        if math.isfinite(self._budget.minutes):
            facts.append(f"{wording.seconds(max(0, self._budget.minutes * 60 - spent))} left")
        parts: list[RenderableType] = [self._spinner, Text("  " + " · ".join(facts), style="dim")]
        if self._best is not None and self._best.number and self._ratio is not None:
            best = Text.assemble("  best so far ", (wording.times(self._ratio.value), "bold green"))
            parts.append(best.append(f" ({self._ratio.span})"))
            parts.append(self._path(self._best))
        if self._steps and self._steps[-1].edit is not None:
            last = self._steps[-1]
            title = last.edit.title if last.edit else ""
            text = Text(visible(f"  last: {title}: {outcome_words(last)}"), style="dim")
            text.truncate(max(20, self._console.width - 2), overflow="ellipsis")
            parts.append(text)
        return Group(*parts)

    def _path(self, best: Step) -> Table:
        table = Table(box=None, padding=(0, 1), show_header=False)
        steps: list[Step] = []
        at: int | None = best.number
        while at:
            steps.append(self._steps[at])
            at = self._steps[at].parent
        for step in list(reversed(steps))[-8:]:
            value = speedup_of(step)
            title = Text(
                visible(step.edit.title) if step.edit else "", overflow="ellipsis", no_wrap=True
            )
            table.add_row("   ", title, wording.times(value) if value else "–")
        return table

    def _line(self, text: str) -> None:
        self._said = self._clock()
        spent = wording.seconds(self._said - self._began)
        self._console.print(Text(visible(f"[{spent}] {self._name}: {text}")), soft_wrap=True)
