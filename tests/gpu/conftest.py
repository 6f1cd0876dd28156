"""The GPU suite's options: what to try of many, when to begin no further test; what is compiled ahead.

A module of tests that has a function `compile_ahead` gets its chosen tests and an `Ahead` before the
first test of all runs: its compilers work while the GPU does.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from optimizer.errors import OptimlError
from runners.dispatch import discover
from tests.gpu.ahead import Ahead
from tests.gpu.budget import BEGUN, LEFT_OUT, sampled

HERE = "tests/gpu/"
# Cores that are left to what runs meanwhile.
LEFT_CORES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; they exist where tests/gpu is named on the command line."""
    group = parser.getgroup("OptiML's GPU suite")
    group.addoption(
        "--gpu-sample", type=int, metavar="SEED", help="of what is alike, the one whose turn it is"
    )
    group.addoption(
        "--gpu-seconds", type=float, metavar="N", help="begin no test after so many seconds"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a run of limited time does not try; begin with what finds the GPU in use.

    A test that has opened the GPU in this very process keeps it open until the process ends, and
    the command line times nothing beside another process. A module says so by `BEFORE_ALL`.
    """
    items.sort(key=lambda item: not getattr(getattr(item, "module", None), "BEFORE_ALL", False))
    seed = config.getoption("--gpu-sample", default=None)
    if seed is None:
        return
    mine = [item for item in items if item.nodeid.startswith(HERE)]
    described = [
        (item.name.partition("[")[0], getattr(getattr(item, "callspec", None), "params", {}))
        for item in mine
    ]
    keep = sampled(described, seed)
    out = [item for item, kept in zip(mine, keep, strict=True) if not kept]
    config.hook.pytest_deselected(items=out)
    _said(config, out)
    items[:] = [item for item in items if item not in out]


def _said(config: pytest.Config, out: Sequence[pytest.Item]) -> None:
    """Say of each test how many of its kind are left to other seeds."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or not out:
        return
    counts = Counter(item.name.partition("[")[0] for item in out)
    terminal.write_line("")
    for name, count in sorted(counts.items()):
        terminal.write_line(f"left to other seeds: {count:3} {name}")


@pytest.fixture(scope="session", autouse=True)
def _compiling_ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Have modules compile what their chosen tests need while those of others run."""
    items = [item for item in request.session.items if item.nodeid.startswith(HERE)]
    modules = defaultdict(list)
    for item in items:
        modules[getattr(item, "module", None)].append(item)
    if not modules or not Path("/dev/nvidiactl").exists():
        yield
        return
    try:
        sm = discover()[0].capability
    except OptimlError:  # the tests say so themselves
        yield
        return
    count = max(4, (os.cpu_count() or 4) - LEFT_CORES)
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        ahead = Ahead(pool.submit, tmp_path_factory.mktemp("ahead"), stack, sm)
        for module, mine in modules.items():
            begin = getattr(module, "compile_ahead", None)
            if begin is not None:
                begin(ahead, [getattr(getattr(i, "callspec", None), "params", {}) for i in mine])
        yield
        pool.shutdown(cancel_futures=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin nothing when the time is over; what has been judged stands, and is read."""
    if item.get_closest_marker("told") is not None:
        return
    seconds = item.config.getoption("--gpu-seconds", default=None)
    if seconds is not None and time.monotonic() - BEGUN > seconds:
        pytest.skip(LEFT_OUT)
