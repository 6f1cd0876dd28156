"""What host code calls is read from its symbols, whatever its text looks like."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.linkage import beyond, constructors, imports
from tests import once

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed here")

BASE = """
#include <cstdio>
#include <cmath>
extern "C" void run(float* p, int n) { if (n < 0) puts("no"); p[0] = n; }
"""


def _built(text: str, option: str = "-O1") -> bytes:
    def make(folder: Path) -> None:
        source = folder / "host.cpp"
        source.write_text(text)
        command = ["g++", option, "-shared", "-fPIC", "-o", str(folder / "host.so"), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    return (once.built(f"host code {option}", text, make) / "host.so").read_bytes()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("p[0] = n;", ""),
        ("p[0] = ceilf(n * 0.7f) + log2(n);", ""),
        ('puts("yes"); p[0] = n;', ""),
        ('fclose(fopen("result.json", "w")); p[0] = n;', "calls fopen"),
        ('\n#define puts(x) remove("/tmp/x")\n puts("no"); p[0] = n;', "calls remove"),
        ('static struct S { S() { puts("early"); } } s; p[0] = n;', ""),
    ],
)
def test_what_a_candidate_calls_and_the_original_does_not(edit: str, said: str) -> None:
    """Arithmetic and what the original calls already is free."""
    original = _built(BASE)
    candidate = _built(BASE.replace("p[0] = n;", edit))
    found = beyond(candidate, original)
    assert (said in " ".join(found)) if said else found == ()


def test_what_runs_on_loading_is_counted() -> None:
    """A static object with a constructor runs before anything is verified."""
    original = _built(BASE)
    early = _built(BASE + 'static int x = puts("early"); int* y = &x;')
    assert constructors(early) == constructors(original) + 1
    assert "run on loading" in " ".join(beyond(early, original))


# As nvcc writes it in place of a device function, and what only looks like it.
STUB = "int half(int n){int volatile ___ = 1;(void)n;::exit(___);}"


@pytest.mark.parametrize("option", ["-O0", "-O2", "-fno-plt"])
@pytest.mark.parametrize(
    ("edit", "more", "said"),
    [
        ("p[0] = n;", "", ""),
        ("if (n == 77) exit(0); p[0] = n;", "", "calls exit"),
        ("if (n == 77) exit(1); p[0] = n;", "", "calls exit"),
        ("if (n == 77) exit(n); p[0] = n;", "", "calls exit"),
        ("if (n == 77) _exit(1); p[0] = n;", "", "calls _exit"),
        ("if (n == 77) abort(); p[0] = n;", "", "calls abort"),
        ("p[0] = n;", "void (*end)(int) = exit;", "calls exit"),
        ("if (n == 77) then(&exit); p[0] = n;", "void then(void (*)(int));", "calls exit"),
        ("p[0] = n;", "[[noreturn]] void end(int n) { exit(n); }", "calls exit"),
    ],
)
def test_what_stands_for_a_device_function_is_no_call(
    option: str, edit: str, more: str, said: str
) -> None:
    """The compiler puts a call of exit where a device function was; others count beside it."""
    head = "#include <cstdlib>\n#include <unistd.h>\n"
    plain = _built(head + BASE, option)
    stubbed = _built(head + BASE + STUB, option)
    text = head + more + STUB + BASE.replace("p[0] = n;", edit)
    candidate = _built(text, option)
    for original in (plain, stubbed):
        found = " ".join(beyond(candidate, original))
        assert (said in found) if said else found == ""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_a_device_function_is_no_call_of_host_code(tmp_path: Path) -> None:
    """One that could be called from another file is refused no more than a static one."""
    text = """
    {} int twice(int n) {{ return 2 * n; }}
    __global__ void all(int* p, int n) {{ if (threadIdx.x < n) p[threadIdx.x] = twice(n); }}
    extern "C" void run(int* p, int n) {{ all<<<1, 32>>>(p, n); {} }}
    """
    made = {}
    for name, kind, then in (
        ("static", "static __device__", ""),
        ("shown", "__device__", ""),
        ("ends", "__device__", "if (n == 7) exit(3);"),
    ):
        source, target = tmp_path / f"{name}.cu", tmp_path / f"{name}.so"
        source.write_text(text.format(kind, then))
        command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-O3", "-o", str(target), str(source)]
        subprocess.run(command, check=True, capture_output=True)
        made[name] = target.read_bytes()
    assert "exit" in imports(made["shown"])
    assert beyond(made["shown"], made["static"]) == ()
    assert "calls exit" in " ".join(beyond(made["ends"], made["static"]))
    assert "calls exit" in " ".join(beyond(made["ends"], made["shown"]))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_a_table_that_a_compiler_computes_runs_nothing_on_loading(tmp_path: Path) -> None:
    """Though nvcc gives its initializer to the host's compiler as well."""
    table = """
    struct Row { float of[64]; };
    constexpr Row row() { Row r = {}; for (int i = 0; i < 64; i++) r.of[i] = i; return r; }
    __device__ const Row rows = row();
    """
    text = """
    __global__ void all(float* p) { p[threadIdx.x] += VALUE; }
    extern "C" void run(float* p) { all<<<1, 32>>>(p); }
    """
    made = {}
    for name, code, option in (
        ("plain", text.replace("VALUE", "threadIdx.x"), "-O3"),
        ("table", table + text.replace("VALUE", "rows.of[threadIdx.x]"), "-O3"),
        ("slow", table + text.replace("VALUE", "rows.of[threadIdx.x]"), "-O0"),
    ):
        source, target = tmp_path / f"{name}.cu", tmp_path / f"{name}.so"
        source.write_text(code)
        command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", option, "-o", str(target), str(source)]
        subprocess.run(command, check=True, capture_output=True)
        made[name] = target.read_bytes()
    assert beyond(made["table"], made["plain"]) == ()
    assert beyond(made["slow"], made["plain"]) == ()


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(data: bytes, head: bool) -> None:
    """A damaged file asks for nothing."""
    text = (b"\x7fELF\x02" if head else b"") + data
    assert isinstance(imports(text), frozenset)
    assert constructors(text) >= 0
    assert isinstance(beyond(text, data), tuple)


@given(st.data())
def test_no_damage_raises(data: st.DataObject) -> None:
    """Neither does a file of which some bytes are others."""
    text = bytearray(_stubbed())
    for at in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=20)):
        text[at] = data.draw(st.integers(0, 255))
    assert isinstance(beyond(bytes(text), b""), tuple)


def test_sections_beyond_any_file_are_none() -> None:
    """An offset of 64 bits is more than Python takes for one."""
    text = bytearray(_stubbed())
    text[0x28:0x30] = b"\xff" * 8
    assert beyond(bytes(text), b"") == ()


@functools.cache
def _stubbed() -> bytes:
    return _built("#include <cstdlib>\n" + STUB)
