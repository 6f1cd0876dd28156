"""What the standalone modules raise: an error as the wire carries it.

The sandboxed worker and what it imports know nothing of `optimizer.errors`. They raise a `Fault`,
whose `kind` names the class that `runners.wire.unwrap` turns it into on the trusted side.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["ConfigError", "BaselineError", "RunnerError", "NoDeviceError", "SandboxError"]


class Fault(Exception):  # noqa: N818 - it is the wire's word, the errors are its kinds
    """Something that is nobody's candidate's fault; `remedy` says what the reader can do."""

    def __init__(self, kind: Kind, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.remedy = remedy

    def as_json(self) -> dict[str, str]:
        """Return the value of `error` in a worker's response."""
        return {"type": self.kind, "message": self.message, "remedy": self.remedy}
