"""Questions and answers kept: nothing asked twice, runs repeated, whatever the files hold."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.dialogue import Answer, Message, Schema, Speaker, Usage
from optimizer.errors import ConfigError, NotRecorded, RunnerError
from optimizer.exchange import (
    AnswerStore,
    ExchangeHeader,
    ExchangeLog,
    KeptModel,
    LoggedModel,
    Recorded,
    RecordedModel,
    key_of,
)

SAID = (Message(Speaker.USER, "question"),)
OTHER = (Message(Speaker.USER, "another"),)
HEADER = ExchangeHeader("m", "api.example", "2026-01-31", "0")


class Once:
    name = "m"

    def __init__(self) -> None:
        self.calls = 0

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        self.calls += 1
        return Answer(f"answer {self.calls}", "m-1", Usage(sent=3, received=2, usd=0.5, calls=1))


def test_the_same_question_is_answered_from_disk_at_no_cost(tmp_path: Path) -> None:
    inner, booked = Once(), list[Usage]()
    kept = KeptModel(inner, AnswerStore(tmp_path), "here", booked.append)
    first, again = kept.ask(SAID), kept.ask(SAID)
    assert inner.calls == 1
    assert first.text == again.text
    assert again.usage == Usage(kept=1)
    assert booked == [Usage(kept=1)]
    assert kept.ask(OTHER).text == "answer 2"


@pytest.mark.parametrize("what", ["limit", "schema", "server", "speaker"])
def test_a_question_is_all_that_is_sent(what: str, tmp_path: Path) -> None:
    inner = Once()
    kept = KeptModel(inner, AnswerStore(tmp_path), "here")
    kept.ask(SAID)
    if what == "limit":
        kept.ask(SAID, limit=7)
    elif what == "schema":
        kept.ask(SAID, Schema("s", {}))
    elif what == "server":
        KeptModel(inner, AnswerStore(tmp_path), "there").ask(SAID)
    else:
        kept.ask((Message(Speaker.SYSTEM, "question"),))
    assert inner.calls == 2


def test_answers_on_disk_are_the_owners_alone(tmp_path: Path) -> None:
    AnswerStore(tmp_path / "a").put("0" * 24, Answer("secret source"))
    (file,) = list(tmp_path.rglob("*.json"))
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"text": 3}', b"\xff\xfe"])
def test_a_damaged_answer_is_asked_for_again(content: bytes, tmp_path: Path) -> None:
    inner = Once()
    kept = KeptModel(inner, AnswerStore(tmp_path))
    kept.ask(SAID)
    (file,) = list(tmp_path.rglob("*.json"))
    file.write_bytes(content)
    assert kept.ask(SAID).text == "answer 2"


def test_a_folder_that_cannot_be_used_keeps_nothing_and_stops_nobody(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    inner = Once()
    kept = KeptModel(inner, AnswerStore(blocked))
    kept.ask(SAID)
    kept.ask(SAID)
    assert inner.calls == 2


def test_a_key_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    for key in ("../../etc/passwd", "0" * 23, "G" * 24, ""):
        with pytest.raises(ValueError, match="identifies no question"):
            AnswerStore(tmp_path).get(key)


def test_a_run_is_written_down_and_answers_again(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with ExchangeLog(file, HEADER) as log:
        model = LoggedModel(Once(), log)
        first = model.ask(SAID)
        model.ask(SAID)
        log.handed("0.1.1", 3, 7)
    recorded = Recorded.load(file)
    assert recorded.header.words == "answers of m at api.example, recorded 2026-01-31"
    assert recorded.schedule == {"0.1.1": 7}
    assert len(recorded.answers) == 1
    again = RecordedModel(recorded).ask(SAID)
    assert (again.text, again.usage.usd) == (first.text, 0.5)
    assert again.digest in ("", first.digest)
    with pytest.raises(NotRecorded):
        RecordedModel(recorded).ask(OTHER)


def test_a_killed_runs_torn_line_is_left_out_and_a_resumed_run_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    with ExchangeLog(file, HEADER) as log:
        LoggedModel(Once(), log).ask(SAID)
    with file.open("ab") as stream:
        stream.write(b'{"key": "torn')
    assert len(Recorded.load(file).answers) == 1
    with ExchangeLog(file, HEADER) as log:
        LoggedModel(Once(), log).ask(OTHER)
    assert len(Recorded.load(file).answers) == 2


@pytest.mark.parametrize("torn", [b"", b'{"optiml_exch', b"x" * 200_000])
def test_a_log_of_which_only_a_torn_header_is_there_begins_anew(
    tmp_path: Path, torn: bytes
) -> None:
    file = tmp_path / "exchanges.jsonl"
    file.write_bytes(torn)
    with ExchangeLog(file, HEADER) as log:
        LoggedModel(Once(), log).ask(SAID)
    assert len(Recorded.load(file).answers) == 1


def test_an_answer_is_in_the_file_before_it_is_used(tmp_path: Path) -> None:
    """A run that is killed, or its machine, loses at most the one that is being written."""
    file = tmp_path / "exchanges.jsonl"
    with ExchangeLog(file, HEADER) as log:
        model = LoggedModel(Once(), log)
        for number, question in enumerate((SAID, OTHER), 1):
            model.ask(question)
            assert len(Recorded.load(file).answers) == number, "while the log is open"


@pytest.mark.parametrize(
    "text", ["", "no", "[]", '{"optiml_exchanges": 9}', '{"model": 3}', '{"steps": "x"}']
)
def test_a_file_that_is_no_recording_says_so(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    with pytest.raises(ConfigError):
        Recorded.load(file)
    with pytest.raises(ConfigError):
        Recorded.load(tmp_path / "none.jsonl")


@given(st.binary(max_size=300))
def test_whatever_follows_a_header_nothing_but_a_config_error_is_raised(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.mktemp("x") / "x.jsonl"
    header = json.dumps({"model": "m", "optiml_exchanges": 1}).encode()
    file.write_bytes(header + b"\n" + data)
    with contextlib.suppress(ConfigError):
        assert Recorded.load(file).header.model == "m"


def test_a_log_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(RunnerError, match="cannot write"):
        ExchangeLog(tmp_path / "x" / "y.jsonl", HEADER)


def test_the_key_of_a_question_does_not_change_between_versions() -> None:
    assert key_of("m", SAID, None, 4096) == key_of("m", list(SAID), None, 4096)
    assert len(key_of("m", SAID)) == 24
