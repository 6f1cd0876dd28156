"""Keep tests of the command line away from this machine's settings, caches and GPU."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import wiring
from bot.cli import main
from optimizer.errors import NoDeviceError
from tests.bot import scripted
from tests.bot.world import World
from tests.fake_github import prism
from tests.fake_github.server import FakeGithub

Cli = Callable[..., int]


@pytest.fixture(scope="session", autouse=True)
def validator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[prism.Validator | None]:
    """Put Prism before every fake GitHub, where it is installed; it starts with the first fake."""
    if prism.missing():
        yield None
        return
    made = FakeGithub.validator = prism.Validator(tmp_path_factory.mktemp("prism"))
    yield made
    FakeGithub.validator = None
    made.close()


@pytest.fixture(autouse=True)
def nothing_but_what_github_takes(validator: prism.Validator | None) -> Iterator[None]:
    """Fail a test whose requests, or answers, do not fit GitHub's own document."""
    yield
    wrong = validator.violations() if validator is not None else ()
    if wrong:
        pytest.fail("not what GitHub's document says:\n" + "\n".join(dict.fromkeys(wrong)))


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[object, ...]:
        raise NoDeviceError("this machine has no NVIDIA driver", "")

    monkeypatch.setattr(wiring, "discover", none)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_gpu: None) -> Cli:
    """Run the command line in a folder of its own, with nothing set from outside."""
    outside = list(os.environ)  # noqa: TID251 - to keep the tests away from it
    for name in [name for name in outside if name.startswith(("OPTIML_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPTIML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "160")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["optiml", *arguments])
        return main(arguments)

    return run


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> scripted.Scripted:
    """Put the scripted machine where this host's GPUs would be."""
    source = scripted.source()
    monkeypatch.setattr(wiring.Workshop, "_local", lambda _self, _say: source)
    assert isinstance(source.dispatcher, scripted.Scripted)
    return source.dispatcher


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Serve a fake GitHub with one repository."""
    made = World(tmp_path / "github")
    yield made
    made.close()
