"""Questions and answers kept: so that nothing is asked twice, and so that a run can be repeated.

A question is identified by everything that is sent. `AnswerStore` keeps answers across runs in a
folder; `ExchangeLog` writes one run's questions and answers beside its trajectory, together with
the moment each answer was handed to the search, which `Recorded` repeats to the step.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from pydantic import TypeAdapter, ValidationError

from optimizer.dialogue import Answer, Message, Schema, Usage
from optimizer.errors import ConfigError, NotRecorded, RunnerError

if TYPE_CHECKING:
    from optimizer.interfaces import Model

FORMAT = 1
MOST_BYTES = 128 << 20
MOST_ANSWER_BYTES = 4 << 20
_DIGEST = re.compile(r"[0-9a-f]{24}")


@dataclass(frozen=True, slots=True)
class ExchangeHeader:
    """Who was asked, where and when; `library` is the CUTLASS that answers could look into."""

    model: str = ""
    server: str = ""
    date: str = ""
    optiml: str = ""
    optiml_exchanges: int = FORMAT
    library: str = ""

    @property
    def words(self) -> str:
        """Say whose answers these are: `answers of gpt-x at api.example, recorded 2026-01-31`."""
        where = f" at {self.server}" if self.server else ""
        date = self.date or "date unknown"
        return f"answers of {self.model or 'an unnamed model'}{where}, recorded {date}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and its answer. `key` identifies the question."""

    key: str
    messages: tuple[Message, ...]
    answer: Answer


@dataclass(frozen=True, slots=True)
class Handed:
    """The answer called `name` was given to the search, which knew `steps` steps, at a `turn`.

    A turn is one time that the search asked what had arrived.
    """

    name: str
    steps: int
    turn: int = 0


_HEADER: TypeAdapter[ExchangeHeader] = TypeAdapter(ExchangeHeader)
_EXCHANGE: TypeAdapter[Exchange] = TypeAdapter(Exchange)
_HANDED: TypeAdapter[Handed] = TypeAdapter(Handed)
_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


def key_of(
    model: str, messages: Sequence[Message], schema: Schema | None = None, limit: int = 0
) -> str:
    """Identify a question by all that is sent."""
    said = [[message.speaker.value, message.text] for message in messages]
    form = None if schema is None else [schema.name, dict(schema.body)]
    text = json.dumps([model, said, form, limit], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class AnswerStore:
    """Answers kept across runs, one file each; a folder that cannot be used keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Answer | None:
        """Return a kept answer, None when there is none that can be read."""
        path = self._path(key)
        try:
            if path.stat().st_size > MOST_ANSWER_BYTES:
                return None
            return _ANSWER.validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; nobody else on this machine can read it."""
        path = self._path(key)
        beside = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside.touch(mode=0o600)
            beside.write_bytes(_ANSWER.dump_json(answer))
            beside.replace(path)

    def _path(self, key: str) -> Path:
        if not _DIGEST.fullmatch(key):
            raise ValueError(f"{key!r} identifies no question")
        return self._folder / key[:2] / f"{key}.json"


class KeptModel:
    """A model that is asked only what was never asked before; fulfils `interfaces.Model`.

    `where` tells servers apart that call different models by one name. `book` hears of answers
    that were kept.
    """

    def __init__(
        self,
        inner: Model,
        store: AnswerStore,
        where: str = "",
        book: Callable[[Usage], None] = lambda _: None,
    ) -> None:
        self._inner, self._store, self._where, self._book = inner, store, where, book

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._inner.name

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Return the kept answer, at no cost, or ask and keep it."""
        key = key_of(f"{self._where} {self.name}", messages, schema, limit)
        kept = self._store.get(key)
        if kept is not None:
            used = Usage(kept=1)
            self._book(used)
            return replace(kept, usage=used)
        answer = self._inner.ask(messages, schema, limit)
        self._store.put(key, answer)
        return answer


class ExchangeLog:
    """The questions and answers of one run, as JSON lines; a context manager.

    An answer is on the disk before it is used: whatever ends the run, at most the one that is being
    written is lost. Raise `RunnerError` when the file cannot be written.
    """

    def __init__(self, path: Path, header: ExchangeHeader) -> None:
        self._path, self._lock = path, threading.Lock()
        self._known: set[str] = set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Appended to: a resumed run goes on with the file.
            self._file: IO[bytes] = path.open("a+b")
            size = _drop_torn(self._file)
        except OSError as error:
            raise RunnerError(f"cannot write {path}: {error.strerror}") from error
        if not size:
            self._write(_HEADER.dump_json(header))

    def keep(self, exchange: Exchange) -> None:
        """Write an exchange down, once."""
        with self._lock:
            if exchange.key in self._known:
                return
            self._known.add(exchange.key)
        self._write(_EXCHANGE.dump_json(exchange), synced=True)

    def handed(self, name: str, steps: int, turn: int = 0) -> None:
        """Write down when an answer was given to the search."""
        self._write(_HANDED.dump_json(Handed(name, steps, turn)))

    def close(self) -> None:
        """Finish the file; what comes later is dropped."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: bytes, *, synced: bool = False) -> None:
        try:
            with self._lock:
                if not self._file.closed:
                    self._file.write(line + b"\n")
                    self._file.flush()
                    if synced:  # it was waited and paid for: a machine that goes away costs none
                        os.fsync(self._file.fileno())
        except OSError as error:
            remedy = "free some disk space"
            raise RunnerError(f"cannot write {self._path}: {error.strerror}", remedy) from error


class LoggedModel:
    """A model whose exchanges are written down; its answers carry the exchange's digest."""

    def __init__(self, inner: Model, log: ExchangeLog | None = None) -> None:
        self._inner, self._log = inner, log

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._inner.name

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Ask, and write question and answer down."""
        key = key_of(self.name, messages, schema, limit)
        answer = replace(self._inner.ask(messages, schema, limit), digest=key)
        if self._log is not None:
            self._log.keep(Exchange(key, tuple(messages), answer))
        return answer


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run's exchanges read again: answers by question, and the turn at which each was handed."""

    header: ExchangeHeader
    answers: Mapping[str, Answer]
    schedule: Mapping[str, int]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read an `exchanges.jsonl`. Raise `ConfigError` when it is none."""
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ConfigError(f"{path} is over {MOST_BYTES >> 20} MiB")
            first, *rest = path.read_bytes().splitlines() or [b""]
            header = _HEADER.validate_json(first, strict=True)
            if (_object(first) or {}).get("optiml_exchanges") != FORMAT:
                raise ConfigError(f"{path} has another format")
            answers, schedule = dict[str, Answer](), dict[str, int]()
            for line in rest:
                item = _object(line)
                if item is None:
                    continue  # torn when a run was killed
                if "steps" in item:
                    handed = _HANDED.validate_python(item)
                    schedule.setdefault(handed.name, handed.turn)
                else:
                    exchange = _EXCHANGE.validate_json(line)
                    answers.setdefault(exchange.key, exchange.answer)
        except OSError as error:
            raise ConfigError(
                f"{path}: {error.strerror}", "give a run's exchanges.jsonl"
            ) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(
                f"{path} holds no recorded answers: {type(error).__name__}",
                "give a run's exchanges.jsonl",
            ) from error
        return cls(header, answers, schedule)


class RecordedModel:
    """Answers as recorded, for nothing; what was not asked then is `NotRecorded` now."""

    def __init__(self, recorded: Recorded, book: Callable[[Usage], None] = lambda _: None) -> None:
        self._recorded, self._book = recorded, book

    @property
    def name(self) -> str:
        """Return the name of the model that answered."""
        return self._recorded.header.model

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Return the recorded answer with what it took then. Raise `NotRecorded` without one."""
        found = self._recorded.answers.get(key_of(self.name, messages, schema, limit))
        if found is None:
            raise NotRecorded("the recording holds no answer to this question")
        self._book(found.usage)
        return found


def _drop_torn(file: IO[bytes]) -> int:
    """Cut off a last line that a killed run left unfinished, and return the size in bytes.

    What is appended would else be a part of that line, and lost with it.
    """
    end = size = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - (1 << 16))
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end != size:
        file.truncate(end)
    return end


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except ValueError:
        return None
    return item if isinstance(item, dict) else None
