"""Sums of products of names, with integer factors: what index expressions are read as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import lru_cache

Monomial = tuple[str, ...]


def _no_atoms() -> dict[str, frozenset[str]]:
    return {}


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of atoms; `terms[()]` is the constant.

    `opaque` gives for each atom that is no plain name the names it depends on.
    """

    terms: Mapping[Monomial, int]
    opaque: Mapping[str, frozenset[str]] = dataclass_field(default_factory=_no_atoms)

    @property
    def constant(self) -> int | None:
        """Return the value when nothing but a number is left."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else None

    @property
    def offset(self) -> int:
        """Return the constant term."""
        return self.terms.get((), 0)

    @property
    def atoms(self) -> frozenset[str]:
        """Return every atom that occurs."""
        return frozenset(a for m in self.terms for a in m)

    @property
    def symbols(self) -> frozenset[str]:
        """Return every name the value depends on, also from within opaque atoms."""
        found: set[str] = set()
        for atom in self.atoms:
            found |= self.opaque.get(atom, frozenset({atom}))
        return frozenset(found)

    def coefficient(self, symbol: str) -> Polynomial | None:
        """Return what `symbol` is multiplied by (zero when absent); None when not linear in it.

        `(row * n + k).coefficient("row")` is `n`: the stride of the index in `row`.
        """
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            hits = sum(atom == symbol or symbol in self.opaque.get(atom, ()) for atom in monomial)
            if not hits:
                continue
            if hits > 1 or symbol not in monomial:
                return None
            rest = list(monomial)
            rest.remove(symbol)
            key = tuple(rest)
            terms[key] = terms.get(key, 0) + factor
        return Polynomial(terms, self.opaque)

    def stride(self, symbol: str) -> int | None:
        """Return the coefficient of `symbol` when it is a number, else None."""
        found = self.coefficient(symbol)
        return found.constant if found is not None else None

    def depends_on(self, symbol: str) -> bool:
        """Return whether the value may change with `symbol`."""
        return symbol in self.symbols

    def without(self, symbol: str) -> Polynomial:
        """Return the sum of the terms in which `symbol` does not occur."""
        return Polynomial(
            {
                m: f
                for m, f in self.terms.items()
                if all(a != symbol and symbol not in self.opaque.get(a, ()) for a in m)
            },
            self.opaque,
        )

    def same(self, other: Polynomial) -> bool:
        """Return whether both are the same sum, term by term."""
        return dict(self.terms) == dict(other.terms)

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial({m: f for m, f in terms.items() if f}, {**self.opaque, **other.opaque})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for m1, f1 in self.terms.items():
            for m2, f2 in other.terms.items():
                key = tuple(sorted((*m1, *m2)))
                terms[key] = terms.get(key, 0) + f1 * f2
        return Polynomial({m: f for m, f in terms.items() if f}, {**self.opaque, **other.opaque})

    def scaled(self, factor: int) -> Polynomial:
        """Return the polynomial times a number."""
        return Polynomial({m: f * factor for m, f in self.terms.items() if factor}, self.opaque)

    def __str__(self) -> str:
        parts: list[str] = []
        for monomial, factor in sorted(self.terms.items()):
            text = "*".join(monomial)
            if not text:
                parts.append(str(factor))
            else:
                parts.append(text if factor == 1 else f"{factor}*{text}")
        return " + ".join(parts) or "0"


@lru_cache(maxsize=1024)
def number(value: int) -> Polynomial:
    """Return a constant."""
    return Polynomial({(): value} if value else {})


@lru_cache(maxsize=4096)
def atom(name: str, depends: frozenset[str] | None = None) -> Polynomial:
    """Return a single name, or an opaque piece that depends on some names."""
    return Polynomial({(name,): 1}, {} if depends is None else {name: depends})
