"""Slabs, parameter buffers and what the helper kernels see of them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from runners import arena, spec
from runners.gpu import LaunchError
from runners.launchable import geometry, mangled, plain_name, takes_stream
from runners.poison import NAN_POISON, keystream, pattern
from runners.promote import promoted
from runners.run import damage
from runners.spec import Launch, SpecError, Work


def _work(arguments: list[dict[str, Any]], **case: float) -> Work:
    kernel = {"name": "k", "source": "", "path": "", "launch": None}
    workload = {
        "name": "k",
        "kind": "kernel",
        "symbol": "k",
        "arguments": arguments,
        "cases": [{"values": case}],
    }
    return spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work


BYTES = {"name": "b", "type": "const uint8_t*", "shape": "n"}
OUT = {"name": "y", "type": "float*", "shape": "n", "role": "output"}


def test_buffers_lie_between_guards_and_are_aligned() -> None:
    """Every byte of a slab belongs to one segment, buffers begin at multiples of 256."""
    layout = arena.plan(_work([BYTES, OUT], n=1001), {"n": 1001}, 1 << 20)
    at = 0
    for offset, size, _, _kind in layout.segments.tolist():
        assert offset == at
        at += size
    assert at == layout.stride
    assert all(b.offset % 256 == 0 for b in layout.buffers)
    kinds = layout.segments[:, 3].tolist()
    assert kinds == [arena.GUARD, arena.INPUT, arena.GUARD, arena.OUTPUT, arena.GUARD]


def test_buffers_of_several_sizes_have_places_in_common() -> None:
    """Small ones all, larger ones up to a power of two; every byte belongs to one segment."""
    work = _work([BYTES, OUT, {**BYTES, "name": "c"}], n=1)
    bands = 1 << 20

    def planned(n: int) -> arena.Layout:
        layout = arena.plan(work, {"n": n}, bands, places=True)
        at = 0
        for offset, size, _, _kind in layout.segments.tolist():
            assert offset == at
            at += size
        assert at == layout.stride
        assert [b.size for b in layout.buffers] == [n, 4 * n, n]
        return layout

    few, more, many = planned(3), planned(60_000), planned(1_000_000)
    assert few.addresses(0) == more.addresses(0) != many.addresses(0)
    assert few.stride == more.stride
    assert planned(1_048_576).addresses(0) == many.addresses(0)
    apart = [arena.plan(work, {"n": n}, bands).addresses(0) for n in (3, 60_000)]
    assert apart[0] != apart[1]


def test_an_empty_buffer_still_has_guards() -> None:
    """A case of size zero is laid out without overlap."""
    layout = arena.plan(_work([BYTES, OUT], n=0), {"n": 0}, 4096)
    assert layout.output_bytes == 0
    assert layout.stride >= 3 * 4096


def test_parameters_are_packed_as_the_device_reads_them() -> None:
    """Natural alignment between a char, a double, a pointer, a half and a vector."""
    work = _work(
        [
            {"name": "c", "type": "char", "value": "7"},
            {"name": "d", "type": "double", "value": "n/4"},
            BYTES,
            {"name": "h", "type": "half", "value": "1.5"},
            {"name": "v", "type": "float2", "value": "{1, 2}"},
        ],
        n=10,
    )
    packed = arena.pack(work, {"n": 10.5}, {"b": 0x1122334455667788})
    anywhere = arena.Parameters(work, {"n": 10.5})
    assert anywhere.at({"b": 0}) != packed
    assert anywhere.at({"b": 0x1122334455667788}) == packed
    expected = np.zeros(
        1,
        [
            ("c", "i1"),
            ("p", "V7"),
            ("d", "f8"),
            ("b", "u8"),
            ("h", "f2"),
            ("q", "V6"),
            ("v", "2f4"),
        ],
    )
    expected["c"], expected["d"], expected["b"], expected["h"] = 7, 2.625, 0x1122334455667788, 1.5
    expected["v"] = (1, 2)
    assert packed == expected.tobytes()
    values = arena.host_arguments(work, {"n": 10.5}, {"b": 16})
    assert [type(v) for v in values[:4]] == [
        ctypes.c_int8,
        ctypes.c_double,
        ctypes.c_void_p,
        ctypes.c_uint16,
    ]


def test_rotations_are_whole_elements_and_only_where_order_is_free() -> None:
    """Shifted contents stay valid: sorted data is never shifted."""
    work = _work(
        [
            {**BYTES, "type": "const float*"},
            {"name": "s", "type": "int*", "shape": "n", "init": "sorted"},
        ],
        n=1000,
    )
    layout = arena.plan(work, {"n": 1000}, 4096)
    shifts = layout.rotations(np.random.default_rng(0), 50)
    assert (shifts[:, 1] % 16 == 0).all()
    assert shifts[:, 1].max() > 0
    assert (shifts[:, 3] == 0).all()


def test_damage_is_put_into_words() -> None:
    """The message says which buffer was overrun and by how much."""
    layout = arena.plan(_work([BYTES, OUT], n=100), {"n": 100}, 4096)
    out = layout.buffers[1]
    seen = damage(layout, np.array([1, 0, out.offset + out.size + 3], np.uint64))
    assert seen
    assert "4 bytes past the end of y" in seen.words
    assert not damage(layout, np.array([0, 0, 2**64 - 1], np.uint64))


def test_patterns_differ_by_seed_and_slab_and_continue() -> None:
    """Poison is not the same twice, and reading it in parts gives the same bytes."""
    whole = pattern(32, 100, 5)
    assert np.array_equal(whole[10:], pattern(42, 90, 5))
    assert not np.array_equal(whole, pattern(32, 100, 6))
    assert not np.array_equal(whole, pattern(32, 100, 5, slab=1))
    assert np.isnan(pattern(0, 64, NAN_POISON).view("f4")).all()
    assert len(keystream(5, 0, 1)) == 0
    long = keystream(16, 1 << 20, 7)
    assert np.array_equal(long[700_000:], keystream(700_016, (1 << 20) - 700_000, 7))
    # As the device mixes them: https://prng.di.unimi.it/splitmix64.c, from a state of zero.
    assert int(keystream(0, 8, 0).view("u8")[0]) == 0xE220A8397B1DCDAF


@pytest.mark.parametrize(
    ("grid", "block", "words"),
    [
        (("n",), ("2048",), "block.x is 2048"),
        (("0*n",), ("32",), "grid.x is 0"),
        (("1", "70000"), ("32",), "grid.y is 70000"),
        (("1",), ("32", "64"), "2048 threads"),
        (("m",), ("32",), "launch geometry"),
    ],
)
def test_impossible_launches_are_told_before_the_driver_is_asked(
    grid: tuple[str, ...], block: tuple[str, ...], words: str
) -> None:
    """A candidate with such a launch gets a clean verdict."""
    with pytest.raises(LaunchError, match=words):
        geometry(Launch(grid, block), {"n": 4})


def test_symbols_are_found_by_the_names_people_write() -> None:
    """Namespaces, spaces in template arguments, plain names."""
    symbols = {"scan<float,256>": "_Z4scanIfLi256EEvPT_", "saxpy": "_Z5saxpyif"}
    assert mangled(symbols, "scan<float, 256>") == "_Z4scanIfLi256EEvPT_"
    assert mangled(symbols, "math::saxpy") == "_Z5saxpyif"
    assert plain_name("a::b<int>") == "b"
    with pytest.raises(LaunchError, match="not among"):
        mangled(symbols, "gone")


def test_a_trailing_stream_is_seen_in_the_text_of_unmangled_functions() -> None:
    """extern "C" symbols say nothing of their parameters."""
    text = 'extern "C" void go(float* x, int n, cudaStream_t stream) {\n}'
    assert takes_stream("go", "go", text)
    assert not takes_stream("go", "go", text.replace(", cudaStream_t stream", ""))
    assert not takes_stream("_Z2goPfi", "go", text)


def test_promotion_comes_behind_the_includes() -> None:
    """Headers keep their floats; the code behind them does not."""
    text = promoted("#include <cuda_fp16.h>\n__global__ void f(float* p) { p[0] = sqrtf(2.f); }")
    assert text is not None
    assert text.index("#include") < text.index("#define float double") < text.index("__global__")
    assert "#define sqrtf sqrt" in text
    assert promoted("__global__ void f(int* p) {}") is None


def test_numbers_are_promoted_as_they_are() -> None:
    """A whole number and 0.5f would be added in single precision; 0.1f stays the float it is."""
    text = promoted("float f(int i, float2 v) { return (i + 0.5f) * 1e-1F + 0x1f + v.x - .1f; }")
    assert text is not None
    assert "(i + ((double)0.5f)) * ((double)1e-1f) + 0x1f + v.x - ((double).1f);" in text


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"name": "x", "type": "flot*", "shape": "n"}, "argument x"),
        ({"name": "x", "type": "float*"}, "needs a shape"),
        ({"name": "x", "type": "int"}, "needs a value"),
        ({"name": "x", "type": "float*", "shape": "n+"}, "not arithmetic"),
        ({"name": "x", "type": "float*", "shape": "k"}, "k"),
        ({"type": "float*"}, "name"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_with_the_reason(
    argument: dict[str, Any], words: str
) -> None:
    """The error names the argument or the field."""
    with pytest.raises(SpecError, match=words):
        _work([argument], n=4)
