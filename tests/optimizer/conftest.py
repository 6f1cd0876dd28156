"""What the tests of rules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from optimizer import testing
from tests import once


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Every rule writes for the samples what the tests of all rules compile, too."""
    compiled = testing._compile_error

    def error(nvcc: str, source: str, path: Path) -> str:
        def make(folder: Path) -> None:
            (folder / "said").write_text(compiled(nvcc, source, folder / "candidate.cu"))

        return (once.built(f"{nvcc} -ptx", source, make) / "said").read_text()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(testing, "_compile_error", error)
        yield
