"""What stands around a call of a language model: prompt, reading the answer, applying the edit.

    python benchmarks/model_overhead.py --calls 200 --lines 300 --depth 10

The file is made of the examples' sources up to so many lines, edited `depth` times, with siblings,
other branches, findings and counters around it as a long search has them. Each call is another
text, so that no cache of ours helps. The edit boundary is timed by itself: it is asked beside the
search, whose own question it answers. Reported are processor milliseconds, and the tokens of
the prompt by our own count (`optimizer.spending.tokens_in`, which counts high: a token for each
begun five letters of a word, for every digit, every other sign and each run of blanks beyond one).
With `--server URL` that server counts the last prompt with its own tokenizer.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.model_client import Endpoint, ServerModel
from optimizer import counters
from optimizer.advice import Advice, AdviceLedger, advices
from optimizer.boundary import violations
from optimizer.dialogue import Answer, Message
from optimizer.model import (
    Argument,
    Case,
    CaseTimes,
    Edit,
    Finding,
    Kernel,
    Kind,
    Measurement,
    Resources,
    Role,
    Severity,
    Status,
    Step,
    Verdict,
    Workload,
)
from optimizer.policies.edits import Refused, applied, read
from optimizer.prompting import Level, Scene, View, prompt
from optimizer.spending import tokens_in, tokens_of
from optimizer.synthesis import answers, cutlass
from optimizer.synthesis.task import Task, brief
from runners.workload import parse_project

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
WRITTEN = Path(__file__).resolve().parents[1] / "tests/data/synthesis"
WORKLOAD = Workload(
    "made-up",
    Kind.ENTRY,
    "matmul",
    tuple(Argument(f"x{i}", "const float*", "n*m", role=Role.INPUT) for i in range(6)),
    tuple(Case({"n": 1024 + i, "m": 512}) for i in range(6)),
)
FACTS = {"sm": 90.0, "sms": 132.0, "l2_bytes": 6.3e7, "shared_optin_bytes": 2.3e5}
PEAKS = {"dram_gbs": 3978.7, "l2_gbs": 8161.4, "fp32_tflops": 59.1, "tensor_tflops": 636.0}


def source(lines: int) -> str:
    """Return so many lines of the examples, one file after the other."""
    found: list[str] = []
    for path in sorted(EXAMPLES.glob("*/*.cu"), key=lambda p: (p.stem != "matmul", p.stem)):
        text = path.read_text(encoding="utf-8").splitlines()
        found += [line for line in text if not found or not line.startswith("#include")]
    return "\n".join(found[:lines]) + "\n"


def verdict(ratio: float) -> Verdict:
    """Return made-up times and counters; no figure of speed comes from here."""
    cases = tuple(CaseTimes(c.name, (100.0 / ratio,) * 20, (100.0,) * 20) for c in WORKLOAD.cases)
    counted = {f"matmul_kernel/{name}": 12345.6 for name in sorted(counters.KEPT)}
    return Verdict(
        Status.CORRECT,
        Measurement(cases, "GPU", {"matmul_kernel": 0.9, "softmax": 0.1}),
        counters=counted,
        resources={"matmul_kernel": Resources(48, 4096, 0, 0, 0.62)},
        lines={f"matmul_kernel:{n}/stall": 0.2 for n in range(10, 16)},
    )


def findings() -> tuple[Finding, ...]:
    """Return findings as long as the detectors' own."""
    return tuple(
        Finding(
            f"detector-{i}",
            "each load instruction of a warp touches 17.6 sectors where 4 would do: neighbouring "
            "threads read addresses 4096 bytes apart",
            line=12 + i,
            severity=Severity.CRITICAL,
            subject="matmul_kernel",
            counters={f"matmul_kernel/{name}": 3.2e7 for name in sorted(counters.KEPT)[:5]},
            advice="let neighbouring threads read neighbouring elements, or stage a tile in "
            "shared memory so that both sides are read along rows",
            remedies=("stage-transpose", "tile-matmul", "vectorize"),
            expected=2.4,
        )
        for i in range(8)
    )


def tree(text: str, depth: int, number: int) -> tuple[dict[int, Step], Step]:
    """Return a search's steps and the deepest; every text differs by `number`."""
    root = Kernel("matmul", text, "matmul.cu")
    steps = {0: Step(0, None, None, root, verdict(1.0), findings=findings())}
    at = steps[0]
    for level in range(depth):
        deeper = at
        lines = at.kernel.source.splitlines()
        lines[20 + level] += f"  // edit {number} {level}"
        changed = "\n".join(lines) + "\n"
        for sibling in range(4):
            edit = Edit(
                f"keep {sibling} partial sums of `matmul_kernel` in registers, unrolled by {level}",
                changed,
                "llm:m",
                kind="register-accumulator",
                predicted=1.4,
            )
            came = verdict(1.0 + 0.1 * level) if sibling in (0, 2) else Verdict(
                Status.DOES_NOT_COMPILE, log='matmul.cu(31): error: identifier "acc" is undefined'
            )  # fmt: skip
            kernel = replace(at.kernel, source=changed) if sibling == 0 else at.kernel
            one = Step(len(steps), at.number, edit, kernel, came)
            steps[one.number] = one
            if sibling == 0:
                deeper = one
        at = deeper
    for sibling in range(6):
        edit = Edit(f"try variant {sibling} of the inner loop", "", "llm:m", kind="unroll")
        steps[len(steps)] = Step(len(steps), at.number, edit, at.kernel, verdict(0.98))
    return steps, replace(at, findings=findings())


def answer(kernel: Kernel) -> Answer:
    """Return an edit of about forty lines of the file."""
    lines = kernel.source.splitlines()
    old = "\n".join(lines[10:50])
    new = old.replace("float acc = 0.0f;", "float acc = 0.0f, other = 0.0f;")
    body = {
        "rationale": "two independent sums hide the latency of the multiply-add " * 3,
        "title": "keep two sums",
        "kind": "unroll",
        "predicted": 1.2,
        "blocks": [{"search": old, "replace": new}],
        "launch": None,
    }
    return Answer(json.dumps(body))


def synthesis(rounds: int) -> dict[str, dict[str, float]]:
    """Return what stands around an answer of `optiml synth`: task in words, reading, frame.

    The kernels are those of tests/data/synthesis; each round is another text.
    """
    times: dict[str, list[float]] = {"brief": [], "read": [], "frame": [], "all": []}
    for name, project in (
        ("gemm", WRITTEN / "gemm/project.yml"),
        ("softmax", EXAMPLES / "softmax/.optiml.yml"),
    ):
        parsed = parse_project(project.read_text(encoding="utf-8"), project.parent, str(project))
        ((path, workload),) = [pair for pair in parsed.workloads if pair[1].name == name]
        tree = cutlass.find("", sys.path)
        task = Task("what it computes", workload, path)
        if tree is not None:
            task = replace(task, more_headers=tree.has, known_words=tree.words)
        for number in range(rounds):
            for file in sorted((WRITTEN / name).glob("*.cu")):
                text = json.dumps(
                    {"plan": "p", "source": f"// {number}\n{file.read_text('utf-8')}"}
                )
                clock = [time.process_time()]
                brief(task)
                clock.append(time.process_time())
                draft = answers.read(text, tunable=False)
                clock.append(time.process_time())
                task.outside(draft.source)
                clock.append(time.process_time())
                for part, begin, end in zip(times, clock, clock[1:], strict=False):
                    times[part].append(1e3 * (end - begin))
                times["all"].append(1e3 * (clock[-1] - clock[0]))
    return {
        name: {
            "median": round(statistics.median(values), 2),
            "p95": round(sorted(values)[int(0.95 * (len(values) - 1))], 2),
            "most": round(max(values), 2),  # the first of a process, which reads the headers' names
        }
        for name, values in times.items()
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=200)
    options.add_argument("--lines", type=int, default=300)
    options.add_argument("--depth", type=int, default=10)
    options.add_argument("--server", default="", help="let this server count the tokens, too")
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    text = source(chosen.lines)
    scene = Scene(WORKLOAD, "NVIDIA H200", FACTS, PEAKS)
    times: dict[str, list[float]] = {
        "prompt": [],
        "read": [],
        "apply": [],
        "boundary": [],
        "prompt + read + apply": [],
    }
    tokens: list[int] = []
    levels: list[str] = []
    said: Sequence[Message] = ()
    for number in range(chosen.calls):
        steps, step = tree(text, chosen.depth, number)
        given = answer(step.kernel)
        clock = [time.process_time()]
        advice = next(iter(advices(step.findings, AdviceLedger(), {"matmul_kernel": 0.9})))
        said, level = prompt(scene, View(step, steps, step.findings), advice)
        clock.append(time.process_time())
        wish = read(given)
        clock.append(time.process_time())
        assert not isinstance(wish, Refused), wish
        edited = applied(wish, step.kernel.source)
        clock.append(time.process_time())
        assert isinstance(edited, str), edited
        outside = violations(steps[0].kernel.source, edited)
        clock.append(time.process_time())
        assert not outside, outside
        for name, begin, end in zip(times, clock, clock[1:], strict=False):
            times[name].append(1e3 * (end - begin))
        times["prompt + read + apply"].append(1e3 * (clock[3] - clock[0]))
        tokens.append(tokens_of(said))
        levels.append(level.name)
    steps, step = tree(text, chosen.depth, 0)
    advice = Advice("idea", "Propose what you like.")
    full, _ = prompt(scene, View(step, steps, step.findings), advice, Level.FULL, 10**9)
    found = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "calls": chosen.calls,
        "lines": len(text.splitlines()),
        "depth": chosen.depth,
        "steps": len(steps),
        "milliseconds": {
            name: {
                "median": round(statistics.median(values), 2),
                "p95": round(sorted(values)[int(0.95 * (len(values) - 1))], 2),
            }
            for name, values in times.items()
        },
        "file_tokens": tokens_in(text),
        "prompt_tokens": max(tokens),
        "prompt_tokens_unshortened": tokens_of(full),
        "shortened_to": sorted(set(levels)),
    }
    found["synthesis_milliseconds"] = synthesis(max(1, chosen.calls // 10))
    if chosen.server:
        with ServerModel(Endpoint("model", chosen.server, seconds=600.0)) as model:
            found["server_counts"] = model.ask(said, limit=1).usage.sent
    print(json.dumps(found, indent=1))
    if chosen.out:
        chosen.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
