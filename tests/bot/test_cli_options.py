"""What a command tells its user is read as text, whoever it is from."""

from __future__ import annotations

import io

from rich.console import Console

from bot.cli_options import teller


def test_words_of_a_worker_cannot_steer_the_terminal_or_be_taken_for_markup() -> None:
    written = io.StringIO()
    shown = Console(file=written, markup=False, highlight=False, force_terminal=True, width=200)
    teller(shown)("tcp://\x1b]0;owned\x07 [/bold] \u202egpu\x9b2J")
    said = written.getvalue()
    assert "‹U+001B›]0;owned‹U+0007›" in said
    assert "[/bold] ‹U+202E›gpu‹U+009B›2J" in said
