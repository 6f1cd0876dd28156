"""What host code calls is read from its symbols, whatever its text looks like."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.linkage import beyond, constructors, imports

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed here")

BASE = """
#include <cstdio>
#include <cmath>
extern "C" void run(float* p, int n) { if (n < 0) puts("no"); p[0] = n; }
"""


def _built(folder: Path, text: str, name: str) -> bytes:
    source, target = folder / f"{name}.cpp", folder / f"{name}.so"
    source.write_text(text)
    command = ["g++", "-O1", "-shared", "-fPIC", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_bytes()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("p[0] = n;", ""),
        ("p[0] = ceilf(n * 0.7f) + log2(n);", ""),
        ('puts("yes"); p[0] = n;', ""),
        ('fclose(fopen("result.json", "w")); p[0] = n;', "calls fopen"),
        ('\n#define puts(x) remove("/tmp/x")\n puts("no"); p[0] = n;', "calls remove"),
        ('static struct S { S() { puts("early"); } } s; p[0] = n;', ""),
    ],
)
def test_what_a_candidate_calls_and_the_original_does_not(
    tmp_path: Path, edit: str, said: str
) -> None:
    """Arithmetic and what the original calls already is free."""
    original = _built(tmp_path, BASE, "original")
    candidate = _built(tmp_path, BASE.replace("p[0] = n;", edit), "candidate")
    found = beyond(candidate, original)
    assert (said in " ".join(found)) if said else found == ()


def test_what_runs_on_loading_is_counted(tmp_path: Path) -> None:
    """A static object with a constructor runs before anything is verified."""
    original = _built(tmp_path, BASE, "original")
    early = _built(tmp_path, BASE + 'static int x = puts("early"); int* y = &x;', "early")
    assert constructors(early) == constructors(original) + 1
    assert "run on loading" in " ".join(beyond(early, original))


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(data: bytes, head: bool) -> None:
    """A damaged file asks for nothing."""
    text = (b"\x7fELF\x02" if head else b"") + data
    assert isinstance(imports(text), frozenset)
    assert constructors(text) >= 0
