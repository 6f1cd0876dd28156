"""Workloads as the text of a project file, as `runners.workload` reads it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from optimizer.model import Acceptance, Argument, Build, Case, Role, Tolerance, Workload
from runners.expressions import is_number
from runners.project_file import AcceptSection


def to_yaml(workloads: Sequence[tuple[str, Workload]]) -> str:
    """Return a project file for workloads and the paths of their sources."""
    document = {"version": 1, "kernels": [_section(path, work) for path, work in workloads]}
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)


def _section(path: str, workload: Workload) -> dict[str, Any]:
    """Return a workload as the mapping of its section, defaults left out."""
    section: dict[str, Any] = {"name": workload.name, "file": path}
    if workload.program is not None:
        runs: list[Any] = [list(words) for words in workload.program.runs]
        check: dict[str, Any] = {"exit": workload.program.exit or 0}
        if workload.program.stdout is not None:
            check["stdout"] = workload.program.stdout
        section["program"] = {"run": runs[0] if len(runs) == 1 else runs, "check": check}
    else:
        section[workload.kind.value] = workload.symbol
    if workload.launch is not None:
        launch = workload.launch
        section["launch"] = {
            "grid": [_plain(text) for text in launch.grid],
            "block": [_plain(text) for text in launch.block],
            "shared": _plain(launch.shared),
            **({"tunable": True} if launch.tunable else {}),
        }
    if workload.arguments:
        section["args"] = [_argument_section(argument) for argument in workload.arguments]
    if workload.cases != (Case({}),):
        section["cases"] = [_case_section(case) for case in workload.cases]
    if workload.tolerance != Tolerance():
        tolerance = workload.tolerance
        section["tolerance"] = {"rtol": tolerance.rtol, "atol": tolerance.atol}
    if workload.reference:
        section["reference"] = workload.reference
    if workload.build != Build():
        build = workload.build
        section["build"] = {"flags": list(build.flags), "include": list(build.include)}
    return section | _choices(workload)


def _choices(workload: Workload) -> dict[str, Any]:
    default = Acceptance()
    differing = {
        name: getattr(workload.accept, name)
        for name in AcceptSection.model_fields
        if getattr(workload.accept, name) != getattr(default, name)
    }
    found: dict[str, Any] = {"accept": differing} if differing else {}
    if workload.accept.edit_host:
        found["edit"] = "host"
    if workload.warm:
        found["warm"] = True
    return found


def _argument_section(argument: Argument) -> dict[str, Any]:
    section: dict[str, Any] = {"name": argument.name, "type": argument.type}
    if argument.shape is not None:
        section["shape"] = argument.shape
    if argument.value is not None:
        section["value"] = argument.value
    word, _, rest = argument.init.partition(":")
    if word == "randint":
        low, _, end = rest.partition(":")
        section["init"] = {"randint": [int(low), int(end) if is_number(end) else end]}
    elif rest:
        section["init"] = {word: rest}
    elif word != "normal":
        section["init"] = word
    if argument.role is not Role.INPUT:
        section["role"] = argument.role.value
    return section


def _case_section(case: Case) -> dict[str, Any]:
    section: dict[str, Any] = dict(case.values)
    if case.weight != 1:
        section["weight"] = case.weight
    if not case.time:
        section["time"] = False
    return section


def _plain(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
