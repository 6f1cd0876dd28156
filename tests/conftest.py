"""Settings of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from runners import far_cases, recipes, small_runs
from tests import once, turns

# How long an example takes tells of the machine's load, not of the code. Tests of the GPU run
# where only what they need is installed.
if find_spec("hypothesis") is not None:
    settings = import_module("hypothesis").settings
    settings.register_profile("suite", deadline=None)
    settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what scripts/test chooses and measures with (`tests.turns`)."""
    of_ours = parser.getgroup("optiml")
    of_ours.addoption(
        "--turn", help="leave out slow tests whose turn it is not: a number or a commit"
    )
    of_ours.addoption("--seconds-to", type=Path, help="a folder for the CPU seconds of each test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests whose turn it is not, where turns are asked for."""
    asked = config.getoption("--turn")
    if not asked:
        return
    names = [item.nodeid for item in items]
    left = turns.left_out(names, turns.known(), turns.turn(asked))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test takes, where that is asked for."""
    folder: Path | None = item.config.getoption("--seconds-to")
    begun = turns.spent()
    try:
        return (yield)
    finally:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / str(os.getpid())).open("a") as told:
                told.write(f"{turns.spent() - begun:.3f} {item.nodeid}\n")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among what is only just collected, nor among it later.

    Thousands of tests and the modules they need stay to the end, and every process that runs some
    of them has them all: to go through them again and again took a third of the collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# What is asked by chance, of all: a device that g++ stands in for takes many times as long for it.
RECIPES, FUZZED, FAR_CASES = 2, 6, 0

# Garbage is looked for less often than usual among what is new: tests make much and keep little.
YOUNG = 20_000


def _keep(phase: str, info: Mapping[str, int]) -> None:
    """Look once only through what is still there after all of it was looked through.

    A process that runs thousands of tests keeps what it has read of the red team and of recordings,
    a gigabyte in the end: going through that again and again took an eighth of its time.
    """
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()


def pytest_configure() -> None:
    """Let collections be few, and each of them short; and recipes be few."""
    recipes.COUNT, small_runs.MOST, far_cases.CASES = RECIPES, FUZZED, FAR_CASES
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    if _keep not in gc.callbacks:
        gc.callbacks.append(_keep)


@pytest.fixture(scope="session", autouse=True)
def _one_place_for_what_is_built_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    # Beside others, a process has a folder of its own in the one of the run.
    once.settle((base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "built")  # noqa: TID251
