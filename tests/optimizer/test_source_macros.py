"""Macros that launch, that hide names, and text that `#if` turns off."""

from __future__ import annotations

import pytest

from optimizer.boundary import violations
from optimizer.model import Kernel
from optimizer.rules.coarsen import coarsen
from optimizer.source import Source
from tests.optimizer.cuda_texts import kernel, read

MACROS = """\
#define RUN(k, grid, block, ...) k<<<grid, (block)>>>(__VA_ARGS__)
#define SCALE(n, a) do { scale<<<(n), 256>>>(a); } while (0)
#define TIMED(k, g, b, x) start(); k<<<g, b, 0, 0>>>(x); stop(g)
__global__ void scale(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}
void run(float *a, int n) {
  const int threads = 128;
  RUN(scale, (n + threads - 1) / threads, threads, a, n);
}
"""


def test_a_macro_that_is_a_launch_is_seen_as_one() -> None:
    source = Source(MACROS)
    assert list(source.launch_macros) == ["RUN"], "of others the grid or block is not theirs alone"
    (launch,) = source.launches
    assert (launch.kernel, launch.threads, launch.function) == ("scale", 128, "run")
    assert MACROS[slice(*launch.grid_span)] == "(n + threads - 1) / threads"
    assert [source.of(a) for a in launch.arguments] == ["a", "n"]
    assert source.only_launched("scale")
    texts = [e.source for e in coarsen(Kernel("run", MACROS), [])]
    wanted = "RUN(scale, ((n + threads - 1) / threads + 3) / 4, threads, a, n);"
    assert any(wanted in text for text in texts)
    assert all(not violations(MACROS, text) for text in texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threads, a, n)", "threads, a, n + 1)"),
        ("RUN(scale, (n", "RUN(scale, next(n"),
        ("threads, a, n)", "dim3{threads, 1}, a, n)"),
        ("(block)>>>", "(block) / 2>>>"),
        ("(block)>>>(__VA_ARGS__)", "(block)>>>(__VA_ARGS__); other()"),
    ],
)
def test_only_the_geometry_of_such_a_macro_may_change(old: str, new: str) -> None:
    assert old in MACROS
    assert violations(MACROS, MACROS.replace(old, new))
    assert not violations(MACROS, MACROS.replace("threads = 128", "threads = 256"))


def test_names_of_headers_are_unknown() -> None:
    """A name that nothing defines may be a macro; CUDA's own names and locals are known."""
    f = kernel("int i = threadIdx.x; b[i] = SCALE * fminf(a[i], INFINITY); FLUSH(i);")
    assert f.unknown_names == {"SCALE", "FLUSH"}
    f = Source(read("stencil_macros")).kernels[0]
    assert f.unknown_names == frozenset()
    assert f.unknown_calls == ()


def test_a_macro_that_uses_locals_is_unknown() -> None:
    """A macro with hidden uses of a local cannot be judged where it is called."""
    text = "#define BUMP (i + 1)\n__global__ void k(int* b) { int i = 0; b[0] = BUMP; }"
    assert Source(text).kernels[0].unknown_names == {"BUMP"}


def test_text_that_if_turns_off_is_not_code() -> None:
    """Branches of `#if` that are off hold no kernels; a function cut by `#if` says so."""
    source = Source(read("histogram_externc"))
    assert [f.name for f in source.kernels] == ["histogram", "warp_max", "for_each"]
    assert source.kernels[0].conditional
    assert not source.kernels[1].conditional
    assert any("ghost" in source.text[a:b] for a, b in source.inactive)


def test_a_launch_macro_may_print_what_it_launches() -> None:
    """A number of the launch that is printed, too, is no argument alone: it stays unknown."""
    macro = (
        "#define LAUNCH(kernel, grid, block, ...) \\\n"
        "  do { kernel<<<(grid), (block)>>>(__VA_ARGS__); \\\n"
        "    if (cudaGetLastError()) { puts(PRINTED); exit(1); } } while (0)\n"
    )
    kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
    call = "int main() { LAUNCH(k, 4, 128, nullptr); }\n"
    (launch,) = Source(macro.replace("PRINTED", "#kernel") + kernel + call).launches
    assert launch.kernel == "k"
    assert launch.block is not None
    assert [extent.value for extent in launch.block] == [128]
    assert not Source(macro.replace("PRINTED", "#block") + kernel + call).launches
    assert not Source(macro.replace("PRINTED", "k ## ernel") + kernel + call).launches
