"""Reads the transcript of a run: JSON lines, requests and responses in the order they happened.

    {"kind": "request", "method": "POST", "url": "…", "headers": [["Name", "value"], …], "body_b64u": "…"}
    {"kind": "response", "status": 200, "headers": [["Name", "value"], …], "body_b64u": "…"}

A request with no response before the next request is one whose answer was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from two_libraries import JSONObject, Refused, parse_object, unb64u


@dataclass(frozen=True)
class Message:
    """What requests and responses have in common."""

    headers: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def value(self, name: str) -> str | None:
        return next(iter(self.values(name)), None)

    def json(self) -> JSONObject:
        return parse_object(self.body)


@dataclass(frozen=True)
class Response(Message):
    status: int

    def object(self) -> JSONObject:
        """The JSON object in the body, or an empty one when it is something else."""
        try:
            return self.json()
        except Refused:
            return {}


@dataclass(frozen=True)
class Exchange:
    """One request and its response, if one arrived; `line` is the request's line in the transcript."""

    line: int
    method: str
    url: str
    request: Message
    response: Response | None

    @property
    def address(self) -> str:
        """The URL without query and fragment."""
        return self.url.partition("#")[0].partition("?")[0]

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def form(self) -> dict[str, str]:
        pairs = parse_qsl(self.request.body.decode(), keep_blank_values=True, strict_parsing=True)
        if len(dict(pairs)) != len(pairs):
            raise Refused("form.repeated", "a parameter is given twice")
        return dict(pairs)

    def answered(self, status: int) -> bool:
        return self.response is not None and self.response.status == status

    def answer(self) -> JSONObject:
        return self.response.object() if self.response else {}


def read_transcript(lines: Iterable[str]) -> Iterator[Exchange]:
    """The exchanges of a transcript; a line of another form is refused."""
    pending: tuple[int, JSONObject] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _entry(number, line)
        if entry["kind"] == "request":
            if pending:
                yield _exchange(*pending, None)
            pending = (number, entry)
        elif pending:
            yield _exchange(*pending, entry)
            pending = None
        else:
            raise Refused("transcript.order", f"line {number}: a response without a request")
    if pending:
        yield _exchange(*pending, None)


def _entry(number: int, line: str) -> JSONObject:
    entry = parse_object(line.encode())
    wanted = {"request": {"method", "url"}, "response": {"status"}}.get(str(entry.get("kind")))
    if wanted is None or not (wanted | {"headers", "body_b64u"}) <= entry.keys():
        raise Refused("transcript.form", f"line {number}: kind {entry.get('kind')}, members {sorted(entry)}")
    return entry


def _exchange(line: int, request: JSONObject, response: JSONObject | None) -> Exchange:
    answer = Response(_headers(response), _body(response), response["status"]) if response else None
    return Exchange(line, request["method"], request["url"], Message(_headers(request), _body(request)), answer)


def _headers(entry: JSONObject) -> list[tuple[str, str]]:
    return [(name, value) for name, value in entry["headers"]]


def _body(entry: Any) -> bytes:
    return unb64u(entry["body_b64u"]) if entry["body_b64u"] else b""
