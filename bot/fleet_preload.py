"""Makes a plain `dask worker` one of ours, for what starts workers itself, such as dask-jobqueue.

    dask worker ADDRESS --no-nanny --nthreads 3 --resources GPU=1 --preload bot.fleet_preload

Settings come from the environment, as for `optiml worker`.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click
from distributed import Worker

from bot import fleet_door, settings
from bot.markdown import visible
from runners.fleet_worker import BenchPlugin, quiet

_open = ExitStack()


def _say(words: str) -> None:
    click.echo(visible(words))


@click.command()
@click.option("--device", default="cuda:0", help="The GPU, counted as CUDA shows them here.")
@click.option("--replay", type=click.Path(path_type=Path), help="Answer from a recording.")
async def dask_setup(worker: Worker, device: str, replay: Path | None) -> None:
    """Give the worker its bench before it joins the scheduler."""
    quiet()
    bench = _open.enter_context(
        fleet_door.benched(settings.load({"scheduler": None}), device, replay, _say)
    )
    await worker.plugin_add(BenchPlugin(bench))


def dask_teardown(worker: Worker) -> None:
    """Give the GPU back."""
    del worker
    _open.close()
