"""What a demangled symbol says: the kernel's instance and the types of its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from runners import cuda_types
from runners.cuda_types import CudaType

_ANONYMOUS = "(anonymous namespace)::"
# Types of libraries that are laid out as ones of CUDA's.
_SAME = {
    "c10::Half": "__half",
    "at::Half": "__half",
    "c10::BFloat16": "__nv_bfloat16",
    "at::BFloat16": "__nv_bfloat16",
    "bool": "bool",
}


@dataclass(frozen=True, slots=True)
class Demangled:
    """A kernel as source names it (`ns::scan<float, 256>`) and its parameters' types.

    `types` is None where the symbol does not tell them (`extern "C"`).
    """

    instance: str
    types: tuple[str, ...] | None

    @property
    def plain(self) -> str:
        """Return the function's name without namespaces and template arguments.

        >>> demangled("void ns::scan<float, 256>(float*, int)").plain
        'scan'
        """
        return self.instance.partition("<")[0].rpartition("::")[2].strip()


def demangled(name: str) -> Demangled:
    """Take a demangled symbol apart.

    >>> demangled("void scan<float, 256>(float*, float const*, int)")
    Demangled(instance='scan<float, 256>', types=('float*', 'float const*', 'int'))
    >>> demangled("scale")
    Demangled(instance='scale', types=None)
    """
    text = name.replace(_ANONYMOUS, "")
    start = next((at for at in _top(text) if text[at] == "("), -1)
    if start < 0 or not text.endswith(")"):
        return Demangled(_without_result(text), None)
    listed = text[start + 1 : -1]
    ends = [at for at in _top(listed) if listed[at] == ","]
    parts = [
        listed[a:b].strip()
        for a, b in zip([0, *(e + 1 for e in ends)], [*ends, len(listed)], strict=True)
    ]
    types = () if parts in ([""], ["void"]) else tuple(parts)
    return Demangled(_without_result(text[:start]), types)


def _top(text: str) -> list[int]:
    """Return the places that are inside no bracket; an opening one counts as outside itself."""
    depth, found = 0, []
    for at, letter in enumerate(text):
        if letter in ">)]":
            depth -= 1
        if depth == 0:
            found.append(at)
        if letter in "<([":
            depth += 1
    return found


def _without_result(text: str) -> str:
    """Drop the result's type, which a template instance's symbol tells."""
    spaces = [at for at in _top(text) if text[at] == " "]
    return text[spaces[-1] + 1 :] if spaces else text


def parsed(text: str) -> CudaType | None:
    """Return a parameter's type; a pointer to anything is one to its bytes; None if unknown."""
    words = re.sub(r"[\w:]+", lambda word: _SAME.get(word[0], word[0]), text)
    try:
        return cuda_types.parse(words)
    except cuda_types.TypeNameError:
        pass
    if not words.endswith("*") or words.endswith("**"):
        return None
    const = "const " if re.search(r"\bconst\b", words) else ""
    return cuda_types.parse(f"{const}uint8_t*") if re.search(r"\bvoid\b", words) else None
