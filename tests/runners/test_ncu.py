"""ncu's command line, its reports, and how launches of a kernel become one set of counters."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer import counters
from runners import ncu
from runners.ncu import LaunchRecord

RAW = (Path(__file__).parents[1] / "data" / "ncu" / "raw.csv").read_text()


def test_a_recorded_csv_page_gives_every_counter_we_ask_for() -> None:
    launches = ncu.launches_of_csv(RAW)
    assert [launch.kernel for launch in launches] == ["saxpy", "matmul_wmma", "blur_naive"]
    for launch in launches:
        assert set(launch.metrics) == counters.KEPT
        assert launch.context == 1
    assert launches[0].metrics[counters.GRID_BLOCKS] == 65536
    assert launches[0].metrics[counters.DRAM_READ_BYTES] > 1e8


@pytest.mark.parametrize(
    ("demangled", "plain"),
    [
        ("saxpy(const float *, float *, float, int)", "saxpy"),
        ("void blur_naive<(int)3>(const float *, float *, int, int)", "blur_naive"),
        ("void ns::inner::k<float, (bool)1, a::B<int>>(T1 *)", "k"),
        ("void (anonymous namespace)::hidden(int *)", "hidden"),
        ("void ns::<unnamed>::k(int)", "k"),
        ("k", "k"),
        ("void k<void (*)(int)>(int)", "k"),
        ("", ""),
    ],
)
def test_a_demangled_name_is_reduced_to_what_the_source_says(demangled: str, plain: str) -> None:
    assert ncu.plain_name(demangled) == plain


@given(st.text(max_size=300))
def test_any_text_is_a_report_without_launches_rather_than_an_error(text: str) -> None:
    assert all(isinstance(launch, LaunchRecord) for launch in ncu.launches_of_csv(text))


@given(st.text(alphabet='",\n=ID0 naKernel()<>:.%', max_size=300))
def test_broken_tables_never_raise(text: str) -> None:
    ncu.launches_of_csv('"ID","Kernel Name","Context"\n' + text)


@given(st.text(max_size=80))
def test_any_name_is_reduced_to_some_text(name: str) -> None:
    assert isinstance(ncu.plain_name(name), str)


@given(st.text(alphabet="0123456789.,' eE+-()nan!/∞", max_size=30))
def test_a_cell_is_a_finite_number_or_nothing(text: str) -> None:
    value = ncu.number(text)
    assert value is None or math.isfinite(value)


@given(
    st.recursive(
        st.none() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=12,
    )
)
def test_a_json_report_that_is_none_is_refused_with_a_value_error(data: object) -> None:
    with suppress(ValueError):
        ncu.launches_of_json(json.dumps(data))


def test_a_json_report_keeps_known_metrics_and_drops_what_is_not_finite() -> None:
    metrics = {counters.TIME_NS: 5.0, "unknown__metric": 1.0, counters.DRAM_PCT: math.nan}
    entry = {"kernel": "k", "context": 3, "metrics": metrics, "lines": {"a.cu:4": {"samples": 2}}}
    (launch,) = ncu.launches_of_json(json.dumps([entry]))
    assert launch.metrics == {counters.TIME_NS: 5.0}
    assert launch.context == 3


def test_launches_of_a_kernel_are_averaged_by_their_time() -> None:
    short = LaunchRecord(
        "k", 1, {counters.TIME_NS: 100.0, counters.DRAM_PCT: 10.0, counters.GRID_BLOCKS: 1.0}
    )
    long = LaunchRecord(
        "k", 1, {counters.TIME_NS: 300.0, counters.DRAM_PCT: 50.0, counters.GRID_BLOCKS: 4.0}
    )
    found = ncu.counters_by_kernel([short, long])
    assert found[f"k/{counters.DRAM_PCT}"] == 40.0
    assert found[f"k/{counters.GRID_BLOCKS}"] == 4.0
    assert found[f"k/{counters.TIME_NS}"] == 250.0


def test_a_constant_rate_survives_averaging() -> None:
    launches = [
        LaunchRecord("k", 1, {counters.TIME_NS: t, counters.DRAM_READ_BYTES: 3.0 * t})
        for t in (10.0, 70.0, 900.0)
    ]
    found = ncu.counters_by_kernel(launches)
    rate = found[f"k/{counters.DRAM_READ_BYTES}"] / found[f"k/{counters.TIME_NS}"]
    assert rate == pytest.approx(3.0)


def test_a_metric_that_one_launch_lacks_is_averaged_over_the_others() -> None:
    one = LaunchRecord("k", 1, {counters.TIME_NS: 100.0})
    two = LaunchRecord("k", 1, {counters.TIME_NS: 1.0, counters.L1_PCT: 7.0})
    assert ncu.counters_by_kernel([one, two])[f"k/{counters.L1_PCT}"] == 7.0


LINES = {
    "/build/a.cu:7": {"samples": 60.0, "long_scoreboard": 50.0, "sectors": 80.0, "sectors_ideal": 20.0},
    "/build/a.cu:9": {"samples": 30.0, "wait": 30.0, "sectors": 40.0, "sectors_ideal": 40.0},
    "/usr/include/mma.h:700": {"samples": 9.5},
    "/build/a.cu:11": {"samples": 0.5},
}  # fmt: skip


def test_lines_are_shares_of_the_whole_kernel_and_small_ones_are_left_out() -> None:
    found = ncu.lines_by_kernel([LaunchRecord("k", 1, {}, LINES)])
    assert found["k:7/stall"] == pytest.approx(0.6)
    assert found["k:7/long_scoreboard"] == pytest.approx(0.5)
    assert found["k:7/excess_sectors"] == 1.0
    assert found["k:9/wait"] == pytest.approx(0.3)
    assert not any(key.startswith(("k:700/", "k:11/", "k:9/excess")) for key in found)


def test_lines_of_the_named_file_are_taken_even_when_another_has_more_samples() -> None:
    found = ncu.lines_by_kernel([LaunchRecord("k", 1, {}, LINES)], "mma.h")
    assert set(found) == {"k:700/stall"}


def test_the_command_leaves_clocks_alone_and_asks_for_selected_invocations() -> None:
    command = ncu.ncu_command("ncu", "/r", ["./a", "-x"], kernels=["k", "m+"], invocations="1|3")
    text = " ".join(command)
    assert "--clock-control none" in text
    assert "--cache-control all" in text
    assert r"--kernel-id ::regex:^(.*[^a-zA-Z0-9_])?(k|m\+)$:1|3" in text
    assert command[-2:] == ["./a", "-x"]
    assert "--cache-control none" in " ".join(ncu.ncu_command("ncu", "/r", ["./a"], warm=True))


def test_all_invocations_are_asked_for_by_the_kernels_name_alone() -> None:
    """An identifier with a pattern for "all of them" makes ncu refuse the command."""
    text = " ".join(ncu.ncu_command("ncu", "/r", ["./a"], kernels=["k", "m"]))
    assert "--kernel-name regex:^(.*[^a-zA-Z0-9_])?(k|m)$" in text
    assert "--kernel-id" not in text


def test_every_metric_asked_for_by_name_has_a_dot_since_ncu_stops_at_others() -> None:
    assert all("." in metric for metric in counters.METRICS)
    assert len(set(counters.METRICS)) == len(counters.METRICS)
