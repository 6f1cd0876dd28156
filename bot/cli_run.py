"""`optiml run`, `capture`, `synth` and `mcp`: commands that search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from bot.markdown import visible
from optimizer.errors import ConfigError

# What a command needs is imported when it is called: `--help` waits for none of it.
if TYPE_CHECKING:
    from rich.console import Console

    from bot import projects, run
    from bot.wiring import Workshop


def run_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    file: Annotated[
        Path | None, typer.Argument(help="The CUDA source.", show_default=False)
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="Arguments for a program with main(), after `--`.",
            metavar="ARGUMENTS",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        str | None, typer.Option(help="Only this kernel, as named in .optiml.yml.")
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            help="Optimize captured launches; FILE is needed where the capture lacks the source.",
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
        str | None, typer.Option(help="mcts, or greedy or random to compare with.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.", metavar="DIR")] = None,
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
        bool, typer.Option("--resume", help="Continue the run in the results folder.", metavar="")
    ] = False,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply", help="Write the winner over FILE if it has not changed.", metavar=""
        ),
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
    from bot import console, projects, run
    from bot.wiring import Workshop

    if file is None and capture is None:
        raise ConfigError("Missing argument FILE", "name what to optimize: optiml run FILE.cu")
    declared = (
        _captured(capture, kernel, file)
        if capture
        else projects.of_file(file or Path(), kernel, arguments or (), headers=True)
    )
    flags = flags_of(
        budget,
        out,
        policy=policy,
        objective=objective,
        evaluations=evaluations,
        seed=seed,
        device=device,
        scheduler=scheduler,
        strategy=strategy,
        model=model,
        answers=None if answers is None else str(answers),
    )
    chosen = settings.load(flags, declared.settings)
    shown = console_of(quiet=as_json)
    for remark in declared.remarks:
        shown.print(Text(visible(remark), style="yellow"), soft_wrap=True)
    results = []
    with Workshop(
        chosen,
        replay=replay,
        record=record,
        command=command_line(),
        say=teller(shown),
        first=declared.kernels[0] if declared.kernels else None,
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
        print_json("run", results=[console.as_json(one.outcome, one.files) for one in results])


def _captured(folder: Path, kernel: str | None, source: Path | None) -> projects.Declared:
    from bot import capture, projects

    return projects.Declared(capture.pairs(capture.workloads(folder, kernel, source)))


def _optimize(order: run.Order, workshop: Workshop, shown: Console) -> run.Finished:
    from bot import console, run
    from bot.progress import Progress

    confidence = order.workload.accept.confidence
    with Progress(shown, order.workload.name, workshop.budget, confidence) as progress:
        finished = run.optimize(order, workshop, progress.on_step, progress.on_event)
    console.show(shown, finished.outcome, list(finished.files.values()))
    if finished.remark:
        shown.print(Text(visible(finished.remark), style="yellow"), soft_wrap=True)
    return finished


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
        int,
        typer.Option(help="Launches to keep of each kernel, different ones first.", min=1, max=64),
    ] = 4,
    skip: Annotated[int, typer.Option(help="Launches of each kernel to skip first.", min=0)] = 0,
    limit: Annotated[
        str, typer.Option(help="Most memory contents to keep: 500M, 4G.", metavar="SIZE")
    ] = "4G",
    source: Annotated[
        Path | None, typer.Option(help="The file the kernels are in.", metavar="FILE")
    ] = None,
    randomize: Annotated[
        bool,
        typer.Option(
            "--randomize",
            help="Keep random values of the same distribution, not the real ones.",
            metavar="",
        ),
    ] = False,
    through: Annotated[
        str | None,
        typer.Option(help="How launches are intercepted: cupti, or preload where that fails."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the capture, inside the project.", metavar="DIR")
    ] = Path("optiml-capture"),
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier capture.", metavar="")
    ] = False,
) -> None:
    """Record a program's kernel launches as workloads with their real inputs and outputs.

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
    shown = console_of()
    shown.print(Text(visible(done.text.rstrip())), soft_wrap=True)
    if done.found:
        shown.print(f"\noptimize with: optiml run --capture {out}", soft_wrap=True)


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
    out: Annotated[Path | None, typer.Option(help="Folder for the results.", metavar="DIR")] = None,
    unverified: Annotated[
        bool,
        typer.Option(
            "--unverified", help="Continue without a reference; nothing is verified.", metavar=""
        ),
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

    flags = flags_of(
        budget,
        out,
        policy=policy,
        objective=objective,
        evaluations=evaluations,
        seed=seed,
        device=device,
    )
    order = synth_view.Order(
        description,
        project,
        workload,
        flags,
        replay,
        record,
        command_line(),
        unverified,
        out is None,
    )
    made = synth_view.synthesized(order, console_of(quiet=as_json))
    if as_json:
        print_json("synth", **synth_view.as_json(made))


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

    # The agent is the model.
    flags = flags_of(budget, out, policy="rules", evaluations=evaluations, seed=seed, device=device)
    mcp_door.open_door(path, flags, replay, command_line())
