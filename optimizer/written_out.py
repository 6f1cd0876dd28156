"""Macros that hide statements of device code, written out for rules and put back afterwards.

`CUDA_KERNEL_LOOP(i, n) { ... }` is a loop that no grammar sees, and `A(i, j) = 0` looks like a call
whose result is set. Rules are shown a text in which such calls stand as what they expand to; of an
edit's text every line that it left as it was goes back to the call, so that the diff shows only
what changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

from optimizer.affine import INTEGERS
from optimizer.braced import unbraced
from optimizer.directives import Macro
from optimizer.masking import closing
from optimizer.model import Edit, Kernel
from optimizer.plain_forms import Group, plain_forms
from optimizer.source import Source
from optimizer.spans import line_end, line_start
from optimizer.tokens import Token, code_tokens, tokens

_LONGEST = 600  # characters of one call written out
_MOST = 400  # calls of a file
_DEEPEST = 6
_PASSES = 5  # of plain forms, one of which may make way for another
# What only the preprocessor can do, or what reads differently elsewhere.
_PECULIAR = frozenset({
    "__VA_ARGS__", "__VA_OPT__", "asm", "__asm__", "__asm", "__LINE__", "__FILE__",
    "__COUNTER__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "_Pragma", "static",
    "extern", "goto", "do", "...",
})  # fmt: skip
_STATEMENT = frozenset({"for", ";", "if", "while", "__syncthreads", "switch", "{", "return"})
_MEMBER = frozenset({".", "->", "::"})
_BEFORE = frozenset({";", "{", "}", ")", "else", ":"})
_CHANGING = frozenset({"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--", ">>=", "<<="})


@dataclass(frozen=True, slots=True)
class _Place:
    """A span of the text before, what stands there in the text after, and where that begins."""

    start: int
    end: int
    now: str
    at: int


class _Layer:
    """Groups of replacements in a text, which can be taken back where an edit left them alone."""

    def __init__(self, before: str, groups: Sequence[Group]) -> None:
        self.before = before
        places: dict[tuple[int, int], _Place] = {}
        shift = 0
        for start, end, now in sorted(edit for group in groups for edit in group):
            places[start, end] = _Place(start, end, now, start + shift)
            shift += len(now) - (end - start)
        self._groups = [[places[start, end] for start, end, _ in group] for group in groups]
        self.after = _replaced(before, [(p.start, p.end, p.now) for p in places.values()])

    def put_back(self, edited: str) -> str:
        """Return an edited text after with the text before on all lines that are as they were."""
        kept = _kept(self.after, edited)
        changes: list[tuple[int, int, str]] = []
        blanks: list[tuple[int, int]] = []
        for group in self._groups:
            moved = [_moved(kept, place) for place in group]
            if all(by is not None for by in moved):
                changes += [
                    (p.at + by, p.at + by + len(p.now), self.before[p.start : p.end])
                    for p, by in zip(group, moved, strict=True)
                    if by is not None
                ]
                continue
            blanks += [
                (line_start(edited, p.at + by), line_end(edited, p.at + by))
                for p, by in zip(group, moved, strict=True)
                if by is not None and not p.now
            ]
        changes += [(a, b, "") for a, b in blanks if not edited[a:b].strip()]
        return _replaced(edited, changes)


class WrittenOut:
    """A kernel as rules are shown it: macros of its device code that hide statements written out.

    Thread numbers are written plainly, too (`optimizer.plain_forms`), and what the file uses of
    `macros`, those of included headers, stands defined behind its end. What the file itself
    defines comes first. `kernel` is the given one where nothing is to be written otherwise.
    """

    def __init__(self, kernel: Kernel, macros: Mapping[str, Macro] | None = None) -> None:
        self._before = kernel.source
        self._appendix = _appendix(Source(kernel.source), macros) if macros else ""
        text = kernel.source + self._appendix
        written = _Written(text, macros) if macros else _shown(text)
        self._layers, self._defined = written.layers, written.defined
        plain = written.text == kernel.source
        self.kernel = kernel if plain else replace(kernel, source=written.text)

    def put_back(self, edit: Edit) -> Edit:
        """Return an edit of `kernel` as one of the original: untouched lines are as they were.

        One that would change what a header defines becomes no edit at all: the original.
        """
        text = edit.source
        if not text.endswith(self._appendix):
            return replace(edit, source=self._before)
        if all(define in text for define in self._defined):
            for layer in reversed(self._layers):
                text = layer.put_back(text)
        text = unbraced(text.removesuffix(self._appendix))
        return replace(edit, source=text) if text != edit.source else edit


class _Written:
    """A text written out: what it is then, by which layers, and what defines the macros in it.

    Holds text alone, no parsed source.
    """

    def __init__(self, text: str, macros: Mapping[str, Macro]) -> None:
        self.layers: list[_Layer] = []
        self.defined: list[str] = []
        self.text = text
        if "#define" in text or "# define" in text or macros:
            self._through(self._calls(Source(text), macros))
        for _ in range(_PASSES):
            groups = plain_forms(Source(self.text))
            if not groups:
                break
            self._through(groups)

    def _through(self, groups: Sequence[Group]) -> None:
        if groups:
            self.layers.append(_Layer(self.text, groups))
            self.text = self.layers[-1].after

    def _calls(self, source: Source, macros: Mapping[str, Macro]) -> list[Group]:
        """Return the calls of macros that hide statements, with what they expand to."""
        defined = {m.name for m in source.macros}
        table = {n: m for n, m in macros.items() if n not in defined} | source.macros_in_force
        names = {n for n, m in table.items() if _hides(m, table, 0) or _is_element(m)}
        if not names or not names & source.words:
            return []
        self.defined = [_define(source.text, table[name]) for name in sorted(names & defined)]
        return [(edit,) for edit in _found(source, names, table)]


@lru_cache(maxsize=16)  # rules are shown a candidate, and then the tuner is
def _shown(text: str) -> _Written:
    return _Written(text, {})


def _appendix(source: Source, macros: Mapping[str, Macro]) -> str:
    """Return definitions of the names a file uses that stand for expressions, numbers and types."""
    wanted: dict[str, Macro] = {}
    pending = [n for n in macros if n in source.words and not source.known(n)]
    while pending:
        name = pending.pop()
        macro = macros[name]
        if name in wanted or "#" in macro.body or not macro.body or _hides(macro, macros, 0):
            continue
        wanted[name] = macro
        words = [t.text for t in code_tokens(macro.body)]
        pending += [w for w in words if w in macros and not source.known(w)]
    lines = ""
    for name, macro in sorted(wanted.items()):
        listed = f"({', '.join(macro.parameters)})" if macro.parameters is not None else ""
        lines += f"#define {name}{listed} {' '.join(macro.body.replace(chr(92), ' ').split())}\n"
    return f"\n{lines}" if lines else ""


def _replaced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _moved(kept: Sequence[tuple[int, int, int]], place: _Place) -> int | None:
    """Return how far a place moved with its lines; None when they changed."""
    for low, high, moved in kept:
        if low <= place.at and place.at + len(place.now) <= high and place.at < high:
            return moved
    return None


def _found(
    source: Source, names: AbstractSet[str], table: Mapping[str, Macro]
) -> Iterator[tuple[int, int, str]]:
    count = 0
    code = [
        t for t in source.syntax.masked.tokens if t.kind not in ("space", "comment", "directive")
    ]
    bodies = [
        (f.body.start_byte, f.body.end_byte)
        for f in source.functions
        if f.is_kernel or "__device__" in f.qualifiers
    ]
    dead = source.inactive
    past = 0
    for i, token in enumerate(code):
        if token.text not in names or not i:
            continue
        element = _is_element(table[token.text])
        if code[i - 1].text in _MEMBER if element else code[i - 1].text not in _BEFORE:
            continue
        if not any(a < token.start < b for a, b in bodies) or count == _MOST:
            continue
        if any(a <= token.start < b for a, b in dead):
            continue
        written = _written(code, i, table, 0)
        if written is None or len(written[0]) > _LONGEST or token.start < past:
            continue
        if element and "\n" in source.text[token.start : code[written[1]].end]:
            continue  # lines keep their numbers
        count, past = count + 1, code[written[1]].end
        yield token.start, past, written[0]


def _define(text: str, macro: Macro) -> str:
    return text[line_start(text, macro.start) : macro.end]


def _hides(macro: Macro, table: Mapping[str, Macro], depth: int) -> bool:
    """Return whether a macro stands for statements or a loop's head, and can be written out."""
    words = [t.text for t in code_tokens(macro.body)]
    if not words or depth > _DEEPEST or len(macro.body) > _LONGEST or not macro.active:
        return False
    if "#" in macro.body or _PECULIAR & set(words) or _PECULIAR & set(macro.parameters or ()):
        return False
    if _STATEMENT & set(words) or _CHANGING & set(words):
        return True
    inner = table.get(words[0])
    return inner is not None and inner is not macro and _hides(inner, table, depth + 1)


def _is_element(macro: Macro) -> bool:
    """Return whether a macro names an element of an array: `#define A(i, j) a[(i) * n + (j)]`."""
    words = [t.text for t in code_tokens(macro.body)]
    while words[:1] == ["("] and words[-1:] == [")"]:
        words = words[1:-1]
    if macro.parameters is None or not macro.active or len(words) < len("a[i]"):
        return False
    if "#" in macro.body or _PECULIAR & set(words) or _PECULIAR & set(macro.parameters):
        return False
    if _STATEMENT & set(words) or _CHANGING & set(words) or not words[0].isidentifier():
        return False
    depth, opened = 0, False
    for word in words[1:]:
        if not depth and word != "[":
            return False
        depth += (word in ("[", "(")) - (word in ("]", ")"))
        opened = opened or word == "["
    return opened and not depth and words[-1] == "]"


def _written(
    code: list[Token], at: int, table: Mapping[str, Macro], depth: int
) -> tuple[str, int] | None:
    """Return what the macro at a token expands to, and the index of the call's last token."""
    macro = table[code[at].text]
    given: dict[str, str] = {}
    last = at
    if macro.parameters is not None:
        close = closing(code, at + 1) if at + 1 < len(code) and code[at + 1].text == "(" else None
        arguments = _arguments(code, at + 2, close) if close is not None else None
        if close is None or arguments is None or len(arguments) != len(macro.parameters):
            return None
        given = dict(zip(macro.parameters, arguments, strict=True))
        last = close
    text = _put(macro.body, given)
    inner = code_tokens(text)
    changes: list[tuple[int, int, str]] = []
    i = 0
    while i < len(inner):
        found = table.get(inner[i].text) if inner[i].kind == "word" else None
        if found is not None and found is not macro and _hides(found, table, depth + 1):
            written = _written(inner, i, table, depth + 1) if depth < _DEEPEST else None
            if written is None:
                return None
            changes.append((inner[i].start, inner[written[1]].end, written[0]))
            i = written[1]
        i += 1
    for start, end, now in reversed(changes):
        text = text[:start] + now + text[end:]
    return text, last


def _arguments(code: list[Token], first: int, close: int) -> list[str] | None:
    """Return the texts between commas; None when one holds a brace or nothing."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in code[first:close]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if token.text in ("{", "}", ";"):
            return None
        if token.text == "," and not depth:
            found.append([])
        else:
            found[-1].append(token)
    if first == close:
        return []
    return [_spaced(part) for part in found] if all(found) else None


def _spaced(part: list[Token]) -> str:
    text = ""
    for before, token in zip([None, *part], part, strict=False):
        gap = before is not None and token.start > before.end
        text += f"{' ' if gap else ''}{token.text}"
    return text


def _put(body: str, given: Mapping[str, str]) -> str:
    """Write a macro's body on one line with its arguments, brackets around single words dropped."""
    text = ""
    for token in tokens(body):
        if token.kind in ("space", "comment"):
            text += " "
        elif token.kind == "word" and token.text in given:
            text += f"\0{given[token.text]}\0"
        else:
            text += token.text
    pieces = " ".join(text.replace("\\", " ").split()).split("\0")
    for i in range(1, len(pieces) - 1, 2):
        before, after = pieces[i - 1], pieces[i + 1]
        called = before[:-1].rstrip()[-1:]
        plain = pieces[i].isidentifier() or pieces[i].isdigit()
        if (
            plain
            and before.endswith("(")
            and after.startswith(")")
            and called in ("<", ">", "=", "+", "-", "*", "/", "%", ";", ",", "(", "[", "&", "|")
            and not before[:-1].rstrip().endswith("->")
        ):
            pieces[i - 1], pieces[i + 1] = before[:-1], after[1:]
    return "".join(pieces)


def _kept(one: str, other: str) -> list[tuple[int, int, int]]:
    """Return the spans of whole lines of `one` that `other` holds, and how far they moved there."""
    a, b = one.splitlines(keepends=True), other.splitlines(keepends=True)
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    blocks = [(0, 0, head)]
    middle = SequenceMatcher(
        None, a[head : len(a) - tail], b[head : len(b) - tail], autojunk=False
    ).get_matching_blocks()
    blocks += [(head + i, head + j, n) for i, j, n in middle if n]
    blocks.append((len(a) - tail, len(b) - tail, tail))
    starts_a, starts_b = _starts(a), _starts(b)
    return [(starts_a[i], starts_a[i + n], starts_b[j] - starts_a[i]) for i, j, n in blocks if n]


def _starts(lines: list[str]) -> list[int]:
    found = [0]
    for line in lines:
        found.append(found[-1] + len(line))
    return found


def header_macros(kernel: Kernel, root: Path, folders: Sequence[str] = ()) -> dict[str, Macro]:
    """Return what local headers of a kernel's file define, names of two meanings left out.

    Macros, and as such constants and names of arithmetic types.

    The path of the kernel is relative to `root`, beyond which nothing is read but `folders`, those
    of headers that the compiler is shown; a header that cannot be read defines nothing.
    """
    source = Source(kernel.source)
    if not source.includes:
        return {}
    try:
        texts = source.resolve_includes(kernel.path, root, folders)
    except OSError:
        return {}
    found: dict[str, Macro] = {}
    often: Counter[str] = Counter()
    for text in texts.values():
        mine = _defined_by(Source(text))
        often.update(mine.keys())
        found.update(mine)
    return {name: macro for name, macro in found.items() if often[name] == 1}


def _defined_by(header: Source) -> dict[str, Macro]:
    """Return macros, and as such constants and other names of arithmetic types."""
    found = {
        c.name: Macro(c.name, str(c.value), 0, 0, (0, 0), None, c.value)
        for c in header.constants
        if c.value is not None and c.kind != "macro" and header.constant_of(c.name) is c
    }
    for name, kind in header.aliases.items():
        if kind in INTEGERS or kind in ("float", "double"):
            found[name] = Macro(name, kind, 0, 0, (0, 0))
    return found | header.macros_in_force
