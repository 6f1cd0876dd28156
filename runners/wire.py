"""Job and Verdict as JSON, and the request and response lines a worker speaks.

Whatever comes from a worker ran beside untrusted code: sizes, types and numbers are checked here,
and a response counts only if it carries the nonce of its request and the digest of its candidate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from optimizer.errors import (
    BaselineError,
    ConfigError,
    NoDeviceError,
    OptimlError,
    RunnerError,
    SandboxError,
)
from optimizer.model import Status, Verdict
from runners.fault import Fault
from runners.interfaces import Job

MAX_JOB_BYTES = 32 << 20
MAX_VERDICT_BYTES = 8 << 20
MAX_SAMPLES = 100_000
# No honest number is larger; what is would overflow in the first sum or ratio made of it.
MAX_NUMBER = 1e30
MAX_WHOLE = 1 << 64
# What a launch takes, in µs, or uses, in mJ: from a millionth to weeks.
_LEAST, _MOST = 1e-6, 1e12
_MAY_BE_ENDLESS = {"error", "bound"}  # a NaN in an output has no finite error
_JOB: TypeAdapter[Job] = TypeAdapter(Job)
_VERDICT: TypeAdapter[Verdict] = TypeAdapter(Verdict)
_ERRORS: dict[str, type[OptimlError]] = {
    "BaselineError": BaselineError,
    "ConfigError": ConfigError,
    "NoDeviceError": NoDeviceError,
    "RunnerError": RunnerError,
    "SandboxError": SandboxError,
}


class ForgedResponse(RunnerError):  # noqa: N818 - says what it is
    """A worker's answer that is malformed, out of range, or not to the question asked."""


def job_to_dict(job: Job) -> dict[str, Any]:
    """Return a job as JSON values; whole case variables stay integers for the expressions."""
    data: dict[str, Any] = _JOB.dump_python(job, mode="json")
    for case in data["workload"]["cases"]:
        case["values"] = {k: _whole(v) for k, v in case["values"].items()}
    return data


def job_from_json(data: bytes | str) -> Job:
    """Read a job. Raise `ConfigError` if it is none."""
    if len(data) > MAX_JOB_BYTES:
        raise ConfigError(f"a job of {len(data)} bytes is over the limit of {MAX_JOB_BYTES}")
    try:
        return _JOB.validate_json(data, strict=True)
    except ValidationError as error:
        raise ConfigError(f"not a job: {_first(error)}") from error


def verdict_to_dict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON values. An error without a finite value becomes null."""
    data: dict[str, Any] = _VERDICT.dump_python(verdict, mode="json")
    for check in data["checks"]:
        for key in _MAY_BE_ENDLESS:
            check[key] = _finite_or_none(check[key])
    return data


def verdict_from_dict(data: object) -> Verdict:
    """Read a verdict from JSON values. Raise `ForgedResponse` for what no honest worker sends.

    Every number is finite, every time above zero and paired, and only a correct candidate has
    times.
    """
    if isinstance(data, Mapping) and isinstance(data.get("checks"), list):
        data = {**data, "checks": [_bounded(check) for check in data["checks"]]}
    try:
        text = json.dumps(data, allow_nan=False)
        if len(text) > MAX_VERDICT_BYTES:
            raise ForgedResponse(f"a verdict of {len(text)} bytes is over {MAX_VERDICT_BYTES}")
        _check_numbers(data)
        verdict = _VERDICT.validate_json(text, strict=True)
    except ValidationError as error:
        raise ForgedResponse(f"not a verdict: {_first(error)}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise ForgedResponse(f"not a verdict: {error}") from error
    _check_times(verdict)
    return verdict


def verdict_from_json(data: bytes | str) -> Verdict:
    """Read a verdict from JSON text; see `verdict_from_dict`."""
    return verdict_from_dict(_parse(data))


def request(
    number: str,
    nonce: str,
    job: Job,
    artifacts: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
    seconds: float,
) -> bytes:
    """Return one request line; `artifacts` are the candidate's and the baseline's, compiled."""
    data = {
        "id": number,
        "nonce": nonce,
        "job": job_to_dict(job),
        "candidate": artifacts[0],
        "baseline": artifacts[1],
        "limits": {"seconds": seconds},
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def response(line: bytes, number: str, nonce: str, digest: str) -> tuple[Verdict, dict[str, float]]:
    """Read the answer to one request: its verdict and the worker's statistics.

    Raise `ForgedResponse` if it is not the answer to that request, and the error the worker
    reports if it could not judge.
    """
    data = _parse(line)
    if not isinstance(data, dict):
        raise ForgedResponse("a worker answered with something that is no object")
    if data.get("id") != number or data.get("nonce") != nonce:
        raise ForgedResponse("a worker's answer does not carry the nonce of its request")
    if "error" in data:
        unwrap(data["error"])
    if data.get("digest") != digest:
        raise ForgedResponse("a worker's answer is about another candidate")
    stats = data.get("stats")
    numbers = stats if isinstance(stats, dict) else {}
    return verdict_from_dict(data.get("verdict")), {
        str(k): float(v) for k, v in numbers.items() if isinstance(v, int | float) and _plausible(v)
    }


def unwrap(fault: object) -> NoReturn:
    """Raise the error that a fault, or a response's `error`, stands for."""
    data = fault.as_json() if isinstance(fault, Fault) else fault
    if not isinstance(data, dict):
        raise ForgedResponse("a worker reported an error that is no object")
    kind = _ERRORS.get(str(data.get("type")), RunnerError)
    raise kind(str(data.get("message", ""))[:4000], str(data.get("remedy", ""))[:1000])


def _parse(data: bytes | str) -> Any:
    if len(data) > MAX_VERDICT_BYTES:
        raise ForgedResponse(f"an answer of {len(data)} bytes is over {MAX_VERDICT_BYTES}")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ForgedResponse(f"a worker's answer is not JSON: {error}") from error


def _check_times(verdict: Verdict) -> None:
    measured = verdict.measurement
    if measured is None:
        return
    if verdict.status is not Status.CORRECT:
        raise ForgedResponse(f"a candidate that is {verdict.status.value} cannot have times")
    for case in measured.cases:
        if len(case.candidate_us) != len(case.baseline_us):
            raise ForgedResponse(f"case {case.name}: the times are not paired")
        if len(case.candidate_us) > MAX_SAMPLES:
            raise ForgedResponse(f"case {case.name}: more than {MAX_SAMPLES} samples")
        times = (*case.candidate_us, *case.baseline_us)
        if not all(_LEAST <= t <= _MOST for t in times) or not 0 <= case.weight <= _MOST:
            raise ForgedResponse(f"case {case.name}: a time that is none")
    for energy in measured.energy.cases if measured.energy else ():
        columns = (energy.candidate_mj, energy.baseline_mj, energy.candidate_us, energy.baseline_us)
        if len({len(column) for column in columns}) > 1 or len(columns[0]) > MAX_SAMPLES:
            raise ForgedResponse(f"case {energy.name}: the energies are not paired")
        read = [one for column in columns for one in column]
        if not all(_LEAST <= one <= _MOST for one in read) or not 0 <= energy.weight <= _MOST:
            raise ForgedResponse(f"case {energy.name}: an energy that is none")


def _check_numbers(data: object) -> None:
    """Raise `ForgedResponse` for a number that would overflow in what is made of it."""
    pending = [data]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            # An error may be as large as a double: outputs are.
            pending += [v for k, v in one.items() if k not in _MAY_BE_ENDLESS]
        elif isinstance(one, list | tuple):
            pending += one
        elif isinstance(one, int | float) and not _plausible(one):
            raise ForgedResponse(f"a number of {len(str(one))} digits")


def _plausible(number: float) -> bool:
    """Tell whether a number is one that an honest worker may send."""
    if isinstance(number, int):
        return -MAX_WHOLE <= number <= MAX_WHOLE
    return math.isfinite(number) and abs(number) <= MAX_NUMBER


def _bounded(check: object) -> object:
    if not isinstance(check, dict):
        return check
    return {k: _finite_or_none(v) if k in _MAY_BE_ENDLESS else v for k, v in check.items()}


def _finite_or_none(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'top level'}: {found['msg']}"
