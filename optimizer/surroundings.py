"""What a function needs to know of the file it stands in."""

from __future__ import annotations

from typing import Protocol

from optimizer.directives import Macro
from optimizer.passing import Passing
from optimizer.syntax import Syntax


class File(Protocol):
    """What a function needs to know of its file."""

    @property
    def syntax(self) -> Syntax:
        """Return text and tree."""
        ...

    def constant(self, name: str) -> int | None:
        """Return the value of an integer constant of the file."""
        ...

    def by_reference(self, name: str, index: int) -> bool:
        """Return whether a function may change the variable passed as argument `index`."""
        ...

    @property
    def passing(self) -> Passing:
        """Return what answers `by_reference`, without the file."""
        ...

    @property
    def spaces(self) -> dict[str, str]:
        """Return the memory space of each module variable."""
        ...

    def known(self, name: str) -> bool:
        """Return whether the file defines this name."""
        ...

    @property
    def aliases(self) -> dict[str, str]:
        """Return the types that typedef and using name."""
        ...

    @property
    def members(self) -> dict[str, dict[str, str]]:
        """Return the types of the members of each struct, by their names."""
        ...

    def returned(self, name: str) -> str | None:
        """Return the arithmetic type that a function of the file returns, else None."""
        ...

    @property
    def macros_in_force(self) -> dict[str, Macro]:
        """Return the macros defined once, by name."""
        ...

    def pure_call(self, name: str) -> bool:
        """Return whether a function or macro of the file only computes from its arguments."""
        ...
