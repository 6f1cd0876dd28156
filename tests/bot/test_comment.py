"""The comment says what contract and GitHub ask for, whatever text it is given."""

import dataclasses
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot import diagram
from bot.comment import LIMIT, MARKER, Door, compose
from bot.commit_words import neutral
from bot.interfaces import Change, Report, Reviewed
from bot.markdown import code, fenced, length, phrase, prose, table, visible
from bot.suggestion import Hunk, apply, suggest
from optimizer.model import Edit, Status, Trajectory, Verdict, Workload
from runners import limit
from tests.bot import synthetic

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def reviewed(
    found: Trajectory, hunks: tuple[Hunk, ...] = (), against: Verdict | None = None
) -> Reviewed:
    change = Change(found.baseline.kernel, found.workload, hunks=hunks)
    return Reviewed(change, found, against)


def text_of(report: Report) -> str:
    assert report.markdown is not None
    return report.markdown


def test_the_six_points_of_the_contract_are_there_in_order() -> None:
    text = text_of(compose([reviewed(synthetic.trajectory())]))
    wanted = [
        MARKER,
        "`transpose`: 3.39× faster (99 % CI 3.38–3.40) on SYNTHETIC GPU",
        "| `n=4096` | 180 µs | 53.1 µs | **3.39×** | 3.38–3.40 |",
        "Largest error 1e-07 of 1e-05 allowed",
        "registers 18 → 22",
        "sectors per global store: 32.0 → 4.00 (8.0× less)",
        "| 1 | stage the tile in shared memory | 2.41× | 3.00× | 2.41× |",
        "```mermaid",
        "`optiml run kernels/transpose.cu --seed 7`",
        "checked: input families",
        "```diff",
        "/optiml apply",
    ]
    places = [text.index(part) for part in wanted]
    assert places == sorted(places)


def test_what_was_not_checked_of_the_winner_is_noted() -> None:
    """A runner's words: one line of text each, whatever they are, and no more than fit."""
    found = synthetic.trajectory()
    assert found.confirmation is not None
    assert found.confirmation.measurement is not None
    words = ("fails from nb=65,536 on\n# <b>", "x" * 4000)
    measured = dataclasses.replace(found.confirmation.measurement, notes=words * 20)
    confirmation = dataclasses.replace(found.confirmation, measurement=measured)
    text = text_of(compose([reviewed(dataclasses.replace(found, confirmation=confirmation))]))
    notes = [line for line in text.splitlines() if line.startswith("- note: ")]
    assert notes[0] == r"- note: fails from nb=65,536 on \# \<b\>"
    assert len(notes) == 8
    assert max(map(len, notes)) < 320


def limited(*notes: str) -> Trajectory:
    found = synthetic.trajectory()
    assert found.confirmation is not None
    assert found.confirmation.measurement is not None
    measured = dataclasses.replace(found.confirmation.measurement, notes=notes)
    confirmed = dataclasses.replace(found.confirmation, measurement=measured)
    return dataclasses.replace(found, confirmation=confirmed)


def test_a_limit_of_the_winner_stands_below_its_figures_in_whatever_room_there_is() -> None:
    """Who takes the change has to know of it: it is not among the notes, which are folded away."""
    words = "x must begin at a multiple of 16 bytes; <b>"
    found = limited("n=7: timed again", *(limit.said(f"{words} {n}") for n in range(5)))
    text = text_of(compose([reviewed(found)]))
    shown = [line for line in text.splitlines() if "multiple of 16" in line]
    assert shown == [rf"- x must begin at a multiple of 16 bytes; \<b\> {n}" for n in range(3)]
    assert "- 2 more in the report" in text
    places = [text.index(part) for part in ("**3.39×**", "**Its limits**", "Largest error")]
    assert places == sorted(places)
    assert text.index("<details>") > places[1]
    assert "- note: n=7: timed again" in text
    every = text_of(compose([reviewed(found)] * 60))
    assert every.count("**Its limits**") == every.count("### `transpose`") > 1
    assert "**Its limits**" not in text_of(compose([reviewed(synthetic.trajectory())]))


def test_nothing_found_and_nothing_slower_gives_no_comment() -> None:
    assert compose([reviewed(synthetic.trajectory(won=False))]).markdown is None
    assert compose([]).markdown is None


def test_lines_inside_the_diff_become_suggestions_and_the_diff_is_left_out() -> None:
    found = synthetic.trajectory()
    report = compose([reviewed(found, (Hunk(1, 11),))])
    assert report.suggestions
    assert apply(found.baseline.kernel.source, report.suggestions) == found.best.kernel.source
    assert "```diff" not in text_of(report)


def test_a_recorded_result_says_so_under_the_headline() -> None:
    text = text_of(compose([reviewed(synthetic.trajectory(recorded="2026-01-02"))]))
    assert "recorded on SYNTHETIC GPU (made-up figures), 2026-01-02" in text


def test_a_change_that_makes_the_kernel_slower_is_reported_with_its_interval() -> None:
    slow = Verdict(Status.CORRECT, synthetic.measurement(0.8))
    lost = synthetic.trajectory(won=False)
    text = text_of(compose([reviewed(lost, against=slow)], Door(base="main")))
    assert "⚠️ `transpose`: 1.25× slower than `main` (99 % CI 1.2" in text
    same = Verdict(Status.CORRECT, synthetic.measurement(0.999))
    assert compose([reviewed(lost, against=same)]).markdown is None


def test_a_kernel_both_slower_and_improvable_says_what_remains() -> None:
    slow = Verdict(Status.CORRECT, synthetic.measurement(0.8))
    text = text_of(compose([reviewed(synthetic.trajectory(), against=slow)]))
    assert "With the change below it would be 2.71× faster than `main`." in text


def test_a_local_door_offers_no_slash_command() -> None:
    door = Door(commands=False, apply="Take it with `git apply`.")
    text = text_of(compose([reviewed(synthetic.trajectory())], door))
    assert "/optiml" not in text
    assert "git apply" in text


@pytest.mark.parametrize("extra", [300, 2000])
def test_a_long_search_renders_fast_and_fits(extra: int) -> None:
    found = synthetic.trajectory(extra)
    compose([reviewed(found)])
    began = time.thread_time()
    text = text_of(compose([reviewed(found)]))
    assert time.thread_time() - began < (0.1 if extra == 300 else 0.5)
    assert length(text) <= LIMIT


def test_a_comment_too_long_gives_up_tree_and_diff_before_headlines() -> None:
    found = synthetic.trajectory()
    huge = found.best.kernel.source + "".join(f"// {n} {'x' * 90}\n" for n in range(3000))
    last = found.steps[3]
    edit = dataclasses.replace(last.edit or Edit("", "", ""), source=huge)
    kernel = dataclasses.replace(last.kernel, source=huge)
    steps = (
        *found.steps[:3],
        dataclasses.replace(last, edit=edit, kernel=kernel),
        *found.steps[4:],
    )
    big = dataclasses.replace(found, steps=steps)
    one = text_of(compose([reviewed(big)]))
    assert length(one) <= LIMIT
    assert "more lines in the report" in one
    many = text_of(compose([reviewed(big)] * 60))
    assert length(many) <= LIMIT
    assert many.count("3.39× faster") >= 10


HOSTILE = st.text(
    st.sampled_from("@#`*_[]()<>|&\\\n\r\t\"'{}!~$-+=.:/1aé\u202e\x00;%—x"), max_size=40
) | st.sampled_from(
    [
        "@everyone",
        "fixes #12",
        "org/repo#1",
        "GH-7",
        "https://evil.example/x",
        "</details><script>alert(1)</script>",
        "```\n# heading\n```",
        "![x](https://evil.example/p.png)",
        "<!-- -->",
        "end",
        "1. list",
        "- item",
        "| cell |",
        "%%{init: {}}%%",
        '"];click s0 "javascript:alert(1)"',
    ]
)


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_a_phrase_in_prose_stays_one_paragraph_of_plain_text(text: str) -> None:
    html = MARKDOWN.render(prose(text)).strip()
    assert re.fullmatch(r"(<p>[^<]*</p>)?", html, re.DOTALL), html
    shown = re.sub("<[^>]+>", "", html)
    assert not re.search(r"@\w|#\d|GH-\d|https?:|www\.", shown, re.IGNORECASE)


@settings(max_examples=300, deadline=None)
@given(st.lists(HOSTILE, max_size=4).map("`".join))
def test_in_a_phrase_only_what_stands_between_backticks_is_code(text: str) -> None:
    html = MARKDOWN.render(phrase(text)).strip()
    assert re.fullmatch(r"(<p>([^<]|<code>[^<]*</code>)*</p>)?", html, re.DOTALL), html
    shown = re.sub("<code>.*?</code>|<[^>]+>", "·", html)
    assert not re.search(r"@\w|#\d|GH-\d|https?:|www\.", shown, re.IGNORECASE)


def test_an_edit_is_told_with_code_as_code() -> None:
    told = phrase("keep 2 partial results of `maxval` in `softmax` | <b>, `a|b`")
    assert told == ("keep 2 partial results of `maxval` in `softmax` \\| \\<b\\>, `a|b`")
    assert MARKDOWN.render(table(["x"], [[told]])).count("<code>") == 3
    assert phrase("an odd ` stands") == "an odd \\` stands"
    assert phrase("``") == "\\`\\`"


UNSEEN = (
    "\u00ad\u061c\u200b\u200d\u200e\u2028\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041\x1b\x85"
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_a_character_nobody_sees_is_in_no_phrase_and_shown_where_code_is(unseen: str) -> None:
    assert prose(f"a{unseen}b") == "ab"
    assert code(f"a{unseen}b") == "`ab`"
    assert neutral(f"a{unseen}b") == "ab"
    found = visible(f"a{unseen}b\r\n")
    assert found == f"a‹U+{ord(unseen):04X}›b\r\n"
    assert suggest("k.cu", "a\n", f"a {unseen}\n", [Hunk(1, 1)]) is None


def test_code_that_reads_as_other_code_is_shown_as_what_it_is() -> None:
    found = synthetic.trajectory(3)
    trick = "// \u202e} if (isAdmin) {\u2066\u200b\n"
    steps = [
        dataclasses.replace(
            step, kernel=dataclasses.replace(step.kernel, source=trick + step.kernel.source)
        )
        for step in found.steps
    ]
    steps[0] = found.steps[0]
    text = text_of(compose([reviewed(dataclasses.replace(found, steps=tuple(steps)))]))
    assert "‹U+202E›} if (isAdmin) {‹U+2066›‹U+200B›" in text
    assert not re.search("[\u202e\u2066]", text)


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_a_phrase_as_code_stays_code(text: str) -> None:
    shown = code(text)
    html = MARKDOWN.render(f"a {shown} b").strip()
    assert re.fullmatch(r"<p>a (<code>[^<]*</code>)? b</p>", html), html


@settings(max_examples=200, deadline=None)
@given(st.lists(HOSTILE, min_size=2, max_size=2))
def test_cells_never_break_a_table(cells: list[str]) -> None:
    shown = [code(cells[0]), prose(cells[1]), phrase("`".join(cells)), phrase(cells[0])]
    html = MARKDOWN.render(table(list("abcd"), [shown]))
    assert html.count("<tr>") == 2
    assert html.count("<td>") == 4


@settings(max_examples=200, deadline=None)
@given(st.lists(HOSTILE, max_size=6))
def test_a_fence_holds_any_text(lines: list[str]) -> None:
    body = "\n".join(lines).replace("\r", "").replace("\x00", "")
    (token,) = MARKDOWN.parse(fenced(body, "diff"))
    assert token.type == "fence"
    assert token.content.rstrip("\n") == body.rstrip("\n")


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_a_label_holds_nothing_mermaid_could_read(text: str) -> None:
    shown = diagram.label(text)
    assert re.fullmatch(r"(?:[\w .,:+\-/=×·→÷]|#\d+;)*", shown, re.ASCII), shown
    assert "\n" not in shown


@settings(max_examples=40, deadline=None)
@given(HOSTILE, HOSTILE)
def test_hostile_titles_and_names_add_no_element_to_the_comment(title: str, name: str) -> None:
    found = synthetic.trajectory(3)
    steps = [
        dataclasses.replace(
            step,
            kernel=dataclasses.replace(step.kernel, name=name or "k"),
            edit=dataclasses.replace(step.edit, title=title, rationale=title)
            if step.edit
            else None,
        )
        for step in found.steps
    ]
    workload: Workload = found.workload
    text = text_of(
        compose(
            [reviewed(Trajectory(workload, found.environment, tuple(steps), 3, found.confirmation))]
        )
    )
    tokens = MARKDOWN.parse(text)
    html = [token.content for token in tokens if token.type == "html_block"]
    inline = [child for token in tokens for child in token.children or ()]
    html += [child.content for child in inline if child.type == "html_inline"]
    tags = re.findall(r"</?\w+", " ".join(html))
    assert set(tags) <= {"<details", "</details", "<summary", "</summary", "<sub", "</sub"}
    assert tags.count("<details") == tags.count("</details") == 3
    assert not [child for child in inline if child.type in {"link_open", "image"}]


def test_what_a_recording_has_not_got_is_not_drawn() -> None:
    found = synthetic.trajectory(extra=0)
    last = found.steps[-1]
    lacking = [
        dataclasses.replace(
            last, number=last.number + n, parent=0, verdict=Verdict(Status.NOT_RECORDED)
        )
        for n in (1, 2)
    ]
    text = diagram.render(dataclasses.replace(found, steps=(*found.steps, *lacking)))
    assert text == diagram.render(found)


def test_the_diagram_keeps_the_winning_path_and_counts_what_it_leaves_out() -> None:
    found = synthetic.trajectory(200)
    text = diagram.render(found, limit=10)
    nodes = set(re.findall(r"^  (s\d+)\[", text, re.MULTILINE))
    assert {"s0", "s1", "s2", "s3"} <= nodes
    assert len(nodes) == 10
    left_out = sum(int(number) for number in re.findall(r'\(\["(\d+) more"\]\)', text))
    assert left_out + len(nodes) == len(found.steps)
    edges = re.findall(r"^  s(\d+) (?:==>|-->) s(\d+)$", text, re.MULTILINE)
    assert len(edges) == len(nodes) - 1
