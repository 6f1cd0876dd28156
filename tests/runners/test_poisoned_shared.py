"""Shared memory that a block has not written: what kernels begin with under delays, and for whom."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from runners.delayed import WHOLE_BUILDS, Delays
from runners.poisoned_shared import LARGE, LESS, NAN, NEGATIVE, filled
from runners.seeded import LATE_BIT, SEED
from runners.shaking import shaken

HEAD = ".version 8.0\n.target sm_{sm}\n.address_size 64\n"
DOUBLES = ".shared .align 8 .b8 most[2048];"
ODD, EVEN = 1 | 1 << LATE_BIT, 1


def module(body: str, before: str = "", sm: int = 80) -> list[str]:
    """Return a module with one kernel."""
    kernel = (
        f".visible .entry k(\n\t.param .u64 to\n)\n{{\n\t.reg .b32 \t%r<5>;\n{body}\n\tret;\n\n}}"
    )
    return f"{HEAD.format(sm=sm)}\n{before}\n{kernel}\n".splitlines()


def fill(lines: Sequence[str]) -> str:
    """Return what is put behind a declaration; nothing where that is not done."""
    added = [one for one in filled(lines, SEED, LATE_BIT) if "barrier.sync" in one]
    assert len(added) < 2
    return added[0].partition("\n")[2] if added else ""


Numbers = dict[str, int]
NO_NUMBER = re.compile(r"[\s,\[\]]+")


class Block:
    """Runs what one block's threads do before a barrier; stores are kept as bytes."""

    def __init__(
        self, text: str, seed: int, *, block: int = 0, threads: int = 96, dynamic: int = 0
    ) -> None:
        self.stored: dict[int, list[int]] = {}
        self.arrays: Numbers = {}
        self.waited = 0
        self._seed, self._dynamic = seed, dynamic
        self._lines = [line.strip() for line in text.splitlines()]
        self._labels = {line[:-1]: at for at, line in enumerate(self._lines) if line[-1:] == ":"}
        for thread in range(threads):
            special = {"%tid.x": thread % 32, "%tid.y": thread // 32, "%ntid.x": 32}
            special |= {"%ntid.y": threads // 32, "%ctaid.x": block}
            self._thread(special)

    def _thread(self, special: Numbers) -> None:
        registers: Numbers = {}
        at = 0
        while at < len(self._lines):
            line, at = self._lines[at], at + 1
            if not line or line[0] in ".{}$" or line.startswith("fence."):
                continue
            guard, rest = "", line.rstrip(";")
            if line.startswith("@"):
                guard, _, rest = rest.partition(" ")
            if guard and not registers[guard[1:]]:
                continue
            opcode, *operands = [word for word in NO_NUMBER.split(rest) if word]
            if opcode == "bra":
                at = self._labels[operands[0]]
            elif opcode == "barrier.sync":
                self.waited += 1
            elif opcode.startswith("st.shared.b"):
                start, value = registers[operands[0]], registers[operands[1]]
                assert start % (int(opcode[11:]) // 8) == 0
                for number in range(int(opcode[11:]) // 8):
                    self.stored.setdefault(start + number, []).append(value >> 8 * number & 255)
            else:
                values = [self._value(one, registers, special) for one in operands[1:]]
                made = DONE[opcode.partition(".")[0]](opcode, *values)
                registers[operands[0]] = made & 0xFFFFFFFF

    def _value(self, operand: str, registers: Numbers, special: Numbers) -> int:
        if operand == SEED:
            return self._seed
        if operand == "%dynamic_smem_size":
            return self._dynamic
        if operand.startswith("%optiml"):
            return registers[operand]
        if operand.startswith("%"):
            return special.get(operand, 1 if operand.startswith("%n") else 0)
        if operand[0].isdigit():
            return int(operand, 0)
        return self.arrays.setdefault(operand, 1024 + 65536 * len(self.arrays))

    def bytes(self, name: str) -> bytes:
        """Return what an array holds, each byte of which has been stored once."""
        start = self.arrays[name]
        here = sorted(at for at in self.stored if start <= at < start + 65536)
        assert here == list(range(start, start + len(here)))
        assert all(len(self.stored[at]) == 1 for at in here)
        return bytes(self.stored[at][0] for at in here)


def _compared(opcode: str, one: int, other: int) -> int:
    if opcode.endswith("s32"):
        one, other = (value - (value >> 31 << 32) for value in (one, other))
    what = opcode.split(".")[1]
    return int(
        {"eq": one == other, "ne": one != other, "ge": one >= other, "lt": one < other}[what]
    )


DONE: dict[str, Callable[..., int]] = {
    "mov": lambda _, one: one,
    "ld": lambda _, one: one,
    "add": lambda _, one, two: one + two,
    "and": lambda _, one, two: one & two,
    "xor": lambda _, one, two: one ^ two,
    "shl": lambda _, one, two: one << two,
    "shr": lambda _, one, two: one >> two,
    "mul": lambda _, one, two: one * two,
    "mad": lambda _, one, two, three: one * two + three,
    "selp": lambda _, one, two, given: one if given else two,
    "setp": _compared,
}


def words(pattern: bytes) -> set[int]:
    return set(np.frombuffer(pattern, np.uint32).tolist())


def test_each_byte_of_an_array_is_stored_once_before_the_kernel_begins() -> None:
    """By a block with more threads than there are words, and by one with fewer."""
    text = fill(module(f"\t{DOUBLES}\n\tmov.u32 %r1, most;"))
    for threads in (32, 96, 1024):
        block = Block(text, ODD, threads=threads)
        assert len(block.bytes("most")) == 2048
        assert block.waited == threads
        assert len(block.arrays) == 1


def test_a_maximum_shows_one_build_and_a_minimum_the_other() -> None:
    """Read as anything, the one is large; the other is no number or negative, both many times."""
    text = fill(module(f"\t{DOUBLES}\n\tmov.u32 %r1, most;"))
    large, other = (Block(text, seed).bytes("most") for seed in (ODD, EVEN))
    assert words(large) == {LARGE, LESS}
    assert words(other) == {NAN, NEGATIVE}
    for kind, least in ((np.float16, 5e4), (np.float32, 1e35), (np.float64, 1e280)):
        assert (np.frombuffer(large, kind).astype(np.float64) > least).all()
        seen = np.frombuffer(other, kind).astype(np.float64)
        assert np.isnan(seen).sum() > 60
        assert (seen < -least).sum() > 60
        assert (np.isnan(seen) | (seen < -least)).all()
    for whole in ("i1", "i2", "i4", "i8"):
        assert np.frombuffer(large, whole).min() >= 0x7A
        assert np.frombuffer(other, whole).max() < 0
    assert -1 not in np.frombuffer(other, np.int32)


def test_where_there_is_no_number_is_another_place_in_another_block() -> None:
    text = fill(module("\t.shared .align 4 .u32 last;\n\tmov.u32 %r1, last;"))
    found = [words(Block(text, EVEN, block=block).bytes("last")) for block in range(40)]
    assert 8 < sum(one == {NAN} for one in found) < 32
    assert all(one <= {NAN, NEGATIVE} for one in found)


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        (".align 1 .b8 x[3]", 3),
        (".align 1 .b8 x[40]", 40),
        (".align 2 .b8 x[154]", 154),
        (".align 4 .u32 x", 4),
        (".f64 x", 8),
        (".align 16 .b8 x[4][36]", 144),
        (".align 4 .f32 x[5]", 20),
        (".align 8 .b8 x[6]", 6),
    ],
)
def test_nothing_beside_an_array_is_stored(declared: str, size: int) -> None:
    """In words where its address and size allow it; a NaN's bytes are in their order else."""
    block = Block(fill(module(f"\t.shared {declared};\n\tmov.u32 %r1, x;")), EVEN)
    made = block.bytes("x")
    assert len(made) == size
    known = [value.to_bytes(4, "little") for value in (NAN, NEGATIVE)]
    for at in range(0, size, 4):
        assert any(one.startswith(made[at : at + 4]) for one in known)


@pytest.mark.parametrize("dynamic", [4, 1000, 4097])
def test_dynamic_arrays_are_one_as_large_as_the_launch_says(dynamic: int) -> None:
    """All begin at the same address."""
    before = ".extern .shared .align 16 .b8 wide[];\n.extern .shared .align 4 .b8 narrow[];"
    text = fill(module("\tmov.u32 %r1, wide;\n\tmov.u32 %r2, narrow;", before))
    block = Block(text, ODD, dynamic=dynamic)
    assert list(block.arrays) == ["wide"]
    assert len(block.bytes("wide")) == dynamic & ~3
    assert not Block(text, ODD, dynamic=0).stored


def test_without_a_seed_nothing_is_stored_and_nobody_waits() -> None:
    block = Block(fill(module(f"\t{DOUBLES}\n\tmov.u32 %r1, most;")), 0)
    assert not block.stored
    assert not block.waited


def test_it_comes_before_all_that_a_kernel_does() -> None:
    """And behind its declarations, whatever lines of the debugger's are among them."""
    body = f"\t// demoted variable\n\t{DOUBLES}\n\t.loc\t1 3 0\n\n\tld.param.u64 %rd1, [to];\n"
    made = filled(module(f"{body}\tmov.u32 %r1, most;"), SEED, LATE_BIT)
    at = next(n for n, line in enumerate(made) if "barrier.sync" in line)
    assert made[at].startswith("\t.loc\t1 3 0\n{")
    assert made[at + 2] == "\tld.param.u64 %rd1, [to];"
    assert len(made) == len(module(f"{body}\tmov.u32 %r1, most;"))


@pytest.mark.parametrize(
    "body",
    [
        "\tmov.u32 %r1, %tid.x;",
        "\tadd.u32 %r1, %r1, 1; // most",
        "\tmov.u32 %r1, %tid.most;",
        f"\t{DOUBLES}",
        f"\tmov.u32 %r1, 0;\n\t{DOUBLES}\n\tmov.u32 %r2, most;",
    ],
)
def test_a_kernel_that_names_no_array_has_no_barrier(body: str) -> None:
    """It would get memory that it does not have; nor is one named before it is declared."""
    lines = module(body, "" if "most[" in body else DOUBLES)
    assert filled(lines, SEED, LATE_BIT) == lines


CALLED = f"""
.func  (.param .b32 func_retval0) within
(
	.param .b32 within_param_0
)
;
.global .align 8 .u64 table[2] = {{within, within}};
.shared .align 4 .b8 both[64];
.shared .align 4 .b8 elsewhere[64];
.func  (.param .b32 func_retval0) within(
	.param .b32 within_param_0
)
{{
	.reg .b32 	%r<5>;
	// demoted variable
	{DOUBLES}
	mov.u32 	%r1, most;
	mov.u32 	%r2, both;
	ret;

}}
"""


@pytest.mark.parametrize(
    "body", ["\tcall (retval0), \n\twithin, \n\t(\n\t);", "\tmov.u64 %rd1, table;"]
)
def test_what_a_called_function_keeps_in_shared_memory_is_filled_by_the_kernel(body: str) -> None:
    """By its name or out of a table. What the function declares is declared for all, once."""
    lines = module(body, CALLED)
    assert set(Block(fill(lines), ODD).arrays) == {"most", "both"}
    text = "\n".join(filled(lines, SEED, LATE_BIT))
    assert text.count(DOUBLES) == 1
    assert text.index(DOUBLES) < text.index(".func")
    assert not fill(module("\tmov.u64 %rd1, 0;", CALLED))


def test_names_that_two_functions_share_stay_theirs() -> None:
    """There is no telling which is meant then; what has a name of its own is filled."""
    other = CALLED.partition(".shared .align 4 .b8 elsewhere[64];")[2].replace("within", "beside")
    lines = module("\tcall within, ();\n\tcall beside, ();", CALLED + other)
    assert set(Block(fill(lines), ODD).arrays) == {"both"}
    assert "\n".join(filled(lines, SEED, LATE_BIT)).count(DOUBLES) == 2


@pytest.mark.parametrize(
    ("sm", "version", "fenced"), [(90, "8.0", 1), (80, "8.0", 0), (90, "7.8", 0)]
)
def test_bulk_copies_come_behind_what_fills(sm: int, version: str, fenced: int) -> None:
    """They are ordered with stores by a fence alone, which older devices and texts do not have."""
    lines = module(f"\t{DOUBLES}\n\tmov.u32 %r1, most;", sm=sm)
    lines[0] = f".version {version}"
    assert fill(lines).count("fence.proxy.async") == fenced


def test_delays_and_filling_go_together() -> None:
    """What fills gets no delays of its own; without an address size there is no seed to ask."""
    body = f"\t{DOUBLES}\n\tmov.u32 %r1, most;\n\tst.shared.u32 [%r1], %r2;"
    text = shaken("\n".join(module(body)), ODD)
    assert text is not None
    assert text.count("st.shared.b32") == 1
    assert text.count("@%optiml_p st.shared.u32 [%r1], %r2;") == 2
    assert text.index("st.shared.b32") < text.index("$optiml_1:")
    lines = [line for line in module(body) if "address_size" not in line]
    assert filled(lines, SEED, LATE_BIT) == lines


def test_builds_of_an_entry_function_are_filled_in_both_ways() -> None:
    asked: list[int] = []

    def shake(_text: str, _job: object, one: int) -> None:
        asked.append(one)

    none: object = None
    delays = Delays(lambda _text, _job: None, shake, none, lambda _: None)  # type: ignore[arg-type]
    for seed in range(100):
        asked.clear()
        delays._wholes("", {}, seed)
        assert len(set(asked)) == WHOLE_BUILDS
        assert len({one >> LATE_BIT & 1 for one in asked}) == 2
        assert all(one & 1 for one in asked)


SOURCE = """#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern __shared__ float dynamic[];
__device__ __shared__ int common[16];
__device__ __noinline__ float summed(float v) {
    __shared__ float w[32];
    extern __shared__ double wide[];
    w[threadIdx.x & 31] = v;
    wide[threadIdx.x] = v;
    __syncthreads();
    return w[(threadIdx.x + 1) & 31] + wide[3];
}
typedef float (*Sum)(float);
__device__ Sum table[2] = {summed, summed};
__device__ float inlined(float v) {
    __shared__ float w[32];
    w[threadIdx.x & 31] = v;
    __syncthreads();
    return w[(threadIdx.x + 1) & 31];
}
__global__ void statics(float* p) {
    __shared__ double a[256];
    __shared__ bool flags[3];
    __shared__ int n;
    int t = threadIdx.x;
    a[t] = p[t];
    if (t < 3) flags[t] = p[t] > 0;
    if (t == 0) n = p[3];
    __syncthreads();
    p[t] = a[255 - t] + flags[t % 3] + n;
}
__global__ void both(float* p) {
    __shared__ short s[77];
    int t = threadIdx.x;
    dynamic[t] = p[t];
    if (t < 77) s[t] = p[t];
    __syncthreads();
    p[t] = dynamic[255 - t] + s[t % 77];
}
__global__ void none(float* p) { p[threadIdx.x] = 1; }
__global__ void calls(float* p) { p[threadIdx.x] = summed(p[threadIdx.x]); }
__global__ void picks(float* p, int k) { p[threadIdx.x] = table[k](p[threadIdx.x]); }
__global__ void first(float* p) { p[threadIdx.x] = inlined(p[threadIdx.x]); }
__global__ void second(float* p) { p[threadIdx.x] = inlined(p[threadIdx.x]) + 1; }
template <typename T, int N> __global__ void turned(T* p) {
    __shared__ T x[N];
    x[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = x[N - 1 - threadIdx.x];
}
template __global__ void turned<float, 128>(float*);
template __global__ void turned<unsigned char, 64>(unsigned char*);
__global__ void named(int* p) {
    common[threadIdx.x & 15] = p[threadIdx.x];
    asm volatile("bar.sync 0, 64;");
    p[threadIdx.x] = common[3];
}
__global__ void __launch_bounds__(1024, 2) bounded(float* p, int n) {
    __shared__ float x[1024];
    if (blockIdx.x * 1024 + threadIdx.x >= n) return;
    x[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = x[1023 - threadIdx.x];
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clustered(int* p) {
    __shared__ int z[64];
    auto c = cg::this_cluster();
    z[threadIdx.x] = p[threadIdx.x];
    c.sync();
    p[threadIdx.x] = c.map_shared_rank(z, 1)[threadIdx.x];
    c.sync();
}
#endif
#if __CUDA_ARCH__ >= 800
__global__ void tiled(int* p) {
    __shared__ int z;
    auto t = cg::tiled_partition<128>(cg::this_thread_block());
    if (threadIdx.x == 0) z = p[0];
    t.sync();
    p[threadIdx.x] = t.thread_rank() + z;
}
#endif
"""
KERNELS = ["statics", "both", "calls", "picks", "first", "second", "turned", "turned", "named"]


def assembled(text: str, folder: Path, sm: int) -> dict[str, int]:
    """Return how many static bytes of shared memory each kernel of a PTX text has."""
    source = folder / "made.ptx"
    source.write_text(text)
    options = [f"-arch=sm_{sm}", "-Xptxas", "-v", "-o", str(folder / "made.cubin")]
    done = subprocess.run(
        ["nvcc", "-cubin", *options, str(source)], check=True, capture_output=True, text=True
    )
    parts = done.stderr.split("Compiling ")[1:]
    sizes = [(p, re.search(r"(\d+) bytes smem", p)) for p in parts]
    return {p.split("'")[1]: int(size[1]) if size else 0 for p, size in sizes}


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize("sm", [75, 80, 90])
@pytest.mark.parametrize("options", [[], ["-lineinfo", "-O1"]])
def test_ptxas_takes_it_and_no_kernel_gets_more_shared_memory(
    sm: int, options: list[str], tmp_path: Path
) -> None:
    """Each kernel that has some fills it: several in a module, templates, functions, clusters."""
    source, made = tmp_path / "a.cu", tmp_path / "a.ptx"
    source.write_text(SOURCE)
    command = ["nvcc", "-ptx", "-std=c++17", f"-arch=sm_{sm}", *options, "-o", str(made)]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    text = made.read_text()
    changed = shaken(text, ODD)
    assert changed is not None
    assert assembled(changed, tmp_path, sm) == assembled(text, tmp_path, sm)
    wanted = [*KERNELS, "bounded", *["tiled"] * (sm >= 80), *["clustered"] * (sm >= 90)]
    kernels = changed.split(".entry ")[1:]
    found = [body.partition("(")[0] for body in kernels if "$optiml_filled_" in body]
    assert len(found) == len(wanted)
    assert all(any(one in name for name in found) for one in wanted)
    assert ("fence.proxy.async" in changed) == (sm >= 90)


CASES = Path(__file__).parents[1] / "redteam" / "cases"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_what_warps_that_have_left_should_have_filled_is_filled(tmp_path: Path) -> None:
    """A block's maximum over places of threads that returned; its original has no such memory."""
    found = []
    for name in ("warps_that_have_left", "base"):
        made = tmp_path / f"{name}.ptx"
        command = ["nvcc", "-ptx", "-std=c++17", "-arch=sm_90", "-o", str(made)]
        source = CASES / "shallow" / f"{name}.cu"
        subprocess.run([*command, str(source)], check=True, capture_output=True)
        found.append(fill(made.read_text().splitlines()))
    assert not found[1]
    (name,) = Block(found[0], ODD).arrays
    assert name.endswith("4most")
    assert (np.frombuffer(Block(found[0], ODD).bytes(name), np.float64) > 1e280).all()
