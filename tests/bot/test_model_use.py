"""What a report and a console say of a model: cost of each step, prompt, promise and outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import console, report
from bot.comment import Door, compose
from bot.interfaces import Change, Reviewed
from bot.model_use import model_use
from bot.outcome import summarize
from optimizer.dialogue import Usage
from optimizer.model import Trajectory
from tests.bot import synthetic

DIGEST = "0123456789abcdef01234567"


def asked() -> Trajectory:
    """Return a trajectory whose first winning edit a model made."""
    plain = synthetic.trajectory(extra=0)
    steps = list(plain.steps)
    edit = steps[1].edit
    assert edit is not None
    usage = Usage(sent=1234, cached=1000, received=321, usd=0.0123, seconds=4.5, calls=2)
    edit = replace(edit, author="llm:gpt-x<b>", exchange=DIGEST, usage=usage)
    steps[1] = replace(
        steps[1], edit=edit, usd=0.0123, judge=0.75, judge_author="model:gpt-x", judge_effect=0.01
    )
    environment = replace(plain.environment, model="gpt-x at api.example")
    spent = replace(usage, calls=5, usd=0.0456)
    return replace(plain, steps=tuple(steps), environment=environment, spent=spent)


def test_each_edit_has_its_cost_its_promise_and_what_came_of_it() -> None:
    use = model_use(asked())
    assert use is not None
    (one,) = use.edits
    assert one.edit.predicted == 3.0
    assert one.achieved == pytest.approx(2.41, rel=0.01)
    assert one.usage.usd == 0.0123
    (promise,) = use.promises
    assert (promise.kind, promise.tried, promise.correct) == ("stage-transpose", 1, 1)
    assert use.cost.startswith("5 calls, 1,555 tokens, 1,000 of them known")
    assert "0.0456 USD" in use.cost


def test_the_report_shows_it_and_escapes_what_a_model_is_called() -> None:
    html = report.render(asked())
    for shown in ("What the model did", DIGEST, "0.0123", "gpt-x at api.example", "2 calls"[2:]):
        assert shown in html
    assert "llm:gpt-x&lt;b&gt;" in html
    assert "llm:gpt-x<b>" not in html
    assert "+0.010 to the reward" in html


def test_without_a_model_nothing_is_said_of_one() -> None:
    plain = synthetic.trajectory()
    plain = replace(
        plain,
        steps=tuple(
            replace(s, edit=replace(s.edit, author="rule:x")) if s.edit else s for s in plain.steps
        ),
    )
    assert model_use(plain) is None
    assert "What the model did" not in report.render(plain)
    assert console.as_json(summarize(plain), {})["model"] is None


def test_recorded_answers_are_marked_as_such() -> None:
    words = "answers of gpt-x at api.example, recorded 2026-01-31"
    found = asked()
    found = replace(found, environment=replace(found.environment, answers=words))
    assert f"Nobody was asked: {words}" in report.render(found)


def test_machines_are_told_what_it_took() -> None:
    said = console.as_json(summarize(asked()), {})["model"]
    assert isinstance(said, dict)
    assert (said["calls"], said["usd"], said["edits"]) == (5, 0.0456, 1)


def test_the_comment_says_which_kept_edit_a_model_wrote() -> None:
    found = asked()
    change = Change(found.baseline.kernel, found.workload)
    markdown = compose([Reviewed(change, found)], Door("main")).markdown or ""
    assert markdown.count("(by `gpt-x<b>`)") == 1
    edit = found.steps[2].edit
    assert edit is not None
    assert edit.author.startswith("rule:")
