"""What a model wants changed, as search/replace blocks: applied exactly, or refused with a reason.

An answer is a JSON object of the shape `SCHEMA`, or, where a server cannot be held to one, a few
`NAME: value` lines and blocks: a line `<<<<<<< SEARCH`, the text as it stands in the file, a line
`=======`, the text instead, a line `>>>>>>> REPLACE`.

The text searched for must occur once. Nothing is guessed: no white space is ignored, no nearby
text is taken instead.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.dialogue import Answer, Schema, json_in
from optimizer.model import Launch

MOST_BLOCKS = 20
LONGEST_TITLE = 90
LONGEST_RATIONALE = 600
LONGEST_SOURCE = 1 << 20
# A promise beyond this is none, and would make every prior 1.
LARGEST_PREDICTION = 100.0
_KIND = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+){0,3}")
_BEGIN = re.compile(r"<{5,9} ?SEARCH\b")
_MIDDLE = re.compile(r"={5,9}\s*$")
_END = re.compile(r">{5,9} ?REPLACE\b")
_FIELD = re.compile(r"\W{0,4}(title|kind|predicted|rationale)\W{0,3}:(.*)", re.IGNORECASE)
_NUMBERED = re.compile(r"^ *\d+[|:] ?", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# What the loader's expressions may call and be made of (runners/expressions.py).
_CALLS = frozenset({"min", "max", "ceil", "log2"})
_ARITHMETIC = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip

_BLOCKS_SHAPE: Mapping[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"search": {"type": "string"}, "replace": {"type": "string"}},
        "required": ["search", "replace"],
        "additionalProperties": False,
    },
}
_EXPRESSIONS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_LAUNCH_SHAPE: Mapping[str, Any] = {
    "type": ["object", "null"],
    "properties": {"grid": _EXPRESSIONS, "block": _EXPRESSIONS, "shared": {"type": "string"}},
    "required": ["grid", "block", "shared"],
    "additionalProperties": False,
}
SCHEMA = Schema(
    "edit",
    {
        "type": "object",
        "properties": {
            "rationale": {"type": "string"},
            "title": {"type": "string"},
            "kind": {"type": "string"},
            "predicted": {"type": "number"},
            "blocks": _BLOCKS_SHAPE,
            "launch": _LAUNCH_SHAPE,
        },
        "required": ["rationale", "title", "kind", "predicted", "blocks", "launch"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text and what is to stand there instead."""

    search: str
    replace: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What a model wants: an edit not applied yet. `kind` is empty where it named none."""

    title: str
    rationale: str
    kind: str
    predicted: float | None
    blocks: tuple[Block, ...]
    launch: Launch | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was made of an answer, in words the model can mend it by."""

    reason: str


def read(answer: Answer) -> Wish | Refused:
    """Return what an answer asks for, whatever shape it has."""
    if answer.refusal:
        return Refused(f"you declined to answer: {answer.refusal}")
    found = json_in(answer.text) if "{" in answer.text else None
    wish = _from_json(found) if found is not None and "blocks" in found else _from_text(answer.text)
    if isinstance(wish, Refused) or wish.blocks or wish.launch is not None:
        return wish
    if answer.cut:
        return Refused("the answer was cut off at its limit; answer with a smaller edit")
    return Refused("the answer holds no search/replace block")


def applied(wish: Wish, source: str) -> str | Refused:
    """Return the source with all blocks applied, in order, each exactly once."""
    text = source
    for number, block in enumerate(wish.blocks, 1):
        name = f"block {number}" if len(wish.blocks) > 1 else "the block"
        search, replace = _ends(block, text)
        if not search.strip():
            return Refused(f"{name} searches for nothing; repeat the lines to be replaced")
        count = text.count(search)
        if count != 1:
            return Refused(f"{name}: {_missed(search, text, count)}")
        text = text.replace(search, replace, 1)
    if len(text) > LONGEST_SOURCE:
        return Refused("the edited file is too long")
    if text == source and wish.launch is None:
        return Refused("the edit changes nothing")
    return text


def _ends(block: Block, text: str) -> tuple[str, str]:
    """Give a block the line ends of the file, which no model sees."""
    if "\r\n" not in text:
        return block.search, block.replace
    return tuple(re.sub(r"\r?\n", "\r\n", part) for part in (block.search, block.replace))  # type: ignore[return-value]


def _missed(search: str, text: str, count: int) -> str:
    if count > 1:
        return f"its search text occurs {count} times; repeat more lines around it"
    lines = search.strip("\n").splitlines()
    if lines and all(_NUMBERED.match(line) for line in lines if line.strip()):
        return "its search text holds line numbers, which are not part of the file"
    known = text.splitlines()
    first = next((line for line in lines if line.strip() and line not in known), "")
    if not first:
        return "its lines are all in the file, but not one after the other as searched for"
    near = difflib.get_close_matches(first, known, 1, 0.6)
    instead = f"; the nearest line is `{near[0].strip()[:160]}`" if near else ""
    return f"its search text is not in the file: no line `{first.strip()[:160]}`{instead}"


def _from_json(found: Mapping[str, Any]) -> Wish | Refused:
    blocks = found.get("blocks")
    if not isinstance(blocks, list) or len(blocks) > MOST_BLOCKS:
        return Refused(f"`blocks` must be a list of at most {MOST_BLOCKS} blocks")
    read_blocks: list[Block] = []
    for entry in blocks:
        pair = (entry.get("search"), entry.get("replace")) if isinstance(entry, dict) else ()
        if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            return Refused("each block needs `search` and `replace`, both text")
        read_blocks.append(Block(str(pair[0]), str(pair[1])))
    launch = _launch(found.get("launch"))
    if isinstance(launch, Refused):
        return launch
    return Wish(
        _line(found.get("title"), LONGEST_TITLE),
        _line(found.get("rationale"), LONGEST_RATIONALE),
        _kind(found.get("kind")),
        _prediction(found.get("predicted")),
        tuple(read_blocks),
        launch,
    )


def _from_text(text: str) -> Wish | Refused:
    fields: dict[str, str] = {}
    blocks: list[Block] = []
    search: list[str] | None = None
    replace: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if search is None:
            search = [] if _BEGIN.match(line) else None
            name = _FIELD.match(line[:2_000])
            if name:
                fields.setdefault(name[1].lower(), name[2])
        elif replace is None:
            if _MIDDLE.match(line):
                replace = []
            else:
                search.append(line)
        elif _END.match(line):
            blocks.append(Block("".join(search), "".join(replace)))
            search = replace = None
        else:
            replace.append(line)
    if len(blocks) > MOST_BLOCKS:
        return Refused(f"an edit may have at most {MOST_BLOCKS} blocks")
    if search is not None and blocks:
        return Refused("the last block has no end")
    return Wish(
        _line(fields.get("title"), LONGEST_TITLE),
        _line(fields.get("rationale"), LONGEST_RATIONALE),
        _kind(fields.get("kind")),
        _prediction(fields.get("predicted")),
        tuple(blocks),
    )


def arithmetic(expression: str, names: Collection[str]) -> bool:
    """Tell whether an expression is arithmetic over names and nothing else.

    >>> arithmetic("(n+255)/256", {"n"}), arithmetic("n.real", {"n"}), arithmetic("m", {"n"})
    (True, False, False)
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or node.func.id not in _CALLS or node.keywords:
                return False
        elif isinstance(node, ast.Name):
            if node.id not in names and node.id not in _CALLS:
                return False
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, int | float):
                return False
        elif not isinstance(node, _ARITHMETIC):
            return False
    return True


def _launch(found: object) -> Launch | Refused | None:
    """Read launch geometry; whether its expressions are arithmetic is for the caller to see."""
    if found is None:
        return None
    refused = Refused("`launch` needs `grid` and `block`, lists of one to three expressions")
    if not isinstance(found, dict):
        return refused
    grid, block = found.get("grid"), found.get("block")
    for extents in (grid, block):
        if not isinstance(extents, list) or not 1 <= len(extents) <= 3:
            return refused
        if not all(isinstance(e, str | int) and 0 < len(str(e)) <= 200 for e in extents):
            return refused
    return Launch(_words(grid), _words(block), str(found.get("shared") or "0")[:200])


def _words(extents: object) -> tuple[str, ...]:
    return tuple(str(extent) for extent in extents) if isinstance(extents, Sequence) else ()


def _line(value: object, limit: int) -> str:
    """Return words on one line, without control characters that a terminal would obey."""
    text = " ".join(str(value or "").split())
    text = "".join(sign for sign in text if sign.isprintable())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _kind(value: object) -> str:
    name = re.sub(r"[\s_]+", "-", str(value or "").strip(" *`'\"").lower())
    return name if len(name) <= 30 and _KIND.fullmatch(name) else ""


def _prediction(value: object) -> float | None:
    if isinstance(value, str):
        match = _NUMBER.search(value)
        value = float(match[0]) if match and len(match[0]) < 20 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(float(value), LARGEST_PREDICTION) if value > 0 else None
