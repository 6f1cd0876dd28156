"""What every output must be, found out in a process that no candidate ever runs in.

`python -I -m runners.oracle REQUEST.json` runs the original on every combination of case, input
family and seed, several times, with its version in double precision and the numpy reference
beside it, and writes answers to files. The worker reads the files, and starts the process again
behind a combination that killed it: what the original cannot do is not asked of a candidate.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import cuda_types, families, inputs, spec
from runners.bench import Bench, Combination, Run, poison_of
from runners.compare import (
    Answer,
    Budget,
    dense,
    few_ulp,
    noise_by_exponent,
    same_bytes,
)
from runners.cuda_types import Field, Storage, from_float, to_float, values
from runners.expectation import (
    Floats,
    agree,
    as_json,
    call,
    check_reference,
    natural,
    stability,
)
from runners.fault import Fault
from runners.gpu import DeviceError, Gpu, LaunchError, OutOfMemoryError
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.spec import Argument, BaselineFailure, Json, Launch, Source, SpecError, Work

# A reference in numpy is one thread's work; beyond this only the declared family waits for it.
REFERENCE_ELEMENTS = 1 << 22
RUNS = 4
MORE_RUNS = 10

Moved = tuple[Run, Mapping[str, Floats]]


def combinations(work: Work, effort: str, seed: int) -> tuple[list[Combination], list[Combination]]:
    """Return what must be right (declared), and what is checked where the original can do it."""
    declared = [Combination(case.values, families.DECLARED, seed) for case in work.cases]
    full = effort != "screen"

    def weight(case: Mapping[str, float]) -> int:
        return sum(a.elements(case) for a in work.arguments if a.type.pointer)

    ordered = sorted((case.values for case in work.cases), key=weight)
    middle = next((case for case in ordered if weight(case) > 256), ordered[-1])
    extra: list[Combination] = []
    for case in ordered:
        light = weight(case) <= 1 << 24
        chosen = families.EVERY if case is middle or (full and light) else families.SCREEN
        extra += [
            Combination(case, family, seed) for family in chosen if family != families.DECLARED
        ]
    for size in families.sizes(work, 10 if full else 4):
        extra += [Combination(size.values, f, seed) for f in (families.DECLARED, "mixed")]
    if not any(inputs.rotatable(a) for a in work.arguments):
        extra = [c for c in extra if c.family == families.DECLARED]
    return declared, extra


def load(
    bench: Bench, artifact: Json, source: Source, work: Work, launch: Launch | None, scratch: Path
) -> Launchable:
    """Return the compiled code as something to launch in this process."""
    if artifact.get("kind") == "shared":
        return EntryLaunchable(artifact, work, source, scratch, promoted=bench.promoted)
    chosen = launch or work.launch
    return KernelLaunchable(bench.gpu, artifact, work, chosen, promoted=bench.promoted)


class _Original:
    """The original, its double-precision twin and its reference, ready to answer."""

    def __init__(self, request: Json, gpu: Gpu) -> None:
        job = spec.parse(request["job"])
        self.work, self.folder = job.work, Path(request["folder"])
        self.bench = Bench(gpu, job.work)
        launch = job.baseline.launch
        self.original = load(
            self.bench, request["baseline"], job.baseline, job.work, launch, self.folder
        )
        self.wide: tuple[Bench, Launchable] | None = None
        if request.get("promoted"):
            bench = Bench(gpu, job.work, promoted=True)
            try:
                twin = load(bench, request["promoted"], job.baseline, job.work, launch, self.folder)
                self.wide = (bench, twin)
            except DeviceError:
                self.wide = None
        self.reference = (
            inputs.load_function(job.work.root, job.work.reference) if job.work.reference else None
        )

    def answer(self, combination: Combination) -> Json:
        """Return the description of one combination's answers, whose bytes are in files.

        Raises `BaselineFailure` when the original does not define this combination.
        """
        runs = [self._run(combination, number) for number in range(RUNS)]
        if any(not same_bytes(runs[0].outputs[n], r.outputs[n]) for r in runs for n in r.outputs):
            runs += [self._run(combination, number) for number in range(RUNS, MORE_RUNS)]
        wanted, source = self._truth(combination, runs[0])
        moved: list[Moved] = []
        for number in range(self._samples(runs[0])):
            other = replace(combination, family=f"{combination.family}+{'j' * (number + 1)}")
            run = self._run(other, 1)
            moved.append((run, self._truth(other, run)[0]))
        outputs = [
            self._output(argument, combination, (runs, moved), wanted, source)
            for argument in self.work.arguments
            if argument.written
        ]
        return {"key": combination.key, "status": "ok", "source": source, "outputs": outputs}

    def _samples(self, run: Run) -> int:
        """Return how many samples of the original's error to take beyond the first.

        A small output gives few of them a run; one lucky sample must not become the budget.
        """
        floats = any(
            one.scalar.kind == "f"
            for a in self.work.arguments
            if a.written
            for one in a.type.fields
        )
        elements = min((len(data) // 4 for data in run.outputs.values()), default=0)
        if not floats:
            return 0
        return 6 if elements <= 4096 else 2 if elements <= 1 << 20 else 1

    def _truth(self, combination: Combination, run: Run) -> tuple[dict[str, Floats], str]:
        """Return the best answers there are, and where they come from."""
        elements = sum(a.elements(combination.case) for a in self.work.arguments if a.type.pointer)
        small = elements <= REFERENCE_ELEMENTS or combination.family == families.DECLARED
        if self.reference is not None and small:
            return self._reference(combination), "reference"
        found = self._wide(combination, run)
        return found, "double precision" if found else "original"

    def _run(self, combination: Combination, number: int) -> Run:
        run = self.bench.run(
            self.original,
            combination,
            nan=number == 1,
            beside=number % 2 == 1 and number > 1,
            seconds=60.0,
        )
        if run.damage:
            raise BaselineFailure(
                f"the original {run.damage.words}",
                "check the shapes and roles of its arguments",
            )
        return run

    def _reference(self, combination: Combination) -> dict[str, Floats]:
        """Ask the numpy reference; floats go in and come out as doubles."""
        arrays = self.bench.arrays(combination)
        arguments: dict[str, Any] = {}
        for argument in self.work.arguments:
            if argument.type.pointer:
                if argument.name in arrays:
                    arguments[argument.name] = natural(arrays[argument.name], argument.type)
            else:
                numbers = spec.scalar_values(argument, combination.case)
                arguments[argument.name] = numbers[0] if len(numbers) == 1 else numbers
        names = [a.name for a in self.work.arguments if a.written]
        if self.reference is None:
            return {}
        with np.errstate(all="ignore"):
            found = call(self.reference, arguments)
        if found is None:
            found = {name: arguments[name] for name in names if name in arguments}
        if not isinstance(found, Mapping):
            listed = found if isinstance(found, tuple | list) else (found,)
            found = dict(zip(names, listed, strict=False))
        return {str(name): np.asarray(data).reshape(-1) for name, data in found.items()}

    def _wide(self, combination: Combination, first: Run) -> dict[str, Floats]:
        """Run the double-precision twin; nothing when it does not agree with the original."""
        if self.wide is None:
            return {}
        bench, twin = self.wide
        try:
            run = bench.run(twin, combination, seconds=60.0, poison=first.poison)
        except (LaunchError, OutOfMemoryError):
            return {}
        if run.damage:
            return {}
        out: dict[str, Floats] = {}
        for argument in self.work.arguments:
            if not argument.written or argument.type.scalar is None:
                continue
            kind = cuda_types.promote(argument.type)
            data = values(run.outputs[argument.name], kind, kind.fields[0])
            scalar = kind.fields[0].scalar
            if scalar.kind != "f":
                continue
            wide = to_float(data, scalar)
            mine = argument.type.fields[0]
            narrow = to_float(
                values(first.outputs[argument.name], argument.type, mine), mine.scalar
            )
            left = self._untouched(argument, combination, [first])
            kept = slice(None) if left is None else ~np.repeat(left, mine.lanes)
            if agree(wide[kept], narrow[kept]):
                out[argument.name] = wide
        return out

    def _output(
        self,
        argument: Argument,
        combination: Combination,
        runs: tuple[list[Run], list[Moved]],
        wanted: Mapping[str, Floats],
        source: str,
    ) -> Json:
        """Work out what one output must be and how far from it is right."""
        name, kind = argument.name, argument.type
        same = [run.outputs[name] for run in runs[0]]
        untouched = self._untouched(argument, combination, runs[0])
        unordered = stability(name, kind, same, untouched)
        lenient = combination.family in families.STRESS
        budgets: list[Json | None] = []
        parts: list[npt.NDArray[Any]] = []
        for one in kind.fields:
            data = [values(storage, kind, one) for storage in same]
            moved = [(values(r.outputs[name], kind, one), truth.get(name)) for r, truth in runs[1]]
            mask = None if untouched is None else np.repeat(untouched, one.lanes)
            want = None if unordered else wanted.get(name)
            if want is not None and (len(want) != len(data[0]) or len(kind.fields) > 1):
                raise SpecError(
                    f"the reference gives {len(want)} values of {name}; its shape is {len(data[0])}"
                )
            # Whole numbers that a float holds exactly: no order of summation changes them.
            integers = combination.family == "integers"
            part, budget = self._field(one, data, moved, want, (mask, unordered, integers))
            if want is not None and source == "reference":
                where = f"{combination.key.split('|')[0]}: {name}"
                check_reference(where, budget, want, (data[0], one, mask, lenient))
            budgets.append(budget)
            parts.append(data[0] if budget is None else part)
        size = len(same[0]) // kind.size
        word = f"{combination.key}|{name}"
        stem = self.folder / hashlib.sha256(word.encode()).hexdigest()[:20]
        inputs.interleave(parts, kind, size).tofile(f"{stem}.want")
        if untouched is not None:
            np.packbits(untouched).tofile(f"{stem}.left")
        return {
            "name": name,
            "stem": stem.name,
            "budgets": budgets,
            "elements": size,
            "untouched": untouched is not None,
            "unordered": unordered,
            "lenient": lenient,
        }

    def _untouched(
        self, argument: Argument, combination: Combination, runs: list[Run]
    ) -> npt.NDArray[np.bool_] | None:
        """Mark the elements that hold their poison after every run; None when there are none."""
        if argument.role != "output":
            return None
        size = argument.type.size
        left: npt.NDArray[np.bool_] | None = None
        for run in runs:
            poison = poison_of(self.work, combination.case, argument.name, run.poison)
            rows = run.outputs[argument.name].reshape(-1, size) == poison.reshape(-1, size)
            kept = rows.all(axis=1)
            left = kept if left is None else left & kept
        return left if left is not None and left.any() else None

    def _field(
        self,
        one: Field,
        data: list[npt.NDArray[Any]],
        moved: list[tuple[npt.NDArray[Any], Floats | None]],
        want: Floats | None,
        terms: tuple[npt.NDArray[np.bool_] | None, bool, bool],
    ) -> tuple[npt.NDArray[Any], Json | None]:
        """Return wanted values of a field and the budget earned by the original's own errors."""
        if one.scalar.kind != "f":
            exact = data[0] if want is None else np.asarray(want).astype(one.scalar.dtype)
            return exact, None
        mask, unordered, integers = terms
        kept = slice(None) if mask is None else ~mask

        def taken(raw: npt.NDArray[Any]) -> Floats:
            wide = to_float(raw, one.scalar)[kept]
            return np.asarray(np.sort(wide)) if unordered else wide

        first, again = taken(data[0]), [taken(other) for other in data[1:]]
        goal = first if want is None else np.asarray(want, np.float64)[kept]
        with np.errstate(all="ignore"):
            errors = [np.abs(other - goal) for other in (first, *again)]
            for raw, truth in moved:
                other = taken(raw)
                errors.append(np.abs(other - first))
                if truth is not None and not unordered:
                    errors.append(np.abs(other - truth[kept]))
            worst = np.maximum.reduce([np.nan_to_num(e, nan=0, posinf=0) for e in errors])
            size = np.where(np.isfinite(goal), np.abs(goal), 0)
            keeps = all(
                bool((2 * np.nan_to_num(e, nan=0, posinf=0) <= self._allowed(size)).all())
                for e in errors[: len(data)]
            )
            whole = bool((first == np.rint(first)).all() and (size < 2**24).all())
        stable = all(np.array_equal(first, other, equal_nan=True) for other in again)
        same = want is not None and np.array_equal(first, goal, equal_nan=True)
        strict = self.work.atol == 0 == self.work.rtol
        budget = Budget(
            noise_by_exponent(worst, goal),
            one.scalar.roundoff,
            few_ulp(one.scalar.name),
            self.work.rtol,
            self.work.atol,
            capped=want is not None and keeps and not self.work.loose,
            floor=want is None or self.work.loose,
            exact=stable and not unordered and (strict or (integers and whole and same)),
        )
        part = (
            data[0]
            if unordered
            else from_float(to_float(data[0], one.scalar) if want is None else want, one.scalar)
        )
        return part, as_json(budget)

    def _allowed(self, size: Any) -> Any:
        """Return the declared tolerance for results of a size."""
        return self.work.atol + self.work.rtol * size


def read(folder: Path, work: Work, described: Json) -> dict[str, Answer]:
    """Return a combination's answers from what the process wrote."""
    types = {a.name: a.type for a in work.arguments}
    found: dict[str, Answer] = {}
    for output in described["outputs"]:
        stem = folder / str(output["stem"])
        size = int(output["elements"]) * types[output["name"]].size
        want: Storage = np.memmap(f"{stem}.want", np.uint8, "r") if size else np.empty(0, np.uint8)
        left = None
        if output["untouched"]:
            bits = np.unpackbits(np.fromfile(f"{stem}.left", np.uint8))
            left = bits[: int(output["elements"])].astype(bool)
        budgets = tuple(
            None if b is None else Budget(**{**b, "noise": dense(b["noise"])})
            for b in output["budgets"]
        )
        found[output["name"]] = Answer(
            output["name"],
            types[output["name"]],
            want,
            budgets,
            left,
            bool(output["unordered"]),
            bool(output["lenient"]),
        )
    return found


def answer_all(request: Json, open_device: Callable[[int], Gpu]) -> int:
    """Answer every combination of a request; a line of JSON for each, in a file, as it is had."""
    out = Path(request["folder"]) / "answers.jsonl"
    with out.open("a") as lines:

        def say(what: Json) -> None:
            lines.write(json.dumps(what) + "\n")
            lines.flush()

        try:
            original = _Original(request, open_device(int(request.get("gpu", 0))))
        except Fault as error:
            say({"key": "", "status": "error", **error.as_json()})
            return 1
        except DeviceError as error:
            failure = BaselineFailure(f"the original cannot be launched: {error}")
            say({"key": "", "status": "error", **failure.as_json()})
            return 1
        for item in request["combinations"]:
            combination = Combination(item["case"], item["family"], int(item["seed"]))
            say({"key": combination.key, "status": "begun"})
            try:
                say(original.answer(combination))
            except (LaunchError, OutOfMemoryError) as error:
                say({"key": combination.key, "status": "no", "message": str(error)})
            except Fault as error:
                say({"key": combination.key, "status": "no", **error.as_json()})
            except DeviceError as error:
                say({"key": combination.key, "status": "crash", "message": str(error)})
                return 1
    return 0


def main(path: Path) -> int:
    """Answer a request file on the GPU."""
    from runners.device import CudaGpu

    return answer_all(json.loads(path.read_text()), CudaGpu)


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    sys.stderr.flush()
    os._exit(status)  # taking a context with a hung kernel down would wait for the kernel
