"""`optiml inspect`, `init`, `report`, `doctor` and `demo`: commands that need no GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from bot import settings
from bot.cli_options import File, Json, console_of, print_json
from optimizer.errors import ConfigError


def inspect_command(
    file: File,
    arch: Annotated[
        str, typer.Option(help="Compile for this GPU architecture.", metavar="sm_NN")
    ] = "sm_90",
    as_json: Json = False,
) -> None:
    """Show kernels, launches, registers, spills, occupancy and static findings. No GPU needed.

    Registers, spills and occupancy come from nvcc, where it is installed. Findings that need
    hardware counters come from a run.

        optiml inspect kernels/softmax.cu
        optiml inspect kernels/softmax.cu --arch sm_80 --json
    """
    from bot import inspect, projects

    digits = arch.removeprefix("sm_")
    if not digits.isdigit():
        raise ConfigError(f"{arch!r} is no GPU architecture", "write it as sm_90")
    path = projects.checked(file)
    text = projects.text_of(path)
    seen = inspect.inspect(path, text, settings.load(), int(digits), projects.root_of(path))
    if as_json:
        print_json("inspect", **inspect.as_json(seen))
    else:
        inspect.show(console_of(), seen)


def init_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="CUDA sources; by default all in this folder and below."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.", metavar="")
    ] = False,
    stdout: Annotated[
        bool, typer.Option("--stdout", help="Print it, write nothing.", metavar="")
    ] = False,
) -> None:
    """Write a `.optiml.yml` from the kernels found here; guesses are marked with comments.

    Check its shapes and sizes before the first run; docs/settings.md describes every key. Sources
    with a `main()` need no description.

        optiml init
        optiml init kernels/softmax.cu --stdout
    """
    from bot import init, projects

    root = Path.cwd()
    text = init.project(root, [projects.checked(file) for file in files or ()])
    if not text:
        raise ConfigError(
            f"no kernel that can be described was found below {root}",
            "name the .cu files, or describe them by hand: docs/settings.md",
        )
    if stdout:
        sys.stdout.write(text)
        return
    target = root / projects.FILE
    if target.exists() and not force:
        raise ConfigError(
            f"{target} exists and was left alone", "--force replaces it, --stdout prints"
        )
    target.write_text(text, encoding="utf-8")
    guesses = text.count("# guess")
    shown = console_of()
    shown.print(f"wrote {target}", soft_wrap=True)
    if guesses:
        shown.print(f"{guesses} lines are guesses, marked so; look at the shapes and sizes first")


def report_command(
    trajectory: Annotated[
        Path, typer.Argument(help="trajectory.jsonl of a run, or its folder.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where to write; beside it by default.", metavar="HTML")
    ] = None,
) -> None:
    """Write the HTML report of an earlier run, also of one that was cut short.

    Reads the trajectory that the run wrote into its results folder, one line for each candidate.
    No GPU is needed.

        optiml report optiml-out/softmax
    """
    from bot import report, run
    from bot.outcome import summarize
    from optimizer.trajectory import read_trajectory

    path = trajectory / run.TRAJECTORY if trajectory.is_dir() else trajectory
    found = read_trajectory(path)
    if not found.steps:
        raise ConfigError(f"{path} holds no step yet", "the run ended before its first measurement")
    target = out or path.with_name(run.REPORT)
    target.write_text(report.render(found), encoding="utf-8")
    shown = console_of()
    shown.print(Text(summarize(found).headline, style="bold"))
    shown.print(f"wrote {target}", soft_wrap=True)


def doctor_command(
    github: Annotated[
        bool, typer.Option("--github", help="Check the GitHub App or token instead.", metavar="")
    ] = False,
    repository: Annotated[
        str, typer.Option(help="With --github: a repository to check.", metavar="OWNER/NAME")
    ] = "",
    as_json: Json = False,
) -> None:
    """Check compiler, driver, GPU, profiler, sandbox and disk; say how to fix what is missing."""
    if github:
        from bot import github_doctor
        from bot.github_session import session_of

        given = settings.load()
        with session_of(given) as session:
            found = github_doctor.examine(given, session, repository)
    else:
        from bot import doctor

        found = doctor.examine(settings.load())
    stops = any(one.ok is False for one in found)
    if as_json:
        lines = [
            {"name": one.name, "ok": one.ok, "words": one.words, "remedy": one.remedy or None}
            for one in found
        ]
        print_json("doctor", ok=not stops, checks=lines)
    else:
        shown = console_of()
        marks = {True: ("ok   ", "green"), None: ("note ", "yellow"), False: ("FAIL ", "bold red")}
        for one in found:
            mark, style = marks[one.ok]
            line = Text.assemble((mark, style), (f"{one.name}: ", "bold"), one.words)
            shown.print(line, soft_wrap=True)
            if one.remedy:
                shown.print(Text(f"     → {one.remedy}", style="dim"), soft_wrap=True)
    if stops:
        raise typer.Exit(1)


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the results.", metavar="DIR")] = Path(
        "optiml-out/demo"
    ),
    recorded: Annotated[
        bool,
        typer.Option("--recorded", help="Use the recording even if there is a GPU.", metavar=""),
    ] = False,
) -> None:
    """Show every step on an example: a branch changes a kernel, a comment offers a faster one.

    Uses a GPU if there is one, else the recording of a real run, and says which.
    """
    from bot import demo

    demo.show(console_of(), settings.load(), out, recorded=recorded)
