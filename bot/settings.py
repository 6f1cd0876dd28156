"""All settings in one frozen value. The only module that reads the environment.

A flag wins over `OPTIML_*`, that over `.optiml.yml` of the base branch, that over the default.
docs/settings.md lists every name.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from optimizer.errors import ConfigError

POLICIES = ("rules", "llm", "mixed")
STRATEGIES = ("mcts", "greedy", "random")
OBJECTIVES = ("time", "energy", "time-then-energy")
_PREFIX = "OPTIML_"
_UNITS = {"s": 1 / 60, "m": 1.0, "min": 1.0, "h": 60.0}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "policy": POLICIES,
    "strategy": STRATEGIES,
    "objective": OBJECTIVES,
    "sandbox": ("auto", "strict", "off"),
    "memory": ("on", "off"),
    "model_cache": ("on", "off"),
    "feedback": ("none", "raw", "tools"),
    "reports": ("proactive", "reactive"),
    "judge": ("auto", "rule", "model"),
    "bench": ("workflow", "local"),
    "drafts": ("on", "off"),
    "tls": ("required", "off"),
}
# How a whole number that may also be worked out is declared, and what it is then.
_COUNT, _AUTO = "int | str", "auto"
# Names other programs own, read as they are.
_FOREIGN = {
    "OPENAI_API_KEY": "api_key",
    "OPENAI_BASE_URL": "api_url",
    "GITHUB_TOKEN": "github_token",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is made.

    `minutes`, `evaluations` and `usd` bound one kernel's search, which has `window` candidates
    under evaluation at any time (0: it goes by batches of four; `auto`: as a recording was made,
    else what keeps those GPUs busy that are there at the start). `device` is `cuda:N` or `all`;
    with a `scheduler` of dask.distributed, whose connection the `tls` files secure, a name such as
    `H200`.
    `sandbox` off runs the compiler and the kernels unconfined, for code that is one's own.
    `nvcc` and `ncu` name the programs; empty means to look for them. `cache` keeps what outlives
    a run: peaks of each device and the search memory, which `memory` switches off and `memory_url`
    keeps on a server instead. `cutlass` names a CUTLASS source tree; `off` uses none.
    `model` names a language model, `prices` a table of the user's own; `usd`, `tokens` and `calls`
    bound what it takes for one kernel. `feedback`, `reports` and `judge` are there for ablation;
    `answers` is a recording that answers in a model's place.
    `github_url` is the API's address; `github_app_key` is the App's private key in PEM, or the
    file that holds it. `database` is where the webhook app keeps what it accepted, `server_url`
    its own address, `bench` who runs the GPU, `reviews` how many run at once; the minutes are
    those of a GPU within a day, 0 for no limit.
    """

    policy: str = "mixed"
    strategy: str = "mcts"
    objective: str = "time"
    minutes: float = 10.0
    evaluations: int = 80
    usd: float = 2.0
    seed: int = 0
    window: int | str = "auto"
    device: str = "cuda:0"
    scheduler: str = ""
    tls: str = "required"
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    out: str = "optiml-out"
    sandbox: str = "auto"
    nvcc: str = ""
    ncu: str = ""
    cache: str = ""
    memory: str = "on"
    memory_url: str = ""
    memory_token: str = dataclasses.field(default="", repr=False)
    cutlass: str = ""
    model: str = ""
    model_seconds: float = 180.0
    model_cache: str = "on"
    prices: str = ""
    tokens: int = 2_000_000
    calls: int = 200
    prompt_tokens: int = 8_000
    answer_tokens: int = 8_192
    feedback: str = "tools"
    reports: str = "proactive"
    judge: str = "auto"
    answers: str = ""
    api_key: str = dataclasses.field(default="", repr=False)
    api_url: str = ""
    github_token: str = dataclasses.field(default="", repr=False)
    github_url: str = "https://api.github.com"
    github_app_id: str = ""
    github_app_key: str = dataclasses.field(default="", repr=False)
    webhook_secret: str = dataclasses.field(default="", repr=False)
    database: str = dataclasses.field(default="sqlite:///optiml.db", repr=False)
    server_url: str = ""
    bench: str = "workflow"
    gpu_workflow: str = "optiml-gpu.yml"
    gpu_labels: str = ""
    gpu_folder: str = ""
    drafts: str = "off"
    reviews: int = 16
    user_minutes: float = 240.0
    pull_minutes: float = 240.0
    repository_minutes: float = 1440.0
    path: str = dataclasses.field(default="", repr=False)

    @property
    def cache_folder(self) -> Path:
        """Return the folder for what outlives a run."""
        return Path(self.cache) if self.cache else Path.home() / ".cache" / "optiml"


def load(
    flags: Mapping[str, object] | None = None,
    project: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Combine the sources; a value of None in `flags` or `project` counts as not given.

    Raise `ConfigError` for an unknown `OPTIML_*` name or a value that does not fit.
    """
    surroundings = dict(os.environ) if environment is None else dict(environment)  # noqa: TID251
    found: dict[str, object] = {}
    for source, values in (
        ("`.optiml.yml`", dict(project or {})),
        ("the environment", _from_environment(surroundings)),
        ("the command line", dict(flags or {})),
    ):
        for name, value in values.items():
            if value is not None:
                found[name] = _fitting(name, value, source)
    if "cache" not in found and surroundings.get("XDG_CACHE_HOME"):
        found["cache"] = str(Path(surroundings["XDG_CACHE_HOME"]) / "optiml")
    found["path"] = surroundings.get("PATH", "")
    return Settings(**found)  # type: ignore[arg-type]


def surroundings() -> dict[str, str]:
    """Return the environment as it is, for doors whose inputs are others' names (GitHub's)."""
    return dict(os.environ)  # noqa: TID251 - this module is where the environment is read


def minutes(text: str) -> float:
    """Read a duration: `10m`, `90s`, `1.5h`, or a bare number of minutes.

    >>> minutes("90s"), minutes("10m"), minutes("2")
    (1.5, 10.0, 2.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h)?\s*", text)
    if not match or not float(match[1]):
        raise ConfigError(f"{text!r} is no duration", "write it as 10m, 90s or 1h")
    return float(match[1]) * _UNITS[match[2] or "m"]


def _from_environment(surroundings: Mapping[str, str]) -> dict[str, object]:
    known = {field.name for field in fields(Settings)} - {"path", *_FOREIGN.values()} | {"budget"}
    found: dict[str, object] = {}
    for key, value in surroundings.items():
        if key in _FOREIGN and value:
            found[_FOREIGN[key]] = value
        if not key.startswith(_PREFIX) or not value:
            continue
        name = key.removeprefix(_PREFIX).lower()
        if name == "budget":
            found["minutes"] = minutes(value)
        elif name in known:
            found[name] = value
        else:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {_PREFIX}{near[0].upper()}?" if near else "see docs/settings.md"
            raise ConfigError(f"{key} is no setting", meant)
    return found


def _fitting(name: str, value: object, source: str) -> object:
    field = next(field for field in fields(Settings) if field.name == name)
    wanted = str(field.type)
    try:
        if wanted == "int" or (wanted == _COUNT and value != _AUTO):
            value = int(str(value))
        elif wanted == "float":
            value = float(str(value))
        else:
            value = str(value)
    except ValueError as error:
        kind = "a number" if wanted == "float" else "a whole number"
        kind += f" or {_AUTO}" if wanted == _COUNT else ""
        raise ConfigError(f"{name} is {value!r} in {source}", f"it must be {kind}") from error
    if isinstance(value, int | float) and value < 0:
        raise ConfigError(f"{name} is {value} in {source}", "it cannot be negative")
    if name == "evaluations" and value == 0:
        raise ConfigError(f"evaluations is 0 in {source}", "give at least 1")
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        raise ConfigError(
            f"{name} is {value!r} in {source}", f"it must be one of {', '.join(choices)}"
        )
    return value
