"""What in a source concerns the host: its tokens less the bodies of device code. Stdlib only."""

from __future__ import annotations

import hashlib
import re

_TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])* | /\*.*?\*/ | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|[\w.'])*
    | \#[^\n]*(?:\\\n[^\n]*)* | <<<|>>> | \S""",
    re.VERBOSE | re.DOTALL,
)
_DEVICE = {"__global__", "__device__", "__constant__"}


def host_digest(source: str) -> str:
    """Identify the host's part of a source, whatever its layout and comments.

    Bodies of `__global__` and `__device__` functions are left out, since machine code stands for
    them; what is `__host__ __device__` stays. Directives stay, so a macro counts wherever used.

    >>> host_digest("int main() { k<<<1, 2>>>(); }") == host_digest("int main(){k<<<1,2>>>();} //")
    True
    """
    kept: list[str] = []
    tokens = [
        found[0] for found in _TOKEN.finditer(source) if not found[0].startswith(("//", "/*"))
    ]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token in _DEVICE and "__host__" not in (*kept[-2:], *tokens[at + 1 : at + 3]):
            at = _behind(tokens, at)
            kept.append("__device__")
        else:
            kept.append(" ".join(token.split()))
            at += 1
    return hashlib.sha256("\0".join(kept).encode(errors="replace")).hexdigest()[:32]


def _behind(tokens: list[str], at: int) -> int:
    """Return the index behind a device declaration: its semicolon or its closing brace."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] in "([{") - (tokens[index] in ")]}")
        if depth == 0 and tokens[index] in {"}", ";"}:
            return index + 1
    return len(tokens)
