"""Money: what a call costs, what was spent, and a purse that holds before a call is made.

Prices are US dollars for a million tokens, from `prices.toml` and the user's own table. A call is
reserved at what it can cost at most before it is sent, so that siblings asked together cannot
overdraw; what it did cost replaces the reservation.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.dialogue import Answer, Message, Schema, Usage
from optimizer.errors import BudgetSpent, ConfigError

if TYPE_CHECKING:
    from optimizer.interfaces import Model

MILLION = 1_000_000
# What a message costs beside its text: role, separators (OpenAI's cookbook counts 3 to 4).
MESSAGE_TOKENS = 5
# Words of code: identifiers and numbers by length, blanks with what follows, the rest one by one.
_PIECES = re.compile(r"[^\W\d_]+|\d+|_+|[ \t]+|\n+|[^\w\s]|\s", re.UNICODE)
# A table is a few lines; more is a mistake.
MOST_PRICES_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens sent, sent and known to the server, and received."""

    sent: float
    received: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """Return what calls cost.

        >>> Price(2.0, 8.0, 0.5).of(Usage(sent=1_000_000, cached=500_000, received=125_000))
        2.25
        """
        known = min(usage.cached, usage.sent)
        cached = self.sent if self.cached is None else self.cached
        cost = (usage.sent - known) * self.sent + known * cached + usage.received * self.received
        return cost / MILLION


FREE = Price(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by the beginning of a model's name; the longest that fits counts."""

    prices: Mapping[str, Price]

    @classmethod
    def load(cls, own: Path | None = None) -> PriceTable:
        """Read the table that comes with us, and the user's over it. Raise `ConfigError`."""
        text = files("optimizer").joinpath("prices.toml").read_text(encoding="utf-8")
        found = _priced(tomllib.loads(text), "prices.toml")
        if own is not None:
            found |= _priced(_own(own), str(own))
        return cls(found)

    def of(self, model: str) -> Price | None:
        """Return a model's price; `vendor/model` is looked up as `model`, too; None: not known."""
        for name in dict.fromkeys((model, model.rpartition("/")[2])):
            fitting = [known for known in self.prices if name.lower().startswith(known.lower())]
            if fitting:
                return self.prices[max(fitting, key=len)]
        return None

    @property
    def dearest(self) -> Price:
        """Return a price no known model exceeds, for one that is not known."""
        known = list(self.prices.values()) or [FREE]
        return Price(max(p.sent for p in known), max(p.received for p in known))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one kernel's search may spend on a model."""

    usd: float = math.inf
    tokens: float = math.inf
    calls: float = math.inf

    def broken_by(self, usage: Usage) -> str:
        """Return which limit is exceeded; empty when none is."""
        spent = {"usd": usage.usd, "tokens": usage.tokens, "calls": usage.calls}
        limits = {"usd": self.usd, "tokens": self.tokens, "calls": self.calls}
        return next((name for name, most in limits.items() if spent[name] > most), "")


@dataclass(slots=True, eq=False)
class Purse:
    """What was spent and what may still be; shared by all who ask a model for one kernel."""

    limits: Limits = field(default_factory=Limits)
    price: Price = FREE
    spent: Usage = field(default_factory=Usage)
    refused: str = ""
    _reserved: Usage = field(default_factory=Usage)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def usd(self) -> float:
        """Return the US dollars spent."""
        return self.spent.usd

    def reserve(self, sent: int, received: int) -> Usage:
        """Set aside what a call can cost at most. Raise `BudgetSpent` when that is too much."""
        most = Usage(sent=sent, received=received, calls=1)
        most = replace(most, usd=self.price.of(most))
        with self._lock:
            broken = self.limits.broken_by(self.spent + self._reserved + most)
            if broken:
                self.refused = broken
                raise BudgetSpent(
                    f"the budget for the model is used up: {broken} "
                    f"({self.spent.usd:.4f} USD, {self.spent.tokens:,} tokens, "
                    f"{self.spent.calls} calls so far)"
                )
            self._reserved = self._reserved + most
        return most

    def settle(self, reserved: Usage, used: Usage) -> Usage:
        """Book what a call did cost in place of what was set aside; return it with its price."""
        priced = replace(used, usd=self.price.of(used))
        with self._lock:
            self._reserved = self._reserved + _negated(reserved)
            self.spent = self.spent + priced
        return priced

    def book(self, used: Usage) -> None:
        """Book what cost nothing: an answer that was kept."""
        with self._lock:
            self.spent = self.spent + used


class MeteredModel:
    """A model whose calls a purse pays for; fulfils `optimizer.interfaces.Model`."""

    def __init__(self, inner: Model, purse: Purse) -> None:
        self._inner, self.purse = inner, purse

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._inner.name

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Ask when the purse can bear the dearest answer; raise `BudgetSpent` when it cannot."""
        sent = tokens_of(messages)
        reserved = self.purse.reserve(sent, limit)
        # One that fails counts as a call. Whether a vendor charges for it, nobody tells.
        used = Usage(calls=1)
        try:
            answer = self._inner.ask(messages, schema, limit)
            used = _reported(answer.usage, sent, answer.text)
        finally:
            priced = self.purse.settle(reserved, used)
        return replace(answer, usage=priced)


def _reported(usage: Usage, sent: int, text: str) -> Usage:
    """Return a usage with our own count in place of one that the server left out."""
    return usage if usage.tokens else replace(usage, sent=sent, received=tokens_in(text))


def tokens_of(messages: Sequence[Message]) -> int:
    """Return how many tokens a prompt has at most, by `tokens_in`."""
    return sum(tokens_in(message.text) + MESSAGE_TOKENS for message in messages)


@functools.lru_cache(maxsize=512)  # parts of prompts come again with each sibling and level
def tokens_in(text: str) -> int:
    """Return how many tokens a text has, counted high: no tokenizer is asked, as each differs.

    A word is a token for each begun five letters, every digit and every other sign counts by
    itself and so does each run of blanks or line ends longer than one blank.
    """
    return sum(map(_cost, _PIECES.findall(text)))


@functools.lru_cache(maxsize=20_000)
def _cost(piece: str) -> int:
    if piece == " ":
        return 0  # part of the word behind it in every tokenizer of today
    if piece.isspace():
        return 1
    if piece.isdigit():
        return len(piece)  # in threes for most, one by one for Llama 2, SmolLM and others
    if piece.isascii():
        return -(-len(piece) // 5) if piece.isalpha() else 1
    return len(piece.encode())


def _negated(usage: Usage) -> Usage:
    return Usage(-usage.sent, -usage.cached, -usage.received, -usage.usd, 0.0, -usage.calls)


def _own(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_PRICES_BYTES:
            raise ConfigError(f"the price table {path} is too large", "a line for each model")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"the price table {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the price table {path}: {error}", "see docs/language-models.md") from (
            error
        )


def _priced(table: Mapping[str, Any], where: str) -> dict[str, Price]:
    remedy = 'write it as `"MODEL" = {sent = 2.0, cached = 0.5, received = 8.0}`'
    found: dict[str, Price] = {}
    for name, entry in table.items():
        if not isinstance(entry, dict) or not {"sent", "received"} <= set(entry) <= {
            "sent",
            "cached",
            "received",
        }:
            raise ConfigError(f"{where}: {name} is no price", remedy)
        values = list(entry.values())
        if not all(
            isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < math.inf
            for v in values
        ):
            raise ConfigError(f"{where}: {name} has a price that is no number", remedy)
        found[name] = Price(
            float(entry["sent"]),
            float(entry["received"]),
            float(entry["cached"]) if "cached" in entry else None,
        )
    return found
