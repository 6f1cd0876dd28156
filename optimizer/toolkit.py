"""What of the toolkit a candidate may bring in or leave out: headers for device code, short names.

The headers declare device functions, types and numbers. None of them defines an object, gives a
host function another meaning or depends on what was defined before it, so that host text does not
notice. Headers that nvcc includes by itself, ahead of every source, are there with a line for them
and without one. CUDA C++ Programming Guide 13.0: "Cooperative Groups", "Warp Matrix Functions",
"Asynchronous Data Copies"; CUDA Math API; CCCL: CUB and libcu++.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_HEADER = re.compile(
    r"<(?:cuda_(?:fp16|bf16|fp8|fp6|fp4|pipeline|pipeline_primitives|awbarrier"
    r"|awbarrier_primitives)\.h|mma\.h|math_constants\.h|vector_(?:types|functions)\.h"
    r"|cooperative_groups(?:\.h|/(?:reduce|scan|memcpy_async)\.h)"
    r"|cub/(?:cub|(?:block|warp|thread|device|iterator)/\w+)\.cuh"
    r"|cuda/(?:std/)?(?:atomic|barrier|pipeline|ptx|array|bit|cmath|complex|cstdint|functional"
    r"|limits|type_traits|utility|warp)"
    r"|cfloat|climits|cmath|cstdint|float\.h|limits|limits\.h|math\.h|stdint\.h|type_traits)>"
)
# What host code that may change needs for the toolkit's own algorithms, and to hold data.
_HOSTED = re.compile(
    r"<(?:thrust/(?:\w+/)*\w+\.h|algorithm|array|cstring|initializer_list|iterator|limits|memory"
    r"|numeric|tuple|type_traits|utility|vector)>"
)
# The language's own, which host code that may change may need no more.
_LANGUAGE = re.compile(
    r"<(?:algorithm|any|array|atomic|bit|bitset|c(?:assert|ctype|errno|fenv|float|inttypes|limits"
    r"|locale|math|setjmp|signal|stdarg|stddef|stdint|stdio|stdlib|string|time|wchar|wctype)"
    r"|charconv|chrono|codecvt|compare|complex|concepts|condition_variable|deque|exception"
    r"|execution|filesystem|forward_list|fstream|functional|future|initializer_list|iomanip|ios"
    r"|iosfwd|iostream|istream|iterator|limits|list|locale|map|memory|memory_resource|mutex|new"
    r"|numbers|numeric|optional|ostream|queue|random|ranges|ratio|regex|set|shared_mutex|span"
    r"|sstream|stack|stdexcept|streambuf|string|string_view|system_error|thread|tuple|type_traits"
    r"|typeindex|typeinfo|unordered_map|unordered_set|utility|valarray|variant|vector"
    r"|(?:assert|ctype|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdarg|stdbool"
    r"|stddef|stdint|stdio|stdlib|string|time|wchar|wctype)\.h)>"
)
# `nvcc --dryrun` of a .cu file: `-include "cuda_runtime.h"`, which has these in CUDA 11 to 13.
_AHEAD = re.compile(
    r"<(?:cuda_runtime|cuda_runtime_api|device_launch_parameters|driver_types|vector_types"
    r"|vector_functions)\.h>"
)
# Namespaces whose names nothing of the host's is called by.
_OPENED = frozenset({"nvcuda", "nvcuda::wmma", "nvcuda::experimental"})
# What may be opened where host text has none of its names. Those of CUDA 11 to 13, of all headers.
OPENED_WITH_CARE: dict[str, frozenset[str]] = {
    "cooperative_groups": frozenset({
        "__v1", "binary_partition", "bit_and", "bit_or", "bit_xor", "block_tile_memory",
        "cluster_group", "coalesced_group", "coalesced_threads", "details", "exclusive_scan",
        "exclusive_scan_update", "experimental", "greater", "grid_group", "group_size",
        "inclusive_scan", "inclusive_scan_update", "invoke_one", "invoke_one_broadcast",
        "labeled_partition", "less", "memcpy_async", "multi_grid_group", "plus", "reduce",
        "reduce_store_async", "reduce_update_async", "size", "sync", "this_cluster", "this_grid",
        "this_multi_grid", "this_thread", "this_thread_block", "thread_block", "thread_block_tile",
        "thread_group", "thread_group_base", "thread_rank", "tiled_partition", "wait",
        "wait_prior",
    })
}  # fmt: skip
_NAMED = re.compile(r"(?:cooperative_groups|nvcuda(?:::\w+)?|cub|cuda(?:::(?:std|ptx))?)")


def is_device_header(words: Sequence[str], *, hosted: bool = False) -> bool:
    """Tell whether the words of an `#include`, the directive's among them, name such a header.

    With `hosted` for host code as well, which may then change.

    >>> is_device_header(["include", "<", "cooperative_groups", "/", "reduce", ".", "h", ">"])
    True
    >>> is_device_header(["include", "<", "thread", ">"])
    False
    """
    name = "".join(words[1:])
    known = _HEADER.fullmatch(name) or (hosted and _HOSTED.fullmatch(name))
    return tuple(words[:1]) == ("include",) and bool(known)


def is_ahead(words: Sequence[str]) -> bool:
    """Tell whether an `#include` names a header that nvcc has included ahead of the source.

    In angle brackets: quotes may name a file that lies beside the source.

    >>> is_ahead(["include", "<", "cuda_runtime", ".", "h", ">"])
    True
    >>> is_ahead(["include", "<", "cuda", ".", "h", ">"])
    False
    """
    return tuple(words[:1]) == ("include",) and bool(_AHEAD.fullmatch("".join(words[1:])))


def is_languages(words: Sequence[str]) -> bool:
    """Tell whether an `#include` names a header of C or C++, in angle brackets.

    >>> is_languages(["include", "<", "vector", ">"])
    True
    """
    return tuple(words[:1]) == ("include",) and bool(_LANGUAGE.fullmatch("".join(words[1:])))


def shortenings(words: Sequence[str], known: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield first word and end of what only makes names of the toolkit shorter.

    `using namespace nvcuda;` and `namespace cg = cooperative_groups;`, where `known` holds no `cg`.

    What `using namespace cooperative_groups;` brings has to be looked for in host text
    (`OPENED_WITH_CARE`).

    >>> list(shortenings("int a ; namespace cg = cooperative_groups ;".split(), ()))
    [(3, 8)]
    """
    for at, word in enumerate(words):
        if at and words[at - 1] not in (";", "}", "{"):
            continue
        end = next((k for k in range(at, min(len(words), at + 9)) if words[k] == ";"), None)
        if end is None:
            continue
        head, tail = list(words[at : at + 3]), "".join(words[at + 3 : end])
        opened = word == "using" and head[1:2] == ["namespace"]
        if opened and "".join(words[at + 2 : end]) in _OPENED | OPENED_WITH_CARE.keys():
            yield at, end + 1
        named = word == "namespace" and head[2:] == ["="] and _NAMED.fullmatch(tail)
        if named and head[1] not in known:
            yield at, end + 1
