"""Options of the GPU suite: what to try of many, and when to begin no further test."""

from __future__ import annotations

import time

import pytest

from tests.gpu.budget import BEGUN, LEFT_OUT, sampled

HERE = "tests/gpu/"


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
    """Leave out what a run of limited time does not try."""
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
    items[:] = [item for item in items if item not in out]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin nothing when the time is over; what has been judged stands."""
    seconds = item.config.getoption("--gpu-seconds", default=None)
    if seconds is not None and time.monotonic() - BEGUN > seconds:
        pytest.skip(LEFT_OUT)
