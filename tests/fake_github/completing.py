"""Fills the fake's answers up to what GitHub's own OpenAPI document requires of them.

The fake says what matters and leaves the rest out; a validating proxy takes only whole answers.
What is filled in is empty, None or a plain value: nothing of it is relied upon.
"""

from __future__ import annotations

import re
from typing import Any

_TEXTS = {
    "date-time": "2026-01-02T03:04:05Z",
    "date": "2026-01-02",
    "uri": "https://github.example/x",
    "email": "a@github.example",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class Completer:
    """Called with a request and the fake's answer; returns a whole answer."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._paths = [
            (re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"\Z"), item)
            for path, item in sorted(document["paths"].items(), key=lambda pair: pair[0].count("{"))
        ]

    def __call__(self, method: str, path: str, status: int, data: Any) -> Any:
        schema = self._schema(method.lower(), path, status)
        return data if schema is None or data is None else self._filled(schema, data)

    def _schema(self, method: str, path: str, status: int) -> dict[str, Any] | None:
        for pattern, item in self._paths:
            if not pattern.match(path) or method not in item:
                continue
            answers = item[method]["responses"]
            answer = self._resolved(answers.get(str(status)) or {})
            for kind, content in (answer.get("content") or {}).items():
                if "json" in kind:
                    return dict(content["schema"])
        return None

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            found: Any = self._document
            for name in schema["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            schema = found
        return schema

    def _filled(self, schema: dict[str, Any], value: Any) -> Any:
        schema = self._resolved(schema)
        for part in schema.get("allOf", ()):
            value = self._filled(part, value)
        options = [self._resolved(one) for one in schema.get("anyOf") or schema.get("oneOf") or ()]
        if options:
            fitting = [one for one in options if _fits(one, value)]
            if fitting:
                value = self._filled(max(fitting, key=lambda one: _likeness(one, value)), value)
        if isinstance(value, dict):
            known = schema.get("properties", {})
            needed = schema.get("required", ())
            value = {
                name: self._filled(known[name], part) if name in known else part
                for name, part in value.items()
                # GitHub sends null for some that its document calls numbers: `line` of a comment.
                if part is not None or name in needed or self._takes_null(known.get(name, {}))
            }
            for name in needed:
                if name not in value:
                    value[name] = self._made(known.get(name, {}))
        elif isinstance(value, list) and "items" in schema:
            value = [self._filled(schema["items"], one) for one in value]
        return value

    def _takes_null(self, schema: dict[str, Any]) -> bool:
        schema = self._resolved(schema)
        parts = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
        return not schema or schema.get("nullable", False) or any(map(self._takes_null, parts))

    def _made(self, schema: dict[str, Any]) -> Any:
        schema = self._resolved(schema)
        if schema.get("nullable"):
            return None
        if "enum" in schema:
            return schema["enum"][0]
        for word in ("oneOf", "anyOf", "allOf"):
            if word in schema:
                parts = schema[word]
                if word != "allOf":
                    return self._made(parts[0])
                whole: Any = self._made(parts[0])
                for part in parts[1:]:
                    whole = self._filled(part, whole)
                return whole
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if kind == "object":
            return self._filled(schema, {})
        plain: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": []}
        if kind in plain:
            return plain[kind]
        text = _TEXTS.get(schema.get("format", ""), "x")
        return text.ljust(schema.get("minLength", 0), "x")


def _fits(schema: dict[str, Any], value: Any) -> bool:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}
    if value is None:
        return bool(schema.get("nullable"))
    wanted = schema.get("type", "object" if "properties" in schema or "allOf" in schema else "")
    return wanted in {"", kinds.get(type(value), "number")}


def _likeness(schema: dict[str, Any], value: Any) -> tuple[int, int]:
    known = schema.get("properties", {})
    alike = sum(name in known for name in value) if isinstance(value, dict) else 0
    return alike, -len(schema.get("required", ()))
