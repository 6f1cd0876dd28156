"""Student's t, and when its library is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from optimizer import student


def test_quantiles_are_those_of_the_tables() -> None:
    assert student.quantile(9, 0.995) == pytest.approx(3.2498, abs=1e-4)
    assert student.quantile(1e9, 0.975) == pytest.approx(1.95996, abs=1e-4)


def test_the_search_is_imported_without_scipy() -> None:
    """That would make every command wait for it."""
    code = "import sys, optimizer.search; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
