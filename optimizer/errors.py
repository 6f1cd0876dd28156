"""Errors that are nobody's kernel's fault. Each says what to do about it.

* OptimlError
  + ConfigError          a setting, a YAML file or an argument does not fit (exit 2)
  + BaselineError        the unedited kernel fails (exit 3)
  + RunnerError          a machine could not give a verdict (exit 4)
    - NoDeviceError      no usable GPU, compiler or profiler
    - SandboxError       nothing isolates untrusted code here
  + ProposalError        a policy could not answer
    - ModelError         the language model, or the way to it, failed
      . PromptTooLong    the prompt does not fit the model's context
      . BudgetSpent      the money, tokens or calls for a model are used up
      . NotRecorded      a recording of answers does not hold this question
"""

from __future__ import annotations


class OptimlError(Exception):
    """Base of every error this project raises on purpose.

    `remedy` says in one sentence what the reader can do; empty when the message already does.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.remedy}" if self.remedy else self.message


class ConfigError(OptimlError):
    """A setting is missing or does not fit."""

    exit_code = 2


class BaselineError(OptimlError):
    """The unedited kernel does not compile, does not run, or does not pass its own check."""

    exit_code = 3


class RunnerError(OptimlError):
    """A runner could not give a verdict."""

    exit_code = 4


class NoDeviceError(RunnerError):
    """No machine with the wanted GPU, or its compiler, is usable."""


class SandboxError(RunnerError):
    """No isolation is available and the code is not the user's own."""


class ProposalError(OptimlError):
    """A policy could not answer."""


class ModelError(ProposalError):
    """A language model could not be reached, or did not answer."""


class PromptTooLong(ModelError):  # noqa: N818 - said as what it is
    """The prompt does not fit the model's context; a shorter one may."""


class BudgetSpent(ModelError):  # noqa: N818 - said as what it is
    """What may be spent on a model is used up; nothing was sent."""


class NotRecorded(ModelError):  # noqa: N818 - said as what it is
    """A recording holds no answer to this question; it may to a shorter one."""
