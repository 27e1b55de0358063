"""The app as a server on this computer: what each address answers, and how it starts and ends."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from twosample.app.form import Question, in_form, reading_of
from twosample.app.guard import Guard
from twosample.app.jobs import Jobs
from twosample.app.sessions import SLOTS, RefusalError, Session, Sessions
from twosample.app.work import Answer, Upload, compare, example, look
from twosample.common.exits import fault
from twosample.common.free_memory import available_memory
from twosample.common.threads import cores
from twosample.errors import InputError, InputTypeError, Setting
from twosample.show.report import script, style

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from twosample.data.files.dialect import Reading

__all__ = ["make_app", "serve"]

_STATIC = Path(__file__).parent / "static"
_IDLE_SECONDS = 30 * 60.0
_LOOKED_AFTER_SECONDS = 20.0
# All pages together may hold the files of this many of the largest size.
_LARGEST_FILES = 10
# A file that is too large is read to its end and thrown away, so that the sender hears why it is refused; up to here.
_MOST_DISCARDED = 4_000_000_000
_LONGEST_NAME = 200
# A compressed file may take this share of the memory that is free.
_SHARE_OF_MEMORY = 0.25
_MOST_JSON = 4_000_000


class _App:
    """What the addresses answer, and what they have in common."""

    def __init__(self, max_size: float, idle: float, unpacked_limit: float | None) -> None:
        self.unpacked_limit = unpacked_limit
        self.limit = int(max_size * 1_000_000)
        self.limit_words = f"{max_size:g} MB"
        self.sessions = Sessions(_LARGEST_FILES * self.limit, idle)
        self.jobs = Jobs()
        self.readers = ThreadPoolExecutor(cores(), thread_name_prefix="read")
        hashed = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
        # The report may run its own script and no other, and has no origin: it cannot ask the app for anything.
        self.report_policy = (
            f"default-src 'none'; script-src 'sha256-{hashed}'; style-src 'unsafe-inline'; img-src data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
        )

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Drop idle sessions now and then; at the end cancel what runs."""
        sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            self.readers.shutdown(wait=False, cancel_futures=True)
            await asyncio.to_thread(self.jobs.end, cancel=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_LOOKED_AFTER_SECONDS)
            for identity in self.sessions.idle():
                self._drop(identity)

    def _drop(self, identity: str) -> None:
        session = self.sessions.drop(identity)
        if session is not None and session.job is not None:
            session.job.cancel()

    def session_of(self, request: Request) -> Session:
        """The session that the address names."""
        for identity in self.sessions.idle():
            self._drop(identity)
        session = self.sessions.find(request.path_params["session"])
        if session is None:
            raise RefusalError(410, "the files of this page are gone: it was closed, or not used for 30 minutes")
        return session

    async def new_session(self, request: Request) -> Response:
        """Begin a session."""
        session = self.sessions.new()
        return JSONResponse({"session": session.identity, "limit": self.limit, "limit_words": self.limit_words}, 201)

    async def close(self, request: Request) -> Response:
        """End a session, and let go of all it has."""
        self._drop(request.path_params["session"])
        return Response(status_code=204)

    async def put_file(self, request: Request) -> Response:
        """Take a file into memory."""
        session, slot = self.session_of(request), self._slot(request)
        name = request.query_params.get("name", "")[:_LONGEST_NAME] or "table"
        content = await self._body(request)
        session.uploads[slot] = Upload(name, content)
        self.sessions.release(len(content))
        return JSONResponse({"name": name, "size": len(content)}, 201)

    async def _body(self, request: Request) -> bytes:
        """The body, of which not more than the limit is held; room for it is reserved."""
        announced = request.headers.get("content-length", "")
        size = int(announced) if announced.isdecimal() else 0
        why: RefusalError | None = self._too_large() if size > self.limit else None
        if why is not None and "expect" in request.headers:
            raise why  # the sender waits for a word before it sends
        held, buffer, discarded = 0, io.BytesIO(), 0
        try:
            async for chunk in request.stream():
                if why is None:
                    try:
                        if held + len(chunk) > self.limit:
                            raise self._too_large()
                        self.sessions.reserve(len(chunk))
                        held += len(chunk)
                        buffer.write(chunk)
                    except RefusalError as error:
                        why = error
                        buffer = io.BytesIO()
                        self.sessions.release(held)
                        held = 0
                if why is not None:
                    discarded += len(chunk)
                    if discarded > _MOST_DISCARDED:
                        break
        except BaseException:
            self.sessions.release(held)
            raise
        if why is not None:
            raise why
        return buffer.getvalue()

    def _too_large(self) -> RefusalError:
        return RefusalError(
            413,
            f"the file is larger than {self.limit_words}; raise the limit by starting the app with --max-size, or use "
            "the command 'twosample test', which has none",
        )

    async def drop_file(self, request: Request) -> Response:
        """Let go of a file."""
        self.session_of(request).uploads.pop(self._slot(request), None)
        return Response(status_code=204)

    def _slot(self, request: Request) -> str:
        slot: str = request.path_params["slot"]
        if slot not in SLOTS:
            raise RefusalError(404, f"there is no place {slot!r} for a file")
        return slot

    async def put_example(self, request: Request) -> Response:
        """Fill both slots with a built-in example."""
        session = self.session_of(request)
        session.uploads = dict(zip(SLOTS, example(), strict=True))
        return Response(status_code=204)

    async def look(self, request: Request) -> Response:
        """What is in the files."""
        session = self.session_of(request)
        reading = self._limited(reading_of((await self._json(request)).get("reading")))
        uploads = [session.uploads.get(slot) for slot in SLOTS]
        return JSONResponse(await asyncio.get_running_loop().run_in_executor(self.readers, look, uploads, reading))

    def _limited(self, reading: Reading) -> Reading:
        """With the limit of what files unpack to, which is not for the page to say."""
        free = available_memory() * _SHARE_OF_MEMORY / 1_000_000
        return replace(reading, unpacked_limit=self.unpacked_limit or max(free, 1.0))

    async def start(self, request: Request) -> Response:
        """Begin a test."""
        session = self.session_of(request)
        question = Question.of(await self._json(request))
        question = replace(question, reading=self._limited(question.reading))
        if session.job is not None and not session.job.is_over:
            raise RefusalError(409, "a test of this page is running; cancel it first")
        uploads = [session.uploads.get(slot) for slot in SLOTS]
        session.job = self.jobs.start(lambda tell: compare(uploads, question, tell))
        return JSONResponse({}, 202)

    async def state(self, request: Request) -> Response:
        """How far the test is."""
        job = self.session_of(request).job
        if job is None:
            raise RefusalError(404, "no test was begun")
        said: dict[str, Any] = {"state": job.state, "share": job.share, "words": job.words, "message": job.message}
        if job.state == "waiting":
            said["place"] = self.jobs.place(job)
        if job.state == "done" and job.answer is not None:
            said |= {"headline": job.answer.headline, "names": job.answer.names, "notes": job.answer.notes}
        return JSONResponse(said)

    async def cancel(self, request: Request) -> Response:
        """End the test."""
        job = self.session_of(request).job
        if job is not None:
            job.cancel()
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """The report as a page."""
        policy = {"Content-Security-Policy": self.report_policy}
        return Response(self._answer(request, "report").page, headers=policy, media_type="text/html")

    async def result(self, request: Request) -> Response:
        """The result as JSON."""
        return Response(self._answer(request, "result").result, media_type="application/json")

    def _answer(self, request: Request, wanted: str) -> Answer:
        job = self.session_of(request).job
        if job is None or job.answer is None:
            raise RefusalError(404, f"there is no {wanted}")
        return job.answer

    async def _json(self, request: Request) -> dict[str, Any]:
        """A short body, as JSON."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_JSON:
                raise RefusalError(413, "the request is too long; choose fewer columns by name")
        try:
            said = json.loads(body) if body else {}
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise RefusalError(400, "the request is not one of the page")
        return said


def _refused(request: Request, error: Exception) -> Response:
    """Why a request is not answered as it wishes, in words."""
    if isinstance(error, InputError | InputTypeError):
        return JSONResponse({"message": in_form(error)}, 400)
    if isinstance(error, RefusalError):
        return JSONResponse({"message": str(error)}, error.status)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # which nobody hears
    return JSONResponse({"message": fault(error)}, 500)


def make_app(
    token: str,
    port: int,
    *,
    max_size: float = 100.0,
    idle: float = _IDLE_SECONDS,
    unpacked_limit: float | None = None,
) -> ASGIApp:
    """The app at the address with this secret token, for a server at this port.

    Files are not larger than `max_size` megabytes (of 1,000,000 bytes); the data of a page are dropped after `idle`
    seconds without a request. Compressed files unpack to at most `unpacked_limit` megabytes, or a quarter of the memory
    that is free.
    """
    app = _App(max_size, idle, unpacked_limit)
    page, own_script, own_style = (
        (_STATIC / name).read_text("utf-8") for name in ("page.html", "script.js", "style.css")
    )
    there = "/sessions/{session}"
    routes = [
        Route("/", Response(page, media_type="text/html"), methods=["GET"]),
        Route("/script.js", Response(own_script, media_type="text/javascript"), methods=["GET"]),
        Route("/style.css", Response(style() + own_style, media_type="text/css"), methods=["GET"]),
        Route("/sessions", app.new_session, methods=["POST"]),
        Route(f"{there}/close", app.close, methods=["POST"]),
        Route(f"{there}/example", app.put_example, methods=["POST"]),
        Route(f"{there}/files/{{slot}}", app.put_file, methods=["PUT"]),
        Route(f"{there}/files/{{slot}}", app.drop_file, methods=["DELETE"]),
        Route(f"{there}/look", app.look, methods=["POST"]),
        Route(f"{there}/test", app.start, methods=["POST"]),
        Route(f"{there}/test", app.state, methods=["GET"]),
        Route(f"{there}/test", app.cancel, methods=["DELETE"]),
        Route(f"{there}/report", app.report),
        Route(f"{there}/result", app.result),
    ]
    kinds = (InputError, InputTypeError, RefusalError, ClientDisconnect, Exception)
    answers = Starlette(routes=routes, lifespan=app.lifespan, exception_handlers=dict.fromkeys(kinds, _refused))
    return Guard(answers, token, port)


def serve(
    port: int = 0,
    *,
    max_size: float = 100.0,
    unpacked_limit: float | None = None,
    say: Callable[[str], object] = print,
    browser: bool = False,
) -> None:
    """Serve the app on this computer until it is interrupted, which is raised again after it has ended in order.

    It listens on the loopback interface only, at a free port for 0; `say` is called with the address.
    """
    import uvicorn

    from twosample.app.connections import Connection

    with socket.socket() as listening:
        if os.name == "posix":  # elsewhere it would let two programs listen at once
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise InputError(
                f"port: {port} cannot be used: {why}",
                argument="port",
                remedy=("choose another one, or let the app find one with ", Setting("port", 0)),
            ) from None
        listening.listen(128)
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        address = f"http://127.0.0.1:{port}/{token}/"
        say(address)
        if browser:
            _open(address)
        config = uvicorn.Config(
            make_app(token, port, max_size=max_size, unpacked_limit=unpacked_limit),
            http=Connection,
            access_log=False,
            log_level="error",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _open(address: str) -> None:
    """Open the address in the browser, without waiting for it."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
