"""On a real GPU: what compute-sanitizer finds and is no fault is held against no candidate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from runners import sanitizer, spec
from runners.building import Building
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.dispatch import discover
from runners.sandbox import Sandbox
from runners.sanitizer import Sanitizer
from runners.second_look import Lent
from runners.watched import Watched
from tests.redteam import table
from tests.runners.test_judge import _job
from tests.runners.test_lone_loads import RANKED

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.beside,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not Path("/dev/nvidiactl").exists() or shutil.which("nvcc") is None,
        reason="needs an NVIDIA GPU and nvcc",
    ),
]


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    if sanitizer.command() is None:
        pytest.skip("compute-sanitizer is not installed")
    made = Building(discover()[0].capability, tmp_path_factory.mktemp("plainer"))
    yield made
    made.close()


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Sanitizer]:
    sandbox = Sandbox("own")  # a process of its own, which has to end
    yield Sanitizer(tmp_path, 0, sandbox)
    sandbox.close()


@pytest.mark.parametrize(
    ("label", "tool", "case", "words"),
    [
        ("bagmean/packed_list", "memcheck", {"bags": 3, "width": 5, "dim": 48}, "__shared__ read"),
        ("islands/four_turns", "initcheck", {"h": 24, "w": 24}, "Uninitialized __global__"),
    ],
    ids=["a load that goes too far", "an exchange that nobody reads"],
)
def test_a_right_candidate_is_not_refused_for_what_its_program_does_not_do(
    building: Building,
    watcher: Sanitizer,
    label: str,
    tool: str,
    case: dict[str, float],
    words: str,
) -> None:
    """The tool finds it in what nvcc makes, not in the plain build; without one it is refused."""
    candidate = next(one for one in table.load() if one.label == label)
    described = candidate.job("confirm")
    job = spec.parse(described)
    mine = building.compiled(candidate.source, described)
    request = {
        "job": described,
        "candidate": mine,
        "baseline": building.compiled(candidate.base.source, described),
    }
    asked = [Combination(case, "declared", 1)]
    (found,) = watcher.examine(request, job, mine, asked, 60.0, (tool,))
    if found.errors == 0:
        pytest.skip(f"{tool} finds nothing in what this compiler makes")
    assert words in found.words, found

    def judged(*, plain: bool) -> list[str]:
        terms = (watcher, request, job, asked, 60.0, Lent(lambda _: None))
        build = (lambda: building.plainer(candidate.source, described)) if plain else (lambda: None)
        return Watched(*terms, build).judged([found], asked, Report())

    (note,) = judged(plain=True)
    assert note.startswith(f"compute-sanitizer {tool} found {found.errors} error")
    with pytest.raises(Wrong, match=words):
        judged(plain=False)


@pytest.mark.parametrize("plain", ["neither", "load", "store"])
def test_relaxed_accesses_do_not_race_and_plain_ones_beside_them_do(
    building: Building, watcher: Sanitizer, plain: str
) -> None:
    """Racecheck finds a race in all; where atomics stand for relaxed loads or stores, not in one."""
    candidate = next(one for one in table.load() if one.label == "ancestry/settling")
    source = candidate.source
    load = "theirs.load(cuda::memory_order_relaxed)"
    store = "mine.store(pack(own, hops, link), cuda::memory_order_relaxed)"
    assert load in source
    assert store in source
    if plain == "load":
        source = source.replace(load, "*(volatile word_t*)&words[link]")
    if plain == "store":
        source = source.replace(store, "words[tid] = pack(own, hops, link)")
    described = candidate.job("confirm")
    job = spec.parse(described)
    mine = building.compiled(source, described)
    baseline = building.compiled(candidate.base.source, described)
    request = {"job": described, "candidate": mine, "baseline": baseline}
    asked = [Combination({"trees": 3, "len": 600}, "declared", 1)]
    (found,) = watcher.examine(request, job, mine, asked, 60.0, ("racecheck",))
    if found.errors == 0:
        pytest.skip("racecheck finds nothing in what this compiler makes")
    terms = (watcher, request, job, asked, 60.0, Lent(lambda _: None))
    watched = Watched(*terms, lambda: None, partial(building.for_races, source, described))
    if plain == "neither":
        (note,) = watched.judged([found], asked, Report())
        assert "relaxed loads, or stores, are atomics" in note
    else:
        with pytest.raises(Wrong, match="Race reported"):
            watched.judged([found], asked, Report())


SORTED = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int rank = 0;
        for (int j = 0; j < n; ++j) rank += x[j] < x[i] || (x[j] == x[i] && j < i);
        y[rank] = x[i];
    }
}
"""
BARRIER = "    __syncthreads();\n    for (int i = threadIdx.x; i < n; i += blockDim.x) "
RANKS = {
    "right": RANKED,
    "ranks too early": RANKED.replace(f"{BARRIER}{{", BARRIER.partition("\n")[2] + "{"),
    "order too early": RANKED.replace(f"{BARRIER}y", BARRIER.partition("\n")[2] + "y"),
    "one too far": RANKED.replace("j < n; ++j", "j <= n; ++j").replace(
        "order[rank]", "order[min(rank, n - 1)]"
    ),
}


@pytest.mark.parametrize("kind", RANKS)
def test_loads_that_are_joined_do_not_race_and_others_do(
    building: Building, watcher: Sanitizer, kind: str
) -> None:
    """Racecheck finds a race in all; where no loads are joined, not in the right one."""
    source = RANKS[kind]
    assert (source == RANKED) == (kind == "right")
    launch = {"grid": ["1"], "block": ["64"], "shared": "n*8", "tunable": False}
    described = _job(source, SORTED, workload={"launch": launch})
    job = spec.parse(described)
    mine, baseline = (building.compiled(text, described) for text in (source, SORTED))
    request = {"job": described, "candidate": mine, "baseline": baseline}
    asked = [Combination({"n": n}, "declared", 1) for n in (50.0, 101.0)]
    (found,) = watcher.examine(request, job, mine, asked, 60.0, ("racecheck",))
    if kind == "right" and found.errors == 0:
        pytest.skip("racecheck finds nothing in what this compiler makes")
    terms = (watcher, request, job, asked, 60.0, Lent(lambda _: None))
    watched = Watched(*terms, lambda: None, partial(building.for_races, source, described))
    if kind == "right":
        (note,) = watched.judged([found], asked, Report())
        assert "no loads from shared memory are joined" in note
    else:
        with pytest.raises(Wrong, match="Race reported"):
            watched.judged([found], asked, Report())
