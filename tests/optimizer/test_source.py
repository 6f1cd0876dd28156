"""What `Source` tells about whole programs, and that no text makes it raise."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.source import Source
from tests.optimizer.cuda_texts import NAMES, broken, read


def ask_everything(text: str) -> None:
    source = Source(text)
    assert source.replace([]) == text
    _ = (source.errors, source.includes, source.has_main, source.words, source.inactive)
    for launch in source.launches:
        _ = (launch.threads, source.only_launched(launch.kernel))
    for f in source.functions:
        _ = (f.broken, f.unknown_names, f.shared, f.barriers, f.unknown_calls, f.divisions)
        _ = (f.double_literals, f.thread_ids, f.guards, f.pure, f.has_asm, f.warp_calls)
        for access in f.accesses:
            _ = (access.thread_stride(), f.type_of(access.node), str(access.index))
            _ = [access.loop_stride(lp) for lp in access.loops]
        for loop in f.loops:
            _ = (loop.leaves_early, f.changed_names(loop))
            for node in loop.body_statements()[:3]:
                _ = (f.reads(node), f.writes(node), f.is_invariant(node, loop), f.affine(node))
                _ = (f.divergent(node), f.leaves(node), source.statement_span(node))
        for one, other in product(f.variables.all[:5], repeat=2):
            f.may_alias(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_every_program_is_understood(name: str) -> None:
    """No program under tests/data has a place the grammar stumbles over or a broken kernel."""
    source = Source(read(name))
    assert source.has_main
    assert source.errors == ()
    assert source.kernels
    assert [f.name for f in source.functions if f.broken] == []


@settings(max_examples=150, deadline=None)
@given(broken())
def test_no_mutilated_program_raises(text: str) -> None:
    """Whatever a program is mangled into, every question gets an answer."""
    ask_everything(text)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400).map(lambda b: b.decode("latin-1")))
def test_no_bytes_raise(text: str) -> None:
    """Random bytes are a source, too, and replacing nothing changes nothing."""
    ask_everything(text)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_no_unicode_raises(text: str) -> None:
    """Any Unicode text is a source, lone surrogates included."""
    ask_everything(text)


@pytest.mark.parametrize(
    "text",
    [
        "int x = " + "(" * 5000,
        "__global__ void k(int* a) { a[" + "(" * 2000 + "1" + ")" * 2000 + "] = 1; }",
        "CHECK(" * 3000,
        "{" * 20000,
        "__global__ void k(int n) { n = " + "(int)" * 2000 + "n; }",
        "#define A " + "-" * 4000 + "1\n#if A\n#endif\n",
        "#define F(x) G(x)+G(x)\n#define G(x) F(x)*F(x)\n__global__ void k(int* a) { a[F(1)] = 1; }",
    ],
    ids=["open", "nested", "macros", "braces", "casts", "signs", "endless macro"],
)
def test_no_depth_raises(text: str) -> None:
    """Deep nesting and macros that call themselves end in an answer."""
    ask_everything(text)


def test_same_text_is_the_same_source() -> None:
    """A text is parsed once."""
    text = read("saxpy_checked")
    assert Source(text) is Source(str(text))


def test_kernels_parameters_and_qualifiers() -> None:
    """Types, pointees, const, restrict, template parameters and launch bounds are told."""
    source = Source(read("matmul_template"))
    f = source.function("linalg::detail::matmul<float, 16>")
    assert f is not None
    assert f.is_kernel
    assert f.namespace == ("linalg", "detail")
    assert f.launch_bounds == ("TILE * TILE",)
    assert [(t.name, t.kind, t.default) for t in f.templates] == [
        ("T", "typename", None),
        ("TILE", "int", "kTile"),
    ]
    a, c, m = (f.parameter(n) for n in ("a", "c", "m"))
    assert a is not None
    assert c is not None
    assert m is not None
    assert (a.element, a.is_pointer, a.const, a.restrict) == ("T", True, True, True)
    assert (c.element, c.is_pointer, c.const, c.restrict) == ("T", True, False, False)
    assert (m.type, m.is_pointer) == ("int", False)
    assert source.text[a.span[0] : a.span[1]] == "const T* __restrict__ a"


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void __launch_bounds__(256) k(float* p)",
        "__launch_bounds__(256, 2) __global__ void k(float* p)",
        'extern "C" __global__ void k(float* p)',
        "static __global__ void __cluster_dims__(2, 1, 1) k(float* p)",
        "template <typename T> __global__ static void k(T* p)",
        "void __global__ k(float* p)",
        "GLOBAL k(float* p)",
        "__attribute__((noinline)) __global__ void k(float* p)",
    ],
)
def test_a_kernel_is_found_however_it_is_declared(head: str) -> None:
    """The order and kind of qualifiers do not matter, nor a macro that stands for them."""
    source = Source(f"#define GLOBAL __global__ void\n{head} {{ p[0] = 1; }}\n")
    assert [f.name for f in source.kernels] == ["k"]
    assert source.text[slice(*source.kernels[0].span)].startswith(head[:8])
    assert not source.kernels[0].broken


def test_enumerators_that_count_on_are_known() -> None:
    source = Source(
        "enum Mode { FIRST, SECOND, FIFTH = 5, SIXTH };\n"
        "__global__ void k(float* a, Mode m) { if (m == FIRST) a[SIXTH] = MISSING; }\n"
    )
    assert [source.constant(name) for name in ("FIRST", "SECOND", "FIFTH", "SIXTH")] == [0, 1, 5, 6]
    assert source.kernels[0].unknown_names == {"MISSING"}


def test_edits_keep_other_text_and_line_ends() -> None:
    """Text outside the spans stays, positions count characters, new lines end like the file's."""
    source = Source(read("unicode_comments"))
    f = source.function("transpose")
    assert f is not None
    store = next(a for a in f.accesses if a.root == "odata")
    assert store.statement is not None
    edited = source.replace(
        [source.insert_before(store.loops[0].node, "// neu: ü\nint k = 0;"), (0, 0, "// A\n")]
    )
    assert "  // neu: ü\n  int k = 0;\n  for (int j = 0; j < TILE_DIM" in edited
    assert edited.replace("// A\n", "", 1).replace("// neu: ü\n  int k = 0;\n  ", "") == source.text
    windows = Source(read("crlf_vadd"))
    body = windows.kernels[0].body.named_children[0]
    text = windows.replace([windows.insert_before(body, "int q = 1;\nint r = 2;")])
    assert "\r\n\tint q = 1;\r\n\tint r = 2;\r\n\tconst int i" in text
    assert text.count("\n") == text.count("\r\n")


def test_fresh_names_occur_nowhere() -> None:
    """A fresh name is not in code, comments or macros."""
    source = Source("// acc\n#define M acc2\nint acc3;")
    assert source.fresh_name("acc") == "acc4"
    assert source.fresh_name("sum") == "sum"
    assert source.fresh_name("sum", "sum") == "sum2"


def test_includes_are_resolved_within_the_root(tmp_path: Path) -> None:
    """Quoted includes are read transitively, missing and outer ones left out."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.h").write_text('#include "b.h"\n#include "../../out.h"\n')
    (tmp_path / "b.h").write_text("int b;\n")
    source = Source('#include "a.h"\n#include <cstdio>\n#include "none.h"\n')
    assert source.includes == ("a.h", "none.h")
    assert source.resolve_includes("src/main.cu", tmp_path).keys() == {"src/a.h", "b.h"}
