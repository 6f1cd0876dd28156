"""A language model behind any OpenAI-compatible server: chat completions, no tools, no streaming.

What a server cannot do is found out by its refusal and not asked of it again: answers held to a
JSON schema, any JSON mode, the newer name of the limit on the answer's length.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import openai

from bot.loopback import is_loopback
from optimizer.dialogue import Answer, Message, Schema, Usage
from optimizer.errors import ConfigError, ModelError, PromptTooLong

OFFICIAL = "https://api.openai.com/v1"
# Backoff: doubled each time, with full jitter so that siblings do not come back together
# (Brooker, Exponential Backoff And Jitter, 2015).
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
# A server that asks for more patience than this is as good as down for a search of minutes.
LONGEST_ASKED_WAIT = 60.0
RETRIES = 4
CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 2.0
LONGEST_ANSWER = 1 << 20
LONGEST_REASON = 300
# How servers say that the prompt is too long: OpenAI's code, then what vLLM, llama.cpp, TGI,
# Ollama and the large vendors' compatible endpoints write.
_TOO_LONG = re.compile(
    r"context_length_exceeded|context[ _](?:length|size|window)|maximum context|too many tokens"
    r"|prompt is too long|exceed_context_size|input (?:length|is too long)|reduce the length",
    re.IGNORECASE,
)
_NO_SCHEMA = re.compile(
    r"response_format|json_schema|json_object|structured|guided|grammar", re.IGNORECASE
)
_NO_LIMIT_NAME = re.compile(r"max_completion_tokens|max_tokens", re.IGNORECASE)
# Keys of the known vendors; our own is replaced wherever it occurs.
_SECRET = re.compile(r"\b(?:sk|pk|gsk|key|xai|AIza)[-_][\w*.-]{6,}|Bearer\s+\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked. `key` is shown nowhere; `seconds` bound one attempt."""

    model: str
    url: str = ""
    key: str = ""
    seconds: float = 180.0
    retries: int = RETRIES

    def __repr__(self) -> str:
        """Show everything but the key."""
        return f"Endpoint({self.model!r}, {self.host!r})"

    @property
    def host(self) -> str:
        """Return the server's name, for logs; without what a URL may hold of passwords."""
        return urlsplit(self.url or OFFICIAL).hostname or ""

    @property
    def is_local(self) -> bool:
        """Tell whether the server is this machine's, so that nothing is paid for."""
        return is_loopback(self.host)


class ServerModel:
    """Asks a server; fulfils `optimizer.interfaces.Model`. A context manager: leaving it cancels.

    Every attempt is bounded by `endpoint.seconds`; 408, 409, 429, 5xx, time-outs and dropped
    connections are tried again. Safe to use from several threads. `close` lets calls under way
    fail at once. Raise `ConfigError` for an address that is none.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        draw: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        parts = urlsplit(endpoint.url or OFFICIAL)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                "the address of the model's server is none", "write it as https://HOST/v1"
            )
        self.endpoint = endpoint
        self._draw, self._clock = draw, clock
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._formats = ["json_schema", "json_object", ""]
        official = parts.hostname.endswith("openai.com")
        names = ["max_completion_tokens", "max_tokens"]
        self._limits = names if official else names[::-1]
        # Requests live in an event loop: only there one under way can be given up at once.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pending: set[futures.Future[Any]] = set()
        # The SDK looks for more keys in the environment than ours; only ours may be used.
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.url or OFFICIAL,
            timeout=openai.Timeout(endpoint.seconds, connect=CONNECT_SECONDS),
            max_retries=0,
        )

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.endpoint.model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up calls under way and take no more."""
        if self._closed.is_set():
            return
        self._closed.set()
        with self._lock:
            pending, loop, thread = list(self._pending), self._loop, self._thread
        for one in pending:
            one.cancel()
        if loop is None or thread is None:
            return
        closing = asyncio.run_coroutine_threadsafe(self._client.close(), loop)
        futures.wait([closing], CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_SECONDS)
        if not loop.is_running():
            loop.close()

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Return the model's answer, of at most `limit` tokens.

        Raise `PromptTooLong`, or `ModelError` when there is no answer to be had.
        """
        began = self._clock()
        failures = 0
        while True:
            if self._closed.is_set():
                raise ModelError("cancelled")
            asked = self._request(messages, schema, limit)
            try:
                return self._answer(self._sent(asked), self._clock() - began)
            except openai.APIStatusError as error:
                if self._adapted(error, asked):
                    continue
                reason, wait = self._judged(error), _asked_wait(error)
            except (openai.APIConnectionError, TimeoutError) as error:
                reason, wait = self._unreached(error), None
            except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
                reason, wait = f"no valid answer: {type(error).__name__}", None
            failures += 1
            if failures > self.endpoint.retries:
                raise ModelError(f"{reason} ({failures} attempts)")
            self._closed.wait(self._pause(failures, wait))

    def _sent(self, asked: dict[str, Any]) -> Any:
        """Return the completion; an attempt takes no longer than it may, however it dribbles."""

        async def bounded() -> Any:
            async with asyncio.timeout(self.endpoint.seconds):
                return await self._client.chat.completions.create(**asked)

        with self._lock:
            if self._closed.is_set():
                raise ModelError("cancelled")
            waiting = asyncio.run_coroutine_threadsafe(bounded(), self._running())
            self._pending.add(waiting)
        try:
            return waiting.result()
        except futures.CancelledError:
            raise ModelError("cancelled") from None
        finally:
            with self._lock:
                self._pending.discard(waiting)

    def _running(self) -> asyncio.AbstractEventLoop:
        """Return the event loop, started with the first request."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="model-requests", daemon=True
            )
            self._thread.start()
        return self._loop

    def _request(
        self, messages: Sequence[Message], schema: Schema | None, limit: int
    ) -> dict[str, Any]:
        with self._lock:
            form, bound = self._formats[0], self._limits[0]
        asked: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": m.speaker.value, "content": m.text} for m in messages],
            "stream": False,
            bound: limit,
        }
        if schema is not None and form == "json_schema":
            held = {"name": schema.name, "strict": True, "schema": dict(schema.body)}
            asked["response_format"] = {"type": form, "json_schema": held}
        elif schema is not None and form:
            asked["response_format"] = {"type": form}
        return asked

    def _answer(self, found: Any, seconds: float) -> Answer:
        """Read a completion without trusting any part of it to be there."""
        if not found.choices:
            raise ValueError("no choices")
        choice = found.choices[0]
        message = choice.message
        text = message.content or ""
        refusal = getattr(message, "refusal", None) or ""
        if choice.finish_reason == "content_filter":
            refusal = refusal or "the server's filter stopped the answer"
        used = found.usage
        details = getattr(used, "prompt_tokens_details", None)
        usage = Usage(
            sent=int(getattr(used, "prompt_tokens", 0) or 0),
            cached=int(getattr(details, "cached_tokens", 0) or 0),
            received=int(getattr(used, "completion_tokens", 0) or 0),
            seconds=seconds,
            calls=1,
        )
        return Answer(
            text=text[:LONGEST_ANSWER],
            author=_plain(str(found.model or self.endpoint.model)),
            usage=usage,
            refusal=refusal[:LONGEST_REASON],
            cut=choice.finish_reason == "length",
        )

    def _adapted(self, error: openai.APIStatusError, asked: dict[str, Any]) -> bool:
        """Stop asking for what the server refuses to know; False when that was not it."""
        if error.status_code not in (400, 404, 415, 422, 501):
            return False
        said = self._said(error)
        if _TOO_LONG.search(said):
            return False
        with self._lock:
            for names, used in (
                (self._limits, next((n for n in self._limits if n in asked), "")),
                (self._formats, asked.get("response_format", {}).get("type", "")),
            ):
                pattern = _NO_LIMIT_NAME if names is self._limits else _NO_SCHEMA
                if not used or not pattern.search(said):
                    continue
                if names[0] != used:
                    return True  # another thread found it out meanwhile
                if len(names) > 1:
                    names.pop(0)
                    return True
        return False

    def _judged(self, error: openai.APIStatusError) -> str:
        """Return the reason why to try again; raise where that is no use."""
        status, said = error.status_code, self._said(error)
        if status in (400, 413, 422, 500) and _TOO_LONG.search(said):
            raise PromptTooLong(f"the prompt is too long: {said}") from None
        words = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if status in (401, 403):
            raise ModelError(words, "check OPENAI_API_KEY") from None
        if "insufficient_quota" in said:
            raise ModelError(words, "the account with the model's vendor is used up") from None
        if status not in (408, 409, 425, 429) and status < 500:
            raise ModelError(words, "check OPTIML_MODEL and OPENAI_BASE_URL") from None
        asked = _asked_wait(error)
        if asked is not None and asked > LONGEST_ASKED_WAIT:
            raise ModelError(f"{words}; it asks to wait {asked:.0f} s") from None
        return words

    def _unreached(self, error: openai.APIConnectionError | TimeoutError) -> str:
        if self._closed.is_set():
            raise ModelError("cancelled") from None
        if isinstance(error, openai.APITimeoutError | TimeoutError):
            return f"{self.endpoint.host} did not answer within {self.endpoint.seconds:g} s"
        cause = type(error.__cause__).__name__ if error.__cause__ else "connection lost"
        return f"{self.endpoint.host} could not be reached: {cause}"

    def _pause(self, failures: int, asked: float | None) -> float:
        most = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (failures - 1))
        return (asked or 0.0) + most * self._draw()

    def _said(self, error: openai.APIStatusError) -> str:
        """Return the server's words on one line, without anything that looks like a key."""
        body = error.body if isinstance(error.body, dict) else {}
        words = [str(body.get(name) or "") for name in ("code", "type", "message")]
        text = " ".join(word for word in words if word) or error.message
        return self._clean(" ".join(text.split()))[:LONGEST_REASON]

    def _clean(self, text: str) -> str:
        if self.endpoint.key:
            text = text.replace(self.endpoint.key, "[key]")
        return _SECRET.sub("[key]", text)


def _plain(name: str) -> str:
    """Return a model's name without the folders of the server's disk that some put before it."""
    if name.endswith((".gguf", ".bin", ".safetensors")) or name.startswith(("/", "~")):
        name = name.replace("\\", "/").rpartition("/")[2]
    return name[:120]


def _asked_wait(error: openai.APIStatusError) -> float | None:
    """Return the seconds a server asks to wait, None when it does not or names a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(0.0, float(error.response.headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    return None
