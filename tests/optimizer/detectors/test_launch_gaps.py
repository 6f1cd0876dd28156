"""The detector of a GPU that stands still between kernels, on counters of a timeline."""

from __future__ import annotations

import pytest

from optimizer import timeline
from optimizer.detectors.launch_gaps import launch_gaps
from optimizer.model import Finding, Kernel, Status, Verdict

SOURCE = """__global__ void step(float* x) { x[threadIdx.x] += 1; }
int main()
{
    for (int i = 0; i < 100; i++)
        step<<<1, 32>>>(nullptr);
}
"""


def seen(**values: float) -> list[Finding]:
    named = {getattr(timeline, name): value for name, value in values.items()}
    counters = {f"step/{name}": value for name, value in named.items()}
    return list(launch_gaps(Kernel("k", SOURCE), Verdict(Status.CORRECT, counters=counters)))


def test_short_gaps_that_add_up_ask_for_fewer_launches() -> None:
    (finding,) = seen(LAUNCHES=100, GAP_PCT=40.0, GAP_NS=2500.0, COPY_PCT=0.0)
    assert finding.subject == "step"
    assert finding.line == 5
    assert "40% of the run" in finding.message
    assert "2.5 µs each" in finding.message
    assert finding.remedies[0] == "fuse-launches"
    assert finding.expected == pytest.approx(1 / 0.6)


def test_long_gaps_are_the_hosts_and_no_rewrite_of_a_kernel_mends_them() -> None:
    (finding,) = seen(LAUNCHES=100, GAP_PCT=60.0, GAP_NS=90_000.0, COPY_PCT=30.0)
    assert "the host is in the way" in finding.advice
    assert finding.remedies == ()


def test_copies_between_launches_are_told_of() -> None:
    (finding,) = seen(LAUNCHES=100, GAP_PCT=5.0, GAP_NS=500.0, COPY_PCT=45.0)
    assert "only copies" in finding.message
    assert "pinned" in finding.advice


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"LAUNCHES": 100, "GAP_PCT": 10.0, "GAP_NS": 900.0, "COPY_PCT": 10.0},
        {"LAUNCHES": 2, "GAP_PCT": 90.0, "GAP_NS": 9e6, "COPY_PCT": 0.0},
    ],
)
def test_without_a_timeline_or_where_little_is_lost_it_is_silent(values: dict[str, float]) -> None:
    assert seen(**values) == []
