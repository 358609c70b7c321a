"""The guard of the studio: it accepts only this machine's browser, with the token, under the
studio's own address, and limits the size of requests. All others are refused with one sentence.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, parse_qsl

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
HttpResponse = tuple[int, str, dict[str, str]]  # status, text, headers

_HTTP_PORT = 80
MAX_BYTES = 4 * 2**20  # of a request
MAX_FIELDS = 2000
FORM_TYPE = "application/x-www-form-urlencoded"
CSRF = "csrf"  # the field that every change of state carries
TOKEN = "token"  # the field of the address that is opened first
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": browsers then hide from us where a form came from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def secret() -> str:
    """256 random bits of the operating system, for an address."""
    return secrets.token_hex(32)


class Guard:
    """The middleware that checks every request before the studio sees it.

    A request has to name this server as its host, must not come from another site, and shows the
    token once in the address, then the cookie that it was given for it. A change of state is a form
    with the secret of the page that contains it.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self.token, self.csrf, self._session = secret(), secret(), secret()
        self._one_time_token = secret()  # opens the door once
        suffix = "" if port == _HTTP_PORT else f":{port}"  # browsers leave out the port of HTTP
        self.hosts = (f"127.0.0.1{suffix}", f"localhost{suffix}")
        self._cookie = f"duffdp-studio-{port}"  # cookies do not know ports

    @property
    def address(self) -> str:
        """The address to open first."""
        return f"http://{self.hosts[0]}/?{TOKEN}={self.token}"

    @property
    def one_time_address(self) -> str:
        """One-time address for the browser we launch: command lines are visible to other users."""
        return f"http://{self.hosts[0]}/?{TOKEN}={self._one_time_token}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing but pages is served here

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {name for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), text.encode())
                    for name, text in HEADERS.items()
                    if name.encode() not in named
                ]
            await send(message)

        refusal = await self._refusal(scope, receive)
        if refusal is not None:
            await send_response(with_headers, *refusal)
            return
        # The user has seen an error page already; a log of the error might quote data.
        with suppress(Exception):
            await self._app(scope, receive, with_headers)

    async def _refusal(self, scope: Message, receive: Receive) -> HttpResponse | None:
        """The response to a request that is refused or redirected, None for one that is let in.

        The form of a request is read here.
        """
        headers: dict[str, str] = {}
        for name, text in scope["headers"]:
            if name == b"host" and "host" in headers:
                return _refuse("The request has two host headers.", 400)
            headers[name.decode("latin-1")] = text.decode("latin-1")
        if headers.get("host") not in self.hosts:
            return _refuse(
                "This is not the address of the studio. Open the address that it printed.", 421
            )
        origins = [f"http://{host}" for host in self.hosts]
        if headers.get("origin", origins[0]) not in origins or headers.get("sec-fetch-site") in (
            "cross-site",
            "same-site",
        ):
            return _refuse("The request comes from another site.", 403)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse("The studio accepts only GET and POST.", 405)
        if scope["method"] == "GET" and (token := self._token_of(scope)) is not None:
            if _tokens_match(token, self._one_time_token):
                self._one_time_token = secret()
            elif not _tokens_match(token, self.token):
                return _refuse(
                    "The token was already used or belongs to another start. Open the printed "
                    "address.",
                    403,
                )
            return self._welcome()
        if not _tokens_match(_cookie(headers.get("cookie", ""), self._cookie), self._session):
            return _refuse("The token is missing. Open the address that the studio printed.", 403)
        if scope["method"] == "POST":
            return await self._read_form(scope, headers, receive)
        return None

    async def _read_form(
        self, scope: Message, headers: dict[str, str], receive: Receive
    ) -> HttpResponse | None:
        if "origin" not in headers:
            return _refuse("The request has no origin.", 403)
        if headers.get("content-type", "").partition(";")[0].strip() != FORM_TYPE:
            return _refuse("The studio accepts only forms.", 415)
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > MAX_BYTES:
                return _refuse(
                    "The request is larger than 4 MB, the most that the studio accepts.", 413
                )
            if message["type"] != "http.request" or not message.get("more_body", False):
                break
        try:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS
            )
        except ValueError:  # not UTF-8, or too many
            return _refuse("The form cannot be read.", 400)
        csrf = next((text for name, text in pairs if name == CSRF), "")
        if not _tokens_match(csrf, self.csrf):
            return _refuse("The form belongs to another start of the studio. Reload the page.", 403)
        scope["state"] = {"form": [pair for pair in pairs if pair[0] != CSRF]}
        return None

    def _token_of(self, scope: Message) -> str | None:
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN)
        return None if tokens is None else tokens[0]

    def _welcome(self) -> HttpResponse:
        """The cookie for the token, which leaves the address."""
        cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        return 303, "", {"location": "/", "set-cookie": cookie}


def _tokens_match(token: str, secret_token: str) -> bool:
    return hmac.compare_digest(token.encode(), secret_token.encode())


def _cookie(header: str, name: str) -> str:
    try:
        cookie = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value


def _refuse(text: str, status: int) -> HttpResponse:
    return status, text, {"content-type": "text/plain; charset=utf-8"}


async def send_response(send: Send, status: int, text: str, headers: dict[str, str]) -> None:
    """Send a whole response."""
    body = text.encode()
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    encoded.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
