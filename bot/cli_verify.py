"""`optiml verify`: whether files that somebody wrote are right, and how much faster."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from bot import settings
from bot.cli_options import (
    Device,
    File,
    Json,
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
    from bot.verification import Verified
    from optimizer.model import Kernel, Launch

NOT_VERIFIED = 5


def verify_command(  # noqa: PLR0913, PLR0917 - each argument is an option of the command
    file: File,
    candidates: Annotated[
        list[Path],
        typer.Argument(
            help="Other versions of it, each a whole file.",
            metavar="CANDIDATE",
            show_default=False,
        ),
    ],
    kernel: Annotated[
        str | None, typer.Option(help="Only this kernel, as named in .optiml.yml.")
    ] = None,
    arguments: Annotated[
        str | None,
        typer.Option(help="Arguments for a program with main(), in one text.", metavar="TEXT"),
    ] = None,
    capture: Annotated[
        Path | None, typer.Option(help="Judge on captured launches.", metavar="DIR")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            help="Grid of all candidates where .optiml.yml says `tunable`; again for y and z."
        ),
    ] = None,
    block: Annotated[list[str] | None, typer.Option(help="Their block, likewise.")] = None,
    shared: Annotated[str | None, typer.Option(help="Their dynamic shared memory, bytes.")] = None,
    seed: Seed = None,
    device: Device = None,
    scheduler: Scheduler = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write trajectory, report and the fastest one's patch.", metavar="DIR"),
    ] = None,
    replay: Replay = None,
    record: Record = None,
    as_json: Json = False,
) -> None:
    """Verify files that somebody wrote as faster versions of FILE, and time them beside it.

    Each is asked what `optiml run` asks before it offers anything: edit boundary, every layer of
    verification, timing beside the original, confirmation in a fresh process with fresh inputs. A
    candidate takes FILE's place: its headers are looked for where FILE lies. Where a program's
    kernels are in headers, one named as such a header takes that one's place.

    Exit status: 0 when every candidate is verified, faster or not; 5 when one is refused, not
    recorded or not judged; else as of other commands.

        optiml verify kernels/softmax.cu faster.cu other.cu
        optiml verify softmax.cu warps.cu --grid "(rows*32+127)/128" --block 128
        optiml verify src/main.cu new/kernels.cuh --arguments "4096 input.txt"
        optiml verify softmax.cu faster.cu --json > verdicts.json
    """
    from bot import projects, verify_view
    from bot.verification import Order, given, verify
    from bot.wiring import Workshop

    if capture is None:
        words = shlex.split(arguments or "")
        declared = projects.of_file(file, kernel, words, headers=True)
    else:
        from bot import capture as capturing

        found = capturing.workloads(capture, kernel, file)
        declared = projects.Declared(capturing.pairs(found))
    flags = flags_of(
        None,
        out,
        policy="rules",
        objective="time",
        seed=seed,
        device=device,
        scheduler=scheduler,
    )
    chosen = settings.load(flags, declared.settings)
    orders = [
        Order(
            one,
            workload,
            [given(one, workload, file, path) for path in candidates],
            _launch(one, grid, block, shared),
            _folder(out, workload.name, len(declared.kernels)),
        )
        for one, workload in declared.kernels
    ]
    shown = console_of(quiet=as_json)
    for remark in declared.remarks:
        shown.print(Text(visible(remark), style="yellow"), soft_wrap=True)
    results: list[Verified] = []
    with Workshop(
        chosen,
        replay=replay,
        record=record,
        command=command_line(),
        say=teller(shown),
        first=declared.kernels[0],
    ) as workshop:
        for order in orders:
            with verify_view.Telling(shown, order.workload.name) as telling:
                seen = verify(order, workshop, telling)
            verify_view.show(shown, seen)
            results.append(seen)
            if seen.failure is not None or seen.interrupted:
                break
    if as_json:
        print_json("verify", results=[verify_view.as_json(one) for one in results])
    for seen in results:
        if seen.failure is not None:
            raise seen.failure
    if len(results) < len(orders) or not all(one.all_right for one in results):
        raise typer.Exit(NOT_VERIFIED)


def _folder(out: Path | None, name: str, count: int) -> Path | None:
    return out / name if out is not None and count > 1 else out


def _launch(
    kernel: Kernel, grid: list[str] | None, block: list[str] | None, shared: str | None
) -> Launch | None:
    """Return the geometry of the candidates; None for that of the original."""
    if not grid and not block and shared is None:
        return None
    if kernel.launch is None:
        raise ConfigError(
            f"{kernel.name} is launched by its own source, which --grid, --block and --shared "
            "cannot change",
            "let the candidate's text launch it as it should be",
        )
    return replace(
        kernel.launch,
        grid=tuple(grid or kernel.launch.grid),
        block=tuple(block or kernel.launch.block),
        shared=kernel.launch.shared if shared is None else shared,
    )
