"""Values of flags that an original's text tells apart, beside the declared ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import families, named, oracle, spec
from runners.spec import Work
from runners.text import LONGEST
from tests.redteam import table

CASES = Path(table.HERE) / "cases"


def _found(body: str, *declared: int, before: str = "") -> tuple[int, ...]:
    text = f"{before}\n__global__ void f(const float* a, int n, int k) {{ {body} }}"
    return named.undeclared(text, "f", {2: frozenset(declared)}).get(2, ())


@pytest.mark.parametrize(
    ("body", "declared", "found"),
    [
        ("if (k == 0) a(); else if (k == 1) b(); else c();", (0, 1), (2,)),
        ("if (k == 0) { a(); } else if (k == 1) { b(); } else { c(); }", (0,), (1, 2)),
        ("s = k == 0 ? a : k == 1 ? b : c;", (0, 1), (2,)),
        ("s = (k == 0) ? a : ((k == 1) ? b : c);", (0, 1), (2,)),
        ("switch (k) { case 0: a(); break; case 3: b(); break; default: c(); }", (0, 3), (4,)),
        ("switch ((int)k) { case 0: a(); break; case 3: { b(); } }", (0,), (3,)),
        ("if (k == 0) { a(); return; } if (k == 1) { b(); return; } c();", (0, 1), (2,)),
        ("if (k != 0 && k != 1) c();", (0, 1), (2,)),
        ("if (0 == k) a(); else b();", (0,), (1,)),
        ("if (k == -1) a();", (0,), (-1,)),
        ("if (k == 'T') a(); else b();", (78,), (84,)),
        ("if (k) a();", (1,), (0,)),
        ("s = k ? a : b;", (0,), (1,)),
        ("if (!k && i) a();", (0,), (1,)),
        ("s = x[k % 3];", (0, 1), (2,)),
        ("s = k % 1000000007;", (5,), (1000000006,)),
        ("if (k & 4) a();", (0, 1), (4,)),
        ("s = k > 2 ? a : b;", (1,), (3,)),
        ("if (k <= 2) a(); else b();", (3,), (2,)),
        ("for (;;) if (i) for (;;) if (k == 1) a(); else b();", (1,), (0,)),
        ("do if (k == 0) a(); else b(); while (i); c();", (0,), (1,)),
        ("int way = k; if (way == 7) a();", (0,), (7,)),
        (
            "if (k == 0) for (;;) { a(); } else if (k == 1) do b(); while (i); else c();",
            (0, 1),
            (2,),
        ),
    ],
)
def test_what_an_original_tells_apart_is_tried(
    body: str, declared: tuple[int, ...], found: tuple[int, ...]
) -> None:
    """A way that no declared value goes is one more way to be wrong."""
    assert _found(body, *declared) == found


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        # Both ways are declared, and nothing is there for a third value.
        ("if (k == 0) a(); else b();", (0, 1)),
        ("if (k == 1) a();", (0, 1)),
        ("if (k == 0) a(); else if (k == 1) b();", (0, 1)),
        ("switch (k) { case 0: a(); break; case 1: b(); }", (0, 1)),
        ("s = k % 2;", (0, 1)),
        ("if (k) a(); else b();", (0, 3)),
        # What is left over is an error.
        ("if (k == 0) a(); else if (k == 1) b(); else __trap();", (0, 1)),
        ("switch (k) { case 0: a(); break; case 1: b(); break; default: assert(0); }", (0, 1)),
        ("switch (k) { case 0: a(); break; case 1: b(); break; default: break; }", (0, 1)),
        ("switch (k) { case 0: a(); break; case 1: b(); break; default: return; }", (0, 1)),
        ("if (k != 0 && k != 1) return; a();", (0, 1)),
        # Bounds are no ways, and sizes no flags.
        ("if (k > 8) return; a();", (0, 1)),
        ("for (int i = 0; i < k; ++i) a();", (3,)),
        ("s = f2(k) + x[k] + k;", (3,)),
        ('// if (k == 3)\n /* k == 4 */ s = "k == 5"; t = p.k == 6;', (0,)),
        ("if (i == 3) a(); else b();", (0,)),
        ("s = a[i] > k;", (0,)),
    ],
)
def test_nothing_else_is(body: str, declared: tuple[int, ...]) -> None:
    """Right code may do what it likes where the original's text says nothing."""
    assert _found(body, *declared) == ()


def test_constants_have_names_and_flags_are_passed_on() -> None:
    """As macros, enumerators and constants; into functions, kernels and templates of kernels."""
    before = """
    #define SUM 0  // first
    #define LARGEST (0x10)
    enum class Way : int { NEAR, FAR = 7, FURTHER };
    constexpr unsigned long long prime = 2147483647ull;
    """
    assert _found("if (k == SUM) a(); else if (k == LARGEST) b();", 0, before=before) == (16,)
    assert _found("if (k == (int)Way::FURTHER) a();", 0, before=before) == (8,)
    assert _found("s = k % (long long)prime;", 0, before=before) == (2147483646,)
    text = """
    template <int N> __global__ void inner(float* x, int mode) { if (mode == 2) a(); }
    static float helper(int way, float v) { return way == 5 ? v : -v; }
    extern "C" void f(float* x, int k) {
        inner<32><<<dim3(1, 2), 256>>>(x, k);
        y = helper((int)k, 3.f);
    }
    """
    assert named.undeclared(text, "f", {1: frozenset({0})}) == {1: (2, 5)}
    assert named.undeclared(text, "ns::inner<32>", {1: frozenset({0})}) == {1: (2,)}
    assert named.undeclared(text, "gone", {1: frozenset({0})}) == {}
    assert named.undeclared(text, "f", {7: frozenset({0})}) == {}


_WORDS = (
    "if else switch case default : ? ( ) { } [ ] ; , k == != < <<< >>> > % & ! && 0 1 0x7 09 'a' ' "
    '" R"( /* */ // \\ \n # #define enum const int = :: -> . f return do while for - é'
)
_PIECES = st.sampled_from(_WORDS.split(" "))


@given(st.lists(_PIECES, max_size=80), st.sampled_from(["", " "]))
def test_no_text_breaks_it(pieces: list[str], between: str) -> None:
    """The text is a stranger's."""
    body = between.join(pieces)
    for text in (body, f"void f(int k) {{ {body} }}", f"void f(int k) {{ if (k == 0) {body}"):
        named.undeclared(text, "f", {0: frozenset({0})})


@pytest.mark.parametrize(
    "piece",
    ["/*", '"\\', "'\\", 'R"a(', "(", "{", "if(k==0)", "if(k==0){", "f(k,", "k==0?", "f(k){",
     "else if(k==1)", "switch(k){case 3:", "enum{", "#\\\n", "f<", "const a=", "k==9 ", "do "],
)  # fmt: skip
def test_its_time_is_bounded(piece: str) -> None:
    """Whatever is repeated as often as a text may have it."""
    text = "void f(int k) { " + piece * (LONGEST // len(piece) - 20)
    assert len(text) <= LONGEST
    begun = time.process_time()
    named.undeclared(text, "f", {0: frozenset({0})})
    assert time.process_time() - begun < 3
    assert named.undeclared(text + " " * LONGEST, "f", {0: frozenset({0})}) == {}


def _flagged(source: str, shape: str = "n", kind: str = "int", **more: Any) -> Work:
    kernel = {"name": "f", "source": source, "path": "", "launch": None}
    workload = {
        "name": "f",
        "kind": "kernel",
        "symbol": "f",
        "arguments": [
            {"name": "x", "type": "float*", "shape": shape},
            {"name": "way", "type": kind, "value": "way"},
        ],
        "cases": [{"values": {"n": 5000, "way": 0}}, {"values": {"n": 300, "way": 1}}],
        "launch": {"grid": ["(n+255)/256"], "block": ["256"]},
        **more,
    }
    return spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work


FLAG = "void f(float* x, int k) { if (k == 0) a(); else if (k == 1) b(); else c(); }"


def test_such_values_are_tried_in_one_case_and_with_other_contents_in_another() -> None:
    """In a confirmation at small sizes, too."""
    work = _flagged(FLAG)
    assert work.named == (("way", (2,)),)
    asked = [c for c in oracle.combinations(work, "screen", 1)[1] if c.case["way"] == 2]
    assert [(c.case["n"], c.family) for c in asked] == [(300, families.DECLARED), (5000, "mixed")]
    more = [c for c in oracle.combinations(work, "confirm", 1)[1] if c.case["way"] == 2]
    assert len(asked) <= len(more) < 8
    keys = [c.key for c in oracle.combinations(work, "confirm", 1)[1]]
    assert len(set(keys)) == len(keys)


def test_only_whole_numbers_that_size_nothing_are_flags() -> None:
    """Others are sizes, which are moved as such, or what nobody called a variable."""
    assert _flagged(FLAG, shape="n*(way+1)").named == ()
    assert _flagged(FLAG, launch={"grid": ["n+way"], "block": ["1"]}).named == ()
    assert _flagged(FLAG, kind="float").named == ()
    assert _flagged(FLAG, kind="bool").named == ()
    halves = [{"values": {"n": 300, "way": 0.5}}]
    assert _flagged(FLAG, cases=halves).named == ()
    captured = [
        {"name": "x", "type": "float*", "shape": "n", "init": "capture:somewhere"},
        {"name": "way", "type": "int", "value": "way"},
    ]
    assert _flagged(FLAG, arguments=captured).named == ()
    signs = FLAG.replace("k == 1", "k == -1")
    assert _flagged(signs).named == (("way", (-1,)),)
    assert _flagged(signs, kind="unsigned").named == ()


def test_few_values_are_found_in_real_kernels() -> None:
    """Each is run: of the red team's workloads hardly any has one."""
    found = {}
    for candidate in table.load():
        if candidate.name == "base":
            work = spec.parse(candidate.job("screen")).work
            if work.named:
                found[candidate.base.name] = work.named
    assert found["metric"] == (("kind", (2,)),)
    assert found["mersenne"] == (("point", (2**31 - 2,)),)
    assert sum(len(values) for named_ in found.values() for _, values in named_) < 20


def test_every_argument_of_a_real_kernel_may_be_asked_about() -> None:
    """None of them takes long, and none breaks it."""
    begun = time.process_time()
    for file in sorted(CASES.glob("*/base.cu")):
        text = file.read_text()
        every = {at: frozenset({0}) for at in range(12)}
        assert all(
            len(values) <= named.MOST_VALUES
            for values in named.undeclared(text, file.parent.name, every).values()
        )
    assert time.process_time() - begun < 30
