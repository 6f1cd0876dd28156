"""Loads that the optimizer joins race with nobody: racecheck is asked where each is alone."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import lone_loads, spec
from runners.building import Building
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.fault import Fault
from runners.lone_loads import ALONE, as_volatile
from runners.sanitizer import ENDED, LATE, Finding, Sanitizer
from runners.second_look import Lent
from runners.spec import Json
from runners.watched import Watched
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_second_look import FAKE
from tests.runners.test_strong_accesses import RACE

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
# Ranks of a row, its numbers and their order in one room: the last loads of a row may be joined to
# one that reaches into the order.
RANKED = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    extern __shared__ float room[];
    float* order = room + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float mine = room[i];
        int rank = 0;
        for (int j = 0; j < n; ++j) rank += room[j] < mine || (room[j] == mine && j < i);
        order[rank] = mine;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = order[i];
}
"""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ld.shared.f32 \t%f1, [%r1];", "ld.volatile.shared.f32 \t%f1, [%r1];"),
        ("@!%p1 ld.shared.u8 %rs1, [room+4];", "@!%p1 ld.volatile.shared.u8 %rs1, [room+4];"),
        ("ld.weak.shared.b64 %rd1, [%r1];", "ld.volatile.shared.b64 %rd1, [%r1];"),
        ("ld.shared::cta.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];", "ld.volatile.shared::cta.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];"),
        ("{ld.shared.u32 %r1, [%r2];}", "{ld.volatile.shared.u32 %r1, [%r2];}"),
        ("ld.volatile.shared.u32 %r1, [%r2];", None),
        ("ld.relaxed.cta.shared.u32 %r1, [%r2];", None),
        ("ld.acquire.gpu.shared.u32 %r1, [%r2];", None),
        ("ld.global.f32 %f1, [%rd1];", None),
        ("ld.f32 %f1, [%rd1];", None),
        ("ld.param.u64 %rd1, [shared.f32];", None),
        ("st.shared.f32 [%r1], %f1;", None),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", None),
        ("atom.shared.add.u32 %r1, [%r2], 1;", None),
        ("// ld.shared.f32 %f1, [%r1];", None),
        ('.file 1 "ld.shared.f32 %f1, [%r1];"', None),
    ],
)  # fmt: skip
def test_only_plain_loads_from_shared_memory_are_changed(line: str, says: str | None) -> None:
    """No strong ones, none of other memory, and nothing that loads and writes."""
    assert as_volatile(line) == says


@given(st.lists(st.sampled_from(["ld.shared.f32 %f1, [%r1];", "bar.sync 0;", "// ld.shared.u8 \n", "st.shared.f32 [%r1], %f1;", "/* ", " */", '"', "\n", "ld.volatile.shared.f32 %f1, [%r1];"])))  # fmt: skip
def test_nothing_is_changed_but_by_one_word_and_never_twice(pieces: list[str]) -> None:
    ptx = " ".join(pieces)
    changed = as_volatile(ptx)
    if changed is None:
        return
    assert changed.replace("ld.volatile", "ld") == ptx.replace("ld.volatile", "ld")
    assert changed.count("ld.volatile") > ptx.count("ld.volatile")
    assert as_volatile(changed) is None


FOUND = Finding("racecheck", 4, "Race reported between Read access at k+0x530", 1.0)
CLEAN = Finding("racecheck", 0, "", 1.0, ran=2)


@pytest.mark.parametrize(
    ("found", "made", "again", "seconds", "excused"),
    [
        (FOUND, {"path": "alone"}, CLEAN, 60.0, True),
        (FOUND, {"path": "alone"}, FOUND, 60.0, False),
        (FOUND, {"path": "alone"}, Finding("racecheck", None, "", 1.0, LATE, 1), 60.0, False),
        (FOUND, {"path": "alone"}, Finding("racecheck", None, "", 1.0, ENDED, 1), 60.0, False),
        (FOUND, {"path": "alone"}, None, 60.0, False),
        (FOUND, {"path": "alone"}, CLEAN, 0.1, False),
        (FOUND, None, CLEAN, 60.0, False),
        (dataclasses.replace(FOUND, tool="memcheck"), {"path": "alone"}, CLEAN, 60.0, False),
        (CLEAN, {"path": "alone"}, CLEAN, 60.0, False),
    ],
)
def test_only_a_build_without_a_race_excuses(
    found: Finding, made: Json | None, again: Finding | None, seconds: float, excused: bool
) -> None:
    said = lone_loads.excuse(found, lambda _: made, lambda *_: again, seconds)
    assert bool(said) == excused
    assert not excused or (said.startswith("found 4 errors") and said.endswith(found.words))


def test_what_cannot_be_built_excuses_nothing() -> None:
    def build(_which: str) -> Json:
        raise Fault("ConfigError", "no compiler")

    assert not lone_loads.excuse(FOUND, build, lambda *_: CLEAN, 60.0)


@pytest.mark.parametrize(
    ("clean", "builds", "words"),
    [
        (["alone"], ["alone"], "no loads from shared memory are joined"),
        (["alone"], ["alone", "loads", "stores"], "no loads from shared memory are joined"),
        (["loads", "stores"], ["alone", "loads", "stores"], "are atomics"),
        (["loads", "stores"], ["loads", "stores"], "are atomics"),
        (["loads"], ["alone", "loads", "stores"], None),
        ([], ["alone"], None),
        (["alone"], [], None),
    ],
)
def test_a_finalist_is_held_to_what_is_found_in_every_build(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clean: list[str],
    builds: list[str],
    words: str | None,
) -> None:
    """One with loads that nothing joins, and two with atomics; a note says which it was."""
    folder, told = tmp_path / "bin", tmp_path / "said.json"
    folder.mkdir()
    program = folder / "compute-sanitizer"
    program.write_text(FAKE.format(said=str(told)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")  # noqa: TID251 - what a shell has
    said = {one: {} if one in clean else {"racecheck": RACE} for one in builds}
    told.write_text(json.dumps({"mine": {"racecheck": RACE}, "theirs": {}, **said}))
    data = _job(SCALE.replace("1.f", "1.0f"), SCALE)
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    asked = [Combination({"n": 7.0 + n}, "declared", 5) for n in range(2)]
    terms = (Sanitizer(tmp_path, 0), request, spec.parse(data), asked, 20.0, Lent(lambda _: None))

    def build(which: str) -> Json | None:
        return {"path": which} if which in builds else None

    watched, report = Watched(*terms, lambda: None, build), Report()
    if words is not None:
        (note,) = watched.held(report)
        assert note.startswith("compute-sanitizer racecheck found 1 error, and none where")
        assert words in note
    else:
        with pytest.raises(Wrong, match="racecheck: Race reported"):
            watched.held(report)
    assert report.checks["sanitizer", "racecheck"]["passed"] == (words is not None)


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(90, tmp_path)
    yield made
    made.close()


def _shared_loads(path: str) -> list[str]:
    tool = shutil.which("cuobjdump")
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    done = subprocess.run([tool, "-sass", path], check=True, capture_output=True, text=True)
    return [word for word in done.stdout.split() if word.partition(".")[0] in {"LDS", "BAR"}]


@needs_nvcc
def test_the_compiler_joins_no_loads_of_that_build(building: Building) -> None:
    """Four bytes at a time, between as many barriers as before."""
    job = _job(RANKED)
    mine, alone = building.compiled(RANKED, job), building.for_races(RANKED, job, ALONE)
    assert alone is not None
    assert alone["symbols"].keys() == mine["symbols"].keys()
    assert alone["device_code"] != mine["device_code"]
    before, after = _shared_loads(mine["path"]), _shared_loads(alone["path"])
    assert "LDS.128" in before
    assert {word for word in after if word.startswith("LDS")} == {"LDS"}
    assert [one.count("BAR.SYNC.DEFER_BLOCKING") for one in (before, after)] == [2, 2]


@needs_nvcc
def test_what_has_no_such_load_or_does_not_compile_has_no_such_build(building: Building) -> None:
    assert building.for_races(SCALE, _job(SCALE), ALONE) is None
    assert building.for_races("no CUDA", _job("no CUDA"), ALONE) is None
