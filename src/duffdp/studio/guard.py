"""Who may ask the studio: this machine's browser with the token, under its own address, and with
requests of a bounded size. Nobody else gets more than a sentence.
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
Answer = tuple[int, str, dict[str, str]]  # status, text, headers

HTTP = 80
MOST_BYTES = 4 * 2**20  # of a request
MOST_FIELDS = 2000
FORM = "application/x-www-form-urlencoded"
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
    """The door of the studio.

    A request has to name this server as its host, must not come from another site, and shows the
    token once in the address, then the cookie that it was given for it. A change of state is a form
    with the secret of the page that it stands on.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self.token, self.csrf, self._session = secret(), secret(), secret()
        self._unused = secret()  # opens the door once
        shown = "" if port == HTTP else f":{port}"  # browsers leave out the port of HTTP
        self.hosts = (f"127.0.0.1{shown}", f"localhost{shown}")
        self._cookie = f"duffdp-studio-{port}"  # cookies do not know ports

    @property
    def address(self) -> str:
        """What to open first."""
        return f"http://{self.hosts[0]}/?{TOKEN}={self.token}"

    @property
    def address_for_once(self) -> str:
        """The same for a browser that is started: all accounts of a machine see with what."""
        return f"http://{self.hosts[0]}/?{TOKEN}={self._unused}"

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
            await answer(with_headers, *refusal)
            return
        # What went wrong was told in words already: a log of it might quote data.
        with suppress(Exception):
            await self._app(scope, receive, with_headers)

    async def _refusal(self, scope: Message, receive: Receive) -> Answer | None:
        """What to answer instead of a page, if anything; the form of a request is read here."""
        headers: dict[str, str] = {}
        for name, text in scope["headers"]:
            if name == b"host" and "host" in headers:
                return _refused("The request names two hosts.", 400)
            headers[name.decode("latin-1")] = text.decode("latin-1")
        if headers.get("host") not in self.hosts:
            return _refused("This address is not the studio's. Open the one that it printed.", 421)
        own = [f"http://{host}" for host in self.hosts]
        if headers.get("origin", own[0]) not in own or headers.get("sec-fetch-site") in (
            "cross-site",
            "same-site",
        ):
            return _refused("The request comes from another site.", 403)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refused("The studio knows GET and POST.", 405)
        if scope["method"] == "GET" and (given := self._token_of(scope)) is not None:
            if _same(given, self._unused):
                self._unused = secret()
            elif not _same(given, self.token):
                return _refused(
                    "The token is of another start, or used up. Open the address that is printed.",
                    403,
                )
            return self._welcome()
        if not _same(_cookie(headers.get("cookie", ""), self._cookie), self._session):
            return _refused("Open the address with the token that the studio printed.", 403)
        if scope["method"] == "POST":
            return await self._read_form(scope, headers, receive)
        return None

    async def _read_form(
        self, scope: Message, headers: dict[str, str], receive: Receive
    ) -> Answer | None:
        if "origin" not in headers:
            return _refused("The request does not say where it comes from.", 403)
        if headers.get("content-type", "").partition(";")[0].strip() != FORM:
            return _refused("The studio reads forms.", 415)
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > MOST_BYTES:
                return _refused("That is more than the studio reads at once: 4 MB.", 413)
            if message["type"] != "http.request" or not message.get("more_body", False):
                break
        try:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS
            )
        except ValueError:  # not UTF-8, or too many
            return _refused("The form cannot be read.", 400)
        given = next((text for name, text in pairs if name == CSRF), "")
        if not _same(given, self.csrf):
            return _refused("The form is not from this start of the studio. Reload the page.", 403)
        scope["state"] = {"form": [pair for pair in pairs if pair[0] != CSRF]}
        return None

    def _token_of(self, scope: Message) -> str | None:
        found = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN)
        return None if found is None else found[0]

    def _welcome(self) -> Answer:
        """The cookie for the token, which leaves the address."""
        cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        return 303, "", {"location": "/", "set-cookie": cookie}


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _refused(text: str, status: int) -> Answer:
    return status, text, {"content-type": "text/plain; charset=utf-8"}


async def answer(send: Send, status: int, text: str, headers: dict[str, str]) -> None:
    """Send a whole answer."""
    body = text.encode()
    listed = [(name.encode(), said.encode()) for name, said in headers.items()]
    listed.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
