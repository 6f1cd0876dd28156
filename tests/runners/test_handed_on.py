"""Variables by which kernels of a program hand on what they found stay as they are left."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import cubin
from runners.handed_on import handed_on
from runners.program_pairs import _added
from tests.redteam.table import load

SOURCES = {one.label: one.source for one in load() if one.base.kind == "program"}
KEPT = "__device__ int kept;\n"
FILLS = "__global__ void fills(int* x) { kept = x[0]; }\n"
READS = "__global__ void reads(int* x) { x[1] = kept; }\n"
HELPER = "__device__ int last() { return kept; }\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (FILLS + READS, True),
        (FILLS, False),
        (FILLS + HELPER + "__global__ void reads(int* x) { x[1] = last(); }\n", True),
        (FILLS + HELPER, False),
        (FILLS + "int main() { cudaMemcpyFromSymbol(&h, kept, 4); }", True),
        # Host code that launches a kernel does not look at what that one has.
        (FILLS + "int main() { fills<<<1, 1>>>(x); }", False),
        ('extern "C" ' + FILLS + "static void __global__ reads(int* x) { x[1] = kept; }", True),
        ("", False),
    ],
)
def test_two_kernels_or_host_code(text: str, found: bool) -> None:
    assert handed_on(KEPT + text, ["kept"]) == ({"kept"} if found else set())
    mangled = "_ZN3own4keptE"
    assert handed_on(KEPT + text, [mangled]) == ({mangled} if found else set())
    assert handed_on(KEPT + text, ["_ZN3own5keptsE", "another"]) == set()


def test_programs_as_people_write_them() -> None:
    names = ["held", "alive", "calls", "seen", "ticket"]
    assert handed_on(SOURCES["wedlock/one_word"], names) == {"held"}
    assert handed_on(SOURCES["mazewalk/epochs"], names) == {"alive"}
    for label in ("steps/first_launch_only", "steps/values_remembered", "steps/last_block"):
        assert handed_on(SOURCES[label], names) == set()


def test_what_is_put_back_is_what_one_kernel_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubin, "added", lambda *_: ("held", "other"))
    nothing: dict[str, dict[str, str]] = {"candidate": {}, "baseline": {}}
    assert _added(nothing, SOURCES["wedlock/one_word"]) == ("other",)
    assert _added(nothing, "") == ("held", "other")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("abk(){};<>\"'_ \n#\\"), max_size=200), st.text(max_size=9))
def test_it_never_raises(text: str, symbol: str) -> None:
    assert handed_on(KEPT + text + FILLS, [symbol, "kept"]) <= {symbol, "kept"}
