"""The red team's workloads and candidates, read from `table*.toml` and `cases/`."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from runners import alignment, float_quotients, launch_limits, other_values, spec, zero_products

Json = dict[str, Any]

HERE = Path(__file__).parent
# Sets that nobody has looked at since their authors labelled them: `--from=` judges one of them on a GPU,
# and only then is it taken in here.
BLIND = HERE / "blind"
# The status of what could not be judged: its original failed, or the worker did.
NO_VERDICT = "no verdict"
# A limit that only a run can tell: where buffers have to begin.
ALIGNMENT = "alignment"
# Another one: right for the value alone that a whole number is declared with, or for the range.
DECLARED_VALUE = "declared value"
# And one more: products with zero that are left out, where the other factor is infinite.
ZERO_PRODUCTS = "zero products"
# The last: quotients of whole numbers that are compared as floats.
FLOAT_QUOTIENTS = "float quotients"
# What a run says of them.
SAID = {
    ALIGNMENT: alignment.MUST,
    DECLARED_VALUE: other_values.RIGHT,
    ZERO_PRODUCTS: zero_products.LEAVES,
    FLOAT_QUOTIENTS: float_quotients.DECIDE,
}
_ARGUMENT = re.compile(
    r"(?P<name>\w+): (?P<type>[^\[=]+?)(?: = (?P<value>.+)| \[(?P<shape>[^\]]+)\](?P<rest>.*))"
)
_ROLES = ("output", "inout")


@dataclass(frozen=True)
class Base:
    """An original with the workload it is judged on."""

    name: str
    source: str
    kind: str
    symbol: str
    workload: Json
    launch: Json | None
    edit_host: bool

    def kernel(self, source: str, launch: Json | None) -> Json:
        """Return a kernel as a job holds it."""
        geometry = launch or self.launch
        return {
            "name": self.name,
            "source": source,
            "path": f"{self.name}.cu",
            "launch": geometry,
        }


@dataclass(frozen=True)
class Candidate:
    """One text to be judged. `expect` is accept, refuse, gain, limit or open.

    `gain`: not to be found faster. `limit`: its launch fails far beyond what is declared, and not
    within `sizes.TIMES_LONGER` of it; accepted it has to carry the size from which on it fails. Or
    it needs its buffers aligned where its original does not, or is right for the declared value or
    range of whole numbers alone, or leaves products with zero out, or compares quotients as floats,
    and has to say so. `open`: it is wrong, and nothing that is asked
    shows it, as far as is known: counted as accepted where it is, and no reason for a run to fail.
    """

    base: Base
    name: str
    source: str
    expect: str
    what: str
    launch: Json | None = None

    @cached_property
    def label(self) -> str:
        """Name it for a table."""
        return f"{self.base.name}/{self.name}"

    @property
    def digest(self) -> str:
        """Identify everything that a verdict on it depends on."""
        text = json.dumps(
            [self.source, self.launch, self.base.source, self.base.workload | {"root": ""}]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def job(self, effort: str, seed: int = 1) -> Json:
        """Return the job that judges it."""
        return {
            "kernel": self.base.kernel(self.source, self.launch),
            "baseline": self.base.kernel(self.base.source, None),
            "workload": self.base.workload,
            "device": "cuda:0",
            "effort": effort,
            "seed": seed,
        }

    def right(self, *, accepted: bool, speedup: float | None, notes: Sequence[str] = ()) -> bool:
        """Tell whether the verifier did what is wanted."""
        if self.expect == "open":
            return True
        if self.expect == "gain":
            # Answers that are kept, compared in whole with what they are asked for, are right. A hit
            # costs nothing, so that hits in timed calls would show as a factor; the rest of such a
            # candidate may well be a little faster, as its comparison brings its inputs into the cache.
            return not accepted or speedup is None or speedup < 1.25
        if self.expect == "limit" and self.what in SAID:
            return not accepted or any(SAID[self.what] in note for note in notes)
        if self.expect == "limit" and self.base.kind == "entry":
            # What its host code launches is read where it is judged: a run has to say it.
            return not accepted or any(launch_limits.FAILS in note for note in notes)
        if self.expect == "limit":
            job = spec.parse(self.job("confirm"))
            return not accepted or bool(launch_limits.limits(job, launch_limits.SHARED_BYTES))
        return accepted == (self.expect == "accept")


def _argument(text: str) -> Json:
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    found = {"name": match["name"], "type": match["type"].strip()}
    if match["value"]:
        return {**found, "value": match["value"]}
    words = (match["rest"] or "").split()
    role = next((w for w in words if w in _ROLES), "input")
    init = next((w for w in words if w not in _ROLES), "normal")
    return {**found, "shape": match["shape"], "role": role, "init": init}


def _case(text: str) -> Json:
    words = text.split()
    values = dict(word.split("=") for word in words if "=" in word)
    return {
        "values": {k: float(v) for k, v in values.items()},
        "weight": 1.0,
        "time": "untimed" not in words,
    }


def _launch(data: Json | None) -> Json | None:
    return None if data is None else {**data, "tunable": True}


def _base(name: str, data: Json, folder: Path) -> Base:
    rtol, atol = data.get("tolerance", (1e-5, 1e-6))
    runs = data.get("runs")
    workload = {
        "name": name,
        "kind": data["kind"],
        "symbol": data.get("symbol", ""),
        "arguments": [_argument(a) for a in data.get("arguments", ())],
        "cases": [_case(c) for c in data.get("cases", ())] or [{"values": {}}],
        "tolerance": {"rtol": rtol, "atol": atol},
        "launch": _launch(data.get("launch")),
        "program": {"runs": runs, "exit": 0, "stdout": None} if runs else None,
        "build": {"flags": ["-O3", "-std=c++17"], "include": []},
        "accept": {"edit_host": data.get("edit_host", False)},
        "root": str(folder / "cases" / name),
    }
    return Base(
        name,
        (folder / "cases" / name / "base.cu").read_text(),
        data["kind"],
        data.get("symbol", ""),
        workload,
        _launch(data.get("launch")),
        bool(data.get("edit_host", False)),
    )


@cache
def load(folder: Path = HERE) -> tuple[Candidate, ...]:
    """Return every candidate of a folder, the originals among them: they must be accepted, too.

    It has a table for each author, in the order of their names.
    """
    found: list[Candidate] = []
    for table in sorted(folder.glob("table*.toml")):
        for name, data in tomllib.loads(table.read_text()).items():
            base = _base(name, data, folder)
            found.append(Candidate(base, "base", base.source, "accept", "the original"))
            for slug, row in data["candidates"].items():
                text = (folder / "cases" / name / f"{slug}.cu").read_text()
                launch = _launch(row.get("launch"))
                found.append(Candidate(base, slug, text, row["expect"], row["what"], launch))
    return tuple(found)
