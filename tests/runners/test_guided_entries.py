"""Host code tells how near the comparisons of its kernels came: a search goes by it, too."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from runners import nearest, spec
from runners.bench import Bench
from runners.building import Building
from runners.contents import Combination
from runners.entry_process import RemoteGuiding, RemoteSession
from runners.gpu import LaunchError
from runners.launchable import EntryLaunchable
from runners.nearest import HOSTED, MOST_SITES, NEVER, TELLS
from runners.session import LocalSession
from runners.spec import Json
from tests.redteam import table
from tests.runners.host_gpu import COMPILER
from tests.runners.test_many_calls import SMALL, Wire
from tests.runners.test_rows import Line, _described
from tests.runners.test_streams import Device

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
# What `HOSTED` does, for a compiler that knows no device.
TOLD = f"""
static unsigned int kept[{2 * MOST_SITES}] = {{3, 0xffffffffu, 0, 7}};
extern "C" int {TELLS}(unsigned int* told) {{
    for (int at = 0; at < {2 * MOST_SITES}; ++at) {{
        told[at] = kept[at];
        kept[at] = {NEVER}u;
    }}
    return FAILS;
}}
"""


def _library(tmp_path: Path, text: str) -> EntryLaunchable:
    assert COMPILER is not None
    source, made = tmp_path / "told.cpp", tmp_path / "told.so"
    source.write_text(text)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", made, source], check=True)
    one = object.__new__(EntryLaunchable)
    cast("Any", one)._library = ctypes.CDLL(str(made))
    return one


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_a_shared_object_is_asked_for_what_its_kernels_kept(tmp_path: Path) -> None:
    one = _library(tmp_path, TOLD.replace("FAILS", "0"))
    first, second = one.nearest(), one.nearest()
    assert first.shape == (MOST_SITES, 2)
    assert first[:2].tolist() == [[3, NEVER], [0, 7]]
    assert (second == NEVER).all()


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("text", "why"), [(TOLD.replace("FAILS", "700"), "error 700"), ("int other;", TELLS)]
)
def test_what_does_not_tell_is_not_run_by(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        _library(tmp_path, text).nearest()


class _Telling(EntryLaunchable):
    """A line that tells how often it was called since it was asked."""

    def __init__(self, line: Line) -> None:  # no shared object is loaded
        self._line = line
        self.streams = None
        self._told = 0

    def begins(self) -> None:
        self._line.begins()

    def failed(self) -> str:
        return ""

    def bind(self, *terms: Any) -> Any:
        return self._line.bind(*terms)

    def nearest(self) -> Any:
        words = np.full((MOST_SITES, 2), NEVER, np.uint32)
        words[1, 0] = self._line.calls - self._told
        self._told = self._line.calls
        return words


def _wire(says: Json | None = None, *, telling: bool = True) -> tuple[Wire, RemoteGuiding]:
    gpu, job = Device(), spec.parse(_described())
    line = Line(gpu, job)
    line.calls = 5  # what it was called before it is asked counts for nothing
    mine = _Telling(line) if telling else line
    session = LocalSession(Bench(cast("Any", gpu), job.work), cast("Any", (mine, line)), job)
    wire = Wire(session, says)
    wire.server._guiding = None
    remote = RemoteSession(cast("Any", wire), job)
    return wire, RemoteGuiding(cast("Any", wire), remote)


def test_distances_of_each_run_come_back_from_the_child() -> None:
    _, guiding = _wire()
    for one in (SMALL, Combination({"n": 3.0}, "declared", 1)):
        words = guiding.run(one, seconds=9.0)
        assert words.shape == (MOST_SITES, 2)
        assert words[1].tolist() == [1, NEVER]
        assert (np.delete(words, 1, 0) == NEVER).all()


def test_what_was_not_built_for_it_is_a_failed_launch() -> None:
    _, guiding = _wire(telling=False)
    with pytest.raises(LaunchError, match="no entry function"):
        guiding.run(SMALL, seconds=9.0)


@pytest.mark.parametrize(
    "said", [{}, {"nearest": 7}, {"nearest": "no"}, {"nearest": "00ff"}, {"nearest": None}]
)
def test_nonsense_from_the_child_ends_it(said: Json) -> None:
    wire, guiding = _wire(said)
    with pytest.raises(LaunchError, match="something else"):
        guiding.run(SMALL, seconds=9.0)
    assert wire.closed == 1


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    made = Building(90, tmp_path_factory.mktemp("watched"))
    yield made
    made.close()


@needs_nvcc
@pytest.mark.parametrize("label", ["rowscale/block_sums", "radix/base"])
def test_an_entry_function_is_built_so_that_it_tells(building: Building, label: str) -> None:
    one = next(c for c in table.load() if c.label == label)
    assert one.base.kind == "entry"
    built = building.watched(one.source, one.job("confirm", 1))
    assert built is not None
    code = Path(str(built["path"])).read_bytes()
    assert TELLS.encode() in code
    assert nearest.NAME.encode() in Path(str(built["cubin"])).read_bytes()
    plain = building.compiled(one.source, one.job("confirm", 1))
    assert TELLS.encode() not in Path(str(cast("Any", plain)["path"])).read_bytes()


@needs_nvcc
def test_where_distances_are_kept_is_declared_once(tmp_path: Path) -> None:
    """By the text of the host code, under the name and the size that PTX goes by."""
    source, made = tmp_path / "a.cu", tmp_path / "a.ptx"
    kernel = "__global__ void k(int* p) { if (p[threadIdx.x] == 77) p[0] = 1; }\n"
    source.write_text(kernel + HOSTED)
    subprocess.run(["nvcc", "-arch=sm_90", "-ptx", "-o", made, source], check=True)
    ptx = made.read_text()
    found = nearest.watched(ptx)
    assert found is not None
    assert found.sites == 1
    declared = f".b8 {nearest.NAME}[{8 * MOST_SITES}];"
    assert ptx.count(declared) == found.ptx.count(declared) == 1
    assert found.ptx.count(f"{nearest.NAME}[") == 1


@needs_nvcc
def test_programs_are_not_searched(building: Building) -> None:
    one = next(c for c in table.load() if c.base.kind == "program")
    assert building.watched(one.source, one.job("confirm", 1)) is None
