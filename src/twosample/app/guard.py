"""Who may ask: those with the token of the address, through this computer's own name, from the page itself."""

from __future__ import annotations

import hmac
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PAGE_POLICY", "Guard"]

# The page runs our script and shows our style; nothing is fetched from elsewhere, and no other page may frame it.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING = ("GET", "HEAD")


class Guard:
    """Refuses requests of strangers, and adds to every answer what browsers should know.

    Without the token, the secret part of the address, there is nothing here (404). A `Host` that is not this computer
    by name (421) is that of a page elsewhere, whose name was made to point here. What changes something must come from
    the page itself: browsers say so in `Origin` or `Sec-Fetch-Site` (403).
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        with suppress(Exception):  # which was answered, and is raised again for the log of the server
            await self._app({**scope, "root_path": f"/{self._token.decode()}"}, receive, with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return PlainTextResponse("Refused: this address is not that of the app.\n", 421)
        origin = headers.getlist("origin")
        if any(one != f"http://{host[0].lower()}" for one in origin):
            return PlainTextResponse("Refused: the request comes from another page.\n", 403)
        changes = scope["method"] not in _READING
        if changes and not origin and headers.get("sec-fetch-site") not in ("same-origin", "none"):
            return PlainTextResponse("Refused: the request does not come from the page.\n", 403)
        given = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._token):
            return PlainTextResponse("There is nothing here; use the whole address that the app has printed.\n", 404)
        return None
