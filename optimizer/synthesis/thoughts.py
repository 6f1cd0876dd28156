"""Lines of thought: each begins at another resource of the GPU, so that answers differ.

OptiML-G's mixture of thoughts (arXiv 2602.12305) does not publish its lines; these follow the
classes of the diagnosis (memory, compute, latency) and what a library already does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thought:
    """A line of thought: its name and what it is told."""

    name: str
    advice: str


MEMORY = Thought(
    "memory-first",
    "Begin with the bytes. Work out the least traffic to DRAM that the computation needs and "
    "write a kernel that reads each input once and writes each output once: coalesced, 16 bytes "
    "a load where alignment is certain, with a scalar path for the rest; tiles in shared memory or "
    "registers where something is read again.",
)
TENSOR = Thought(
    "tensor-core-first",
    "Begin with the arithmetic. If there is an inner product whose tolerance allows it, map it to "
    "tensor cores (nvcuda::wmma, with the type's own precision; float inputs only where TF32 is "
    "within the tolerance), with a border path for sizes that are no multiple of a tile. If not, "
    "get the most operations a byte out of registers: each loaded value used many times.",
)
LATENCY = Thought(
    "latency-first",
    "Begin with what waits. Give every multiprocessor work: enough blocks for the smallest timed "
    "case, several independent loads in flight a thread, few barriers, warp shuffles in place of "
    "shared-memory trees, no long chains of dependent operations, one pass where two are usual.",
)
LIBRARY = Thought(
    "library-first",
    "Begin with what exists. Name the algorithm a good library would use (CUB block primitives, "
    "cooperative groups, an online or segmented formulation) and write it with the headers that "
    "are allowed, plainly, so that a reviewer recognizes it.",
)
CUTE = Thought(
    "cute",
    "Write it with CuTe from the CUTLASS headers: tensors and layouts, a tiled copy into shared "
    "memory, an MMA atom for this GPU, borders predicated. Look up what you need first; do not "
    "guess at names. Device code only: no TMA descriptors made on the host, no launch helpers.",
)
FIRST = (MEMORY, TENSOR, LATENCY, LIBRARY)
CRITIC = Thought(
    "critic",
    "Here is what the other lines of thought became. Say in the plan what is right and what is "
    "wrong with each, then write one kernel that takes the best of them.",
)
