"""Suggestions are legal for GitHub and, applied together, give the measured source."""

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.difference import lines_of, side_by_side, unified
from bot.suggestion import Hunk, apply, hunks, suggest

LINE = st.sampled_from(["", "a", "b", "  x = 1;", "```", "````c", "// @someone", "}", "\tfoo"])
FILE = st.lists(LINE, max_size=30)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@st.composite
def edited(draw: st.DrawFn, original: list[str]) -> list[str]:
    lines = list(original)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines)))
        end = draw(st.integers(at, min(len(lines), at + 3)))
        lines[at:end] = draw(st.lists(LINE, max_size=3))
    return lines


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    base = draw(FILE)
    head = draw(edited(base))
    return base, head, draw(edited(head))


@settings(max_examples=400, deadline=None)
@given(histories())
def test_every_suggestion_is_legal_and_all_together_give_the_measured_source(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    base, head, measured = map(text, history)
    patch = "\n".join(difflib.unified_diff(lines_of(base), lines_of(head), lineterm=""))
    shown = hunks(patch)
    found = suggest("k.cu", head, measured, shown)
    if found is None:
        return
    last = 0
    for one in found:
        assert last < one.start <= one.line <= len(lines_of(head))
        assert any(hunk.first <= one.start and one.line <= hunk.last for hunk in shown)
        assert "\n".join(one.lines).count("\n") == max(0, len(one.lines) - 1)
        last = one.line
    assert apply(head, found) == measured


@settings(max_examples=200, deadline=None)
@given(histories())
def test_a_file_wholly_in_the_diff_can_always_be_suggested(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    _, head, measured = map(text, history)
    count = len(lines_of(head))
    if not count or not measured:
        return
    found = suggest("k.cu", head, measured, [Hunk(1, count)])
    assert found is not None
    assert apply(head, found) == measured


def read_block(body: str) -> list[str]:
    """Read a fenced block back as CommonMark does."""
    from markdown_it import MarkdownIt

    (token,) = [one for one in MarkdownIt().parse(body) if one.type == "fence"]
    assert token.info == "suggestion"
    return lines_of(token.content)


@given(histories())
def test_a_suggestion_block_reads_back_as_the_lines_it_holds(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    _, head, measured = map(text, history)
    for one in suggest("k.cu", head, measured, [Hunk(1, len(head) + 1)]) or ():
        if one.line <= len(lines_of(head)):
            assert read_block(one.body) == list(one.lines)


def test_a_change_outside_the_diff_is_not_suggested_at_all() -> None:
    head = text([f"line {n}" for n in range(40)])
    measured = head.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")
    assert suggest("k.cu", head, measured, [Hunk(1, 10)]) is None
    assert suggest("k.cu", head, measured, [Hunk(1, 10), Hunk(28, 35)]) is not None


def test_a_change_across_two_hunks_is_not_suggested() -> None:
    head = text([f"line {n}" for n in range(10)])
    measured = head.replace("line 4\nline 5\n", "one\n")
    assert suggest("k.cu", head, measured, [Hunk(1, 5), Hunk(6, 10)]) is None


def test_changes_close_together_become_one_suggestion_and_far_apart_two() -> None:
    head = text([f"line {n}" for n in range(60)])
    near = head.replace("line 3\n", "x\n").replace("line 6\n", "y\n")
    far = head.replace("line 3\n", "x\n").replace("line 50\n", "y\n")
    assert len(suggest("k.cu", head, near, [Hunk(1, 60)]) or ()) == 1
    assert len(suggest("k.cu", head, far, [Hunk(1, 60)]) or ()) == 2


def test_what_a_suggestion_cannot_say_exactly_is_not_suggested() -> None:
    shown = [Hunk(1, 3)]
    assert suggest("k.cu", "a\nb", "a\nc", shown) is None  # no final line feed
    assert suggest("k.cu", "a\r\nb\r\n", "a\r\nc\r\n", shown) is None
    assert suggest("k.cu", "a\nb\n", "a\n\u202ec\n", shown) is None  # reads as other code
    assert suggest("k.cu", "a\n", "a\n", shown) == ()


@settings(max_examples=200, deadline=None)
@given(histories())
def test_the_side_by_side_view_holds_every_changed_line(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    _, head, measured = history
    rows = side_by_side(text(head), text(measured), context=100)
    if head == measured:
        assert rows == []
        return
    left = ["".join(s.text for s in row.before) for row in rows if row.left is not None]
    right = ["".join(s.text for s in row.after) for row in rows if row.right is not None]
    assert left == head
    assert right == measured


@settings(max_examples=60, deadline=None)
@given(histories(), st.booleans(), st.booleans())
def test_the_unified_diff_is_one_that_git_applies(
    history: tuple[list[str], list[str], list[str]], cut_old: bool, cut_new: bool
) -> None:
    import subprocess
    import tempfile
    from pathlib import Path

    old, new = text(history[1]), text(history[2])
    old = old.removesuffix("\n") if cut_old and history[1] and history[1][-1] else old
    new = new.removesuffix("\n") if cut_new and history[2] and history[2][-1] else new
    patch = unified(old, new, "k.cu")
    if old == new:
        assert patch == ""
        return
    if not old or not new:
        return  # a whole file coming or going has other headers, and no kernel does that
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.cu").write_text(old, newline="")
        done = subprocess.run(
            ["git", "apply", "--unsafe-paths", "-"],
            cwd=folder,
            input=patch,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + patch
        assert Path(folder, "k.cu").read_text() == new
