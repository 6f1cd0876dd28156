"""What a tool finds in machine code alone, and not in the program, is held against nobody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners import cubin, spec
from runners.building import Building
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.fault import Fault
from runners.plainer import Plainer, asks
from runners.sanitizer import ENDED, LATE, Finding, Sanitizer, read
from runners.second_look import Lent
from runners.spec import Json
from runners.watched import Watched
from tests.redteam import table
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_second_look import FAKE

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
BANNER = "========= COMPUTE-SANITIZER\n"


def one(head: str, thread: int = 0, detail: str = "Access at 0x58 is out of bounds") -> str:
    """Return an error as memcheck prints it."""
    return f"""========= {head}
=========     at bagmean+0x2ae0 in bagmean.cu:38
=========     by thread ({thread},0,0) in block (0,0,0)
=========     {detail}
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x2c8f3d] in libcuda.so.1
=========
"""


def summed(errors: int, left: int = 0) -> str:
    """Return how it ends."""
    words = f"========= ERROR SUMMARY: {errors} error{'' if errors == 1 else 's'}\n"
    more = (
        "errors were not printed. Use --print-limit option to adjust the number of printed errors"
    )
    return words + (f"========= ERROR SUMMARY: {left} {more}\n" if left else "")


SHARED = "Invalid __shared__ read of size 16 bytes"
UNSET = "Uninitialized __global__ memory read of size 4 bytes"
GLOBAL = "Invalid __global__ read of size 4 bytes"
WRITE = "Invalid __shared__ write of size 8 bytes"
READS = BANNER + "".join(one(SHARED, n) for n in range(3)) + summed(3)
FIRST_TEN = BANNER + "".join(one(SHARED, n) for n in range(10)) + summed(48, 38)
ONE_ELSE = BANNER + "".join(one(SHARED, n) for n in range(47)) + one(GLOBAL) + summed(48)
UNREAD = BANNER + one(UNSET, detail="Access to 0x7f5a2f600000") + summed(1)


@pytest.mark.parametrize(
    ("tool", "text", "counted", "asked"),
    [
        ("memcheck", READS, (3, 3, 3), True),
        ("memcheck", FIRST_TEN, (48, 10, 10), True),
        ("memcheck", BANNER + one(SHARED) + one(WRITE) + summed(2), (2, 2, 1), False),
        ("memcheck", BANNER + one(SHARED) + one(GLOBAL) + summed(2), (2, 2, 1), False),
        ("memcheck", BANNER + one(GLOBAL) + summed(1), (1, 1, 0), False),
        ("memcheck", BANNER + one("Invalid __local__ read of size 8 bytes") + summed(1), (1, 1, 0), False),
        ("memcheck", BANNER + one(SHARED, detail="Access at 0x58 is misaligned") + summed(1), (1, 1, 0), False),
        ("memcheck", BANNER + one(SHARED, detail="Address 0x0 is not located in executing CTA") + summed(1), (1, 1, 0), False),
        ("memcheck", summed(2), (2, 0, 0), False),
        ("initcheck", UNREAD, (1, 1, 0), True),
        ("initcheck", summed(0), (0, 0, 0), False),
        ("synccheck", BANNER + one("Barrier error detected. Divergent thread(s) in block") + summed(1), (1, 1, 0), False),
    ],
)  # fmt: skip
def test_only_reads_past_the_end_of_shared_memory_and_unset_memory_are_looked_for_again(
    tool: str, text: str, counted: tuple[int, int, int], asked: bool
) -> None:
    """What is written, is in other memory, or has another reason is a fault where it stands."""
    found = read(tool, text)
    assert (found.errors, found.printed, found.shared_reads) == counted
    assert asks(found) == asked


class Looks:
    """Says of the plain build what it is told."""

    def __init__(self, plain: Finding | None) -> None:
        self.plain = plain
        self.calls: list[str] = []

    def __call__(self, artifact: Json, tool: str, seconds: float) -> Finding | None:
        assert 0 < seconds <= 60
        self.calls.append(Path(artifact["path"]).name)
        return self.plain


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Json]:
    """Builds that have as many bytes of shared memory as their files are long."""
    monkeypatch.setattr(cubin, "shared", lambda data: {".nv.shared.k": len(data)})
    made = {}
    for name, text in {"mine": "16", "plain": "16", "larger": "one more"}.items():
        (tmp_path / name).write_text(text)
        made[name] = {"path": str(tmp_path / name)}
    return {**made, "gone": {"path": str(tmp_path / "gone")}}


def clean(tool: str) -> Finding:
    return Finding(tool, 0, "", 1.0, ran=3)


FAULTY = read("memcheck", READS)


@pytest.mark.parametrize(
    ("found", "plain", "looks"),
    [
        (read("memcheck", READS), "plain", Looks(clean("memcheck"))),
        (read("memcheck", FIRST_TEN), "plain", Looks(clean("memcheck"))),
        (read("initcheck", UNREAD), "plain", Looks(clean("initcheck"))),
        (read("initcheck", UNREAD), "larger", Looks(clean("initcheck"))),
    ],
)
def test_what_the_plain_build_has_not_is_excused(
    built: dict[str, Json], found: Finding, plain: str, looks: Looks
) -> None:
    words = Plainer(built["mine"], lambda: built[plain]).excuse(found, looks, 60.0)
    assert words.startswith(f"found {found.errors} error")
    assert words.endswith(f"is not held against it: {found.words}")
    assert looks.calls == [plain]


@pytest.mark.parametrize(
    ("found", "plain", "looks", "seconds"),
    [
        (FAULTY, "plain", Looks(FAULTY), 60.0),
        (FAULTY, "plain", Looks(read("memcheck", BANNER + one(GLOBAL) + summed(1))), 60.0),
        (FAULTY, "plain", Looks(Finding("memcheck", None, "", 1.0, LATE, 1)), 60.0),
        (FAULTY, "plain", Looks(Finding("memcheck", None, "", 1.0, ENDED, 1)), 60.0),
        (FAULTY, "plain", Looks(None), 60.0),
        (FAULTY, "plain", Looks(clean("memcheck")), 0.1),
        (FAULTY, "", Looks(clean("memcheck")), 60.0),
        (FAULTY, "larger", Looks(clean("memcheck")), 60.0),
        (FAULTY, "gone", Looks(clean("memcheck")), 60.0),
        (read("memcheck", FIRST_TEN), "plain", Looks(read("memcheck", ONE_ELSE)), 60.0),
        (read("memcheck", BANNER + one(WRITE) + summed(1)), "plain", Looks(clean("memcheck")), 60.0),
        (read("initcheck", UNREAD), "plain", Looks(read("initcheck", UNREAD)), 60.0),
        (read("initcheck", UNREAD), "plain", Looks(Finding("initcheck", None, "", 1.0, LATE)), 60.0),
        (Finding("racecheck", 2, "Race reported", 1.0), "plain", Looks(clean("racecheck")), 60.0),
    ],
)  # fmt: skip
def test_what_is_not_known_for_certain_is_held_against_it(
    built: dict[str, Json], found: Finding, plain: str, looks: Looks, seconds: float
) -> None:
    """No build, other memory, no time, no end, a fault there as well, or one of another kind."""
    plainer = Plainer(built["mine"], lambda: built.get(plain))
    assert not plainer.excuse(found, looks, seconds)


def test_a_build_is_made_once_and_may_fail(built: dict[str, Json]) -> None:
    """Also where this machine cannot compile."""
    made: list[int] = []

    def build() -> Json:
        made.append(1)
        raise Fault("ConfigError", "no compiler")

    plainer = Plainer(built["mine"], build)
    for _ in range(2):
        assert not plainer.excuse(FAULTY, Looks(clean("memcheck")), 60.0)
    assert len(made) == 1


Say = Callable[[Json, Json, Json], None]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: dict[str, Json]) -> Say:
    """Put a compute-sanitizer on PATH that says what it is told of each build."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program, told = folder / "compute-sanitizer", tmp_path / "said.json"
    program.write_text(FAKE.format(said=str(told)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")  # noqa: TID251 - what a shell has

    def install(mine: Json, plain: Json, theirs: Json) -> None:
        paths = (built["mine"]["path"], built["plain"]["path"], "theirs")
        told.write_text(json.dumps(dict(zip(paths, (mine, plain, theirs), strict=True))))

    return install


def _watched(
    tmp_path: Path, built: dict[str, Json], plain: str
) -> tuple[Watched, Report, list[Combination]]:
    data = _job(SCALE.replace("1.f", "1.0f"), SCALE)
    request = {"job": data, "candidate": built["mine"], "baseline": {"path": "theirs"}}
    asked = [Combination({"n": 7.0 + n}, "declared", 5) for n in range(2)]
    terms = (Sanitizer(tmp_path, 0), request, spec.parse(data), asked, 20.0)
    watched = Watched(*terms, Lent(lambda _: None), lambda: built.get(plain))
    return watched, Report(), asked


@pytest.mark.parametrize(("tool", "text"), [("memcheck", READS), ("initcheck", UNREAD)])
def test_a_candidate_is_right_whose_plain_build_is(
    tmp_path: Path, said: Say, built: dict[str, Json], tool: str, text: str
) -> None:
    """What was found is noted beside what else was not held against it; so of further runs."""
    said({tool: text}, {}, {})
    watched, report, asked = _watched(tmp_path, built, "plain")
    (note,) = watched.held(report)
    assert note.startswith(f"compute-sanitizer {tool} found {read(tool, text).errors} error")
    assert report.checks["sanitizer", tool]["passed"]
    assert report.checks["sanitizer", tool]["error"] == read(tool, text).errors
    if tool == "memcheck":
        (again,) = watched.judged(watched.glimpse(asked), asked, report)
        assert again == note


@pytest.mark.parametrize(("tool", "text"), [("memcheck", READS), ("initcheck", UNREAD)])
@pytest.mark.parametrize("plain", ["plain", "none"])
def test_a_candidate_is_wrong_whose_plain_build_is_or_cannot_be_made(
    tmp_path: Path, said: Say, built: dict[str, Json], tool: str, text: str, plain: str
) -> None:
    said({tool: text}, {tool: text if plain == "plain" else 0}, {})
    watched, report, _ = _watched(tmp_path, built, plain)
    with pytest.raises(Wrong, match=tool) as caught:
        watched.held(report)
    assert caught.value.status == "wrong result"
    assert not report.checks["sanitizer", tool]["passed"]


def test_nothing_is_built_for_what_the_original_has_as_well(
    tmp_path: Path, said: Say, built: dict[str, Json]
) -> None:
    said({"memcheck": READS}, {"memcheck": READS}, {"memcheck": READS})
    watched, report, _ = _watched(tmp_path, built, "plain")
    assert watched.held(report) == []
    assert report.checks["sanitizer", "memcheck"]["passed"]
    calls = [json.loads(line)[0] for line in (tmp_path / "calls.txt").read_text().splitlines()]
    assert built["plain"]["path"] not in calls


def _red(label: str) -> table.Candidate:
    return next(one for one in table.load() if one.label == label)


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(90, tmp_path)
    yield made
    made.close()


def _loads(path: str) -> list[str]:
    """Return the loads from shared memory of a cubin."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    done = subprocess.run([tool, "-sass", path], check=True, capture_output=True, text=True)
    return [word for word in done.stdout.split() if word.partition(".")[0] == "LDS"]


@needs_nvcc
def test_the_plain_build_of_a_kernel_loads_no_more_than_its_source(building: Building) -> None:
    """Eight bytes at a time, also where its project has a level of its own; symbols stay."""
    candidate = _red("bagmean/packed_list")
    job = candidate.job("confirm")
    job["workload"] = json.loads(json.dumps(job["workload"]))
    job["workload"]["build"]["flags"] += ["-Xptxas", "-O3"]
    mine, plain = building.compiled(candidate.source, job), building.plainer(candidate.source, job)
    assert plain is not None
    assert plain["symbols"]["bagmean"] == mine["symbols"]["bagmean"]
    shared = [cubin.shared(Path(one["path"]).read_bytes()) for one in (mine, plain)]
    assert shared[0] == shared[1] != {}
    assert set(_loads(plain["path"])) == {"LDS", "LDS.64"}


@needs_nvcc
def test_the_plain_build_of_an_entry_function_stores_what_nobody_reads(building: Building) -> None:
    """Its atomics that are read, and its host code, are as they were."""
    candidate = _red("islands/four_turns")
    job = candidate.job("confirm")
    mine, plain = building.compiled(candidate.source, job), building.plainer(candidate.source, job)
    assert plain is not None
    assert plain["kind"] == "shared"
    assert plain["symbols"]["islands"]
    assert mine["device_code"] != plain["device_code"]
    tool = shutil.which("cuobjdump")
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    codes = [
        subprocess.run([tool, "-sass", one["cubin"]], check=True, capture_output=True, text=True)
        for one in (mine, plain)
    ]
    assert ["EXCH" in one.stdout for one in codes] == [True, False]


@needs_nvcc
def test_what_does_not_compile_has_no_plain_build(building: Building) -> None:
    for label in ("bagmean/packed_list", "islands/four_turns"):
        assert building.plainer("no CUDA", _red(label).job("confirm")) is None
