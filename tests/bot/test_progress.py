"""A terminal shows a panel, a log plain lines; both say what has been reached."""

import io

from rich.console import Console

from bot.progress import Progress
from optimizer.budget import Budget
from optimizer.tools import Event, Stage
from tests.bot import synthetic


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def follow(*, terminal: bool) -> tuple[Progress, io.StringIO, Console]:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100)
    clock = Clock()
    progress = Progress(console, "transpose", Budget(80, minutes=2), clock=clock)
    with progress:
        progress.on_event(Event(Stage.BASELINE, (0,), 80))
        for step in synthetic.trajectory(6).steps:
            clock.now += 1.5
            progress.on_event(Event(Stage.SEARCHING, (), 80 - step.number))
            progress.on_step(step)
        progress.on_event(Event(Stage.CONFIRMING))
    return progress, text, console


def test_a_log_has_a_line_for_each_stage_and_each_new_best_and_no_escapes() -> None:
    _, text, _ = follow(terminal=False)
    lines = text.getvalue().splitlines()
    assert [line.split(": ", 1)[1] for line in lines if "candidate" not in line] == [
        "measuring the baseline",
        "searching",
        "confirming in a fresh process",
    ]
    bests = [line for line in lines if "candidate" in line]
    assert len(bests) == 3
    assert "candidate 3: mark the pointers __restrict__: 3.41× (3.4" in bests[-1]
    assert "\x1b" not in text.getvalue()


def test_a_panel_shows_stage_evaluations_time_best_and_the_edits_that_led_there() -> None:
    progress, _, _ = follow(terminal=True)
    shown = Console(file=io.StringIO(), width=100, record=True)
    shown.print(progress)
    text = shown.export_text()
    for words in (
        "transpose · confirming in a fresh process",
        "9 tried · 71 evaluations left",
        "left",
        "best so far 3.41×",
        "stage the tile in shared memory",
        "pad the tile by one column",
        "last: ",
    ):
        assert words in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_panel_fits_a_narrow_terminal() -> None:
    progress, _, _ = follow(terminal=True)
    shown = Console(file=io.StringIO(), width=40, record=True)
    shown.print(progress)
    assert max(map(len, shown.export_text().splitlines())) <= 40
