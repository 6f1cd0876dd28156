"""What commands have in common: options, and how results are printed."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from bot import settings
from bot.markdown import visible

File = Annotated[Path, typer.Argument(help="The CUDA source.", show_default=False)]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object for machines.", metavar="")
]
Policy = Annotated[
    str | None,
    typer.Option(help="What proposes edits: rules, llm, or mixed (rules alone without a model)."),
]
Objective = Annotated[
    str | None,
    typer.Option(help="What the winner is chosen by: time, energy, or time-then-energy."),
]
Budget = Annotated[
    str | None, typer.Option(help="Time for one kernel: 10m, 90s, 1h.", metavar="TIME")
]
Evaluations = Annotated[
    int | None, typer.Option(help="Candidates for one kernel, at most.", min=1, metavar="N")
]
Seed = Annotated[int | None, typer.Option(help="Seed of inputs and of every random choice.")]
Device = Annotated[
    str | None, typer.Option(help="cuda:N, or all: every GPU of this host.", metavar="DEVICE")
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Measure on the GPUs behind this address.", metavar="ADDRESS"),
]
Replay = Annotated[
    Path | None,
    typer.Option(help="Take verdicts from a recording; no GPU is used.", metavar="RECORDING"),
]
Record = Annotated[
    Path | None, typer.Option(help="Record verdicts for --replay.", metavar="RECORDING")
]


def flags_of(budget: str | None, out: Path | None = None, **others: object) -> dict[str, object]:
    """Return options as `settings.load` takes them: the budget in minutes, the folder as text."""
    minutes = None if budget is None else settings.minutes(budget)
    return {"minutes": minutes, "out": None if out is None else str(out), **others}


def complain(message: str, remedy: str = "") -> None:
    """Say what is wrong, and what to do, where errors go."""
    shown = Console(stderr=True, markup=False, highlight=False)
    shown.print(Text.assemble(("optiml: ", "bold red"), visible(message)), soft_wrap=True)
    if remedy:
        shown.print(Text(f"  → {visible(remedy)}", style="dim"), soft_wrap=True)


def console_of(*, quiet: bool = False) -> Console:
    """Return what a command shows its results on; quiet where they are printed for machines."""
    return Console(quiet=quiet, highlight=False, markup=False)


def teller(shown: Console) -> Callable[[str], None]:
    """Return what a run tells its user with: words of workers and compilers, made visible."""
    return lambda words: shown.print(visible(words), soft_wrap=True)


def command_line() -> str:
    """Return the command as it was given, to be written down with its results."""
    return shlex.join(["optiml", *sys.argv[1:]])


def print_json(command: str, **values: object) -> None:
    """Print what a command found as one JSON object."""
    from bot import console

    found: Mapping[str, object] = {"version": console.SCHEMA, "command": command, **values}
    sys.stdout.write(json.dumps(found, indent=2, allow_nan=False) + "\n")
