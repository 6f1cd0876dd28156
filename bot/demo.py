"""The whole way on a bundled example: a branch adds a kernel, a comment speeds it up."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import git
from rich.console import Console
from rich.markdown import Markdown
from rich.rule import Rule
from rich.text import Text

from bot import projects, report, wording
from bot.checkout import Checkout
from bot.comment import Door
from bot.interfaces import Report
from bot.progress import Progress
from bot.review import Means, Watch, review
from bot.settings import Settings
from bot.unfolded import unfolded
from bot.wiring import Workshop
from optimizer.errors import NoDeviceError, OptimlError, RunnerError
from optimizer.trajectory import write_trajectory
from runners.fault import Fault

RECORDING = "recording.jsonl.gz"
_PREFERRED = ("softmax", "nchw_to_nhwc", "reduction", "filter2d", "matmul")
_MINUTES_ON_A_GPU = 1.0  # somebody is watching


def show(shown: Console, settings: Settings, out: Path, *, recorded: bool = False) -> None:
    """Run the demo and write comment and report into a folder.

    Raise `NoDeviceError` when there is neither a usable GPU nor a recording.
    """
    began = time.monotonic()
    folder = example()
    _made(out)
    with workshop(shown, settings, folder, recorded=recorded) as tools, branch(folder) as root:
        shown.print(Text(f"A branch adds {kernel_file(root)}; its base branch says how it is run."))
        said: list[Report] = []
        with Checkout(root, "main", projects.READING, said.append) as forge:
            means = Means(tools.tools, tools.budget, tools.search_settings, tools.environment)
            with Progress(shown, folder.name, tools.budget) as progress:
                door = Door("main", commands=True)
                watch = Watch(on_step=progress.on_step, on_event=progress.on_event)
                review(forge.pull, forge, means, door, watch)
    files = _written(said[-1], out)
    _told(said[-1], shown, files)
    shown.print(Text(f"done in {wording.seconds(time.monotonic() - began)}", style="dim"))


def example() -> Path:
    """Return the first preferred example with a recording, else the first there is."""
    here = Path(__file__).resolve().parent
    places = [here / "examples", here.parent / "examples"]
    found = [place / name for name in _PREFERRED for place in places if (place / name).is_dir()]
    with_recording = [folder for folder in found if (folder / RECORDING).is_file()]
    if not found:
        raise NoDeviceError(
            "the examples are not installed", "run this from a checkout of the project"
        )
    return (with_recording or found)[0]


@contextmanager
def workshop(
    shown: Console, settings: Settings, folder: Path, *, recorded: bool
) -> Iterator[Workshop]:
    """Open the GPU, or the example's recording where there is none, and say which."""
    recording = folder / RECORDING
    opened: Workshop | None = None
    if not recorded:
        try:
            shorter = replace(settings, minutes=min(settings.minutes, _MINUTES_ON_A_GPU))
            opened = Workshop(shorter, command="optiml demo", say=shown.print)
            shown.print(Text(f"Running on this machine's {opened.environment.gpu}.", style="bold"))
        except (OptimlError, Fault) as error:
            if not recording.is_file():
                raise
            words = error.message.partition(";")[0]
            shown.print(Text(f"No GPU is used: {words}.", style="dim"), soft_wrap=True)
    if opened is None:
        opened = Workshop(settings, replay=recording, command="optiml demo")
        words = f"Showing a real run, {opened.environment.recorded}."
        shown.print(Text(words, style="bold cyan"))
    with opened:
        yield opened


@contextmanager
def branch(folder: Path) -> Iterator[Path]:
    """Make a repository whose branch adds the example's kernel to a base that describes it."""
    with tempfile.TemporaryDirectory(prefix="optiml-demo-") as name:
        root = Path(name)
        repo = git.Repo.init(root, initial_branch="main")
        try:
            with repo.config_writer() as config:
                config.set_value("user", "name", "OptiML demo")
                config.set_value("user", "email", "demo@example.invalid")
                config.set_value("commit", "gpgsign", "false")
            for file in sorted(folder.iterdir()):
                if file.is_file() and file.suffix not in (".cu", ".gz"):
                    shutil.copyfile(file, root / file.name)
            repo.git.add("-A", "-f")
            repo.index.commit("Describe how the kernel is run")
            repo.git.checkout("-q", "-b", "feature")
            for file in folder.glob("*.cu"):
                shutil.copyfile(file, root / file.name)
            repo.git.add("-A", "-f")
            repo.index.commit("Add the kernel")
            yield root
        finally:
            repo.close()


def kernel_file(root: Path) -> str:
    """Return the name of the CUDA file in a folder."""
    return next((file.name for file in sorted(root.glob("*.cu"))), "a kernel")


def _made(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunnerError(
            f"cannot write to {out}: {error.strerror}", "name another folder with --out"
        ) from error


def _written(said: Report, out: Path) -> list[Path]:
    files = []
    if said.markdown is not None:
        files.append(out / "comment.md")
        files[-1].write_text(said.markdown, encoding="utf-8")
    for result in said.results:
        if result.trajectory is not None:
            files += [out / "report.html", out / "trajectory.jsonl"]
            files[-2].write_text(report.render(result.trajectory), encoding="utf-8")
            write_trajectory(result.trajectory, files[-1])
    return files


def _told(said: Report, shown: Console, files: list[Path]) -> None:
    shown.print(Rule("the comment on the pull request"))
    if said.markdown is None:
        for result in said.results:
            shown.print(result.problem or "nothing faster found: there would be no comment")
    else:
        shown.print(Markdown(unfolded(said.markdown)))
        for one in said.suggestions:
            lines = f"{one.line}" if one.start == one.line else f"{one.start}–{one.line}"
            shown.print(Rule(f"suggestion for {one.path}, lines {lines}", style="dim"))
            shown.print(Text("\n".join(one.lines), style="green"))
    shown.print(Rule())
    for file in files:
        shown.print(Text.assemble(("wrote ", "dim"), str(file)), soft_wrap=True)
