"""Ways to write a thread's number, put into the one that rules know: `int i = block + thread;`.

`int i, j; i = ...;`, `int i = threadIdx.x; i += ...;`, `int i{...}`, `auto i = ...`, a function
that returns it, and `while (i < n) { ...; i += stride; }` say the same. So does a test for the
larger of two shared elements and `max`, NaN aside. Every group of replacements keeps what the
kernel does and the number of its lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer.affine import INTEGERS
from optimizer.both_bounds import both_bounds
from optimizer.braced import braced
from optimizer.functions import Function
from optimizer.one_block import one_block
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.tokens import code_tokens
from optimizer.variables import Use, Variable
from optimizer.walked import walked

Group = tuple[Replacement, ...]

_NUMBERS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_WORDS = frozenset({*_NUMBERS, "x", "y", "z"})
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_STORED = frozenset({"static", "extern", "volatile", "constexpr", "__shared__"})
_LOOSE = ("?", ",", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<", ">>", "=")


def plain_forms(source: Source) -> list[Group]:
    """Return groups of replacements that do not overlap, each to be made whole or not at all."""
    taken: list[tuple[int, int]] = []
    found: list[Group] = []
    if not any(word in source.text for word in _NUMBERS):
        return found
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_goto:
            continue
        for group in _groups(source, fn):
            places = [(low, high) for low, high, _ in group]
            if any((low < b and a < high) or (low, high) == (a, b) for low, high in places
                   for a, b in taken):  # fmt: skip
                continue
            taken += places
            found.append(group)
    return found


def _groups(source: Source, fn: Function) -> Iterator[Group]:
    """Yield them in order; where the kernel's own text has none is remembered with its facts."""
    if fn.kept("plain forms", lambda: any(True for _ in _plain(source, fn))):
        yield from _plain(source, fn)
    yield from one_block(source, fn)  # asks the launches
    if fn.kept("forms of loops", lambda: any(True for _ in _of_loops(source, fn))):
        yield from _of_loops(source, fn)


def _plain(source: Source, fn: Function) -> Iterator[Group]:
    hidden = {t.text for body in source.macro_bodies(fn) for t in code_tokens(body)}
    seen: set[int] = set()
    for variable in fn.variables.all:
        node = variable.declaration
        if variable.space != "local" or node.type != "declaration" or variable.name in hidden:
            continue
        if variable.is_array or variable.reference or _STORED & set(variable.type.split()):
            continue
        if variable.init is None:
            if node.id not in seen:
                seen.add(node.id)
                yield from _started_late(source, fn, node, hidden)
            continue
        if _numbers(source, fn, variable.init):
            yield from _spelled(source, fn, variable)
            yield from _added(source, fn, variable)
            yield from _copied(source, fn, variable)
            yield from _looped(source, fn, variable)
    yield from _larger(source, fn)


def _of_loops(source: Source, fn: Function) -> Iterator[Group]:
    yield from walked(source, fn)
    for each in both_bounds(source, fn):
        yield (each,)
    for each in braced(source, fn):
        yield (each,)


# -- `if (s[t] < s[u]) s[t] = s[u];` --


def _larger(source: Source, fn: Function) -> Iterator[Group]:
    """Call the larger or smaller of two elements of a shared array by its name."""
    if not fn.shared or source.known("max") or source.known("min"):
        return
    for node in fn.variables.nodes("if_statement", "assignment_expression"):
        found = _taken(source, node) if node.type == "if_statement" else _chosen(source, node)
        if found is None or "\n" in source.of(node):
            continue
        kept, sign, other = found
        bases = {_shared(fn, place) for place in (kept, other)}
        if len(bases) != 1 or None in bases or source.plain(kept) == source.plain(other):
            continue
        name = "max" if sign in ("<", "<=") else "min"
        text = f"{source.of(kept)} = {name}({source.of(kept)}, {source.of(other)})"
        yield ((*span(node), f"{text};" if node.type == "if_statement" else text),)


def _taken(source: Source, node: Node) -> tuple[Node, str, Node] | None:
    """Read `if (a < b) a = b;` as a, the sign and b."""
    body, test = field(node, "consequence"), stripped(field(node, "condition"))
    if field(node, "alternative") is not None or body is None or test is None:
        return None
    inner = body.named_children if body.type == "compound_statement" else [body]
    if len(inner) != 1 or inner[0].type != "expression_statement" or not inner[0].named_children:
        return None
    outer = inner[0].named_children[0]
    if outer.type != "assignment_expression" or operator(outer) != "=":
        return None
    return _of_two(source, test, field(outer, "left"), stripped(field(outer, "right")))


def _chosen(source: Source, node: Node) -> tuple[Node, str, Node] | None:
    """Read `a = a < b ? b : a` as a, the sign and b."""
    right = stripped(field(node, "right"))
    if operator(node) != "=" or right is None or right.type != "conditional_expression":
        return None
    test, left = stripped(field(right, "condition")), field(node, "left")
    yes, no = (stripped(field(right, side)) for side in ("consequence", "alternative"))
    if test is None or left is None or yes is None or no is None:
        return None
    if source.plain(no) == source.plain(left):
        return _of_two(source, test, left, yes)
    found = _of_two(source, test, left, no) if source.plain(yes) == source.plain(left) else None
    return (found[0], _OPPOSITE[found[1]], found[2]) if found is not None else None


def _of_two(
    source: Source, test: Node, kept: Node | None, other: Node | None
) -> tuple[Node, str, Node] | None:
    if test.type != "binary_expression" or kept is None or other is None:
        return None
    one, two = stripped(field(test, "left")), stripped(field(test, "right"))
    sign = operator(test)
    if one is None or two is None or sign not in _OPPOSITE:
        return None
    tested = (source.plain(one), source.plain(two))
    wanted = (source.plain(kept), source.plain(other))
    if tested == wanted:
        return kept, sign, other
    return (kept, _OPPOSITE[sign], other) if tested == wanted[::-1] else None


def _shared(fn: Function, place: Node) -> str | None:
    """Return the shared array that an element is of."""
    base = field(place, "argument") if place.type == "subscript_expression" else None
    variable = fn.variables.of(base) if base is not None else None
    pure = not any(True for _ in walk(place, "update_expression", "assignment_expression",
                                      "call_expression"))  # fmt: skip
    return variable.name if variable is not None and variable.space == "shared" and pure else None


def _declared_with(fn: Function, node: Node) -> list[Variable]:
    return [v for v in fn.variables.all if v.declaration == node]


def _numbers(source: Source, fn: Function, node: Node) -> bool:
    """Return whether an expression is made of the thread's number, if only through a function."""
    if any(source.of(n) in _NUMBERS for n in walk(node, "identifier")):
        return True
    if node.type == "call_expression":
        return _body_of(source, node) is not None
    value = fn.affine(node)
    return value is not None and any(s.partition(".")[0] in _NUMBERS for s in value.symbols)


# -- `int i, j; i = ...;` --


def _started_late(source: Source, fn: Function, node: Node, hidden: set[str]) -> Iterator[Group]:
    """Declare where they are first set what a declaration at the top of a block only names."""
    together = _declared_with(fn, node)
    listed = node.children_by_field_name("declarator")
    if len(together) != len(listed) or not source.in_block(node):
        return
    kind = source.text[node.start_byte : listed[0].start_byte].strip()
    low = node.prev_sibling.end_byte if node.prev_sibling is not None else node.start_byte
    if "\n" in kind or any(source.syntax.masked.attributes_in(low, node.end_byte)):
        return
    first = {v.name: _first(fn, v) for v in together if v.init is None and v.name not in hidden}
    moved = [v for v in together if first.get(v.name) is not None]
    if not any(
        v.is_pointer or _numbers(source, fn, right)
        for v in moved
        if (right := _set_to(first[v.name]))
    ):
        return
    kept = [source.of(d) for d in listed if not any(d == v.declarator for v in moved)]
    edits: list[Replacement] = [(*span(node), f"{kind} {', '.join(kept)};" if kept else "")]
    for v in moved:
        use = first[v.name]
        if use is not None:
            edits.append((*span(use.node), f"{kind} {source.of(v.declarator)}"))
    yield tuple(edits)


def _first(fn: Function, variable: Variable) -> Use | None:
    """Return the first use of a variable when that sets it, in the block it is declared in."""
    uses = [u for u in variable.uses if u.role != "declare"]
    if not uses:
        return None
    use = min(uses, key=lambda u: u.node.start_byte)
    right = _set_to(use)
    statement = use.node.parent.parent if use.node.parent is not None else None
    if right is None or statement is None or statement.type != "expression_statement":
        return None
    if statement.parent != variable.declaration.parent:
        return None
    if any(u.variable is variable for u in fn.variables.within(right)):
        return None
    return use


def _set_to(use: Use | None) -> Node | None:
    """Return what a use sets its variable to: the right side of `i = ...`."""
    outer = use.node.parent if use is not None else None
    if use is None or outer is None or outer.type != "assignment_expression":
        return None
    if operator(outer) != "=" or field(outer, "left") != use.node or use.role != "write":
        return None
    return field(outer, "right")


# -- `int i{...}`, `auto i = ...`, `int i = number()`, `int i = ..., k = 3` --


def _spelled(source: Source, fn: Function, variable: Variable) -> Iterator[Group]:
    node, init = variable.declaration, variable.init
    if init is None or not variable.is_scalar:
        return
    first = field(node, "type")
    listed = node.children_by_field_name("declarator")
    if init.type == "initializer_list" and variable.element in INTEGERS:
        if len(init.named_children) == 1:
            inner = source.of(init.named_children[0])
            yield ((variable.name_node.end_byte, init.end_byte, f" = {inner}"),)
        return
    if source.of(first) == "auto" and first is not None and _unsigned(source, init):
        yield ((*span(first), "unsigned int"),)
        return
    body = _body_of(source, init)
    if body is not None:
        yield ((*span(init), body),)
        return
    if len(listed) > 1 and source.in_block(node) and _declared_with(fn, node):
        kind = source.text[node.start_byte : listed[0].start_byte].strip()
        if "\n" not in source.of(node) and "//" not in source.of(node):
            yield ((*span(node), " ".join(f"{kind} {source.of(d)};" for d in listed)),)


def _unsigned(source: Source, init: Node) -> bool:
    """Return whether an expression of built-in numbers alone has their type."""
    words = [t.text for t in code_tokens(source.of(init))]
    return all(w in _WORDS or w in (".", "*", "+", "(", ")") for w in words)


def _body_of(source: Source, call: Node) -> str | None:
    """Return what a device function without parameters returns, when that is all it does."""
    if call.type != "call_expression" or source.plain(field(call, "arguments")) != "()":
        return None
    callee = source.function(source.plain(field(call, "function")))
    if callee is None or callee.is_kernel or callee.parameters or callee.broken:
        return None
    inner = [n for n in callee.body.named_children if n.type != "comment"]
    if len(inner) != 1 or inner[0].type != "return_statement" or not inner[0].named_children:
        return None
    returned = inner[0].named_children[0]
    words = [t.text for t in code_tokens(source.of(returned))]
    known = all(w in _WORDS or w in (".", "*", "+", "-", "(", ")") for w in words)
    kind = source.resolved(callee.signature.returns)
    return " ".join(source.of(returned).split()) if known and kind in INTEGERS else None


# -- `int i = threadIdx.x; i += ...;` --


def _added(source: Source, fn: Function, variable: Variable) -> Iterator[Group]:
    """Add at once what the very next statement adds."""
    node, init = variable.declaration, variable.init
    following = node.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    if init is None or following is None or following.type != "expression_statement":
        return
    if len(node.children_by_field_name("declarator")) != 1 or not source.in_block(node):
        return
    outer = following.named_children[0] if following.named_children else None
    if outer is None or outer.type != "assignment_expression" or operator(outer) != "+=":
        return
    left, right = field(outer, "left"), field(outer, "right")
    if left is None or right is None or fn.variables.of(left) is not variable:
        return
    if any(u.variable is variable for u in fn.variables.within(right)):
        return
    if not _numbers(source, fn, right) or "\n" in source.of(following):
        return
    parts = [_tight(source, part) for part in (init, right)]
    yield ((*span(init), " + ".join(parts)), (*span(following), ""))


def _tight(source: Source, node: Node) -> str:
    text = source.of(node)
    loose = any(t.text in _LOOSE for t in code_tokens(text))
    return f"({text})" if loose else text


# -- `int tx = threadIdx.x; int i = ... + tx;` --


def _copied(source: Source, fn: Function, variable: Variable) -> Iterator[Group]:
    """Ask for the built-in number itself where a copy of it is used for one other number only."""
    node, init = variable.declaration, variable.init
    words = source.plain(init).split(".")
    if init is None or len(words) != len(("threadIdx", "x")) or words[0] not in _NUMBERS:
        return
    if not variable.settled or not source.in_block(node) or "\n" in source.of(node):
        return
    if len(node.children_by_field_name("declarator")) != 1 or variable.element not in INTEGERS:
        return
    uses = [u.node for u in variable.uses if u.role != "declare"]
    users = [v for v in fn.variables.all if v.init is not None and v is not variable
             and any(contains(v.init, use) for use in uses)]  # fmt: skip
    if len(users) != 1 or users[0].init is None or "-" in source.of(users[0].init):
        return
    if users[0].element in INTEGERS and all(contains(users[0].init, use) for use in uses):
        yield ((*span(node), ""), *((*span(use), source.of(init)) for use in uses))


# -- `while (i < n) { ...; i += stride; }` --


def _looped(source: Source, fn: Function, variable: Variable) -> Iterator[Group]:
    """Put a number that only one `while` uses and steps into the head of a `for`."""
    node, init = variable.declaration, variable.init
    if init is None or len(node.children_by_field_name("declarator")) != 1:
        return
    loops = [lp for lp in fn.loops if lp.kind == "while" and lp.variable is variable]
    if len(loops) != 1 or not loops[0].counted or loops[0].update is None:
        return
    loop = loops[0]
    if loop.node.parent != node.parent or not source.in_block(node) or variable.const:
        return
    uses = [u.node for u in variable.uses if u.role != "declare"]
    last = loop.update.parent if loop.update is not None else None
    if last is None or last.type != "expression_statement" or last.parent != loop.body:
        return
    if not all(contains(loop.node, use) for use in uses) or loop.condition is None:
        return
    if any(True for _ in walk(loop.body, "continue_statement")) or loop.update is None:
        return
    if not _unchanged(fn, init, node, loop.node):
        return
    head = source.text[loop.node.start_byte : loop.body.start_byte]
    declared = source.of(node).rstrip().removesuffix(";")
    if any("\n" in text for text in (declared, head.rstrip(), source.of(last))):
        return
    condition, update = source.of(loop.condition), source.of(loop.update)
    space = head[len(head.rstrip()) :]
    yield (
        (*span(node), ""),
        (loop.node.start_byte, loop.body.start_byte,
         f"for ({declared}; {condition}; {update}){space}"),
        (*span(last), ""),
    )  # fmt: skip


def _unchanged(fn: Function, init: Node, low: Node, high: Node) -> bool:
    """Return whether what an expression is made of keeps its value between two statements."""
    for use in fn.variables.within(init):
        if use.variable is not None and (use.variable.address_taken or use.variable.reference):
            return False
        if use.variable is not None and any(
            low.end_byte <= c.node.start_byte < high.start_byte for c in use.variable.changes
        ):
            return False
    return fn.is_pure(init) and not any(True for _ in walk(init, "subscript_expression"))
