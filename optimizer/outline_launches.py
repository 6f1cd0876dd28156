"""Launch geometry taken out of a file: at launches, and the host's locals that only it uses."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tree_sitter import Node

from optimizer.affine import INTEGERS
from optimizer.functions import Function
from optimizer.launch_macros import LaunchMacro
from optimizer.outline_text import Marked
from optimizer.outline_words import CALLS, CLOSING, OPENING, arithmetic, declared
from optimizer.syntax import Span, contains, field, operator, span
from optimizer.tokens import code_tokens
from optimizer.variables import Variable

_ASKING = "cudaFuncSetAttribute"
_MOST_SHARED = "cudaFuncAttributeMaxDynamicSharedMemorySize"
_ENDING = frozenset({";", "{", "}"})


def take_launches(at: Marked) -> None:
    """Take the geometry of a file's launches out of it, kernels having been listed before."""
    _Launches(at).run()


class _Launches:
    def __init__(self, at: Marked) -> None:
        self.at, self.found, self.original = at, at.found, at.original
        self.source, self.text, self.live, self.pairs = at.source, at.text, at.live, at.pairs
        self.by_value: tuple[Span, ...] = ()

    def run(self) -> None:
        kernels: dict[str, list[str]] = {}
        for name, types in self.found.kernels:
            kernels.setdefault(name, []).append(types)
        spans: list[Span] = []
        marks = [i for i, token in enumerate(self.live) if token.text == "<<<"]
        for i in marks:
            if not self.at.taken(self.live[i].start):
                spans.extend(self._launch(i, kernels))
        macros = self.source.launch_macros
        for i, token in enumerate(self.live) if macros else ():
            macro = macros.get(token.text)
            if macro is not None and not self.at.taken(token.start):
                spans.extend(self._launch_by(i, macro))
        spans.extend(self._shared_sizes(kernels))
        self._locals(spans)

    def _shared_sizes(self, kernels: Collection[str]) -> list[Span]:
        """Take out statements that let a kernel have more shared memory; return the sizes in them.

        They belong to the size that its launch asks for.
        """
        spans: list[Span] = []
        asked = _ASKING in self.text
        for i, token in enumerate(self.live) if asked else ():
            close = self.pairs.get(i + 1)
            if token.text != _ASKING or close is None or i == 0:
                continue
            behind = self.live[close + 1].text if close + 1 < len(self.live) else ""
            parts = self._parts(i + 1, close)
            if self.live[i - 1].text not in _ENDING or behind != ";" or len(parts) != 3:
                continue
            name, which, size = (self.at.piece("launch", part) for part in parts)
            known = len(name.tokens) == 1 and name.tokens[0] in kernels
            if not known or which.tokens != (_MOST_SHARED,) or self.at.taken(token.start):
                continue
            if not arithmetic(size.tokens, CALLS) or not self.at.computes(size.tokens):
                continue
            self.found.geometry.append(size)
            self.at.take((token.start, self.live[close + 1].end))
            spans.append(parts[2])
        self.by_value = tuple(spans)
        return spans

    def _launch(self, i: int, kernels: dict[str, list[str]]) -> list[Span]:
        end = self._chevrons(i)
        if end is None:
            return []
        parts = self._parts(i, end)
        if not 2 <= len(parts) <= 4:
            return []
        geometry = (parts[0][0], parts[min(2, len(parts) - 1)][1])
        pieces = [self.at.piece("launch", part) for part in parts[:3]]
        if all(self.at.computes(p.tokens) for p in pieces):
            self.found.geometry.extend(pieces)
            self.at.take(geometry, "GEOMETRY")
        callee = self._callee(i)
        name = self.live[callee[1]].text if callee is not None else ""
        if callee is not None and name in kernels:
            self.found.launched.add(name)
            self.at.take(
                (self.live[callee[0]].start, self.live[i - 1].end),
                "KERNEL(" + " | ".join(sorted(kernels[name])) + ")",
            )
            parts.insert(0, (self.live[callee[0]].start, self.live[i - 1].end))
            return parts[:4]
        return parts[:3]

    def _launch_by(self, i: int, macro: LaunchMacro) -> list[Span]:
        """Take out the geometry of a launch that a macro writes; return where it stands."""
        close = self.pairs.get(i + 1)
        if i + 2 >= len(self.live) or self.live[i + 1].text != "(" or close is None:
            return []
        inside = {t.text for t in self.live[i + 2 : close]}
        parts = self._parts(i + 1, close)
        if inside & {"{", "[", "<<<"} or not macro.fits(len(parts)):
            return []  # the preprocessor splits at commas in brackets, too
        places = [parts[at] for at in macro.geometry[:3] if at is not None]
        pieces = [self.at.piece("launch", place) for place in places]
        if not all(self.at.computes(p.tokens) for p in pieces):
            return []
        self.found.geometry.extend(pieces)
        for place in places:
            self.at.take(place, "GEOMETRY")
        return places

    def _chevrons(self, i: int) -> int | None:
        depth = 0
        for k in range(i + 1, len(self.live)):
            text = self.live[k].text
            if text in ("(", "[", "{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
                if depth < 0:
                    return None
            elif text in (";", "<<<") and depth == 0:
                return None
            elif text == ">>>" and depth == 0:
                return k
        return None

    def _parts(self, i: int, end: int) -> list[Span]:
        parts: list[Span] = []
        depth = 0
        first = i + 1
        for k in range(i + 1, end + 1):
            text = self.live[k].text
            if (text == "," and depth == 0) or k == end:
                if k == first:
                    return []
                parts.append((self.live[first].start, self.live[k - 1].end))
                first = k + 1
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        return parts

    def _callee(self, i: int) -> tuple[int, int] | None:
        """Return the token range start and the name's index of `ns::name<args>` before `<<<`."""
        at = i - 1
        if at >= 0 and self.live[at].text in (">", ">>"):
            depth = 0
            while at >= 0:
                text = self.live[at].text
                depth += {">": 1, ">>": 2}.get(text, 0) - {"<": 1, "<<": 2}.get(text, 0)
                if text in (";", "{", "}", "="):
                    return None
                if depth == 0:
                    break
                at -= 1
            inside = [t.text for t in self.live[at + 1 : i - 1]]
            if not arithmetic(inside, CALLS):
                return None
            at -= 1
        if at < 0 or self.live[at].kind != "word":
            return None
        name = at
        while at >= 2 and self.live[at - 1].text == "::" and self.live[at - 2].kind == "word":
            at -= 2
        return at, name

    # -- locals that only launches use -----------------------------------------------------------

    def _locals(self, spans: list[Span]) -> None:
        hidden: set[str] = set()
        for m in self.source.macros:  # a parameter is no name of the caller's
            hidden |= {t.text for t in code_tokens(m.body)} - set(m.parameters or ())
        for a, b in self.at.dead:
            hidden.update(t.text for t in code_tokens(self.text[a:b]) if t.kind == "word")
        for f in self.source.functions:
            if "__device__" in f.qualifiers or f.is_kernel:
                continue
            inside = [s for s in spans if contains(f.body, s)]
            if not inside or f.broken or not self.at.sound(f.span, span(f.body)):
                continue
            self._geometry_locals(f, inside, hidden)

    def _geometry_locals(self, f: Function, spans: list[Span], hidden: set[str]) -> None:
        chosen = {v for v in f.variables.all if self._may_be_geometry(v) and v.name not in hidden}
        while True:
            places = [*spans, *(span(v.init) for v in chosen if v.init is not None)]
            places += [self._assigned(u.place) for v in chosen for u in v.uses
                       if u.role in ("update", "write")]  # fmt: skip
            bad = {v for v in chosen if not self._only_in(f, v, places)}
            if not bad:
                break
            chosen -= bad
        taken: set[int] = set()
        for v in chosen:
            self.found.locals.add((_overload(f), v.name))
            if v.declaration.id in taken:
                continue
            together = [w for w in f.variables.all if w.declaration == v.declaration]
            if all(w in chosen for w in together):
                taken.add(v.declaration.id)
                self.found.geometry.append(self.at.piece("local", span(v.declaration)))
                self.at.take(span(v.declaration))
            elif v.init is not None:
                self.found.geometry.append(self.at.piece("local", span(v.init)))
                self.at.take(span(v.init), "GEOMETRY")
        for v in chosen:
            for u in v.uses:
                if u.role in ("update", "write"):
                    where = self._assigned(u.place)
                    self.found.geometry.append(self.at.piece("local", where))
                    self.at.take(where, "GEOMETRY")

    def _may_be_geometry(self, v: Variable) -> bool:
        parent = v.declaration.parent
        if v.space != "local" or not v.is_scalar or v.declaration.type != "declaration":
            return False
        if parent is None or parent.type != "compound_statement":
            return False
        element = v.element.replace(" :: ", "::")
        if element not in INTEGERS and element != "dim3":
            return False
        if {"static", "extern", "register"} & set(v.type.split()):
            return False
        words = [t.text for t in code_tokens(self.source.of(v.declaration))]
        behind = words[words.index(v.name) + 1 :] if v.name in words else None
        if behind is None or _assigns(words) or not self.at.computes(behind, declared(words)):
            return False
        known = CALLS | {"=", "auto"}
        return arithmetic(words, known, loose=True, types=self.at.types)

    def _assigned(self, place: Node) -> Span:
        """Return the span of `v.x = value;`; an empty one when it is anything else."""
        at = place.parent
        if at is None or at.type != "assignment_expression" or operator(at) != "=":
            return (0, 0)
        outer = at.parent
        if outer is None or outer.type != "expression_statement":
            return (0, 0)
        words = [t.text for t in code_tokens(self.source.of(field(at, "right")))]
        types = self.at.types
        fits = arithmetic(words, CALLS, loose=True, types=types) and self.at.computes(words)
        return span(outer) if fits else (0, 0)

    def _only_in(self, f: Function, v: Variable, places: list[Span]) -> bool:
        if not v.uses:
            # Of two in one scope, which no compiler takes, the unused one was there before.
            scope = v.declaration.parent
            twice = sum(w.name == v.name and w.declaration.parent == scope for w in f.variables.all)
            known = self.original is not None and (_overload(f), v.name) in self.original.locals
            return known and twice == 1
        return all(
            (u.role in ("read", "update", "write") or self._by_value(u.node))
            and any(contains(p, u.node) for p in places)
            for u in v.uses
        )

    def _by_value(self, node: Node) -> bool:
        """Tell whether a function is known to take this as a number, not as a variable."""
        return any(contains(place, node) for place in self.by_value)


def _assigns(words: Sequence[str]) -> bool:
    """Tell whether a declaration gives another variable a value: `int a = b = 3, c = (d = 4);`."""
    depth = 0
    for i, word in enumerate(words):
        depth += (word in OPENING) - (word in CLOSING)
        begun = i > 1 and (words[i - 2].isidentifier() or words[i - 2] == ",")
        if word == "=" and (depth or not begun):
            return True
    return False


def _overload(f: Function) -> str:
    """Return a function's name with its parameters' types: host functions may share a name."""
    return f"{f.name}({', '.join(p.type + '*' * p.depth for p in f.parameters)})"
