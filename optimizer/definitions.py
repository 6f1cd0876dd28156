"""What a file defines: functions with their parameters and CUDA qualifiers, and constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from tree_sitter import Node

from optimizer.syntax import Span, Syntax, field, span, walk
from optimizer.tokens import code_tokens, squeezed

_HIDDEN = frozenset({"__restrict__", "__restrict", "restrict", "__grid_constant__"})
_SCOPES = frozenset({
    "translation_unit", "namespace_definition", "linkage_specification", "template_declaration",
    "declaration_list", "field_declaration_list", "class_specifier", "struct_specifier",
    "union_specifier", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "ERROR",
    "friend_declaration", "declaration", "field_declaration",
})  # fmt: skip
_DECLARATORS = frozenset({
    "pointer_declarator", "array_declarator", "init_declarator", "reference_declarator",
    "parenthesized_declarator", "function_declarator", "attributed_declarator",
    "abstract_pointer_declarator", "abstract_array_declarator", "abstract_reference_declarator",
    "variadic_declarator", "optional_parameter_declaration",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. `type` is its whole type without `__restrict__` and name: `const float *`.

    `element` is what a pointer points to, without const (`float`); for a value it is the type
    without const. `depth` counts `*` and `[]`. `const` tells that the pointee (or the value) is
    const. `name_span` is where the name stands, `star` the end of the last `*` (where
    `__restrict__` may be inserted), both in characters.
    """

    name: str
    type: str
    element: str
    depth: int
    const: bool
    restrict: bool
    reference: bool
    span: Span
    name_span: Span
    star: int | None
    index: int
    node: Node

    @property
    def is_pointer(self) -> bool:
        """Return whether this is a pointer or array."""
        return self.depth > 0


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A template parameter: `kind` is `typename` or the type of a value parameter (`int`)."""

    name: str
    kind: str
    default: str | None = None

    @property
    def is_type(self) -> bool:
        """Return whether it stands for a type."""
        return self.kind in ("typename", "class")


@dataclass(frozen=True, slots=True)
class Signature:
    """A function definition. `span` covers template header and qualifiers, too.

    `qualifiers` holds the CUDA words and `static`, `inline`, `extern "C"`. `namespace` is the
    path of namespaces and classes around it, outermost first. `bounds` holds the texts of the
    arguments of `__launch_bounds__`, `header` the span from the first qualifier to the body.
    """

    name: str
    node: Node
    body: Node
    parameters: tuple[Parameter, ...]
    templates: tuple[TemplateParameter, ...]
    qualifiers: frozenset[str]
    namespace: tuple[str, ...]
    returns: str
    span: Span
    header: Span
    name_span: Span
    bounds: tuple[str, ...] | None = None

    @property
    def is_kernel(self) -> bool:
        """Return whether it is a `__global__` function."""
        return "__global__" in self.qualifiers


# A definition, where what stands in front of it ends, and the scopes and templates around it.
_Place = tuple[Node, int, tuple[str, ...], tuple[Node, ...]]


def signatures(syntax: Syntax) -> tuple[Signature, ...]:
    """Return every function definition of a file, methods included, in order.

    Of a text that differs from another in numbers only, definitions whose heads are the same are
    the other's.
    """
    shared = syntax.parsed.shared
    known = cast("_Known | None", shared.get(("signatures", syntax.shape)))
    if known is None:
        listed = [(place, _signature(syntax, *place)) for place in _places(syntax)]
        found = tuple((place, one) for place, one in listed if one is not None)
        # Other texts of the shape have the same scopes unless a number is part of a scope's name.
        if all(name.isidentifier() for (_, _, path, _), _ in found for name in path):
            shared["signatures", syntax.shape] = (syntax.text, found)
        return tuple(one for _, one in found)
    text, found = known
    return tuple(
        one
        if syntax.text[slice(*one.header)] == text[slice(*one.header)]
        else _signature(syntax, *place) or one
        for place, one in found
    )


def _places(syntax: Syntax) -> Iterator[_Place]:
    stack: list[_Place] = [(syntax.root, 0, (), ())]
    while stack:
        node, before, path, templates = stack.pop()
        if node.type == "function_definition":
            yield node, before, path, templates
            continue
        if node.type not in _SCOPES:
            continue
        if node.type == "template_declaration":
            templates = (*templates, node)
        elif node.type in ("namespace_definition", "class_specifier", "struct_specifier"):
            name = field(node, "name")
            path = (*path, syntax.of(name)) if name is not None else path
            templates = ()
        inner: list[_Place] = []
        outward = node.type in ("template_declaration", "linkage_specification")
        last = before if outward else node.start_byte
        if node.type == "translation_unit":
            last = 0
        for child in node.children:
            if child.is_named:
                inner.append((child, last, path, templates))
            if not (outward and child.type != "declaration_list"):
                last = child.end_byte
        stack.extend(reversed(inner))


def _signature(
    syntax: Syntax, node: Node, before: int, path: tuple[str, ...], templates: tuple[Node, ...]
) -> Signature | None:
    body = field(node, "body")
    declarator = function_declarator(node)
    if body is None or declarator is None or body.type != "compound_statement":
        return None
    name = declared_name(declarator)
    if name is None:
        return None
    masked = syntax.masked
    words = {a.name for a in masked.attributes_in(before, body.start_byte)}
    for child in node.children:
        if child.type in ("storage_class_specifier", "type_qualifier", "inline"):
            words.add(syntax.of(child))
    start = min([node.start_byte, *(t.start_byte for t in templates[-1:])])
    attributes = list(masked.attributes_in(before, body.start_byte))
    if attributes:
        start = min(start, attributes[0].start)
    parent = node.parent
    if parent is not None and parent.type == "linkage_specification":
        start = min(start, parent.start_byte)
        words.add('extern "C"')
    bounds = next((a for a in attributes if a.name == "__launch_bounds__"), None)
    texts: tuple[str, ...] | None = None
    if bounds is not None:
        inside = bounds.arguments
        texts = (
            tuple(syntax.text[a:b].strip() for a, b in split_commas(syntax.text, inside))
            if inside
            else ()
        )
    words.discard("__restrict__")
    type_node = field(node, "type")
    while name.type in ("qualified_identifier", "template_function"):
        inner = field(name, "name")
        if inner is None:
            break
        name = inner
    return Signature(
        syntax.of(name),
        node,
        body,
        parameters(syntax, declarator),
        tuple(_template_parameters(syntax, templates[-1])) if templates else (),
        frozenset(words),
        path,
        squeezed(syntax.of(type_node)),
        (start, node.end_byte),
        (start, body.start_byte),
        span(name),
        texts,
    )


_Known = tuple[str, tuple[tuple[_Place, Signature], ...]]


def function_declarator(node: Node) -> Node | None:
    """Return the function declarator of a definition or declaration, through `*` and `&`."""
    at = field(node, "declarator")
    while at is not None and at.type != "function_declarator":
        if at.type not in _DECLARATORS or at.type == "init_declarator":
            return None
        at = field(at, "declarator") or next(
            (c for c in at.named_children if c.type in _DECLARATORS), None
        )
    return at


def declared_name(node: Node | None) -> Node | None:
    """Return the node of the name that a declarator declares; None for an abstract one."""
    at = node
    while at is not None:
        if at.type in (
            "identifier", "field_identifier", "qualified_identifier", "type_identifier",
            "operator_name", "destructor_name", "template_function",
        ):  # fmt: skip
            return at
        if at.type not in _DECLARATORS:
            return None
        inner = field(at, "declarator")
        if inner is None:
            inner = next(
                (
                    c
                    for c in at.named_children
                    if c.type in _DECLARATORS or c.type in ("identifier", "field_identifier")
                ),
                None,
            )
        at = inner
    return None


def split_commas(text: str, within: Span) -> list[Span]:
    """Cut a span at the commas outside brackets; each part without blanks around it.

    >>> t = "f(a, b), c"
    >>> [t[a:b] for a, b in split_commas(t, (0, len(t)))]
    ['f(a, b)', 'c']
    """
    parts: list[Span] = []
    depth = 0
    first: int | None = None
    last = within[0]
    for token in code_tokens(text[within[0] : within[1]]):
        if token.text == "," and depth == 0:
            parts.append((within[0] + first, last) if first is not None else (last, last))
            first = None
            continue
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        if first is None:
            first = token.start
        last = within[0] + token.end
    if first is not None:
        parts.append((within[0] + first, last))
    return parts


def parameters(syntax: Syntax, declarator: Node) -> tuple[Parameter, ...]:
    """Return the parameters of a function declarator, in order; unnamed ones have no name."""
    listed = field(declarator, "parameters")
    if listed is None:
        return ()
    found: list[Parameter] = []
    bounds: list[int] = [listed.start_byte + 1]
    nodes: list[Node] = []
    for child in listed.children:
        if child.type in (",", ")"):
            bounds.append(child.start_byte)
            bounds.append(child.end_byte)
        elif child.is_named:
            nodes.append(child)
    for node in nodes:
        if node.type not in ("parameter_declaration", "optional_parameter_declaration"):
            continue
        if syntax.of(node).strip() == "void":
            continue
        low = max((b for b in bounds if b <= node.start_byte), default=node.start_byte)
        high = min((b for b in bounds if b >= node.end_byte), default=node.end_byte)
        found.append(_parameter(syntax, node, low, high, len(found)))
    return tuple(found)


def _parameter(syntax: Syntax, node: Node, low: int, high: int, index: int) -> Parameter:
    text = syntax.text
    name = declared_name(field(node, "declarator"))
    at = span(name) if name is not None else (node.end_byte, node.end_byte)
    default = field(node, "default_value")
    words = [
        t
        for t in code_tokens(text[low:high])
        if default is None or low + t.start < default.start_byte
    ]
    if default is not None and words and words[-1].text == "=":
        words.pop()
    kept = [t for t in words if t.text not in _HIDDEN and (name is None or low + t.start != at[0])]
    stars = [t for t in kept if t.text == "*"]
    arrays = sum(t.text == "[" for t in kept)
    first_star = stars[0].start if stars else len(text)
    element = " ".join(
        t.text
        for t in kept
        if t.start < first_star and t.text not in ("const", "volatile", "&", "&&", "[", "]")
    )
    if arrays:
        opened = next(t.start for t in kept if t.text == "[")
        element = " ".join(t.text for t in kept if t.start < opened and t.text != "const")
    return Parameter(
        syntax.of(name),
        " ".join(t.text for t in kept),
        element,
        len(stars) + arrays,
        any(t.text == "const" and t.start < first_star for t in kept),
        any(a.name in _HIDDEN - {"__grid_constant__"}
            for a in syntax.masked.attributes_in(low, high)),
        any(t.text in ("&", "&&") for t in kept),
        (low + words[0].start, low + words[-1].end) if words else span(node),
        at,
        low + stars[-1].end if stars else None,
        index,
        node,
    )  # fmt: skip


def _template_parameters(syntax: Syntax, template: Node) -> Iterator[TemplateParameter]:
    listed = field(template, "parameters")
    for node in listed.named_children if listed is not None else ():
        if "type_parameter" in node.type:
            name = next((c for c in walk(node) if c.type == "type_identifier"), None)
            default = field(node, "default_type")
            yield TemplateParameter(syntax.of(name), "typename", syntax.of(default) or None)
        else:
            declared = declared_name(field(node, "declarator"))
            default = field(node, "default_value")
            yield TemplateParameter(
                syntax.of(declared),
                squeezed(syntax.of(field(node, "type"))),
                syntax.of(default) or None,
            )


def declarations_of(syntax: Syntax, name: str) -> Iterator[Node]:
    """Yield the name nodes of declarations (not definitions) of a function at file scope."""
    stack = [syntax.root]
    while stack:
        node = stack.pop()
        if node.type == "declaration":
            found = declared_name(function_declarator(node))
            if found is not None and syntax.of(found) == name:
                yield found
        elif node.type in _SCOPES:
            stack.extend(node.named_children)
