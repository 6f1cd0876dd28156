"""The HTML report is one safe, self-contained file at any size."""

import dataclasses
import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from bot import console, report, tree
from bot.outcome import summarize
from optimizer.model import Environment, Finding, Status, Step, Trajectory
from runners import joined, limit
from tests.bot import synthetic

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
VOID = {"meta", "img", "br", "link"}


class Page(HTMLParser):
    """Collects tags, attributes, ids and text, and checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def test_the_report_says_what_a_reader_looks_for() -> None:
    page = Page(report.render(synthetic.trajectory()))
    for words in (
        "transpose is 3.39× faster",
        "99 % confidence interval 3.38–3.40",
        "confirmed in a fresh process",
        "stage the tile in shared memory",
        "sectors per global store",
        "uncoalesced-access",
        "registers per thread",
        "optiml run kernels/transpose.cu --seed 7",
        "of its roof",
        "does not compile",
    ):
        assert words in re.sub(r"\s+", " ", page.text), words
    assert page.tags.count("svg") >= 5


def test_nothing_in_the_report_reaches_out_or_runs() -> None:
    html = report.render(synthetic.trajectory())
    page = Page(html)
    assert not {"script", "iframe", "link", "object", "img", "form"} & set(page.tags)
    assert all(value.startswith("#") for value in page.all("href"))
    assert not page.all("src")
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_every_link_within_the_page_leads_somewhere() -> None:
    page = Page(report.render(synthetic.trajectory(60)))
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    missing = {value[1:] for value in page.all("href")} - set(ids)
    assert missing <= {"step-0"}


def poisoned(found: Trajectory) -> Trajectory:
    def step(one: Step) -> Step:
        verdict = dataclasses.replace(one.verdict, log=HOSTILE * 3)
        edit = one.edit and dataclasses.replace(
            one.edit, title=HOSTILE, rationale=HOSTILE, author=HOSTILE
        )
        kernel = dataclasses.replace(
            one.kernel, name=HOSTILE, path=HOSTILE, source=one.kernel.source + HOSTILE
        )
        finding = Finding(HOSTILE, HOSTILE, subject=HOSTILE, advice=HOSTILE)
        return dataclasses.replace(
            one,
            verdict=verdict,
            edit=edit,
            kernel=kernel,
            findings=(finding,),
            judge_reason=HOSTILE,
        )

    environment = dataclasses.replace(
        found.environment, gpu=HOSTILE, command=HOSTILE, driver=HOSTILE, recorded=HOSTILE
    )
    return dataclasses.replace(
        found, environment=environment, steps=tuple(map(step, found.steps)), notes=(HOSTILE,)
    )


def test_hostile_text_is_shown_and_not_obeyed() -> None:
    page = Page(report.render(poisoned(synthetic.trajectory())))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "49" not in re.findall(r"\{\{7\*7\}\}|49\b", page.text)[:1]
    assert HOSTILE in page.text


def test_no_character_of_strangers_is_unseen_in_the_report() -> None:
    found = synthetic.trajectory()
    trick = "\u202e\u2066\u200b\U000e0041\x1b[2J"
    steps = tuple(
        dataclasses.replace(
            one,
            edit=dataclasses.replace(one.edit, title=trick, rationale=trick) if one.edit else None,
            kernel=dataclasses.replace(one.kernel, name=trick, source=one.kernel.source + trick),
            verdict=dataclasses.replace(one.verdict, log=trick),
        )
        for one in found.steps
    )
    page = report.render(dataclasses.replace(found, steps=steps, notes=(trick,)))
    assert "‹U+202E›‹U+2066›‹U+200B›‹U+E0041›‹U+001B›[2J" in page
    assert not (set(trick) - set("[2J")) & set(page)


@pytest.mark.parametrize("extra", [0, 2000])
def test_any_size_of_search_stays_under_two_megabytes(extra: int) -> None:
    html = report.render(synthetic.trajectory(extra))
    Page(html)
    assert len(html.encode()) < 2_000_000


def test_big_kernels_with_long_logs_stay_under_two_megabytes() -> None:
    found = synthetic.trajectory(1500)
    tail = "".join(f"// line {n} of a long file {'y' * 60}\n" for n in range(1500))

    def grown(step: Step) -> Step:
        source = step.kernel.source + tail.replace("line 7 ", f"line {step.number} ")
        verdict = dataclasses.replace(step.verdict, log="error\n" * 5000)
        return dataclasses.replace(
            step, kernel=dataclasses.replace(step.kernel, source=source), verdict=verdict
        )

    html = report.render(dataclasses.replace(found, steps=tuple(map(grown, found.steps))))
    assert len(html.encode()) < 2_000_000


def with_texts(found: Trajectory, before: str, after: str) -> Trajectory:
    """Return a trajectory of a program's text whose winner has another one."""

    def moved(step: Step) -> Step:
        source = after if step.number == found.best.number else before
        kernel = dataclasses.replace(step.kernel, source=source, path="app/main.cu")
        return dataclasses.replace(step, kernel=kernel)

    return dataclasses.replace(found, steps=tuple(map(moved, found.steps)))


def test_a_program_of_several_files_is_shown_file_by_file() -> None:
    before = joined.join('#include "k.cuh"\nint main() {}\n', {"k.cuh": "int a;\n"})
    found = with_texts(synthetic.trajectory(0), before, before.replace("int a", "long a"))
    html = report.render(found)
    page = Page(html)
    assert "<h3><code>app/k.cuh</code></h3>" in html
    assert "1 line added, 1 removed" in page.text
    change = html.partition('id="change"')[2].partition("</section>")[0]
    assert "joined by optiml" not in change


def test_code_in_titles_is_code_and_what_is_not_recorded_did_not_fail() -> None:
    found = synthetic.trajectory(0)
    edit = found.steps[1].edit
    assert edit is not None
    titled = dataclasses.replace(edit, title="unroll `k<T>` & so on")
    lost = dataclasses.replace(
        found.steps[2],
        verdict=dataclasses.replace(
            found.steps[2].verdict, status=Status.NOT_RECORDED, measurement=None
        ),
    )
    steps = (
        found.steps[0],
        dataclasses.replace(found.steps[1], edit=titled),
        lost,
        *found.steps[3:],
    )
    only = dataclasses.replace(found, steps=steps[:3], winner=None, confirmation=None)
    html = report.render(only)
    assert "unroll <code>k&lt;T&gt;</code> &amp; so on" in html
    assert 'class="dot failed"' not in html.partition('id="search"')[2].partition("<h3>")[0]


def test_a_search_that_found_nothing_says_so() -> None:
    page = Page(report.render(synthetic.trajectory(won=False)))
    assert "Nothing faster found" in page.text
    assert "faster on" not in page.text


def test_a_recorded_trajectory_says_where_it_was_recorded() -> None:
    page = Page(report.render(synthetic.trajectory(recorded="2026-01-02")))
    assert "recorded on SYNTHETIC GPU (made-up figures), 2026-01-02" in page.text


def test_what_was_not_checked_of_the_winner_is_said() -> None:
    """By report and comment, as text: a runner's words are not trusted."""
    found = synthetic.trajectory()
    assert found.confirmation is not None
    assert found.confirmation.measurement is not None
    words, other = "its launch fails from nb=65,536 on <b>", "not checked at n=7 <b>"
    notes = (other, limit.said(words))
    measured = dataclasses.replace(found.confirmation.measurement, notes=notes)
    limited = dataclasses.replace(
        found, confirmation=dataclasses.replace(found.confirmation, measurement=measured)
    )
    html = report.render(limited)
    for one in (words, other):
        assert one in Page(html).text
        assert one not in html
    assert Page(html).text.index("Its limits") < Page(html).text.index("What was not checked, and")
    assert "Its limits" not in report.render(found)
    assert "What was not checked, and" not in report.render(found)


def test_a_baseline_without_any_figures_still_gives_a_report() -> None:
    found = synthetic.trajectory(0, won=False)
    bare = dataclasses.replace(found.steps[0], verdict=synthetic.failing(Status.CORRECT))
    Page(report.render(Trajectory(found.workload, Environment(), (bare,))))


def test_counters_that_the_time_did_not_suffice_for_are_not_blamed_on_the_profiler() -> None:
    found = synthetic.trajectory()

    def bare(one: Step) -> Step:
        return dataclasses.replace(one, verdict=dataclasses.replace(one.verdict, counters={}))

    unread = dataclasses.replace(
        found, steps=(found.steps[0], *map(bare, found.steps[1:])), confirmation=None
    )
    late = Page(report.render(dataclasses.replace(unread, stopped="minutes"))).text
    assert "for the original only: the time budget ended before they were read" in late
    assert "the profiler may be missing" not in late
    none = dataclasses.replace(unread, steps=tuple(map(bare, unread.steps)))
    assert "the profiler may be missing or not permitted" in Page(report.render(none)).text


def test_the_tree_draws_the_winning_path_and_folds_the_rest() -> None:
    found = synthetic.trajectory(1000)
    rows = tree.layout(found, most=100)
    shown = [row.step.number for row in rows if row.step]
    assert {0, 1, 2, 3} <= set(shown)
    assert len(shown) == len(set(shown)) <= 100
    folded = sum(int(n) for row in rows for n in re.findall(r"\d+", row.folded))
    below = {step.number: step.parent for step in found.steps}
    hidden = {n for n, parent in below.items() if n not in shown and parent in shown}
    assert folded == len(hidden)


def test_no_escape_sequence_of_strangers_reaches_the_terminal() -> None:
    found = synthetic.trajectory()
    trick = "\x1b]0;owned\x07\x1b[2J"
    steps = tuple(
        dataclasses.replace(
            one,
            edit=dataclasses.replace(one.edit, title=trick) if one.edit else None,
            kernel=dataclasses.replace(one.kernel, name=trick),
        )
        for one in found.steps
    )
    written = io.StringIO()
    shown = Console(file=written, width=200)
    outcome = summarize(dataclasses.replace(found, steps=steps, notes=(trick,)))
    console.show(shown, outcome, ())
    text = written.getvalue()
    assert "‹U+001B›]0;owned‹U+0007›" in text
    assert "\x1b" not in text
