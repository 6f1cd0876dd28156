"""The CUDA programs under tests/data/cuda, and ways to break them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hypothesis import strategies as st

from optimizer.functions import Function
from optimizer.source import Source

FOLDER = Path(__file__).parents[1] / "data" / "cuda"
NAMES = sorted(p.stem for p in FOLDER.glob("*.cu"))
FRAGMENTS = (
    "(", ")", "{", "}", "[", "]", "<<<", ">>>", "__global__ ", "__shared__ ", "#if 0\n", "#endif\n",
    "#define X(", "#else\n", "\\\n", '"', "'", "/*", "*/", "//", 'R"(', "dim3 a(", "for(", ";", ",",
    "template<", "é", "\0", "\r", "asm(", "0x", "1e", "=", "&", "*", "->", "#", "operator", "[=]",
    "goto a;", "?", "a<b>(c)", "__launch_bounds__(", "struct {", "i++", "return",
)  # fmt: skip


def read(name: str) -> str:
    """Return a program with its line ends as they are."""
    with (FOLDER / f"{name}.cu").open(encoding="utf-8", newline="") as file:
        return file.read()


def _piece(text: str, at: int) -> str:
    return text[at : at + 50]


@st.composite
def broken(draw: st.DrawFn) -> str:
    """Draw a program with pieces cut out, repeated and put in."""
    text = read(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from((0, 1, 3, 20, 150)))
        piece = draw(
            st.one_of(
                st.sampled_from(FRAGMENTS),
                st.binary(max_size=8).map(lambda b: b.decode("latin-1")),
                st.integers(0, len(text)).map(partial(_piece, text)),
            )
        )
        text = text[:start] + piece + text[start + length :]
    return text


def kernel(body: str, parameters: str = "const float* a, float* b, int n, int w") -> Function:
    """Return a kernel of the given body."""
    return Source(f"__global__ void k({parameters}) {{\n{body}\n}}\n").kernels[0]
