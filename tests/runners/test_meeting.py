"""Rows that all lead to one place, beside other numbers at the ends of their ranges."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import all_meeting, capacities, families, fuzzing, indexing, meeting, spec
from runners.all_meeting import AllMeeting
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.meeting import ACROSS, ALONG, BACK, ON, SAME, XOR, Way
from runners.run import Damage, Run
from runners.session import Session
from runners.spec import JobSpec, Json, Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

Numbers = npt.NDArray[np.int64]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> Json:
    role = "input" if kind.startswith("const") else "inout"
    return {"name": name, "type": kind, "shape": shape, "init": init, "role": role}


def _made(work: Work, way: Way, seed: int = 1) -> dict[str, Numbers]:
    made = Contents(work).of(Combination(work.cases[0].values, way.family, seed))
    return {a.name: made[a.name].view(a.type.fields[0].scalar.dtype) for a in work.arguments}


def _leading(*arguments: Json, **case: Any) -> Work:
    return dataclasses.replace(_work(*arguments, **case), leads=("off",))


@pytest.mark.parametrize(
    ("init", "shape", "case", "kind", "row"),
    [
        ("randint:0:5000", "n", {"n": 5000}, ACROSS, 1),
        ("randint:0:1048576", "n*deg", {"n": 2003, "deg": 7}, ACROSS, 7),
        ("randint:-5000:5001", "n*3", {"n": 999}, ACROSS, 3),
        ("randint:-2000:2000", "h*w", {"h": 40, "w": 700}, ALONG, 1),
        ("randint:0:900", "b*n*deg", {"b": 3, "n": 800, "deg": 5}, ACROSS, 5),
    ],
)
def test_all_rows_lead_to_one_place(
    init: str, shape: str, case: dict[str, Any], kind: str, row: int
) -> None:
    work = _leading(_array("off", init, shape), **case)
    [(argument, low, high)] = meeting.leading(work)
    assert meeting.rows(argument, case, kind)[0] == row
    assert kind in meeting.kinds(work, case)
    many = meeting.rows(argument, case, kind)[1]
    places = set()
    for seed in (1, 2, 3):
        for way, sign in ((BACK, 1), (ON, -1)):
            off = _made(work, Way(way, kind, 0), seed)["off"].astype(np.int64)
            assert low <= off.min() <= off.max() <= high
            at = np.arange(len(off)) // row % many
            [place] = np.unique((at + sign * off) % many)
            places.add(int(place))
        [place] = np.unique(_made(work, Way(SAME, kind, 0), seed)["off"])
        assert place in {0, many // 2, many - 1}
    assert {0, many // 2, many - 1} <= places


def test_rows_meet_by_an_exclusive_or_where_a_range_has_room_for_it() -> None:
    work = _leading(_array("off", "randint:0:4096", "n*2"), n=4096)
    off = _made(work, Way(XOR, ACROSS, 0))["off"]
    assert len(np.unique(off ^ np.arange(len(off)) // 2)) == 1


def test_of_a_narrow_range_each_stretch_has_a_place_of_its_own() -> None:
    work = _leading(_array("off", "randint:-200:201"), n=5000)
    for way, sign in ((BACK, 1), (ON, -1)):
        off = _made(work, Way(way, ACROSS, 0))["off"].astype(np.int64)
        assert off.min() >= -200
        assert off.max() <= 200
        _, met = np.unique(np.arange(5000) + sign * off, return_counts=True)
        assert met.max() >= 401
        assert len(met) <= 5000 // 401 + 3


def test_a_part_leads_there_and_all_others_are_at_their_ends() -> None:
    every = [
        _array("off", "randint:0:9000", "n*2"),
        _array("amount", "randint:-40:60", "n*2"),
        _array("level", "randint:3:7", "n", "int*"),
        _array("none", "randint:5:6"),
    ]
    work = _leading(*every, n=6000)
    plain = Contents(work).of(Combination(work.cases[0].values, families.DECLARED, 1))
    for high, ends in ((0, (-40, 3)), (1, (59, 3)), (2, (-40, 6)), (3, (59, 6))):
        made = _made(work, Way(BACK, ACROSS, high, 2))
        assert np.unique(made["amount"]).tolist() == [ends[0]]
        assert np.unique(made["level"]).tolist() == [ends[1]]
        at = np.arange(12000) // 2
        assert len(np.unique((at + made["off"])[:3000] % 6000)) == 1
        assert np.array_equal(made["off"][3000:], plain["off"].view(np.int32)[3000:])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y[(i + a[i * 3]) % n] += b[i];", (0,)),
        ("int to = i - a[i]; if (to < 0) to += n; atomicAdd(&y[to], b[i]);", (0,)),
        ("int to = a[i] ^ i; y[min(to, n - 1)] = b[i];", (0,)),
        ("const int* mine = a + i * 3; y[wrap(i + mine[2], n)] += 1;", (0,)),
        ("int own[2]; own[0] = a[i]; y[i + own[0]] += b[i];", (0,)),
        ("*(y + (n - 1 - __ldg(&a[i]))) = b[i];", (0,)),
        ("y[a[i]] += b[i];", ()),
        ("y[i] += a[i] + b[i];", ()),
        ("y[z[a[i]] + i] += b[i];", ()),
        ("y[a[i] * 3 + 1] += b[(i + 1) % n];", ()),
    ],
)
def test_what_is_added_to_for_an_index_is_read_off_the_text(
    body: str, found: tuple[int, ...]
) -> None:
    text = (
        "__device__ int wrap(int at, int n) { return at % n; }"
        "__global__ void k(const int* a, const int* b, const int* z, int* y, int n)"
        f"{{ int i = threadIdx.x; {body} }}"
        "void f(const int* off, const int* w, const int* z, int* y, int n)"
        "{ k<<<1, n>>>(off, w, z, y, n); }"
    )
    assert indexing.relative(text, "f", [0, 1]) == found
    assert indexing.relative(text[:-1] + "(((", "f", [0, 1]) in {(), found}
    assert indexing.relative("", "f", [0, 1]) == ()


# Sums at neighbours that are told by distances, of which a sixteenth leaks away.
LEAK = """
extern "C" __global__ void scale(const int* off, const int* amount, const int* fill, int* level,
                                 int* met, int n, int deg) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    for (int i = 0; i < n; ++i) {
        int held = 0;
        for (int s = 0; s < deg; ++s) {
            int to = (i + off[i * deg + s]) % n;
            level[to] += amount[i * deg + s];
            COUNT;
        }
    }
    for (int i = 0; i < n; ++i) {
        int x = level[i];
        level[i] = LEAKS + fill[i];
    }
}
"""


def _text(leaks: str = "x - (x >> 4)", count: str = "met[to] += 1") -> str:
    return LEAK.replace("LEAKS", leaks).replace("COUNT", count)


def _workload(most: int = 600, **more: Any) -> Json:
    amounts = f"randint:-400:{most}"
    arguments = [
        _array("off", "randint:0:1048576", "n*deg"),
        _array("amount", amounts, "n*deg"),
        _array("fill", "randint:0:200"),
        {"name": "level", "type": "int*", "shape": "n", "role": "inout", "init": "zeros"},
        {"name": "met", "type": "int*", "shape": "n", "role": "inout", "init": "zeros"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "deg", "type": "int", "value": "deg"},
    ]
    return {
        "arguments": arguments,
        "launch": {"grid": ["1"], "block": ["32"], "shared": "0", "tunable": False},
        "cases": [
            {"values": {"n": 45000, "deg": 8}},
            {"values": {"n": 1003, "deg": 3}, "time": False},
        ],
        "tolerance": {"rtol": 0, "atol": 0},
        **more,
    }


def _parsed(mine: str, base: str, **workload: Any) -> tuple[Json, JobSpec]:
    job = _job(mine + "// another\n", base, workload=_workload(**workload), effort="confirm")
    return job, spec.parse(job)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much time as it takes, since others may use this machine."""
    for name in ("EXPECTED", "SECONDS", "SECONDS_TRIED"):
        monkeypatch.setattr(all_meeting, name, 1e9)
    monkeypatch.setattr(capacities, "MOST_SECONDS", 1e9)


@host
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("mine", "base", "wrong"),
    [
        (_text("((15 * x + 15) >> 4)"), _text(), "level"),
        (_text("(int)((15LL * x + 15) >> 4)"), _text(), ""),
        (_text("(x - (x >> 4))"), _text(), ""),
        # A list or a count for each place that has not enough room.
        (_text(count="met[to] = (unsigned short)(met[to] + 1)"), _text(), "met"),
        (_text(count="if (met[to] < 20000) met[to] += 1"), _text(), "met"),
        (_text(count="++met[to]"), _text(), ""),
        # The original's own count is as narrow.
        (_text(), _text(count="met[to] = (unsigned short)(met[to] + 1)"), "met"),
    ],
)
def test_who_has_too_few_bits_where_all_meets_is_refused(
    judge: Judge, mine: str, base: str, wrong: str
) -> None:
    job, parsed = _parsed(mine, base)
    assert parsed.work.leads == ("off",)
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(base)}
    alone = {**request, "candidate": request["baseline"]}
    declared = [Combination(c.values, families.DECLARED, parsed.seed) for c in parsed.work.cases]
    answers = judge._oracle.answers(parsed, request, declared, 300.0)
    pair = (lambda: judge._session(parsed, alone), lambda: judge._session(parsed, request))
    report, described = Report(), {*answers.described}
    terms = (pair, answers, parsed, time.monotonic() + 300.0, report)
    if wrong:
        with pytest.raises(Wrong, match=rf"{wrong}\[.* inputs, .*{all_meeting.LAYER}"):
            AllMeeting().check(*terms)
    else:
        assert AllMeeting().check(*terms) == ([], False)
        assert any(layer == all_meeting.LAYER for layer, _ in report.checks)
        assert report.runs >= 4
    # What it asks is no one else's.
    assert {*answers.described} == described


class _Model:
    """A session that has a model of its own for a kernel, and counts what it is asked."""

    def __init__(self, work: Work, leaks: Any, error: DeviceError | None = None) -> None:
        self._contents, self._work = Contents(work), work
        self._leaks, self._error = leaks, error
        self.asked: list[Combination] = []
        self.sums = 0

    def run(self, combination: Combination, **_: Any) -> Run:
        """Give what a model makes of the contents; or fail where more than a part meets."""
        self.asked.append(combination)
        if self._error is not None and combination.family.endswith(" 2"):
            raise self._error
        made = self._contents.of(combination)
        arrays = {a.name: made[a.name] for a in self._work.arguments if a.name in made}
        level, met = self._summed(arrays, combination.case)
        outputs = {"level": level.astype(np.int32), "met": met.astype(np.int32)}
        bytes_of = {name: data.view(np.uint8) for name, data in outputs.items()}
        return Run(bytes_of, Damage(), 0.0, 0)

    def _summed(self, arrays: Any, case: Any) -> tuple[Numbers, Numbers]:
        n, deg = int(case["n"]), int(case["deg"])
        off, amount, fill = (
            arrays[k].view(np.int32).astype(int) for k in ("off", "amount", "fill")
        )
        to = (np.arange(n * deg) // deg + off) % n
        level = np.zeros(n, np.int64)
        np.add.at(level, to, amount)
        self.sums = max(self.sums, int(np.abs(level).max()))
        return self._leaks(level) + fill, np.bincount(to, minlength=n)


def _plain(x: Numbers) -> Numbers:
    return x - (x >> 4)


def _lines(job: JobSpec, session: _Model) -> list[list[all_meeting.Asked]]:
    return all_meeting._lines(cast("Session", session), job)


@pytest.mark.usefixtures("patient")
def test_ways_are_those_that_lead_farthest_a_few_elements_first() -> None:
    _, job = _parsed(_text(), _text())
    session = _Model(job.work, _plain)
    lines = _lines(job, session)
    assert 0 < len(lines) <= all_meeting.MOST_TAKEN
    ways = [[Way.of(one.combination.family) for one in line] for line in lines]
    assert all(way.way == BACK for line in ways for way in line)
    # Amounts high and low: the farthest above, and below.
    assert {way.high & 1 for line in ways for way in line} == {0, 1}
    large = job.work.cases[0].values
    elements = int(large["n"] * large["deg"])
    for line in ways:
        assert [way.part for way in line] == [4, 2, 0]
        assert elements >> line[0].part <= HOT < elements >> line[1].part
    assert {one.combination.case["n"] for line in lines for one in line} == {large["n"]}
    assert 1 << 31 > session.sums >= elements * 400


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("most", "base", "ends"),
    [
        (600, _text(), {0}),
        # What one may add up to does not fit into a word.
        (6_000_000, _text(), {None, 0}),
        # Nor what comes of a product, for all that is known.
        (600, _text("x * fill[i]"), {None}),
        (600, _text("(30 * x) >> 4"), {None}),
        (600, _text("(3 * x) >> 2"), {0}),
    ],
)
def test_nothing_is_asked_that_an_originals_words_have_no_room_for(
    most: int, base: str, ends: set[int | None]
) -> None:
    _, job = _parsed(base, base, most=most)
    lines = _lines(job, _Model(job.work, _plain))
    least: list[int | None] = [
        min(Way.of(one.combination.family).part for one in line) for line in lines
    ]
    assert set(least or [None]) <= ends
    highs = [Way.of(one.combination.family).high & 1 for line in lines for one in line]
    assert most == 600 or not any(highs)


@pytest.mark.usefixtures("patient")
def test_a_result_that_may_leave_its_word_is_asked_no_further() -> None:
    _, job = _parsed(_text(), _text())
    # Far larger than its sums, which nobody reads off the text.
    lines = _lines(job, _Model(job.work, lambda x: x * 15))
    parts = {min(Way.of(one.combination.family).part for one in line) for line in lines}
    assert 0 not in parts


def _judged(
    job: JobSpec, mine: _Model, monkeypatch: pytest.MonkeyPatch, base: _Model | None = None
) -> tuple[tuple[list[str], bool], list[Combination]]:
    asked: list[Combination] = []

    def again(session: Any, *terms: Any) -> frozenset[str]:
        asked.extend(terms[2])
        for one in terms[2]:
            session.run(one)
        return frozenset()

    monkeypatch.setattr(fuzzing, "asked_again", again)
    answers = cast("Answers", type("Known", (), {"ask": lambda *_: None})())
    theirs = base or _Model(job.work, _plain)
    pair = (lambda: cast("Session", theirs), lambda: cast("Session", mine))
    until = time.monotonic() + 1e6
    return AllMeeting().check(pair, answers, job, until, Report()), asked


@pytest.mark.usefixtures("patient")
def test_only_what_differs_is_put_to_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = _parsed(_text() + "// mine", _text())

    def shifted(x: Numbers) -> Numbers:
        return ((15 * x + 15).astype(np.int32) >> 4).astype(np.int64)

    assert _judged(job, _Model(job.work, _plain), monkeypatch) == (([], False), [])
    (notes, lost), asked = _judged(job, _Model(job.work, shifted), monkeypatch)
    assert (notes, lost) == ([], False)
    assert asked
    # Where no more meets than anywhere else both are the same.
    assert {Way.of(one.family).part for one in asked} == {0}


@pytest.mark.usefixtures("patient")
def test_who_comes_to_no_end_is_not_refused_and_who_breaks_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, job = _parsed(_text() + "// mine", _text())
    hung = _Model(job.work, _plain, HungError("still running"))
    (notes, lost), _ = _judged(job, hung, monkeypatch)
    assert lost
    assert "not tried to the end" in notes[0]
    for error in (LaunchError("too large"), DeviceError("an illegal address")):
        with pytest.raises(DeviceError, match=str(error)):
            _judged(job, _Model(job.work, _plain, error), monkeypatch)
    # The original's own failure is held against nobody; the device is lost unless it refused.
    for error, gone in ((LaunchError("too large"), False), (DeviceError("an address"), True)):
        theirs = _Model(job.work, _plain, error)
        (notes, lost), asked = _judged(job, _Model(job.work, _plain), monkeypatch, theirs)
        assert (notes, lost, asked) == ([], gone, [])
    # Nor what has no room.
    full = _Model(job.work, _plain, OutOfMemoryError("full"))
    assert _judged(job, _Model(job.work, _plain), monkeypatch, full)[0] == ([], False)
    assert _judged(job, full, monkeypatch)[0] == ([], False)


def test_a_slow_side_is_asked_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = _parsed(_text() + "// mine", _text())
    monkeypatch.setattr(all_meeting, "SECONDS_TRIED", 1e9)
    monkeypatch.setattr(all_meeting, "SECONDS", 1e9)
    monkeypatch.setattr(all_meeting, "EXPECTED", 0.0)
    lines = _lines(job, _Model(job.work, _plain))
    assert {Way.of(one.combination.family).part for line in lines for one in line} == {4}


@pytest.mark.parametrize("changed", ["no index", "floats", "narrow", "few"])
def test_it_is_not_asked_where_nothing_leads_anywhere(changed: str) -> None:
    text = _text()
    workload = _workload()
    if changed == "no index":
        text = text.replace("(i + off[i * deg + s]) % n", "off[i * deg + s] % n")
    elif changed == "floats":
        text = text.replace("int held = 0;", "float held = 0.5f;")
    elif changed == "narrow":
        workload["arguments"][0]["init"] = "randint:-1:2"
    else:
        workload["cases"] = [{"values": {"n": 200, "deg": 8}}]
    work = spec.parse(_job(text, text, workload=workload)).work
    assert all_meeting.cases(work) is None
    assert all_meeting.cases(_parsed(_text(), _text())[1].work) is not None


def test_an_original_that_fails_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    _, job = _parsed(_text() + "// mine", _text())

    def fails() -> Session:
        raise Fault("RunnerError", "it does not load", "look")

    answers = cast("Answers", type("Known", (), {"ask": lambda *_: None})())
    terms = (answers, job, time.monotonic() + 1e6, Report())
    assert AllMeeting().check((fails, fails), *terms) == ([], False)
    monkeypatch.setattr(all_meeting, "LONGEST_CHECK", 1e9)
    notes, _ = AllMeeting().check((fails, fails), *terms)
    assert notes == [f"{all_meeting.LAYER} not tried: there is no time left"]


class _Neurons(_Model):
    """Leaky sums of which some set off others, as the red team's `neurons` has them."""

    def run(self, combination: Combination, **_: Any) -> Run:
        """Go through all steps, and keep the largest sum there was."""
        made, case = self._contents.of(combination), combination.case
        n, deg, steps = (int(case[name]) for name in ("n", "deg", "steps"))
        v, rest, drive = (made[k].view(np.int32).astype(np.int64) for k in ("v", "rest", "drive"))
        target, weight = (made[k].view(np.int32).reshape(n, deg) for k in ("target", "weight"))
        delay = made["delay"].reshape(n, deg)
        ring, spikes = np.zeros((16, n), np.int64), np.zeros(n, np.int32)
        fired = np.zeros(steps, np.int32)
        for t in range(steps):
            now, ring[t & 15] = ring[t & 15].copy(), 0
            awake = rest == 0
            x = self._leaks(v) + now + drive
            self.sums = max(self.sums, int(np.abs(x).max()))
            fires = awake & (x >= 1000)
            v = np.where(awake, np.where(fires, 0, x), v)
            rest = np.where(awake, np.where(fires, 3, 0), rest - 1)
            spikes += fires
            who = np.flatnonzero(fires)
            fired[t] = len(who)
            if not len(who):
                continue
            to = (t + delay[who] & 15).astype(int) * n + (who[:, None] + target[who]) % n
            by = weight[who].ravel().astype(np.float64)  # exact below 2^53
            ring += np.bincount(to.ravel(), by, 16 * n).astype(np.int64).reshape(16, n)
        outputs = {"v": v.astype(np.int32), "rest": rest.astype(np.int32)}
        outputs |= {"spikes": spikes, "fired": fired}
        bytes_of = {name: data.view(np.uint8) for name, data in outputs.items()}
        return Run(bytes_of, Damage(), 0.0, 0)


@pytest.mark.usefixtures("patient")
def test_the_red_teams_leak_in_one_product_runs_over_there() -> None:
    job = once_read.parsed("neurons/base")
    small, large = all_meeting.cases(job.work) or ({}, {})
    session = _Neurons(job.work, _plain)
    taken = all_meeting._taken(cast("Session", session), job, small)

    def shifted(x: Numbers) -> Numbers:
        return ((15 * x + 15).astype(np.int32) >> 4).astype(np.int64)

    def complement(x: Numbers) -> Numbers:
        return x + (~x >> 4) + 1

    # Fewer steps than are declared, for the models' sake.
    large = {**large, "steps": 36.0}
    few, way = Combination(large, families.DECLARED, 1), taken[0]
    everyone = [_Neurons(job.work, leaks) for leaks in (_plain, shifted, complement)]
    want, mine, _ = (one.run(few).outputs["v"] for one in everyone)
    assert np.array_equal(want, mine)
    assert all_meeting.fits(job.work, large, way, indexing.times(job.baseline.source))
    one = Combination(large, way.family, 1)
    want, mine, right = (each.run(one).outputs["v"] for each in everyone)
    assert not np.array_equal(want, mine)
    assert np.array_equal(want, right)
    # What the original adds up stays within 32 bits.
    assert 1 << 31 > everyone[0].sums > (1 << 31) // 15
