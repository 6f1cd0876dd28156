"""The webhook app: a delivery is written down with what follows from it, and only then accepted.

Everything that waits for GitHub or a GPU happens in `bot.jobs`. What comes in is read in this
order: size, signature over the raw bytes, headers, JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
import structlog
from fastapi import FastAPI, Header, Path, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot import events, pages
from bot.events import Ignored, PayloadError, SignatureError
from bot.intake import Bodies, Full, Intakes, Refused
from bot.job import Intake
from bot.live import Streams
from bot.metrics import Metrics
from bot.review_job import Records
from bot.terms import Terms

_LOG = structlog.get_logger("optiml")
_INLINE = 256 << 10  # bytes of a body that is read without leaving the event loop
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"x-robots-tag", b"noindex"),
)
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True)
class Entrance:
    """What the app needs. `wake` says that there is work; `is_alive` tells whether it is taken.

    `on_open` is given what tells whether deliveries come in faster than work should begin.
    """

    secrets: Sequence[bytes]
    records: Records
    terms: Terms
    metrics: Metrics
    app_id: int | None = None
    wake: Callable[[], None] = lambda: None
    is_alive: Callable[[], bool] = lambda: True
    on_open: Callable[[Callable[[], bool]], None] = lambda _: None


def create_app(entrance: Entrance) -> FastAPI:
    """Return the app. It keeps no state that a restart would lose."""
    intakes = Intakes(entrance.records.store, entrance.wake)

    @contextlib.asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        await intakes.open()
        entrance.on_open(lambda: intakes.is_pressed)
        yield
        await intakes.close()

    app = FastAPI(title="OptiML", lifespan=living, docs_url=None, redoc_url=None)

    app.add_middleware(_Hardened)
    _add_webhook(app, entrance, intakes)
    _add_figures(app, entrance)
    _add_pages(app, entrance)
    return app


class _Hardened:
    """Adds headers to every answer that keep a browser from doing more than showing it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, hardened if scope["type"] == "http" else send)


def _add_webhook(app: FastAPI, entrance: Entrance, intakes: Intakes) -> None:
    bodies = Bodies()

    @app.post(
        "/webhook",
        status_code=202,
        responses={code: {"description": text} for code, text in _WEBHOOK_ANSWERS.items()},
        openapi_extra=_WEBHOOK_BODY,
    )
    async def webhook(
        request: Request,
        x_hub_signature_256: Annotated[str, Header()] = "",
        x_github_event: Annotated[str, Header()] = "",
        x_github_delivery: Annotated[str, Header()] = "",
    ) -> JSONResponse:
        """Accept a delivery of GitHub's."""
        try:
            async with bodies.read(request) as body:
                began = time.perf_counter()
                work = (body, x_hub_signature_256, x_github_event, x_github_delivery)
                if len(body) > _INLINE:
                    intake = await asyncio.to_thread(_intake, entrance, *work)
                else:
                    intake = _intake(entrance, *work)
            receipt = await intakes.put(intake)
        except Refused as refusal:
            return _refused(entrance, refusal.status, refusal.words)
        except SignatureError as error:
            return _refused(entrance, 401, error.message)
        except PayloadError as error:
            return _refused(entrance, 400, error.message)
        except Full:
            return _refused(entrance, 503, "too much is waiting to be written; come again")
        except sa.exc.SQLAlchemyError:
            return _refused(entrance, 503, "it could not be written down; come again")
        entrance.metrics.acknowledged.observe(time.perf_counter() - began)
        entrance.metrics.deliveries.labels(receipt.value).inc()
        return JSONResponse({"delivery": receipt.value, "words": intake.words}, 202)


def _add_figures(app: FastAPI, entrance: Entrance) -> None:
    @app.get("/health", responses={503: {"description": "Not able to work"}})
    async def health() -> JSONResponse:
        """Tell whether deliveries can be written and jobs are taken."""
        try:
            counts = await asyncio.to_thread(entrance.records.store.counts)
            paused = await asyncio.to_thread(entrance.records.ledger.switches)
        except sa.exc.SQLAlchemyError:
            return JSONResponse({"status": "the database is away"}, 503)
        alive = entrance.is_alive()
        told = {f"{kind}/{state}": number for (kind, state), number in counts.items()}
        status = "ok" if alive else "no jobs are taken"
        # Anybody may ask: which repositories there are is not told, nor why one is switched off.
        body = {
            "status": status,
            "jobs": told,
            "paused": ["*"] if "*" in paused else [],
            "repositories_paused": len(paused.keys() - {"*"}),
        }
        return JSONResponse(body, 200 if alive else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        """Return figures for Prometheus."""
        text = await asyncio.to_thread(entrance.metrics.text)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_pages(app: FastAPI, entrance: Entrance) -> None:
    gone: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such job"}}
    streams = Streams(lambda job_id: pages.state(entrance.records, job_id))
    script = pages.script()

    @app.get("/jobs/job.js", response_class=Response)
    async def job_script() -> Response:
        """Return the script of the page of a job that goes on."""
        return Response(script, media_type="text/javascript; charset=utf-8")

    @app.get("/jobs/{job_id}", response_class=HTMLResponse, responses=gone)
    async def job_page(job_id: JobId) -> Response:
        """Show a job. Its address is known to those who see its check run."""
        found = await asyncio.to_thread(pages.job, entrance.records, entrance.terms, job_id)
        return _page(found)

    @app.get(
        "/jobs/{job_id}/live",
        response_class=StreamingResponse,
        responses={
            **gone,
            200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"},
            503: {"description": "Too many look on already"},
        },
    )
    async def job_live(job_id: JobId) -> Response:
        """Tell how far a job is whenever that changes, until it is over."""
        if streams.is_full:
            return Response("too many look on already", 503)
        if await asyncio.to_thread(pages.state, entrance.records, job_id) is None:
            return JSONResponse({"detail": "there is no such job"}, 404)
        told = streams.of(job_id)
        unbuffered = {"x-accel-buffering": "no"}  # by a proxy, as nginx calls it
        return StreamingResponse(told, media_type="text/event-stream", headers=unbuffered)

    @app.get("/jobs/{job_id}/state", responses=gone)
    async def job_state(job_id: JobId) -> JSONResponse:
        """Return how far a job is, for its page and for scripts."""
        found = await asyncio.to_thread(pages.state, entrance.records, job_id)
        return JSONResponse(found or {"detail": "there is no such job"}, 200 if found else 404)

    @app.get("/jobs/{job_id}/report/{place}", response_class=HTMLResponse, responses=gone)
    async def report_page(job_id: JobId, place: Annotated[int, Path(ge=0, le=10_000)]) -> Response:
        """Show the report on one kernel."""
        found = await asyncio.to_thread(pages.report, entrance.records, job_id, place)
        return _page(found)


_WEBHOOK_ANSWERS = {
    202: "Written down",
    400: "Not what GitHub sends",
    401: "Not signed with our secret",
    408: "Too slow",
    413: "Too large",
    503: "Not written down; to be sent again",
}
_WEBHOOK_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


def _intake(entrance: Entrance, body: bytes, signature: str, event: str, guid: str) -> Intake:
    events.verify(entrance.secrets, body, signature)
    guid = events.guid_of(guid)
    found = events.parse(event, body, entrance.app_id)
    if isinstance(found, Ignored):
        return Intake(guid, event, None, found.reason, found.repository)
    return Intake(guid, event, found)


def _refused(entrance: Entrance, status: int, words: str) -> JSONResponse:
    entrance.metrics.deliveries.labels(f"refused {status}").inc()
    headers = {"retry-after": "30"} if status == 503 else {}
    if status in {408, 413}:
        headers["connection"] = "close"
    return JSONResponse({"detail": words}, status, headers)


def _page(found: pages.Page | None) -> Response:
    if found is None:
        return HTMLResponse("<!doctype html><title>404</title><p>There is no such page.", 404)
    return HTMLResponse(found.text, headers={"content-security-policy": found.policy})
