"""What a model answers: a plan and a source, as JSON or as a fenced block; or a wish to look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.dialogue import Schema, json_in
from optimizer.model import Launch

MOST_SOURCE = 200_000
MOST_PLAN = 4_000
MOST_LOOKS = 4
_BLOCK = re.compile(r"```(?:cuda|cpp|c\+\+|cu|c)?[ \t]*\r?\n(.*?)```", re.DOTALL)
_EXPRESSION = re.compile(r"[\w\s+\-*/%(),.<>=]{1,200}")
# The shape of `look` in an answer: searches and reads, or null.
LOOKS_SHAPE: Mapping[str, Any] = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "properties": {
            "search": {"type": ["string", "null"]},
            "read": {"type": ["string", "null"]},
            "line": {"type": ["integer", "null"]},
        },
        "required": ["search", "read", "line"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class Look:
    """A wish to look into the library: a word to search for, or a file to read from a line on."""

    search: str = ""
    read: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """A source with the plan behind it; `trouble` says why the answer holds none."""

    plan: str = ""
    source: str = ""
    launch: Launch | None = None
    looks: tuple[Look, ...] = ()
    trouble: str = ""


def schema(*, looking: bool) -> Schema:
    """Return the shape of an answer; with `looking` it may ask to see the library first."""
    text = {"type": "string"}
    maybe = {"type": ["array", "null"], "items": text}
    fields: dict[str, Any] = {
        "plan": text,
        "source": {"type": ["string", "null"]},
        "grid": maybe,
        "block": maybe,
        "shared": {"type": ["string", "null"]},
    }
    if looking:
        fields["look"] = LOOKS_SHAPE
    body = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return Schema("kernel_looking" if looking else "kernel", body)


def read(text: str, *, tunable: bool, looking: bool = False) -> Draft:
    """Read an answer; never raises, whatever was answered.

    >>> read('{"plan": "p", "source": "int x;"}', tunable=False).plan
    'p'
    >>> read("none", tunable=False).trouble
    'the answer holds no source: neither JSON with a `source` nor a ```cuda block'
    """
    found = json_in(text) or {}
    plan = str(found.get("plan") or "")[:MOST_PLAN]
    wished = looks(found.get("look")) if looking else ()
    source = found.get("source")
    if not isinstance(source, str) or not source.strip():
        blocks = _BLOCK.findall(text) if not found else []
        source = max(blocks, key=len, default="")
        plan = plan or text.split("```", 1)[0].strip()[:MOST_PLAN]
    if wished and not source.strip():
        return Draft(plan, looks=wished)
    if not source.strip():
        return Draft(
            plan,
            trouble="the answer holds no source: neither JSON with a `source` nor a ```cuda block",
        )
    if len(source) > MOST_SOURCE:
        return Draft(plan, trouble=f"a source of {len(source):,} characters is too long")
    source = source.replace("\r\n", "\n").strip("\n") + "\n"
    launch, trouble = _launch(found) if tunable else (None, "")
    return Draft(plan, source, launch, wished, trouble)


def _launch(found: dict[str, Any]) -> tuple[Launch | None, str]:
    grid, block = found.get("grid"), found.get("block")
    if not grid or not block:
        return None, ""
    shared = found.get("shared")
    shared = "0" if shared is None or shared == "" else shared
    if not isinstance(grid, list) or not isinstance(block, list):
        return None, "grid and block must be lists of expressions"
    words = [str(one) for one in (*grid, *block, shared)]
    if len(grid) > 3 or len(block) > 3 or not all(_EXPRESSION.fullmatch(one) for one in words):
        return None, "grid and block are up to three arithmetic expressions each"
    return Launch(tuple(map(str, grid)), tuple(map(str, block)), str(shared), tunable=True), ""


def looks(asked: object) -> tuple[Look, ...]:
    """Return the wishes in the `look` of an answer, the first few, whatever shape it has."""
    found = []
    for one in asked if isinstance(asked, list) else ():
        if not isinstance(one, dict):
            continue
        line = one.get("line")
        found.append(
            Look(
                str(one.get("search") or "")[:200],
                str(one.get("read") or "")[:300],
                line if isinstance(line, int) and 0 < line < 1_000_000 else 1,
            )
        )
    return tuple(one for one in found if one.search or one.read)[:MOST_LOOKS]
