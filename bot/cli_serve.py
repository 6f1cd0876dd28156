"""`optiml worker`, `scheduler`, `serve`, `pause`, `resume`, `action`: serving others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot import settings
from bot.cli_options import Replay, complain, console_of, teller
from optimizer.errors import ConfigError


def action_command() -> None:
    """Run one job of a GitHub workflow: review on a GPU, publish, or order a review.

    Its input comes from environment variables that `action.yml` sets: docs/action.md.
    """
    from bot import action

    raise typer.Exit(action.main(settings.surroundings(), complain))


def worker_command(
    jobs: Annotated[
        Path | None, typer.Argument(help="Jobs to evaluate, JSON.", show_default=False)
    ] = None,
    results: Annotated[
        Path | None, typer.Argument(help="Where to write the verdicts, JSON.", show_default=False)
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
    """Evaluate jobs on this machine's GPUs: those of a file, or those that a scheduler sends.

    With files: for schedulers of any kind; the same as `python -I -m runners.worker JOBS RESULTS`,
    which needs little more than numpy and pycuda installed. With --scheduler: one process for each
    GPU joins a scheduler of dask.distributed and serves searches until it is stopped. See
    docs/scaling.md.

        optiml worker jobs.json results.json
        optiml worker --scheduler tcp://127.0.0.1:8786
        optiml worker --scheduler tls://gpus.example:8786 --device cuda:1
    """
    if scheduler is None and jobs is not None and results is not None:
        from runners import worker

        raise typer.Exit(worker.main(["--gpu", str(gpu), str(jobs), str(results)]))
    if jobs is not None or (scheduler is None and not settings.load().scheduler):
        raise ConfigError("a worker needs JOBS and RESULTS, or --scheduler", "optiml worker --help")
    from bot import fleet_door

    if with_parent:
        fleet_door.with_parent()
    chosen = settings.load({"scheduler": scheduler})
    fleet_door.work(chosen, device, replay, teller(console_of()))


def scheduler_command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8786,
) -> None:
    """Start a dask.distributed scheduler, which connects searches with GPU workers.

    Whoever can connect to it can run code on all its workers. It listens on loopback unless told
    otherwise, and elsewhere only with TLS. See docs/scaling.md.

        optiml scheduler
        optiml scheduler --host 10.0.0.5
    """
    from bot import fleet_door

    fleet_door.schedule(settings.load(), host, port, teller(console_of()))


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


def pause_command(
    reason: Annotated[str, typer.Argument(help="Shown to whoever asks for a review.")],
    repository: Annotated[str, typer.Option(help="OWNER/NAME; all when left out.")] = "",
) -> None:
    """Stop the GitHub App's work: running reviews end, no new ones start."""
    from bot import switch

    console_of().print(switch.pause(settings.load({}), repository, reason))


def resume_command(
    repository: Annotated[str, typer.Option(help="OWNER/NAME; all when left out.")] = "",
) -> None:
    """Let the GitHub App work again after `optiml pause`."""
    from bot import switch

    console_of().print(switch.resume(settings.load({}), repository))
