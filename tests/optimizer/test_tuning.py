"""Which numbers `tune` changes, and what it leaves alone."""

from __future__ import annotations

import gc
import re
import weakref
from itertools import islice

import pytest
from hypothesis import given, settings

from optimizer import shared_facts, tuning
from optimizer import source as sources
from optimizer.boundary import violations
from optimizer.knobs import alternatives
from optimizer.model import Finding, Kernel, Launch
from optimizer.source import Source
from optimizer.tuning import reshaped, tune
from tests.optimizer.cuda_texts import NAMES, broken, read


def edits(text: str, launch: Launch | None = None, name: str = "k") -> list[str]:
    """Return the changed texts, in order."""
    return [e.source for e in tune(Kernel(name, text, launch=launch))]


@pytest.mark.parametrize("name", NAMES)
def test_every_program_has_something_to_tune(name: str) -> None:
    """Each edit changes the text, stays within the boundary and launches at most 1024 threads."""
    text = read(name)
    found = list(tune(Kernel("k", text)))
    assert found
    assert len({e.source for e in found}) == len(found)
    for e in found:
        assert e.source != text
        assert e.kind == "tune"
        assert violations(text, e.source) == ()
        for launch in Source(e.source).launches:
            assert launch.threads is None or 1 <= launch.threads <= 1024


def test_a_literal_block_takes_its_grid_along() -> None:
    """`(n + 255) / 256, 256` changes in all its places."""
    found = edits(read("saxpy_checked"))
    assert any("saxpy<<<(n + 127) / 128, 128>>>" in t for t in found)
    assert any("saxpy<<<(n + 511) / 512, 512>>>" in t for t in found)
    assert all("scale_stride<<<128, " in t for t in found)


def test_a_grid_that_does_not_follow_is_left_alone() -> None:
    """Fewer threads than elements would be wrong: a fixed grid stays unless threads stride."""
    text = (
        "__global__ void k(float* p) { int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = 0; }\n"
        "int main() { float* p; k<<<64, 256>>>(p); }\n"
    )
    assert edits(text) == []


def test_a_kernel_that_repeats_its_block_changes_along() -> None:
    """Shared extents, strides and loops of the same number change with the launch."""
    found = next(t for t in edits(read("nbody_structs")) if "cache[ 128 ]" in t)
    assert "blockIdx.x * 128" in found
    assert "base += 128" in found
    assert "k < 128" in found
    assert "( nBodies + 127 ) / 128 , 128 >>>" in found
    assert "256" not in found.partition("forces4")[2].partition("main")[0]


def test_shared_arrays_tied_to_the_block_by_another_name_stay() -> None:
    """A block that a constant of the kernel repeats under another name is not changed alone."""
    text = (
        "#define SLOTS 256\n"
        "__global__ void k(float* p) { __shared__ float s[SLOTS];\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; s[threadIdx.x] = p[i]; p[i] = s[0]; }\n"
        "int main() { float* p; int n = 9; k<<<(n + 255) / 256, 256>>>(p); }\n"
    )
    assert edits(text) == []


def test_two_extents_keep_x_fastest() -> None:
    """2-D shapes are at least as wide as high, and a named pair changes together."""
    source = Source(read("stencil_macros"))
    shapes = set()
    for text in edits(source.text):
        block = Source(text).launches_of("stencil")[0].block
        assert block is not None
        shapes.add(tuple(e.value for e in block[:2]))
    assert {(16, 16), (64, 4), (32, 4)} <= shapes
    assert all((x or 0) >= (y or 0) for x, y in shapes)


def test_parts_of_the_problem_are_not_tuned() -> None:
    """A radius, a number of bins or what the host uses is no knob."""
    for text in edits(read("stencil_macros")):
        assert "#define RADIUS 2" in text
    for text in edits(read("histogram_externc")):
        assert "BINS = 256, WARPS = 8" in text


def test_launch_bounds_are_kept() -> None:
    """No block exceeds what `__launch_bounds__` promises."""
    for text in edits(read("histogram_externc")):
        threads = Source(text).launches_of("histogram")[0].threads
        assert threads is not None
        assert threads <= 256


def test_unroll_factors_and_items() -> None:
    """Factors in pragmas and items per thread are doubled and halved."""
    found = edits(read("spmv_pointers"))
    assert any("ITEMS = 8;" in t for t in found)
    assert any("#pragma unroll 2\n  for (int k = 0; k < ITEMS" in t for t in found)


@pytest.mark.parametrize(("written", "offered"), [(32, {64, 16, 8}), (128, {64, 32})])
def test_a_loop_is_not_unrolled_further_than_pays(written: int, offered: set[int]) -> None:
    """Where more is written already, less is offered."""
    text = (
        "__global__ void k(float *p, int n) {\n"
        f"#pragma unroll {written}\n"
        "for (int i = 0; i < n; ++i) { p[i] += 1.0f; }\n}\n"
    )
    found = {int(n) for one in edits(text) for n in re.findall(r"unroll (\d+)", one)}
    assert found == offered


def test_kernels_with_findings_come_first() -> None:
    """A finding's subject moves its edits to the front."""
    text = read("saxpy_checked")
    finding = Finding("occupancy", "few warps", subject="scale_stride")
    first = next(iter(tune(Kernel("k", text), [finding])))
    assert "scale_stride" in first.title


def test_line_ends_and_comments_stay() -> None:
    """Only the numbers differ, in files with CRLF and letters outside ASCII, too."""
    for name in ("crlf_vadd", "unicode_comments"):
        text = read(name)
        for changed in islice(edits(text), 3):
            assert changed.count("\r\n") == text.count("\r\n")
            differing = [
                (a, b)
                for a, b in zip(text.splitlines(), changed.splitlines(), strict=True)
                if a != b
            ]
            assert 1 <= len(differing) <= 2


BODY = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = 0;"


def test_a_workloads_own_launch_is_tuned() -> None:
    """Block, grid and shared size of a loader's launch change; the source stays."""
    text = f"__global__ void k(float* p, int n) {{ {BODY} }}\n"
    launch = Launch(("(n+255)/256",), ("256",), shared="256*4", tunable=True)
    found = list(tune(Kernel("k", text, launch=launch)))
    assert found
    assert {e.source for e in found} == {text}
    changed = next(e.launch for e in found if e.launch and e.launch.block == ("512",))
    assert changed == Launch(("(n+511)/512",), ("512",), shared="512*4", tunable=True)


def test_a_fixed_launch_is_not_tuned() -> None:
    """Without `tunable` the caller's launch stays; so does one whose grid does not follow."""
    text = f"__global__ void k(float* p, int n) {{ {BODY} }}\n"
    assert edits(text, Launch(("(n+255)/256",), ("256",))) == []
    assert edits(text, Launch(("blocks",), ("256",), tunable=True)) == []


def test_a_constant_in_the_kernel_changes_with_the_launch() -> None:
    """A tile that sizes shared memory and the loader's block are one knob."""
    text = (
        "#define TILE 16\n__global__ void k(float* p, int n) { __shared__ float s[TILE][TILE];\n"
        "  int x = blockIdx.x * TILE + threadIdx.x; s[threadIdx.y][threadIdx.x] = p[x]; }\n"
    )
    launch = Launch(("(n+15)/16", "(n+15)/16"), ("16", "16"), tunable=True)
    found = [e for e in tune(Kernel("k", text, launch=launch)) if e.launch]
    assert {e.launch.block for e in found if e.launch} == {("32", "32"), ("8", "8")}
    assert all(f"#define TILE {e.launch.block[0]}" in e.source for e in found if e.launch)


@settings(max_examples=40, deadline=None)
@given(broken())
def test_no_text_raises(text: str) -> None:
    """Mutilated programs are tuned or left alone."""
    list(islice(tune(Kernel("saxpy", text)), 3))


def test_between_two_edits_no_parsed_source_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of candidates wait for their next constant; each keeps its text alone."""
    monkeypatch.setattr(sources, "_sources", type(sources._sources)())
    waiting = iter(tune(Kernel("saxpy", read("saxpy_checked") + "// of this test alone\n")))
    next(waiting)
    (held,) = [weakref.ref(s) for text, s in sources._sources.items() if "this test" in text][:1]
    sources._sources.clear()
    # What the last few hundred functions share is let go of in time.
    shared_facts._facts.clear()
    shared_facts._variables.clear()
    gc.unfreeze()  # what this process has looked through before is looked through again
    gc.collect()
    assert held() is None
    assert next(waiting).kind == "tune"


def test_what_host_text_allows_is_asked_once_for_all_candidates_of_one_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the number a block becomes nor what kernels do makes a difference to it."""
    asked: list[str] = []

    def counted(original: str, candidate: str) -> tuple[str, ...]:
        asked.append(candidate)
        return violations(original, candidate)

    monkeypatch.setattr(tuning, "violations", counted)
    text = read("saxpy_checked") + "// of another test alone\n"
    offered = set()
    at = text.index("{", text.index("__global__")) + 1
    for n in range(4):
        kernel = Kernel("saxpy", text[:at] + "\n" * n + text[at:])
        found = list(reshaped(kernel, Source(kernel.source), alternatives))
        offered.add(len(found))
        assert all(not violations(kernel.source, edit.source) for _, edit in found)
    assert offered == {max(offered)}
    assert max(offered) > 1
    assert len(asked) == 1


def test_a_block_that_other_host_text_reads_is_not_reshaped() -> None:
    """A constant of the host stays; a literal of the launch beside it may change."""
    text = (
        "#include <cstdio>\nconst int kThreads = 256;\n"
        "__global__ void a(float* p, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) p[i] = 0;\n}\n"
        "int main() {\n    float* p = 0;\n    int n = 1000;\n"
        "    a<<<(n + kThreads - 1) / kThreads, kThreads>>>(p, n);\n"
        "    a<<<(n + 127) / 128, 128>>>(p, n);\n"
        '    printf("%d threads", kThreads);\n}\n'
    )
    found = [e.source for _, e in reshaped(Kernel("a", text), Source(text), alternatives)]
    assert found
    assert all("kThreads = 256;" in t and "/ 128, 128" not in t for t in found)
