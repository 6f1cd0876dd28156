"""YAML that remembers its lines and refuses what a configuration has no use for.

No tags, no anchors or aliases (so no expansion bombs), no duplicate keys, bounded size and depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from optimizer.errors import ConfigError

MAX_BYTES = 256 << 10
MAX_DEPTH = 20
MAX_NODES = 20_000
Path_ = tuple[str | int, ...]
_PLAIN = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int")
_FLOAT = "tag:yaml.org,2002:float"
_constructor = yaml.constructor.SafeConstructor()


@dataclass(frozen=True, slots=True)
class Marked:
    """A document's value, and the line (from 1) of each part by its path of keys and indices."""

    value: Any
    lines: dict[Path_, int]
    name: str

    def line(self, path: Path_) -> int:
        """Return the line of a part, or of the nearest part around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def error(self, path: Path_, message: str, remedy: str = "") -> ConfigError:
        """Return an error that names file and line."""
        return ConfigError(f"{self.name}:{self.line(path)}: {message}", remedy)


def load(text: str, name: str) -> Marked:
    """Read a YAML document; `name` is the file's, for messages. Raise `ConfigError`."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ConfigError(f"{name} is larger than {MAX_BYTES >> 10} KiB", "no project needs more")
    try:
        _survey(text, name)
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise ConfigError(f"{name}:{line}: not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{name}: not YAML: {error}") from error
    lines: dict[Path_, int] = {}
    value = None if node is None else _value(node, (), lines, name)
    return Marked(value, lines, name)


def _survey(text: str, name: str) -> None:
    """Refuse depth, aliases and tags from the event stream, before anything is built."""
    depth = 0
    for nodes, event in enumerate(_events(text)):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ConfigError(f"{name}:{line}: anchors and aliases are not supported", "repeat it")
        if getattr(event, "tag", None):
            raise ConfigError(f"{name}:{line}: the tag {event.tag} is not supported", "remove it")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise ConfigError(f"{name}:{line}: nested too deep or too long")


def _events(text: str) -> Iterator[Any]:
    yield from yaml.parse(text, yaml.SafeLoader)


def _value(node: yaml.Node, path: Path_, lines: dict[Path_, int], name: str) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node, name)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise ConfigError(f"{name}:{line}: a key must be a word")
            if str(key) in found:
                raise ConfigError(f"{name}:{line}: {key} is given twice", "keep one of them")
            lines[(*path, str(key))] = line
            found[str(key)] = _value(value_node, (*path, str(key)), lines, name)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(part, (*path, i), lines, name) for i, part in enumerate(node.value)]
    return _scalar(node, name)


def _scalar(node: yaml.Node, name: str) -> Any:
    """Return null, a bool, a number or text; dates and the like stay text."""
    if not isinstance(node, yaml.ScalarNode):
        line = node.start_mark.line + 1
        raise ConfigError(f"{name}:{line}: a key must be a word")
    try:
        if node.tag in _PLAIN:
            return _constructor.construct_object(node)
        if node.tag == _FLOAT:
            return float(node.value.replace("_", ""))
    except (ValueError, OverflowError, yaml.YAMLError):
        pass  # .inf, sexagesimals and endless digits: text, which a number field refuses
    return node.value
