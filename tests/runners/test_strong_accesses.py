"""A race between relaxed loads and stores is none: racecheck is asked where these are atomics."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import spec, strong_accesses
from runners.building import Building
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.fault import Fault
from runners.sanitizer import ENDED, LATE, Finding, Sanitizer
from runners.second_look import Lent
from runners.spec import Json
from runners.strong_accesses import LOADS, STORES, as_atomics
from runners.watched import Watched
from tests.redteam import table
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_second_look import FAKE

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
RACE = (
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Read access at void cuda::std::load<unsigned long>+0x5\n"
    "=========     and Write access at settle+0x7d0 in settle.cu:36 [12 hazards]\n"
    "=========\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
)
# As nvcc writes a word that is loaded and stored by `cuda::atomic_ref`, beside plain accesses.
SETTLE = """\
	.loc	4 12 3
	st.shared.u64 	[%r2], %rd31;
	bar.sync 	0;
	// begin inline asm
	ld.relaxed.cta.b64 %rd32,[%rd33];
	// end inline asm
	@%p3 bra 	$L__BB0_9;
	// begin inline asm
	st.release.cta.b64 [%rd4+8],%rd37;
	// end inline asm
	ld.shared.u32 	%r61, [%r60];
"""


def test_relaxed_loads_and_stores_are_written_as_atomics_and_nothing_else() -> None:
    """A load writes nothing but a zero over a zero, and what is plain stays so."""
    says = {
        LOADS: ("\tld.relaxed.cta.b64 %rd32,[%rd33];", "\tatom.relaxed.cta.cas.b64 %rd32, [%rd33], 0, 0;"),
        STORES: ("\tst.release.cta.b64 [%rd4+8],%rd37;", "\tatom.release.cta.exch.b64 _, [%rd4+8], %rd37;"),
    }  # fmt: skip
    for which, line in says.items():
        changed = as_atomics(SETTLE, which)
        assert changed is not None
        both = zip(SETTLE.splitlines(), changed.splitlines(), strict=True)
        assert [(a, b) for a, b in both if a != b] == [line]
        assert as_atomics(changed, which) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ld.acquire.gpu.shared.u32 %r1, [%r2];", "atom.acquire.gpu.shared.cas.b32 %r1, [%r2], 0, 0;"),
        ("@!%p1 st.relaxed.sys.shared::cta.f32 [room+4], %f1;", "@!%p1 atom.relaxed.sys.shared::cta.exch.b32 _, [room+4], %f1;"),
        ("ld.shared.u32 %r1, [%r2];", None),
        ("st.shared.v2.u32 [%r2], {%r3, %r4};", None),
        ("ld.volatile.shared.u32 %r1, [%r2];", None),
        ("st.volatile.u32 [%rd2], %r1;", None),
        ("ld.u32 %r1, [%rd2];", None),
        ("ld.relaxed.gpu.global.u32 %r1, [%rd2];", None),
        ("ld.relaxed.cta.b8 %rs1, [%rd2];", None),
        ("ld.relaxed.cta.v2.b64 {%rd1, %rd2}, [%rd3];", None),
        ("atom.relaxed.cta.add.u32 %r1, [%rd2], %r3;", None),
        ("// ld.relaxed.cta.b64 %rd32,[%rd33];", None),
        ('.file 1 "ld.relaxed.cta.b64 %rd32,[%rd33];"', None),
    ],
)  # fmt: skip
def test_only_strong_accesses_to_whole_words_that_may_be_shared_are_changed(
    line: str, says: str | None
) -> None:
    """No weak, volatile or vector ones, none of bytes, and none of global memory."""
    assert [one for which in (LOADS, STORES) if (one := as_atomics(line, which))] == (
        [says] if says else []
    )


FOUND = Finding("racecheck", 4, "Race reported between Read access at k+0x530", 1.0)
CLEAN = Finding("racecheck", 0, "", 1.0, ran=2)


@pytest.mark.parametrize(
    ("found", "made", "again", "seconds", "excused"),
    [
        (FOUND, {"path": "atomics"}, CLEAN, 60.0, True),
        (FOUND, {"path": "atomics"}, FOUND, 60.0, False),
        (FOUND, {"path": "atomics"}, Finding("racecheck", None, "", 1.0, LATE, 1), 60.0, False),
        (FOUND, {"path": "atomics"}, Finding("racecheck", None, "", 1.0, ENDED, 1), 60.0, False),
        (FOUND, {"path": "atomics"}, None, 60.0, False),
        (FOUND, {"path": "atomics"}, CLEAN, 0.1, False),
        (FOUND, None, CLEAN, 60.0, False),
        (dataclasses.replace(FOUND, tool="memcheck"), {"path": "atomics"}, CLEAN, 60.0, False),
        (CLEAN, {"path": "atomics"}, CLEAN, 60.0, False),
    ],
)
def test_only_a_build_without_a_race_excuses(
    found: Finding, made: Json | None, again: Finding | None, seconds: float, excused: bool
) -> None:
    said = strong_accesses.excuse(found, lambda _: made, lambda *_: again, seconds)
    assert bool(said) == excused
    assert not excused or (said.startswith("found 4 errors") and said.endswith(found.words))


@pytest.mark.parametrize("racy", [LOADS, STORES])
def test_a_build_with_a_race_or_without_its_strong_accesses_excuses_nothing(racy: str) -> None:
    """A plain store races with a strong load where loads are plain, a plain load where stores are.

    And where a candidate has no strong stores, what races with its strong loads is a plain one.
    """

    def look(artifact: Json, tool: str, seconds: float) -> Finding:
        return FOUND if artifact["path"] == racy else CLEAN

    def build(which: str) -> Json | None:
        return None if which == racy else {"path": which}

    assert strong_accesses.excuse(FOUND, lambda which: {"path": which}, lambda *_: CLEAN, 60.0)
    assert not strong_accesses.excuse(FOUND, lambda which: {"path": which}, look, 60.0)
    assert not strong_accesses.excuse(FOUND, build, lambda *_: CLEAN, 60.0)


def test_what_cannot_be_built_excuses_nothing() -> None:
    def build(_which: str) -> Json:
        raise Fault("ConfigError", "no compiler")

    assert not strong_accesses.excuse(FOUND, build, lambda *_: CLEAN, 60.0)


@pytest.mark.parametrize(("kind", "right"), [("clean", True), ("racy", False), ("none", False)])
def test_a_finalist_is_held_to_what_is_found_with_atomics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, right: bool
) -> None:
    """A note says so where it is right."""
    folder, told = tmp_path / "bin", tmp_path / "said.json"
    folder.mkdir()
    program = folder / "compute-sanitizer"
    program.write_text(FAKE.format(said=str(told)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")  # noqa: TID251 - what a shell has
    again = {"racecheck": RACE} if kind == "racy" else {}
    told.write_text(json.dumps({"mine": {"racecheck": RACE}, "atomics": again, "theirs": {}}))
    data = _job(SCALE.replace("1.f", "1.0f"), SCALE)
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    asked = [Combination({"n": 7.0 + n}, "declared", 5) for n in range(2)]
    made = None if kind == "none" else {"path": "atomics"}
    terms = (Sanitizer(tmp_path, 0), request, spec.parse(data), asked, 20.0, Lent(lambda _: None))
    watched, report = Watched(*terms, lambda: None, lambda _: made), Report()
    if right:
        (note,) = watched.held(report)
        assert note.startswith("compute-sanitizer racecheck found 1 error, and none where")
    else:
        with pytest.raises(Wrong, match="racecheck: Race reported"):
            watched.held(report)
    assert report.checks["sanitizer", "racecheck"]["passed"] == right


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(90, tmp_path)
    yield made
    made.close()


def _red(label: str) -> table.Candidate:
    return next(one for one in table.load() if one.label == label)


@needs_nvcc
def test_what_the_compiler_makes_of_atomic_references_is_built_with_atomics(
    building: Building,
) -> None:
    """Of the same symbols; what has no strong access is not built, whatever its functions' names."""
    candidate = _red("ancestry/settling")
    job = candidate.job("confirm")
    mine = building.compiled(candidate.source, job)
    ptx = building.device_code(candidate.source, job)
    assert ptx is not None
    for which, what in ((LOADS, "ld"), (STORES, "st")):
        made = building.for_races(candidate.source, job, which)
        assert made is not None
        assert made["symbols"].keys() == mine["symbols"].keys()
        assert made["device_code"] != mine["device_code"]
        changed = as_atomics(ptx, which)
        assert changed is not None
        assert re.findall(r"\b(?:ld|st)\.relaxed", changed) != []
        assert f"{what}.relaxed" not in changed
    forged = candidate.source.replace("theirs.load(cuda::memory_order_relaxed)", "words[link]")
    forged = forged.replace("mine.store(pack(own, hops, link), cuda::memory_order_relaxed)",
                            "words[tid] = pack(own, hops, link)")  # fmt: skip
    assert forged.count("memory_order_relaxed") == 0
    assert building.for_races(forged, job, LOADS) is None
    assert building.for_races("no CUDA", job, STORES) is None


@needs_nvcc
def test_of_an_entry_function_only_device_code_changes(building: Building) -> None:
    """Its host code goes on to launch what there is."""
    source = """
#include <cuda/atomic>
__global__ void k(int* a) {
    __shared__ int word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> ref(word);
    if (threadIdx.x == 1) ref.store(5, cuda::memory_order_release);
    if (threadIdx.x == 2) while (ref.load(cuda::memory_order_acquire) == 0) {}
    if (threadIdx.x == 2) a[blockIdx.x] = word;
}
extern "C" void islands(int* a) { k<<<1, 64>>>(a); }
"""
    job = _red("islands/four_turns").job("confirm")
    for which, instruction in ((LOADS, "CAS"), (STORES, "EXCH")):
        made = building.for_races(source, job, which)
        assert made is not None
        assert made["kind"] == "shared"
        assert made["symbols"]["islands"]
        if (tool := shutil.which("cuobjdump")) is not None:
            done = subprocess.run([tool, "-sass", made["cubin"]], check=True, capture_output=True, text=True)  # fmt: skip
            assert instruction in done.stdout
