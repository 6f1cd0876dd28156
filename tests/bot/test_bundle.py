"""A bundle comes back as it was written, or is refused: nothing else, whatever was done to it."""

import copy
import dataclasses
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot import bundle, comment, report
from bot.interfaces import Change, Reviewed
from bot.orders import BundleError, Order
from optimizer.errors import BaselineError, ConfigError, OptimlError, RunnerError
from optimizer.model import Kernel
from tests.bot import synthetic
from tests.bot.ordered import ORDER, reviewed

Members = dict[str, bytes]


def zipped(members: Members) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def members_of(folder: Path) -> Members:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Members:
    folder = tmp_path_factory.mktemp("bundle") / "bundle"
    return members_of(bundle.write(folder, ORDER, [reviewed(2)]))


def changed(members: Members, name: str, edit: Callable[[list[Any]], None]) -> bytes:
    """Return a zip in which the JSON lines of one member were edited."""
    lines = [json.loads(line) for line in members[name].splitlines()]
    edit(lines)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return zipped(members | {name: text.encode()})


def test_results_come_back_from_folder_and_zip_without_hunks_and_base(tmp_path: Path) -> None:
    plain = Reviewed(
        Change(Kernel("other", "int x;\n", "other.cu"), None, snippet="version: 1\n"),
        problem="the base branch has no workload for it",
    )
    results = (reviewed(), plain)
    folder = bundle.write(tmp_path / "bundle", ORDER, results)
    assert bundle.read(folder, ORDER) == results
    assert bundle.read(zipped(members_of(folder)), ORDER) == results


@pytest.mark.parametrize(
    "other",
    [
        {"nonce": "3" * 32},
        {"id": "3" * 32},
        {"head": "c" * 40},
        {"repository": "owner/other"},
        {"number": 8},
        {"kernels": ("x",)},
        {"min_speedup": 1.5},
    ],
    ids=str,
)
def test_a_bundle_answers_its_own_order_only(sound: Members, other: dict[str, Any]) -> None:
    with pytest.raises(BundleError, match="another order"):
        bundle.read(zipped(sound), dataclasses.replace(ORDER, **other))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConfigError("no `shape`", "add one"), ConfigError),
        (BaselineError("it does not compile"), BaselineError),
        (RunnerError("nvcc is missing", "install it"), RunnerError),
        (ZeroDivisionError("division"), RunnerError),
    ],
)
def test_a_failure_there_is_raised_here_as_what_it_was(
    tmp_path: Path, error: Exception, kind: type[OptimlError]
) -> None:
    folder = bundle.write_failure(tmp_path / "bundle", ORDER, error)
    with pytest.raises(kind) as caught:
        bundle.read(folder, ORDER)
    if isinstance(error, OptimlError):
        assert (caught.value.message, caught.value.remedy) == (error.message, error.remedy)


def step(number: int, **values: object) -> Callable[[list[Any]], None]:
    def edit(lines: list[Any]) -> None:
        lines[1 + number].update(values)

    return edit


def at(*path: object, value: object) -> Callable[[list[Any]], None]:
    def edit(lines: list[Any]) -> None:
        found: Any = lines
        for key in path[:-1]:
            found = found[key]
        found[path[-1]] = value

    return edit


def drop_footer(lines: list[Any]) -> None:
    del lines[-1]


@pytest.mark.parametrize(
    "edit",
    [
        at(0, "environment", "commit", value="c" * 40),
        at(0, "workload", "name", value="other"),
        at(1, "kernel", "source", value="int x;\n"),
        at(2, "kernel", "path", value="other.cu"),
        at(2, "edit", value=None),
        at(2, "parent", value=9),
        at(2, "edit", "predicted", value=-1.0),
        at(2, "same_as", value=99),
        at(2, "verdict", "measurement", "cases", 0, "candidate_us", 0, value=0.0),
        at(2, "verdict", "measurement", "cases", 0, "candidate_us", 0, value=-1.0),
        at(2, "verdict", "measurement", "cases", 0, "candidate_us", 0, value=1e300),
        at(2, "verdict", "measurement", "cases", 0, "candidate_us", value=[1.0]),
        at(2, "verdict", "measurement", "cases", 0, "weight", value=0.0),
        at(2, "verdict", "measurement", "kernels", "transpose", value=7.0),
        at(2, "verdict", "resources", "transpose", "registers", value=-1),
        at(2, "verdict", "status", value="splendid"),
        at(2, "reward", value="high"),
        at(-1, "winner", value=99),
        at(-1, "winner", value=-1),
        at(-1, "confirmation", value=None),
        at(-1, "confirmation", "status", value="wrong result"),
        at(-1, "confirmation", "measurement", value=None),
        at(-1, "stopped", value=""),
        at(-1, "notes", value=["x" * 5000]),
        drop_footer,
    ],
)
def test_a_forged_trajectory_is_refused(sound: Members, edit: Callable[[list[Any]], None]) -> None:
    with pytest.raises(BundleError):
        bundle.read(changed(sound, "000.jsonl", edit), ORDER)


@pytest.mark.parametrize(
    "path",
    [
        "../k.cu",
        "/etc/k.cu",
        "a/../k.cu",
        ".git/k.cu",
        "a\\k.cu",
        "k.yml",
        "",
        "a\nb.cu",
        "a//k.cu",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(sound: Members, path: str) -> None:
    edit = at(0, "results", 0, "kernel", "path", value=path)
    with pytest.raises(BundleError):
        bundle.read(changed(sound, bundle.MANIFEST, edit), ORDER)


@pytest.mark.parametrize(
    "edit",
    [
        at(0, "optiml_bundle", value=2),
        at(0, "surprise", value=1),
        at(0, "results", 0, "surprise", value=1),
        at(0, "results", 0, "kernel", "surprise", value=1),
        at(0, "results", 0, "trajectory", value="001.jsonl"),
        at(0, "results", 0, "trajectory", value="../../000.jsonl"),
        at(0, "results", 0, "trajectory", value=None),
        at(0, "results", value=[]),
        at(0, "order", value=None),
        at(0, "results", 0, "problem", value="x" * 5000),
        at(0, "results", 0, "workload", value=None),
    ],
)
def test_a_forged_manifest_is_refused(sound: Members, edit: Callable[[list[Any]], None]) -> None:
    with pytest.raises(BundleError):
        bundle.read(changed(sound, bundle.MANIFEST, edit), ORDER)


def test_a_kernel_reported_on_twice_is_refused(sound: Members) -> None:
    def twice(lines: list[Any]) -> None:
        again = copy.deepcopy(lines[0]["results"][0]) | {"trajectory": None}
        lines[0]["results"].append(again)

    with pytest.raises(BundleError, match="twice"):
        bundle.read(changed(sound, bundle.MANIFEST, twice), ORDER)


def test_more_results_than_anybody_reads_are_refused(sound: Members) -> None:
    def many(lines: list[Any]) -> None:
        one = lines[0]["results"][0] | {"trajectory": None, "against_base": None}
        lines[0]["results"] += [
            one | {"kernel": one["kernel"] | {"path": f"k{number}.cu"}} for number in range(1000)
        ]

    with pytest.raises(BundleError, match="more than 1000"):
        bundle.read(changed(sound, bundle.MANIFEST, many), ORDER)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    flips=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=3),
    cut=st.none() | st.floats(0, 1),
    data=st.data(),
)
def test_a_bundle_with_any_bytes_changed_is_refused_or_can_be_told(
    sound: Members, flips: list[tuple[float, int]], cut: float | None, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(sound)))
    text = bytearray(sound[name])
    for place, value in flips:
        text[int(place * (len(text) - 1))] = value
    if cut is not None:
        del text[int(cut * len(text)) :]
    try:
        results = bundle.read(zipped(sound | {name: bytes(text)}), ORDER)
    except OptimlError:
        return
    comment.compose(results)


def test_a_bundle_without_manifest_or_with_one_file_more_is_refused(sound: Members) -> None:
    for members in (
        {"000.jsonl": sound["000.jsonl"]},
        sound | {"001.jsonl": sound["000.jsonl"]},
        sound | {"run.sh": b"true"},
    ):
        with pytest.raises(BundleError):
            bundle.read(zipped(members), ORDER)


def places(value: Any, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:3])
        if isinstance(value, list)
        else ()
    )
    for key, one in inner:
        found += places(one, (*path, key))
    return found


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from([[], {}, "@everyone <script>", "\u202e", -1, 0, 1e308, 5e-324, 2**53]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_bundle_with_any_values_changed_is_refused_or_can_be_told(
    sound: Members, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(sound)))
    lines = [json.loads(line) for line in sound[name].splitlines()]
    for _ in range(data.draw(st.integers(1, 4))):
        choices = [one for one in places(lines) if len(one) > 1]
        assume(choices)
        at(*data.draw(st.sampled_from(choices)), value=data.draw(odd))(lines)
    try:
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    except ValueError:
        return
    try:
        results = bundle.read(zipped(sound | {name: text}), ORDER)
    except OptimlError:
        return
    markdown = comment.compose(results).markdown or ""
    assert len(markdown.encode("utf-16-le")) // 2 <= comment.LIMIT
    assert "<script>" not in markdown.replace("\\<", "")
    for one in results:
        if one.trajectory is not None:
            report.render(one.trajectory)


def test_long_texts_and_missing_figures_are_mended_on_the_way_out(tmp_path: Path) -> None:
    result = reviewed(0)
    assert result.trajectory is not None
    first = result.trajectory.baseline
    verdict = dataclasses.replace(
        first.verdict, log="x" * 100_000, counters={"k/a": float("nan"), "k/b": 2.0}
    )
    steps = (dataclasses.replace(first, verdict=verdict), *result.trajectory.steps[1:])
    long = dataclasses.replace(
        result, trajectory=dataclasses.replace(result.trajectory, steps=steps)
    )
    (back,) = bundle.read(bundle.write(tmp_path / "b", ORDER, [long]), ORDER)
    assert back.trajectory is not None
    assert back.trajectory.baseline.verdict.counters == {"k/b": 2.0}
    assert len(back.trajectory.baseline.verdict.log) == 1 << 14


def test_a_trajectory_too_large_loses_detail_off_the_path_and_keeps_the_winner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = dataclasses.replace(bundle.LIMITS, member=110_000)
    monkeypatch.setattr(bundle, "LIMITS", limits)
    (back,) = bundle.read(bundle.write(tmp_path / "b", ORDER, [reviewed(30)]), ORDER)
    assert back.trajectory is not None
    assert back.trajectory.best == reviewed(30).trajectory.best  # type: ignore[union-attr]
    off = back.trajectory.steps[-1]
    assert off.verdict.checks == ()
    assert comment.compose([back]).markdown


def test_what_makes_no_sound_bundle_is_told_where_it_was_written(tmp_path: Path) -> None:
    bad = dataclasses.replace(
        reviewed(0), change=Change(Kernel("k", synthetic.NAIVE, "../k.cu"), None), trajectory=None
    )
    with pytest.raises(RunnerError, match="no sound bundle"):
        bundle.write(tmp_path / "b", ORDER, [bad])
    assert not (tmp_path / "b" / bundle.MANIFEST).exists()
    for many in ([reviewed(0)] * 65, [dataclasses.replace(bad, problem="x")] * 1001):
        with pytest.raises(RunnerError, match="more than a bundle holds"):
            bundle.write(tmp_path / "c", ORDER, many)


def test_a_winner_below_the_speedup_of_the_order_is_not_offered(tmp_path: Path) -> None:
    strict: Order = dataclasses.replace(ORDER, min_speedup=50.0)
    (back,) = bundle.read(bundle.write(tmp_path / "b", strict, [reviewed(0)]), strict)
    assert back.trajectory is not None
    assert back.trajectory.winner is None
