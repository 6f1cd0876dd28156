"""`optiml review`: what a reviewer would be told of a branch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.text import Text

from bot import settings
from bot.cli_options import (
    Budget,
    Device,
    Evaluations,
    Json,
    Objective,
    Policy,
    Record,
    Replay,
    Scheduler,
    Seed,
    command_line,
    console_of,
    flags_of,
    print_json,
    teller,
)

# What a command needs is imported when it is called: `--help` waits for none of it.
if TYPE_CHECKING:
    from rich.console import Console

    from bot.interfaces import Change, Report
    from bot.progress import Progress
    from bot.review import Watch
    from bot.wiring import Workshop
    from optimizer.model import Step
    from optimizer.tools import Event


def review_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    base: Annotated[str, typer.Option(help="The branch this one will be merged into.")] = "main",
    kernel: Annotated[
        list[str] | None,
        typer.Option(help="Only this kernel, file or folder; may be given again."),
    ] = None,
    policy: Policy = None,
    objective: Objective = None,
    budget: Budget = None,
    evaluations: Evaluations = None,
    seed: Seed = None,
    device: Device = None,
    scheduler: Scheduler = None,
    replay: Replay = None,
    record: Record = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write each kernel's report, and what a model was asked, here.", metavar="DIR"
        ),
    ] = None,
    markdown: Annotated[
        bool,
        typer.Option("--markdown", help="Print the comment as Markdown, unrendered.", metavar=""),
    ] = False,
    as_json: Json = False,
) -> None:
    """Review the kernels that this branch changes, as on a pull request.

    Looks at the kernels the working tree changes against BASE, headers followed; takes their
    workloads and budget from BASE; says which got slower, and what would make them faster.

        optiml review
        optiml review --kernel softmax --kernel src/attention/
        optiml review --base release --budget 3m --markdown > comment.md
    """
    from bot import projects
    from bot.checkout import Checkout
    from bot.chosen import Chosen
    from bot.comment import Door
    from bot.interfaces import Report
    from bot.review import Means, review
    from bot.shelf import Shelf
    from bot.wiring import Workshop

    flags = flags_of(
        budget,
        policy=policy,
        objective=objective,
        evaluations=evaluations,
        seed=seed,
        device=device,
        scheduler=scheduler,
    )
    shown = console_of(quiet=as_json or markdown)
    said: list[Report] = []
    given: list[Mapping[str, object]] = []
    with Checkout(Path.cwd(), base, projects.noting(given), said.append) as checkout:
        pull, forge = checkout.pull, Chosen(checkout, kernel or ())
        shelf = Shelf(out, forge.changed_kernels(pull))
        if not shelf.changes:
            said.append(Report(None))
        else:
            chosen = settings.load(flags, projects.joined(given))
            with Workshop(
                chosen, replay=replay, record=record, command=command_line(), say=teller(shown)
            ) as workshop:
                means = Means(
                    lambda kernel, workload: workshop.tools(kernel, workload, shelf.of(kernel)),
                    workshop.budget,
                    workshop.search_settings,
                    workshop.environment,
                )
                door = Door(base, commands=False, apply="Take it with `optiml run FILE --apply`.")
                with _Watcher(shown, workshop) as watcher:
                    review(pull, forge, means, door, watcher.watch)
    for file in shelf.put(said[-1].results):
        shown.print(f"wrote {file}", markup=False)
    _show_review(said[-1], shown, markdown=markdown, as_json=as_json)


class _Watcher:
    """Shows one progress after the other, a kernel each."""

    def __init__(self, shown: Console, workshop: Workshop) -> None:
        self._shown, self._workshop = shown, workshop
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.__exit__(None, None, None)

    @property
    def watch(self) -> Watch:
        from bot.review import Watch

        return Watch(self._begin, self._step, self._event)

    def _begin(self, change: Change) -> None:
        from bot.progress import Progress

        self.__exit__()
        name = f"{change.kernel.name} ({change.reason})"
        self._progress = Progress(self._shown, name, self._workshop.budget).__enter__()

    def _step(self, step: Step) -> None:
        if self._progress is not None:
            self._progress.on_step(step)

    def _event(self, event: Event) -> None:
        if self._progress is not None:
            self._progress.on_event(event)


def _show_review(said: Report, shown: Console, *, markdown: bool, as_json: bool) -> None:
    from rich.markdown import Markdown

    from bot import comment, console
    from bot.outcome import summarize
    from bot.unfolded import unfolded

    if as_json:
        results = [
            console.review_json(
                one,
                summarize(one.trajectory) if one.trajectory else None,
                comment.regression(one),
            )
            for one in said.results
        ]
        print_json("review", markdown=said.markdown, results=results)
        return
    if markdown:
        sys.stdout.write(said.markdown or "")
        return
    for one in said.results:
        if one.problem:
            shown.print(Text(f"{one.change.kernel.name}: {one.problem}", style="yellow"))
        if one.change.snippet:
            shown.print(Text("put this into .optiml.yml of the base branch:", style="dim"))
            shown.print(Text(one.change.snippet))
    if said.markdown is None:
        shown.print("nothing to say: no changed kernel got slower, and none can be made faster")
        return
    shown.print(Markdown(unfolded(said.markdown)))
    for suggestion in said.suggestions:
        shown.print(Text(f"{suggestion.path}:{suggestion.start}-{suggestion.line}", style="bold"))
        shown.print(Text("\n".join(suggestion.lines)))
