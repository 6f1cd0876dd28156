"""Every text the bot writes on GitHub, kept as it is: a change of words shows up in review.

`python -m tests.bot.test_snapshots` writes them anew into tests/data/comments.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bot import answers, checks, commands, commit_words, ending
from bot import github_errors as errors
from bot.comment import LIMIT, Door, compose, identity
from bot.interfaces import Change, Report, Reviewed
from bot.job import Job
from bot.ledger import Allowance
from bot.markdown import fenced, length
from bot.orders import BundleError
from bot.outcome import summarize
from bot.permissions import POSTING, advice
from bot.suggestion import Hunk
from bot.terms import Terms
from optimizer.errors import BaselineError, ConfigError, RunnerError
from optimizer.model import Launch, Trajectory
from tests.bot import house, ordered, synthetic
from tests.bot.world import HOST, NAME, PATH, World, pull_of, report_for
from tests.fake_github.state import Pull

FOLDER = Path(__file__).resolve().parents[1] / "data" / "comments"
EVIL = "@octocat </details><script>x</script> ``` [skip ci] fixes #1 | \u202e https://evil.example"


def result(found: Trajectory, *, shown: bool = True, slower: bool = False) -> Reviewed:
    change = Change(found.baseline.kernel, found.workload, hunks=(Hunk(1, 11),) if shown else ())
    against = synthetic.verdict(0.8, profiled=False) if slower else None
    return Reviewed(change, found, against)


def hostile() -> Trajectory:
    """A search in which every text that comes from outside tries to break out."""
    found = synthetic.trajectory(3)
    steps = []
    for step in found.steps:
        kernel = dataclasses.replace(step.kernel, name=EVIL)
        edit = step.edit and dataclasses.replace(step.edit, title=EVIL, rationale=EVIL, author=EVIL)
        verdict = dataclasses.replace(step.verdict, log=EVIL)
        steps.append(dataclasses.replace(step, kernel=kernel, edit=edit, verdict=verdict))
    environment = dataclasses.replace(
        found.environment, gpu=EVIL, driver=EVIL, toolkit=EVIL, command=EVIL, commit=EVIL
    )
    return dataclasses.replace(
        found, steps=tuple(steps), environment=environment, notes=(EVIL,), stopped=EVIL
    )


def launched() -> Trajectory:
    found = synthetic.trajectory(3)
    before = Launch(("(n+31)/32", "(n+31)/32"), ("32", "32"), "0", tunable=True)
    after = dataclasses.replace(before, block=("32", "8"))
    steps = tuple(
        dataclasses.replace(
            step, kernel=dataclasses.replace(step.kernel, launch=after if number == 3 else before)
        )
        for number, step in enumerate(found.steps)
    )
    return dataclasses.replace(found, steps=steps)


HERE = Door()


def composed(*results: Reviewed, door: Door = HERE) -> str:
    return compose(results, door).markdown or ""


def ended(error: Exception) -> str:
    end = ending.failed(error)
    closing = ending.closing(end, (), "https://optiml.example/jobs/1")
    return f"{closing.conclusion}\n\n{fenced(closing.title)}\n\n{closing.summary}\n\n---\n\n{end.say}\n"


def closed(*results: Reviewed) -> str:
    found = checks.closing_of(results, url="https://github.example/c/1")
    buttons = "".join(
        f"- [{one.label}] {one.description} ({one.identifier})\n" for one in found.actions
    )
    title = fenced(found.title)  # which GitHub shows as it is
    return f"{found.conclusion}\n\n{title}\n\n{found.summary}\n\n{fenced(buttons)}\n"


def committed(*, squash: bool) -> str:
    outcome = summarize(synthetic.trajectory(3))
    trailer = "Co-authored-by: dev <7+dev@users.noreply.github.com>"
    credit = commit_words.Credit(identity(outcome.trajectory), "a" * 40, trailer)
    if squash:
        return commit_words.squashed(outcome, outcome.kept, credit)
    texts = [commit_words.message(outcome, outcome.kept, n, credit) for n in range(3)]
    return "\n=====\n".join(texts)


def stacked() -> str:
    outcome = summarize(synthetic.trajectory(3))
    title, body = commit_words.stacked_words(outcome, 7, f"protected by {EVIL}")
    return f"{title}\n\n{body}"


PLAIN: Mapping[str, Callable[[], str]] = {
    "win-suggested": lambda: composed(result(synthetic.trajectory(20))),
    "win-folded": lambda: composed(result(synthetic.trajectory(20), shown=False)),
    "win-recorded": lambda: composed(result(synthetic.trajectory(5, recorded="2026-01-02"))),
    "win-without-commands": lambda: composed(
        result(synthetic.trajectory(5)),
        door=Door("main", commands=False, apply="The patch is in this run's files."),
    ),
    "win-with-launch": lambda: composed(result(launched())),
    "win-after-regression": lambda: composed(result(synthetic.trajectory(5), slower=True)),
    "regression": lambda: composed(result(synthetic.trajectory(5, won=False), slower=True)),
    "several": lambda: composed(
        result(synthetic.trajectory(5)), result(synthetic.trajectory(5, won=False), slower=True)
    ),
    "hostile": lambda: composed(result(hostile(), shown=False)),
    "check-win": lambda: closed(result(synthetic.trajectory(5))),
    "check-several": lambda: closed(*[result(synthetic.trajectory(5))] * 5),
    "check-regression": lambda: closed(result(synthetic.trajectory(5, won=False), slower=True)),
    "check-nothing": lambda: closed(result(synthetic.trajectory(5, won=False))),
    "check-no-kernel": closed,
    "check-hostile": lambda: closed(result(hostile())),
    "commits": lambda: committed(squash=False),
    "commit-squashed": lambda: committed(squash=True),
    "stacked": stacked,
    "summary-instead": lambda: advice(errors.Denied(f"no: {EVIL}", status=403), POSTING),
    "end-config": lambda: ended(ConfigError(f".optiml.yml:3: {EVIL}", "write kernels")),
    "end-baseline": lambda: ended(BaselineError("the unedited kernel crashes", "run it by hand")),
    "end-runner": lambda: ended(RunnerError("no GPU runner took the job in 60 minutes")),
    "end-bundle": lambda: ended(BundleError("the bundle answers another order")),
    "end-denied": lambda: ended(errors.Denied("GitHub refused", "give it `checks: write`")),
    "help": answers.usage,
    "mistake": lambda: answers.mistake(_mistake("/optiml optimise")),
    "mistake-hostile": lambda: answers.mistake(_mistake(f"/optiml {EVIL}")),
}


def _mistake(text: str) -> commands.Mistake:
    found = commands.parse(text)
    assert isinstance(found, commands.Mistake)
    return found


def posted(world: World) -> Iterator[tuple[str, str]]:
    """Yield what stands on pull requests of the fake after the bot was there."""
    hub = world.hub()

    def publish(one: Pull, *, won: bool = True) -> None:
        hub.forge(NAME, one.number).publish(pull_of(one), report_for(hub, one, extra=3, won=won))

    one = world.change()
    publish(one)
    bodies = [entry.body for entry in world.fake.state.review_comments.values()]
    yield "suggestion", "\n=====\n".join(bodies)
    yield "review", world.fake.state.reviews[0]["body"]
    moved = "// one more line\n" + synthetic.NAIVE
    world.fake.commit(world.repository, "faster", {PATH: moved + HOST})
    publish(one, won=False)
    yield "nothing-any-more", world.fake.comments(one)[0].body
    yield "superseded", next(iter(world.fake.state.review_comments.values())).body
    new = world.change(
        "new", {"a/scale.cu": "__global__ void scale(float* a, int n) { a[threadIdx.x] *= n; }\n"}
    )
    (change,) = hub.forge(NAME, new.number).changed_kernels(pull_of(new))
    said = Report(None, (), (Reviewed(change, problem="none"),))
    hub.forge(NAME, new.number).publish(pull_of(new), said)
    yield "setup", world.fake.comments(new)[0].body


def answered(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is answered to commands, and how check runs end, one conversation a text."""
    ident = ordered.trajectory().best.kernel.digest[:8]
    with conversation(folder / "commands") as (bot, say):
        bot.world.set_pull(house.REPOSITORY, house.pull_state())
        say("status")
        say("optimize", "stranger")
        bot.pull()
        bot.settled()
        for words in ("status", f"explain {ident}", "explain 00000000", "optimize other.cu"):
            say(words)
        say(f"apply {ident}", "triager")
        for words in (f"apply {ident}", f"dismiss {ident}", "optimize", "cancel"):
            say(words)
        say(f"approve {'a' * 40}")
        bot.pull("closed")
        bot.settled()
        say(f"apply {ident}")
        say("optimize")
        bot.house.entrance.records.ledger.pause("*", "an incident")
        say("optimize")
        yield "answers", told(bot)
    with conversation(folder / "fork") as (bot, say):
        bot.pull(fork=True)
        bot.settled()
        say(f"approve {ordered.HEAD}", "triager")
        say(f"approve {'b' * 40}")
        say(f"approve {ordered.HEAD}")
        yield "answers-fork", told(bot)
    terms = Terms(poll_seconds=0.05, minutes=10.0, allowance=Allowance(pull=15.0))
    with conversation(folder / "limits", terms=terms, seconds=3600.0) as (bot, say):
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        say("optimize")  # the first is running still, and has ten of the fifteen minutes
        bot.pull("labeled", labels=("optiml:skip",))
        bot.settled()
        say("optimize")
        bot.settled()
        yield "answers-limits", told(bot)


@contextlib.contextmanager
def conversation(
    folder: Path, terms: Terms | None = None, seconds: float = 0.0
) -> Iterator[tuple[house.Bot, Callable[..., None]]]:
    folder.mkdir(parents=True)
    with house.bot(folder, terms=terms, seconds=seconds) as bot:

        def say(words: str, who: str = "maintainer") -> None:
            before = len(bot.replies())
            bot.comment(f"/optiml {words}", who)
            if seconds:  # a review runs all the time
                house.until(lambda: len(bot.replies()) > before)
                house.until(lambda: len(active(bot)) <= 1)
            else:
                bot.settled()
            new = bot.replies()[before:]
            spoken[bot].append(f"> {who}: /optiml {words}\n\n" + "\n\n---\n\n".join(new))

        spoken[bot] = []
        yield bot, say


def active(bot: house.Bot) -> list[Job]:
    return [job for job in bot.jobs() if job.state in {"waiting", "running"}]


spoken: dict[house.Bot, list[str]] = {}


def told(bot: house.Bot) -> str:
    """Return a conversation and all check runs of it."""
    closings = sorted(
        f"{one['conclusion']}: {one['title']}\n\n{one['summary']}" for one in bot.checks()
    )
    return "\n\n=====\n\n".join([*spoken.pop(bot), *closings])


def steady(text: str) -> str:
    """Take out what differs from run to run: addresses, ids, times, hashes of commits."""
    text = re.sub(r"\b[0-9a-f]{32}\b", "0" * 32, text)
    text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", "2026-01-02 03:04 UTC", text)
    text = re.sub(r"http://127\.0\.0\.1:\d+", "https://github.example", text)
    text = re.sub(r"#issuecomment-\d+", "#issuecomment-1", text)
    text = re.sub(r"`[0-9a-f]{12}`", "`000000000000`", text)
    return text.rstrip("\n") + "\n"


@pytest.mark.parametrize("name", PLAIN)
def test_a_text_is_as_it_was(name: str) -> None:
    assert steady(PLAIN[name]()) == (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_what_is_posted_is_as_it_was(world: World) -> None:
    for name, text in posted(world):
        assert steady(text) == (FOLDER / f"{name}.md").read_text(encoding="utf-8"), name


@pytest.fixture(scope="module")
def answers_given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return dict(answered(tmp_path_factory.mktemp("answered")))


def test_what_is_answered_is_as_it_was(answers_given: dict[str, str]) -> None:
    for name, text in answers_given.items():
        assert steady(text) == (FOLDER / f"{name}.md").read_text(encoding="utf-8"), name


def test_every_text_is_kept_and_none_is_left_over(
    world: World, answers_given: dict[str, str]
) -> None:
    known = {*PLAIN, *answers_given, *(name for name, _ in posted(world))}
    assert {file.stem for file in FOLDER.glob("*.md")} == known


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*hostile*.md")), ids=lambda file: file.stem)
def test_hostile_texts_stay_texts(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert length(text) <= LIMIT
    assert "\u202e" not in text
    rendered = MarkdownIt("gfm-like", {"html": True}).disable("linkify").render(text)
    outside = re.sub(r"<(pre|code)\b.*?</\1>", "", rendered, flags=re.DOTALL)
    assert "<script" not in outside
    assert not re.search(r"(?<![\w`])@\w", outside)
    assert 'href="https://evil' not in rendered
    assert outside.count("<details") == outside.count("</details>")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        texts = {name: make() for name, make in PLAIN.items()}
        texts |= {**dict(posted(world)), **dict(answered(Path(folder) / "answered"))}
        world.close()
    for name, text in texts.items():
        (FOLDER / f"{name}.md").write_text(steady(text), encoding="utf-8")
    sys.stdout.write(f"{len(texts)} texts in {FOLDER}\n")


if __name__ == "__main__":
    main()
