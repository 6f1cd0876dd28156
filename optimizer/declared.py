"""What a file declares beside functions: names of types, members of structs, module variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from optimizer.directives import Macro
from optimizer.syntax import Syntax, field, walk

# What a macro that stands for a type is made of.
TYPE_WORDS = frozenset({
    "float", "double", "int", "unsigned", "long", "short", "char", "signed", "size_t", "half",
    "__half", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint8_t", "int8_t", "int16_t",
    "uint16_t", "float2", "float3", "float4", "double2", "bool", "__nv_bfloat16",
})  # fmt: skip


def aliases(syntax: Syntax, macros: Iterable[Macro]) -> dict[str, str]:
    """Return the types that typedef, using and macros name: `index_t` to `int`."""
    found: dict[str, str] = {}
    for macro in macros:
        words = macro.body.split()
        if macro.parameters is None and words and all(w in TYPE_WORDS for w in words):
            found[macro.name] = " ".join(words)
    if "typedef" not in syntax.text and "using" not in syntax.text:
        return found
    for node in walk(syntax.root, "type_definition", "alias_declaration"):
        if node.type == "alias_declaration":
            name, kind = field(node, "name"), field(node, "type")
        else:
            name, kind = field(node, "declarator"), field(node, "type")
        unnamed = kind is not None and field(kind, "body") is not None  # a struct defined here
        if name is not None and name.type == "type_identifier" and not unnamed:
            found.setdefault(syntax.of(name), syntax.plain(kind))
    return found


def members(syntax: Syntax, resolved: Callable[[str], str]) -> dict[str, dict[str, str]]:
    """Return the types of the members of each struct, by their names, with stars behind.

    Typedefs and type macros are resolved; arrays and bit fields are left out.
    """
    found: dict[str, dict[str, str]] = {}
    if "struct" not in syntax.text:
        return found
    for node in walk(syntax.root, "struct_specifier"):
        body = field(node, "body")
        if body is None:
            continue
        listed: dict[str, str] = {}
        for declared in body.named_children:
            if declared.type != "field_declaration":
                continue
            kind = syntax.plain(field(declared, "type"))
            kind = resolved(kind)
            for name in declared.children_by_field_name("declarator"):
                stars = ""
                at: Node | None = name
                while at is not None and at.type == "pointer_declarator":
                    stars, at = f"{stars}*", field(at, "declarator")
                if at is not None and at.type == "field_identifier":
                    listed[syntax.of(at)] = kind + stars
        names = {syntax.of(field(node, "name"))}
        if node.parent is not None and node.parent.type == "type_definition":
            names |= {syntax.of(n) for n in node.parent.children_by_field_name("declarator")}
        for each in names - {""}:
            found.setdefault(each, listed)
    return found


def spaces(syntax: Syntax) -> dict[str, str]:
    """Return the memory space of each module variable: constant, device or host."""
    found: dict[str, str] = {}
    stack: list[Node] = [syntax.root]
    while stack:
        node = stack.pop()
        if node.type in ("function_definition", "class_specifier", "struct_specifier"):
            continue
        if node.type == "declaration":
            found.update(_spaces_of(syntax, node))
            continue
        stack.extend(reversed(node.named_children))
    return found


def _spaces_of(syntax: Syntax, node: Node) -> dict[str, str]:
    previous = node.prev_sibling
    low = previous.end_byte if previous is not None else 0
    names = {a.name for a in syntax.masked.attributes_in(low, node.end_byte)}
    space = "host"
    if "__constant__" in names:
        space = "constant"
    elif names & {"__device__", "__managed__"}:
        space = "device"
    elif "__shared__" in names:
        space = "shared"
    found: dict[str, str] = {}
    for d in node.children_by_field_name("declarator"):
        if any(n.type == "function_declarator" for n in walk(d)):
            continue
        name = next((n for n in walk(d, "identifier")), None)
        if name is not None:
            found[syntax.of(name)] = space
    return found
