"""Launch bounds where the block is known."""

from __future__ import annotations

from typing import ClassVar

import pytest

from optimizer import counters
from optimizer.interfaces import RewriteRule
from optimizer.model import Finding, Kernel, Launch
from optimizer.rules.launch_bounds import launch_bounds
from optimizer.testing import RewriteRuleContract

PLAIN = "__global__ void k(float *o) { o[threadIdx.x] = 1; }\n"
STATIC = (
    "static __global__ void\nk(float *o, int n)\n{\n  if (threadIdx.x < n) o[threadIdx.x] = 1;\n}\n"
)
TEMPLATE = "template <int T>\n__global__ void k(float *o) { o[threadIdx.x] = T; }\n"
RUN = "void run(float *o) { dim3 b(16, 16); k<<<9, b>>>(o); }\n"
FREE = Launch(("n",), ("128",), tunable=True)


class TestLaunchBounds(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = (
        Kernel("k", PLAIN, "k.cu", FREE),
        Kernel("k", STATIC, "k.cu", FREE),
        Kernel("run", PLAIN + RUN, "k.cu"),
        Kernel("run", TEMPLATE + RUN.replace("k<<<", "k<2><<<"), "k.cu"),
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return launch_bounds


def test_blocks_are_chosen_by_registers_of_a_thread() -> None:
    found = [e.source for e in launch_bounds(Kernel("run", PLAIN + RUN, "k.cu"), [])]
    assert [s.partition("__launch_bounds__")[2][:8] for s in found] == [
        "(256, 4)", "(256, 6)", "(256, 8)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("registers", "remedy", "bounds"),
    [
        (48.0, "launch-bounds", ["(256, 6)", "(256, 8)"]),
        (36.0, "launch-bounds", ["(256, 8)"]),
        (0.0, "launch-bounds", ["(256, 4)", "(256, 6)", "(256, 8)"]),
        (48.0, "unroll", ["(256, 4)"]),
    ],
)
def test_only_bounds_that_the_compiler_would_feel_are_tried(
    registers: float, remedy: str, bounds: list[str]
) -> None:
    seen = Finding(
        "d", "m", subject="k", counters={counters.REGISTERS: registers}, remedies=(remedy,)
    )
    found = [e.source for e in launch_bounds(Kernel("run", PLAIN + RUN, "k.cu"), [seen])]
    assert [s.partition("__launch_bounds__")[2][:8] for s in found] == bounds


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,  # nothing known of its launch
        PLAIN + RUN + "void two(float *o, int t) { k<<<9, t>>>(o); }\n",
        PLAIN + RUN + "void two(float *o) { k<<<9, 512>>>(o); }\n",
        PLAIN + RUN + "void *p = (void *)k;\n",
        PLAIN.replace("void k", "void __launch_bounds__(256) k") + RUN,
    ],
)
def test_unknown_or_different_blocks_are_left_alone(text: str) -> None:
    assert not list(launch_bounds(Kernel("run", text, "k.cu"), []))
