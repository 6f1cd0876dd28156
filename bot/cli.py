"""`optiml`: the command line."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text
from typer.exceptions import TyperException

from bot import comment, console, demo, doctor, init, inspect, projects, report, run, settings
from bot.checkout import Checkout
from bot.chosen import Chosen
from bot.comment import Door
from bot.interfaces import Change, Report
from bot.markdown import visible
from bot.outcome import summarize
from bot.progress import Progress
from bot.review import Means, Watch, review
from bot.shelf import Shelf
from bot.wiring import Workshop
from optimizer.errors import ConfigError, OptimlError
from optimizer.model import Step
from optimizer.tools import Event
from optimizer.trajectory import read_trajectory
from runners import worker
from runners.fault import Fault
from runners.wire import unwrap

INTERRUPTED = 130

app = typer.Typer(
    name="optiml",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make CUDA kernels faster: search over edits, each verified and timed on a GPU.\n\n"
    "`optiml run FILE.cu` optimizes one file, `optiml review` a branch. Without a GPU, start with "
    "`optiml inspect FILE.cu` or `optiml demo`; `optiml doctor` says what is missing.\n\n"
    "Exit status: 0 done, whether or not something faster was found · 1 unexpected · 2 bad input · "
    "3 the unedited kernel fails · 4 no usable device.",
)

File = Annotated[Path, typer.Argument(help="The CUDA source.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Policy = Annotated[
    str | None,
    typer.Option(help="Who proposes edits: rules, llm, or mixed (rules without a model)."),
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
Seed = Annotated[int | None, typer.Option(help="Decides inputs and every random choice.")]
Device = Annotated[
    str | None, typer.Option(help="cuda:N, or all GPUs of this host.", metavar="DEVICE")
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
    Path | None, typer.Option(help="Write verdicts down for --replay.", metavar="RECORDING")
]


@app.command("run")
def run_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    file: Annotated[
        Path | None, typer.Argument(help="The CUDA source.", show_default=False)
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="What a program with main() is run with, behind `--`.",
            metavar="ARGUMENTS",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="Which entry of .optiml.yml; all of the file by default.")
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            help="Run on captured launches; FILE is needed where it does not know the source.",
            metavar="DIR",
        ),
    ] = None,
    policy: Policy = None,
    objective: Objective = None,
    budget: Budget = None,
    evaluations: Evaluations = None,
    seed: Seed = None,
    device: Device = None,
    scheduler: Scheduler = None,
    strategy: Annotated[
        str | None, typer.Option(help="mcts; greedy and random are there to compare with.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for what is written.", metavar="DIR")
    ] = None,
    replay: Replay = None,
    record: Record = None,
    model: Annotated[
        str | None, typer.Option(help="Language model to ask; needs a key or an address.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Take a model's answers from exchanges.jsonl.", metavar="EXCHANGES"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the trajectory in the folder.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the winner over FILE if it has not changed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Optimize one file: verified, timed, with the diff and how it was found.

    Writes the best source, a patch, `trajectory.jsonl` and `report.html`. A file with `main()`
    needs no configuration; others are described in `.optiml.yml` (see `optiml init`). Ctrl-C ends
    with the best so far.

        optiml run kernels/softmax.cu
        optiml run src/main.cu --budget 5m --apply
        optiml run src/main.cu --budget 5m -- 4096 input.txt
        optiml run kernels/softmax.cu --record softmax.jsonl.gz
        optiml run kernels/softmax.cu --replay softmax.jsonl.gz
        optiml run kernels/softmax.cu --policy mixed --model gpt-5-mini
        optiml run --capture optiml-capture --kernel softmax
        optiml run kernels/softmax.cu --scheduler tls://gpus.example:8786
    """
    if file is None and capture is None:
        raise ConfigError("Missing argument FILE", "name what to optimize: optiml run FILE.cu")
    declared = (
        _captured(capture, kernel, file)
        if capture
        else projects.of_file(file or Path(), kernel, arguments or (), headers=True)
    )
    chosen = settings.load(
        {
            "policy": policy,
            "objective": objective,
            "minutes": None if budget is None else settings.minutes(budget),
            "evaluations": evaluations,
            "seed": seed,
            "device": device,
            "scheduler": scheduler,
            "strategy": strategy,
            "out": None if out is None else str(out),
            "model": model,
            "answers": None if answers is None else str(answers),
        },
        declared.settings,
    )
    shown = _console(quiet=as_json)
    results = []
    with Workshop(
        chosen, replay=replay, record=record, command=_command(), say=shown.print
    ) as workshop:
        for one, workload in declared.kernels:
            folder = Path(chosen.out)
            if out is None or len(declared.kernels) > 1:
                folder /= workload.name
            finished = _optimize(run.Order(one, workload, folder, resume), workshop, shown)
            if apply:
                target = Path(workload.root) / one.path if capture else file
                run.apply(finished.outcome.trajectory, target or Path(one.path))
            results.append(finished)
    if as_json:
        _print_json("run", results=[console.as_json(one.outcome, one.files) for one in results])


def _captured(folder: Path, kernel: str | None, source: Path | None) -> projects.Declared:
    from bot import capture

    return projects.Declared(capture.pairs(capture.workloads(folder, kernel, source)))


def _optimize(order: run.Order, workshop: Workshop, shown: Console) -> run.Finished:
    confidence = order.workload.accept.confidence
    with Progress(shown, order.workload.name, workshop.budget, confidence) as progress:
        finished = run.optimize(order, workshop, progress.on_step, progress.on_event)
    console.show(shown, finished.outcome, list(finished.files.values()))
    if finished.remark:
        shown.print(Text(finished.remark, style="yellow"), soft_wrap=True)
    return finished


@app.command("capture", context_settings={"allow_interspersed_args": False})
def capture_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    command: Annotated[
        list[str],
        typer.Argument(
            help="The program and its arguments.",
            metavar="-- PROGRAM [ARGUMENTS]...",
            show_default=False,
        ),
    ],
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            help="A kernel by name, instance (`scan<float, 256>`) or symbol; may be given again. "
            "All that are written in this project by default."
        ),
    ] = None,
    launches: Annotated[
        int, typer.Option(help="Launches kept of each kernel, unlike ones first.", min=1, max=64)
    ] = 4,
    skip: Annotated[int, typer.Option(help="First launches of each kernel to let go.", min=0)] = 0,
    limit: Annotated[
        str, typer.Option(help="Contents kept in all: 500M, 4G.", metavar="SIZE")
    ] = "4G",
    source: Annotated[
        Path | None, typer.Option(help="The file the kernels are in.", metavar="FILE")
    ] = None,
    randomize: Annotated[
        bool,
        typer.Option("--randomize", help="Keep random values of the same distribution instead."),
    ] = False,
    through: Annotated[
        str | None, typer.Option(help="How launches are seen: cupti, or preload where that fails.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the capture, inside the project.", metavar="DIR")
    ] = Path("optiml-capture"),
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier capture.")] = False,
) -> None:
    """Take a program's kernel launches down, as workloads with its real inputs and outputs.

    The program runs as it is; of the launches chosen, geometry, arguments and memory before and
    after are kept. `optiml run --capture DIR` optimizes their kernels.

        optiml capture -- ./simulate --steps 10
        optiml capture --kernel attention --launches 8 -- python serve.py
    """
    from bot import capture as capturing
    from runners.capture.record import Wanted

    here = capturing.root_of(Path.cwd())
    kept = capturing.size(limit)
    wanted = Wanted(tuple(kernel or ()), launches, skip, max(1, kept // 2), kept)
    seen = capturing.through(through)
    order = capturing.Order(tuple(command), wanted, out, source, randomize, force, seen)
    done = capturing.capture(order, here, settings.load().cache_folder)
    shown = _console()
    shown.print(Text(done.text.rstrip()), soft_wrap=True)
    if done.found:
        shown.print(f"\noptimize with: optiml run --capture {out}", soft_wrap=True)


@app.command("review")
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
        bool, typer.Option("--markdown", help="Print the comment as Markdown, unrendered.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a reviewer would be told of this branch's kernels.

    Looks at the kernels the working tree changes against BASE, headers followed; takes their
    workloads and budget from BASE; says which got slower, and what would make them faster.

        optiml review
        optiml review --kernel softmax --kernel src/attention/
        optiml review --base release --budget 3m --markdown > comment.md
    """
    flags = {
        "policy": policy,
        "objective": objective,
        "minutes": None if budget is None else settings.minutes(budget),
        "evaluations": evaluations,
        "seed": seed,
        "device": device,
        "scheduler": scheduler,
    }
    shown = _console(quiet=as_json or markdown)
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
                chosen, replay=replay, record=record, command=_command(), say=shown.print
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
        return Watch(self._begin, self._step, self._event)

    def _begin(self, change: Change) -> None:
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
    if as_json:
        results = [
            console.review_json(
                one,
                summarize(one.trajectory) if one.trajectory else None,
                comment.regression(one),
            )
            for one in said.results
        ]
        _print_json("review", markdown=said.markdown, results=results)
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
    shown.print(Markdown(said.markdown.replace(comment.MARKER, "")))
    for suggestion in said.suggestions:
        shown.print(Text(f"{suggestion.path}:{suggestion.start}-{suggestion.line}", style="bold"))
        shown.print(Text("\n".join(suggestion.lines)))


@app.command("inspect")
def inspect_command(
    file: File,
    arch: Annotated[
        str, typer.Option(help="Compile for this GPU architecture.", metavar="sm_NN")
    ] = "sm_90",
    as_json: Json = False,
) -> None:
    """Show kernels, launches, registers, spills, occupancy and static findings. No GPU needed.

    optiml inspect kernels/softmax.cu
    optiml inspect kernels/softmax.cu --arch sm_80 --json
    """
    digits = arch.removeprefix("sm_")
    if not digits.isdigit():
        raise ConfigError(f"{arch!r} is no GPU architecture", "write it as sm_90")
    path = projects.checked(file)
    text = projects.text_of(path)
    seen = inspect.inspect(path, text, settings.load(), int(digits), projects.root_of(path))
    if as_json:
        _print_json("inspect", **inspect.as_json(seen))
    else:
        inspect.show(_console(), seen)


@app.command("init")
def init_command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="CUDA sources; all below here by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print it, write nothing.")] = False,
) -> None:
    """Write a `.optiml.yml` from the kernels found here; guesses are marked with comments.

    optiml init
    optiml init kernels/softmax.cu --stdout
    """
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
    shown = _console()
    shown.print(f"wrote {target}", soft_wrap=True)
    if guesses:
        shown.print(f"{guesses} lines are guesses, marked so; look at the shapes and sizes first")


@app.command("report")
def report_command(
    trajectory: Annotated[
        Path, typer.Argument(help="trajectory.jsonl of a run, or its folder.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where to write; beside it by default.", metavar="HTML")
    ] = None,
) -> None:
    """Write the HTML report of an earlier run, also of one that was cut short.

    optiml report optiml-out/softmax
    """
    path = trajectory / run.TRAJECTORY if trajectory.is_dir() else trajectory
    found = read_trajectory(path)
    if not found.steps:
        raise ConfigError(f"{path} holds no step yet", "the run ended before its first measurement")
    target = out or path.with_name(run.REPORT)
    target.write_text(report.render(found), encoding="utf-8")
    shown = _console()
    shown.print(Text(summarize(found).headline, style="bold"))
    shown.print(f"wrote {target}", soft_wrap=True)


@app.command("doctor")
def doctor_command(
    github: Annotated[
        bool, typer.Option("--github", help="Look at the GitHub App or token instead.")
    ] = False,
    repository: Annotated[
        str, typer.Option(help="With --github: a repository to look at.", metavar="OWNER/NAME")
    ] = "",
    as_json: Json = False,
) -> None:
    """Look at compiler, driver, GPU, profiler, sandbox, disk: each line ok, or what to do."""
    if github:
        from bot import github_doctor
        from bot.github_session import session_of

        given = settings.load()
        with session_of(given) as session:
            found = github_doctor.examine(given, session, repository)
    else:
        found = doctor.examine(settings.load())
    stops = any(one.ok is False for one in found)
    if as_json:
        lines = [
            {"name": one.name, "ok": one.ok, "words": one.words, "remedy": one.remedy or None}
            for one in found
        ]
        _print_json("doctor", ok=not stops, checks=lines)
    else:
        shown = _console()
        marks = {True: ("ok   ", "green"), None: ("note ", "yellow"), False: ("FAIL ", "bold red")}
        for one in found:
            mark, style = marks[one.ok]
            line = Text.assemble((mark, style), (f"{one.name}: ", "bold"), one.words)
            shown.print(line, soft_wrap=True)
            if one.remedy:
                shown.print(Text(f"     → {one.remedy}", style="dim"), soft_wrap=True)
    if stops:
        raise typer.Exit(1)


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for what is written.", metavar="DIR")] = Path(
        "optiml-out/demo"
    ),
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Use the recording even if there is a GPU.")
    ] = False,
) -> None:
    """Go the whole way on an example: a branch changes a kernel, the comment says what to do.

    On a GPU if there is one, else on the recording of a real run; it says which.
    """
    demo.show(_console(), settings.load(), out, recorded=recorded)


@app.command("synth")
def synth_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    description: Annotated[
        str, typer.Argument(help="What the kernel computes, in words.", show_default=False)
    ],
    workload: Annotated[
        str, typer.Option(help="A workload of .optiml.yml: signature, cases, numpy reference.")
    ],
    project: Annotated[
        Path, typer.Option(help="The project's folder or its .optiml.yml.", metavar="PATH")
    ] = Path(),
    policy: Policy = None,
    objective: Objective = None,
    budget: Budget = None,
    evaluations: Evaluations = None,
    seed: Seed = None,
    device: Device = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for what is written.", metavar="DIR")
    ] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Go on without a reference; nothing is proved.")
    ] = False,
    replay: Replay = None,
    record: Record = None,
    as_json: Json = False,
) -> None:
    """Write a kernel from a description, verify it against numpy, then optimize it.

    Several lines of thought of a language model write side by side, mend what fails, and a critic
    merges them; the fastest correct kernel is where the search begins. Needs OPTIML_MODEL and a
    workload with a `reference`. See docs/synthesis.md.

        optiml synth "softmax of each row of logits" --workload softmax --project kernels/
    """
    from bot import synth_view

    flags = {
        "policy": policy,
        "objective": objective,
        "minutes": None if budget is None else settings.minutes(budget),
        "evaluations": evaluations,
        "seed": seed,
        "device": device,
        "out": None if out is None else str(out),
    }
    order = synth_view.Order(
        description, project, workload, flags, replay, record, _command(), unverified, out is None
    )
    made = synth_view.synthesized(order, _console(quiet=as_json))
    if as_json:
        _print_json("synth", **synth_view.as_json(made))


@app.command("mcp")
def mcp_command(
    path: Annotated[
        Path, typer.Argument(help="A project's folder, or one CUDA source.", show_default=False)
    ] = Path(),
    budget: Annotated[
        str | None, typer.Option(help="Measuring time for one workload: 10m, 1h.", metavar="TIME")
    ] = None,
    evaluations: Evaluations = None,
    seed: Seed = None,
    device: Device = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for trajectories and reports.", metavar="DIR")
    ] = None,
    replay: Replay = None,
) -> None:
    """Let a coding agent drive: its candidates verified and timed like those of a search.

    Speaks the Model Context Protocol on stdin and stdout; an agent starts it by itself. Tools:
    workloads, inspect, baseline, evaluate, suggest, profile, findings, trajectory, confirm. The
    GPU is taken at the first measurement and given back when idle. See docs/coding-agents.md.

        optiml mcp kernels/
        optiml mcp examples/softmax --replay examples/softmax/recording.jsonl.gz
    """
    from bot import mcp_door

    flags = {
        "policy": "rules",  # the agent is the model
        "minutes": None if budget is None else settings.minutes(budget),
        "evaluations": evaluations,
        "seed": seed,
        "device": device,
        "out": None if out is None else str(out),
    }
    mcp_door.open_door(path, flags, replay, _command())


@app.command("action")
def action_command() -> None:
    """Do a workflow's job: review on a GPU, publish, or order a review. See docs/action.md.

    Everything it is told comes through the environment, as `action.yml` passes it.
    """
    from bot import action

    raise typer.Exit(action.main(settings.surroundings(), _complain))


memory_app = typer.Typer(no_args_is_help=True, help="Show or clear what earlier searches learned.")
app.add_typer(memory_app, name="memory")


@memory_app.command("show")
def memory_show_command(as_json: Json = False) -> None:
    """Show which kinds of edit gained what, on which bottleneck and GPU, and how priors move."""
    from bot import memory_store, memory_view, wiring

    store = memory_store.store_of(settings.load())
    if store is None:
        raise ConfigError("the search memory is off", "OPTIML_MEMORY=on switches it on")
    found = store.load("", wiring.today())
    if as_json:
        _print_json("memory", lessons=memory_view.rows(found), notes=list(found.notes))
    else:
        memory_view.show(_console(), store, found)


@memory_app.command("clear")
def memory_clear_command(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget what earlier searches learned, in the file or at the address of the settings."""
    from bot import memory_store

    store = memory_store.store_of(settings.load())
    if store is None:
        raise ConfigError("the search memory is off", "OPTIML_MEMORY=on switches it on")
    if not yes:
        typer.confirm("Forget everything that was learned?", abort=True)
    store.clear()
    _console().print("the search memory is empty")


@app.command("worker")
def worker_command(
    jobs: Annotated[
        Path | None, typer.Argument(help="Jobs to judge, JSON.", show_default=False)
    ] = None,
    results: Annotated[
        Path | None, typer.Argument(help="Where to write.", show_default=False)
    ] = None,
    gpu: Annotated[int, typer.Option(help="CUDA device number, for a file of jobs.", min=0)] = 0,
    scheduler: Annotated[
        str | None, typer.Option(help="Join this scheduler instead.", metavar="ADDRESS")
    ] = None,
    device: Annotated[
        str, typer.Option(help="With a scheduler: cuda:N, or all of this host.", metavar="DEVICE")
    ] = "all",
    replay: Replay = None,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True)] = False,
) -> None:
    """Judge jobs on this machine's GPUs: those of a file, or those that a scheduler sends.

    With files: for schedulers of any kind; the same as `python -I -m runners.worker JOBS RESULTS`,
    which needs little more than numpy and pycuda installed. With --scheduler: one process for each
    GPU joins a scheduler of dask.distributed and serves searches until it is stopped. See
    docs/scaling.md.

        optiml worker jobs.json results.json
        optiml worker --scheduler tcp://127.0.0.1:8786
        optiml worker --scheduler tls://gpus.example:8786 --device cuda:1
    """
    if scheduler is None and jobs is not None and results is not None:
        raise typer.Exit(worker.main(["--gpu", str(gpu), str(jobs), str(results)]))
    if jobs is not None or (scheduler is None and not settings.load().scheduler):
        raise ConfigError("a worker needs JOBS and RESULTS, or --scheduler", "optiml worker --help")
    from bot import fleet_door

    if with_parent:
        fleet_door.with_parent()
    chosen = settings.load({"scheduler": scheduler})
    fleet_door.work(chosen, device, replay, _console().print)


@app.command("scheduler")
def scheduler_command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8786,
) -> None:
    """Bring searches and GPU workers together: a scheduler of dask.distributed.

    Whoever can connect to it can run code on all its workers. It listens on loopback unless told
    otherwise, and elsewhere only with TLS. See docs/scaling.md.

        optiml scheduler
        optiml scheduler --host 10.0.0.5
    """
    from bot import fleet_door

    fleet_door.schedule(settings.load(), host, port, _console().print)


@app.command("serve")
def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
) -> None:
    """Serve the GitHub App: webhooks in, reviews on a GPU elsewhere, comments out.

    Needs OPTIML_WEBHOOK_SECRET, OPTIML_GITHUB_APP_ID and OPTIML_GITHUB_APP_KEY; docs/github-app.md
    leads from nothing to the first comment. Put a proxy that speaks TLS before it.
    """
    from bot import serve

    serve.serve(settings.load({}), host, port)


@app.command("pause")
def pause_command(
    reason: Annotated[str, typer.Argument(help="Told to whoever asks for a review.")],
    repository: Annotated[str, typer.Option(help="OWNER/NAME; all when left out.")] = "",
) -> None:
    """Throw the kill switch of the webhook app: what runs ends, nothing new begins."""
    from bot import switch

    _console().print(switch.pause(settings.load({}), repository, reason))


@app.command("resume")
def resume_command(
    repository: Annotated[str, typer.Option(help="OWNER/NAME; all when left out.")] = "",
) -> None:
    """Let the webhook app work again after `optiml pause`."""
    from bot import switch

    _console().print(switch.resume(settings.load({}), repository))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; an error is one message, never a traceback."""
    try:
        status = app(list(arguments) if arguments is not None else None, standalone_mode=False)
    except TyperException as error:
        words = list(sys.argv[1:] if arguments is None else arguments)
        remedy = "optiml --help, or optiml COMMAND --help"
        if words[:1] == ["run"] and "No such option" in error.format_message():
            remedy += "; what a program takes comes behind --: optiml run FILE -- ARGUMENTS"
        _complain(error.format_message(), remedy)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Fault as fault:
        return _failed(fault)
    except OptimlError as error:
        _complain(error.message, error.remedy)
        return error.exit_code
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except Exception:  # noqa: BLE001 - the last resort of a command line
        _complain(
            f"unexpected: {sys.exc_info()[1]}",
            f"the details are in {_details()}; please report them",
        )
        return 1
    if status == INTERRUPTED:
        _complain("interrupted before there was a result")
    return int(status or 0)


def _failed(fault: Fault) -> int:
    try:
        unwrap(fault)
    except OptimlError as error:
        _complain(error.message, error.remedy)
        return error.exit_code


def _complain(message: str, remedy: str = "") -> None:
    shown = Console(stderr=True, markup=False, highlight=False)
    shown.print(Text.assemble(("optiml: ", "bold red"), visible(message)), soft_wrap=True)
    if remedy:
        shown.print(Text(f"  → {visible(remedy)}", style="dim"), soft_wrap=True)


def _details() -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="optiml-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"{shlex.join(sys.argv)}\n{traceback.format_exc()}")
    return file.name


def _console(*, quiet: bool = False) -> Console:
    return Console(quiet=quiet, highlight=False, markup=False)


def _command() -> str:
    return shlex.join(["optiml", *sys.argv[1:]])


def _print_json(command: str, **values: object) -> None:
    found: Mapping[str, object] = {"version": console.SCHEMA, "command": command, **values}
    sys.stdout.write(json.dumps(found, indent=2, allow_nan=False) + "\n")
