"""The Action as GitHub starts it: everything through the environment, in checkouts of strangers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot import action, bundle, gpu_review, orders
from bot.action_inputs import Inputs
from bot.orders import Order
from optimizer.errors import BaselineError, ConfigError
from runners.fault import Fault
from tests.bot import repositories, scripted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CANARY = "import pathlib, os; pathlib.Path(os.environ['CANARY']).write_text(__file__)\n"
# Names that Python, or something we import, would load from the working directory if let.
BAIT = (
    "bot", "optimizer", "runners", "sitecustomize", "usercustomize", "typing", "json", "typer",
    "numpy", "git", "pydantic", "rich", "yaml", "encodings", "antigravity",
)  # fmt: skip


def environment(order: Order, checkout: Path, out: Path, **values: str) -> dict[str, str]:
    return {
        "INPUT_MODE": "optimize",
        "INPUT_ORDER": orders.to_json(order),
        "INPUT_OUT": str(out),
        "GITHUB_REPOSITORY": order.repository,
        "GITHUB_WORKSPACE": str(checkout),
        "GITHUB_OUTPUT": str(out.parent / "outputs"),
        "GITHUB_STEP_SUMMARY": str(out.parent / "summary.md"),
        **values,
    }


def outputs(file: Path) -> dict[str, str]:
    """Read outputs as GitHub's runner does."""
    found = {}
    lines = iter(file.read_text().split("\n"))
    for line in lines:
        if not line:
            continue
        name, _, mark = line.partition("<<")
        value = []
        for one in lines:
            if one == mark:
                break
            value.append(one)
        found[name] = "\n".join(value)
    return found


def hostile(root: Path) -> Order:
    """Make a pull request that adds softmax, and everything that might be taken for ours."""
    root.mkdir(parents=True)
    repositories.git(root, "init", "-q", "-b", "main")
    example = EXAMPLES / "softmax"
    base = repositories.commit(
        root,
        "base",
        _dot_optiml_dot_yml=(example / ".optiml.yml").read_text(),
        ref_dot_py=(example / "ref.py").read_text(),
    )
    repositories.git(root, "checkout", "-q", "-b", "feature")
    for name in BAIT:
        (root / f"{name}.py").write_text(CANARY)
        if name in {"bot", "optimizer", "runners"}:
            (root / name).mkdir()
            for part in ("__init__.py", "__main__.py", "cli.py", "worker.py"):
                (root / name / part).write_text(CANARY)
    (root / "pyproject.toml").write_text("[tool.optiml]\nsandbox = 'off'\n")
    (root / "setup.py").write_text(CANARY)
    (root / "evil.pth").write_text(CANARY)
    (root / ".env").write_text("OPTIML_SANDBOX=off\n")
    (root / ".gitattributes").write_text("*.cu diff=evil filter=evil\n")
    (root / "ref.py").write_text(CANARY)
    head = repositories.commit(root, "evil", softmax_dot_cu=(example / "softmax.cu").read_text())
    return Order(repository="owner/project", number=7, base=base, head=head)


def test_a_hostile_checkout_is_reviewed_and_none_of_its_python_runs(tmp_path: Path) -> None:
    order = hostile(tmp_path / "checkout")
    canary = tmp_path / "canary"
    recording = EXAMPLES / "softmax" / "recording.jsonl.gz"
    given = environment(
        order, tmp_path / "checkout", tmp_path / "out", INPUT_REPLAY=str(recording)
    ) | {
        "CANARY": str(canary),
        "PYTHONPATH": str(tmp_path / "checkout"),
        "PYTHONSTARTUP": str(tmp_path / "checkout" / "setup.py"),
        "HOME": str(tmp_path),
        "PATH": os.defpath,
        "OPTIML_MEMORY": "off",
    }
    done = subprocess.run(
        [sys.executable, "-I", "-m", "bot", "action"],
        cwd=tmp_path / "checkout",
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not canary.exists(), canary.read_text()
    assert done.returncode == 0, done.stderr
    (result,) = bundle.read(tmp_path / "out" / "bundle", order)
    assert result.trajectory is not None
    assert result.trajectory.environment.recorded.startswith("recorded on")
    said = outputs(tmp_path / "outputs")
    assert float(said["speedup"]) > 1
    assert Path(said["report"]).is_file()
    repositories.git(tmp_path / "checkout", "apply", "--check", said["patch"])
    assert "faster" in (tmp_path / "summary.md").read_text()


def test_without_isolation_the_same_checkout_would_have_run_its_own_bot(tmp_path: Path) -> None:
    hostile(tmp_path / "checkout")
    canary = tmp_path / "canary"
    subprocess.run(
        [sys.executable, "-m", "bot", "--help"],
        cwd=tmp_path / "checkout",
        env={"CANARY": str(canary), "PATH": os.defpath},
        capture_output=True,
        check=False,
    )
    assert canary.exists(), "the bait is not taken, so the test above shows nothing"


@pytest.fixture
def order(tmp_path: Path, machine: scripted.Scripted, monkeypatch: pytest.MonkeyPatch) -> Order:
    del machine
    monkeypatch.setenv("OPTIML_MEMORY", "off")
    return repositories.changed(tmp_path / "checkout")


def test_the_runner_obeys_nothing_of_what_is_printed(
    order: Order, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = environment(order, tmp_path / "checkout", tmp_path / "out")
    assert action.main(given, print) == 0
    first, *middle, last = capsys.readouterr().out.rstrip().split("\n")
    mark = first.removeprefix("::stop-commands::")
    assert first != mark
    assert last == f"::{mark}::"
    assert len(mark) == 32
    assert any("transpose" in line for line in middle)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BaselineError("nvcc said\n::add-mask::x"), 3),
        (Fault("RunnerError", "::warning::x"), 4),
        (ZeroDivisionError("\n::error::x"), 1),
    ],
)
def test_an_error_is_told_before_commands_are_obeyed_again(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], error: Exception, status: int,
) -> None:  # fmt: skip
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(gpu_review, "carry_out", broken)
    given = environment(order, tmp_path / "checkout", tmp_path / "out")
    assert action.main(given, print) == status
    printed = capsys.readouterr().out
    mark = printed.partition("\n")[0].removeprefix("::stop-commands::")
    assert printed.endswith(f"\n::{mark}::\n")


def test_outputs_and_summary_tell_what_was_found(order: Order, tmp_path: Path) -> None:
    action.act(environment(order, tmp_path / "checkout", tmp_path / "out"))
    said = outputs(tmp_path / "outputs")
    assert set(said) == {"speedup", "patch", "report", "bundle"}
    assert bundle.read(Path(said["bundle"]), order)
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### ")
    assert "/optiml apply" not in summary


def test_nothing_faster_leaves_the_outputs_empty_and_says_so(order: Order, tmp_path: Path) -> None:
    same = orders.Order(repository=order.repository, number=7, base=order.head, head=order.head)
    action.act(environment(same, tmp_path / "checkout", tmp_path / "out"))
    assert outputs(tmp_path / "outputs")["speedup"] == ""
    assert "No CUDA kernel changed" in (tmp_path / "summary.md").read_text()


def test_a_failure_is_told_in_the_summary_the_bundle_and_the_exit(
    order: Order, tmp_path: Path
) -> None:
    given = environment(order, tmp_path / "checkout", tmp_path / "out")
    wrong = order.__class__(
        repository=order.repository, number=7, base=order.base, head=order.head, kernels=("@evil",)
    )
    with pytest.raises(ConfigError, match="does not touch @evil"):
        action.act(given | {"INPUT_ORDER": orders.to_json(wrong)})
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### Nothing was reviewed")
    assert "@evil" not in summary, "a mention would be sent to somebody"


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="optimize, publish, order"):
        action.act({"INPUT_MODE": "optimise"})


def test_a_gpu_job_imports_nothing_that_speaks_to_github() -> None:
    script = "import sys, bot.action, bot.gpu_review; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"jwt", "cryptography", "github", "fastapi", "dbos", "sqlalchemy"}
    assert not {"bot.github_session", "bot.github"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("given", "memory"),
    [
        ({}, "off"),
        ({"OPTIML_MEMORY": "on"}, "on"),
        ({"OPTIML_MEMORY_URL": "https://memory.example/x"}, "on"),
        ({"OPTIML_MEMORY_URL": "https://memory.example/x", "OPTIML_MEMORY": "off"}, "off"),
    ],
    ids=str,
)
def test_one_pull_request_teaches_the_next_nothing_unless_the_runners_owner_says_so(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], memory: str
) -> None:
    for name in ("OPTIML_MEMORY", "OPTIML_MEMORY_URL", "OPTIML_SANDBOX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = action._settings(Inputs())
    assert (found.memory, found.sandbox) == (memory, "strict")
