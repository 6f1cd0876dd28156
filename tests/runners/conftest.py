"""What several tests of the worker need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.judge import Judge
from tests.runners.host_gpu import HostGpu, HostOracle, artifact


@pytest.fixture
def judge(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Judge]:
    """A judge on a device of host memory, whose original runs there, too."""
    made = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    oracle.remembers = "monkeypatch" not in request.fixturenames
    made._oracle = oracle
    yield made
    made.close()
