"""Host text is what a change of device code alone leaves as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runners.hosttext import host_digest

SOURCE = """#include <cstdio>
#define N 256
template <typename T> __global__ void __launch_bounds__(256) k(T* p, int n) { if (n) { p[0] = 1; } }
__device__ float table[2] = {1, 2};
__device__ int counter;
__host__ __device__ int half(int x) { return x / 2; }
int main() { k<<<(N + 255) / 256, 256>>>(p, half(4)); puts("a // b"); }
"""


def differs(old: str, new: str) -> bool:
    assert old in SOURCE
    return host_digest(SOURCE) != host_digest(SOURCE.replace(old, new))


def test_layout_and_comments_do_not_count() -> None:
    assert not differs("int main() {", "int  main( )\n{ // starts here\n /* and */")


def test_bodies_of_device_code_do_not_count() -> None:
    assert not differs("p[0] = 1;", "p[0] = 2; p[1] = 3;")
    assert not differs("{1, 2}", "{3, 4}")


def test_launches_calls_macros_and_strings_count() -> None:
    assert differs("256>>>", "128>>>")
    assert differs("half(4)", "half(5)")
    assert differs("#define N 256", "#define N 128")
    assert differs('"a // b"', '"a / b"')


def test_code_that_also_runs_on_the_host_counts() -> None:
    assert differs("x / 2", "x / 3")


def test_what_stands_behind_device_code_counts() -> None:
    assert differs("int main", "int nothing; int main")


@given(st.lists(st.sampled_from([*"{}()[];\"'/*#\\\n R_<>ab1", "__global__ ", "__device__"])))
def test_any_text_has_a_digest(parts: list[str]) -> None:
    assert len(host_digest("".join(parts))) == 32
