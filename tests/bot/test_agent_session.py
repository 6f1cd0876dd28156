"""An agent's candidates are judged as a search's are: boundary, budget, one confirmation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot import agent_words, settings
from bot.agent_draft import Draft, Stopwatch, apply_blocks
from bot.agent_session import AgentSession
from bot.wiring import Workshop
from optimizer.errors import ConfigError
from optimizer.model import Launch, Status
from optimizer.trajectory import read_trajectory
from runners.workload import read_project
from tests.bot import scripted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FAST = (("const float* logits", "const float* __restrict__ logits"),)


def session(tmp_path: Path, **given: object) -> AgentSession:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES / "softmax", folder)
    ((kernel, workload),) = read_project(folder / ".optiml.yml").kernels()
    flags = {"policy": "rules", "cache": str(tmp_path / "cache"), **given}
    workshop = Workshop(settings.load(flags, environment={}), source=scripted.source())
    return AgentSession(
        kernel, workload, workshop.tools(kernel, workload), workshop.budget,
        workshop.search_settings, workshop.environment, tmp_path / "out",
    )  # fmt: skip


def test_a_better_candidate_is_kept_confirmed_and_written(tmp_path: Path) -> None:
    one = session(tmp_path)
    step = one.evaluate(Draft(blocks=FAST, title="promise no aliasing", predicted=1.1)).step
    assert step.verdict.status is Status.CORRECT
    assert one.best == step
    assert one.confirm(step.number) == ""
    files = one.write()
    assert "__restrict__" in files["source"].read_text()
    assert "promise no aliasing" in files["report"].read_text()
    kept = read_trajectory(files["trajectory"])
    assert kept.winner == step.number
    assert kept.environment.policy == "agent"
    words = agent_words.confirmed(one, step.number, "", files)
    assert "fresh process" in words


def test_a_candidate_that_does_not_compile_is_a_step_with_the_line(tmp_path: Path) -> None:
    one = session(tmp_path)
    for number in range(40):  # one in ten of the scripted machine's sources does not compile
        text = f"// {number}\n" + one.kernel.source
        tried = one.evaluate(Draft(source=text, title=f"try {number}"))
        if tried.step.verdict.status is Status.DOES_NOT_COMPILE:
            break
    else:
        pytest.fail("none failed")
    said = agent_words.tried(one, tried)
    assert "does not compile" in said
    assert 'k.cu(3): error: identifier "x" is undefined' in said
    assert f"    3 | {text.splitlines()[2]}".rstrip() in said


def test_evaluations_end_and_what_is_known_costs_nothing(tmp_path: Path) -> None:
    one = session(tmp_path, evaluations=2)
    first = one.evaluate(Draft(blocks=FAST))
    again = one.evaluate(Draft(blocks=FAST))
    assert again.again
    assert again.step == first.step
    with pytest.raises(ConfigError, match="all 2 evaluations"):
        one.evaluate(Draft(source="// other\n" + one.kernel.source))


def test_only_three_confirmations_are_granted(tmp_path: Path) -> None:
    one = session(tmp_path)
    slow = one.evaluate(Draft(source=one.kernel.source + "// SLOW\n")).step
    for _ in range(3):
        assert "not confirmed" in one.confirm(slow.number)
    with pytest.raises(ConfigError, match="3 confirmations"):
        one.confirm(slow.number)
    assert one.winner is None


@pytest.mark.parametrize(
    ("launch", "why"),
    [
        (Launch(("rows",), ("2048",)), "1 to 1024"),
        (Launch(("0",), ("128",)), "at least one block"),
        (Launch(("unknown",), ("128",)), "launch:"),
        (Launch(("__import__('os')",), ("128",)), "launch:"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(tmp_path: Path, launch: Launch, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        session(tmp_path).evaluate(Draft(source="// x\n", launch=launch))


def test_thinking_costs_no_minutes() -> None:
    now = [0.0]
    watch = Stopwatch(lambda: now[0])
    with watch:
        now[0] = 2.0
    now[0] = 100.0
    assert watch() == 2.0
    with watch:
        now[0] = 101.0
        assert watch() == 3.0


def test_blocks_apply_in_order_and_exactly_once() -> None:
    assert apply_blocks("a b c", [("a", "b2"), ("b2 b", "d")]) == "d c"
    with pytest.raises(ConfigError, match="block 2: its search text is not in the file"):
        apply_blocks("a b", [("a", "x"), ("a", "y")])
    with pytest.raises(ConfigError, match="the nearest line is `z = 2;`"):
        apply_blocks("{\n  y = 1;\n  z = 2;\n}", [("  y = 1;\n  z = 3;", "")])
    with pytest.raises(ConfigError, match="searches for nothing"):
        apply_blocks("a", [("", "x")])


def test_a_file_that_became_a_link_to_elsewhere_is_not_read(tmp_path: Path) -> None:
    one = session(tmp_path)
    one.begin()
    (tmp_path / "secret.cu").write_text("the secret")
    file = tmp_path / "project/softmax.cu"
    file.unlink()
    file.symlink_to(tmp_path / "secret.cu")
    with pytest.raises(ConfigError, match="leads out of"):
        one.evaluate(Draft())
